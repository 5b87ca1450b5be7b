# Which of many cases a script tries, when they take too long to be tried each time: one of each $PERFILE_CASES, which
# is set under sanitizers, and others the next time.  Sourced; PERFILE_SEED=N takes those of another run again.
: "${PERFILE_CASES:=1}" "${PERFILE_SEED:=$RANDOM}"
[ "$PERFILE_CASES" = 1 ] || echo "one case of $PERFILE_CASES, PERFILE_SEED=$PERFILE_SEED" >&2
RANDOM=$PERFILE_SEED
cases=0

# True for one of each $PERFILE_CASES calls, each time another one of them: cases that come in turns are all met.
chosen() {
    [ $((cases++ % PERFILE_CASES)) != 0 ] || taken=$((cases - 1 + RANDOM % PERFILE_CASES))
    [ $((cases - 1)) = $taken ]
}

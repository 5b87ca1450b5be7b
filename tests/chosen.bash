# Which of many cases a script tries, when they take too long to be tried each time: one of $PERFILE_CASES, which
# is set under sanitizers, and others the next time.  Sourced; PERFILE_SEED=N takes those of another run again.
: "${PERFILE_CASES:=1}" "${PERFILE_SEED:=$RANDOM}"
[ "$PERFILE_CASES" = 1 ] || echo "one case of $PERFILE_CASES, PERFILE_SEED=$PERFILE_SEED" >&2
cases=$PERFILE_SEED

# True for each $PERFILE_CASES-th call.
chosen() {
    [ $((++cases % PERFILE_CASES)) = 0 ]
}

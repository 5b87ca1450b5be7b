# A recording that comes through a pipe exists nowhere else.  After one SIGINT or SIGTERM at any moment a command reads on to the
# end of the pipe, and what it makes is what it makes without; a second one ends it at once, and nothing is left.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
captures=$PERFILE_SOURCE/samples/captures
python3 "$PERFILE_SOURCE/tests/cli/interrupted_pipe.py" "$PERFILE" "$captures/pipe.data" "$PERFILE_SOURCE/src/cli/commands.def"

# A recording that was killed in the middle of a record is kept, too.
head -c 3001 "$captures/pipe.data" | "$PERFILE" convert --to perf.data -o cut.data - 2>/dev/null && exit 1
[ $? = 3 ]
"$PERFILE" validate cut.data | grep -q '^cut.data: 0 errors'
head -c 3001 "$captures/pipe.data" | "$PERFILE" convert --on-damage fail --to perf.data -o no.data - 2>/dev/null && exit 1
[ ! -e no.data ]

# With perf itself, as on a terminal: the signal reaches all of the pipeline.
if ! command -v perf >/dev/null || ! perf record -q -e cpu-clock -o trial.data true 2>/dev/null >&2; then
    echo "not tried: perf does not record here"
    exit 0
fi
for command in "convert --to perf.data -o out.data -" "sort -o out.data -" "filter --every 1 -o out.data -" "recover -o out.data -"; do
    rm -f out.data
    status=0
    # shellcheck disable=SC2016
    setsid env --default-signal=INT bash -c 'perf record -q -e cpu-clock -a -o - 2>/dev/null | "$0" $1 2>err' "$PERFILE" "$command" &
    group=$!
    sleep 0.5
    kill -INT -- "-$group"
    wait "$group" || status=$?
    perf report -i out.data --stdio >report 2>/dev/null || { echo "perf does not open what $command wrote: status $status"; cat err; exit 1; }
    grep -q '%' report
done

# samples/generate makes a capture from nothing in every form: perf reads it, and counts what was put.
set -u
generate=$PERFILE_BUILD/samples/generate
if ! [ -x "$generate" ]; then
    echo "the samples were not built (PERFILE_BUILD_SAMPLES)"
    exit 77
fi
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf
export HOME=$PWD
failed=0
wrong() {
    echo "$1"
    failed=1
}

# The number of samples as perf counts them; of compressed pipes perf 6.1 counts only what it prints.
samples() {
    if [ "$2" = "pipe 3" ]; then
        perf script -D -i "$1" 2>errors </dev/null | grep -c PERF_RECORD_SAMPLE
    else
        perf report --stats -i "$1" 2>errors </dev/null |
            awk '$1 == "SAMPLE" && $2 == "events:" { printf "%s ", $3 }'
    fi
}

for form in file pipe directory "file 3" "pipe 3" "directory 3"; do
    rm -rf made
    # shellcheck disable=SC2086 # two words
    "$generate" made $form || wrong "generate made $form: status $?"
    "$PERFILE" validate --severity error made >found 2>&1 || wrong "$form: $(cat found)"
    case $(samples made "$form") in
    "1000 900 100 " | 1000) ;;
    *) wrong "$form: perf says $(samples made "$form") $(cat errors)" ;;
    esac
    perf script -i made -G -F comm,pid,tid,time,event,ip 2>errors </dev/null >lines
    if [ "$(grep -c '^ *invented ' lines)" != 1000 ]; then
        wrong "$form: perf script shows $(grep -c '^ *invented ' lines) samples: $(cat errors)"
    fi
    if [ "$(grep -c 'page-faults:' lines)" != 100 ]; then
        wrong "$form: perf does not call an event page-faults: $(grep -c 'page-faults:' lines)"
    fi
done
[ "$failed" = 0 ] && echo "perf reads what was made in 6 forms"
exit "$failed"

# samples/record of a busy loop: perf and perfile read it, and what it left when it was killed.
set -u
record=$PERFILE_BUILD/samples/record
if ! [ -x "$record" ]; then
    echo "the samples were not built (PERFILE_BUILD_SAMPLES)"
    exit 77
fi
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf
export HOME=$PWD
busy='i=0; while [ $i -lt 300000 ]; do i=$((i + 1)); done'

if ! "$record" made sh -c "$busy" 2>errors; then
    if grep -qE 'cannot open the event: (Permission denied|No such file|Operation not permitted|Function not)' errors; then
        echo "perf_event_open does not work here: $(cat errors)"
        exit 77
    fi
    cat errors
    exit 1
fi

# samples FILE: how many there are, as perf says.
samples() {
    perf report --stats -i "$1" 2>errors </dev/null |
        awk '$1 == "SAMPLE" && $2 == "events:" { print $3; exit }'
}
"$PERFILE" validate --severity warning made || exit 1
theirs=$(samples made)
ours=$("$PERFILE" stats --type sample made | awk '/total/ { print $1 }')
if [ "${theirs:-0}" -lt 20 ] || [ "$theirs" != "$ours" ]; then
    echo "perf counts ${theirs:-no} samples, perfile $ours: $(cat errors)"
    exit 1
fi
perf report --stdio -i made 2>errors </dev/null | grep -q '%.* sh ' || {
    echo "perf report does not know the command: $(cat errors)"
    exit 1
}

# Killed: the header has no size, and all that was written by then is there.
"$record" killed sh -c "while :; do $busy; done" 2>errors &
recorder=$!
for _ in $(seq 100); do
    [ -s killed ] && [ "$(wc -c <killed)" -gt 20000 ] && break
    sleep 0.1
done
child=$(cat /proc/[0-9]*/stat 2>/dev/null | awk -v parent="$recorder" '$4 == parent { print $1 }')
kill -KILL "$recorder"
wait "$recorder" 2>/dev/null
# shellcheck disable=SC2086 # one word, or none
[ -n "$child" ] && kill $child
"$PERFILE" stats --type sample killed >found 2>errors
status=$?
left=$(awk '/total/ { print $1 }' found)
if [ "$status" != 3 ] || [ "${left:-0}" -lt 20 ] || ! grep -q 'was not finished' errors; then
    echo "of the killed recording: status $status, ${left:-no} samples"
    cat errors
    exit 1
fi
echo "perf reads the recording, perfile also the killed one"

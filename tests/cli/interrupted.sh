# Commands that write a capture out of others, stopped half way: neither OUT nor a temporary file
# stays, and the input is as it was.
set -u
. "$PERFILE_SOURCE/tests/cli/expect.inc"
cp "$captures/dwarf.data" a.data
cp a.data same
mkdir there
mkfifo fifo
export TMPDIR=$PWD/there

stopped() {
    local signal=$1 status
    shift
    # What a script starts in the background does not mind SIGINT otherwise.
    env --default-signal=INT "$PERFILE" "$@" <fifo 2>/dev/null &
    local pid=$!
    exec 3>fifo
    head -c 2000 "$captures/pipe.data" >&3
    sleep 0.3
    # From a pipe the first one means: read on to its end.
    kill -"$signal" "$pid"
    sleep 0.1
    kill -"$signal" "$pid"
    wait "$pid" 2>/dev/null
    status=$?
    exec 3>&-
    [ "$status" = $((128 + $(kill -l "$signal"))) ] || say "$*: $signal: status $status"
    [ -z "$(ls there)" ] || say "$*: $signal: left behind: $(ls there)"
}

for signal in INT TERM; do
    stopped $signal filter --every 2 -o there/out.data -
    stopped $signal filter --pid 7 --to dir -o there/out.data -
    stopped $signal sort -o there/out.data -
    stopped $signal merge -o there/out.data a.data -
    stopped $signal split --records 5 -o there/out-%d.data -
    stopped $signal convert --to perf.data -o there/out.data -
    stopped $signal recover -o there/out.data -
done

# A full disk is said once, with the cause.
full() {
    (
        ulimit -f 4
        trap '' XFSZ
        "$PERFILE" "$@" 2>err
        [ $? = 1 ] || echo "$*: status of a full disk"
    ) >status
    [ -s status ] && say "$(cat status)"
    grep -q 'File too large\|No space' err || say "$*: a full disk: $(cat err)"
    [ -z "$(ls there)" ] || say "$*: left behind on a full disk: $(ls there)"
}
full filter --every 2 -o there/out.data a.data
full filter --every 2 --to dir -o there/out.data a.data
full sort -o there/out.data a.data
full merge -o there/out.data a.data a.data
full split --records 20 -o there/out-%d.data a.data
full convert --to pipe -o there/out.data a.data
full recover -o there/out.data a.data
cmp a.data same || say "the input has changed"
exit "$failed"

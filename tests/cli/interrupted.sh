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

# The folder that `export --to aux` makes has files of other names than a capture.
ulimit -c 0
command -v python3 >/dev/null || echo "not tried: there is no python3"
! command -v python3 >/dev/null || python3 - "$PERFILE" "$captures/pipe.data" <<'END' || say "export --to aux: not interrupted, or left behind"
import os, shutil, signal, struct, subprocess, sys, time
queues, size, caught = 300, 1 << 14, 0
with open("aux.data", "wb") as f:
    f.write(open(sys.argv[2], "rb").read())
    for i in range(queues):
        f.write(struct.pack("<IHHQQQIIII", 71, 0, 48, size, 0, 1, i, 7, i, 0) + b"x" * size)
for n in range(100):
    p = subprocess.Popen(["env", "--default-signal=INT", sys.argv[1], "export", "--to", "aux", "-o", "there/aux", "aux.data"],
                         stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(n * 0.001)
    p.send_signal(signal.SIGQUIT if n % 2 else signal.SIGINT)
    rc, names = p.wait(), os.listdir("there")
    if names: # complete, also if the signal came when it had its name
        assert names == ["aux"] and len(os.listdir("there/aux")) == queues + 1, (rc, names)
        shutil.rmtree("there/aux")
        continue
    assert rc not in (0, 3), rc
    caught += 1
sys.exit(caught < 5)
END

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

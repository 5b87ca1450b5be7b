# What split makes of a capture and says about it, as a user sees it.
set -u
command=split
. "$PERFILE_SOURCE/tests/cli/expect.inc"

# there NAMES: what there is in the folder `parts`, which is emptied.
there() {
    [ "$(ls -A parts | paste -sd' ')" = "$1" ] || say "there is $(ls -A parts | paste -sd' '), not $1"
    rm -rf parts
    mkdir parts
}

mkdir parts
cp "$captures/callgraph.data" in.data
cp in.data before.data
expect 0 "in.data: split 63 records into 3 parts" --every 10ms -o 'parts/part-%04d.data' in.data
[ "$(wc -l <err)" = 1 ] || say "more than a line: $(cat err)"
cmp -s in.data before.data || say "the input was changed"
for part in parts/*; do
    "$PERFILE" validate --severity error "$part" >said || say "$part: $(cat said)"
done
there "part-0000.data part-0001.data part-0002.data"
expect 0 "into 5 parts" --records 10 -o 'parts/%d%%' in.data
there "0% 1% 2% 3% 4%"
expect 0 "into 1 part" --size 1G -o 'parts/%3d' in.data
there "  0"
expect 0 "into 3 parts" --by comm -o 'parts/%s.data' in.data
there "child.data helper.data work.data"
expect 0 "into 2 parts" --by pid -o 'parts/%d' in.data
there "0 1"
expect 0 "into 1 part" --by event -o 'parts/%s' in.data
there "cpu-clock"
expect 0 "into 3 parts" --by event -o 'parts/%s' "$captures/tracepoints.data"
there "$("$PERFILE" list events --json "$captures/tracepoints.data" | grep -oE '"name":"[^"]*"' |
    cut -d'"' -f4 | tr -c 'A-Za-z0-9._\n-' _ | sort | paste -sd' ')"
for time in 10000000ns 10000us 10ms 0.01s 0.01 0.0001666666667m; do
    expect 0 "into 3 parts" --every "$time" -o 'parts/%d' in.data
    there "0 1 2"
done
# What each part has to repeat can be more than the size: that is said, and only then.
expect 0 "11 parts are larger than --size, the largest 6.6 kB" --size 3k -o 'parts/%d' in.data
rm -f parts/*
expect 0 "into 1 part" --size 1G -o 'parts/%d' in.data
! grep -q larger err || say "nothing is larger: $(cat err)"
rm -f parts/*
for size in 8192 8K 8k 8KiB; do
    expect 0 "into 5 parts" --size "$size" -o 'parts/%d' in.data
    [ "$(find parts -type f -size -8193c | wc -l)" = 5 ] || say "a part is larger than $size"
    there "0 1 2 3 4"
done

# What is asked in a wrong way is told before the input is opened.
expect 2 "missing method: give --every" -o 'parts/%d' missing
expect 2 "one of --every" --every 1s --by pid -o 'parts/%d' missing
expect 2 "missing output: give -o OUT" --every 1s missing
expect 2 "missing input: give " --every 1s -o 'parts/%d'
expect 2 "too many inputs" --every 1s -o 'parts/%d' missing missing
for time in 1x 0 0s -1 '' s 1e9 0.1ns 99999999999h; do
    expect 2 "--every takes a time" "--every=$time" -o 'parts/%d' missing
done
for size in 0 -1 1T x ''; do
    expect 2 "--size takes a size" "--size=$size" -o 'parts/%d' missing
done
for n in 0 -1 1.5 x '' 99999999999999999999; do
    expect 2 "--records takes a number" "--records=$n" -o 'parts/%d' missing
done
expect 2 "--by takes tid, pid, cpu, event or comm, not 'dso'" --by dso -o 'parts/%d' missing
expect 2 "no place for the part" --by pid -o parts/x missing
expect 2 "no place for the part" --by pid -o parts/%% missing
expect 2 "more than one place" --by pid -o parts/%d-%s missing
expect 2 "must be followed by" --by pid -o parts/%x missing
expect 2 "must be followed by" --by pid -o parts/% missing
expect 2 "not of the folder" --by pid -o parts%d/x missing
expect 2 "%s is the key of a part" --every 1s -o parts/%s missing
expect 2 "'dir'" --every 1s --to dir -o parts/%d missing
expect 2 "not both" --every 1s --no-sideband --compact-sideband -o parts/%d missing
expect 1 "No such file" --every 1s -o parts/%d missing
expect 1 "No such file" --every 1s -o nowhere/%d in.data
there ""

# What is there already stays, and is told without reading.
echo mine >parts/0
expect 1 "give -f to replace files" --every 1s -o 'parts/%d' in.data
mv parts/0 parts/1
expect 1 "cannot create 'parts/1'" --records 10 -o 'parts/%d' in.data
[ "$(cat parts/1)" = mine ] || say "what was there is gone"
expect 0 "into 5 parts" -f --records 10 -o 'parts/%d' in.data
[ "$(cat parts/1 2>/dev/null | head -c 8)" = PERFILE2 ] || say "-f did not replace"
there "0 1 2 3 4"
echo mine >parts/0
mkdir parts/2
expect 1 "is not a file" -f --records 10 -o 'parts/%d' in.data
[ "$(cat parts/0)" = mine ] || say "replaced although it failed"
there "0 2"
cp in.data parts/1
expect 1 "is an input" -f --records 10 -o 'parts/%d' parts/1
cmp -s in.data parts/1 || say "the input was changed"
there 1

# Damage: by --on-damage.
expect 3 "impossible size" --records 5 -o 'parts/%d' "$captures/bad-size.data"
"$PERFILE" validate --severity error parts/0 >said || say "$(cat said)"
rm -f parts/*
expect 3 "split" --records 5 --on-damage resync -o 'parts/%d' "$captures/bad-size.data"
rm -f parts/*
expect 1 "impossible size" --records 5 --on-damage fail -o 'parts/%d' "$captures/bad-size.data"
there ""
expect 1 "not a perf.data file" --records 5 -o 'parts/%d' "$captures/text.data"
there ""

# Streams, in and out.
cat "$captures/pipe.data" | "$PERFILE" split --records 10 -o 'parts/a%d' - 2>err || say "a pipe: $(cat err)"
"$PERFILE" split --records 10 -o 'parts/b%d' "$captures/pipe.data" 2>err || say "$(cat err)"
for part in parts/a*; do
    cmp "$part" "parts/b${part#parts/a}" || say "from a pipe it is another"
done
[ "$(head -c 16 parts/a0 | tail -c 8 | od -An -tu1 | tr -d ' ')" = 160000000 ] || say "a stream is none"
rm -f parts/*
"$PERFILE" split --to pipe --by pid -o 'parts/%d' in.data 2>err || say "$(cat err)"
"$PERFILE" info --header parts/0 | grep -q 'perf.data stream' || say "--to pipe makes no stream"
rm -f parts/*

# The report.
"$PERFILE" split --json --by comm -o 'parts/%s' in.data 2>err |
    python3 -c 'import json, os, sys
r = json.load(sys.stdin)
assert r["out"] == "parts/%s" and r["records"] == 63 and len(r["parts"]) == 3, r
assert sum(p["samples"] for p in r["parts"]) == r["samples"], r
assert sum(p["written"] for p in r["parts"]) == r["written"], r
assert sum(p["bytes"] for p in r["parts"]) == r["bytes"], r
for p in r["parts"]:
    assert os.path.getsize(p["name"]) == p["bytes"] and p["name"] == "parts/" + p["key"], p' ||
    say "the report is not right"
[ -s err ] && say "beside the report: $(cat err)"
rm -f parts/*

# A directory of several files.
samples=$("$PERFILE" stats --json --type sample "$captures/threads.data" | grep -oE '"total":\{"records":[0-9]+')
"$PERFILE" split --json --by tid -o 'parts/%s' "$captures/threads.data" 2>err |
    python3 -c 'import json, sys
r = json.load(sys.stdin)
assert r["samples"] == int(sys.argv[1]) == sum(p["samples"] for p in r["parts"]) and len(r["parts"]) > 3, r' \
        "${samples##*:}" || say "the parts of a directory are not right: $(cat err)"
rm -f parts/*

# Without state each record is in one part, but for facts.
"$PERFILE" split --json --no-sideband --records 7 -o 'parts/%d' in.data 2>err |
    python3 -c 'import json, sys
r = json.load(sys.stdin)
assert r["written"] == r["records"] + 2 * (len(r["parts"]) - 1), r' || say "records are repeated without state"
rm -f parts/*

# Interrupted: while it waits for its input and while it writes, neither parts nor the folder stay.
mkfifo fifo
TMPDIR=$PWD/parts "$PERFILE" split --every 1s -o 'parts/%d' - <fifo 2>/dev/null &
pid=$!
exec 3>fifo
head -c 2000 "$captures/pipe.data" >&3
for _ in $(seq 100); do
    [ -n "$(ls -A parts)" ] && break
    sleep 0.05
done
[ -n "$(ls -A parts)" ] || say "no temporary folder"
kill -TERM "$pid"
sleep 0.1
kill -TERM "$pid" # the first one means: to the end of the pipe
exec 3>&-
wait "$pid" 2>/dev/null
there ""
python3 - "$PERFILE" "$captures/dwarf.data" <<'END' || say "not interrupted while it wrote"
import os, signal, subprocess, sys, time
caught = 0
for n in range(200):
    p = subprocess.Popen([sys.argv[1], "split", "--records", "1", "-o", "parts/%d", sys.argv[2]],
                         stderr=subprocess.DEVNULL)
    time.sleep(n * 0.0002)
    p.send_signal(signal.SIGINT)
    rc, there = p.wait(), os.listdir("parts")
    if rc == 0:
        assert there and all(name.isdigit() for name in there), there
        for name in there:
            os.unlink("parts/" + name)
    else:
        # The signal may have come when the names were being given: then all are there.
        whole = there and all(name.isdigit() for name in there)
        assert rc == -signal.SIGINT and (not there or whole), (rc, there)
        for name in there:
            os.unlink("parts/" + name)
        caught += 1
sys.exit(caught < 5)
END
there ""

# 80 parts at once of 64 MB, with the state of 500 processes each: what is anonymous stays small, and
# where there is less than that, nothing stays.
case $PERFILE_CFLAGS in
*sanitize*) ;;
*)
    python3 - "$PERFILE" <<'END' || say "more memory than allowed"
import os, resource, struct, subprocess, sys
n = (64 << 20) // 56
kind = 1 << 16 | 0x187  # IDENTIFIER, IP, TID, TIME, CPU, PERIOD
attr = struct.pack("<IIQQQQQ", 1, 136, 0, 1000, kind, 0, 1 << 18).ljust(136, b"\0")
pack = struct.Struct("<IHHQQIIQQQ").pack
state = b"".join(
    struct.pack("<IHHIIQQQ16sIIQQQ", 1, 2, 88, pid, pid, 4096 * k, 4096, 0, b"/lib/%d" % k, pid, pid, 0, 0, 70)
    for pid in range(1000, 1500) for k in range(20))
data = b"".join(pack(9, 2, 56, 70, i, 1000 + i % 500, 1000 + i % 500, 10**12 + i, i // 7 % 80, 1) for i in range(n))
with open("large.data", "wb") as f:
    size = len(state) + len(data)
    f.write(b"PERFILE2" + struct.pack("<8Q", 104, 152, 112, 152, 264, size, 0, 0) + bytes(32))
    f.write(struct.pack("<Q", 70) + attr + struct.pack("<QQ", 104, 8) + state + data)
for megabytes, parts in (4, 0), (32, 80):
    limit = resource.RLIMIT_DATA, (megabytes << 20, megabytes << 20)
    run = subprocess.run([sys.argv[1], "split", "--by", "cpu", "-o", "parts/%d", "large.data"],
                         preexec_fn=lambda: resource.setrlimit(*limit))
    print(megabytes, run.returncode)
    assert run.returncode == (0 if parts else 1) and len(os.listdir("parts")) == parts
END
    "$PERFILE" validate --severity error parts/79 >said || say "$(cat said)"
    rm -f parts/* large.data
    ;;
esac
exit "$failed"

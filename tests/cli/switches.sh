# When threads were on a processor.  Idle (thread 0) is one thread for each processor.  Of several kinds of switches the one that says most
# counts: SWITCH_CPU_WIDE, then all samples of sched:sched_switch on a processor, then SWITCH of tasks; sampled ones say nothing.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
cat > make.py <<'END'
import struct, sys
import sched_made
SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 10  # IP, TID, TIME, CPU, RAW
SAMPLE_ID_ALL = 1 << 18
def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body
def traced(ms, cpu, prev, next_):
    name = lambda tid: b"task" if tid else b"swapper/%d" % cpu
    raw = struct.pack("<HBBi16siiq16sii", 1, 0, 0, prev, name(prev), prev, 120, 1, name(next_), next_, 120)
    raw = struct.pack("<I", len(raw) + 4) + raw + bytes(4)
    return record(9, 2, struct.pack("<QiiQII", 5, prev, prev, ms * 10**6, cpu, 0) + raw)
def trailer(tid, ms, cpu):
    return struct.pack("<iiQII", tid, tid, ms * 10**6, cpu, 0)
def task(ms, cpu, tid, out):
    return record(14, out << 13, trailer(tid, ms, cpu))
def wide(ms, cpu, prev, next_):
    return (record(15, 1 << 13, struct.pack("<ii", next_, next_) + trailer(prev, ms, cpu)) +
            record(15, 0, struct.pack("<ii", prev, prev) + trailer(next_, ms, cpu)))
def write(path, period, data, flags=0):
    attr = struct.pack("<IIQQQQQ", 2, 112, 1, period, SAMPLE_TYPE, 0, SAMPLE_ID_ALL | flags).ljust(112, b"\0")
    name = b"sched:sched_switch\0".ljust(64, b"\0")
    desc = struct.pack("<II", 1, 112) + attr + struct.pack("<II", 0, 64) + name
    tracing = sched_made.tracing(switch=1)
    at = 104 + 128
    table = at + len(data)
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 128, 104, 128, at, len(data), 0, 0) + struct.pack("<QQQQ", 1 << 1 | 1 << 12, 0, 0, 0)
    open(path, "wb").write(head + attr + struct.pack("<QQ", 0, 0) + data + struct.pack("<QQQQ", table + 32, len(tracing), table + 32 + len(tracing), len(desc)) + tracing + desc)
idle = [(1, 0, 7, 0), (2, 1, 8, 0), (5, 0, 0, 7), (9, 1, 0, 8), (12, 0, 7, 0), (13, 1, 8, 0)]
all_traced = b"".join(traced(*s) for s in idle)
tasks = task(3, 0, 7, 0) + task(4, 0, 7, 1) + task(6, 0, 8, 0) + task(7, 0, 8, 1)
of_tasks = traced(1, 0, 7, 0) + traced(12, 0, 7, 0)
whole = wide(10, 1, 0, 8) + wide(11, 1, 8, 0)
write("idle.data", 1, all_traced)
write("sampled.data", 3, all_traced)
write("frequency.data", 1, all_traced, 1 << 10)
write("sampled_tasks.data", 3, all_traced + tasks)
write("tasks.data", 1, of_tasks + tasks)
write("traced_tasks.data", 1, all_traced + tasks)
write("wide.data", 1, all_traced + tasks + whole)
END
cat > read.py <<'END'
import json, sys
def fields(data):
    at = 0
    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value
    while at < len(data):
        key = number()
        if key & 7 == 0:
            yield key >> 3, number()
        elif key & 7 == 1:
            at += 8
        else:
            n = number()
            yield key >> 3, data[at:at + n]
            at += n
form, path = sys.argv[1:]
on = []
if form == "chrome":
    for e in json.load(open(path))["traceEvents"]:
        if e["ph"] == "X":
            on.append((e["args"]["cpu"], e["ts"] / 1000, e["dur"] / 1000, e["args"]["thread"], (e["pid"], e["tid"])))
elif form == "firefox":
    for t in json.load(open(path))["threads"]:
        m = t["markers"]
        for begin, end, data in zip(m["startTime"], m["endTime"], m["data"]):
            if data["type"] == "on-cpu":
                on.append((data["cpu"], begin, end - begin, t["tid"], t["name"]))
else:
    for _, packet in fields(open(path, "rb").read()):
        bundle = dict(fields(packet)).get(1)
        cpu = dict(fields(bundle))[1] if bundle else 0
        last = None
        for key, event in fields(bundle) if bundle else ():
            if key != 2:
                continue
            event = dict(fields(event))
            switch = dict(fields(event[4]))
            if last:
                assert last[1] == switch[2], (last, switch)
                on.append((cpu, last[0] / 1e6, (event[1] - last[0]) / 1e6, last[1]))
            last = event[1], switch[6]
for stretch in sorted(on):
    print(*stretch)
END
PYTHONPATH=$PERFILE_SOURCE/tests/interop PYTHONDONTWRITEBYTECODE=1 python3 make.py
for name in idle sampled frequency sampled_tasks tasks traced_tasks wide; do
    for form in chrome firefox; do
        echo "$name, $form:"
        "$PERFILE" export --to "$form" -o out -f "$name.data" 2>/dev/null
        python3 read.py "$form" out
    done
done
"$PERFILE" export --help | grep -qw perfetto || exit 0 # not part of every build
perfetto() {
    "$PERFILE" export --to perfetto -o out -f "$1.data" 2>/dev/null
    cat > expected
    python3 read.py perfetto out | diff - expected >&2
}
for name in idle traced_tasks; do
    perfetto $name <<'END'
0 1.0 4.0 0
0 5.0 7.0 7
1 2.0 7.0 0
1 9.0 4.0 8
END
done
for name in sampled frequency; do
    perfetto $name < /dev/null
done
for name in sampled_tasks tasks; do
    perfetto $name <<'END'
0 3.0 1.0 7
0 4.0 2.0 0
0 6.0 1.0 8
END
done
perfetto wide <<'END'
1 10.0 1.0 8
END

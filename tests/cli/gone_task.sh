# The kernel gives no thread for the last sched:sched_switch of a task that ends: its tid is -1.  The tracepoint names it, so that its
# last time on the processor is not lost.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
PYTHONPATH=$PERFILE_SOURCE/tests/interop PYTHONDONTWRITEBYTECODE=1 python3 - gone.data <<'END'
import struct, sys
import sched_made
SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 7 | 1 << 10  # IP, TID, TIME, CPU, RAW
def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body
def switch(time, tid, prev, prev_comm, next_, next_comm):
    raw = struct.pack("<HBBi16siiq16sii", 1, 0, 0, prev, prev_comm, prev, 120, 0, next_comm, next_, 120)
    raw = struct.pack("<I", len(raw) + 4) + raw + bytes(4)
    return record(9, 2, struct.pack("<QiiQII", 5, 100, tid, time, 0, 0) + raw)
data = (switch(1000000, 100, 100, b"main", 101, b"short-lived") + switch(21000000, -1, 101, b"short-lived", 0, b"swapper") +
        switch(22000000, 0, 0, b"swapper", 100, b"main"))
attr = struct.pack("<IIQQQQQ", 2, 112, 1, 1, SAMPLE_TYPE, 0, 1 << 18).ljust(112, b"\0")
name = b"sched:sched_switch\0".ljust(64, b"\0")
desc = struct.pack("<II", 1, 112) + attr + struct.pack("<II", 0, 64) + name
tracing = sched_made.tracing(switch=1)
at = 104 + 128
table = at + len(data)
head = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 128, 104, 128, at, len(data), 0, 0) + struct.pack("<QQQQ", 1 << 1 | 1 << 12, 0, 0, 0)
open(sys.argv[1], "wb").write(head + attr + struct.pack("<QQ", 0, 0) + data + struct.pack("<QQQQ", table + 32, len(tracing), table + 32 + len(tracing), len(desc)) + tracing + desc)
END
"$PERFILE" export --to chrome -o gone.json gone.data 2>/dev/null
grep -q '"ph":"X","pid":100,"tid":101,"ts":0.000,"dur":20000.000' gone.json
grep -q '"tid":-1' gone.json && exit 1
"$PERFILE" export --to firefox -o gone.firefox gone.data 2>/dev/null
grep -q '"tid":"*101"*' gone.firefox

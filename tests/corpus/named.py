"""Writes a capture whose threads, files and events have names that mean something to options: names.sh."""
import struct
import sys

COMMS = ["a*b,c", "a?b,c", "aXb,c", "b", "c", "[x]", r"a\*,c", "-", "a*,c", "z\\"]
FILES = ["/tmp/[x] y", "[vdso]", "/tmp/a,b", "/tmp/a", "b", "/tmp/b", "//anon", "/tmp/*", "/tmp/x*y", "/tmp/xzy", "/opt/c"]
SAMPLE_TYPE = 1 << 0 | 1 << 1 | 1 << 2 | 1 << 8 | 1 << 16  # IP, TID, TIME, PERIOD, IDENTIFIER
EVENTS = ["cycles", "cycles", "cpu/event=1,umask=2/", "x*", "xy", "0"]


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def text(name):
    data = name.encode() + b"\0"
    return data + bytes(-len(data) % 8)


def trailer(pid, time, event):
    return struct.pack("<IIQQ", pid, pid, time, event)


records, time = [], 1000
records.append(record(1, 1, struct.pack("<IIQQQ", 0xffffffff, 0, 0xffff0000, 0x10000, 0xffff0000) + text("[kernel.kallsyms]_text") +
                      trailer(0xffffffff, 1, 1)))
for i, comm in enumerate(COMMS):
    pid = 100 + i
    records.append(record(3, 0, struct.pack("<II", pid, pid) + text(comm) + trailer(pid, time, 1)))
    for k, name in enumerate(FILES):
        records.append(record(1, 2, struct.pack("<IIQQQ", pid, pid, 0x10000 * (k + 1), 0x10000, 0) + text(name) + trailer(pid, time + 1, 1)))
for i in range(3 * len(COMMS)):
    pid, k = 100 + i % len(COMMS), i % len(FILES)
    time += 10
    records.append(record(9, 2, struct.pack("<QQIIQQ", 1 + i % len(EVENTS), 0x10000 * (k + 1) + i, pid, pid, time, 7)))
records.append(record(9, 2, struct.pack("<QQIIQQ", 1, 5, 0xffffffff, 0xffffffff, time + 1, 7)))
records.append(record(9, 1, struct.pack("<QQIIQQ", 1, 0xffff0010, 0, 0, time + 2, 7)))
records.append(record(9, 1, struct.pack("<QQIIQQ", 1, 0xffff0020, 100, 0xffffffff, time + 3, 7)))  # of a thread that has ended
data = b"".join(records)

attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1, SAMPLE_TYPE, 0, 1 << 18).ljust(112, b"\0")  # sample_id_all
n = len(EVENTS)
ids_at = 104
attrs_at = ids_at + 8 * n
data_at = attrs_at + 128 * n
desc = struct.pack("<II", n, 112)
for i, name in enumerate(EVENTS):
    string = name.encode() + b"\0"
    string += bytes(-len(string) % 64)
    desc += attr + struct.pack("<II", 1, len(string)) + string + struct.pack("<Q", 1 + i)
table_at = data_at + len(data)
header = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 128, attrs_at, 128 * n, data_at, len(data), 0, 0) + struct.pack("<QQQQ", 1 << 12, 0, 0, 0)
with open(sys.argv[1], "wb") as out:
    out.write(header + b"".join(struct.pack("<Q", 1 + i) for i in range(n)))
    out.write(b"".join(attr + struct.pack("<QQ", ids_at + 8 * i, 8) for i in range(n)))
    out.write(data + struct.pack("<QQ", table_at + 16, len(desc)) + desc)

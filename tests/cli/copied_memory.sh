# What convert and filter have copied of a mapped capture, and script has printed of one that it sorts, leaves memory: of 64 MB
# no more than 16 and 32 are resident.
case $PERFILE_CFLAGS in
*sanitize*) exit 0 ;;
esac
python3 "$PERFILE_SOURCE/tests/cli/random_times.py" 64 large.data
# Nor of a payload of 64 MB behind one record, when the bytes stay the same.
python3 - <<'END'
import struct
with open("large.data", "rb") as f:
    head = bytearray(f.read(264))
head[48:56] = struct.pack("<Q", 48 + (64 << 20))
with open("payload.data", "wb") as f:
    f.write(head + struct.pack("<IHHQQQIIII", 71, 0, 48, 64 << 20, 0, 0, 0, 0, 0, 0) + bytes(64 << 20))
END
python3 - "$PERFILE" <<'END'
import filecmp, os, sys
for words, name in ((["convert"], "payload.data"), (["convert"], "large.data"), (["filter"], "large.data"),
                    (["filter", "--pid", "0..1000000"], "large.data")):
    run = os.fork()
    if run == 0:
        os.dup2(os.open("/dev/null", os.O_WRONLY), 2)
        os.execv(sys.argv[1], [sys.argv[1], *words, "-f", "-o", "copy.data", name])
    _, status, used = os.wait4(run, 0)
    if status or used.ru_maxrss > 16 << 10:
        print(*words, name, "ended with", status, "and had", used.ru_maxrss, "KB in memory")
    if not filecmp.cmp("copy.data", name, shallow=False):
        print(*words, name, "changed something")
END
# Of two processors, whose samples alternate every 2048.
python3 - <<'END'
import struct
with open("large.data", "rb") as f:
    head = f.read(264)
pack = struct.Struct("<IHHQQIIQQ").pack
n = (64 << 20) // 48
with open("rounds.data", "wb") as f:
    f.write(head)
    for first in range(0, n, 2048):
        time = first // 4096 * 4096 + first // 2048 % 2 + 1
        f.write(b"".join(pack(9, 2, 48, 70, i, 100, 101, time + 2 * (i - first), 1) for i in range(first, min(first + 2048, n))))
END
python3 - "$PERFILE" <<'END'
import os, sys
run = os.fork()
if run == 0:
    os.execv(sys.argv[1], [sys.argv[1], "script", "-j", "1", "-F", "time,ip", "-f", "-o", "text", "rounds.data"])
_, status, used = os.wait4(run, 0)
if status or used.ru_maxrss > 32 << 10:
    print("script ended with", status, "and had", used.ru_maxrss, "KB in memory")
with open("text") as f:
    times = [line.split(":")[0] for line in f]
if len(times) != (64 << 20) // 48 or times != sorted(times, key=float):
    print("script printed", len(times), "lines, or not in order")
END

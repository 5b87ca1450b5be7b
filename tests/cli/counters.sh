# Counts of perf stat: what counters counted in each interval, extrapolated where they took turns.
cat >make.py <<'END'
"""A pipe of `perf stat record -I`: cycles (ids 7, 8) and cpu-clock (id 9) of two threads, and an event that is not counted."""
import struct
import sys


def record(kind, body):
    return struct.pack("<IHH", kind, 0, 8 + len(body)) + body


def attr(kind, config, *ids):
    whole = struct.pack("<IIQQQQQ", kind, 112, config, 0, 0, 3, 0)
    return record(64, whole + b"\0" * (112 - len(whole)) + struct.pack("<%dQ" % len(ids), *ids))


def stat(number, cpu, thread, *values):
    return record(76, struct.pack("<QIIQQQ", number, cpu, thread, *values))


def update(kind, number, data):
    return record(78, struct.pack("<QQ", kind, number) + data)


scale = int(sys.argv[1])
out = b"PERFILE2" + struct.pack("<Q", 16) + attr(0, 0, 7, 8) + attr(1, 0, 9) + attr(0, 1)
out += update(0, 9, b"msec\0\0\0\0") + update(1, 9, struct.pack("<d", 1e-6))
out += record(73, struct.pack("<QQ16sQ16s", 2, 500, b"first", 501, b"sec\x1bond"))
out += record(75, struct.pack("<QQQ", 1, 2, scale))
out += stat(7, 0, 0, 1000, 100, 50) + stat(8, 1, 1, 500, 100, 100) + stat(9, 0, 0, 2500000, 100, 100)
out += record(77, struct.pack("<QQ", 0, 1000000000))
out += stat(7, 0, 0, 1600, 200, 125) + stat(8, 1, 1, 500, 200, 100) + stat(9, 0, 0, 4000000, 200, 200)
out += record(77, struct.pack("<QQ", 0, 2000000000))
out += stat(7, 0, 0, 300, 100, 100)  # began anew
sys.stdout.buffer.write(out)
END
python3 make.py 1 >counts.data
python3 make.py 0 >unscaled.data
for options in "" "--by event" "--by cpu,time" "--by time=2s" "--by comm,tid --top 3" "--by type --type stat"; do
    echo "$options"
    "$PERFILE" stats $options counts.data || exit
done
"$PERFILE" stats --json --by tid counts.data
"$PERFILE" stats unscaled.data | sed -n '/COUNT/,$p'
"$PERFILE" stats --by sym counts.data
"$PERFILE" stats "$PERFILE_SOURCE/samples/captures/cpu-clock.data" | grep COUNT || echo "no counts of a capture of samples"

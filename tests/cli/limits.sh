# What would cost far more than the input is stopped, with the name of the limit; --allow-growth lifts it, and nothing is left behind.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
say() { echo "$*"; exit 1; }

# A process of 2000 mappings and 260 threads: each part of a split by thread needs them all, 40 MB of 0.2 MB.
# And three compressed records of 5 kB that hold 160 MiB each, where 256 MiB and 1024 times the bytes are allowed.
python3 - <<'END'
import struct
attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1, 1 << 16 | 6, 0, 1 << 18).ljust(112, b"\0") + struct.pack("<Q", 7)
head = b"PERFILE2" + struct.pack("<QIHH", 16, 64, 0, 8 + len(attr)) + attr
maps = b"".join(struct.pack("<IHHIIQQQIIQQII8sIIQQ", 10, 2, 104, 1, 1, 4096 * i, 4096, 0, 8, 1, 1, 0, 5, 2, b"/x", 1, 1, 1, 7)
                for i in range(2000))
samples = b"".join(struct.pack("<IHHQIIQ", 9, 2, 32, 7, 1, i + 1, 9) for i in range(260))
open("threads.data", "wb").write(head + maps + samples)

def frame(blocks):
    """A zstd frame of blocks of 128 KiB, each one byte over and over: records of type 0x08080808 with 0x0808 bytes."""
    return b"\x28\xb5\x2f\xfd\x00\x58" + b"".join(
        struct.pack("<I", 1 << 20 | 1 << 1 | (i == blocks - 1))[:3] + b"\x08" for i in range(blocks))

eights = frame(160 << 3)
records = b"".join(struct.pack("<IHHQ", 83, 0, 16 + len(eights) + (-len(eights) % 8), len(eights)) + eights + bytes(-len(eights) % 8)
                   for _ in range(3))
open("eights.data", "wb").write(head + records)
END

mkdir parts
rc=0
"$PERFILE" split --by tid -o 'parts/%s' threads.data >out 2>said || rc=$?
[ $rc = 1 ] || say "split: exit status $rc"
grep -q "the limit 'growth_ratio'; --allow-growth lifts it" said || say "split: $(cat said)"
[ -z "$(ls -A parts)" ] || say "split left $(ls -A parts | head -3)"
"$PERFILE" split --by tid --no-state -o 'parts/%s' threads.data 2>said || say "split --no-state: $(cat said)"
[ "$(ls parts | wc -l)" = 260 ] || say "split --no-state: $(ls parts | wc -l) parts"
rm parts/*
"$PERFILE" split --allow-growth --by tid -o 'parts/%s' threads.data 2>said || say "split --allow-growth: $(cat said)"
[ "$(ls parts | wc -l)" = 260 ] || say "split --allow-growth: $(ls parts | wc -l) parts"
"$PERFILE" validate --severity error parts/260 >said || say "$(cat said)"

rc=0
"$PERFILE" stats eights.data >out 2>said || rc=$?
[ $rc = 1 ] || say "stats: exit status $rc"
grep -q "the limit 'inflate_ratio'; --allow-growth lifts it" said || say "stats: $(cat said)"
rc=0
"$PERFILE" stats --allow-growth eights.data >out 2>said || rc=$?
grep -q 'COMPRESSED2' out && ! grep -q 'the limit' said || say "stats --allow-growth: $rc, $(cat said)"

#!/bin/bash
# archive_reader.py, which shares nothing with the library, reads the archives that the library writes: it finds
# every checksum right and the index complete, and restores each file.  A changed byte it refuses.  Of archives that
# the command made it also finds metadata and zone maps that say what the restored bytes say.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
for python in python3 /usr/bin/python3 none; do # the package is that of the system's Python
    "$python" -c 'import zstandard' 2>/dev/null && break
done
if [ "$python" = none ]; then
    echo "python3-zstandard is not installed"
    exit 77
fi
make=$PERFILE_BUILD/tests/interop/archive_make
reader() { "$python" "$PERFILE_SOURCE/tests/interop/archive_reader.py" "$@"; }

captures=$PERFILE_SOURCE/samples/captures
: >empty
head -c 30000 /dev/urandom >noise
files=("$captures/cpu-clock.data" "$captures/zstd.data" "$captures/big-endian.data" empty noise)
compared=0
for step in 1000 20000; do
    "$make" "a$step" "$step" "${files[@]}"
    reader check "a$step" >chunks
    grep -q '^3 0 ' chunks && grep -q '^3 1 ' chunks && grep -q '^2 2 ' chunks # raw, zstd and columns
    n=0
    for file in "${files[@]}" "a$step.columns"; do
        reader restore "a$step" "$n" 0 | cmp - "$file"
        n=$((n + 1))
        compared=$((compared + 1))
    done
done
echo "$compared files compared"

# A byte of the first payload.
cp a1000 bad
printf '\377' | dd of=bad bs=1 seek=200 conv=notrunc status=none
cmp -s a1000 bad && printf '\0' | dd of=bad bs=1 seek=200 conv=notrunc status=none
if reader check bad 2>said; then
    echo "a changed byte was not found"
    exit 1
fi
grep -q damaged said

# Archives of the command: files, pipes, a directory, compressed and damaged ones.
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
extracted=0 zones=0 types=0 events=0
for capture in cpu-clock big-endian callgraph tracepoints stat switch mixed killed pipe pipe-tracepoints zstd pipe-zstd \
    threads garbage truncated-pipe corrupt-feature unknown-type; do
    "$PERFILE" convert -f --to archive -o packed "$captures/$capture.data" 2>said || [ $? = 3 ]
    rm -rf restored
    reader extract packed restored >counts
    diff -r "$captures/$capture.data" restored
    read -r n_events n_zones n_types < <(sed -E 's/parts [0-9]+, events ([0-9]+), zones ([0-9]+), with types ([0-9]+)/\1 \2 \3/' counts)
    events=$((events + n_events)) zones=$((zones + n_zones)) types=$((types + n_types)) extracted=$((extracted + 1))
done
for file in empty noise; do
    "$PERFILE" convert -f --to archive -o packed "$file" 2>said || [ $? = 3 ]
    rm -rf restored
    reader extract packed restored >counts
    cmp restored "$file"
done
echo "$extracted archives of the command, with $events events, $zones zones, $types of them with types"
[ "$events" -ge 15 ] && [ "$zones" -ge 15 ] && [ "$types" -ge 12 ]

# A zone that counts another number of records is found: one of three records, in place of the first one.
"$PERFILE" convert -f --to archive -o packed "$captures/cpu-clock.data"
"$python" - "$PERFILE_SOURCE/tests/interop" <<'END'
import sys

sys.path.insert(0, sys.argv[1])
import archive_reader as reader

with open("packed", "rb") as file:
    archive = reader.Archive(file.read())
chunk = next(c for c in archive.chunks if c.kind == reader.RECORDS)
zone = reader.Zone(chunk.meta(archive.data)[: chunk.meta_len])
raw = chunk.payload(archive.data)
zone.compare(raw, False)
for key, value in ((1, zone.map[1] + 1), (4, {9: 1}), (11, {9: 64})):
    changed = reader.Zone(b"\xa1\x01\x00")
    changed.map = {**zone.map, key: value}
    try:
        changed.compare(raw, False)
    except ValueError:
        continue
    sys.exit("another value of key %d was not found" % key)
for bad in (b"\xa1\x01", b"\xa2\x01\x00\x01\x00", b"\xbf\xff", b"\xa1\x01\x18\x17", b"\xc0\x00", b"\xa1\x01\x00\x00"):
    try:
        reader.Zone(bad)
    except ValueError:
        continue
    sys.exit("a bad map was read: %r" % bad)
END

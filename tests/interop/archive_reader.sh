#!/bin/bash
# archive_reader.py, which shares nothing with the library, reads the archives that the library writes: it finds
# every checksum right and the index complete, and restores each file.  A changed byte it refuses.
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

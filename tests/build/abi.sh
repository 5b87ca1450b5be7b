#!/bin/bash
# The shared library has the binary interface that tests/abi/ says: tests/abi/README.md is for whoever sees this fail.
# The library is compiled once more, with debug information, without which nothing says what its types are, and without the
# libraries that it can do without, on which the interface does not depend.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs abidiff abidw python3
if [ "$(uname -m)" != x86_64 ]; then
    echo "tests/abi/perfile.abi is of x86_64, this is $(uname -m)"
    exit 77
fi
abi=$PERFILE_SOURCE/tests/abi
failed=0

# same NAME BASELINE LIBRARY: whether abidiff sees no difference, not even of the compatible kind.
same() {
    abidiff --no-show-locs "$2" "$3" >"$1.report"
}

mkdir -p made/include
cp -rL "$PERFILE_SOURCE/include/perfile" made/include/
bash "$abi/update.sh" made
for what in structs constants; do
    diff -u "$abi/$what" "made/tests/abi/$what" || { echo "$what: see tests/abi/README.md"; failed=1; }
done

"$PERFILE_CMAKE" -S "$PERFILE_SOURCE" -B build -DCMAKE_C_COMPILER="$PERFILE_CC" -DCMAKE_BUILD_TYPE=None \
    -DCMAKE_C_FLAGS="-g -O0" -DPERFILE_BUILD_TESTS=OFF -DPERFILE_BUILD_SAMPLES=OFF \
    -DPERFILE_DWARF=OFF -DPERFILE_SYMBOLS=OFF -DPERFILE_PPROF=OFF -DPERFILE_PERFETTO=OFF \
    -DPERFILE_TABLES=OFF -DPERFILE_CBOR=OFF >build.log
"$PERFILE_CMAKE" --build build --target perfile_shared perfile_command -j2 >>build.log 2>&1
library=build/libperfile.so
same library "$abi/perfile.abi" "$library" || {
    cat library.report
    echo "the interface is not that of tests/abi/perfile.abi: see tests/abi/README.md"
    failed=1
}

# What needs them says so.
for command in "export --to folded --inline" "stats --by srcline"; do
    status=0
    # shellcheck disable=SC2086
    build/perfile $command "$PERFILE_SOURCE/samples/captures/callgraph.data" >out 2>err || status=$?
    [ "$status" = 1 ] && [ ! -s out ] && grep -q 'built without libdw' err || { echo "$command: $status"; cat err; failed=1; }
done
"$PERFILE" convert --to archive -o packed "$PERFILE_SOURCE/samples/captures/callgraph.data"
"$PERFILE" dump --format cbor "$PERFILE_SOURCE/samples/captures/callgraph.data" >dumped
for command in "info packed" "convert --to archive -o new packed.data" "convert --from cbor --to perf.data -o new dumped"; do
    status=0
    cp "$PERFILE_SOURCE/samples/captures/callgraph.data" packed.data
    # shellcheck disable=SC2086
    build/perfile $command >out 2>err || status=$?
    [ "$status" != 0 ] && [ ! -s out ] && [ ! -e new ] && grep -q 'need libcbor, and this library was built without it' err ||
        { echo "$command: $status"; cat err; failed=1; }
done
! readelf -d "$library" | grep -q libcbor || { echo "the library is linked with libcbor"; failed=1; }
for command in info stats validate "dump --format jsonl"; do
    # shellcheck disable=SC2086
    build/perfile $command "$PERFILE_SOURCE/samples/captures/callgraph.data" >out 2>err ||
        { echo "$command: does not work without libcbor"; cat err; failed=1; }
done

# The comparison, on interfaces that differ: a member, a parameter, a function, an enumerator.
n=0
while read -r header change; do
    rm -rf other
    mkdir -p other/include
    cp -rL "$PERFILE_SOURCE/include/perfile" other/include/
    sed -i "$change" "other/include/perfile/$header"
    ! cmp -s "$PERFILE_SOURCE/include/perfile/$header" "other/include/perfile/$header" ||
        { echo "self-check: $header has nothing for $change"; exit 1; }
    bash "$abi/update.sh" other
    if same other other/tests/abi/perfile.abi "$library" && cmp -s other/tests/abi/constants "$abi/constants" &&
        cmp -s other/tests/abi/structs "$abi/structs"; then
        echo "self-check: does not see $change in $header"
        failed=1
    fi
    n=$((n + 1))
done <<'END'
stream.h s/^    uint64_t damages; .*/    uint64_t more;\n&/
model.h s/    uint32_t n_names;/    uint64_t n_names;/
stream.h s/void perfile_stream_close(perfile_stream \*s)/void perfile_stream_close(perfile_stream *s, int how)/
stream.h s/perfile_stream_container(/perfile_stream_label(/
base.h s/PERFILE_E_LIMIT = -6/PERFILE_E_LIMIT = -16/
damage.h s/PERFILE_ON_DAMAGE_RESYNC = 2/PERFILE_ON_DAMAGE_RESYNC = 3/
END
[ "$n" = 6 ]
exit "$failed"

# perfile-symbolizer demangles and reads debug information.  Where it is missing only that fails: with a sentence for what
# needs it, with names as they are stored for the rest.  One that ends, is silent or says nonsense does no more harm.
here=$PWD
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
mkdir -p bin/libexec/perfile
cp "$PERFILE" bin/perfile
helper=$here/bin/libexec/perfile/perfile-symbolizer
cd "$PERFILE_SOURCE/samples/captures" || exit 1
without() {
    echo "\$ perfile $*"
    "$here/bin/perfile" "$@" >"$here/out"
    echo "exit status $?, $(wc -c <"$here/out") bytes of output"
}
if [ -x /usr/local/libexec/perfile/perfile-symbolizer ]; then
    echo "perfile-symbolizer is installed here: not tried without it"
    exit 77
fi
without stats --by srcline callgraph.data 2>&1
without export --to folded --inline -o "$here/folded" callgraph.data 2>&1 | sed "s|$here/||"
[ ! -e "$here/folded" ] || echo "something was written"
"$here/bin/perfile" stats --by sym callgraph.data >"$here/out" || echo "exit status $?: stats --by sym"
[ -s "$here/out" ] || echo "stats --by sym says nothing"

# A map of compiled code with a mangled name.
python3 - "$here/a.data" <<'END'
import struct, sys
def record(kind, body):
    return struct.pack("<IHH", kind, 2, 8 + len(body)) + body
records = record(1, struct.pack("<IIQQQ", 7, 7, 0x400000, 0x10000, 0) + b"//anon\0\0") + \
    record(9, struct.pack("<QIIQ", 0x400010, 7, 7, 1000))
attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1, 7, 0, 0) + bytes(64) + struct.pack("<QQ", 0, 0)
words = struct.pack("<8Q", 104, len(attr), 104, len(attr), 104 + len(attr), len(records), 0, 0)
open(sys.argv[1], "wb").write(b"PERFILE2" + words + bytes(32) + attr + records)
END
mkdir -p "$here/maps"
echo "400000 100 _ZN5outer5innerEv" >"$here/maps/perf-7.map"
cd "$here" || exit 1
try() {
    echo "== $1"
    timeout 60 bin/perfile export --to folded --per none --perf-map-dir maps a.data
    echo "exit status $?"
}
try "missing" 2>&1
printf '#!/bin/sh\nexit 1\n' >"$helper"
chmod +x "$helper"
try "it ends" 2>&1
printf '#!/bin/sh\nexec cat /dev/zero >&0\n' >"$helper"
try "nonsense" 2>&1
printf 'no program' >"$helper"
try "it is none" 2>&1

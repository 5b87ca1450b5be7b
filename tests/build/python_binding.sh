#!/bin/bash
# samples/comm_counts.py: Python reads the installed headers as they are, and counts with the installed library what
# the command counts.  samples/arrow.py reads tables as samples/arrow.c does.  Every function that the headers declare is found under its name.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3 pkg-config jq
if ! python3 -c 'import cffi' 2>/dev/null; then
    echo "python3-cffi is not installed"
    exit 77
fi

"$PERFILE_CMAKE" --install "$PERFILE_BUILD" --prefix "$PWD/prefix" >install.log
PKG_CONFIG_PATH=$(dirname "$(find "$PWD/prefix" -name perfile.pc)")
export PKG_CONFIG_PATH CC=$PERFILE_CC
captures=$PERFILE_SOURCE/samples/captures

compared=0
for capture in cpu-clock threads tracepoints zstd pipe big-endian; do
    capture=$captures/$capture.data
    python3 "$PERFILE_SOURCE/samples/comm_counts.py" "$capture" | awk '{ n = $1; sub(/^ *[0-9]+ /, ""); print $0 "\t" n }' |
        sort >binding
    "$PERFILE" stats --by comm --json "$capture" | jq -r '.rows[] | [.comm // "-", .records] | @tsv' | sort >command
    diff -u command binding || { echo "$capture: the binding (+) counts other records than the command (-)"; exit 1; }
    [ "$(wc -l <binding)" -gt 1 ]
    compared=$((compared + 1))
done
echo "$compared captures compared"

# What is wrong is said by the library.
if python3 "$PERFILE_SOURCE/samples/comm_counts.py" "$captures/text.data" 2>said; then
    echo "a text was read as a capture"
    exit 1
fi
grep -q '^comm_counts: .*text.data: .' said

# Tables, through the Arrow C stream.
for capture in threads callgraph tracepoints; do
    for table in samples:record,time,comm,cpu,tid,period,module,mode frames:frame_id,module,mode,kind modules:path,bytes; do
        IFS=, read -ra columns <<<"${table#*:}"
        "$PERFILE_BUILD/samples/arrow" "$captures/$capture.data" "${table%:*}" "${columns[@]}" >program
        python3 "$PERFILE_SOURCE/samples/arrow.py" "$captures/$capture.data" "${table%:*}" "${columns[@]}" |
            sed -E ':again; s/(^|\t)None($|\t)/\1null\2/; t again' >binding
        diff -u program binding || { echo "$capture: the binding (+) has other rows than the program (-)"; exit 1; }
        [ "$(wc -l <binding)" -gt 1 ]
    done
done
if python3 "$PERFILE_SOURCE/samples/arrow.py" "$captures/threads.data" sampels 2>said; then
    echo "there is no such table"
    exit 1
fi
grep -q '^arrow: .*did you mean samples' said

# With PERFILE_DECLARATIONS there is nothing but standard C, each function is declared once, and the library has it.
mkdir -p standard
touch standard/stdbool.h standard/stddef.h standard/stdint.h
printf '#include <perfile/perfile.h>\n' | "$PERFILE_CC" -E -P -x c -nostdinc -DPERFILE_DECLARATIONS -Istandard \
    -I"$PWD/prefix/include" - >declarations
if grep -nE '__(attribute|extension|inline|asm)|\<inline\>|#' declarations; then
    echo "this is not standard C"
    exit 1
fi
python3 - "$(find "$PWD/prefix" -name libperfile.so)" <<'END'
import sys
import cffi
from cffi import cparser
ffi = cffi.FFI()
text = open("declarations", encoding="utf-8").read()
ffi.cdef(text)
lib = ffi.dlopen(sys.argv[1])
parser = cparser.Parser()
parser.parse(text)
names = [key.split()[1] for key in parser._declarations if key.startswith("function ")]
for name in names:
    getattr(lib, name)
assert len(names) > 100, names
END

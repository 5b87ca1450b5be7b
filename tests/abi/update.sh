#!/bin/bash
# update.sh [ROOT]: writes tests/abi/perfile.abi, structs and constants of ROOT (this checkout without one) anew, from
# its public headers.  See README.md beside this.  Needs abigail-tools and a C compiler.
#
# The interface is that of a library of empty functions which is made of the headers: the compiler sees to it that the
# real functions have these types, and tests/build/symbols.sh that all of them are there.  So neither the compiler, nor
# its options, nor types of our own that stand behind a pointer are in what is written.
set -eu
root=$(cd "${1:-$(dirname "$0")/../..}" && pwd)
cc=${PERFILE_CC:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

cp -rL "$root/include/perfile" "$work/perfile"
sed -i 's/^#define PERFILE_API$/#define PERFILE_API PERFILE_API_MARK/' "$work/perfile/base.h"
printf '#include <perfile/perfile.h>\n' | "$cc" -std=c11 -E -P -DPERFILE_DECLARATIONS -I"$work" -x c - >"$work/declarations"

sed -zE 's/PERFILE_API_MARK([^;]*);/\1 { __builtin_trap(); }/g' "$work/declarations" >"$work/empty.c"
printf 'PERFILE_0.1 { global: perfile_*; local: *; };\n' >"$work/empty.map" # as CMakeLists.txt has it
(cd "$work" && "$cc" -std=c11 -w -g -O0 -shared -fPIC -Wl,-soname,libperfile.so.0.1 -Wl,--version-script=empty.map -o empty.so empty.c)
abidw --no-corpus-path --no-comp-dir-path --no-show-locs --no-elf-needed --no-parameter-names \
    --exported-interfaces-only --type-id-style hash --out-file "$work/perfile.abi" "$work/empty.so"

# Enumerators of enums without a name: no function has their type, so they are not in there.
{
    printf '#include <perfile/perfile.h>\n#include <stdio.h>\nint main(void)\n{\n'
    sed 's/PERFILE_API_MARK//' "$work/declarations" | grep -oE '\bPERFILE_[A-Z0-9_]+\b' | sort -u |
        sed 's/.*/    printf("& %lld\\n", (long long)&);/'
    printf '}\n'
} >"$work/constants.c"
"$cc" -std=c11 -w -I"$root/include" -o "$work/constants" "$work/constants.c"
"$work/constants" >"$work/constants.txt"

# Structs that functions reach by a pointer to void.
python3 "$(dirname "$0")/../build/lib/places.py" "$root/include/perfile" >"$work/places.c"
"$cc" -std=c11 -w -I"$root/include" -o "$work/places" "$work/places.c"
"$work/places" | sort -u >"$work/structs.txt"

mkdir -p "$root/tests/abi"
cp "$work/structs.txt" "$root/tests/abi/structs"
cp "$work/perfile.abi" "$root/tests/abi/perfile.abi"
cp "$work/constants.txt" "$root/tests/abi/constants"

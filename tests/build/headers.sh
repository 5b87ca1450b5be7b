#!/bin/bash
# What the public headers and perf.data(5) say of records, features, rules and kinds is what the tables say, the page is
# one that a formatter takes without a warning, and nothing but names
# that begin with perfile_ or PERFILE_ comes out of them, but for those that the Arrow C interface prescribes.
set -eu

mkdir -p copy/include
cp -r "$PERFILE_SOURCE/format" copy/
cp -r "$PERFILE_SOURCE/include/perfile" copy/include/
mkdir -p copy/src/schema
cp -r "$PERFILE_SOURCE/src/schema/headers" copy/src/schema/
bash copy/src/schema/headers/update.sh copy
diff -r "$PERFILE_SOURCE/include/perfile" copy/include/perfile ||
    { echo "the headers are not as the tables: run src/schema/headers/update.sh"; exit 1; }

cmp "$PERFILE_SOURCE/format/perf.data.5" copy/format/perf.data.5 ||
    { echo "perf.data.5 is not as the tables: run src/schema/headers/update.sh"; exit 1; }
# Each record and feature has its section, in plain words: nothing is left of the macros of the tables.
for table in records sample simpleperf features; do
    awk -F ', *' '/^(RECORD|FEATURE)\(/ { print $3 }' "copy/format/$table.def"
done >names
[ "$(wc -l <names)" -gt 80 ]
while read -r name; do
    grep -q "^\.SS $name (" copy/format/perf.data.5 || { echo "perf.data.5 has no $name"; exit 1; }
done <names
! grep -nE '(^|[^A-Za-z])(PF|pf)_|[ko]->| $' copy/format/perf.data.5 || { echo "perf.data.5 has parts of C"; exit 1; }
if command -v groff >/dev/null; then
    groff -man -Tutf8 -ww copy/format/perf.data.5 >page 2>warnings
    [ ! -s warnings ] || { head warnings; exit 1; }
else
    echo "not tried: the page in groff, which is not here"
fi

# A line of a table more is a member more.
sed -i 's/^FIELD(comm, u32, pid, .*/&\nFIELD(comm, u16, shoe_size, DEC, "of a test")/' copy/format/records.def
bash copy/src/schema/headers/update.sh copy
grep -q '    uint16_t shoe_size; /\* of a test \*/' copy/include/perfile/records.h
grep -q '^u16 *shoe_size *of a test$' copy/format/perf.data.5

# Macros: those of the headers are the ones that are there with them and not without.
printf '#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <string.h>\n' >without.c
printf '#include <perfile/perfile.h>\n' | cat without.c - >with.c
for way in without with; do
    "$PERFILE_CC" -std=c11 -dM -E -I"$PERFILE_SOURCE/include" "$way.c" | awk '{ sub(/\(.*/, "", $2); print $2 }' |
        sort -u >"$way.names"
done
comm -13 without.names with.names | grep -vE '^(PERFILE_|ARROW_(C|FLAG)_)' >foreign.names || true
if [ -s foreign.names ]; then
    echo "macros without PERFILE_:"
    cat foreign.names
    exit 1
fi
[ "$(comm -13 without.names with.names | wc -l)" -gt 40 ]

#!/bin/bash
# What the public headers say of records, features, rules and kinds is what the tables say, and nothing but names
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

# A line of a table more is a member more.
sed -i 's/^FIELD(comm, u32, pid, .*/&\nFIELD(comm, u16, shoe_size, DEC, "of a test")/' copy/format/records.def
bash copy/src/schema/headers/update.sh copy
grep -q '    uint16_t shoe_size; /\* of a test \*/' copy/include/perfile/records.h

# Macros: those of the headers are the ones that are there with them and not without.
printf '#include <stdbool.h>\n#include <stddef.h>\n#include <stdint.h>\n' >without.c
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

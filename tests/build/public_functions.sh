#!/bin/bash
# Every function of the public headers is called by a test, a sample or a fuzz target: each of them is an
# example of how it is used.  What is called stands in the object files as undefined symbols.
set -eu
set -o pipefail
. "$PERFILE_SOURCE/tests/build/lib/public-api.bash"

# called FOLDER ...: public functions that objects below these folders call.  Below `work` other tests build what they
# need, at the same time.
called() {
    find "$@" -path '*/tests/work' -prune -o -name '*.o' -exec nm -u {} + | awk '$1 == "U" && $2 ~ /^perfile_/ { print $2 }' | sort -u
}

# The reader of objects, on one that calls a single function.
mkdir -p one
cat >one/call.c <<'END'
int perfile_one(void);
int perfile_two(void);
int call(void);
int call(void) { return perfile_one(); }
END
"$PERFILE_CC" -c -o one/call.o one/call.c
called one >found
printf 'perfile_one\n' | diff -u - found

declared_api "$PERFILE_BUILD/include" >declared
called "$PERFILE_BUILD/tests" "$PERFILE_BUILD/fuzz" "$PERFILE_BUILD"/CMakeFiles/sample_*.dir >called
[ "$(wc -l <declared)" -gt 100 ] || { echo "found few declarations"; exit 1; }
comm -23 declared called >missing
if [ -s missing ]; then
    echo "no test, sample or fuzz target calls:"
    cat missing
    exit 1
fi

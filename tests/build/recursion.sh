#!/bin/bash
# No function calls itself, through others either: how deep it went would be for the input to say.  Those in
# BOUNDED do, and why they cannot go deep stands beside them.  Calls through pointers are not seen.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs gcc python3

# graph FOLDER OUT: what calls what in each folder below.
graph() {
    local folder
    find "$1" -name '*.c' -printf '%h\n' | sort -u | while IFS= read -r folder; do
        mkdir -p "$2${folder#"$1"}"
        (cd "$2${folder#"$1"}" && printf '%s\0' "$folder"/*.c |
            xargs -0 -n 16 gcc -std=c11 -O0 -w -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE \
                -D_FILE_OFFSET_BITS=64 -fcallgraph-info -I"$PERFILE_SOURCE/src" \
                -I"$PERFILE_SOURCE/include" -I"$PERFILE_SOURCE" -I"$PERFILE_BUILD/include" -c)
    done
}

cat >cycles.py <<'PYTHON'
"""cycles.py FOLDER: prints the functions that call themselves; names as in the source, one cycle a line."""
import pathlib
import re
import sys

calls = {}
for file in pathlib.Path(sys.argv[1]).rglob("*.ci"):
    for caller, callee in re.findall(r'edge: \{ sourcename: "([^"]+)" targetname: "([^"]+)"', file.read_text()):
        calls.setdefault(caller, set()).add(callee)


def reached(start):
    seen, left = set(), list(calls[start])
    while left:
        name = left.pop()
        if name not in seen:
            seen.add(name)
            left += calls.get(name, ())
    return seen


below = {name: reached(name) for name in calls}
cycles = {frozenset(x for x in below[name] if name in below.get(x, ())) for name in calls if name in below[name]}
for cycle in sorted(" ".join(sorted(re.sub(".*:", "", x) for x in cycle)) for cycle in cycles):
    print(cycle)
PYTHON

# What is merged to the end of a round is one round: the second call returns.
cat >bounded <<'X2'
pf_sort_merge
X2

mkdir -p wrong/room
echo 'static int g(int); int f(int n) { return g(n); } static int g(int n) { return n ? f(n - 1) : 0; }' >wrong/room/a.c
echo 'int once(int n) { return n; } int twice(int n) { return once(n) + once(n); }' >wrong/room/b.c
graph "$PWD/wrong" tried
[ "$(python3 cycles.py tried)" = "f g" ] || { echo "self-check: does not see what calls itself"; exit 1; }

graph "$PERFILE_SOURCE/src" seen
n=$(find seen -name '*.ci' | wc -l)
[ "$n" = "$(find "$PERFILE_SOURCE/src" -name '*.c' | wc -l)" ] || { echo "only $n files were looked at"; exit 1; }
python3 cycles.py seen >found
diff bounded found || { echo "no function calls itself (>), but for those that stand here"; exit 1; }

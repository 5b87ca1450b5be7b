#!/bin/bash
# The sources are as clang-format leaves them.  format/ is laid out by hand; its list of the errors that a dump can have is
# that of the kinds of damage.
set -eu

# errors FORMAT: prints the names that only one of dump.cddl and damage.def has.
errors() {
    sed -n '/^error = /,/^$/p' "$1/dump.cddl" | grep -oE '"[a-z-]+"' | sort >in-contract
    grep -oE '^DAMAGE\([A-Z_]+, *[0-9]+, "[a-z-]+"' "$1/damage.def" | grep -oE '"[a-z-]+"' | sort >in-table
    [ "$(wc -l <in-table)" -gt 30 ]
    diff in-contract in-table
}

errors "$PERFILE_SOURCE/format" || { echo "format/dump.cddl (<) and format/damage.def (>) list different errors"; exit 1; }

# The check, on lists that differ.
mkdir wrong
cp "$PERFILE_SOURCE"/format/{dump.cddl,damage.def} wrong/
sed -i '/^error = /,/^$/s| / "overlap"||' wrong/dump.cddl
sed -i '/^DAMAGE(MOVED,/d' wrong/damage.def
if errors wrong >differences || [ "$(grep -c '^[<>]' differences)" != 2 ]; then
    echo "self-check: lists of errors that differ are taken"
    cat differences
    exit 1
fi

. "$PERFILE_SOURCE/tests/needs.bash"
needs clang-format

# The check, on a file that is wrong.
cp "$PERFILE_SOURCE/.clang-format" .
printf 'int  x ;\n' >wrong.c
if clang-format --dry-run -Werror wrong.c 2>/dev/null; then
    echo "self-check: clang-format accepts anything"
    exit 1
fi

cd "$PERFILE_SOURCE"
find src include tests fuzz samples -name '*.[ch]' -type f -print0 |
    xargs -0 -r clang-format --dry-run -Werror

#!/bin/bash
# The sources are as clang-format leaves them.  format/ is laid out by hand.
set -eu
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

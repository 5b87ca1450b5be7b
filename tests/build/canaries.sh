#!/bin/bash
# Results are untouched on failure: the functions which see to that (tests/canaries) are linked with the tests under
# sanitizers, and find a function that does not keep to it.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
if [ -d "$PERFILE_BUILD/canaries" ]; then
    [ "$(wc -l <"$PERFILE_BUILD/canaries/options")" -gt 50 ]
fi

mkdir -p include/perfile made
printf '#define PERFILE_API\n' >include/perfile/base.h
cat >include/perfile/perfile.h <<'END'
#include "base.h"
typedef int perfile_status;
typedef struct perfile_error { int status; } perfile_error;
typedef struct perfile_thing perfile_thing;
typedef struct perfile_pair { long a, b; } perfile_pair;
PERFILE_API perfile_status perfile_make(int how, perfile_thing **thing, perfile_pair *pair, perfile_error *err);
END
cat >library.c <<'END'
#include <stddef.h>
#include <perfile/perfile.h>
/* 0: done; 1: fails and changes an error; 2, 3: fails and changes a result. */
perfile_status perfile_make(int how, perfile_thing **thing, perfile_pair *pair, perfile_error *err)
{
    err->status = how;
    if (how != 1 && how != 3)
        *thing = NULL;
    if (how == 0 || how == 3)
        pair->b = 1;
    return -how;
}
END
cat >program.c <<'END'
#include <stdlib.h>
#include <perfile/perfile.h>
int main(int argc, char **argv)
{
    perfile_thing *thing = (perfile_thing *)argv;
    perfile_pair pair = {0, 0};
    perfile_error err;
    (void)perfile_make(atoi(argv[argc - 1]), &thing, &pair, &err);
    return 0;
}
END
python3 "$PERFILE_SOURCE/tests/canaries/wrappers.py" include "$PERFILE_CC" made
"$PERFILE_CC" -std=c11 -Iinclude -o program program.c library.c made/wrappers.c "-Wl,@made/options"
./program 0
PERFILE_CANARIES=seen ./program 1
[ "$(cat seen)" = perfile_make ]
for how in 2 3; do
    if ./program $how 2>message; then
        echo "a result that was changed was not found"
        exit 1
    fi
    grep -q 'perfile_make() has failed, and changed its result' message
done

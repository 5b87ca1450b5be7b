#!/bin/bash
# The sources compile without a warning for machines with words of 32 bits: there a size or an offset that is cut is one.
# By clang, where it is there, which the fuzz targets need: it has warnings that gcc, which builds the other tests, has not.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs gcc
compiler=gcc
! command -v clang >/dev/null || compiler=clang
cd "$PERFILE_SOURCE"
here=$OLDPWD

flags=(-m32 -std=c11 -D_POSIX_C_SOURCE=200809L -D_DEFAULT_SOURCE -D_FILE_OFFSET_BITS=64 -Isrc -I. -I"$PERFILE_BUILD/include"
    -fsyntax-only -Werror)
read -ra headers < <(pkg-config --cflags libzstd libcbor; echo)
# Those that the build has.
read -ra warnings < <(sed -n '/target_compile_options/,/)/p' cmake/warnings.cmake | grep -oE -- '-W[a-z0-9=-]+' | grep -v -- -Werror | paste -sd' ')
[ "${#warnings[@]}" -gt 10 ]

printf "#include <%s>\n" stdio.h errno.h >"$here/trial.c"
if ! $compiler "${flags[@]}" "$here/trial.c" 2>/dev/null; then
    echo "there are no headers for 32 bits"
    exit 77
fi
echo 'unsigned long cut(unsigned long long n); unsigned long cut(unsigned long long n) { return n; }' >"$here/trial.c"
if $compiler "${flags[@]}" "${warnings[@]}" "$here/trial.c" 2>/dev/null; then
    echo "self-check: a number that is cut was not found"
    exit 1
fi
printf '%s\0' src/*/*.c src/cli/*/*.c | xargs -0 -n 8 -P 2 $compiler "${flags[@]}" "${headers[@]}" "${warnings[@]}"

#!/bin/bash
# What is installed is enough: headers compile alone as C99 and C11 and together as C++17, with the warnings that strict
# programs ask for, and a program
# builds and runs against each library, found by CMake and by pkg-config.
set -eu
prefix=$PWD/prefix
read -ra flags <<<"$PERFILE_CFLAGS"
warnings=(-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wcast-qual -Werror)
c_warnings=(-std=c11 "${warnings[@]}")

"$PERFILE_CMAKE" --install "$PERFILE_BUILD" --prefix "$prefix" >install.log
library=$(dirname "$(find "$prefix" -name libperfile.a)")

# Headers.  Each alone, without our own definitions; then all of them as C++.
mkdir headers
n_headers=0
for header in "$prefix"/include/perfile/*.h; do
    n_headers=$((n_headers + 1))
    name=${header##*/}
    printf '#include <perfile/%s>\n' "$name" >>headers/all.cc
    printf '#include <perfile/%s>\nint main(void);\nint main(void) { return 0; }\n' "$name" \
        >headers/alone.c
    "$PERFILE_CC" "${c_warnings[@]}" -I"$prefix/include" -fsyntax-only headers/alone.c
    "$PERFILE_CC" -std=c99 "${warnings[@]}" -I"$prefix/include" -fsyntax-only headers/alone.c
done
[ "$n_headers" -gt 0 ]
[ "$n_headers" = "$(find "$PERFILE_SOURCE/include/perfile" -name '*.h' | wc -l)" ]
if command -v g++ >/dev/null; then
    g++ -std=c++17 "${warnings[@]}" -I"$prefix/include" -fsyntax-only headers/all.cc
else
    echo "g++ was not found: headers not tried as C++"
fi

# The program prints the versions of the header and of the library, which have to agree.
mkdir program
cat >program/program.c <<'END'
#include <perfile/perfile.h>
#include <stdio.h>

int main(void)
{
#if PERFILE_VERSION != PERFILE_VERSION_MAJOR * 1000000 + PERFILE_VERSION_MINOR * 1000 + PERFILE_VERSION_PATCH
#error "PERFILE_VERSION"
#endif
    printf("%d.%d.%d %s\n", PERFILE_VERSION_MAJOR, PERFILE_VERSION_MINOR, PERFILE_VERSION_PATCH,
           perfile_version());
    return 0;
}
END
cat >program/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(program LANGUAGES C)
find_package(perfile REQUIRED)
add_executable(program program.c)
target_link_libraries(program PRIVATE perfile::${library})
END

# Is the shared library needed by PROGRAM?
is_shared() {
    readelf -d "$1" | grep -q 'NEEDED.*libperfile\.so'
}

# try HOW WANTED PROGRAM: PROGRAM runs, and uses the library WANTED.
try() {
    local said found=static
    said=$(LD_LIBRARY_PATH=$library "$3")
    is_shared "$3" && found=shared
    echo "$1: $said, $found"
    [ "$found" = "$2" ]
    [ "${said% *}" = "${said#* }" ]
}

for kind in perfile perfile_static; do
    "$PERFILE_CMAKE" -S program -B "cmake-$kind" -Dlibrary="$kind" -DCMAKE_PREFIX_PATH="$prefix" \
        -DCMAKE_C_COMPILER="$PERFILE_CC" -DCMAKE_C_FLAGS="$PERFILE_CFLAGS" >"cmake-$kind.log"
    "$PERFILE_CMAKE" --build "cmake-$kind" >>"cmake-$kind.log"
done
try "cmake shared" shared cmake-perfile/program
try "cmake static" static cmake-perfile_static/program

export PKG_CONFIG_PATH=$library/pkgconfig
read -ra by_pkg_config <<<"$(pkg-config --cflags --libs perfile)"
"$PERFILE_CC" "${c_warnings[@]}" "${flags[@]}" -o shared program/program.c "${by_pkg_config[@]}"
try "pkg-config shared" shared ./shared

# Debian has no libcbor.a, so `-static` cannot link.  Where libperfile.a is alone, it is taken.
cp -R "$prefix" "$PWD/static-prefix"
find static-prefix -name 'libperfile.so*' -delete
export PKG_CONFIG_PATH=${PKG_CONFIG_PATH/#$prefix/$PWD/static-prefix}
read -ra by_pkg_config <<<"$(pkg-config --static --cflags --libs perfile)"
"$PERFILE_CC" "${c_warnings[@]}" "${flags[@]}" -o static program/program.c "${by_pkg_config[@]}"
try "pkg-config static" static ./static

# As a part of another project there is the library alone, and nothing of it is installed, unless that is asked for.
mkdir part
cat >part/CMakeLists.txt <<'END'
cmake_minimum_required(VERSION 3.25)
project(part LANGUAGES C)
add_subdirectory("${perfile}" perfile)
add_executable(program ../program/program.c)
target_link_libraries(program PRIVATE perfile::perfile_static)
END
for asked in no yes; do
    "$PERFILE_CMAKE" -S part -B "part-$asked" -G "Unix Makefiles" -Dperfile="$PERFILE_SOURCE" -DCMAKE_C_COMPILER="$PERFILE_CC" \
        -DPERFILE_BUILD_COMMAND="$asked" -DPERFILE_INSTALL="$asked" >"part-$asked.log"
    "$PERFILE_CMAKE" --build "part-$asked" --target help >"part-$asked.targets"
    has=no
    ! grep -q '^... perfile_command$' "part-$asked.targets" || has=yes
    installs=no
    ! grep -q libperfile "part-$asked/perfile/cmake_install.cmake" || installs=yes
    [ "$has $installs" = "$asked $asked" ] || { echo "as a part, asked $asked: command $has, installs $installs"; exit 1; }
done
"$PERFILE_CMAKE" -S part -B part-default -G "Unix Makefiles" -Dperfile="$PERFILE_SOURCE" -DCMAKE_C_COMPILER="$PERFILE_CC" >part-default.log
grep -q 'PERFILE_INSTALL:BOOL=OFF' part-default/CMakeCache.txt
grep -q 'PERFILE_BUILD_COMMAND:BOOL=OFF' part-default/CMakeCache.txt
grep -q 'PERFILE_BUILD_TESTS:BOOL=OFF' part-default/CMakeCache.txt

# For readers only: without exports and without libcbor.
"$PERFILE_CMAKE" -S part -B part-reader -Dperfile="$PERFILE_SOURCE" -DCMAKE_C_COMPILER="$PERFILE_CC" -DCMAKE_C_FLAGS=-O0 \
    -DPERFILE_EXPORTS=OFF -DPERFILE_CBOR=OFF -DPERFILE_SYMBOLS=OFF -DPERFILE_DWARF=OFF >part-reader.log
"$PERFILE_CMAKE" --build part-reader --target program -j 2 >>part-reader.log
try "a reader" static part-reader/program
! readelf -d part-reader/program | grep -q libcbor
! nm part-reader/program | grep -qE 'pf_emit_(folded|script|cbor|parquet)$'
nm cmake-perfile_static/program | grep -qE 'pf_emit_folded$' || { echo "self-check: a whole library has no exports"; exit 1; }

# What headers and pages refer to is there.
documents=$(dirname "$(find "$prefix" -name README.md)")
for file in format/tables.md format/records.def samples/print_fields.c; do
    [ -s "$documents/$file" ] || { echo "not installed: $file"; exit 1; }
done
grep -oE '\]\([^)#:]+\)' "$documents/README.md" | sort -u | tr -d '()]' >links
[ "$(wc -l <links)" -gt 10 ]
while read -r file; do
    [ -e "$documents/$file" ] || { echo "README.md has a link to $file, which is not installed"; exit 1; }
done <links

# The check for the shared library, on a program that does not use it.
if is_shared /bin/sh; then
    echo "self-check: everything counts as shared"
    exit 1
fi

#!/bin/bash
# The manual pages of the library: each header has one, in which its functions are declared; the page about the
# library names all of them; a formatter takes them without a warning.  They are installed, and so is perf.data(5).
set -eu
. "$PERFILE_SOURCE/tests/build/lib/public-api.bash"

headers=$PERFILE_SOURCE/include/perfile
mkdir -p pages
for header in "$headers"/*.h; do
    name=$(basename "$header" .h)
    [ "$name" = perfile ] || awk -v name="perfile_$name" -f "$PERFILE_SOURCE/cmake/manual.awk" "$header" >"pages/perfile_$name.3"
done
awk -v name=libperfile -f "$PERFILE_SOURCE/cmake/manual.awk" "$headers"/{perfile,base,abi,stream}.h >overview
grep -q '^\.BR perfile_stream (3)$' overview

# Functions: those that the library exports, and inline ones.
{
    declared_api "$PERFILE_BUILD/include"
    grep -ohE '\bstatic inline [^(]*\b(perfile_[a-z0-9_]+)\(' "$headers"/*.h | sed -E 's/.*\b(perfile_[a-z0-9_]+)\($/\1/'
} | sort -u >functions
[ "$(wc -l <functions)" -gt 250 ]
while read -r function; do
    grep -qE "^[a-z].*[ *]$function\(" pages/*.3 || echo "$function"
done <functions >missing
[ ! -s missing ] || { echo "in no page:"; cat missing; exit 1; }
! grep -nE '^ *(return|static|PERFILE_API|PERFILE_MUST_USE)\>' pages/*.3 || { echo "pages have more than declarations"; exit 1; }

if command -v groff >/dev/null; then
    for page in pages/*.3 overview; do
        groff -man -Tutf8 -ww "$page" >formatted 2>warnings
        [ ! -s warnings ] || { echo "$page:"; head warnings; exit 1; }
        [ "$(wc -l <formatted)" -gt 15 ] || { echo "$page is short"; exit 1; }
    done
else
    echo "not tried: the pages in groff, which is not here"
fi
DESTDIR=$PWD/root "$PERFILE_CMAKE" --install "$PERFILE_BUILD" --prefix /usr >install.log
for page in man3/libperfile.3 man3/perfile_stream.3 man5/perf.data.5; do
    [ -s "root/usr/share/man/$page" ] || { echo "$page is not installed"; exit 1; }
done

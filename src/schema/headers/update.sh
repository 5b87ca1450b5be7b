#!/bin/bash
# update.sh [ROOT]: writes what is made of the tables in ROOT/format into the public headers of ROOT (this
# checkout without one), and into the manual page format/perf.data.5: all between a line "BEGIN made of format/: SECTION"
# and the next "END made of format/".
set -eu
root=${1:-$(dirname "$0")/../../..}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for program in print manual; do
    "${PERFILE_CC:-cc}" -std=c11 -I"$root/src" -I"$root" "$root/src/schema/headers/$program.c" -o "$work/$program"
done
for header in "$root"/include/perfile/*.h "$root/format/perf.data.5"; do
    program=print
    [ "${header##*/}" != perf.data.5 ] || program=manual
    grep -q 'BEGIN made of format/: ' "$header" || continue
    while IFS= read -r line; do
        case $line in
        *'BEGIN made of format/: '*)
            section=${line#*format/: }
            printf '%s\n' "$line"
            "$work/$program" "${section% \*/}"
            skip=yes
            ;;
        *'END made of format/'*)
            printf '%s\n' "$line"
            skip=
            ;;
        *) [ -n "${skip:-}" ] || printf '%s\n' "$line" ;;
        esac
    done <"$header" >"$work/header"
    cmp -s "$work/header" "$header" || cp "$work/header" "$header"
done

#!/bin/bash
# update.sh [ROOT]: writes what is made of the tables in ROOT/format into the public headers of ROOT (this
# checkout without one): all between a line "BEGIN made of format/: SECTION" and the next "END made of format/".
set -eu
root=${1:-$(dirname "$0")/../../..}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

"${PERFILE_CC:-cc}" -std=c11 -I"$root/src" -I"$root" "$root/src/schema/headers/print.c" -o "$work/print"
for header in "$root"/include/perfile/*.h; do
    grep -q 'BEGIN made of format/: ' "$header" || continue
    while IFS= read -r line; do
        case $line in
        *'BEGIN made of format/: '*)
            section=${line#*format/: }
            printf '%s\n' "$line"
            "$work/print" "${section% \*/}"
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

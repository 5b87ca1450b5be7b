#!/bin/bash
# update.sh PERFILE [FOLDER]: writes the options that the program PERFILE prints into the manual pages in FOLDER (default:
# the folder of this script), between the lines "BEGIN made of the option table" and "END made of the option table".
set -eu
perfile=$1
folder=${2:-$(dirname "$0")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

for page in "$folder"/perfile-*.1; do
    name=${page##*/perfile-}
    "$perfile" help --manual "${name%.1}" >"$work/options"
    sed -e '/^\.\\" BEGIN made of the option table/r '"$work/options" \
        -e '/^\.\\" BEGIN made of/,/^\.\\" END made of/{/^\.\\" /!d}' "$page" >"$work/page"
    cmp -s "$work/page" "$page" || cp "$work/page" "$page"
done

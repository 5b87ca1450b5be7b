#!/bin/bash
# not_tried.sh BUILD: what the last run of the tests in the build folder BUILD skipped or could not try, and why.
# A passing suite shows none of this; nothing is counted as passed that stands here.
set -eu
cd "$1/tests/work"
n=0
for list in *.log/not-tried; do
    [ -s "$list" ] || continue
    while read -r line; do
        printf '%s: %s\n' "${list%.log/not-tried}" "$line"
        n=$((n + 1))
    done <"$list"
done
echo "$n not tried or skipped"

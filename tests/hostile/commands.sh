#!/bin/bash
# Some of what every/ does to captures, through the program as people run it: it says 0, 1 or 3, in time,
# and never dies.
set -u
. "$PERFILE_SOURCE/tests/chosen.bash"
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }

commands=("info" "stats" "dump --format text" "dump --format jsonl" "dump --hex" "validate --all"
    "validate --format sarif --for 6.1" "convert -f -o made.data"
    "convert --force --byte-order big -f -o made.data" "convert --force --to perf.data -f -o made.data")
runs=0
failures=0
outcomes=""

try() {
    # shellcheck disable=SC2086
    timeout 20 "$PERFILE" ${commands[runs % ${#commands[@]}]} -- damaged.data >out 2>err
    local rc=$?
    case $rc in
    0 | 1 | 3) ;;
    *)
        echo "$1: ${commands[runs % ${#commands[@]}]}: status $rc"
        head -3 err
        failures=$((failures + 1))
        ;;
    esac
    if [ "$rc" != 0 ] && [ ! -s err ] && [ ! -s out ]; then
        echo "$1: status $rc without a word"
        failures=$((failures + 1))
    fi
    case $outcomes in *$rc*) ;; *) outcomes+=$rc ;; esac
    runs=$((runs + 1))
}

for capture in cpu-clock pipe pipe-zstd zstd killed stat clock; do
    whole=$PERFILE_SOURCE/samples/captures/$capture.data
    [ -f "$whole" ] || continue
    size=$(stat -c %s "$whole")
    # Where the prefixes end and the damage is: a step that no structure has.
    step=$((size / 23 + 1))
    for ((at = 5; at < size; at += step)); do
        chosen || continue
        head -c "$at" "$whole" >damaged.data
        try "$capture, first $at bytes"
        cp "$whole" damaged.data
        chmod u+w damaged.data
        printf '\377' | dd of=damaged.data bs=1 seek="$at" conv=notrunc status=none
        try "$capture, byte $at is 255"
    done
done

if [ "$runs" -lt $((200 / PERFILE_CASES)) ]; then
    echo "only $runs runs"
    exit 1
fi
# Damage that nothing noticed would mean that nothing was damaged.
for rc in 0 1 3; do
    case $outcomes in *$rc*) ;; *) echo "no run ended with status $rc"; failures=$((failures + 1)) ;; esac
done
[ "$failures" = 0 ]

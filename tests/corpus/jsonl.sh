#!/bin/bash
# `dump --format jsonl` of every capture is what the contract says: the same objects, line by line
# (the order of keys is free), and the exit status that follows from them.
#
# jsonl.sh              all captures that there are
# jsonl.sh CAPTURE EXPECTED ...   pairs of them
set -u
. "$PERFILE_SOURCE/tests/enough.bash"

# What one capture gives against the file EXPECTED; prints the first differences.
compare() {
    local capture=$1 expected=$2 name rc wanted
    name=$(printf '%s' "$capture" | tr -c 'A-Za-z0-9.\n' _)
    "$PERFILE" dump --format jsonl "$capture" >"$name.got" 2>"$name.err"
    rc=$?
    if ! jq -cS . "$expected" >"$name.wanted.sorted" || ! jq -cS . "$name.got" >"$name.got.sorted"; then
        echo "$capture: no JSON"
        return 1
    fi
    if ! cmp -s "$name.wanted.sorted" "$name.got.sorted"; then
        echo "$capture: differs from $expected"
        diff "$name.wanted.sorted" "$name.got.sorted" | cut -c 1-400 | head -n 6
        return 1
    fi
    # jq put them all into lines of one form, in which quotes inside of strings are escaped.
    if tail -n 1 "$name.wanted.sorted" | grep -q '"errors":0[,}]'; then
        wanted=0
    elif grep -Eq '"kind":"(attr|event_type|feature|record)"' "$name.wanted.sorted"; then
        wanted=3
    else
        wanted=1
    fi
    if [ "$rc" != "$wanted" ]; then
        echo "$capture: exit status $rc, not $wanted"
        return 1
    fi
    if [ "$(wc -l <"$name.got")" != "$(wc -l <"$name.got.sorted")" ]; then
        echo "$capture: not one object a line"
        return 1
    fi
    rm -f "$name".*
}

if [ $# -gt 0 ]; then
    status=0
    while [ $# -gt 1 ]; do
        compare "$1" "$2" || status=1
        shift 2
    done
    exit "$status"
fi

. "$PERFILE_SOURCE/tests/needs.bash"
needs jq

: >pairs
samples=$PERFILE_SOURCE/samples/captures
for expected in "$samples"/*.jsonl; do
    if [ -f "$expected" ]; then
        printf '%s\n%s\n' "${expected%.jsonl}" "$expected" >>pairs
    fi
done
n_samples=$(($(wc -l <pairs) / 2))

skipped=
if [ ! -f "$PERFILE_CORPUS/expected.tar.zst" ]; then
    skipped="no corpus at $PERFILE_CORPUS"
elif ! { mkdir expected && zstd -dcq "$PERFILE_CORPUS/expected.tar.zst" | tar -xf - -C expected; }; then
    skipped="expected.tar.zst could not be unpacked"
else
    corpus_lines | cut -f 1 | while read -r capture; do
        if [ -f "expected/${capture%/}.jsonl" ]; then
            printf '%s\n%s\n' "$PERFILE_CORPUS/${capture%/}" "expected/${capture%/}.jsonl" >>pairs
        fi
    done
    for expected in "$PERFILE_CORPUS"/examples/*.jsonl; do
        capture=${expected%.jsonl}
        if [ -e "$capture" ] || [ -e "$capture.data" ]; then
            [ -e "$capture" ] || capture=$capture.data
            printf '%s\n%s\n' "$capture" "$expected" >>pairs
        fi
    done
fi
n_pairs=$(($(wc -l <pairs) / 2))

# The comparison itself: it has to see one changed line, one missing line, and a wrong exit status.
try() {
    if compare "$1" "$2" >/dev/null 2>&1; then
        echo "self-check: $3 was not seen"
        exit 1
    fi
}
if [ "$n_pairs" -gt 0 ]; then
    capture=$(sed -n 1p pairs)
    expected=$(sed -n 2p pairs)
    sed '2s/{/{"added":1,/' "$expected" >changed.jsonl
    sed 3d "$expected" >shorter.jsonl
    try "$capture" changed.jsonl "a changed line"
    try "$capture" shorter.jsonl "a missing line"
    printf '#!/bin/sh\n"%s" "$@"\nexit 5\n' "$PERFILE" >wrong
    chmod +x wrong
    PERFILE=$PWD/wrong try "$capture" "$expected" "a wrong exit status"
fi

# Two at a time; what is printed together belongs together.
if ! xargs -r -d '\n' -n 8 -P 2 bash "$0" <pairs >differences; then
    cat differences
    exit 1
fi
echo "$n_pairs captures agree, $n_samples of them samples"
if [ -n "$skipped" ]; then
    echo "not tried: captures of others: $skipped"
elif [ "$n_pairs" -le "$n_samples" ]; then
    echo "the corpus has nothing to compare with"
    exit 1
fi

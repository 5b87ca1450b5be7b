#!/bin/bash
# `dump --format cbor` of every capture fits format/dump.cddl, and says what jsonl says.
set -u
. "$PERFILE_SOURCE/tests/enough.bash"

cddl=$PERFILE_SOURCE/tests/corpus/cddl.py

# The captures given, one after the other.
if [ $# -gt 0 ]; then
    pairs=()
    for capture in "$@"; do
        name=$(printf '%s' "$capture" | tr -c 'A-Za-z0-9.' _)
        "$PERFILE" dump --format cbor "$capture" >"$name.cbor" 2>/dev/null
        cbor=$?
        "$PERFILE" dump --format jsonl "$capture" >"$name.jsonl" 2>/dev/null
        jsonl=$?
        if [ "$cbor" != "$jsonl" ]; then
            echo "$capture: exit status $cbor for cbor, $jsonl for jsonl"
            exit 1
        fi
        pairs+=("$name.cbor" "$name.jsonl")
    done
    python3 "$cddl" "$PERFILE_SOURCE/format/dump.cddl" "${pairs[@]}" || exit 1
    rm -f "${pairs[@]}"
    exit 0
fi

. "$PERFILE_SOURCE/tests/needs.bash"
needs python3

: >captures
find "$PERFILE_SOURCE/samples/captures" -maxdepth 1 -name '*.data' | sort >>captures
if [ -f "$PERFILE_CORPUS/MANIFEST.tsv" ]; then
    # A directory has a / at the end.
    corpus_lines | cut -f 1 | sed "s|/\$||; s|^|$PERFILE_CORPUS/|" >>captures
    skipped=
else
    skipped="no corpus at $PERFILE_CORPUS"
fi
if ! xargs -r -d '\n' -n 20 -P 2 bash "$0" <captures >differences; then
    cat differences
    exit 1
fi
echo "$(wc -l <captures) captures"
if [ -n "$skipped" ]; then
    echo "not tried: captures of others: $skipped"
fi

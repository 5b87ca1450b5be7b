# Every --json report fits its schema, of our captures and, when it is there, of the corpus.
python3 -c 'import jsonschema' 2>/dev/null || { echo "python3-jsonschema was not found"; exit 77; }
captures=("$PERFILE_SOURCE"/samples/captures/*.data)
if [ -d "$PERFILE_CORPUS" ]; then
    readarray -t -O "${#captures[@]}" captures < <(find "$PERFILE_CORPUS/examples" -name '*.data' | sort)
fi
exec python3 "$PERFILE_SOURCE/tests/cli/reports.py" "$PERFILE" "$PERFILE_SOURCE/format/schema" "${captures[@]}"

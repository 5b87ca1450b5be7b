# Every --json report fits its schema, of our captures and, when it is there, of the corpus.
python3 -c 'import jsonschema' 2>/dev/null || { echo "python3-jsonschema was not found"; exit 77; }
. "$PERFILE_SOURCE/tests/chosen.bash"
captures=()
for capture in "$PERFILE_SOURCE"/samples/captures/*.data "$PERFILE_CORPUS"/examples/*.data; do
    [ -e "$capture" ] && chosen && captures+=("$capture")
done
exec python3 "$PERFILE_SOURCE/tests/cli/reports.py" "$PERFILE" "$PERFILE_SOURCE/format/schema" "${captures[@]}"

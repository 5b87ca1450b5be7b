# The documents of `validate --format json` and `sarif`, of all our captures.
python3 -c 'import jsonschema' 2>/dev/null || { echo "python3-jsonschema was not found"; exit 77; }
exec python3 "$PERFILE_SOURCE/tests/cli/validate_forms.py" "$PERFILE" \
    "$PERFILE_SOURCE/format/schema/validate.json" "$PERFILE_SOURCE"/samples/captures/*.data

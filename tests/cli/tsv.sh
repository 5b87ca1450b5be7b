# dump --format tsv: its columns have the values of jsonl, a line is always a line.
command -v python3 >/dev/null || { echo "python3 was not found"; exit 77; }
exec python3 "$PERFILE_SOURCE/tests/cli/tsv.py" "$PERFILE" "$PERFILE_SOURCE/samples/captures" "$PERFILE_CORPUS"

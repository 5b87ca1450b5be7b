# dump --format tsv: its columns have the values of jsonl, a line is always a line.
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
exec python3 "$PERFILE_SOURCE/tests/cli/tsv.py" "$PERFILE" "$PERFILE_SOURCE/samples/captures" "$PERFILE_CORPUS"

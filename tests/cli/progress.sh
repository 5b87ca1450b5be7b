# Progress is shown on a terminal, and only there.
command -v python3 >/dev/null || { echo "python3 was not found"; exit 77; }
cp "$PERFILE_SOURCE/samples/captures/pipe.data" .
exec python3 "$PERFILE_SOURCE/tests/cli/progress.py" "$PERFILE" pipe.data

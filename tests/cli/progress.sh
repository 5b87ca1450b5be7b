# Progress is shown on a terminal, and only there.
command -v python3 >/dev/null || { echo "python3 was not found"; exit 77; }
python3 -c 'import pty; pty.openpty()' 2>/dev/null || { echo "no pseudo-terminal to be had"; exit 77; }
cp "$PERFILE_SOURCE/samples/captures/pipe.data" .
exec python3 "$PERFILE_SOURCE/tests/cli/progress.py" "$PERFILE" pipe.data

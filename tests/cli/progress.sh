# Progress is shown on a terminal, and only there.
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
python3 -c 'import pty; pty.openpty()' 2>/dev/null || { echo "no pseudo-terminal to be had"; exit 77; }
cp "$PERFILE_SOURCE/samples/captures/pipe.data" .
exec python3 "$PERFILE_SOURCE/tests/cli/progress.py" "$PERFILE" pipe.data

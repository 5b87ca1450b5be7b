# Dumps that another program wrote become captures, and what is no dump is refused: see undump.py.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
python3 "$PERFILE_SOURCE/tests/interop/undump.py"

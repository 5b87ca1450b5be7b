# What is merged, for every capture with itself and with the next one: see merge.py.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
python3 "$PERFILE_SOURCE/tests/corpus/merge.py"

# What is merged, for every capture with itself and with the next one: see merge.py.
set -eu
command -v python3 >/dev/null || { echo "python3 was not found"; exit 77; }
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
python3 "$PERFILE_SOURCE/tests/corpus/merge.py"

# What is in each part, for every capture and every way to split: see split.py.
set -eu
command -v python3 >/dev/null || { echo "python3 was not found"; exit 77; }
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
python3 "$PERFILE_SOURCE/tests/corpus/split.py"

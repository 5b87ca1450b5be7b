# Every capture in every form says the same: see convert_forms.py.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
python3 "$PERFILE_SOURCE/tests/corpus/convert_forms.py"

# Archives: chunks that go from one to another as they are stored never change a result.
set -u
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
export PERFILE PERFILE_SOURCE PERFILE_CORPUS
PYTHONPATH=$PERFILE_SOURCE/tests python3 "$PERFILE_SOURCE/tests/corpus/archive_moves.py"

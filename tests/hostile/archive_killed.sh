# Writers of archives that are killed, or whose reader goes away: what they left reads up to its last complete
# chunk, see archive_killed.py.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
python3 "$PERFILE_SOURCE/tests/hostile/archive_killed.py"

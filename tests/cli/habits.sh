# Habits of those who know perf, words that are nearly right, files that are something else, and terminals.
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
exec python3 "$PERFILE_SOURCE/tests/cli/habits.py" "$PERFILE" "$PERFILE_SOURCE"

# Habits of those who know perf, words that are nearly right, files that are something else, and terminals.
command -v python3 >/dev/null || { echo "python3 was not found"; exit 77; }
exec python3 "$PERFILE_SOURCE/tests/cli/habits.py" "$PERFILE" "$PERFILE_SOURCE"

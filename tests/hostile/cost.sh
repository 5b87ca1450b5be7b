# What an input may cost: every command on the worst inputs that are known, against format/limits.md.
set -eu
command -v python3 >/dev/null || { echo "python3 is needed"; exit 77; }
python3 "$PERFILE_SOURCE/tests/hostile/cost.py" "$PERFILE" "$PERFILE_SOURCE/src/cli/commands.def" \
    "$PERFILE_SOURCE/format/limits.md"

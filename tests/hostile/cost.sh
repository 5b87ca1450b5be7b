# What an input may cost: every command on the worst inputs that are known, against format/limits.md.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
python3 "$PERFILE_SOURCE/tests/hostile/cost.py" "$PERFILE" "$PERFILE_SOURCE/src/cli/commands.def" \
    "$PERFILE_SOURCE/format/limits.md"

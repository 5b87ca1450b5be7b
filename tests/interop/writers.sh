# Whatever a command writes, with any of its options, validates and is read by perf: see writers.py.  The argument
# is how many cases are tried; `all` has a test of its own.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf python3
needs_perf 6.1
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
export HOME=$PWD
python3 "$PERFILE_SOURCE/tests/interop/writers.py" "${1:-$((300 / ${PERFILE_EVERY:-1}))}"

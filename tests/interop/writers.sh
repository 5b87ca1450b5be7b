# Whatever a command writes, with any of its options, validates and is read by perf: see writers.py.  The argument
# is how many cases are tried; `all` has a test of its own.
set -u
for tool in perf python3; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 77; }
done
case $(perf --version) in
"perf version 6.1"*) ;;
*) echo "perf is $(perf --version), not 6.1"; exit 77 ;;
esac
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
export HOME=$PWD
python3 "$PERFILE_SOURCE/tests/interop/writers.py" "${1:-$((300 / ${PERFILE_EVERY:-1}))}"

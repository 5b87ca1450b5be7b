# Call trees of `perfile stats --tree`, `--callers` and `--callees` against `perf report -g caller` and `-g callee`: how many
# samples each whole path has below each function, of our captures, those of $PERFILE_CORPUS that perf reads to their end,
# and one that is recorded here.
#
# What cannot be compared is as in perf_report.sh.  Functions without a name have addresses of a process in perf, and
# offsets in a file here: user ones are all taken for one, and lines of such a function are not compared.  In front of
# samples taken in a line's own function perf prints the whole chain (-g caller); of it counts what is from that
# function on, as of all other samples.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf python3
export HOME=$PWD PYTHONPATH=$PERFILE_SOURCE/tests/interop:$PERFILE_SOURCE/tests PYTHONDONTWRITEBYTECODE=1
exec python3 "$PERFILE_SOURCE/tests/interop/perf_calls.py"

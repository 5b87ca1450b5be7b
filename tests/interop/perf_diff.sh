# `perfile stats --compare` against `perf diff`: periods before and now, shares, differences and ratios of each line, by dso
# and symbol, by comm, by dso and by cpu; of pairs of captures that have one event of the same name: ours and those of
# $PERFILE_CORPUS, each with the one after it in its folder, and two that are recorded here, of two builds of a program in
# two folders.
#
# What cannot be compared is as in perf_report.sh.  perf takes all functions of a file that have no name for one, as
# `stats --compare` does.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf python3
export HOME=$PWD PYTHONPATH=$PERFILE_SOURCE/tests/interop:$PERFILE_SOURCE/tests PYTHONDONTWRITEBYTECODE=1
exec python3 "$PERFILE_SOURCE/tests/interop/perf_diff.py"

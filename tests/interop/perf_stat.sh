# The counts of perf stat in `perfile stats` against `perf stat report`: of each event, with keys of each interval, processor
# and thread, its count with unit, for how long it ran, and which part of the time that is; of captures that are recorded
# here, and of those of $PERFILE_CORPUS that perf 6.1 reads.
#
# Not compared: what counters counted after the last interval of `-I`, which perf leaves out; scales of captures of
# the other byte order, which it takes for 0.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf python3
export HOME=$PWD PYTHONPATH=$PERFILE_SOURCE/tests/interop:$PERFILE_SOURCE/tests PYTHONDONTWRITEBYTECODE=1
exec python3 "$PERFILE_SOURCE/tests/interop/perf_stat.py"

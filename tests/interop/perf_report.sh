# `perfile stats --by dso,sym` against `perf report --no-children` (samples and periods of each function or address), and
# `--by dso --total` against `perf report --children` (shares of each file that call chains have), of our captures and
# those of $PERFILE_CORPUS that perf reads to their end.
#
# Names of the kernel's functions are not asked for: perf takes them from this machine, whatever kernel was recorded.
# Not compared with perf 6.1, because it says something else than what is stored; how many of each is printed:
# - addresses that nothing is known to be mapped at: it takes what this machine has there;
# - groups whose values are read with each sample (`:S`): it counts a sample for each event;
# - user stacks, which it unwinds;
# - simpleperf's captures: it does not read the symbols in them.
# It is kept from using branch stacks and AUX data in place of the samples.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf python3
export HOME=$PWD PYTHONPATH=$PERFILE_SOURCE/tests/interop:$PERFILE_SOURCE/tests PYTHONDONTWRITEBYTECODE=1
exec python3 "$PERFILE_SOURCE/tests/interop/perf_report.py"

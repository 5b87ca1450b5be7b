# `perfile script` against `perf script` of perf 6.1, byte for byte: sets of options over our captures and those of
# $PERFILE_CORPUS that perf reads to their end, without symbols; and over what is recorded here: functions with symbols,
# tracepoints, counters.  Where perf cannot record, that is not tried, and said.
#
# What may differ is listed in script.py, with the reasons of format/script.md.  It is counted, and so is what perf refuses.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs_perf 6.1
needs python3
export HOME=$PWD PYTHONPATH=$PERFILE_SOURCE/tests/interop:$PERFILE_SOURCE/tests PYTHONDONTWRITEBYTECODE=1 TZ=UTC
exec python3 "$PERFILE_SOURCE/tests/interop/script.py"

# --perf-map-dir: maps of compiled code are read from the folder that is given, and count whoever may write them.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$PERFILE_SOURCE/tests/hostile" python3 -c '
import cost_symbols
cost_symbols.capture("jit.data", [b"//anon"], [(0, 0x1000)])'
mkdir maps
echo "401000 10 compiled" >maps/perf-7.map
chmod 666 maps/perf-7.map
"$PERFILE" stats --by sym --perf-map-dir maps jit.data | grep -q compiled
! "$PERFILE" stats --by sym --perf-map-dir . jit.data | grep -q compiled

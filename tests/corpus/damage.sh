# Records that damage does not touch are read and written, and what is lost is said: 500 random damages.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
[ -d "$PERFILE_CORPUS" ] || echo "not tried: captures of others: there is no corpus"
export PERFILE_CASES=$((${PERFILE_CASES:-1} > 1 ? 10 : 1))
python3 "$PERFILE_SOURCE/tests/corpus/damage.py"

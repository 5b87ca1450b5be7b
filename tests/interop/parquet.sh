# Parquet files of all types, as unit.parquet makes them, are what three readers without common code read: DuckDB, hyparquet,
# and the Rust implementation in parquet-wasm.
#
# $PERFILE_NPM is a folder in which .ci/run installs them.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs node
npm=${PERFILE_NPM:-$PERFILE_SOURCE/build/npm}
for package in @duckdb/node-api hyparquet hyparquet-compressors parquet-wasm apache-arrow; do
    [ -d "$npm/node_modules/$package" ] || { echo "npm's $package is not in $npm"; exit 77; }
done

mkdir made
PERFILE_PARQUET=$PWD/made PERFILE_PARQUET_RANDOM=${PERFILE_PARQUET_RANDOM:-12} "$PERFILE_BUILD/tests/unit/unit_parquet" >log 2>&1 ||
    { cat log; exit 1; }
node "$PERFILE_SOURCE/tests/interop/parquet.mjs" "$npm" made || exit 1

# The comparison finds a value that is another one, and a row that is missing.
mkdir wrong
for name in few_0_1 few_8_2; do
    cp "made/$name.parquet" wrong/
done
sed '5s/"[0-9]*"]$/"77"]/' made/few_0_1.jsonl >wrong/few_0_1.jsonl
sed '$d' made/few_8_2.jsonl >wrong/few_8_2.jsonl
! node "$PERFILE_SOURCE/tests/interop/parquet.mjs" "$npm" wrong >differ || { echo "wrong values are not found"; exit 1; }
grep -q '^2 files, .* 6 differ$' differ || { cat differ; exit 1; }

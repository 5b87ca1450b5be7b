#!/bin/bash
# The tables that `perfile export --to parquet` writes: every value, read by DuckDB, is what `dump`, `list`, `info` and `script` say
# of the same capture, and what hyparquet and parquet-wasm read.  See tables.py.
#
# $PERFILE_NPM is a folder in which .ci/run installs them.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3 node
npm=${PERFILE_NPM:-$PERFILE_SOURCE/build/npm}
for package in @duckdb/node-api hyparquet hyparquet-compressors parquet-wasm apache-arrow; do
    [ -d "$npm/node_modules/$package" ] || { echo "npm's $package is not in $npm"; exit 77; }
done
python3 "$PERFILE_SOURCE/tests/interop/tables.py" "$npm"

# 40 captures of 8 machines and 5 days as tables, asked by DuckDB and by two servers of ClickHouse behind a Distributed table, with
# the text of format/tables.md as it is printed and the views: what comes out is what `perfile stats` and `perfile export --to folded`
# say of the same captures; exporting captures again changes nothing.  Ids of content are those that the page describes.
#
# $PERFILE_NPM is a folder in which `npm install @duckdb/node-api` was run; ClickHouse is the package clickhouse-server (.ci/run has both).
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
python3 "$PERFILE_SOURCE/tests/interop/xxh3.py" "$PERFILE_SOURCE/format/tables.md"
if command -v xxhsum >/dev/null; then
    for n in 0 1 3 4 8 9 16 17 32 33 64 65 96 97 128 129 200 240 241 500 1024 1025 5000; do
        head -c $n "$PERFILE_SOURCE/samples/captures/callgraph.data" >piece
        sums=$(xxhsum -H3 <piece | sed 's/^XXH3 .*= //; s/^XXH3_//; s/ .*//')
        [ $n -le 240 ] || sums="$sums $(xxhsum -H2 <piece | sed 's/ .*//')"
        own=$(python3 "$PERFILE_SOURCE/tests/interop/xxh3.py" --sum <piece)
        [ "${own% }" = "$sums" ] || { echo "$n bytes: xxh3.py says $own, and xxhsum $sums"; exit 1; }
    done
else
    echo "not tried: xxh3.py beside xxhsum: it is not installed (apt-get install xxhash)"
fi

needs node nm readelf
export PERFILE_NPM=${PERFILE_NPM:-$PERFILE_SOURCE/build/npm}
[ -d "$PERFILE_NPM/node_modules/@duckdb/node-api" ] || { echo "npm's @duckdb/node-api is not in $PERFILE_NPM"; exit 77; }
"$PERFILE" export --help | grep -q parquet || { echo "this build has no export --to parquet"; exit 77; }

cat >functions.c <<'END'
int leaf(int n) { return n * 3; }
int middle(int n) { return leaf(n) + 1; }
int again(int n) { return n > 0 ? again(n - 1) + middle(n) : 0; }
int serve(int n) { return again(n) + leaf(n); }
END
"$PERFILE_CC" -shared -nostdlib -fPIC -O0 -Wl,--build-id=sha1 -o libservice.so functions.c
nm libservice.so >symbols
build_id=$(readelf -nW libservice.so | sed -n 's/.*Build ID: //p')
mkdir captures
python3 "$PERFILE_SOURCE/tests/interop/fleet_made.py" "$PWD/libservice.so" symbols "$build_id" captures 8 5
python3 "$PERFILE_SOURCE/tests/interop/fleet.py" "$PERFILE" "$PERFILE_SOURCE/format/tables.md" "$PERFILE_SOURCE/tests/interop/duckdb.cjs"

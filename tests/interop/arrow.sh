#!/bin/bash
# DuckDB scans the Arrow streams of tables: its rows of samples are what `dump` says of the same records, its types
# those of format/tables.def, and its joins find every stack and frame.
#
# $PERFILE_NPM is a folder in which `npm install @duckdb/node-api` was run (.ci/run does that).
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs jq
library=${PERFILE_NPM:-$PERFILE_SOURCE/build/npm}/node_modules/@duckdb/node-bindings-linux-x64/libduckdb.so
[ -e "$library" ] || { echo "NOT TRIED: DuckDB is not at $library"; exit 77; }
captures=$PERFILE_SOURCE/samples/captures
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0:detect_odr_violation=0

# scan CAPTURE QUERY TABLE ...
scan() {
    "$PERFILE_BUILD/tests/interop/arrow_scan" "$library" "$@"
}

# Values.  What a sample does not have is empty there.
query=
for column in time pid tid cpu addr event comm module; do
    query+="coalesce($column::varchar, ''), "
done
query="select ${query/addr::varchar/"printf('0x%x', addr)"} coalesce(printf('0x%x', ip), '') from samples order by record"
n=0
for capture in threads callgraph cpu-clock tracepoints zstd pipe big-endian dwarf group; do
    capture=$captures/$capture.data
    scan "$capture" "$query" samples >rows
    "$PERFILE" dump --format tsv --type sample --fields time,pid,tid,cpu,addr,event,comm,dso,ip "$capture" | tail -n +2 >wanted
    diff -u wanted rows >differences || { head -20 differences; echo "$capture: DuckDB's rows (+) are not those of dump (-)"; exit 1; }
    [ -s rows ]
    n=$((n + $(wc -l <rows)))
done
[ "$n" -gt 300 ]
echo "$n samples compared"

# Names of threads, counted.
scan "$captures/threads.data" 'select comm, count(*) from samples group by all order by all' samples >rows
"$PERFILE" stats --by comm --type sample --json "$captures/threads.data" |
    jq -r '.rows[] | [.comm, .samples] | @tsv' | sort >wanted
diff -u wanted rows

# Types.
scan "$captures/threads.data" 'select column_name, column_type from (describe samples)' samples >types
while read -r name type; do
    grep -qxP "$name\t\Q$type\E" types || { grep "^$name" types; echo "$name is no $type"; exit 1; }
done <<'END'
record BIGINT
time BIGINT
wall TIMESTAMP WITH TIME ZONE
pid INTEGER
ip UBIGINT
comm VARCHAR
data_src STRUCT(op VARCHAR, "level" VARCHAR, level_num VARCHAR, snoop VARCHAR, snoopx VARCHAR, remote BOOLEAN, tlb VARCHAR, "lock" VARCHAR, blk VARCHAR, hops VARCHAR)
counters STRUCT("event" VARCHAR, "value" BIGINT, enabled BIGINT, running BIGINT)[]
END

# Joins: each sample has its stack, each frame of a stack and of a sample is there, and so is each module.
scan "$captures/callgraph.data" '
    select (select count(*) from samples anti join stacks using (stack_id) where stack_id is not null),
           (select count(*) from (select unnest(frames) frame_id from stacks) anti join frames using (frame_id)),
           (select count(*) from samples anti join frames using (frame_id) where frame_id is not null),
           (select count(*) from frames anti join modules using (module_id) where module_id is not null),
           (select count(*) > 10 and max(depth) > 3 and bool_and(depth = len(frames) or truncated) from stacks)' \
    samples stacks frames modules >joined
printf '0\t0\t0\t0\ttrue\n' | diff -u - joined

# The same rows as in Parquet files: how many are in one of the two only, and how many there are.
n=0 n_tables=0
for capture in callgraph switch tracepoints stat; do
    rm -rf made
    "$PERFILE" export --to parquet --no-symbols -o made "$captures/$capture.data" 2>/dev/null
    query='' tables=()
    for folder in made/*/ made/tracepoints/*/; do
        table=$(basename "$folder") # or event=SYSTEM:NAME
        case $table in
        tracepoints | '*') continue ;;
        event=*) tables+=("tracepoints/$table") table=${table#event=} ;;
        *) tables+=("$table") ;;
        esac
        files="read_parquet('$folder**/*.parquet', hive_partitioning = false)" table=${table/:/_}
        query+="${query:+ union all }select '$table', (select count(*) from (from \"$table\" except all from $files)),
            (select count(*) from (from $files except all from \"$table\")), (select count(*) from \"$table\")"
    done
    scan "$captures/$capture.data" "$query" "${tables[@]}" >same
    awk -F'\t' '$2 || $3 || NF != 4' same >other
    [ ! -s other ] || { cat other; echo "$capture: these tables are not what the Parquet files say"; exit 1; }
    n=$((n + $(awk -F'\t' '{ n += $4 } END { print n }' same)))
    n_tables=$((n_tables + $(wc -l <same)))
    [ "$capture" != tracepoints ] || [ "$(grep -c '^sched_' same)" -gt 2 ]
done
[ "$n" -gt 200 ] && [ "$n_tables" -gt 30 ]
echo "$n rows of $n_tables tables compared with Parquet files"

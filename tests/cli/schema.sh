# `perfile schema`: every table and column as text, JSON and SQL; the views; what is refused.
schema() {
    echo "$ perfile schema $*"
    "$PERFILE" schema "$@" 2>&1
    echo "= $?"
}

schema modules comms
schema --format sql comms stacks
schema --format sql --dialect clickhouse comms stacks
schema --format sql samples | grep -E 'data_src|counters'
schema --format sql --dialect clickhouse samples | grep -E 'data_src|counters|wall'
schema --json comms
schema --format views | head -n 3
schema --format views --dialect clickhouse | head -n 2

# What is refused.
schema nonsense
schema stack
schema --format xml
schema --format views samples
schema --dialect clickhouse samples
schema --dialect spark

# All forms have the same tables and columns, in the order of format/tables.def.
sed -nE 's/^(TABLE|COLUMN|GROUP|LIST)\(([a-z]+), ?("[^"]*"|[A-Z0-9]+, ([a-z_]+)|([a-z_]+)).*/\1 \2 \4\5/p' \
    "$PERFILE_SOURCE/format/tables.def" | grep -v '^TABLE name' | sed -nE 's/^(COLUMN|GROUP|LIST) ([a-z]+) (.*)/\2.\3/p' >wanted
"$PERFILE" schema | awk '/^[a-z]/ { sub(":", "", $1); table = $1 } /^    [a-z]/ { print table "." $1 }' >text
"$PERFILE" schema --format sql | awk '/^CREATE/ { gsub("\"", "", $3); table = $3 } /^    "/ { gsub("\"", "", $1); print table "." $1 }' >sql
[ "$(wc -l <wanted)" -gt 150 ] && cmp wanted text && cmp wanted sql
if command -v jq >/dev/null; then
    "$PERFILE" schema --json | jq -r '.tables[] | .name as $table | .columns[] | "\($table).\(.name)"' | cmp wanted -
    [ "$("$PERFILE" schema --json | jq '[.tables[].columns[].members // [] | length] | add')" = \
        "$(grep -c '^MEMBER(' "$PERFILE_SOURCE/format/tables.def")" ] || echo "members are missing"
fi
"$PERFILE" schema --format views | cmp - "$PERFILE_SOURCE/format/views.sql"
"$PERFILE" schema --format views --dialect clickhouse | cmp - "$PERFILE_SOURCE/format/views_clickhouse.sql"

# The JSON is what its schema says.
if python3 -c 'import jsonschema' 2>/dev/null; then
    "$PERFILE" schema --json >all.json
    python3 -c '
import json, sys, jsonschema
jsonschema.Draft202012Validator(json.load(open(sys.argv[1]))).validate(json.load(open("all.json")))' "$PERFILE_SOURCE/format/schema/schema.json"
else
    echo "not tried: python3-jsonschema was not found"
fi

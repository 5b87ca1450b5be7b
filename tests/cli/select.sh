# The options that say which records are wanted mean the same for filter, stats, list and dump: of every
# capture, as a file and as a pipe.
. "$PERFILE_SOURCE/tests/needs.bash"
needs jq
captures=$PERFILE_SOURCE/samples/captures
. "$PERFILE_SOURCE/tests/chosen.bash"
failed=0 compared=0

fail() {
    echo "FAILED: $*"
    failed=1
}

# law CAPTURE OPTION ...
law() {
    local capture=$1
    shift
    chosen || return
    "$PERFILE" filter "$@" -f --json -o kept.data "$capture" >kept.json 2>/dev/null || return
    "$PERFILE" stats --json --by tid "$@" "$capture" >stats.json 2>/dev/null || fail "stats $* $capture"
    local wanted samples
    wanted=$(jq .kept_samples kept.json)
    samples=$(jq .total.samples stats.json)
    [ "$wanted" = "$samples" ] || fail "stats $* $capture: $samples samples, filter keeps $wanted"
    jq -c '[.rows[] | select(.samples > 0) | [.tid, .samples, .period]] | sort' stats.json >ours
    "$PERFILE" stats --json --by tid --type sample kept.data 2>/dev/null | jq -c '[.rows[] | [.tid, .samples, .period]] | sort' >theirs
    cmp -s ours theirs || fail "stats $* $capture: other threads than filter keeps"
    # What is dumped are lines of the whole dump, without its head.
    "$PERFILE" dump --format jsonl "$@" "$capture" 2>/dev/null | grep -v '^{"kind":"end"' | sort >some
    [ "$(grep -c '"name":"PERF_RECORD_SAMPLE"' some)" = "$wanted" ] || fail "dump $* $capture: not $wanted samples"
    [ -z "$(comm -13 whole some)" ] || fail "dump $* $capture: lines that the whole dump does not have"
    [ -z "$(grep -vE '^\{"kind":"(record|error)"' some)" ] || fail "dump $* $capture: a head"
    "$PERFILE" dump --format jsonl --header --limit 0 "$@" "$capture" 2>/dev/null | grep -q '^{"kind":"header"' ||
        fail "dump --header $* $capture: no head"
    for what in threads mappings build-ids; do
        "$PERFILE" list $what --json "$@" "$capture" 2>/dev/null | jq -c 'del(.file, .damage)' >ours
        "$PERFILE" list $what --json kept.data 2>/dev/null | jq -c 'del(.file, .damage)' >theirs
        cmp -s ours theirs || fail "list $what $* $capture: not what filter keeps"
    done
    for command in "stats --json --by comm,dso" "dump --format jsonl" "list threads --json"; do
        # Files on standard input are read as such; only their name is another.
        "$PERFILE" $command "$@" "$capture" 2>/dev/null | sed 's/"file":"[^"]*"//' >ours
        cat "$capture" | "$PERFILE" $command "$@" - 2>/dev/null | sed 's/"file":"[^"]*"//' >theirs
        cmp -s ours theirs || fail "$command $* $capture: another answer of a pipe"
    done
    compared=$((compared + 1))
}

for name in callgraph pipe zstd; do
    capture=$captures/$name.data
    "$PERFILE" dump --format jsonl "$capture" 2>/dev/null | sort >whole
    tid=$("$PERFILE" dump --fields tid --limit 1 "$capture" 2>/dev/null | tail -n 1)
    law "$capture" --time 10%..60%
    law "$capture" --tid "$tid" --invert
    law "$capture" --comm 'work'
    law "$capture" --event 0 --every 3
    law "$capture" --head 2
    law "$capture" --dso '[kernel.kallsyms]'
    law "$capture" --where 'period > 0 || comm == "child"'
done
echo "$compared selections compared"
[ "$compared" -ge $((20 / PERFILE_CASES)) ] || fail "only $compared selections"

# What does not fit a capture is wrong usage, told once.
"$PERFILE" stats --event none "$captures/callgraph.data" >out 2>err
[ "$?" = 2 ] && [ "$(wc -l <err)" = 1 ] || { cat err; fail "an event that is not there"; }
"$PERFILE" dump --time nonsense "$captures/callgraph.data" >out 2>err
[ "$?" = 2 ] || fail "no time"
"$PERFILE" list threads --header --pid 1 "$captures/callgraph.data" >out 2>err
[ "$?" = 2 ] || fail "--header and a selection"
exit "$failed"

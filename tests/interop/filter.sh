# perf reads what filter writes: it counts as many samples as were kept, and prints the kept samples
# with the same names and symbols as in the full capture.
set -u
. "$PERFILE_SOURCE/tests/enough.bash"
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
export HOME=$PWD
incomplete='failed|rror:|Couldn|unexpected|incompatible|was the|not terminated'
seen=0 failed=0 counted=0 printed=0 captures=0

say() {
    echo "FAILED $*"
    failed=1
}

lines() {
    perf script --ns -F comm,tid,time,event,ip,sym,dso -i "$1" 2>errors </dev/null
}

try() { # capture option ...
    local capture=$1 n ours
    shift
    "$PERFILE" filter -f --json -o made "$@" "$capture" >report 2>said || { say "$capture $*: $(cat said)"; return; }
    ours=$(grep -oE '"kept_samples":[0-9]+' report)
    perf report --stats -i made >stats 2>errors </dev/null || return
    grep -qE "$incomplete" errors && return
    n=$(awk '/^Aggregated stats:/ { on = 1; next } on && / stats:$/ { exit } $1 == "SAMPLE" { print $3 }' stats)
    [ "${n:-0}" = "${ours#*:}" ] || say "$capture $*: perf counts ${n:-0} samples, kept ${ours#*:}"
    counted=$((counted + 1))
    # Of counters that a sample of a group reads perf makes lines by their difference to the sample
    # before, which may be gone.
    [ "$groups" = 0 ] || return
    lines made >kept || return
    # All lines are lines of the full capture; perf prints a blank line behind a call chain.
    sort kept | uniq -c | awk '{ n = $1; $1 = ""; print n "\t" $0 }' >one
    sort full | uniq -c | awk '{ n = $1; $1 = ""; print n "\t" $0 }' >two
    awk -F '\t' 'NR == FNR { all[$2] = $1; next } all[$2] < $1 { print $2; bad = 1 } END { exit bad }' two one >strange ||
        say "$capture $*: $(head -2 strange)"
    [ -s kept ] && printed=$((printed + 1))
}

for capture in "$PERFILE_SOURCE"/samples/captures/*.data "$PERFILE_CORPUS"/recorded/*/*.data; do
    [ -f "$capture" ] && [ $((++seen % ${PERFILE_EVERY:-1})) = 0 ] || continue
    "$PERFILE" stats --json "$capture" >counts 2>/dev/null || continue
    grep -q '"type":"SAMPLE"' counts || continue
    perf report --stats -i "$capture" >stats 2>errors </dev/null || continue
    grep -qE "$incomplete" errors && continue
    lines "$capture" >full || continue
    captures=$((captures + 1))
    groups=$("$PERFILE" dump --format jsonl "$capture" 2>/dev/null |
        grep -cE '"read_format":"0x[0-9a-f]*[89a-f]"')
    pid=$("$PERFILE" stats --by pid --json --type sample "$capture" 2>/dev/null | grep -oE '"pid":[0-9]+' | head -1)
    try "$capture" --time 30%..70%
    [ -n "$pid" ] && try "$capture" --pid "${pid#*:}"
    try "$capture" --every 3
    try "$capture" --time 40%..80% --compact-sideband
    try "$capture" --dso '[[]kernel*' --time 50%..
done

echo "$captures captures, $counted counted, $printed printed"
enough "captures filtered that perf reads" "$captures" 40 15 || failed=1
exit "$failed"

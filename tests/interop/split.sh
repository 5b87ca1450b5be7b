# perf reads the parts that split makes, and counts in all of them together the samples of the whole.
set -u
. "$PERFILE_SOURCE/tests/enough.bash"
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
export HOME=$PWD
incomplete='failed|rror:|Couldn|unexpected|incompatible|was the|not terminated'
seen=0 failed=0 captures=0 parts=0

say() {
    echo "FAILED $*"
    failed=1
}

samples() { # capture: how many perf counts
    perf report --stats -i "$1" >stats 2>errors </dev/null || return 1
    grep -qE "$incomplete" errors && return 1
    awk '/^Aggregated stats:/ { on = 1; next } on && / stats:$/ { exit } $1 == "SAMPLE" { n = $3 } END { print n + 0 }' stats
}

try() { # capture option ...
    local capture=$1 sum=0 n
    shift
    rm -rf made
    mkdir made
    "$PERFILE" split -o 'made/%d' "$@" "$capture" 2>said
    case $? in
    0 | 3) ;; # whole, damaged
    *) say "$capture $*: $(cat said)"; return ;;
    esac
    [ "$(ls made | wc -l)" -le 20 ] || return # perf takes its time
    for part in made/*; do
        n=$(samples "$part") || { say "$capture $*: $part: $(head -2 errors)"; return; }
        sum=$((sum + n))
        parts=$((parts + 1))
    done
    [ "$sum" = "$whole" ] || say "$capture $*: $sum samples in the parts, $whole in the whole"
}

for capture in "$PERFILE_SOURCE"/samples/captures/*.data "$PERFILE_CORPUS"/recorded/*/*.data; do
    [ -f "$capture" ] && [ $((++seen % ${PERFILE_EVERY:-1})) = 0 ] || continue
    whole=$(samples "$capture") && [ "$whole" != 0 ] || continue
    captures=$((captures + 1))
    try "$capture" --records $((whole / 3 + 1))
    try "$capture" --every 5ms
    try "$capture" --by pid
    try "$capture" --by cpu --compact-sideband
    try "$capture" --by event
    try "$capture" --size 64K --no-sideband
done

echo "$captures captures, $parts parts"
enough "captures split that perf reads" "$captures" 100 15 || failed=1
exit "$failed"

# Exports to pprof as `go tool pprof` shows them: which program the profile is of, which event it opens with, how often samples
# were taken, and the totals, which are those of `perfile stats`.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs go jq
export HOME=$PWD GOCACHE=$PWD/cache PPROF_TMPDIR=$PWD
captures=$PERFILE_SOURCE/samples/captures
failed=0

# pprof ARGUMENT ...: what it prints.
pprof() {
    go tool pprof -symbolize=none "$@" 2>errors || { cat errors; exit 1; }
}

# same WHAT HAVE WANT
same() {
    [ "$2" = "$3" ] || { echo "FAILED $1: '$2' and not '$3'"; failed=1; }
}

# line PATTERN FILE: what stands after the pattern in the line that begins with it.
line() {
    sed -n "s/^$1 *//p" "$2"
}

# shown CAPTURE PROGRAM EVENT PERIOD: samples and sums of periods of each event; what is shown first.
shown() {
    local event samples period
    "$PERFILE" export --no-symbols --to pprof -f -o profile.pb.gz "$captures/$1.data" 2>/dev/null || exit 1
    "$PERFILE" stats --by event --type sample --json "$captures/$1.data" >stats.json
    pprof -top profile.pb.gz >top
    pprof -raw profile.pb.gz >raw
    same "$1: the program" "$(line File: top)" "$2"
    same "$1: the event" "$(line Type: top)" "$3"
    same "$1: the period" "$(line PeriodType: raw), $(line Period: raw)" "$4"
    same "$1: all samples" "$(total samples)" "$(jq .total.samples stats.json)"
    while IFS=$'\t' read -r event samples period; do
        same "$1: samples of $event" "$(of_event "$event")" "$samples"
        same "$1: $event" "$(total "$event")" "$period"
    done < <(jq -r '.rows[] | [.event, .samples, .period] | @tsv' stats.json)
}

# total TYPE: what pprof says that a value of all samples adds up to.
total() {
    pprof -top -unit=nanoseconds -sample_index="$1" profile.pb.gz | sed -nE 's/.* of ([0-9]+)[a-z]* total$/\1/p'
}

# of_event EVENT: the samples that have a value of the event.
of_event() {
    awk -v event="$1" '
        /^Samples:/ {
            getline
            sub(/\[dflt\]/, "")
            n = split($0, types, " ")
            for (i = 1; i <= n; i++) {
                sub("/[^/]*$", "", types[i])
                at = types[i] == event ? i : at
            }
            next
        }
        /^Locations/ { exit }
        at && /^ +[0-9]/ {
            split($0, values, "[ :]+")
            sum += values[at + 1] ? values[2] : 0
        }
        END { print sum + 0 }' raw
}

shown callgraph work cpu-clock 'cpu nanoseconds, 500000'
shown cpu-clock work cpu-clock 'cpu nanoseconds, 250000'
shown mixed work page-faults/call-graph=no,period=4/ 'page-faults/call-graph=no,period=4/ count, 4'
shown pipe-tracepoints work cpu-clock 'cpu nanoseconds, 250000'
shown tracepoints '[kernel.kallsyms]' sched:sched_switch 'sched:sched_switch count, 1'
exit "$failed"

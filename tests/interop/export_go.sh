# Exports to pprof as `go tool pprof` shows them: which program the profile is of, which event it opens with, how often samples
# were taken, and the totals, which are those of `perfile stats`.  Lines of the source of a program that is recorded here, also
# in the forms firefox and speedscope, are those of `stats --by srcline`, and the calls where they are.
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
    same "$1: all samples by line" "$(total samples -lines)" "$(jq .total.samples stats.json)"
    same "$1: all samples, listed" "$(listed samples)" "$(jq .total.samples stats.json)"
    while IFS=$'\t' read -r event samples period; do
        same "$1: samples of $event" "$(of_event "$event")" "$samples"
        same "$1: $event" "$(total "$event")" "$period"
        same "$1: $event by line" "$(total "$event" -lines)" "$period"
        same "$1: $event, listed" "$(listed "$event")" "$period"
    done < <(jq -r '.rows[] | [.event, .samples, .period] | @tsv' stats.json)
}

# total TYPE [OPTION]: what pprof says that a value of all samples adds up to.
total() {
    pprof -top ${2:+"$2"} -unit=nanoseconds -sample_index="$1" profile.pb.gz | sed -nE 's/.* of ([0-9]+)[a-z]* total$/\1/p'
}

# listed TYPE: the same above listings of the source.
listed() {
    pprof -list . -unit=nanoseconds -sample_index="$1" profile.pb.gz | sed -nE 's/^Total: ([0-9]+)[a-z]*$/\1/p'
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

tried() {
    [ "$failed" = 0 ] || exit 1
    echo "not tried: lines of the source: $1"
    exit 0
}
command -v perf >/dev/null && command -v gcc >/dev/null && command -v python3 >/dev/null || tried "perf, gcc or python3 is not installed"
cat >work.c <<'END'
static volatile unsigned long sink;
static inline __attribute__((always_inline)) unsigned long mix(unsigned long x)
{
    x ^= x << 13;
    x ^= x >> 7;
    return x ^ x << 17;
}
__attribute__((noinline)) unsigned long busy(unsigned long x, long n)
{
    for (long i = 0; i < n; i++)
        x = mix(x); /* LINE mix */
    sink = x;
    return x;
}
int main(void)
{
    unsigned long x = 88172645463325252UL;
    for (int i = 0; i < 300; i++) {
        x = busy(x, 300000); /* LINE busy */
        sink += x;
    }
    return 0;
}
END
gcc -g -O0 -o work work.c || exit 1
perf record -q -e cpu-clock:u -F 999 -g -o work.data -- ./work 2>errors || tried "perf cannot record here"
"$PERFILE" stats --by srcline --type sample --json work.data 2>errors >stats.json
jq -r '.rows[] | select(.samples > 0 and .srcline != null) | "\(.srcline) \(.samples)"' stats.json | sort >wanted
grep -q '^work.c:' wanted || tried "$(cat errors wanted)"
for form in pprof firefox speedscope; do
    "$PERFILE" export --to $form --weight samples --lines --inline -o lines.$form work.data 2>/dev/null || exit 1
done
cp lines.pprof profile.pb.gz
pprof -raw profile.pb.gz >raw
for option in -top -lines; do
    same "all samples of lines: $option" "$(total samples $option)" "$(jq .total.samples stats.json)"
done
same "all samples of lines, listed" "$(listed samples)" "$(jq .total.samples stats.json)"
same "999 Hz" "$(line PeriodType: raw), $(line Period: raw)" "cpu nanoseconds, 1001001"
pprof -lines -top -nodefraction=0 -sample_index=samples profile.pb.gz |
    sed -nE 's/^ *([1-9][0-9]*) .* (.*\/)?([^ ]+:[0-9]+)( \(inline\))?$/\3 \1/p' |
    awk '{ n[$1] += $2 } END { for (i in n) print i, n[i] }' | sort >pprof
# firefox and speedscope: the line of the innermost frame of each sample.
python3 - <<'END' || exit 1
import collections
import json
import os

def write(name, sums):
    with open(name, "w") as f:
        f.write("".join(sorted(f"{os.path.basename(k)}:{line} {n}\n" for (k, line), n in sums.items())))

p = json.load(open("lines.firefox"))
sums = collections.Counter()
for t in p["threads"]:
    for stack in t["samples"]["stack"]:
        frame = t["stackTable"]["frame"][stack]
        name = t["funcTable"]["fileName"][t["frameTable"]["func"][frame]]
        if name is not None and t["frameTable"]["line"][frame]:
            sums[p["shared"]["stringArray"][name], t["frameTable"]["line"][frame]] += 1
write("firefox", sums)
p = json.load(open("lines.speedscope"))
sums = collections.Counter()
for profile in p["profiles"]:
    for stack, weight in zip(profile["samples"], profile["weights"]):
        frame = p["shared"]["frames"][stack[-1]]
        if "line" in frame:
            sums[frame["file"], frame["line"]] += weight
write("speedscope", sums)
END
# Tables: the same, by SQL.
forms="pprof firefox speedscope"
if [ -d "${PERFILE_NPM:=$PERFILE_SOURCE/build/npm}/node_modules/@duckdb/node-api" ] && command -v node >/dev/null; then
    export PERFILE_NPM
    "$PERFILE" export --to parquet --partition none --lines --inline -o lines.tables work.data 2>/dev/null || exit 1
    cat >lines.sql <<'END'
SELECT parse_filename(f.file) || ':' || f.line || ' ' || count(*) AS text
FROM 'lines.tables/samples/*.parquet' JOIN 'lines.tables/stacks/*.parquet' s USING (stack_id)
    JOIN 'lines.tables/frames/*.parquet' f ON f.frame_id = s.frames[1]
WHERE f.line IS NOT NULL GROUP BY f.file, f.line;
END
    node "$PERFILE_SOURCE/tests/interop/duckdb.cjs" lines.sql | sed -n 's/^\["\(.*\)"\]$/\1/p' | sort >tables
    forms="$forms tables"
fi
for form in $forms; do
    cmp -s $form wanted || { echo "FAILED $form: lines"; diff $form wanted; failed=1; }
done
# A call is where it is made, and not at the line after it.
all=$(jq '[.rows[].samples] | add' stats.json)
for called in mix busy; do
    pprof -list '^(main|busy)$' -sample_index=samples profile.pb.gz | grep "LINE $called" >listed
    n=$(awk '{ print $2 }' listed)
    [ "${n:-0}" -ge $((all * 3 / 4)) ] || { echo "FAILED: the call of $called has ${n:-no} samples of $all"; failed=1; }
done
exit "$failed"

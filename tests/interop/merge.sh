# Recordings of this machine, made at the same time, become one that perf reads: with the samples of
# both by time, and every line of `perf script` that either has.  Then the same as if they were of two
# machines, with equal ids on purpose, and in every form.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
export HOME=$PWD
failed=0
busy='i=0; while [ $i -lt 400000 ]; do i=$((i + 1)); done'

say() {
    echo "FAILED $*"
    failed=1
}

python() {
    python3 "$PERFILE_SOURCE/tests/interop/merge.py" "$@"
}

# pair NAME OPTION ...: two at the same time, NAME-a of all processors where that is allowed, NAME-b.
pair() {
    local name=$1
    shift
    perf record -a -F 400 -e cpu-clock -o "$name-a" "$@" -- sleep 1 >/dev/null 2>"$name.a" </dev/null &
    perf record -g -F 400 -e cpu-clock -o "$name-b" "$@" -- sh -c "$busy" >/dev/null 2>"$name.b" </dev/null
    wait
    [ -s "$name-a" ] ||
        { perf record -F 400 -e cpu-clock -o "$name-a" "$@" -- sh -c "$busy" >/dev/null 2>&1 </dev/null &
          perf record -g -F 400 -e cpu-clock -o "$name-b" "$@" -- sh -c "$busy" >/dev/null 2>&1 </dev/null
          wait; }
    [ -s "$name-a" ] && [ -s "$name-b" ]
}

samples() {
    perf report --stats -i "$1" 2>errors |
        awk '/^Aggregated stats:/ { on = 1; next } on && / stats:$/ { exit } $1 == "SAMPLE" { print $3; exit }'
}

events() {
    "$PERFILE" list events --json "$1" | grep -o '"index"' | wc -l
}

lines() {
    perf script --ns -F comm,tid,time,event,ip,sym,dso -i "$1" 2>errors </dev/null
}

# joined OUT A B: perf finds as many samples as in both, and in order of time.
joined() {
    local n=$(($(samples "$2") + $(samples "$3"))) found
    found=$(samples "$1")
    [ "${found:-0}" = "$n" ] && [ "$n" -gt 40 ] || say "$1: perf counts ${found:-no} samples of $n: $(cat errors)"
    perf script --ns -F time -i "$1" 2>/dev/null </dev/null | tr -d ': ' | grep -v '^$' | sort -c -n ||
        say "$1: perf finds times that step back"
    "$PERFILE" validate --severity error "$1" >found || say "$1: $(head -3 found)"
}

# A sample is a line and what stands under it: one line of it, for comparing.
blocks() {
    awk '/[0-9][.][0-9]+: / && block { print block; block = "" } NF { block = block " " $0 } END { print block }' |
        tr -s ' \t' ' ' | sort
}

# printed OUT IN: what perf prints of IN it prints of OUT, too.
printed() {
    lines "$2" | blocks >one
    lines "$1" | blocks >all
    [ -s one ] || say "$2: perf prints nothing"
    comm -23 one all >missing
    [ -s missing ] && say "$1: perf prints otherwise: $(wc -l <missing) of $(wc -l <one): $(head -1 missing)"
}

pair plain || { echo "perf cannot record here: $(cat plain.a plain.b)"; exit 77; }
"$PERFILE" merge -o plain plain-a plain-b 2>said || say "$(cat said)"
grep -q 'of 2 captures; clocks: same boot' said || say "what is said: $(cat said)"
joined plain plain-a plain-b
python times plain-a 0 plain-b 0 plain || say "of one machine"
printed plain plain-b
"$PERFILE" merge --join-events -o joined plain-a plain-a 2>said || say "$(cat said)"
joined joined plain-a plain-a
[ "$(events joined)" = "$(events plain-a)" ] || say "the events were not joined"

# One with itself: twice the samples, each event its own ids.
"$PERFILE" merge -o twice plain-b plain-b 2>said || say "$(cat said)"
joined twice plain-b plain-b
"$PERFILE" list ids --json twice | grep -oE '"id":"?[0-9]+' | sort | uniq -d | grep -q . && say "an id is there twice"

# Two hosts: by the wall clock, and refused without.
pair clock -k CLOCK_MONOTONIC || say "perf record -k"
"$PERFILE" merge -o clock clock-a clock-b 2>said || say "$(cat said)"
joined clock clock-a clock-b
python times clock-a 0 clock-b 0 clock || say "of one machine with a clock"
python edit clock-b other-b host=other wall=5000000000
"$PERFILE" merge --report json -o hosts clock-a other-b >report 2>said || say "$(cat said)"
offset=$(python3 -c 'import json; print(json.load(open("report"))["inputs"][1]["offset_ns"])')
# Both wrote down what the wall clock was at their own begin.
[ "$offset" -gt 4990000000 ] && [ "$offset" -lt 5010000000 ] || say "the offset is $offset"
joined hosts clock-a other-b
python times clock-a 0 other-b "$offset" hosts || say "of two machines"
"$PERFILE" merge -f -o hosts clock-a other-b 2>said
grep -q '2 hosts; clocks: wall clock' said || say "what is said: $(cat said)"
grep -qi 'kernel maps and CPU numbers' said || say "what cannot be kept apart is not said: $(cat said)"
python edit plain-b unknown-b host=other
"$PERFILE" merge -o refused plain-a unknown-b 2>said && say "the clocks of two machines were guessed"
grep -q -- '--offset' said && grep -q -- '--align' said || say "what to pass is not said: $(cat said)"
[ -e refused ] && say "something was written all the same"
"$PERFILE" merge --offset 2=+1.5ms -o moved plain-a unknown-b 2>said || say "$(cat said)"
python times plain-a 0 unknown-b 1500000 moved || say "with an offset"

# Processes of two machines with equal numbers; names that say whose they are.
"$PERFILE" merge --map-pids --host-comm --report json -o mapped clock-b other-b >report 2>said || say "$(cat said)"
joined mapped clock-b other-b
python3 - <<'END' || say "the numbers of processes"
import json
pids = json.load(open("report"))["pids"]
assert pids and all(p["input"] == 1 and p["new_pid"] == p["pid"] + (1 << 22) for p in pids)
END
perf script -F comm -i mapped 2>/dev/null </dev/null | grep -q 'other:' || say "no name says its host"

# Equal ids on purpose: the events stay what they were.
python edit plain-b task host=other config=1:task-clock
"$PERFILE" merge --align start -o ids plain-b task 2>said || say "$(cat said)"
joined ids plain-b task
for event in cpu-clock task-clock; do
    n=$(perf script -F event -i ids 2>/dev/null </dev/null | grep -c "$event")
    [ "$n" = "$(samples plain-b)" ] || say "equal ids: perf finds $n samples of $event"
done

# Other forms of the same: the same records.
records() {
    "$PERFILE" dump --format jsonl "$1" | sed -n '/"kind":"record"/{s/"index":[0-9]*,//;s/"offset":"[0-9]*",//;p;}'
}
records plain >wanted
"$PERFILE" convert --to pipe -o b.pipe plain-b 2>/dev/null
"$PERFILE" convert --compress -o b.zstd plain-b 2>/dev/null
"$PERFILE" convert --byte-order big -o b.big plain-b 2>/dev/null
for form in pipe zstd big; do
    "$PERFILE" merge -o "of-$form" plain-a "b.$form" 2>said || { say "$form: $(cat said)"; continue; }
    records "of-$form" | cmp -s - wanted || say "$form: other records: $(records "of-$form" | diff - wanted | head -4)"
done
"$PERFILE" merge -o of-stdin plain-a - <b.pipe 2>said || say "$(cat said)"
cmp -s of-stdin of-pipe || say "standard input gives another capture"
"$PERFILE" merge -o - plain-a plain-b 2>said | samples - >found
[ "$(cat found)" = "$(samples plain)" ] || say "in the pipe perf finds $(cat found) samples"
if perf record --threads -F 400 -e cpu-clock -o threads -- sh -c "$busy" >/dev/null 2>&1 </dev/null && [ -d threads ]; then
    n=$("$PERFILE" stats --type sample threads | awk '/total/ { print $1 }')
    "$PERFILE" merge --align start -o of-threads threads plain-b 2>said || say "a directory: $(cat said)"
    [ "$(samples of-threads)" = $((n + $(samples plain-b))) ] || say "of a directory samples are missing"
fi
exit "$failed"

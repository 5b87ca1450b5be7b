# What merge does to files and says about it, as a user sees it.
set -u
command=merge
. "$PERFILE_SOURCE/tests/cli/expect.inc"

samples() {
    "$PERFILE" stats --json "$1" 2>/dev/null |
        python3 -c 'import json, sys
print(sum(r["records"] for r in json.load(sys.stdin)["rows"] if r["type"] == "SAMPLE"))'
}

cp "$captures/cpu-clock.data" a.data
cp "$captures/callgraph.data" b.data
cp a.data before.data

# One, two, one with itself; OUT is never an input.
expect 0 "merged " -o one.data a.data
expect 0 "(166 samples) of 2 captures; clocks: same recording" -o twice.data a.data a.data
[ "$(samples twice.data)" = 166 ] || say "with itself: $(samples twice.data) samples"
expect 1 "give -f to replace it" -o twice.data a.data a.data
expect 0 "same recording" -f -o twice.data a.data a.data
expect 1 "choose another output" -f -o a.data a.data b.data
expect 1 "choose another output" -f --align start -o b.data a.data b.data
ln -s b.data link.data
expect 1 "choose another output" -f --align start -o link.data a.data b.data
cp -r "$captures/threads.data" dir.data
expect 1 "choose another output" -f --align start -o dir.data/data a.data dir.data
cmp -s a.data before.data || say "an input was changed"

# Clocks are never guessed.
expect 2 "input 2 needs an offset" -o none.data a.data b.data
grep -q -- '(--offset IN=TIME, --align start)$' err || say "it does not say what else helps: $(cat err)"
[ -e none.data ] && say "something was written although nobody knows the clocks"
expect 0 "clocks: offset" --offset 2=+1.5ms -o offset.data a.data b.data
expect 0 "clocks: offset" -f --offset b.data=-20us -o offset.data a.data b.data
expect 0 "clocks: aligned" --align start -o aligned.data a.data b.data
[ "$(samples aligned.data)" = $(($(samples a.data) + $(samples b.data))) ] || say "samples are missing"

# Wrong words.
expect 2 "missing input: give " -o x
expect 2 "missing output: give -o OUT" a.data
expect 2 "is neither an input nor a position from 1 to 2" --offset 3=1s -o x a.data b.data
expect 2 "is neither an input" --offset 0=1s -o x a.data b.data
expect 2 "is neither an input" --offset 99999999999999999999=1s -o x a.data b.data
expect 2 "is given 2 times" --offset a.data=1s -o x a.data a.data
expect 2 "is given twice for 'b.data'" --offset 2=1s --offset b.data=1s -o x a.data b.data
expect 2 "takes IN=TIME" --offset 1s -o x a.data b.data
for time in '' + - ms 1.ms .5ms 1,5ms 1h 1.5ns 1.0005ns 1e3ns 0x1ns 9223372036854775808ns 9223372036.9s '1 ms' 1..5s; do
    expect 2 "is not a time such as +1.5ms" --offset "2=$time" -o x a.data b.data
done
for time in +1.5ms -20us 3s 0.5 -0 007ns +1.500us 1.000000001s; do
    rm -f times.data
    expect 0 "clocks: offset" --offset "2=$time" -o times.data b.data a.data
done
expect 2 "--align takes start" --align end -o x a.data b.data
expect 2 "--to takes perf.data, pipe, perfmon or archive" --to dir -o x a.data b.data
expect 2 "standard output needs --to pipe" --to perf.data -o - a.data a.data
expect 2 "at least 2M" -m 1M -o x a.data b.data
expect 2 "--report takes json" --report text -o x a.data b.data
expect 2 "can be given only once" -o x - -
[ -e x ] && say "something was written for wrong words"
expect 1 "missing.data: cannot open: No such file" -o x a.data missing.data
expect 1 "text.data: offset 0: not a perf.data file" -o x a.data "$captures/text.data"
[ -e x ] && say "something was written for what is no capture"

# Damage: by --on-damage, and with the name of the input that has it.
bad=$captures/bad-size.data
expect 3 "bad-size.data: offset 1936: impossible size" -o stop.data a.data "$bad" --align start
expect 3 "bad-size.data: offset 1936: impossible size" --on-damage resync -o resync.data a.data "$bad" --align start
expect 3 "impossible size" --on-damage salvage -o salvage.data a.data "$bad" --align start
expect 1 "bad-size.data: offset 1936: impossible size" --on-damage fail -o fail.data a.data "$bad" --align start
# With a path that a message has no room for, too.
long=a-folder-with-a-long-name/and-another-one-in-it/bad-size.data
mkdir -p "${long%/*}"
cp "$bad" "$long"
expect 1 "bad-size.data: offset 1936: impossible size" --on-damage fail -o fail.data a.data "$long" --align start
[ -e fail.data ] && say "--on-damage fail has written something"
[ "$(samples stop.data)" -lt "$(samples resync.data)" ] || say "resync gives no more than stop"

# Streams: from standard input, to standard output; the form is that of the first.
"$PERFILE" merge -o - a.data a.data 2>err >stream.data || say "to standard output: $(cat err)"
[ "$(head -c 16 stream.data | tail -c 8 | od -An -tu1 | tr -d ' ')" = 160000000 ] ||
    say "standard output is no stream"
[ "$(samples stream.data)" = 166 ] || say "samples are missing in the stream"
cat "$captures/pipe.data" | "$PERFILE" merge --align start -o mixed.data - a.data 2>err || say "from a pipe: $(cat err)"
head -c 16 mixed.data | tail -c 8 | od -An -tu1 | tr -d ' ' | grep -q '^160000000$' || say "a stream did not stay one"
cat a.data | "$PERFILE" merge -f --to perf.data --align start -o mixed.data - "$captures/pipe.data" 2>err ||
    say "a file in a pipe: $(cat err)"
[ "$(samples mixed.data)" = $(($(samples a.data) + $(samples "$captures/pipe.data"))) ] ||
    say "of a file in a pipe samples are missing"
"$PERFILE" merge -f --align start -o mixed.data dir.data "$captures/big-endian.data" "$captures/zstd.data" 2>err ||
    say "a directory, another byte order, compressed: $(cat err)"
"$PERFILE" validate --severity error mixed.data >found || say "$(cat found)"

# More inputs than files may be open.
(
    ulimit -S -n 64
    args=()
    for i in $(seq 150); do args+=(a.data); done
    "$PERFILE" merge -o many.data "${args[@]}" 2>err || echo "150 inputs: $(cat err)"
) >many
[ -s many ] && say "$(cat many)"
[ "$(samples many.data)" = $((150 * 83)) ] || say "150 inputs: $(samples many.data) samples"

# Reports; on standard error when standard output is the capture.
report() {
    python3 -c 'import json, sys
r = json.load(sys.stdin)
assert eval(sys.argv[1]), r' "$1"
}
"$PERFILE" merge --json -f -o twice.data a.data a.data 2>err |
    report '"ids" not in r and len(r["inputs"]) == 2 and r["samples"] == 166 and r["out"] == "twice.data"' ||
    say "the short report is not right"
[ -s err ] && say "beside the report: $(cat err)"
"$PERFILE" merge --report json -f -o twice.data a.data a.data 2>err |
    report 'r["ids"] and r["pids"] == [] and r["new_ids"] == sum(m["id"] != m["new_id"] for m in r["ids"])' ||
    say "the report is not right"
"$PERFILE" merge --report json --offset 2=-1.5ms -o - a.data b.data 2>report >stream.data
report 'r["out"] == "-" and r["inputs"][1]["offset_ns"] == "-1500000"' <report || say "the report of a stream: $(cat report)"
"$PERFILE" merge --json -o none.data a.data b.data 2>err |
    report 'r["out"] is None and "input 2 needs an offset" in r["error"] and "(--offset IN=TIME, " in r["error"] and r["inputs"] == []' || say "the report of a failure"
"$PERFILE" merge --json --on-damage resync --align start -f -o out.data "$bad" a.data 2>err |
    report 'r["damages"] == r["inputs"][0]["damages"] == 1 and r["inputs"][1]["damages"] == 0' ||
    say "damage in the report"
exit "$failed"

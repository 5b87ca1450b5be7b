# What sort does to files and says about it, as a user sees it.
set -u
command=sort
. "$PERFILE_SOURCE/tests/cli/expect.inc"

cp "$captures/threads.data" in.data 2>/dev/null || cp "$captures/group.data" in.data
cp in.data before.data
expect 0 "in.data: sorted " -o out.data in.data
cmp -s in.data before.data || say "the input was changed"
[ "$(wc -l <err)" = 1 ] || say "more than a line: $(cat err)"
expect 1 "give -f to replace it" -o out.data in.data
expect 0 "sorted" -f -o out.data in.data
expect 1 "choose another output" -f -o in.data in.data
expect 2 "missing output: give -o OUT" in.data
expect 2 "missing input: give " -o x
expect 2 "too many inputs" -o x in.data in.data
expect 2 "such as 64M, not 'much'" --max-memory much -o x in.data
expect 2 "such as 64M, not '-1'" --max-memory=-1 -o x in.data
expect 2 "such as 64M, not '99999999999999G'" --max-memory 99999999999999G -o x in.data
expect 2 "at least 2M" --max-memory 1M -o x in.data
expect 2 "--on-damage takes stop, resync, salvage or fail" --on-damage go -o x in.data
expect 2 "cannot both go" --json -o - in.data
for size in 2097152 2048K 2m 3MiB 1GB; do
    expect 0 "sorted" -f -m "$size" -o out.data in.data
done

# Damage: by --on-damage.
expect 3 "impossible size" -o stop.data "$captures/bad-size.data"
expect 3 "impossible size" --on-damage resync -o resync.data "$captures/bad-size.data"
expect 3 "impossible size" --on-damage salvage -o salvage.data "$captures/bad-size.data"
expect 1 "impossible size" --on-damage fail -o fail.data "$captures/bad-size.data"
[ -e fail.data ] && say "--on-damage fail has written something"
count() {
    "$PERFILE" stats "$1" 2>/dev/null | awk '/total/ {print $1}'
}
[ "$(count stop.data)" -lt "$(count resync.data)" ] || say "resync gives no more than stop"
expect 1 "not a perf.data file" -o none.data "$captures/text.data"
[ -e none.data ] && say "a file was written for what is no capture"

# Streams: from standard input, to standard output.
cat "$captures/pipe.data" | "$PERFILE" sort -o - - 2>err | "$PERFILE" stats - >piped ||
    say "from pipe to pipe: $(cat err)"
"$PERFILE" stats "$captures/pipe.data" >plain
diff <(grep -v -e ROUND -e total plain) <(grep -v -e ROUND -e total piped) || say "records are missing in the pipe"
"$PERFILE" sort -o - in.data 2>err >stream.data || say "to standard output: $(cat err)"
[ "$(head -c 16 stream.data | tail -c 8 | od -An -tu1 | tr -d ' ')" = 160000000 ] ||
    say "standard output is no stream"

# --to: another form than that of the input, with the same records of the kernel.
kernel() {
    "$PERFILE" dump --format jsonl "$1" | grep -o '"name":"PERF_RECORD_[A-Z0-9_]*"' |
        grep -E 'SAMPLE|MMAP|COMM|FORK|EXIT' | sort
}
first() {
    head -c 16 "$1" | od -An -tu1 | tr -d ' \n'
}
expect 0 "sorted" --to perf.data -o file.data "$captures/pipe.data"
expect 0 "sorted" --to pipe -o stream.pipe in.data
expect 0 "sorted" --to pipe -f -o again.pipe "$captures/pipe.data"
"$PERFILE" sort --to perf.data -o - in.data 2>err >through.data || say "a file to standard output: $(cat err)"
magic=$(printf PERFILE2 | od -An -tu1 | tr -d ' \n')
for it in "file.data 104" "stream.pipe 16" "again.pipe 16" "through.data 104"; do
    # shellcheck disable=SC2086
    set -- $it
    [ "$(first "$1")" = "$magic${2}0000000" ] || say "$1 has another form: $(first "$1")"
done
for pair in "$captures/pipe.data file.data" "in.data stream.pipe" "in.data through.data"; do
    # shellcheck disable=SC2086
    set -- $pair
    [ -n "$(kernel "$1")" ] || say "the comparison of $1 sees nothing"
    diff <(kernel "$1") <(kernel "$2") || say "other records in $2"
    "$PERFILE" validate "$2" >found 2>&1 || say "$2 does not validate: $(cat found)"
done
"$PERFILE" convert --to dir -o parts.dir in.data 2>/dev/null
expect 0 "sorted" -o joined.data parts.dir
expect 0 "sorted" --to pipe -o joined.pipe parts.dir
[ -f joined.data ] && [ "$(first joined.pipe)" = "${magic}160000000" ] || say "a directory did not become one file"
expect 2 "the result is one file" --to dir -o x in.data
expect 2 "--to takes perf.data, pipe, dir, perfmon or archive, not 'csv'" --to csv -o x in.data

# The report.
"$PERFILE" sort --json -f -o out.data in.data 2>err |
    python3 -c 'import json, sys
r = json.load(sys.stdin)
assert r["out"] == "out.data" and r["records"] > 0 and r["temporary"] == 0 and r["rounds"] == 1, r' ||
    say "the report is not right"
[ -s err ] && say "beside the report: $(cat err)"

# 64 MB in random order, where no more than 8 MB are to be had; what is mapped stays below 16.  Sanitizers and the counters of
# executed lines need memory of their own.
case $PERFILE_CFLAGS in
*sanitize* | *profile*) ;;
*)
    python3 "$PERFILE_SOURCE/tests/cli/random_times.py" 64 random.data
    python3 - "$PERFILE" <<'END' || say "more memory than allowed"
import resource, subprocess, sys, time
limit = resource.RLIMIT_DATA, (8 << 20, 8 << 20)
run = subprocess.Popen([sys.argv[1], "sort", "-m", "8M", "-o", "by-time.data", "random.data"],
                       preexec_fn=lambda: resource.setrlimit(*limit))
most = looks = 0
while run.poll() is None:
    try:
        for line in open(f"/proc/{run.pid}/status"):
            word = line.split()
            if word[0] == "RssFile:":
                most = max(most, int(word[1]))
                looks += 1
    except ProcessLookupError:
        pass
    time.sleep(0.002)
print(run.returncode, most, looks)
sys.exit(run.returncode or looks < 3 or most > 16 << 10)
END
    "$PERFILE" dump --type SAMPLE --format jsonl by-time.data | head -n 200000 |
        grep -o '"time":"[0-9]*' | cut -d'"' -f4 | sort -nc || say "the times are in disorder"
    "$PERFILE" stats by-time.data | grep -q "^ *$((64 * 1024 * 1024 / 48)) .* SAMPLE\$" || say "records are missing"
    ;;
esac
exit "$failed"

# What recover does to files and says about it, as a user sees it.
set -u
command=recover
. "$PERFILE_SOURCE/tests/cli/expect.inc"

cp "$captures/killed.data" killed.data
expect 3 "next: perf report -i saved.data" -o saved.data killed.data
cmp -s killed.data "$captures/killed.data" || say "the input was changed"
expect 1 "give -f to replace it" -o saved.data killed.data
expect 3 "kept 208 records, 193 samples" -f -o saved.data killed.data
expect 0 "nothing was lost" -o again.data saved.data
expect 1 "never changed" -f -o killed.data killed.data
ln -s killed.data link.data
expect 1 "never changed" -f -o link.data killed.data
"$PERFILE" recover -o - killed.data 2>err | cat >out
grep -q "header is written last" err || say "into a pipe: $(cat err)"
[ -s out ] && say "something was written into a pipe"
expect 3 "nothing was written; next:" --dry-run killed.data
expect 2 "missing output: give -o OUT" killed.data
expect 2 "missing input: give a FILE" -o x
mkdir no-files
expect 1 "no-files: the directory has no record files" -o x%d no-files
expect 2 "--report takes json" --report xml -o x killed.data
expect 2 "no sample_type" --event cycles -o x killed.data
expect 2 "not both" --event cycles:sample_type=IP --attrs-from saved.data -o x killed.data
expect 1 "this is text" -o x "$captures/text.data"
expect 1 "empty" -o x "$captures/empty.data"
expect 1 "No such file" -o x missing.data

# The same from standard input, seekable or not.
"$PERFILE" recover -o stdin.data - <killed.data 2>err || [ $? = 3 ] || say "from standard input: $(cat err)"
cmp -s stdin.data saved.data || say "from standard input something else is recovered"
cat killed.data | "$PERFILE" recover -f -o stdin.data - 2>err || [ $? = 3 ] || say "from a pipe: $(cat err)"
cmp -s stdin.data saved.data || say "from a pipe something else is recovered"

# Text in the middle of the records: one gap, and everything beside it.
{
    head -c 1088 killed.data
    echo "this is no record, but it stands in the middle of them"
    tail -c +1089 killed.data
} >text.data
expect 3 "kept 208 records, 193 samples" -f -o saved.data text.data

# Attrs destroyed: with those of a capture of the same command, or in words.
{
    head -c 104 killed.data
    head -c 160 /dev/zero
    tail -c +265 killed.data
} >attrs.data
expect 1 "--attrs-from" -o x attrs.data
expect 3 "193 samples" -f -o sister.data --attrs-from "$captures/cpu-clock.data" attrs.data
words=$("$PERFILE" list events killed.data 2>/dev/null | awk 'NR == 2 {print $NF}')
expect 3 "193 samples" -f -o words.data --event "cpu-clock:sample_type=$words" attrs.data

# Events of another command: those of the file itself fit better, and that is told.
expect 3 "193 samples" -f -o own.data killed.data
expect 3 "193 samples" -f -o other.data --attrs-from "$captures/callgraph.data" killed.data
grep -q "0 fit the given events and [0-9]* the events of the file" err ||
    say "attrs of another command: $(cat err)"
cmp -s own.data other.data || say "attrs of another command: something else is recovered"
# Where the file has none, at least the number is told.
expect 3 "only 0 fit the given events" -f -o none.data --attrs-from "$captures/callgraph.data" attrs.data
expect 0 "fit the given events" -f -o whole.data --attrs-from "$captures/callgraph.data" "$captures/cpu-clock.data"

# Nothing to recover.
expect 0 "nothing needs recovering" -n "$captures/cpu-clock.data"
grep -q "next:" err && say "a whole capture: $(cat err)"
expect 3 "next: perfile recover" -n killed.data

# A directory that lacks a file.
mkdir directory
cp "$captures/cpu-clock.data" directory/data
tail -c +265 killed.data | head -c 832 >directory/data.0
cp directory/data.0 directory/data.2
expect 3 "a part of the directory is missing" -f -o saved.data directory
expect 1 "never changed" -o directory/saved.data directory
rm directory/data
expect 1 "holds a file 'data'" -f -o x directory
expect 3 "kept" -f -o saved.data --attrs-from killed.data directory

# Text in the middle moves all that is behind it: records end later, features stand elsewhere.
{
    head -c 3000 "$captures/cpu-clock.data"
    printf 'perf: a word of warning in the middle of it\n'
    tail -c +3001 "$captures/cpu-clock.data"
} >text.data
expect 3 "offset 2992" -f -o saved.data text.data
grep -qE "left out|cut off" err && say "text in the middle: $(grep -E 'left out|cut off' err | head -1)"
grep -qE "kept 10[23] records" err || say "text in the middle: $(cat err)"

# Interrupted: neither OUT nor a temporary file stays.
mkdir interrupted
mkfifo fifo
"$PERFILE" recover -o interrupted/out.data - <fifo 2>/dev/null &
pid=$!
exec 3>fifo
head -c 2000 "$captures/pipe.data" >&3
sleep 0.3
kill -TERM "$pid"
sleep 0.1
kill -TERM "$pid" # the first one means: to the end of the pipe
exec 3>&-
wait "$pid" 2>/dev/null
[ -z "$(ls interrupted)" ] || say "left behind: $(ls interrupted)"

# Features without which viewers refuse a file are made when they are lost.
head -c 3000 "$captures/cpu-clock.data" >cut.data
"$PERFILE" recover -f -o whole.data cut.data 2>/dev/null
"$PERFILE" list features whole.data | grep -q 'cmdline: perfile recover' || say "no CMDLINE"
"$PERFILE" list features whole.data | grep -q HOSTNAME || say "no HOSTNAME"

# Gaps in the report.
"$PERFILE" recover --dry-run --report json "$captures/garbage.data" 2>/dev/null |
    grep -q '"offset":"1936","bytes":128,.*"before":{"type":"SAMPLE".*"after":{"type":"COMM"' ||
    say "the report does not tell of the gap"
[ -e x ] && say "a file was written where nothing could be rescued"
exit "$failed"

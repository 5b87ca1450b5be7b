# What convert does to files and says about it, as a user sees it.
set -u
command=convert
. "$PERFILE_SOURCE/tests/cli/expect.inc"

cp "$captures/group.data" group.data
expect 0 "" -o same.data group.data
cmp -s group.data same.data || say "without options something changed"
expect 1 "give -f to replace it" -o same.data group.data
expect 0 "" -f -o same.data group.data
expect 1 "never changed" -f -o group.data group.data
ln -s group.data link.data
expect 1 "never changed" -f -o link.data group.data
cmp -s group.data "$captures/group.data" || say "the input was changed"
expect 2 "missing output: give -o OUT" group.data
expect 2 "missing input: give " -o x
expect 2 "perf.data, pipe, dir, perfmon or archive" --to tar -o x group.data
expect 0 "" --to file -o named.data group.data
cmp -s named.data group.data || say "--to file is not --to perf.data"
expect 2 "little, big or native" --byte-order middle -o x group.data
expect 2 "a level from 1 to 22" --compress=23 -o x group.data
expect 2 "--target takes perf-3" --target 9.9 -o x group.data
expect 0 "perf 3.16 does not know" --target perf-3.16 -o old.data group.data
"$PERFILE" info old.data >/dev/null || say "what was made for perf 3.16 is damaged"
expect 2 "not both" --compress --decompress -o x group.data
expect 2 "--report takes json" --report xml -o x group.data
expect 2 "cannot both go" --report json -o - group.data
expect 1 "No such file" -o x missing.data
expect 1 "empty" -o x "$captures/empty.data"
expect 1 "not a perf.data file" --force -o x "$captures/text.data"
[ -e x ] && say "something was written"

# Standard output: a pipe, and what needs no change; a new file needs to go back to its header.
"$PERFILE" convert --to pipe -o - group.data 2>err | cat >pipe.data
[ "$("$PERFILE" info --header pipe.data | grep -c 'pipe')" = 1 ] || say "no pipe came out: $(cat err)"
"$PERFILE" convert -o - group.data 2>err | cmp -s - group.data || say "to standard output: $(cat err)"
"$PERFILE" convert --to perf.data -o - pipe.data 2>err | cat >none
grep -q "header is written last" err || say "a file into a pipe: $(cat err)"
[ -s none ] && say "a file into a pipe: something was written"
cat group.data | "$PERFILE" convert --to pipe -o - - 2>err | cmp -s - pipe.data || say "from a pipe: $(cat err)"
cat pipe.data | "$PERFILE" convert --to perf.data -o file.data - 2>err || say "pipe to file: $(cat err)"
expect 0 "" -f --to perf.data -o again.data pipe.data
cmp -s file.data again.data || say "a stream and a file of the same bytes differ"

# Directories.
expect 0 "" -o directory "$captures/threads.data"
diff -r directory "$captures/threads.data" >/dev/null || say "a directory changed"
expect 0 "one after the other" --to perf.data -o one.data "$captures/threads.data"
expect 0 "" --to dir -o made group.data
[ -f made/data ] || say "no directory was made"

# A version that knows no directories gets one file, and nothing says otherwise.
expect 0 "does not know feature DIR_FORMAT" --target perf-4.19 -o for-4.19 "$captures/threads.data"
[ -f for-4.19 ] || say "for perf 4.19 a directory was written"
"$PERFILE" validate --for perf-4.19 for-4.19 | grep -qx "for-4.19: perf 4.19 opens it and reads all of it" ||
    say "perf 4.19 does not read what was made for it"
expect 0 "does not know" --target perf-5.10 -o for-5.10 "$captures/threads.data"
[ -f for-5.10/data.0 ] || say "for perf 5.10 no directory was written"
expect 2 "perf-4.19 cannot read directories" --target perf-4.19 --to dir -o x group.data
expect 2 "perf 4.19 knows no COMPRESSED" --target perf-4.19 --compress -o x group.data

# What lies in a directory beside the records is not copied, and that is said by every command.
mkdir made/kcore_dir
cp "$captures/README.md" made/kcore_dir/
expect 0 "made: kcore_dir/README.md holds no records and is not copied" -f -o directory made
touch made/notes
for command in "convert" "filter --every 2" "sort" "merge" "recover"; do
    "$PERFILE" $command -f -o beside.data made 2>&1 | grep -qxE "perfile: made: kcore_dir(/README.md)? and 1 more hold no records and are not copied" ||
        say "$command does not say what it leaves behind"
    rm -rf beside.data
done
command=convert
rm -r made/kcore_dir made/notes

# The list of features of a pipe ends, as the perf that recorded the capture or shall read it ends it.
for options in "convert" "filter" "sort" "merge"; do
    for kind in cpu-clock.data big-endian.data zstd.data stat.data; do
        "$PERFILE" $options --to pipe -f -o ended.data "$captures/$kind" 2>/dev/null
        "$PERFILE" validate ended.data 2>&1 | grep -q V-503 && say "$options $kind: the features do not end"
    done
done
"$PERFILE" split --to pipe --records 20 -o 'ended-%d.data' "$captures/cpu-clock.data" 2>/dev/null
for part in ended-*.data; do
    "$PERFILE" validate "$part" 2>&1 | grep -q V-503 && say "split $part: the features do not end"
done
for version in 4.19:23 5.10:30 6.1:32 7.3:35; do
    "$PERFILE" convert --target "perf-${version%:*}" --to pipe -f -o ended.data group.data 2>/dev/null
    "$PERFILE" validate ended.data 2>&1 | grep -q V-503 && say "for perf ${version%:*} the features do not end"
    [ "$("$PERFILE" dump --format jsonl --type HEADER_FEATURE ended.data 2>/dev/null | grep -o '"feat_id":"[0-9]*"' |
        tail -1)" = "\"feat_id\":\"${version#*:}\"" ] || say "for perf ${version%:*} they end with another number"
done

# Damage.
expect 1 "offset 1936: impossible size" -f -o x "$captures/bad-size.data"
expect 1 "--on-damage copy converts what can be read" -f --to pipe -o x "$captures/bad-size.data"
[ -e x ] && say "something was written of a damaged capture"
expect 3 "outside of records" --force --to pipe -o x "$captures/bad-size.data"
"$PERFILE" info x >/dev/null || say "what was forced is damaged"
expect 3 "the recording was not finished" -f --force -o x "$captures/killed.data"
cmp -s x "$captures/killed.data" || say "a forced copy is not the same"

# Losses.
expect 0 "kept as stored, no table describes that type" -f --byte-order big -o x "$captures/unknown-type.data"
expect 0 "left out" -f --drop-unknown -o x "$captures/unknown-type.data"
expect 0 "29 bytes between or after the parts" -f --to pipe -o x "$captures/trailing-text.data"
expect 0 "" -f --report json --byte-order big -o x "$captures/unknown-type.data"
grep -q '"kind":"records-kept"' out || say "no report: $(cat out)"
expect 0 "COMPRESSED records decompressed" -f --decompress -o x "$captures/zstd.data"
expect 0 "" -f --compress=9 -o y x
[ "$(stat -c %s y)" -lt "$(stat -c %s x)" ] || say "it was not compressed"

# A damaged input is status 3, also where every byte of it is kept.
head -c 1300 "$captures/pipe.data" >cut.data
for how in "--to archive" "--on-damage copy" "--on-damage salvage"; do
    status=0
    # shellcheck disable=SC2086
    "$PERFILE" convert -f $how -o kept cut.data 2>err || status=$?
    [ "$status" = 3 ] || say "convert $how of a damaged capture: status $status"
    [ -s err ] || say "convert $how of a damaged capture: not a word"
done

# Interrupted: neither OUT nor a temporary file stays.
mkdir interrupted
mkfifo fifo
for to in perf.data dir; do
    "$PERFILE" convert --to $to -o interrupted/x fifo 2>err &
    job=$!
    exec 7>fifo
    head -c 2000 pipe.data >&7
    sleep 0.5
    [ -n "$(ls -A interrupted)" ] || say "nothing to interrupt on the way to $to: $(cat err)"
    kill -TERM "$job"
    sleep 0.1
    kill -TERM "$job" # the first one means: to the end of the pipe
    wait "$job"
    exec 7>&-
    [ -z "$(ls -A interrupted)" ] || say "interrupted: $(ls -AR interrupted) stays"
done
# A file that may not grow.
if (ulimit -f 4; "$PERFILE" convert --byte-order big -o interrupted/x "$captures/dwarf.data" 2>err); then
    say "a file that may not grow was written"
fi
grep -q 'File too large' err || say "a file that may not grow: $(cat err)"
[ -z "$(ls -A interrupted)" ] || say "too large: $(ls -A interrupted) stays"
[ "$failed" = 0 ]

# Features that are an empty string stay, in every form.
LC_ALL=C sed 's/demo\x00/\x00\x00\x00\x00\x00/' "$captures/cpu-clock.data" >empty.data
for how in --compress "--byte-order big" "--to pipe" "--to archive"; do
    # shellcheck disable=SC2086
    "$PERFILE" convert $how -f -o copy.data empty.data
    "$PERFILE" list features copy.data | grep -A1 HOSTNAME | grep -q 'string: $' || say "$how: HOSTNAME is gone"
done

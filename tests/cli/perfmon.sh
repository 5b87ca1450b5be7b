#!/bin/bash
# Perfmon buffers through the commands: what they print, and that what they write is what it has to be.
set -eu
captures=$PERFILE_SOURCE/samples/captures
all=$captures/perfmon-all.cpuperf sampling=$captures/perfmon-sampling.cpuperf

# records FILE: the records but for TIME ones without an event, with their times.
records() {
    "$PERFILE" dump --format jsonl "$1" |
        jq -c 'select(.kind == "record" and (.type != 1 or .event != 0)) | [.type, .event, .time, .body]'
}

# has FILE WORD...: a line of it has the words one behind the other, with spaces between.
has() {
    local file=$1 pattern
    shift
    pattern=$(printf '%s[ ]+' "$@")
    grep -Eq -- "${pattern%\[ \]+}" "$file" || { echo "no '$*' in:"; cat "$file"; exit 1; }
}

# fails STATUS WORDS ARGUMENT...: the command fails so, and says so.
fails() {
    local wanted=$1 words=$2 status=0
    shift 2
    "$PERFILE" "$@" >out.txt 2>err.txt || status=$?
    [ "$status" = "$wanted" ] || { echo "$*: status $status"; cat err.txt; exit 1; }
    grep -qF -- "$words" err.txt || { echo "$*: no '$words' in:"; cat err.txt; exit 1; }
}

# Reading: text names every field.
"$PERFILE" info "$all" >out.txt
has out.txt form 'perfmon' 'file,' version 0, little-endian,
has out.txt records 25,
has out.txt state intact
"$PERFILE" dump "$all" >out.txt
for field in version arch flags ticks_per_second capture_end reserved_flags event time count value aspace pc \
    num_branches branches from to info cycles mispred; do
    grep -qw "$field" out.txt || { echo "text does not name $field"; exit 1; }
done
has out.txt arch 1 x86-64
has out.txt time -5
"$PERFILE" dump --hex "$all" >out.txt
has out.txt '0008  00 c8 7e 9a 00 00 00 00' ticks_per_second
"$PERFILE" stats "$all" >out.txt
has out.txt 25 100.0% 1188 total
"$PERFILE" stats - <"$all" | cmp - out.txt
"$PERFILE" validate "$all" >out.txt
for rule in V-807 V-808 V-810 V-811; do grep -q "$rule" out.txt; done
"$PERFILE" validate "$sampling" >out.txt
has out.txt 0 errors, 0 warnings, 0 notes
"$PERFILE" dump --format tsv --type pc --fields time,type,misc,perfmon_pc.pc "$sampling" >out.txt
[ "$(wc -l <out.txt)" = 7 ]
for word in events ids processes threads mappings build-ids features cpus; do
    "$PERFILE" list "$word" "$all" >/dev/null
done

# Not recognized: what a header may not say.
head -c 24 /dev/zero >zeros
fails 1 'no perf.data file' info zeros
{ head -c 8 "$all"; head -c 8 /dev/zero; tail -c +17 "$all"; } >clockless
fails 1 'not a perf.data file' stats clockless
fails 3 'not above 0' stats --from perfmon clockless
fails 1 'not above 0' convert --from perfmon --to perf.data --on-damage stop -o no clockless

# Writing: nothing changes but what has to.
"$PERFILE" convert -o same "$all"
cmp same "$all"
"$PERFILE" convert --to perfmon --on-damage resync -f -o same "$all"
cmp same "$all"
"$PERFILE" convert --to perfmon -o - "$all" | cmp - "$all"
fails 1 'little-endian' convert --byte-order big -o no "$all"
fails 1 'cannot be written as perfmon' convert --to perfmon -o no "$captures/cpu-clock.data"
fails 1 'cannot be compressed' convert --compress -o no "$all"
fails 1 'little-endian file or a pipe' convert --to dir -o no "$all"
[ ! -e no ]

# Filters keep true times.
"$PERFILE" filter --where 'misc == 0x801 && type == PC' -o some "$sampling" 2>/dev/null
records "$sampling" | jq -c 'select(.[0] == 5 and .[1] == 2049)' >wanted
records some | cmp - wanted
[ -s wanted ]
"$PERFILE" validate some | grep -q '0 errors, 0 warnings'
"$PERFILE" filter --time +0.001s.. -f -o some "$sampling" 2>/dev/null
"$PERFILE" filter --invert --time +0.001s.. -o others "$sampling" 2>/dev/null
{ records others; records some; } >both
records "$sampling" | cmp - both

# Sort: exact in ticks, though two of them may be one ns.
"$PERFILE" sort -o sorted "$all" 2>/dev/null
"$PERFILE" dump --format jsonl sorted | jq -r 'select(.time) | .time' >times
sort -c -n times
records "$all" | sort >wanted
records sorted | sort | cmp - wanted

# Parts, and together again.
"$PERFILE" split --records 10 -o 'part-%d' "$sampling" 2>/dev/null
for part in part-*; do records "$part"; done | sort >both
records "$sampling" | sort | cmp - both
fails 2 'input 2 needs an offset' merge -o no part-0 part-1
"$PERFILE" merge --offset 2=0 -o merged part-0 part-1 2>/dev/null
{ records part-0; records part-1; } >wanted
records merged | cmp - wanted

# Several processors are never mixed.
mkdir several
cp "$sampling" several/cpu.0.0.cpuperf
cp "$all" several/cpu.0.7.cpuperf
"$PERFILE" list cpus several >out.txt
has out.txt 7 - - - - 25
for condition in 'cpu == 7' 'has(cpu) && cpu > 0'; do
    "$PERFILE" filter --where "$condition" --to perfmon -f -o seven several 2>/dev/null
    records "$all" >wanted
    records seven | cmp - wanted
done
fails 1 'one CPU' convert --to perfmon -o no several
fails 1 'one CPU' sort -o no several
fails 1 'one CPU' merge -o no several/cpu.0.0.cpuperf several/cpu.0.7.cpuperf
"$PERFILE" sort -o 'sort.%s' several 2>/dev/null
"$PERFILE" merge -o 'merge.%s' several/cpu.0.0.cpuperf several/cpu.0.7.cpuperf 2>/dev/null
"$PERFILE" split --by cpu -o 'split.%s' several 2>/dev/null
cmp split.0 "$sampling"
cmp split.7 "$all"
cmp sort.0 "$sampling"
cmp sort.7 sorted
records sort.7 >wanted
records merge.7 | cmp - wanted
mkdir two
cp "$sampling" two/cpu.0.0.cpuperf
cp "$sampling" two/cpu.1.0.cpuperf
fails 1 'several captures' info two
mkdir unlike none
cp "$sampling" unlike/cpu.0.0.cpuperf
{ head -c 2 "$all"; printf '\2'; tail -c +4 "$all"; } >unlike/cpu.0.1.cpuperf # of another architecture
fails 1 "'cpu.0.0.cpuperf' and 'cpu.0.1.cpuperf' differ in architecture" info unlike
cp "$sampling" none/data
fails 1 "none: has no file PREFIX.ITERATION.TRACE.cpuperf" info --from perfmon none
fails 2 'several inputs are one capture only if' convert --to perf.data -o no "$captures/cpu-clock.data" "$captures/group.data"

# Conversion to perf.data: what is assumed and lost is told and counted.
"$PERFILE" convert --to perf.data --json -o made.data "$all" >report.json
jq -e '.losses == 3 and ([.notes[].kind] | sort | unique == ["assumed", "format"])' report.json >/dev/null
"$PERFILE" info made.data >out.txt
has out.txt state intact
fails 2 'which the capture does not have' convert --to perf.data --rate 0x999=5 -f -o made.data "$all"
fails 1 'only counts become those' convert --to perf.data --stat -f -o made.data "$all"
fails 2 'a rate is of samples' convert --to perf.data --stat --rate 0x801=5 -f -o made.data "$all"
fails 2 'EVENT=N' convert --to perf.data --rate five -f -o made.data "$all"

# Processors that the user says are those of the files as they were given; in a directory, of their names in order.
fails 1 'both of CPU 3' convert --to perf.data --cpu 3,3 -f -o made.data several/cpu.0.0.cpuperf several/cpu.0.7.cpuperf
fails 2 '1 CPUs for 2 buffers' convert --to perf.data --cpu 3 -f -o made.data several
samples_of() { # samples FILE has of CPU
    "$PERFILE" stats --by cpu "$1" | awk -v cpu="$2" '$NF == cpu { print $1 }'
}
"$PERFILE" convert --to perf.data -o zero.data several 2>/dev/null
n=$(samples_of zero.data 0) m=$(samples_of zero.data 7)
[ "$n" ] && [ "$m" ] && [ "$n" != "$m" ]
"$PERFILE" convert --to perf.data --cpu 5,2 -o given.data several/cpu.0.0.cpuperf several/cpu.0.7.cpuperf 2>/dev/null
[ "$(samples_of given.data 5)" = "$n" ] && [ "$(samples_of given.data 2)" = "$m" ]
"$PERFILE" convert --to perf.data --cpu 5,2 -f -o given.data several/cpu.0.7.cpuperf several/cpu.0.0.cpuperf 2>/dev/null
[ "$(samples_of given.data 5)" = "$m" ] && [ "$(samples_of given.data 2)" = "$n" ]
cp "$sampling" first # without names of buffers the files are of processors 0, 1, ... in their order
cp "$all" second
"$PERFILE" convert --to perf.data -f -o given.data second first 2>/dev/null
[ "$(samples_of given.data 0)" = "$m" ] && [ "$(samples_of given.data 1)" = "$n" ]
"$PERFILE" convert --to perf.data --cpu 9,4 -f -o given.data several 2>/dev/null
[ "$(samples_of given.data 9)" = "$n" ] && [ "$(samples_of given.data 4)" = "$m" ]

# Sort and merge make perf.data of the buffers of all processors, as convert does.
"$PERFILE" sort --to perf.data -o sorted.data several 2>/dev/null
cmp sorted.data zero.data
"$PERFILE" merge --to perf.data -o merged.data several/cpu.0.0.cpuperf several/cpu.0.7.cpuperf 2>/dev/null
cmp merged.data zero.data
"$PERFILE" sort --to pipe -o - several 2>/dev/null | "$PERFILE" stats --type sample - >out.txt
has out.txt $((n + m)) 100.0%
fails 2 'do not apply' merge --to perf.data --offset 2=1s -f -o merged.data several/cpu.0.0.cpuperf several/cpu.0.7.cpuperf

# Archives have every byte, and the names of the files of a directory; what is damaged, too.
for file in "$all" "$sampling" "$captures/perfmon-counting.cpuperf" "$captures/perfmon-empty.cpuperf"; do
    "$PERFILE" convert --to archive -f -o one.perfile "$file" 2>/dev/null
    "$PERFILE" convert -f -o back one.perfile
    cmp back "$file"
    for form in jsonl text; do
        "$PERFILE" dump --format $form "$file" >wanted
        "$PERFILE" dump --format $form one.perfile | cmp - wanted
    done
done
"$PERFILE" convert --to archive -o several.perfile several
"$PERFILE" validate several.perfile | grep -q ' 0 errors'
"$PERFILE" convert -o again several.perfile
diff -r several again
"$PERFILE" convert -o copied several
diff -r several copied
"$PERFILE" convert -f -o copied several.perfile
diff -r several copied
"$PERFILE" dump --format jsonl several >wanted
"$PERFILE" dump --format jsonl several.perfile | cmp - wanted
"$PERFILE" convert --to perf.data -o unpacked.data several.perfile 2>/dev/null
cmp unpacked.data zero.data
"$PERFILE" convert --to archive -o captures.perfile "$sampling" several "$all"
"$PERFILE" convert --source 2 -f -o again captures.perfile
diff -r several again
"$PERFILE" convert --source 3 -f -o back captures.perfile
cmp back "$all"
head -c 700 "$all" >cut
cp "$all" bad
printf '\x09' | dd of=bad bs=1 seek=400 conv=notrunc status=none
for file in cut bad; do
    "$PERFILE" convert --to archive -f -o one.perfile $file 2>/dev/null || [ $? = 3 ]
    "$PERFILE" convert -f -o back one.perfile 2>/dev/null || [ $? = 3 ]
    cmp back $file
done
"$PERFILE" convert --to pipe -o - - <"$sampling" 2>/dev/null | "$PERFILE" stats --type sample - >out.txt
has out.txt 20 100.0% 1528 total

# Exports say where a buffer is damaged, as all commands do.
status=0
"$PERFILE" export --to folded cut >out.txt 2>err.txt || status=$?
[ "$status" = 3 ] && [ -s out.txt ]
has err.txt cut: offset 156: a record runs past the end
"$PERFILE" stats --by sym cut >out.txt 2>err.txt || [ $? = 3 ]
has err.txt cut: offset 156: a record runs past the end

# Cut, and with a wrong end.
"$PERFILE" recover -o rest cut 2>err.txt || [ $? = 3 ]
if grep sample err.txt; then exit 1; fi # perfmon has records of other names
"$PERFILE" validate rest >out.txt
has out.txt 0 errors,
cp "$all" end
printf '\5\0' | dd of=end bs=1 seek=16 conv=notrunc status=none
"$PERFILE" recover --from perfmon -o whole end 2>err.txt || [ $? = 3 ]
cmp whole "$all"
cp "$all" end
printf '\0\2' | dd of=end bs=1 seek=16 conv=notrunc status=none
"$PERFILE" recover -f -o whole end 2>err.txt || [ $? = 3 ]
cmp whole "$all"

# Those of a directory one by one, under the numbers of their processors.
mkdir damaged
cp end damaged/cpu.0.1.cpuperf
cp "$sampling" damaged/cpu.0.4.cpuperf
fails 1 'one CPU' recover -o no damaged
status=0
"$PERFILE" recover -o 'good.0.%d.cpuperf' damaged 2>err.txt || status=$?
[ "$status" = 3 ]
cmp good.0.1.cpuperf "$all"
cmp good.0.4.cpuperf "$sampling"

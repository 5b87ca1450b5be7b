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
fails 2 'pass --offset 2=TIME' merge -o no part-0 part-1
"$PERFILE" merge --offset 2=0 -o merged part-0 part-1 2>/dev/null
{ records part-0; records part-1; } >wanted
records merged | cmp - wanted

# Several processors are never mixed.
mkdir several
cp "$sampling" several/cpu.0.0.cpuperf
cp "$all" several/cpu.0.7.cpuperf
"$PERFILE" list cpus several >out.txt
has out.txt 7 - - - - 25
fails 1 'one processor' convert --to perfmon -o no several
fails 1 'one processor' sort -o no several
fails 1 'one processor' merge -o no several/cpu.0.0.cpuperf several/cpu.0.7.cpuperf
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
fails 2 'several inputs are one capture only if' convert --to perf.data -o no "$captures/cpu-clock.data" "$captures/group.data"

# Conversion to perf.data: what is assumed and lost is told and counted.
"$PERFILE" convert --to perf.data --json -o made.data "$all" >report.json
jq -e '.losses == 2 and ([.notes[].kind] | sort | unique == ["assumed", "format"])' report.json >/dev/null
"$PERFILE" info made.data >out.txt
has out.txt state intact
fails 2 'which the capture does not have' convert --to perf.data --rate 0x999=5 -f -o made.data "$all"
fails 2 'EVENT=N' convert --to perf.data --rate five -f -o made.data "$all"
fails 2 'ascending order' convert --to perf.data --cpu 3,3 -f -o made.data several/cpu.0.0.cpuperf several/cpu.0.7.cpuperf
"$PERFILE" convert --to pipe -o - - <"$sampling" 2>/dev/null | "$PERFILE" stats --type sample - >out.txt
has out.txt 20 100.0% 1528 total

# Cut, and with a wrong end.
head -c 700 "$all" >cut
"$PERFILE" recover -o rest cut 2>err.txt || [ $? = 3 ]
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

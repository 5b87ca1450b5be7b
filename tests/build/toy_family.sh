#!/bin/bash
# A family of records needs a room and its line in format/families.def, and nothing else: the toy family (toy/)
# is put into a copy of the sources, and every command is tried on its captures.
#
# Its records are unlike those of perf.data wherever that was possible: headers of 4 bytes, numbers of 16 bits, types
# that are others there, no attrs and no events, and times that a record says for those behind it.
set -eu
toy="$PERFILE_SOURCE/tests/build/toy"

mkdir copy
cp -r "$PERFILE_SOURCE"/{src,format,include,cmake,tests,CMakeLists.txt} copy/
mkdir copy/src/toy
cp "$toy"/*.[ch] "$toy"/records.def copy/src/toy/
sed -i 's/^FAMILY(perfmon, .*/&\nFAMILY(toy, 3)/' copy/format/families.def

echo "what the toy family is, beside its room:"
diff -ru "$PERFILE_SOURCE/format" copy/format || true
diff -ru "$PERFILE_SOURCE/src" copy/src || true
diff -ru "$PERFILE_SOURCE/include" copy/include || true
wc -l copy/src/toy/*
# One line more, and one new folder.
[ "$(diff -ru "$PERFILE_SOURCE/format" copy/format | grep -c '^[-+][^-+]')" = 1 ]
[ "$(diff -r "$PERFILE_SOURCE/src" copy/src)" = "Only in copy/src: toy" ]

cmake -S copy -B out -DCMAKE_BUILD_TYPE=Debug -DCMAKE_C_FLAGS_DEBUG=-O0 -DPERFILE_WERROR=ON \
    -DPERFILE_BUILD_TESTS=OFF -DPERFILE_BUILD_SAMPLES=OFF >cmake.log || { cat cmake.log; exit 1; }
cmake --build out -j 2 --target perfile_command >build.log 2>&1 || { tail -40 build.log; exit 1; }
perfile=$PWD/out/perfile

python3 "$toy/make.py" one.toy '<' 1
python3 "$toy/make.py" big.toy '>' 1
python3 "$toy/make.py" two.toy '<' 2
cp "$PERFILE_SOURCE/samples/captures/cpu-clock.data" other.data

# run STATUS ARGUMENT...: the command ends so; what it prints is in `out` and `err`.
run() {
    local wanted=$1 status=0
    shift
    "$perfile" "$@" >out.txt 2>err.txt || status=$?
    if [ "$status" != "$wanted" ]; then
        echo "perfile $*: status $status, not $wanted"
        cat out.txt err.txt
        exit 1
    fi
}

# has FILE WORD...: a line of it has the words one behind the other, with spaces between.
has() {
    local file=$1 pattern
    shift
    pattern=$(printf '%s[ ]+' "$@")
    grep -Eq -- "${pattern%\[ \]+}" "$file" || { echo "no '$*' in:"; cat "$file"; exit 1; }
}

# What the events are, without their places: time, processor, process and thread, code, value.
events() {
    "$perfile" dump --format tsv --fields type,time,cpu,pid,tid,toy_event.code,toy_event.value "$1" |
        grep '^TOY_EVENT'
}

# Reading, in both byte orders.
run 0 info one.toy
has out.txt form 'toy' 'file,' version '1,' 'little-endian,'
has out.txt records 296,
has out.txt time 0.001000000 to
run 0 info --json big.toy
grep -q '"form":"toy"' out.txt
for word in events ids processes threads mappings build-ids features; do
    run 0 list "$word" one.toy
done
run 0 list cpus one.toy
has out.txt 3 - - - - 50
run 0 stats one.toy
has out.txt 200 67.6% 2800 TOY_EVENT
has out.txt 68 23.0% 680 TOY_TIME
has out.txt 3 1.0% 45 TOY_TASK
run 0 stats --by pid one.toy
run 0 validate one.toy
has out.txt 0 errors, 0 warnings,
run 0 dump one.toy
has out.txt 'comm' '"task10"'
run 0 dump --hex one.toy
has out.txt 'type' '3,' size 15
run 0 dump --format cbor one.toy
for order in one big; do
    run 0 dump --format jsonl "$order.toy"
    grep '"kind":"record"' out.txt >"$order.jsonl"
    [ "$(wc -l <"$order.jsonl")" = 296 ]
    jq -e . "$order.jsonl" >/dev/null
done
cmp one.jsonl big.jsonl
[ "$(jq -r 'select(.name == "TOY_EVENT" and .type == 9) | .body.cpu' one.jsonl | sort | uniq -c | wc -l)" = 4 ]
"$perfile" stats - <one.toy >piped.txt
"$perfile" stats one.toy | cmp - piped.txt

# Writing.
run 0 convert -o same.toy one.toy
cmp one.toy same.toy
run 0 convert --byte-order big -o turned.toy one.toy
cmp big.toy turned.toy
run 0 convert --byte-order little -o back.toy turned.toy
cmp one.toy back.toy
run 0 convert --to toy -f -o same.toy one.toy
cmp one.toy same.toy
run 1 convert --to perf.data -o no.data one.toy
has err.txt 'toy cannot be written as perf.data'
run 1 convert --to toy -o no.toy other.data
has err.txt 'perf.data cannot be written as toy'
run 1 convert --to dir -o no.dir one.toy
run 1 convert --compress -o no.toy one.toy
run 1 convert --target perf-6.1 -o no.toy one.toy
[ ! -e no.data ] && [ ! -e no.toy ] && [ ! -e no.dir ]

run 0 sort -o sorted.toy one.toy
has err.txt 1 record was out of time order
run 0 validate sorted.toy
events one.toy | sort -s -t"$(printf '\t')" -k2,2n >wanted.tsv
events sorted.toy | cmp - wanted.tsv
run 0 sort -o again.toy sorted.toy
cmp sorted.toy again.toy
"$perfile" sort - -o - <big.toy 2>/dev/null >piped.toy
events piped.toy | cmp - wanted.tsv

# Filters, by what the events say themselves and by the time that stands before them.
check_filter() { # AWK-CONDITION ARGUMENT...
    local condition=$1
    shift
    run 0 filter -f "$@" -o some.toy one.toy
    events one.toy | awk -F'\t' "$condition" >wanted.tsv
    events some.toy | cmp - wanted.tsv
    [ -s wanted.tsv ] || { echo "nothing fits $condition"; exit 1; }
    run 0 validate some.toy
}
check_filter '$4 == 20' --pid 20
"$perfile" dump some.toy | grep -q task20 # whose events are kept has its name
check_filter '$3 == 1 || $3 == 3' --cpu 1,3
check_filter '$2 >= 1500000 && $2 <= 2000000' --time 0.0015,0.002
check_filter '$5 == 31 && $2 >= 1700000' --tid 31 --time 0.0017,
check_filter '1' --type toy_event
check_filter '$4 != 10' --invert --pid 10
check_filter '$7 > 100' --where 'toy_event.value > 100'
check_filter '$3 == 2 && $2 >= 1700000' --where 'type == TOY_EVENT && cpu == 2 && time >= 1700000'
check_filter 'NR <= 7' --type toy_event --head 7
run 0 filter -f --pid 99 -o some.toy one.toy
has err.txt no sample is selected

# Parts, each of which says the times of its events itself.
rm -f part-*
for by in '--records 50' '--by pid' '--by cpu' '--every 1ms' '--size 1k'; do
    # shellcheck disable=SC2086
    run 0 split $by -o 'part-%d.toy' one.toy
    for part in part-*.toy; do
        run 0 validate "$part"
        events "$part" || true
    done | sort >parts.tsv
    events one.toy | sort | cmp - parts.tsv
    rm part-*.toy
done

# Two clocks that nobody knows.
run 2 merge -o merged.toy one.toy two.toy
has err.txt --offset IN=TIME
run 0 merge --offset 2=0 -o merged.toy one.toy two.toy
run 0 validate merged.toy
{ events one.toy; events two.toy; } | sort >wanted.tsv
events merged.toy | sort | cmp - wanted.tsv
events merged.toy | sort -c -s -t"$(printf '\t')" -k2,2n
run 0 merge -f --offset 2=5000ns -o merged.toy one.toy two.toy
{ events one.toy; events two.toy | awk -F'\t' -v OFS='\t' '{ $2 += 5000; print }'; } | sort >wanted.tsv
events merged.toy | sort | cmp - wanted.tsv
run 0 merge -f --align start -o merged.toy big.toy two.toy
run 2 merge -f --offset 2=0 -o mixed.toy one.toy other.data
[ ! -e mixed.toy ]

# What is cut, and what is not known.
head -c 1000 one.toy >cut.toy
for command in info stats dump validate; do
    run 3 "$command" cut.toy
done
for command in 'sort' 'filter --pid 10' 'convert --on-damage stop' recover; do
    # shellcheck disable=SC2086
    run 3 $command -f -o rest.toy cut.toy
    run 0 validate rest.toy
done
run 1 convert -o no.toy cut.toy
{ cat one.toy; printf '\x63\x00\x08\x00\x01\x02\x03\x04'; } >new.toy
run 0 validate new.toy
has out.txt type 99 are not known
run 0 convert -f -o same.toy new.toy
cmp new.toy same.toy
run 0 dump new.toy
has out.txt type 99

# The rooms know their new neighbour.
PERFILE_SOURCE=$PWD/copy bash copy/tests/build/rooms.sh

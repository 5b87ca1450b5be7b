#!/bin/bash
# The next kernel breaks no program.  A copy of the tables gets what a next kernel and a next version of ours bring: an
# attr of 152 bytes, bits of sample_type, read_format and branch_sample_type with their fields, a member of a nested
# struct, a record, a feature, a rule and a kind between those that are there.  Programs that were compiled with the
# headers as they are run with the library as it is and with that of the copy, and have to do the same: the
# sample programs, and the unit tests, laws and fuzz targets that need nothing but the shared library.
#
# They are linked anew from the objects of the build, so that they have no path of a library in them.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3

# The tables of the next kernel.  take TABLE LAYOUT ROOM WORDS [FLAGS]: puts the rows that it reads in front of the
# ROOM of a layout, whose words and flags they take.
take() {
    awk -v room="ROOM($2, $3, " -v words="$4" -v flags="${5:-0}" '
        NR == FNR { rows = rows $0 "\n"; next }
        index($0, room) == 1 {
            split(substr($0, length(room) + 1), kept, /[^0-9]+/)
            left = kept[1] - words
            printf "%s", rows
            print room left ", " kept[2] - flags ")"
            found = 1
            next
        }
        { print }
        END { exit !found }' - "$copy/format/$1" >table || { echo "no $2 $3 in $1"; exit 1; }
    mv table "$copy/format/$1"
}

# behind TABLE PATTERN: puts the rows that it reads behind the first line that has the pattern.
behind() {
    awk -v pattern="$2" '
        NR == FNR { rows = rows $0 "\n"; next }
        { print }
        !found && $0 ~ pattern { printf "%s", rows; found = 1 }
        END { exit !found }' - "$copy/format/$1" >table || { echo "no $2 in $1"; exit 1; }
    mv table "$copy/format/$1"
}

# next_kernel FOLDER: a copy with such tables.
next_kernel() {
    copy=$1
    mkdir "$copy"
    cp -r "$PERFILE_SOURCE"/{src,format,include,cmake,CMakeLists.txt} "$copy/"

    take structs.def attr reserved 1 <<<'ATTR(attr, u64, config5, CONFIG, "PMU specific")'
    behind versions.def '^PERF\(V7_3,' <<<'PERF(V7_4, "7.4", 152, 35)'
    behind versions.def '^KNOWS\(V7_3,' <<<'KNOWS(V7_4, 41, 6, 21, 41, 3, 0, 1)'

    behind words.def '^BITS\(sample_type, WEIGHT_STRUCT,' <<'ROWS'
BITS(sample_type, NEXT, 25, 1, none, "NEXT", "")
BITS(sample_type, FAR, 40, 1, none, "FAR", "")
ROWS
    take sample.def sample reserved 1 <<'ROWS'
SAMPLE(sample, NEXT)
FIELD(sample, u64, next, HEX, "a field of a test")
END_WHEN(sample)
ROWS
    take sample.def sample reserved2 3 <<'ROWS'
SAMPLE(sample, FAR)
FIELD(sample, u64, far_size, COUNT, "bytes")
BLOB(sample, far, OPAQUE, o->far_size, "of a bit that is no int")
END_WHEN(sample)
ROWS
    behind words.def '^BITS\(read_format, LOST,' <<<'BITS(read_format, NEXT, 5, 1, none, "NEXT", "")'
    take structs.def read_values reserved 1 1 <<'ROWS'
WHEN(read_values, has_next, !o->has_group && k->read_format & PERFILE_FORMAT_NEXT)
FIELD(read_values, u64, next, DEC, "a member of a test")
END_WHEN(read_values)
ROWS
    behind structs.def '^FIELD\(read_entry, u64, lost,' <<'ROWS'
END_WHEN(read_entry)
WHEN(read_entry, has_next, k->read_format & PERFILE_FORMAT_NEXT)
FIELD(read_entry, u64, next, DEC, "a member of a test")
ROWS
    behind words.def '^BITS\(branch_sample_type, COUNTERS,' <<<'BITS(branch_sample_type, NEXT, 20, 1, none, "NEXT", "")'
    take structs.def branch_stack reserved 3 1 <<'ROWS'
WHEN(branch_stack, has_next, k->branch_sample_type & PERFILE_BRANCH_NEXT)
WORDS(branch_stack, u64, next, HEX, o->nr, "words of a test")
END_WHEN(branch_stack)
ROWS

    behind records.def '^END\(comm\)' <<'ROWS'
RECORD(next_record, 40, NEXT_RECORD, K, 16, BEYOND, DATA, V7_4, NONE, "a record of a test")
FIELD(next_record, u64, next, NEXT, "a field of it")
USE(next_record, read_values, values, GROUP, "counters")
END(next_record)
ROWS
    behind features.def '^END\(hostname\)' <<'ROWS'
FEATURE(next_feature, 60, NEXT_FEATURE, P, BEYOND, "a feature of a test")
FIELD(next_feature, u64, next, NEXT, "a field of it")
END(next_feature)
ROWS
    behind merging.def '^MERGE_FEATURE\(HOSTNAME,' <<<'MERGE_FEATURE(NEXT_FEATURE, SAME)'
    behind rules.def '^RULE\(V_110,' \
        <<<'RULE(V_180, "V-180", error, none, attr, "a rule of a test", "it is between others", "none")'
    local kinds
    kinds=$(grep -c '^KIND(' "$copy/format/kinds.def")
    behind kinds.def '^KIND\(TIME,' <<<"KIND(NEXT, $kinds, \"next\", DEC, none, \"a kind of a test\")"
    bash "$copy/src/schema/headers/update.sh" "$copy"
    grep -q 'PERFILE_ATTR_SIZE = 152' "$copy/include/perfile/abi.h"
}

# places HEADERS: where each member of each public struct stands, and how long it is.
places() {
    python3 "$PERFILE_SOURCE/tests/build/lib/places.py" "$PERFILE_SOURCE/include/perfile" >places.c
    "$PERFILE_CC" -std=c11 -w -I"$1" -o places places.c
    ./places
}

# moved HEADERS: prints what does not stand where it stood.
moved() {
    places "$1" >places.new
    diff places.old places.new | grep '^[<>]' || true
}

# The tables, and those of people who forgot something.
next_kernel next
places "$PERFILE_SOURCE/include" >places.old
[ "$(wc -l <places.old)" -gt 900 ]
moved next/include >moved.txt
[ ! -s moved.txt ] || { echo "members that moved:"; cat moved.txt; exit 1; }
# forget NAME TABLE SED: a copy of the tables only, changed once more.
forget() {
    mkdir -p "$1/src/schema" "$1/include"
    cp -r next/format "$1/"
    cp -r next/src/schema/headers "$1/src/schema/"
    cp -r next/include/perfile "$1/include/"
    sed -i "$3" "$1/format/$2"
    ! cmp -s "next/format/$2" "$1/format/$2" || { echo "self-check: nothing in $2 for $3"; exit 1; }
    bash "$1/src/schema/headers/update.sh" "$1"
}
must_see() {
    moved "$1/include" >moved.txt
    [ -s moved.txt ] || { echo "self-check: does not see $1"; exit 1; }
}
forget not_lowered structs.def 's/^ROOM(read_values, reserved, 0,/ROOM(read_values, reserved, 1,/'
must_see not_lowered
forget no_flag_off structs.def 's/^ROOM(read_values, reserved, 0, 4)/ROOM(read_values, reserved, 0, 5)/'
must_see no_flag_off
forget in_the_middle sample.def '0,/^SAMPLE(sample, IP)/s//FIELD(sample, u64, early, HEX, "too early")\n&/'
must_see in_the_middle
forget used_up structs.def 's/^ROOM(attr, reserved, [0-9]*,/ROOM(attr, reserved, -1,/'
! "$PERFILE_CC" -std=c11 -Iused_up/include -fsyntax-only -include perfile/perfile.h -xc /dev/null 2>/dev/null ||
    { echo "self-check: a ROOM of fewer words than none compiles"; exit 1; }

# The library of the next kernel.
{
    "$PERFILE_CMAKE" -S next -B next.build -DCMAKE_C_COMPILER="$PERFILE_CC" -DCMAKE_BUILD_TYPE=None \
        -DCMAKE_C_FLAGS=-O0 -DPERFILE_BUILD_TESTS=OFF -DPERFILE_BUILD_SAMPLES=OFF &&
        "$PERFILE_CMAKE" --build next.build --target perfile_shared -j2
} >next.log 2>&1 || { tail -40 next.log; exit 1; }

# Programs.
objects() { # objects TARGET: those of a target of the build; trees that other tests build are inside of it
    [ ! -d "$PERFILE_BUILD/CMakeFiles/$1.dir" ] || find "$PERFILE_BUILD/CMakeFiles/$1.dir" -name '*.o' | sort
}
read -ra flags <<<"$PERFILE_CFLAGS"
# What helpers of tests have of the library's inside is of one room, which keeps nothing; they get a copy of it.
objects perfile_objects | grep '/src/base/' | xargs ar rcs base.a
mkdir programs
link() { # link PROGRAM OBJECT...: false where it needs more than the shared library
    local program=$1
    shift
    "$PERFILE_CC" "${flags[@]}" -o "programs/$program" "$@" base.a -L"$PERFILE_BUILD" -lperfile -lzstd -lcbor \
        -lpthread ${with_cmocka:+-lcmocka} 2>link.log
}
n_samples=0
for source in "$PERFILE_SOURCE"/samples/*.c; do
    name=$(basename "$source" .c)
    mapfile -t own < <(objects "sample_$name")
    [ "${#own[@]}" = 1 ] || { echo "not tried: samples/, which are not built"; n_samples=0; break; }
    # One sample needs the mutator, too, which is a program that uses the shared library.
    link "sample_$name" "${own[@]}" $(find "$PERFILE_BUILD" -maxdepth 1 -name 'libperfile-fuzz.a') || { cat link.log; exit 1; }
    n_samples=$((n_samples + 1))
done
tests=()
! pkg-config --exists cmocka || with_cmocka=yes
for folder in "$PERFILE_BUILD"/tests/CMakeFiles/{unit,law}_*.dir "$PERFILE_BUILD"/fuzz/CMakeFiles/fuzz_*.dir; do
    [ -d "$folder" ] || continue
    name=$(basename "$folder" .dir)
    mapfile -t own < <(find "$folder" -name '*.o')
    [ "${#own[@]}" = 0 ] || ! link "$name" "${own[@]}" || tests+=("$name")
done

# run NAME COMMAND...: output and status are $out/NAME.…, what it writes is in $out/NAME.files.
run() {
    local name=$1 status=0
    shift
    mkdir "$out/$name.files"
    (cd "$out/$name.files" && exec "$@") >"$out/$name.out" 2>"$out/$name.err" </dev/null || status=$?
    echo "$status" >"$out/$name.rc"
}

programs=$PWD/programs
captures=("$PERFILE_SOURCE"/samples/captures/*.data)
try_all() { # try_all LIBRARY FOLDER
    export LD_LIBRARY_PATH=$1
    out=$PWD/$2
    mkdir "$out"
    local capture name word
    for capture in "${captures[@]}"; do
        name=$(basename "$capture" .data)
        [ "$n_samples" -gt 0 ] || continue
        for word in print_fields times check_while_reading count_by_comm; do
            run "$word.$name" "$programs/sample_$word" "$capture"
        done
        run "where.$name" "$programs/sample_where" 'type == SAMPLE && ip > 0x400000' "$capture"
    done
    if [ "$n_samples" -gt 0 ]; then
        for word in file pipe directory; do
            run "generate.$word" "$programs/sample_generate" out.data "$word"
        done
    fi
    for name in "${tests[@]}"; do
        case $name in
        fuzz_*) run "$name" timeout 300 "$programs/$name" "$PERFILE_SOURCE/fuzz/corpus/${name#fuzz_}" ;;
        *) run "$name" timeout 300 "$programs/$name" ;;
        esac
    done
}

try_all "$PERFILE_BUILD" with_this &
this=$!
try_all "$PWD/next.build" with_next
wait "$this"
# Tests that make allocations fail cannot do that from outside of the library.
n_tests=0
for name in "${tests[@]}"; do
    if [ "$(cat "with_this/$name.rc")" = 0 ]; then
        n_tests=$((n_tests + 1))
    else
        echo "left out, does not pass with the shared library: $name"
        rm -rf with_{this,next}/"$name".*
    fi
done
n_runs=$(find with_this -name '*.rc' | wc -l)
diff -r with_this with_next >differences.txt || { head -60 differences.txt; exit 1; }
echo "$n_runs runs: sample programs (not record, which needs a kernel), $n_tests tests:"
echo "${tests[*]}"
[ "$n_runs" -gt 150 ]

# The comparison sees a program whose structs are not those of the library.
if [ -x programs/unit_encode ] && [ -x programs/unit_vectors ]; then
    for way in not_lowered in_the_middle; do
        for name in encode vectors; do
            "$PERFILE_CC" -std=c11 -w -O0 -D_DEFAULT_SOURCE -I"$way/include" -I"$PERFILE_SOURCE/src" \
                -I"$PERFILE_SOURCE" -I"$PERFILE_SOURCE/tests" -c "$PERFILE_SOURCE/tests/unit/test_$name.c" -o program.o
            link "unit_$name" program.o || { cat link.log; exit 1; }
        done
        tests=(unit_encode unit_vectors)
        captures=()
        n_samples=0
        try_all "$PERFILE_BUILD" "with_$way"
        ! { diff -r "with_$way/unit_encode.out" with_this/unit_encode.out &&
            diff -r "with_$way/unit_vectors.out" with_this/unit_vectors.out; } >/dev/null ||
            { echo "self-check: programs with $way do the same"; exit 1; }
    done
fi

#!/bin/bash
# Perfmon buffers, as samples/make_perfmon makes them: `dump --format jsonl` prints what the contract asks for, and
# Debian's perf shows of the converted file what the buffers hold, both computed from the bytes by perfmon.py.
set -eu
. "$PERFILE_SOURCE/tests/chosen.bash"
here=$(dirname "$0")
make=$PERFILE_BUILD/samples/make_perfmon
captures=$PERFILE_SOURCE/samples/captures
[ -x "$make" ] || { echo "no samples were built"; exit 77; }

# dump BUFFER: the lines of the dump, and the exit status, are those that the buffer asks for.
dump() {
    local status=0
    "$PERFILE" dump --from perfmon --format jsonl "$1" >dump.jsonl 2>/dev/null || status=$?
    python3 "$here/perfmon.py" dump "$1" dump.jsonl "$status"
}

# converted [OPTION...] -- CPU=BUFFER...: the buffers as perf.data, and as perf shows it.
converted() {
    local options=() model=() files=() buffer
    while [ "$1" != -- ]; do
        case $1 in
        --layout=*) model+=(-l "${1#*=}") ;;
        --rate=*) model+=(-r "${1#*=}") ;;
        esac
        options+=("$1")
        shift
    done
    shift
    for buffer in "$@"; do files+=("${buffer#*=}"); done
    "$PERFILE" convert --to perf.data -f ${options[@]+"${options[@]}"} -o made.data "${files[@]}" 2>notes.txt
    "$PERFILE" dump --format jsonl made.data >made.jsonl
    local script=-
    if command -v perf >/dev/null; then
        perf script -D -i made.data >script.txt 2>/dev/null
        script=script.txt
        perf report --stats -i made.data >stats.txt 2>/dev/null
    fi
    python3 "$here/perfmon.py" convert ${model[@]+"${model[@]}"} made.jsonl "$script" "$@"
    "$PERFILE" validate made.data >verdict.txt || { cat verdict.txt; exit 1; }
    # A stream has the same records.
    "$PERFILE" convert --to pipe ${options[@]+"${options[@]}"} -o - "${files[@]}" 2>/dev/null |
        "$PERFILE" dump --format jsonl - | jq -c 'select(.name == "PERF_RECORD_SAMPLE").body' >piped.jsonl
    jq -c 'select(.name == "PERF_RECORD_SAMPLE").body' made.jsonl | cmp - piped.jsonl
}

# exported INPUT: what `export` and `stats` make of a buffer, or of a directory of them, is what they make of made.data,
# into which it was converted without options.
exported() {
    local form title
    for form in $forms; do
        title=() # else they are called by the name of the file
        case $form in flamegraph | speedscope | firefox | chrome) title=(--title same) ;; esac
        "$PERFILE" export --to "$form" ${title[@]+"${title[@]}"} -f -o ours "$1" 2>export.txt
        "$PERFILE" export --to "$form" ${title[@]+"${title[@]}"} -f -o theirs made.data 2>/dev/null
        cmp ours theirs
    done
    grep -q ' samples, ' export.txt
    "$PERFILE" stats --by comm,sym --json "$1" 2>/dev/null | jq -c .rows >ours
    "$PERFILE" stats --by comm,sym --json made.data 2>/dev/null | jq -c .rows >theirs
    cmp ours theirs
}

# counted CPU=BUFFER...: the buffers as perf stat record would have counted.
counted() {
    local files=() buffer report=-
    for buffer in "$@"; do files+=("${buffer#*=}"); done
    "$PERFILE" convert --to perf.data --stat -f -o counted.data "${files[@]}" 2>notes.txt
    "$PERFILE" validate counted.data >verdict.txt || { cat verdict.txt; exit 1; }
    "$PERFILE" dump --format jsonl counted.data >counted.jsonl
    if command -v perf >/dev/null; then
        report=report.txt
        perf stat -x, report -i counted.data >report.txt 2>&1
    fi
    python3 "$here/perfmon.py" stat counted.jsonl "$report" "$@"
}

forms=$("$PERFILE" export --help | grep -oE '\b(folded|flamegraph|pprof|speedscope|firefox|perfetto|chrome)\b' | sort -u)
for arch in 0 1 2; do
    for kind in all empty sampling counting; do
        "$make" "$kind-$arch.cpuperf" "$kind" "$arch" 60 "$arch"
        dump "$kind-$arch.cpuperf"
        if chosen; then
            converted -- "0=$kind-$arch.cpuperf"
            [ "$kind" = empty ] || exported "$kind-$arch.cpuperf"
        fi
        ! chosen || converted --layout=b -- "0=$kind-$arch.cpuperf"
    done
    ! chosen || converted --rate=0x801=10007 --rate=0xc07=3 -- "0=sampling-$arch.cpuperf"
done
for capture in "$captures"/perfmon-*.cpuperf; do dump "$capture"; done

# Several processors, by the names of their files and as a directory.
mkdir several
for cpu in 0 1 2 11; do "$make" "several/run.7.$cpu.cpuperf" sampling 1 50 "$((cpu + 5))"; done
"$make" several/run.7.3.cpuperf all 1
cpus=()
for cpu in 0 1 2 3 11; do cpus+=("$cpu=several/run.7.$cpu.cpuperf"); done
converted --rate=0x801=10007 -- "${cpus[@]}"
cp made.data files.data
"$PERFILE" convert --to perf.data -f --rate 0x801=10007 -o made.data several 2>/dev/null
cmp files.data made.data
"$PERFILE" convert --to perf.data -f -o made.data several 2>/dev/null
exported several

# Counts, of one processor and of several.
for arch in 0 1 2; do
    "$make" "totals.1.$arch.cpuperf" totals "$arch" 7 "$arch"
    counted "$arch=totals.1.$arch.cpuperf"
done
for cpu in 0 2 5; do
    "$make" counting.cpuperf counting 1 40 "$cpu"
    "$PERFILE" filter --where 'type == COUNT' -o "counts.1.$cpu.cpuperf" counting.cpuperf 2>/dev/null
done
"$make" counts.1.3.cpuperf totals 1 3 # has no COUNT of some events
counted 0=counts.1.0.cpuperf 2=counts.1.2.cpuperf 3=counts.1.3.cpuperf 5=counts.1.5.cpuperf

# What is cut or wrong is told as the contract says.
all=all-1.cpuperf
for n in 0 10 23 24 25 28 50 100 1000 1211; do
    head -c "$n" "$all" >cut.cpuperf
    dump cut.cpuperf
done
# wrong OFFSET BYTES: the same with these bytes (of printf) there.
wrong() {
    cp "$all" wrong.cpuperf
    # shellcheck disable=SC2059
    printf "$2" | dd of=wrong.cpuperf bs=1 seek="$1" conv=notrunc status=none
    dump wrong.cpuperf
}
wrong 0 '\1'
wrong 2 '\7'
wrong 4 '\376'
wrong 15 '\200'
wrong 16 '\5\0'
wrong 16 '\0\1'
wrong 17 '\200'
wrong 24 '\0'
wrong 64 '\7'
wrong 100 '\41'
wrong 100 '\40'

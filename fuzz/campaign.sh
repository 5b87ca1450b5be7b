#!/bin/bash
# campaign.sh [SECONDS]: runs the fuzz targets for that time, one on each processor, first those that have the fewest
# executions for what is wanted of them; adds them to runs.tsv; and prints what has been done so far.  Without SECONDS
# it only prints.  What reaches new code is kept in build/fuzz/kept; `campaign.sh --keep` puts the smallest set of
# inputs that reach what corpus/ does not into corpus/.
#
# The targets are built by: cmake --preset fuzz && cmake --build --preset fuzz
set -eu
home=$(cd "$(dirname "$0")" && pwd)
build=${PERFILE_BUILD:-$home/../build/fuzz}
counts=$home/runs.tsv
slice=${PERFILE_FUZZ_SLICE:-120} # seconds of a target at a time
export PERFILE_FUZZ_KEEP=$build/kept PERFILE_FUZZ_COUNT=$counts PERFILE_FUZZ_SECONDS=$slice
export PERFILE_FUZZ_LEN=${PERFILE_FUZZ_LEN:-2048} PERFILE_FUZZ_MOST=${PERFILE_FUZZ_MOST:-512}

# Targets that parse one thing in this process, 20 million executions each; the others run whole commands, operations
# or programs, one million.
parsers=" archive_meta columns encode expr feature open pipe record ring symbol_elf symbol_text symbolizer tracepoint unwind "

# One line for each target: its name, what is wanted, what was done, seconds, findings, most coverage.
totals() {
    local source target
    for source in "$home"/fuzz_*.c; do
        target=$(basename "$source" .c)
        target=${target#fuzz_}
        case $parsers in *" $target "*) echo "$target 20000000" ;; *) echo "$target 1000000" ;; esac
    done | awk -v FS='[ \t]' '
        NR == FNR { wanted[$1] = $2; names[++n] = $1; next }
        /^#/ || !($2 in wanted) { next }
        $7 == "finding" { findings[$2]++ }
        { runs[$2] += $3; seconds[$2] += $4; if ($5 > cov[$2]) cov[$2] = $5 }
        END { for (i = 1; i <= n; i++) { t = names[i]
                  print t, wanted[t], runs[t] + 0, seconds[t] + 0, findings[t] + 0, cov[t] + 0 } }' - "$counts"
}

keep() {
    local folder target
    for folder in "$build"/kept/*/; do
        target=$(basename "$folder")
        mkdir -p "$home/corpus/$target"
        "$build/fuzz/fuzz_$target" -merge=1 -max_len="$PERFILE_FUZZ_LEN" "$home/corpus/$target" "$folder" >/dev/null 2>&1
        echo "$target: $(find "$home/corpus/$target" -type f | wc -l) inputs"
    done
}

if [ "${1:-}" = --keep ]; then
    keep
    exit
fi
# Runs targets on one processor until the time is over.  All threads of a process on one processor are up to twice as
# fast here: the sanitizer returns memory often, and each time the other processors that run the process are interrupted.
work() {
    local target failed=' '
    while [ $SECONDS -lt "$end" ]; do
        target=$(totals | awk -v failed="$failed" '$3 < $2 && !index(failed, " " $1 " ") { print $3 / $2, $1 }' |
            sort -g | awk -v turn="$2" '{ names[NR] = $2 } END { print names[turn < NR ? turn : NR] }')
        [ -n "$target" ] || break
        taskset -c "$1" "$home/run.sh" "$target" 20000000 || failed+="$target "
    done
}

end=$((SECONDS + ${1:-0}))
turn=0
for cpu in $(taskset -cp $$ | sed 's/.*: //' | awk -v RS='[,\n]' -F- 'NF { for (i = $1; i <= $NF; i++) print i }'); do
    work "$cpu" $((turn += 1)) &
done
wait
totals | awk '{ printf "%-16s %9d of %8d executions  %6d s  %5d edges  %s\n", $1, $3, $2, $4, $6,
                       $5 ? $5 " runs ended at a finding" : "" }'

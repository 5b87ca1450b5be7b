#!/bin/bash
# run.sh TARGET RUNS [SEED]: runs a libFuzzer target that many times, beginning with fresh seeds:
# those of corpus/TARGET, the captures of samples/, and where there is one the small captures of the
# folder PERFILE_CORPUS (../shared/corpus beside the project), each with choices of our seeds behind
# it.  Prints one line; the exit status is that of the fuzzer.  Nothing is written into the project,
# unless the environment asks for it:
#
#   PERFILE_FUZZ_COUNT=FILE    add a line to this file: what ran, how often, and how it ended
#   PERFILE_FUZZ_KEEP=FOLDER   inputs that reach new code are kept in FOLDER/TARGET and are seeds of
#                              the next run
#   PERFILE_FUZZ_SECONDS=N     end after that time, whatever the number of runs
#
# The targets are built by: cmake --preset fuzz && cmake --build --preset fuzz
set -u

most=${PERFILE_FUZZ_MOST:-4096} # bytes of a capture: what is longer is cut, which is a damage like others
home=$(cd "$(dirname "$0")" && pwd)
target=${1:?usage: run.sh TARGET RUNS [SEED]}
runs=${2:?usage: run.sh TARGET RUNS [SEED]}
seed=${3:-$RANDOM$RANDOM}
build=${PERFILE_BUILD:-$home/../build/fuzz}
program=$build/fuzz/fuzz_$target
corpus=${PERFILE_CORPUS:-$home/../../shared/corpus}
[ -x "$program" ] || { echo "run.sh: $program is not built" >&2; exit 2; }

# Files of the targets lie in memory where there is such a file system.
[ -n "${TMPDIR:-}" ] || { [ -w /dev/shm ] && export TMPDIR=/dev/shm; }
# Freed memory is not kept for long, which takes half of the time otherwise.
export ASAN_OPTIONS=quarantine_size_mb=1:thread_local_quarantine_size_kb=64:max_malloc_fill_size=0${ASAN_OPTIONS:+:$ASAN_OPTIONS}

folder=$(mktemp -d "${TMPDIR:-/tmp}/perfile-fuzz-$target-XXXXXX") || exit 2
mkdir "$folder/seeds" "$folder/found"
own=("$home/corpus/$target"/*)
[ -f "${own[0]}" ] && cp "${own[@]}" "$folder/seeds"
choices=$(sed -n "s/^$target //p" "$home/choices.txt")
n=0

# The choices of one of our own seeds: another one each time.
put_choices() {
    local from=${own[n % ${#own[@]}]}
    if [ "$choices" = words ]; then
        printf '\0'
        tr '\0' '\001' <"$from" | grep -a -o -z -P '[^\x01]*$' | tr -d '\0'
    else
        tail -c "$choices" "$from"
    fi
}

if [ -n "$choices" ] && [ -f "${own[0]}" ]; then
    while IFS= read -r -d '' capture; do
        { head -c "$most" "$capture"; put_choices; } >"$folder/seeds/capture-$n"
        n=$((n + 1))
    done < <(find "$home/../samples/captures" "$corpus" -type f -size +0 \
        ! -name '*.jsonl' ! -name '*.md' ! -name '*.py' ! -name '*.sh' ! -name '*.tsv' \
        ! -name '*.zst' ! -name '*.txt' -print0 2>/dev/null)
fi

extra=()
if [ "$choices" = words ]; then
    { cat "$home/perfile.dict"
      grep -oh -e '--[a-z][a-z0-9-]*' "$home"/../src/cli/*.c | sort -u | sed 's/.*/"&"/'; } \
        >"$folder/dict"
    extra+=("-dict=$folder/dict")
else
    extra+=("-dict=$home/perfile.dict")
fi

kept=()
[ -z "${PERFILE_FUZZ_KEEP:-}" ] || { kept=("$PERFILE_FUZZ_KEEP/$target"); mkdir -p "${kept[0]}"; }
[ -z "${PERFILE_FUZZ_SECONDS:-}" ] || extra+=("-max_total_time=$PERFILE_FUZZ_SECONDS")

start=$SECONDS
"$program" "${extra[@]}" "-runs=$runs" "-seed=$seed" -max_len="${PERFILE_FUZZ_LEN:-16384}" -timeout=60 -rss_limit_mb=4096 \
    -entropic=0 -print_final_stats=1 "-artifact_prefix=$folder/found/" "${kept[@]}" "$folder/seeds" >"$folder/log" 2>&1
status=$?
done_runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$folder/log")
coverage=$(grep -o 'cov: [0-9]*' "$folder/log" | tail -n 1)
echo "$target: ${done_runs:-?} runs from $(find "$home/corpus/$target" -type f 2>/dev/null | wc -l)" \
    "seeds and $n captures, seed $seed, $((SECONDS - start)) s, ${coverage:-cov: ?}," \
    "$(if [ "$status" = 0 ]; then echo clean; else echo "status $status: see $folder"; fi)"
if [ -n "${PERFILE_FUZZ_COUNT:-}" ]; then
    sanitizers=$(sed -n 's/^PERFILE_SANITIZE:STRING=//p' "$build/CMakeCache.txt")
    printf '%s\t%s\t%s\t%s\t%s\t%s\t%s\n' "$(date -u +%F)" "$target" "${done_runs:-0}" $((SECONDS - start)) \
        "${coverage#cov: }" "${sanitizers:-address,undefined}" "$([ "$status" = 0 ] && echo clean || echo finding)" \
        >>"$PERFILE_FUZZ_COUNT"
fi
[ "$status" = 0 ] && rm -rf "$folder"
exit "$status"

# The programs of samples/ print what they are meant to print of samples/captures.  How many samples
# each command has is what `perf script -F comm | sort | uniq -c` says of the same files.
set -u
samples=$PERFILE_BUILD/samples
if ! [ -x "$samples/count_by_comm" ]; then
    echo "the samples were not built (PERFILE_BUILD_SAMPLES)"
    exit 77
fi
# An option is not taken for the name of a file.
for program in "$samples"/*; do
    for words in --help "--help file" "-x -y" "-- -x -y"; do
        # shellcheck disable=SC2086
        "$program" $words >said 2>&1 </dev/null
        rc=$?
        [ "$rc" = 2 ] && [ "$(wc -l <said)" = 1 ] && grep -q "^usage: ${program##*/} " said ||
            echo "$(basename "$program") $words: exit status $rc: $(head -3 said)"
    done
done
for words in "out what" "out file 1 2"; do
    # shellcheck disable=SC2086
    "$samples/generate" $words 2>/dev/null
    echo "generate $words: status $?"
done
echo "left behind: $(find . -mindepth 1 ! -name said | tr '\n' ' ')"

cd "$PERFILE_SOURCE/samples/captures" || exit 1

for capture in cpu-clock.data threads.data pipe-zstd.data killed.data; do
    echo "== count_by_comm $capture"
    "$samples/count_by_comm" "$capture"
done
echo "== count_by_comm, from a pipe"
cat pipe.data | "$samples/count_by_comm"
echo "== count_by_comm text.data"
"$samples/count_by_comm" text.data 2>&1 | cut -d : -f 1-2 # how the library says it is its business
echo "status ${PIPESTATUS[0]}"

echo "== times"
"$samples/times" clock.data cpu-clock.data truncated-header.data

echo "== where"
"$samples/where" 'type == SAMPLE && comm == "helper"' threads.data | wc -l
"$samples/where" 'type == SAMPLE && comm ~ "*[lr]*k"' threads.data | wc -l
"$samples/where" 'mmap2.filename ~ "*libc*" || type == EXIT' big-endian.data
"$samples/where" 'type == SAMPLE && perid > 5' threads.data 2>&1

# What the words behind `#` say of a field is the business of format/.
for capture in mixed.data stat.data; do
    echo "== print_fields $capture"
    "$samples/print_fields" "$capture" | sed 's/   # .*; bytes/   # bytes/'
done
exit 0

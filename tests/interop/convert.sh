# perf reads what convert writes, and counts in it what perfile counts: of file, pipe, compressed and
# decompressed conversions and those in the other byte order, of captures of many kinds.  perf 6.1 cannot read compressed pipes, pipes with
# tracing data (but with `perf script -D`), pipes of the other byte order, attrs above 128 bytes: those
# are skipped, with what perf said.
set -u
. "$PERFILE_SOURCE/tests/enough.bash"
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf jq
export HOME=$PWD
. "$PERFILE_SOURCE/tests/interop/perf_counts.inc"
kinds=0 seen=0 every=${PERFILE_EVERY:-1}

# What perf does not read as it is it need not read in another form.
try() { # try FILE NAME
    local before=$compared
    perf_counts "$1" || return
    "$PERFILE" info --header "$1" >/dev/null 2>&1 || return
    for options in "--to pipe" "--to perf.data" "--compress" "--decompress" "--byte-order big"; do
        rm -f made
        # shellcheck disable=SC2086
        if ! "$PERFILE" convert $options -o made "$1" 2>said; then
            echo "FAILED $2 $options: $(head -1 said)"
            failed=1
            continue
        fi
        compare made "$2 $options"
    done
    [ "$compared" = "$before" ] || kinds=$((kinds + 1))
}

for capture in "$PERFILE_SOURCE"/samples/captures/*.data; do
    [ ! -d "$capture" ] && [ $((++seen % every)) = 0 ] && try "$capture" "$(basename "$capture")"
done
# Every fourth of the corpus, or fewer: they are of a kind in a row.
n=0
[ "$every" -ge 4 ] || every=4
for capture in "$PERFILE_CORPUS"/recorded/*/*.data "$PERFILE_CORPUS"/perf_data_converter/* \
    "$PERFILE_CORPUS"/linux-perf-data/*; do
    [ -f "$capture" ] && [ $((n++ % every)) = 0 ] && try "$capture" "${capture#"$PERFILE_CORPUS"/}"
done

echo "$kinds captures, $compared conversions compared ($by_script with perf script), $skipped skipped"
enough "captures whose conversions perf reads" "$kinds" 30 15 || failed=1
exit "$failed"

# hotspot's parser (Debian's package `hotspot`) reads what perfile writes: converted, decompressed, filtered, sorted, merged and
# byte-swapped captures, and those that were in an archive.  It finds the samples, sums of periods and names of threads of
# `perfile stats`.
#
# The parser is the part of hotspot that needs no display.  Not compared, for hotspot 1.3 does not read them: compressed records,
# pipes with tracing data; of big-endian files it misses the flags of attrs, so it has no names of threads there, no periods
# that all samples share, and takes the samples of all events for laid out as those of the first.
set -u
. "$PERFILE_SOURCE/tests/enough.bash"
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3 jq
parser=$(ls /usr/lib/*/libexec/hotspot-perfparser /usr/libexec/hotspot-perfparser /usr/lib/libexec/hotspot-perfparser 2>/dev/null | head -n 1)
[ -n "$parser" ] || { echo "hotspot is not installed"; exit 77; }
export HOME=$PWD QT_LOGGING_RULES='*.debug=false'
captures=$PERFILE_SOURCE/samples/captures
ulimit -c 0
failed=0 kinds=0 compared=0 samples=0
mkdir none

# one_layout FILE: the parser can read the samples of a big-endian file.
one_layout() {
    "$PERFILE" list events --json "$1" 2>/dev/null >events.json
    "$PERFILE" info --json "$1" 2>/dev/null | jq -r .endian >endian
    [ "$(cat endian)" = little ] || [ "$(jq '[.events[].attr.sample_type] | unique | length' events.json)" -le 1 ]
}

# agrees FILE: the parser and stats say the same of FILE; differences are in `differences`.
agrees() {
    rm -f stream
    one_layout "$1" || { echo "big-endian, with events of several layouts" >differences; return 1; }
    timeout 60 "$parser" --sysroot none --kallsyms none --input "$1" --output stream 2>warnings || { tail -n 1 warnings >differences; return 1; }
    "$PERFILE" stats --by event,tid,comm --type sample --json "$1" >stats.json 2>/dev/null
    python3 "$PERFILE_SOURCE/tests/interop/hotspot.py" stream stats.json "$(cat endian)" >differences 2>&1
}

# compare WHAT [FILE]
compare() {
    if agrees "${2:-made}"; then
        compared=$((compared + 1))
        samples=$((samples + $(tail -n 1 differences)))
    else
        echo "FAILED $1:"
        head -n 5 differences
        failed=1
    fi
}

# perfile WHAT ARGUMENT ...: runs the command, which writes `made`, and compares that.
perfile() {
    local what=$1
    shift
    rm -f made
    "$PERFILE" "$@" 2>said || { echo "FAILED $what: $(tail -n 1 said)"; failed=1; return; }
    compare "$what"
}

# forms NAME: whole.data in all forms.
forms() {
    local order=big
    [ "$(cat endian)" = little ] || order=little
    if [ "$order" = little ] || [ "$(jq '[.events[].attr.sample_type] | unique | length' events.json)" -le 1 ]; then
        perfile "$1, $order-endian" convert --byte-order "$order" -o made whole.data
    fi
    perfile "$1, sorted" sort -o made whole.data
    perfile "$1, by time" filter --time '20%..70%' -o made whole.data
    "$PERFILE" convert --to archive -f -o packed whole.data 2>said || { echo "FAILED $1: $(tail -n 1 said)"; failed=1; }
    perfile "$1, of an archive" convert --to perf.data -o made packed
    perfile "$1, every second sample" filter --every 2 -o made whole.data
    mv made half.data
    perfile "$1, merged" merge -o made half.data whole.data
    kinds=$((kinds + 1))
}

# try NAME FILE MUST: what the parser does not read as it is it need not read in other forms, unless MUST is set.
try() {
    "$PERFILE" convert --to perf.data --decompress -f -o whole.data "$2" 2>said || { [ -z "$3" ] || { echo "FAILED $1: $(cat said)"; failed=1; }; return; }
    if [ -z "$3" ] && ! agrees whole.data && ! agrees "$2"; then
        return
    fi
    compare "$1, converted" whole.data
    forms "$1"
}

for name in callgraph.data cpu-clock.data mixed.data tracepoints.data cgroup.data dwarf.data fields.data namespaces.data overwrite.data switch.data \
    group.data big-endian.data unknown-type.data zstd.data pipe.data pipe-zstd.data pipe-tracepoints.data threads.data perfmon-sampling.cpuperf; do
    try "$name" "$captures/$name" must
done
# Recordings of their own, of one machine.
perfile "two recordings merged" merge --align start -o made "$captures/callgraph.data" "$captures/switch.data"

# Of what others recorded one in 12.
if [ -d "$PERFILE_CORPUS" ]; then
    while IFS=$'\t' read -r name _; do
        try "$name" "$PERFILE_CORPUS/$name" ""
    done < <(corpus_lines | awk 'NR % 12 == 0')
fi
enough "captures that hotspot reads" "$kinds" 30 19 || failed=1
enough "samples" "$samples" 5000 3000 || failed=1
echo "$kinds captures, $compared files, $samples samples" >&2
exit "$failed"

# `--target perf-6.1`: captures of newer versions of perf become files that perf 6.1 reads to their end
# with as many samples as the capture has, and as many records of each type as perfile finds in them.
# Of captures that perf 6.1 wrote or that are older it reads as many samples as before.
#
# Only perf 6.1 is asked: other versions know other things.
set -u
for tool in perf jq; do
    command -v "$tool" >/dev/null || { echo "$tool is not installed"; exit 77; }
done
case $(perf --version) in
"perf version 6.1"*) ;;
*) echo "perf is $(perf --version), not 6.1"; exit 77 ;;
esac
[ -f "$PERFILE_CORPUS/MANIFEST.tsv" ] || { echo "there is no corpus at \$PERFILE_CORPUS"; exit 77; }
export HOME=$PWD
writes=$PERFILE_BUILD/tests/corpus/corpus_target
[ -x "$writes" ] || { echo "the test program was not built"; exit 77; }
failed=0 newer=0 others=0 refused=0
incomplete='failed|rror:|Couldn|unexpected|incompatible|was the|not terminated'

say() {
    echo "FAILED $*"
    failed=$((failed + 1))
}

# perf_counts FILE RESULT: "TYPE COUNT" lines; fails when perf does not come to the end.
perf_counts() {
    perf report --stats -i "$1" >report 2>errors </dev/null &&
        grep -q TOTAL report && ! grep -qE "$incomplete" errors || return 1
    awk '/^Aggregated stats:/ { ours = 1; next }
         ours && / stats:$/ { exit }
         ours && $2 == "events:" { print $1, $3 }' report | sort >"$2"
}

our_counts() {
    "$PERFILE" stats --json "$1" 2>/dev/null |
        jq -r '(.rows[] | "\(.type | sub("^HEADER_"; "")) \(.records)"), "TOTAL \(.total.records)"' | sort
}

samples_of() { # in FILE of counts
    awk '$1 == "SAMPLE" { n = $2 } END { print n + 0 }' "$1"
}

while IFS=$'\t' read -r capture _ what _; do
    case $capture in
    file | *.data/?*) continue ;; # the heading; parts of a directory
    esac
    case $what in
    *ERRORS*) continue ;;
    esac
    path=$PERFILE_CORPUS/${capture%/}
    if ! "$writes" perf-6.1 "$path" out.data >losses 2>&1; then
        say "$capture: $(tail -n 1 losses)"
        continue
    fi
    our_counts "$path" >before
    our_counts out.data >ours
    case $what in
    *"perf 7."* | *"perf 6."[2-9]* | *"perf 6.1"[0-9]*) is_newer=1 ;;
    *) is_newer=0 ;;
    esac
    reads=1
    perf_counts "$path" had || { reads=0; refused=$((refused + is_newer)); }
    [ $((is_newer + reads)) = 0 ] && continue # perf 6.1 minds something else about it
    if ! perf_counts out.data has; then
        say "$capture: perf does not read it to its end: $(head -c 300 errors)"
        continue
    fi
    [ "$(samples_of has)" = "$(samples_of before)" ] ||
        say "$capture: perf finds $(samples_of has) samples of $(samples_of before)"
    diff -u has ours >difference || say "$capture: perf and perfile do not agree: $(cat difference)"
    newer=$((newer + is_newer)) others=$((others + 1 - is_newer))
done <"$PERFILE_CORPUS/MANIFEST.tsv"

echo "$newer captures of newer versions ($refused of them were refused or not read to the end), $others others"
[ "$newer" -ge 25 ] && [ "$refused" -ge 15 ] && [ "$others" -ge 30 ] || say "too few were compared"
[ "$failed" = 0 ]

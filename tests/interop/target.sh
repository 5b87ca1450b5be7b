# `--target perf-6.1`: captures of newer versions of perf become files that perf 6.1 reads to their end
# with as many samples as the capture has, and as many records of each type as perfile finds in them.
# Of captures that perf 6.1 wrote or that are older it reads as many samples as before.  What was made for
# older versions it reads, too.
#
# Only perf 6.1 is asked: other versions know other things.  That it shows the call chains that came late,
# and the build ids of mappings that are made inodes for 5.10, is looked at by themselves.
set -u
. "$PERFILE_SOURCE/tests/enough.bash"
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf jq python3
needs_perf 6.1
export HOME=$PWD
writes=$PERFILE_BUILD/tests/corpus/corpus_target
[ -x "$writes" ] || { echo "the test program was not built"; exit 77; }
failed=0 newer=0 others=0 refused=0 seen=0
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

# Lines like those of MANIFEST.tsv: path, format, what it exercises.
manifest() {
    local own
    for own in "$PERFILE_SOURCE"/samples/captures/*.data; do
        printf '%s\t-\t-\n' "$own"
    done
    [ ! -f "$PERFILE_CORPUS/MANIFEST.tsv" ] || sed 1d "$PERFILE_CORPUS/MANIFEST.tsv"
}

while IFS=$'\t' read -r capture _ what _; do
    case $capture in
    /*) path=$capture ;;
    *) path=$PERFILE_CORPUS/${capture%/} ;;
    esac
    case ${path#"$PERFILE_SOURCE"} in
    *.data/?*) continue ;; # parts of a directory
    esac
    case $what in
    *ERRORS*) continue ;;
    esac
    [ $((++seen % ${PERFILE_EVERY:-1})) = 0 ] || continue
    # Of ours some are damaged.
    [ "$what" != - ] || "$PERFILE" validate --severity error "$path" >/dev/null 2>&1 || continue
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
    for version in 4.19 5.10; do
        [ "$is_newer" = 1 ] || break
        "$writes" "$version" "$path" old.data >losses 2>&1 && perf_counts old.data has &&
            [ "$(samples_of has)" = "$(samples_of before)" ] ||
            say "$capture for $version: perf finds $(samples_of has) samples of $(samples_of before)"
    done
    newer=$((newer + is_newer)) others=$((others + 1 - is_newer))
done < <(manifest)

# Build ids are the same whether mappings have them or records.
mapped=$PERFILE_CORPUS/recorded/x86_64-7.3/buildid-mmap.data
if [ -f "$mapped" ]; then
    for version in 6.1 5.10; do
        "$writes" "$version" "$mapped" out.data >losses
        perf buildid-list -i out.data >"ids-$version" 2>/dev/null
        perf report -i out.data --stdio 2>/dev/null | grep -v '^#' >"report-$version"
    done
    [ "$(wc -l <ids-6.1)" -ge 3 ] || say "perf finds no build ids in mappings"
    cmp ids-6.1 ids-5.10 || say "the build ids are not those of the mappings"
    cmp report-6.1 report-5.10 || say "the reports differ"
fi

# Two samples whose chains come later, one whose chain never comes, one that has all.
python3 - <<'END'
import struct
def pack(form, *values):
    return struct.pack("<" + form, *values)
def record(kind, misc, body):
    return pack("IHH", kind, misc, 8 + len(body)) + body
def trailer(time):
    return pack("IIQ", 5, 7, time)
def sample(time, *chain):
    words = b"".join(pack("Q", c % 2**64) for c in chain)
    return record(9, 1, pack("QIIQQQ", 0xffffffff81000100, 5, 7, time, 1000, len(chain)) + words)
flags = 1 << 8 | 1 << 9 | 1 << 13 | 1 << 18 | 1 << 23 | 1 << 38 | 1 << 39
attr = pack("IIQQQQQ", 1, 144, 0, 1000, 1 | 2 | 4 | 32 | 256, 4, flags).ljust(144, b"\0")
out = b"PERFILE2" + pack("Q", 16) + record(64, 0, attr + pack("Q", 70))
out += record(3, 0, pack("II", 5, 7) + b"work\0\0\0\0" + trailer(1))
out += record(10, 2, pack("IIQQQIIQQII", 5, 7, 0x400000, 0x10000, 0, 8, 1, 99, 0, 5, 2) +
              b"/bin/work".ljust(16, b"\0") + trailer(2))
out += sample(10, -128, 0xffffffff81000100, -640, 77) + sample(11, -128, 0xffffffff81000104, -640, 77)
out += record(22, 2, pack("QQQQ", 77, 2, 0x401000, 0x402000) + trailer(12))
out += sample(13, -128, 0xffffffff81000100, -640, 78)
out += sample(14, -128, 0xffffffff81000100, -512, 0x401111) + record(68, 0, b"")
open("late.data", "wb").write(out)
END
"$writes" perf-6.1 late.data out.data >losses || say "late.data: $(tail -n 1 losses)"
perf script -F ip -i out.data 2>errors | awk 'NF { printf "%s ", $1 }' >chains
kernel=ffffffff810001
[ "$(cat chains)" = "${kernel}00 1000 2000 ${kernel}04 1000 2000 ${kernel}00 ${kernel}00 1111 " ] ||
    say "perf shows other call chains: $(cat chains)"

echo "$newer captures of newer versions ($refused of them were refused or not read to the end), $others others"
enough "captures of newer versions" "$newer" 25 0 || failed=1
enough "captures that perf 6.1 refused before" "$refused" 15 0 || failed=1
enough "captures of perf 6.1 and older" "$others" 30 10 || failed=1
[ "$failed" = 0 ]

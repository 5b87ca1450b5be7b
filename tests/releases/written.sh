# What filter, sort, recover, convert and merge write is read by the perfs of other releases that read their
# input: every record that we count.  Outputs that are pipes are among them where the verdict says so (what
# `perf report --stats` makes of pipes: format/versions.def).
set -u
. "$PERFILE_SOURCE/tests/releases/roots.inc"

roots=
for root in here trixie sid; do
    [ "$root" = here ] || make_root "$root" || continue
    version=$(version_of "$root")
    [ -n "$version" ] && roots="$roots $root:$version"
done
[ -n "$roots" ] || { echo "no perf to compare with"; exit 77; }

{
    printf '%s\n' "$PERFILE_SOURCE"/samples/captures/*.data
    if [ -f "$PERFILE_CORPUS/MANIFEST.tsv" ]; then
        tail -n +2 "$PERFILE_CORPUS/MANIFEST.tsv" | cut -f 1 | grep -v '\.data/.' | sed "s,^,$PERFILE_CORPUS/,; s,/$,,"
    fi
} | awk -v every="${PERFILE_EVERY:-1}" 'NR % every == 0' >list
for of in $roots; do
    perf_reads "${of%:*}" list "inputs-${of#*:}"
done

write() { # write NAME COMMAND …: adds what it wrote to ./outputs, and what was read to the same line
    local out=$PWD/$n-$1
    shift
    "$PERFILE" "$@" -o "$out" >/dev/null 2>&1
    [ -e "$out" ] && echo "$out $capture" >>outputs
}
n=0
: >outputs
while read -r capture; do
    grep -qF "$capture not" inputs-* && [ "$(grep -hF "$capture not" inputs-* | wc -l)" = "$(echo $roots | wc -w)" ] && continue
    n=$((n + 1))
    write sorted sort "$capture"
    write filtered filter --every 1 "$capture"
    write recovered recover "$capture"
    write pipe convert --to pipe "$capture"
    write swapped convert --byte-order big "$capture"
    write merged merge --align start "$capture" "$capture"
done <list
cut -d ' ' -f 1 outputs >written

for of in $roots; do
    version=${of#*:}
    perf_reads "${of%:*}" written real
    we_say "$version" written ours
    agree "perf $version" real ours
    # Of an input that is read the output is, too.
    while read -r out capture; do
        case $out in *-pipe) continue ;; esac
        grep -qE "^$capture [0-9]+$" "inputs-$version" && grep -qF "$out not" real || continue
        wrong=$((wrong + 1))
        echo "FAILED perf $version: $out: $(grep -F "$out not" real | head -n 1); it reads $capture"
    done <outputs
    echo "perf $version: $(wc -l <written) written, $(grep -c ' not ' real) not read"
done
echo "$wrong of $tried are wrong"
[ "$wrong" = 0 ] && [ "$tried" -gt 30 ]

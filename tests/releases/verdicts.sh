# The verdicts of `perfile validate --for` are what perf 6.1 (or that of this machine), 6.12 and the newest do:
# reads is said where `perf report --stats` counts every record, loses where it counts fewer, stops and refuses
# where it does not come to its end.  Over our captures, those of $PERFILE_CORPUS, and some that each of these
# perfs records here.  Each difference is printed; none is allowed, and there is no list of exceptions.
set -u
. "$PERFILE_SOURCE/tests/releases/roots.inc"

# Captures of a release, which the others have to read or to refuse as we say.
cat >record.sh <<'EOF'
o=$1
work='i=0; while [ $i -lt 3000 ]; do i=$((i + 1)); done; true'
perf record -e cpu-clock -o "$o-file" sh -c "$work"
perf record -e cpu-clock -a -o "$o-all" sleep 0.1
perf record -e cpu-clock,page-faults -o - sh -c "$work" >"$o-pipe"
perf record -z -e cpu-clock -g -o - sh -c "$work" >"$o-pipe-z"
perf record -z -e cpu-clock -g -o "$o-z" sh -c "$work"
perf stat record -e task-clock,page-faults -o "$o-stat" true
perf stat record -e task-clock,page-faults -o - true >"$o-pipe-stat"
if [ -d /sys/kernel/tracing/events/sched ]; then
    perf record -e sched:sched_switch,cpu-clock -o "$o-tracepoint" sh -c "$work"
    perf record -e sched:sched_switch -o - sh -c "$work" >"$o-pipe-tracepoint"
fi
for f in "$o"-*; do
    perf inject -b -i "$f" -o "$f.injected"
done
find . -maxdepth 1 -name "${o##*/}-*" -size -17c -delete # nothing was recorded
EOF

{
    printf '%s\n' "$PERFILE_SOURCE"/samples/captures/*.data
    if [ -f "$PERFILE_CORPUS/MANIFEST.tsv" ]; then
        tail -n +2 "$PERFILE_CORPUS/MANIFEST.tsv" | cut -f 1 | grep -v '\.data/.' | sed "s,^,$PERFILE_CORPUS/,; s,/$,,"
    fi
} >list
# Those of the writers' law, and ours as pipes of the other byte order, with attrs of several sizes.
mkdir made turned
PYTHONPATH=$PERFILE_SOURCE/tests/interop python3 -c '
import made
for name, content in made.made():
    open("made/" + name, "wb").write(content)'
for capture in "$PERFILE_SOURCE"/samples/captures/*.data; do
    for target in 4.19 5.10 6.1 7.2; do
        "$PERFILE" convert --to pipe --byte-order big --target "perf-$target" \
            -o "turned/$target-${capture##*/}" "$capture" >/dev/null 2>&1
    done
done
printf '%s\n' "$PWD"/made/* "$PWD"/turned/* >>list
given=$(wc -l <list)
roots=
for root in here trixie sid; do
    [ "$root" = here ] || make_root "$root" || continue
    version=$(version_of "$root")
    if [ -z "$version" ]; then
        echo "skipped $root: its perf has no row in format/versions.def"
        continue
    fi
    roots="$roots $root:$version"
    in_root "$root" bash record.sh "$PWD/$version" >/dev/null 2>&1 </dev/null
    printf '%s\n' "$PWD/$version"-* | grep -v '\*' >>list
done
[ -n "$roots" ] || { echo "no perf to compare with"; exit 77; }
echo "$given captures, $(($(wc -l <list) - given)) recorded here; perf:$roots"

for of in $roots; do
    perf_reads "${of%:*}" list real
    we_say "${of#*:}" list ours
    before=$tried
    agree "perf ${of#*:}" real ours
    echo "perf ${of#*:}: $((tried - before)) captures, $(grep -c ' not ' real) not read"
    # The comparison can fail: of one capture the perf is said to count one record less.
    awk '!done && $2 != "not" { $2 = $2 - 1; done = 1 } { print }' real >off
    [ "$(agree self-check off ours | grep -c FAILED)" -gt "$(agree self-check real ours | grep -c FAILED)" ] ||
        { echo "FAILED: a wrong count is not noticed"; exit 1; }
done
echo "$wrong of $tried verdicts are wrong"
[ "$wrong" = 0 ] && [ "$tried" -gt 30 ]

# convert --scrub and --expand: what they change, what archives say of it, and that nothing else differs.  Sizes depend on
# zstd and are not printed.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
captures=$PERFILE_SOURCE/samples/captures
. "$PERFILE_SOURCE/tests/cli/run.inc"
# changed ARCHIVE [OPTION ...]: what info says of it.
changed() {
    "$PERFILE" info "$@" | grep ^changed || echo "not changed"
}
# smaller A B
smaller() {
    [ "$(wc -c <"$1")" -lt "$(wc -c <"$2")" ] && echo "$1 is smaller than $2"
}
# packed ARCHIVE: how its chunks are stored.
packed() {
    "$PERFILE" info --chunks "$1" | awk '$2 == "records" { print $2, $3 }' | sort -u
}
cp "$captures/zstd.data" "$captures/callgraph.data" .
python3 "$PERFILE_SOURCE/tests/cli/stale.py" "$captures/dwarf.data" dwarf.data

echo "scrub"
run convert --scrub -o scrubbed.data dwarf.data
cmp -s scrubbed.data dwarf.data || echo "other bytes"
run convert --scrub --json -f -o twice.data scrubbed.data | grep -o '"scrubbed_records".*'
cmp scrubbed.data twice.data && echo "twice is once"
"$PERFILE" stats dwarf.data >a
"$PERFILE" stats scrubbed.data >b
sed 's/scrubbed.data/dwarf.data/' b | cmp - a && echo "the same statistics"
run validate scrubbed.data
run convert --scrub --to archive -o scrubbed.perfile dwarf.data
run convert --to archive -o dwarf.perfile dwarf.data
smaller scrubbed.perfile dwarf.perfile
packed scrubbed.perfile
changed scrubbed.perfile
changed dwarf.perfile
run info --json scrubbed.perfile | grep -o '"lossy":[^]]*]'
run info --json dwarf.perfile | grep -o '"lossy":[^]]*]'
run info --chunks --json scrubbed.perfile | grep -o '"lossy":[^]]*]'
run convert -o back.data scrubbed.perfile
cmp back.data scrubbed.data && echo "gives back what was stored"
run validate --only V-7 scrubbed.perfile

echo "expand"
run convert --to archive --expand -o zstd.perfile zstd.data
run convert --to archive -f -o raw.perfile zstd.data 2>&1 | grep -v '^\$'
smaller zstd.perfile raw.perfile
packed zstd.perfile
changed zstd.perfile
run convert --decompress -o decompressed.data zstd.data
run convert -f -o back.data zstd.perfile
cmp back.data decompressed.data && echo "as --decompress gives it"
run convert --to archive --expand -o same.perfile callgraph.data
changed same.perfile
run convert -f -o back.data same.perfile
cmp back.data callgraph.data && echo "byte for byte"
echo "no capture" >note
run convert --to archive --expand -o note.perfile note
changed note.perfile 2>/dev/null
run convert --to archive --expand --scrub -o both.perfile zstd.data
changed both.perfile
"$PERFILE" convert --to pipe -o - zstd.data | "$PERFILE" convert --to archive --expand -o pipe.perfile - 2>/dev/null
changed pipe.perfile

echo "again"
run convert --to archive -o copied.perfile both.perfile
changed copied.perfile
run convert --to archive --level 1 -o packed.perfile both.perfile
changed packed.perfile
run convert --to archive --scrub -o third.perfile zstd.perfile
changed third.perfile
run convert --to archive --append -o both.perfile callgraph.data
run convert --to archive --append --scrub -o both.perfile dwarf.data
changed --source 1 both.perfile
changed --source 2 both.perfile
changed --source 3 both.perfile

# Writers say where records are.
echo "other writers"
for command in "filter --every 2" sort "convert --byte-order big"; do
    "$PERFILE" $command -f -o out.data callgraph.data 2>/dev/null
    "$PERFILE" $command --to archive -f -o out.perfile callgraph.data 2>/dev/null
    packed out.perfile
    "$PERFILE" convert -f -o back.data out.perfile
    cmp back.data out.data && echo "$command"
    changed out.perfile
done

echo "contradictions"
run convert --expand -o x callgraph.data
run convert --expand --compress --to archive -o x callgraph.data
ls x 2>/dev/null
exit 0

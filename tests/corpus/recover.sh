# Every killed capture of the corpus comes back with as many samples as a plain walk over its record
# headers finds, and perf reads the result to its end with that count.  Every undamaged one comes
# back whole: the same records, exit status 0.  What breaks a rule does not come back, is named, and
# the result breaks none.
set -u
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
failed=0 killed=0 whole=0 broken=0

# Samples by a walk over headers alone, from data.offset to the end of the file.
walk() {
    python3 - "$1" <<'END'
import struct, sys
b = open(sys.argv[1], "rb").read()
e = "<" if b[:8] == b"PERFILE2" else ">"
at, samples, records = struct.unpack(e + "Q", b[40:48])[0], 0, 0
while at + 8 <= len(b):
    t, m, s = struct.unpack(e + "IHH", b[at:at + 8])
    if s < 8 or at + s > len(b):
        break
    samples += t == 9
    records += 1
    at += s
print(samples, records)
END
}

say() {
    echo "$*"
    failed=$((failed + 1))
}

for capture in "$PERFILE_CORPUS"/*/killed*.data "$PERFILE_CORPUS"/*/*/killed*.data \
    "$PERFILE_CORPUS"/examples/*killed*.data "$PERFILE_SOURCE"/samples/captures/killed*.data; do
    [ -f "$capture" ] || continue
    killed=$((killed + 1))
    read -r samples records < <(walk "$capture")
    cp "$capture" before
    "$PERFILE" recover -f -o saved.data "$capture" 2>said
    rc=$?
    cmp -s before "$capture" || say "$capture: was changed"
    if [ "$records" = 0 ]; then
        [ "$rc" = 1 ] || say "$capture: status $rc, though it has no record"
        continue
    fi
    [ "$rc" = 3 ] || say "$capture: status $rc"
    grep -q "kept $records record.* $samples sample" said || say "$capture: $(cat said)"
    grep -q "next: " said || say "$capture: does not say what to do next"
    if command -v perf >/dev/null; then
        HOME=$PWD perf report --stats -i saved.data >stats 2>errors </dev/null
        got=$(awk '$1 == "SAMPLE" {print $3; exit}' stats)
        total=$(awk '$1 == "TOTAL" {print $3; exit}' stats)
        [ "${got:-0}" = "$samples" ] && [ "${total:-0}" = "$records" ] ||
            say "$capture: perf finds ${got:-0} samples in ${total:-0} records of $samples in $records"
    fi
    echo "$(basename "$capture"): $samples samples in $records records"
done

# counts FILE: records, bytes and type; the percentages go by a total that recover changes.
counts() {
    "$PERFILE" stats "$1" 2>/dev/null >table || return
    awk '{ print $1, $3, $4 }' table
}

# Counts by type, less those of compressed records, which come back as what is in them.
while read -r capture; do
    "$PERFILE" info "$capture" >/dev/null 2>&1 || continue # looks into features too
    counts "$capture" >wanted || continue
    whole=$((whole + 1))
    "$PERFILE" recover -f -o saved.data "$capture" 2>said
    rc=$?
    if ! "$PERFILE" validate --severity error "$capture" >/dev/null; then
        broken=$((broken + 1))
        [ "$rc" = 3 ] || say "$capture: status $rc, though it breaks rules"
        "$PERFILE" validate --severity error saved.data >findings || say "$capture: $(head -1 findings)"
        continue
    fi
    [ "$rc" = 0 ] || say "$capture: status $rc: $(head -1 said)"
    counts saved.data >got || say "$capture: the result is damaged"
    diff <(grep -vE 'COMPRESSED|total' wanted) <(grep -v total got) >difference ||
        say "$capture: $(head -3 difference)"
done < <(find "$PERFILE_CORPUS" "$PERFILE_SOURCE/samples/captures" -type f \
    ! -name '*.jsonl' ! -name '*.tsv' ! -name '*.md' ! -name '*.zst' ! -name '*.py' 2>/dev/null |
    sort | awk "NR % ${PERFILE_EVERY:-1} == 0")

echo "$killed killed captures, $whole whole ones, $broken of them break rules"
if [ "$killed" = 0 ] || [ "$whole" = 0 ]; then
    echo "nothing to try"
    exit 1
fi
[ "$failed" = 0 ]

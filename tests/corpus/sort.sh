# Every capture of the corpus, sorted: no record is earlier than the one before, the records are those
# of the input but for FINISHED_ROUND and what held others, no rule breaks that did not before, sorting
# once more changes nothing, and perf finds as many samples.
set -u
[ -x "$PERFILE" ] || { echo "the command was not built"; exit 77; }
. "$PERFILE_SOURCE/tests/enough.bash"
failed=0 sorted=0 perf_read=0

say() {
    echo "$*"
    failed=$((failed + 1))
}

# laws BEFORE AFTER: the records of two dumps as JSON Lines.
laws() {
    python3 - "$1" "$2" <<'END'
import collections, json, sys

# What says where a record stands, and what is no record of its own.
places = ("offset", "stream_offset", "file", "index", "compressed_in")
left_out = (68, 81, 83)
PACKED = ("COMPRESSED", "DIR_FORMAT") # features that are not true any more

def records(path):
    for line in open(path, encoding="utf-8", errors="surrogateescape"):
        r = json.loads(line)
        if r["kind"] == "record" and r["type"] not in left_out and not (
                r["type"] == 80 and r.get("body", {}).get("name") in PACKED):
            r.get("payload", {}).pop("offset", None)
            yield r

def bag(path):
    return collections.Counter(
        json.dumps({k: v for k, v in r.items() if k not in places}, sort_keys=True)
        for r in records(path))

before, after = bag(sys.argv[1]), bag(sys.argv[2])
for r, n in list((before - after).items())[:2]:
    print("is gone:", n, r[:200])
for r, n in list((after - before).items())[:2]:
    print("was not there:", n, r[:200])
last = -2**63
for r in records(sys.argv[2]):
    time = r.get("sample_id", r.get("body") or {}).get("time")
    if time is None or int(time) == 2**64 - 1:
        continue
    if int(time) < last:
        print("steps back:", json.dumps(r)[:200])
        break
    last = int(time)
END
}

perf_samples() {
    HOME=$PWD perf report --stats -i "$1" 2>/dev/null </dev/null |
        awk '$1 == "SAMPLE" && $2 == "events:" {print $3; exit}'
}

# The laws can fail: records of an overwritten buffer go backward in time, and one may be missing.
"$PERFILE" dump --format jsonl "$PERFILE_SOURCE/samples/captures/overwrite.data" >before.jsonl 2>/dev/null
sed 's/"ip":"0x[0-9a-f]*/&0/' before.jsonl >after.jsonl
laws before.jsonl after.jsonl >found
for word in "is gone" "was not there" "steps back"; do
    grep -q "$word" found || say "self-check: '$word' was not found"
done

while read -r capture; do
    "$PERFILE" dump --format jsonl "$capture" >before.jsonl 2>/dev/null || continue
    "$PERFILE" sort -f -o sorted.data "$capture" 2>said || { say "$capture: status $?: $(cat said)"; continue; }
    sorted=$((sorted + 1))
    grep -q ': sorted [0-9]* record' said || say "$capture: $(cat said)"
    "$PERFILE" dump --format jsonl sorted.data >after.jsonl 2>/dev/null || say "$capture: the result is damaged"
    found=$(laws before.jsonl after.jsonl)
    [ -z "$found" ] || say "$capture: $found"
    if "$PERFILE" validate --severity error "$capture" >/dev/null 2>&1; then
        "$PERFILE" validate --severity error sorted.data >findings || say "$capture: $(head -1 findings)"
    fi
    "$PERFILE" sort -f -o again.data sorted.data 2>/dev/null
    cmp -s sorted.data again.data || say "$capture: sorting once more changes something"
    "$PERFILE" sort -f --max-memory 2M -o little.data "$capture" 2>/dev/null
    cmp -s sorted.data little.data || say "$capture: little memory changes something"
    if [ -f "$capture" ] && command -v perf >/dev/null; then
        before=$(perf_samples "$capture")
        after=$(perf_samples sorted.data)
        [ -n "$before" ] || continue # perf cannot read it
        perf_read=$((perf_read + 1))
        [ "$before" = "${after:-none}" ] || say "$capture: perf finds ${after:-no} samples of $before"
    fi
done < <(find "$PERFILE_CORPUS" "$PERFILE_SOURCE/samples/captures" \( -type f -o -name '*.data' -type d \) \
    ! -path '*.data/*' ! -name '*.jsonl' ! -name '*.tsv' ! -name '*.md' ! -name '*.zst' ! -name '*.py' 2>/dev/null |
    sort | awk "NR % ${PERFILE_EVERY:-1} == 0")

echo "$sorted captures sorted, perf read $perf_read of them"
enough "captures sorted" "$sorted" 80 20 || failed=1
[ "$failed" = 0 ]

# `perfile generate`: the dump that was meant is the dump of the capture, the capture is valid, and it survives conversion
# to the other byte order, to an archive and to CBOR, and back.  The bytes are those of the first time, on every machine.
set -u
. "$PERFILE_SOURCE/tests/chosen.bash"
sizes=(144 64 72 80 96 104 112 120 128 136)
made=0
for seed in $(seq 1 24); do
    for form in perf.data pipe; do
        chosen || continue
        order=little
        [ $((seed % 2)) = 0 ] && order=big
        "$PERFILE" generate -f --seed "$seed" --to $form --byte-order $order --attr-size "${sizes[seed % 10]}" \
            --events $((1 + seed % 4)) --records $((1 + seed % 3)) -o a.data --expect a.jsonl >said || cat said
        grep -q " records, .* features, " said || cat said
        "$PERFILE" dump --format jsonl a.data | cmp - a.jsonl || echo "seed $seed, $form, $order: not what was meant"
        "$PERFILE" validate --severity error a.data >findings || cat findings
        "$PERFILE" convert -f --to archive -o a.perfile a.data && "$PERFILE" convert -f -o back.data a.perfile &&
            cmp a.data back.data || echo "seed $seed, $form: changed by an archive"
        other=little
        [ $order = little ] && other=big
        "$PERFILE" convert -f --byte-order $other -o b.data a.data && "$PERFILE" convert -f --byte-order $order -o c.data b.data &&
            "$PERFILE" dump --format jsonl c.data | cmp - a.jsonl || echo "seed $seed, $form: changed by its byte order"
        made=$((made + 1))
    done
done
[ "$made" -ge $((48 / PERFILE_CASES)) ] && echo "captures are what was meant"

# From a dump in CBOR the same records and features come back; only offsets of features may differ.
"$PERFILE" generate -f -o a.data >said && "$PERFILE" dump --format cbor a.data >a.cbor && "$PERFILE" convert -f --from cbor -o b.data a.cbor &&
    diff <("$PERFILE" dump --format jsonl a.data | grep '"kind":"record"') \
        <("$PERFILE" dump --format jsonl b.data | grep '"kind":"record"') | head -n 2

# Each type of perf's records, and each feature, is there, but for those that are named.
"$PERFILE" generate -f --records 1 -o a.data --expect a.jsonl >said
"$PERFILE" generate -f --records 1 --to pipe -o b.data --expect b.jsonl >said
cat a.jsonl b.jsonl | sed -n 's/^{"kind":"record","index":[0-9]*,"offset":"[0-9]*","type":\([0-9]*\),.*/\1/p' | sort -nu | tr '\n' ' '
echo
sed -n 's/.*"kind":"feature","feature":\([0-9]*\),.*/\1/p' a.jsonl | sort -nu | tr '\n' ' '
echo

for words in "--seed 1" "--seed 2 --byte-order big --to pipe" "--seed 3 --attr-size 64 --events 1"; do
    "$PERFILE" generate $words -f -o a.data --expect a.jsonl >said
    cat a.data a.jsonl | md5sum
done

"$PERFILE" generate --to pipe -o - | "$PERFILE" dump --format jsonl - | tail -n 1
# A folder of small captures: all that the tables have, but for what is named.
"$PERFILE" generate --matrix captures 2>&1 | sed 's/[0-9]* captures have/captures have/'
n=0
for capture in captures/*.data; do
    n=$((n + 1))
    chosen || continue
    "$PERFILE" dump --format jsonl "$capture" | cmp - "${capture%.data}.jsonl" || echo "$capture: not what was meant"
    "$PERFILE" validate --severity error "$capture" >findings || cat findings
done
[ "$n" -gt 500 ] && cat captures/* | md5sum

for words in "--matrix captures" "--matrix -" "--matrix /no/where/x" "--matrix new --events 2" "" "-o a.data" "-o a.data b.data" "-o a.data --seed x" "-o a.data --events 65" "-o a.data --attr-size 88 -f" "-o a.data --attr-size 4104" \
    "-o - --expect -" "-o x --expect x" "-o a.data --to dir" "-o /no/where" "-o new.data --expect /no/where"; do
    "$PERFILE" generate $words >text 2>&1
    echo "exit status $?: $(head -n 1 text)"
done
[ -e new.data ] || echo "nothing is left of a failure"

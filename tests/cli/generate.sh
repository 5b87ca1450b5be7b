# `perfile generate`: the dump that was meant is the dump of the capture, the capture is valid, and it survives conversion
# to the other byte order, to an archive and to CBOR, and back.  The bytes are those of the first time, on every machine.
set -u
. "$PERFILE_SOURCE/tests/chosen.bash"
sizes=(144 64 72 80 96 104 112 120 128 136)
made=0
# The lines of a dump; of compressed records, directories and version 1 without positions: the other byte order is plain, of version 2.
bodies() {
    if [ -n "$zstd" ] || [ $form = dir ] || [ $form = v1 ]; then
        grep '"kind":"record"' | grep -v '"name":"PERF_RECORD_COMPRESSED\|"name":"PERF_RECORD_HEADER_FEATURE' |
            sed 's/"index":.*,"type":\([0-9]*\),"name":\(null\|"PERF\)/\1 \2/; s/"payload":{"offset":"[0-9]*"/"payload":{/' | sort
    else
        cat
    fi
}
for seed in $(seq 1 24); do
    for form in perf.data pipe dir v1 simpleperf archive; do
        chosen || continue
        made=$((made + 1))
        order=little
        [ $((seed % 2)) = 0 ] && order=big
        case $((seed % 6)) in 4) zstd=--compress=3 ;; 5) zstd=--compressed2 ;; *) zstd= ;; esac
        rm -rf a.data back.data
        "$PERFILE" generate -f --seed "$seed" --to $form --byte-order $order --attr-size "${sizes[seed % 10]}" \
            --events $((1 + seed % 4)) --records $((1 + seed % 3)) $zstd -o a.data --expect a.jsonl >said || cat said
        grep -q " records, .* features, " said || cat said
        "$PERFILE" dump --format jsonl a.data | cmp - a.jsonl || echo "seed $seed, $form, $order: not what was meant"
        "$PERFILE" validate --severity error a.data >findings || cat findings
        [ $form = archive ] && continue
        "$PERFILE" convert -f --to archive -o a.perfile a.data && "$PERFILE" convert -f -o back.data a.perfile &&
            diff -r a.data back.data || echo "seed $seed, $form: changed by an archive"
        other=little
        [ $order = little ] && other=big
        rm -rf b.data c.data
        "$PERFILE" convert -f --byte-order $other -o b.data a.data 2>said && "$PERFILE" convert -f --byte-order $order -o c.data b.data &&
            "$PERFILE" dump --format jsonl c.data | bodies | cmp - <(bodies <a.jsonl) || echo "seed $seed, $form: changed by its byte order"
    done
done
[ "$made" = $((144 / PERFILE_CASES)) ] && echo "captures are what was meant"
rm -rf a.data b.data c.data

# Version 1 has another magic, and event types.
"$PERFILE" generate -f --to v1 -o a.data >said && head -c 8 a.data && echo && "$PERFILE" dump --format jsonl a.data | grep '"kind":"event_type"'

# A file of simpleperf says so, and has its records and features.
"$PERFILE" generate -f --to simpleperf -o a.data >said && "$PERFILE" info a.data | grep '^tool' && "$PERFILE" dump --format jsonl a.data |
    sed -n 's/.*"type":\(327[0-9]*\),.*/\1/p; s/.*"kind":"feature","feature":\(1[0-9][0-9]\),.*/\1/p' | sort -nu | tr '\n' ' ' && echo

# From a dump in CBOR the same records and features come back; TRACING_DATA and AUX data are not in it, so that offsets and
# indexes differ.
without_aux() {
    "$PERFILE" dump --format jsonl $1 | grep '"kind":"record"' | grep -v '_AUXTRACE"' | sed 's/"index":.*,"type"/"type"/'
}
"$PERFILE" generate -f -o a.data >said && "$PERFILE" dump --format cbor a.data >a.cbor && "$PERFILE" convert -f --from cbor -o b.data a.cbor 2>said &&
    diff <(without_aux a.data) <(without_aux b.data) | head -n 2

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
for capture in captures/*.data captures/*.perfile; do
    n=$((n + 1))
    chosen || continue
    "$PERFILE" dump --format jsonl "$capture" | cmp - "${capture%.*}.jsonl" || echo "$capture: not what was meant"
    "$PERFILE" validate --severity error "$capture" >findings || cat findings
    # To an archive, to the other byte order, and back: a few, because the forms are above.
    [ $((n % 8)) = 0 ] && [ "${capture##*.}" = data ] || continue
    "$PERFILE" convert -f --to archive -o a.perfile "$capture" && "$PERFILE" convert -f -o b.data a.perfile && cmp b.data "$capture"
    case $capture in *COMPRESSED* | */version-1*) continue ;; *.little.*) order=little other=big ;; *) order=big other=little ;; esac
    "$PERFILE" convert -f --byte-order $other -o b.data "$capture" && "$PERFILE" convert -f --byte-order $order -o c.data b.data &&
        "$PERFILE" dump --format jsonl c.data | cmp - "${capture%.*}.jsonl" || echo "$capture: changed by its byte order"
done
# What no kernel writes is in files that are named for it.
"$PERFILE" validate captures/*.data 2>&1 |
    sed -n 's/^captures.\([^:]*\).*\(V-311: the group has no counters\|V-119: a tracepoint without RAW data\).*/\1 \2/p' | sort
# What zstd made depends on its version.
[ "$n" -gt 500 ] && ls captures/* | grep -v 'COMPRESSED\|perfile$\|\.dir\.' | xargs cat | md5sum

for words in "--matrix captures" "--matrix -" "--matrix /no/where/x" "--matrix new --events 2" "" "-o a.data" "-o a.data b.data" "-o a.data --seed x" "-o a.data --events 65" "-o a.data --attr-size 88 -f" "-o a.data --attr-size 4104" \
    "-o - --expect -" "-o x --expect x" "-o a.data --to v2" "-o - --to dir" "-o a.data --compress=23" "-o a.data --compress --compressed2" "-o /no/where" "-o new.data --expect /no/where"; do
    "$PERFILE" generate $words >text 2>&1
    echo "exit status $?: $(head -n 1 text)"
done
[ -e new.data ] || echo "nothing is left of a failure"

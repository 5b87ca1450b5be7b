# Exports as viewers show them: folded, pprof and speedscope in the page of npm's `speedscope`, in headless Chromium;
# pprof by npm's `pprof-format`.  The totals are those of `perfile stats`.
#
# $PERFILE_NPM is a folder in which `npm install speedscope pprof-format` was run (.ci/run does that).
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3 node jq
npm=${PERFILE_NPM:-$PERFILE_SOURCE/build/npm}
captures=$PERFILE_SOURCE/samples/captures
[ -d "$npm/node_modules/speedscope" ] || { echo "npm's speedscope is not in $npm"; exit 77; }

# pprof FILE: samples and the sum of the second value, as pprof-format reads them.
pprof() {
    NODE_PATH=$npm/node_modules node -e '
        const { Profile } = require("pprof-format");
        const p = Profile.decode(require("zlib").gunzipSync(require("fs").readFileSync(process.argv[1])));
        const text = i => p.stringTable.strings[Number(i)];
        const sum = k => p.sample.reduce((n, s) => n + BigInt(s.value[k]), 0n);
        console.log([sum(0), sum(1), text(p.sampleType[0].type), text(p.sampleType[1].type)].join(" "));
    ' "$1"
}

# shown FILE: the sum of the column Self of what speedscope shows of the file, without its unit.  A busy machine may need
# several tries: the page is looked at after a time of its own.
shown() {
    local budget n=0
    python3 "$PERFILE_SOURCE/tests/interop/export_page.py" load "$1" >profile.js
    for budget in 20000 60000 180000; do
        timeout 300 chromium --headless --no-sandbox --disable-gpu --allow-file-access-from-files \
            --virtual-time-budget=$budget --dump-dom \
            "file://$npm/node_modules/speedscope/dist/release/index.html#view=sandwich&localProfilePath=$PWD/profile.js" \
            >page.html 2>/dev/null || true
        n=$(python3 "$PERFILE_SOURCE/tests/interop/export_page.py" self page.html)
        [ "$n" = 0 ] || break
    done
    echo "$n"
}

for capture in callgraph cpu-clock; do
    "$PERFILE" stats --by event --type sample --json "$captures/$capture.data" >stats.json
    samples=$(jq '.total.samples' stats.json) period=$(jq -r '.total.period' stats.json)
    for form in folded speedscope pprof; do
        "$PERFILE" export --to "$form" --per event --weight samples -f -o "$capture.$form" "$captures/$capture.data" 2>/dev/null
    done
    [ ! -s "$capture.pprof" ] || [ "$(pprof "$capture.pprof")" = "$samples $period samples cpu-clock" ] ||
        { pprof "$capture.pprof"; echo "and not $samples $period"; exit 1; }
    if ! command -v chromium >/dev/null; then
        echo "not tried: $capture in speedscope: there is no chromium"
        continue
    fi
    for form in folded speedscope; do
        n=$(shown "$capture.$form")
        [ "$n" = "$samples" ] || { echo "$capture.$form: speedscope shows $n, not $samples"; exit 1; }
    done
    # It shows the last value of pprof: periods, rounded to three digits.
    n=$(shown "$capture.pprof")
    python3 -c "import sys; n, m = map(int, sys.argv[1:]); sys.exit(abs(n - m) > m / 100)" "$n" "$period" ||
        { echo "$capture.pprof: speedscope shows $n, not $period"; exit 1; }
done

# As it is by default: the page has the name of the capture, opens all threads, and time adds up to the periods of the clock.
if command -v chromium >/dev/null; then
    "$PERFILE" export --no-symbols --to speedscope -f -o switch.speedscope "$captures/switch.data" 2>/dev/null
    period=$("$PERFILE" stats --type sample --json "$captures/switch.data" | jq -r .total.period)
    n=$(shown switch.speedscope)
    [ "$n" = "$period" ] && grep -q 'switch\.data' page.html && grep -q 'all cpu-clock' page.html ||
        { echo "switch.speedscope: speedscope shows $n, not $period, or not all threads of switch.data"; exit 1; }
fi

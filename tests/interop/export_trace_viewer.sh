# Exports to chrome as the trace viewer of Chrome (catapult) shows them, which comes with Debian's golang: its importer, in headless
# Chromium, warns of nothing; samples of each event and their periods are those of `perfile stats`, frames of stacks those of
# folded lines; stretches on a processor and values of counters are there.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3 jq
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "chromium is not installed"; exit 77; }
viewer=$(ls -d /usr/share/go-*/src/cmd/trace/static /usr/lib/go*/src/cmd/trace/static 2>/dev/null | tail -n 1)
[ -f "${viewer:-.}/trace_viewer_full.html" ] || { echo "Go's copy of the trace viewer is not installed"; exit 77; }
export HOME=$PWD
captures=$PERFILE_SOURCE/samples/captures
failed=0

# imported FILE: what the viewer has made of a trace, as JSON.
imported() {
    python3 - "$1" "$viewer" <<'END'
import sys
with open("page.html", "w") as f:
    f.write("""<html><head><meta charset="utf-8"><script src="file://%s/webcomponents.min.js"></script>
<link rel="import" href="file://%s/trace_viewer_full.html"></head><body><script id="trace" type="application/json">%s</script>
<script>
document.addEventListener('WebComponentsReady', () => {
    const model = new tr.Model(), options = new tr.importer.ImportOptions();
    const said = { warnings: [], threads: [], samples: {}, periods: {}, frames: 0, on: 0, ns: 0, values: 0 };
    options.shiftWorldToZero = false;
    new tr.importer.Import(model, options).importTraces([document.getElementById('trace').textContent]);
    said.warnings = model.importWarnings.map(w => w.message);
    for (const p of model.getAllProcesses()) {
        for (const c of Object.values(p.counters))
            for (const s of c.series) said.values += s.samples.length;
        for (const t of Object.values(p.threads)) {
            said.threads.push(t.tid);
            for (const s of t.sliceGroup.slices) {
                if (s.category === 'sample') {
                    said.samples[s.title] = (said.samples[s.title] || 0) + 1;
                    said.periods[s.title] = (said.periods[s.title] || 0) + s.args.weight;
                }
                if (s.category === 'sched') { said.on++; said.ns += Math.round(s.duration * 1e6); }
                for (let f = s.startStackFrame; f; f = f.parentFrame) said.frames++;
            }
        }
    }
    const text = document.createElement('pre');
    text.id = 'said';
    text.textContent = JSON.stringify(said);
    document.body.appendChild(text);
});
</script></body></html>""" % (sys.argv[2], sys.argv[2], open(sys.argv[1]).read().replace("</", "<\\/")))
END
    # The time that the page has is virtual: on a busy machine it may be over before the viewer is loaded.
    local budget
    for budget in 30000 120000 600000; do
        timeout 120 "$browser" --headless --no-sandbox --disable-gpu --allow-file-access-from-files "--virtual-time-budget=$budget" \
            --dump-dom "file://$PWD/page.html" 2>errors |
            python3 -c 'import html, re, sys; m = re.search("<pre id=\"said\">(.*?)</pre>", sys.stdin.read(), re.S); print(html.unescape(m[1]) if m else "null")' >page.json
        ! grep -q '^null$' page.json || continue
        break
    done
    cat page.json
}

for capture in callgraph switch pipe-tracepoints group; do
    "$PERFILE" export --no-symbols --to chrome --weight period -f -o trace.json "$captures/$capture.data" 2>/dev/null || exit 1
    "$PERFILE" export --no-symbols --unknown address --to folded --per none "$captures/$capture.data" 2>/dev/null >folded
    "$PERFILE" stats --by event,tid --type sample --json "$captures/$capture.data" >stats.json
    imported trace.json >said.json
    python3 - "$capture" <<'END' || failed=1
import collections
import json
import sys
said, trace = json.load(open("said.json")), json.load(open("trace.json"))
if said is None:
    sys.exit(f"FAILED {sys.argv[1]}: nothing was imported: {open('errors').read()[-500:]}")
wanted, periods, tids, frames = collections.Counter(), collections.Counter(), set(), 0
for row in json.load(open("stats.json"))["rows"]:
    wanted[row["event"]] += row["samples"]
    periods[row["event"]] += int(row["period"])
    tids.add(row["tid"])
for line in open("folded"):
    stack, n = line.rstrip("\n").rsplit(" ", 1)
    frames += int(n) * len(stack.split(";"))
on = [e for e in trace["traceEvents"] if e["ph"] == "X"]
values = sum(e["ph"] == "C" for e in trace["traceEvents"])
for what, have, want in (("warnings", said["warnings"], []), ("samples", said["samples"], dict(wanted)), ("periods", said["periods"], dict(periods)),
                         ("frames", said["frames"], frames),
                         ("threads with samples", tids - set(said["threads"]), set()), ("stretches", said["on"], len(on)),
                         ("their time", said["ns"], sum(round(e["dur"] * 1000) for e in on)), ("values", said["values"], values)):
    if have != want:
        sys.exit(f"FAILED {sys.argv[1]}: {what}: {have} and not {want}")
END
done
exit "$failed"

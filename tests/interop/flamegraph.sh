# A flame graph in a browser: Chromium opens it and draws boxes, in the light and in the dark, of a capture with
# deep stacks and thousands of frames, and of one without samples; nothing is asked of the network.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
browser=$(command -v chromium || command -v chromium-browser || command -v google-chrome) ||
    { echo "not tried: a flame graph in a browser: chromium is not installed"; exit 77; }
export HOME=$PWD
failed=0

# opened FILE: what the browser has made of it, as HTML in ./dom.
opened() {
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --window-size=1280,800 --virtual-time-budget=5000 \
        --dump-dom "file://$PWD/$1" >dom 2>errors
}

# shows NAME LEAST: that many boxes were drawn.
shows() {
    local drawn
    opened "$1.html"
    drawn=$(grep -o 'data-drawn="[0-9]*"' dom | tr -dc 0-9)
    [ "${drawn:-0}" -ge "$2" ] || { echo "FAILED $1: ${drawn:-no} boxes, at least $2: $(tail -2 errors)"; failed=1; }
}

"$PERFILE" export --no-symbols --to flamegraph --title 'a <b> & </script>' -o small.html \
    "$PERFILE_SOURCE/samples/captures/callgraph.data" 2>/dev/null || exit 1
shows small 20
grep -q '<h1 id="title">a &lt;b&gt; &amp; &lt;/script&gt;</h1>' dom || { echo "FAILED: the title"; failed=1; }
grep -q '42 samples' dom || { echo "FAILED: the number of samples"; failed=1; }

"$PERFILE" export --no-symbols --to flamegraph -o none.html "$PERFILE_SOURCE/samples/captures/stat.data" 2>/dev/null || exit 1
shows none 0
grep -q '>0 samples<' dom || { echo "FAILED: a capture without samples"; failed=1; }

# Two captures, of which one has frames that the other has not: red and blue.
for half in 0%..50% 50%..100%; do
    "$PERFILE" filter --time $half -o "${half%%%*}.data" "$PERFILE_SOURCE/samples/captures/callgraph.data" 2>/dev/null || exit 1
done
"$PERFILE" export --no-symbols --to flamegraph --compare 0.data -o changes.html 50.data 2>/dev/null || exit 1
shows changes 20
grep -q '22 samples before, 20 now' dom && grep -q 'grew, by 50.00 points at most' dom && ! grep -q 'id="when"[^>]*hidden' dom ||
    { echo "FAILED: what is compared"; failed=1; }
opened small.html
grep -q 'id="when"[^>]*hidden' dom || { echo "FAILED: nothing is compared, but there is a button for it"; failed=1; }

# 900 frames deep, 3000 wide: the same page with other data.
python3 - <<'PYTHON' || exit 1
import json
import re
page = open("small.html").read()
nodes, names = [0, 0, 6000, 100, 0], ["all"]
for i in range(3000):
    names.append("wide_%d" % i)
    nodes += [1, i + 1, 1, 1, 1]
for i in range(900):
    names.append("deep_%d" % i)
    nodes += [1 + i, 3001 + i, 3000 - i, 3, 2]
data = {"title": "large", "unit": "samples", "nodes": nodes, "names": names, "modules": ["a", "b"], "keys": "all", "pruned": 5, "least": "0.005 %"}
page = re.sub(r"(<script id='data' type='application/json'>).*?(</script>)",
              lambda m: m[1] + json.dumps(data) + m[2], page, count=1, flags=re.S)
open("large.html", "w").write(page)
PYTHON
shows large 30
grep -q '5 frames below' dom || { echo "FAILED: what was left out is not said"; failed=1; }

# What a pointer and a search say: of two boxes called by others, one in another file.
python3 - <<'PYTHON' || exit 1
import json
import re
page = open("small.html").read()
nodes = [0, 0, 100, 100, 0, 1, 1, 60, 1, 1, 2, 2, 20, 1, 2, 2, 3, 40, 1, 1, 1, 3, 40, 1, 1, 2, 2, 40, 1, 2]
data = {"title": "found", "unit": "samples", "nodes": nodes, "names": ["all", "a", "x", "b"], "modules": ["/bin/a", "/lib/x"],
        "keys": "all samples, events", "pruned": 0, "least": "0"}
script = """<script>
const canvas = document.getElementById('canvas'), search = document.getElementById('search'), said = [];
const at = (type, x, depth) => { const r = canvas.getBoundingClientRect(); canvas.dispatchEvent(new MouseEvent(type,
    { clientX: r.left + x * r.width, clientY: r.bottom - 19 * depth - 9, bubbles: true })); };
const found = () => said.push(document.getElementById('found').textContent);
search.value = 'x';
search.dispatchEvent(new Event('input'));
found();
at('mousemove', 0.1, 2);
said.push(document.getElementById('tip').innerText);
at('click', 0.1, 1);
found();
at('click', 0.1, 2);
found();
document.body.dataset.said = said.join('|');
</script></body>"""
page = re.sub(r"(<script id='data' type='application/json'>).*?(</script>)",
              lambda m: m[1] + json.dumps(data) + m[2], page, count=1, flags=re.S)
open("found.html", "w").write(page.replace("</body>", script))
PYTHON
opened found.html
grep -q 'data-said="found: 60.00 %|x[^|]*in /lib/x[^|]*20 samples[^|]*|found: 33.33 % of what is shown|found: 100.00 % of what is shown"' \
    <(tr '\n' ' ' <dom) || { echo "FAILED: what is found and pointed at: $(grep -o 'data-said[^>]*' dom)"; failed=1; }
grep -q 'no code: all samples, events' dom || { echo "FAILED: grey is not explained"; failed=1; }

for mode in 0 1; do
    timeout 120 "$browser" --headless --no-sandbox --disable-gpu --blink-settings=preferredColorScheme=$mode \
        --window-size=1280,800 --screenshot="$PWD/$mode.png" "file://$PWD/small.html" >/dev/null 2>&1
done
[ -s 0.png ] && [ -s 1.png ] && ! cmp -s 0.png 1.png || { echo "FAILED: light and dark look the same"; failed=1; }
exit "$failed"

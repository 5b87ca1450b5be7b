/* The forms `folded` and `flamegraph`: the tree of stacks as lines, and as a web page that draws
 * it. */
#include "base/alloc.h"
#include "base/error.h"
#include "export/export.h"

#include <inttypes.h>
#include <stdio.h>

/* The form `folded`: a line per stack, outermost frame first, followed by its weight.
 *
 *     work;[libc.so.6+0x27675];[work+0x11c4] 17
 *
 * Scripts that collapse stacks print this format, and most viewers of flame graphs read it.  Names
 * have no `;` and no control characters, and are UTF-8 (profile/name.c).  So a line is always
 * frames, a space, and a number, whatever a capture contains.  Lines are in the order of the tree.
 * Compared captures have two numbers, before and now, as scripts for differences expect.
 *
 * The name of a frame repeats in the line of each stack that has it, so a few deep stacks with long
 * names would make far more output than their records; then names are shortened. */

enum { WRITE_BYTES = 1 << 20 };

/* Returns the total bytes of names in the lines of a tree, if none were longer than `most`. */
static uint64_t names_bytes(const void *user, size_t most)
{
    const pf_tree *t = user;
    uint64_t sum = 0, path = 0;
    uint32_t before = 0; /* the previous node */
    for (uint32_t i = pf_tree_next(t, 0); i && sum < UINT64_MAX / 2; i = pf_tree_next(t, i)) {
        const pf_node *node = pf_tree_at(t, i);
        for (uint32_t n = before; n != node->parent; n = pf_tree_at(t, n)->parent)
            path -= strnlen(t->names[pf_tree_at(t, n)->name], most);
        path += strnlen(t->names[node->name], most);
        sum += node->self[PF_NOW] || node->self[PF_BEFORE] ? path : 0;
        before = i;
    }
    return sum;
}

/* Cuts the path back to the parent of `node`, and appends the name of the node, cut to `most`
 * bytes.  `ends` has the length of the path at each depth. */
static bool extend_path(const pf_tree *t, const pf_node *node, size_t most, pf_buffer *path,
                        pf_buffer *ends)
{
    uint8_t room[PF_TEXT_MOST];
    const char *whole = t->names[node->name];
    const perfile_bytes name =
        pf_shortened((perfile_bytes){(const uint8_t *)whole, strlen(whole)}, most, room);
    size_t end = 0;
    ends->len = node->depth * sizeof end; /* the root has depth 0 and no entry */
    if (node->depth > 1)
        memcpy(&end, ends->ptr + ends->len - 2 * sizeof end, sizeof end);
    ends->len -= sizeof end;
    path->len = end;
    if ((end && !pf_buffer_append_u8(path, ';')) || !pf_buffer_append(path, name.ptr, name.len))
        return false;
    end = path->len;
    return pf_buffer_append(ends, &end, sizeof end);
}

/* Writes the lines of a tree. */
static perfile_status write_lines(pf_exporter *x, const pf_tree *t, perfile_error *err)
{
    pf_buffer path = {0}, ends = {0};
    perfile_status st = PERFILE_OK;
    char weight[64];
    const size_t most = pf_export_names_most(x, names_bytes, t);
    for (uint32_t i = pf_tree_next(t, 0); i && st == PERFILE_OK; i = pf_tree_next(t, i)) {
        const pf_node *node = pf_tree_at(t, i);
        if (!extend_path(t, node, most, &path, &ends)) {
            st = pf_fail_nomem(err, "export");
            break;
        }
        if (!node->self[PF_NOW] && !node->self[PF_BEFORE])
            continue;
        pf_emit_bytes(&x->base, path.ptr, path.len);
        int n = x->compares ? snprintf(weight, sizeof weight, " %" PRIu64 " %" PRIu64 "\n",
                                       node->self[PF_BEFORE], node->self[PF_NOW])
                            : snprintf(weight, sizeof weight, " %" PRIu64 "\n", node->self[PF_NOW]);
        pf_emit_bytes(&x->base, weight, (size_t)n);
        if (x->base.out.len >= WRITE_BYTES || x->base.no_memory)
            st = pf_emitter_write_out(&x->base, err);
    }
    pf_buffer_free(&path);
    pf_buffer_free(&ends);
    return st;
}

static perfile_status folded_finish(perfile_emitter *e, perfile_error *err)
{
    pf_exporter *x = (pf_exporter *)e;
    pf_tree tree = {0};
    const pf_tree_options options = pf_export_tree_options(x);
    perfile_status st = pf_export_end_input(x, err);
    if (st == PERFILE_OK)
        st = pf_tree_make(&tree, &x->profile, &options, err);
    if (st == PERFILE_OK)
        st = write_lines(x, &tree, err);
    pf_tree_free(&tree);
    return st;
}

const pf_emit_ops pf_emit_folded = {
    .name = "folded",
    .doc = "a line for each stack, for flame graph scripts and viewers",
    .size = sizeof(pf_exporter),
    .open = pf_export_open,
    .close = pf_export_close,
    .begin = pf_export_begin,
    .put = pf_export_put,
    .finish = folded_finish,
    .exports = &pf_export_adds_up,
};

/* The page of a flame graph, without its data.  Each line of the page is one string here.
 *
 * The page refers to nothing outside.  Its script reads the data (format: see below), computes the
 * position of each box, and draws the visible ones on a canvas of the size of the window, so that
 * thousands of frames and deep stacks cost no more than the visible part.  Text of the capture only
 * reaches the page as text (textContent, fillText), never as markup.  `data-drawn` of the body is
 * the number of boxes drawn, for tests. */

static const char *const page[] = {
    "<style>",
    ":root { color-scheme: light dark; --back: #ffffff; --text: #1d2129; --soft: #5c6470; --line: "
    "#d7dbe0; --bar: #f4f6f8; --tip: #ffffff; --hit: #d6249f; }",
    "@media (prefers-color-scheme: dark) { :root { --back: #15181d; --text: #e6e9ee; --soft: "
    "#9aa3b0; --line: #333a44; --bar: #1d2127; --tip: #262c35; --hit: #ff6ac1; } }",
    "* { box-sizing: border-box; }",
    "html, body { height: 100%; margin: 0; }",
    "body { display: flex; flex-direction: column; background: var(--back); color: var(--text); "
    "font: 14px/1.4 system-ui, sans-serif; }",
    "header { display: flex; flex-wrap: wrap; gap: 6px 14px; align-items: center; padding: 8px "
    "12px; background: var(--bar); border-bottom: 1px solid var(--line); }",
    "h1 { font-size: 16px; font-weight: 600; margin: 0; overflow-wrap: anywhere; }",
    "header .grow { flex: 1; }",
    "input, button { font: inherit; color: inherit; background: var(--back); border: 1px solid "
    "var(--line); border-radius: 5px; padding: 3px 8px; }",
    "input { width: 15em; max-width: 60vw; }",
    "button { cursor: pointer; }",
    "#found { color: var(--soft); min-width: 8em; }",
    "#view { flex: 1; min-height: 0; overflow-y: auto; overflow-x: hidden; position: relative; }",
    "canvas { position: sticky; top: 0; display: block; outline: none; }",
    "footer { display: flex; flex-wrap: wrap; gap: 2px 16px; padding: 5px 12px; font-size: 12px; "
    "color: var(--soft); background: var(--bar); border-top: 1px solid var(--line); }",
    "footer i { display: inline-block; width: 10px; height: 10px; border-radius: 2px; "
    "margin-right: 5px; }",
    "#tip { position: fixed; display: none; max-width: min(46em, 90vw); padding: 6px 9px; "
    "background: var(--tip); border: 1px solid var(--line); border-radius: 6px; box-shadow: 0 3px "
    "12px #0004; pointer-events: none; overflow-wrap: anywhere; z-index: 2; }",
    "#tip b { font-weight: 600; }",
    "#tip span { display: block; color: var(--soft); }",
    "</style>",
    "</head>",
    "<body>",
    "<header>",
    "<h1 id='title'></h1><span class='grow'></span>",
    "<span id='found' role='status'></span>",
    "<input id='search' type='search' placeholder='Search (text or /pattern/)' aria-label='Search "
    "for frames'>",
    "<button id='reset' type='button'>Show all</button>",
    "<button id='flip' type='button'>Flip</button>",
    "<button id='when' type='button' hidden>Widths: now</button>",
    "</header>",
    "<div id='view'><div id='space'><canvas id='canvas' tabindex='0' aria-label='Flame "
    "graph'></canvas></div></div>",
    "<footer id='foot'></footer>",
    "<div id='tip'></div>",
    "<noscript>This flame graph is drawn by a script; allow scripts to see it.</noscript>",
    "<script>",
    "'use strict';",
    "(function () {",
    "const byId = id => document.getElementById(id);",
    "const data = JSON.parse(byId('data').textContent);",
    "const ROW = 19, LEAST = 0.6;",
    "/* Of code; what is no code, grey, is kind 100. */",
    "const kinds = ['kind of code not known', 'user', 'generated at run time', 'kernel', "
    "'hypervisor', 'guest'];",
    "const hues = [[60, 10, 25], [205, 32, 58], [130, 30, 45], [18, 28, 72], [285, 20, 45], [310, "
    "20, 45]];",
    "const n = data.nodes.length / 5;",
    "const depth = new Uint32Array(n), name = new Uint32Array(n), kind = new Uint8Array(n);",
    "const module = new Uint32Array(n);",
    "const parent = new Int32Array(n).fill(-1);",
    "const total = new Float64Array(n), start = new Float64Array(n), inner = new Float64Array(n);",
    "const now = new Float64Array(n), before = data.before && Float64Array.from(data.before);",
    "/* The nodes come callers first, so that of each depth the last one is the parent of the "
    "next. */",
    "const last = [], rows = [];",
    "for (let i = 0; i < n; i++) {",
    "const d = depth[i] = data.nodes[5 * i];",
    "name[i] = data.nodes[5 * i + 1];",
    "now[i] = data.nodes[5 * i + 2];",
    "kind[i] = data.nodes[5 * i + 3];",
    "module[i] = data.nodes[5 * i + 4];",
    "if (d) parent[i] = last[d - 1];",
    "last[d] = i;",
    "(rows[d] = rows[d] || []).push(i);",
    "}",
    "/* Boxes are as wide as what they weigh now, or weighed before. */",
    "function lay(weights) {",
    "const filled = [0];",
    "total.set(weights);",
    "inner.fill(0);",
    "for (let i = 0; i < n; i++) {",
    "const d = depth[i];",
    "start[i] = filled[d];",
    "filled[d] += total[i];",
    "filled[d + 1] = start[i];",
    "if (d) inner[parent[i]] += total[i];",
    "}",
    "}",
    "lay(now);",
    "/* By how much of all the frame's share grew. */",
    "function growth(i) { return (now[0] && now[i] / now[0]) - (before[0] && before[i] / "
    "before[0]); }",
    "let most = 0;",
    "for (let i = 1; before && i < n; i++) most = Math.max(most, Math.abs(growth(i)));",
    "const view = byId('view'), space = byId('space'), canvas = byId('canvas'), tip = byId('tip');",
    "const pen = canvas.getContext('2d');",
    "const dark = matchMedia('(prefers-color-scheme: dark)');",
    "let zoom = 0, down = false, hover = -1, hits = null, width = 0, height = 0, letter = 7;",
    "function number(x) { return x.toLocaleString('en'); }",
    "function share(x, of) { return of ? (100 * x / of).toFixed(2) + ' %' : '-'; }",
    "function isAbove(i, of) { while (of > i) of = parent[of]; return of === i; }",
    "/* A color for each name, of the hue that its kind has. */",
    "const colors = [new Map(), new Map()];",
    "function color(i) {",
    "if (before) return changed(growth(i) / (most || 1));",
    "const known = colors[+dark.matches], key = name[i] * 8 + (kind[i] < 6 ? kind[i] : 7);",
    "let c = known.get(key);",
    "if (c) return c;",
    "let h = 7;",
    "for (const ch of data.names[name[i]]) h = (h * 31 + ch.codePointAt(0)) >>> 0;",
    "const hue = hues[kind[i]];",
    "const light = (dark.matches ? 30 : 74) + h % 9;",
    "c = hue ? 'hsl(' + (hue[0] + (h >>> 4) % hue[1]) + ' ' + hue[2] + '% ' + light + '%)'",
    ": 'hsl(220 8% ' + light + '%)';",
    "known.set(key, c);",
    "return c;",
    "}",
    "/* Red for what grew, blue for what shrank; small changes are told from none. */",
    "function changed(part) {",
    "const far = Math.sqrt(Math.abs(part));",
    "const light = dark.matches ? 26 + 14 * far : 92 - 28 * far;",
    "return 'hsl(' + (part > 0 ? 6 : 214) + ' ' + (far < 0.02 ? 4 : 20 + 60 * far) + '% ' + light "
    "+ '%)';",
    "}",
    "function top(d) { return down ? d * ROW : (rows.length - 1 - d) * ROW; }",
    "function draw() {",
    "const scale = devicePixelRatio || 1, style = getComputedStyle(document.documentElement);",
    "const text = style.getPropertyValue('--text'), back = style.getPropertyValue('--back');",
    "const hit = style.getPropertyValue('--hit');",
    "width = view.clientWidth;",
    "height = view.clientHeight;",
    "space.style.height = Math.max(rows.length * ROW, height) + 'px';",
    "canvas.style.width = width + 'px';",
    "canvas.style.height = height + 'px';",
    "canvas.width = Math.round(width * scale);",
    "canvas.height = Math.round(height * scale);",
    "pen.setTransform(scale, 0, 0, scale, 0, 0);",
    "pen.fillStyle = back;",
    "pen.fillRect(0, 0, width, height);",
    "pen.font = '12px ui-monospace, Menlo, Consolas, monospace';",
    "pen.textBaseline = 'middle';",
    "letter = pen.measureText('m').width;",
    "const shift = offset(), x0 = start[zoom], per = width / (total[zoom] || 1);",
    "let drawn = 0;",
    "for (let d = 0; d < rows.length; d++) {",
    "const y = top(d) + shift;",
    "if (y + ROW < 0 || y > height) continue;",
    "const row = rows[d];",
    "let from = -1, to = -1;",
    "const thin = () => { if (from >= 0) many(from, to, y, text); from = -1; };",
    "for (let k = first(row, x0); k < row.length; k++) {",
    "const i = row[k];",
    "let x = (start[i] - x0) * per, w = total[i] * per;",
    "if (x >= width) break;",
    "if (d <= depth[zoom]) {",
    "if (!isAbove(i, zoom)) continue;",
    "x = 0;",
    "w = width;",
    "}",
    "if (w < LEAST) {",
    "if (from >= 0 && x > to + 1) thin();",
    "if (from < 0) from = x;",
    "to = x + w;",
    "continue;",
    "}",
    "thin();",
    "box(i, x, y, w, text, hit);",
    "drawn++;",
    "}",
    "thin();",
    "}",
    "pen.fillStyle = text;",
    "if (!total[0]) pen.fillText('There are no samples to show.', 12, 20);",
    "document.body.dataset.drawn = drawn;",
    "}",
    "/* Where row 0 of the picture is drawn: it stands at the bottom if it is lower than the "
    "window. */",
    "function offset() {",
    "const spare = down ? 0 : Math.max(0, height - rows.length * ROW);",
    "return spare - view.scrollTop;",
    "}",
    "/* Boxes too narrow to be told apart, as one bar. */",
    "function many(from, to, y, text) {",
    "pen.globalAlpha = 0.22;",
    "pen.fillStyle = text;",
    "pen.fillRect(from, y, to - from, ROW - 1);",
    "pen.globalAlpha = 1;",
    "}",
    "function box(i, x, y, w, text, hit) {",
    "const found = hits && hits[name[i]];",
    "pen.globalAlpha = depth[i] < depth[zoom] ? 0.55 : hits && !found ? 0.4 : 1;",
    "pen.fillStyle = found ? hit : color(i);",
    "pen.fillRect(x, y, Math.max(w - 0.7, 0.5), ROW - 1);",
    "if (i === hover) {",
    "pen.strokeStyle = text;",
    "pen.lineWidth = 1.5;",
    "pen.strokeRect(x + 0.75, y + 0.75, Math.max(w - 2.2, 0.5), ROW - 2.5);",
    "}",
    "const fits = Math.floor((w - 8) / letter);",
    "if (fits >= 3) {",
    "const s = data.names[name[i]];",
    "pen.fillStyle = found ? (dark.matches ? '#000' : '#fff') : text;",
    "pen.fillText(s.length <= fits ? s : s.slice(0, fits - 1) + '\\u2026', x + 4, y + ROW / 2);",
    "}",
    "pen.globalAlpha = 1;",
    "}",
    "/* The first node of a row that ends after `x`. */",
    "function first(row, x) {",
    "let low = 0, high = row.length;",
    "while (low < high) {",
    "const mid = (low + high) >> 1;",
    "if (start[row[mid]] + total[row[mid]] <= x) low = mid + 1; else high = mid;",
    "}",
    "return low;",
    "}",
    "function at(event) {",
    "const place = canvas.getBoundingClientRect();",
    "const y = event.clientY - place.top - offset();",
    "const r = Math.floor(y / ROW), d = down ? r : rows.length - 1 - r;",
    "if (y < 0 || d < 0 || d >= rows.length) return -1;",
    "let node = -1;",
    "if (d <= depth[zoom]) {",
    "node = zoom;",
    "while (depth[node] > d) node = parent[node];",
    "return node;",
    "}",
    "const x = start[zoom] + (event.clientX - place.left) / width * total[zoom];",
    "const k = first(rows[d], x);",
    "if (k < rows[d].length && start[rows[d][k]] <= x) node = rows[d][k];",
    "return node;",
    "}",
    "function line(parentNode, tag, textContent) {",
    "const e = document.createElement(tag);",
    "e.textContent = textContent;",
    "parentNode.append(e);",
    "}",
    "function show(event) {",
    "const i = at(event);",
    "if (i !== hover) { hover = i; draw(); }",
    "tip.style.display = i < 0 ? 'none' : 'block';",
    "canvas.style.cursor = i < 0 ? 'default' : 'pointer';",
    "if (i < 0) return;",
    "tip.textContent = '';",
    "line(tip, 'b', data.names[name[i]]);",
    "if (module[i]) line(tip, 'span', 'in ' + data.modules[module[i] - 1]);",
    "line(tip, 'span', number(total[i]) + ' ' + data.unit + ', ' + share(total[i], total[0]) +",
    "(zoom ? ', ' + share(total[i], total[zoom]) + ' of what is shown' : ''));",
    "line(tip, 'span', number(total[i] - inner[i]) + ' here or in frames left out');",
    "if (before) {",
    "const points = 100 * growth(i);",
    "line(tip, 'span', 'before ' + share(before[i], before[0]) + ', now ' + share(now[i], now[0]) "
    "+",
    "': ' + (points < 0 ? '' : '+') + points.toFixed(2) + ' points');",
    "}",
    "const w = tip.offsetWidth, h = tip.offsetHeight;",
    "tip.style.left = Math.max(4, Math.min(event.clientX + 12, innerWidth - w - 8)) + 'px';",
    "tip.style.top = (event.clientY + 18 + h > innerHeight ? event.clientY - h - 10",
    ": event.clientY + 18) + 'px';",
    "}",
    "function go(i) { zoom = i; hover = -1; tip.style.display = 'none'; search(); }",
    "/* What is found is counted where it is zoomed into, each box once, whatever calls it or is "
    "called. */",
    "function found() {",
    "for (let i = zoom; i >= 0; i = parent[i]) if (hits[name[i]]) return total[zoom];",
    "let sum = 0, inside = -1;",
    "for (let i = zoom + 1; i < n && depth[i] > depth[zoom]; i++) {",
    "if (inside >= 0 && depth[i] > inside) continue;",
    "inside = -1;",
    "if (hits[name[i]]) { sum += total[i]; inside = depth[i]; }",
    "}",
    "return sum;",
    "}",
    "function search() {",
    "const what = byId('search').value;",
    "let test = null;",
    "hits = null;",
    "byId('found').textContent = '';",
    "if (what) {",
    "const pattern = /^\\/(.+)\\/?$/.exec(what);",
    "const lower = what.toLowerCase();",
    "test = s => s.toLowerCase().includes(lower);",
    "try { if (pattern) { const re = new RegExp(pattern[1].replace(/\\/$/, '')); test = s => "
    "re.test(s); } }",
    "catch (e) { /* not a pattern yet: text */ }",
    "hits = data.names.map(test);",
    "byId('found').textContent = 'found: ' + share(found(), total[zoom]) +",
    "(zoom ? ' of what is shown' : '');",
    "}",
    "draw();",
    "}",
    "canvas.addEventListener('mousemove', show);",
    "canvas.addEventListener('mouseleave', () => { hover = -1; tip.style.display = 'none'; draw(); "
    "});",
    "canvas.addEventListener('click', event => { const i = at(event); if (i >= 0) go(i); });",
    "byId('reset').addEventListener('click', () => { byId('search').value = ''; search(); go(0); "
    "});",
    "byId('flip').addEventListener('click', () => { down = !down; draw(); view.scrollTop = down ? "
    "0 : 1e9; draw(); });",
    "byId('search').addEventListener('input', search);",
    "byId('when').hidden = !before;",
    "byId('when').addEventListener('click', () => {",
    "const old = byId('when').textContent.endsWith('now');",
    "byId('when').textContent = old ? 'Widths: before' : 'Widths: now';",
    "lay(old ? before : now);",
    "if (!total[zoom]) zoom = 0;",
    "legend();",
    "search();",
    "});",
    "addEventListener('keydown', event => {",
    "if (event.key === 'Escape') go(zoom ? parent[zoom] : 0);",
    "else if (event.key === '/' && document.activeElement !== byId('search')) { "
    "event.preventDefault(); byId('search').focus(); }",
    "});",
    "view.addEventListener('scroll', draw);",
    "addEventListener('resize', draw);",
    "dark.addEventListener('change', () => { legend(); draw(); });",
    "/* What the colors mean, and what is not shown. */",
    "function legend() {",
    "const foot = byId('foot');",
    "foot.textContent = '';",
    "line(foot, 'span', before ? number(before[0]) + ' ' + data.unit + ' before, ' + "
    "number(now[0]) + ' now; colors compare shares'",
    ": number(total[0]) + ' ' + data.unit);",
    "const dot = (style, text) => {",
    "const e = document.createElement('span'), mark = document.createElement('i');",
    "mark.style.background = style;",
    "e.append(mark, text);",
    "foot.append(e);",
    "};",
    "if (before) {",
    "dot(changed(1), 'grew, by ' + (100 * most).toFixed(2) + ' points at most');",
    "dot(changed(-1), 'shrank');",
    "dot(changed(0), 'as before');",
    "}",
    "for (let k = 0; k < kinds.length && !before; k++) {",
    "if (!kind.includes(k)) continue;",
    "const hue = hues[k];",
    "dot('hsl(' + (hue[0] + hue[1] / 2) + ' ' + hue[2] + '% ' + (dark.matches ? 38 : 72) + '%)', "
    "kinds[k]);",
    "}",
    "if (!before) dot('hsl(220 8% ' + (dark.matches ? 38 : 72) + '%)', 'no code: ' + data.keys);",
    "if (data.reversed) line(foot, 'span', 'stacks are merged from the function that ran: its "
    "callers are its next boxes');",
    "if (data.pruned) line(foot, 'span', number(data.pruned) + ' frames below ' + data.least + ' "
    "are left out');",
    "if (data.about) line(foot, 'span', data.about);",
    "line(foot, 'span', 'Click to zoom in, Esc to zoom out, / to search');",
    "}",
    "document.title = byId('title').textContent = data.title;",
    "legend();",
    "draw();",
    "view.scrollTop = 1e9; /* the outermost frames are at the bottom */",
    "draw();",
    "})();",
    "</script>",
    "</body>",
    "</html>",
    NULL,
};

/* The form `flamegraph`: one self-contained HTML file with a picture of the tree of samples, to
 * zoom and search in any browser.
 *
 * The data is JSON in a script element that is not run; the page draws it.  `nodes` has five
 * numbers per frame, in the order of the tree: depth, index of its name in `names`, weight
 * including its callees, kind (PF_CODE_…), and index of its file in `modules` + 1, or 0.  `keys`
 * explains the boxes that are not code, `about` is the origin of the capture.  Frames too small to
 * see are left out, and counted in `pruned`.  If captures are compared, `before` has the earlier
 * weight of each of these frames. */

enum {
    LEAST_SHARE = 20000, /* frames of less than 1/LEAST_SHARE of all are left out */
};
#define LEAST_TEXT "0.005 %" /* LEAST_SHARE as text */

static void put(pf_exporter *x, const char *text)
{
    pf_emit_bytes(&x->base, text, strlen(text));
}

static bool is_shown(const pf_node *node, const uint64_t *all)
{
    bool shown = false;
    for (size_t when = PF_NOW; when <= PF_BEFORE; when++)
        shown |= node->total[when] && node->total[when] >= all[when] / LEAST_SHARE;
    return shown;
}

/* Returns the next node that is shown; 0 at the end.  If a node is left out, so are its callees. */
static uint32_t next_shown(pf_exporter *x, const pf_tree *t, uint32_t at)
{
    for (at = pf_tree_next(t, at); at; at = pf_tree_next(t, at)) {
        if (is_shown(pf_tree_at(t, at), pf_tree_at(t, 0)->total))
            return at;
        x->sum.pruned++;
    }
    return 0;
}

/* Texts of the data, in the order in which nodes use them. */
typedef struct used_texts {
    uint32_t *numbers; /* for each item: its index + 1; 0 if it is not used yet */
    uint32_t *things;  /* items by index */
    uint32_t n;
} used_texts;

static bool open_used(used_texts *u, size_t n)
{
    *u = (used_texts){pf_alloc(n, sizeof *u->numbers), pf_alloc(n, sizeof *u->things), 0};
    return u->numbers && u->things;
}

static void close_used(used_texts *u)
{
    pf_free(u->numbers);
    pf_free(u->things);
}

/* Returns the index of an item, + 1. */
static uint32_t use(used_texts *u, size_t thing)
{
    if (!u->numbers[thing]) {
        u->things[u->n++] = (uint32_t)thing;
        u->numbers[thing] = u->n;
    }
    return u->numbers[thing];
}

/* Returns the index of the file of a node, + 1; 0 if it has none.  The index after the last object
 * means several files. */
static uint32_t use_object(used_texts *modules, const pf_exporter *x, uint32_t object)
{
    if (object == PF_NO_OBJECT)
        return 0;
    return use(modules, object == PF_OBJECTS ? x->profile.objects.n : object);
}

/* Writes the nodes, and then the names and files that they use. */
static perfile_status put_nodes(pf_exporter *x, const pf_tree *t, used_texts *names,
                                used_texts *modules, perfile_error *err)
{
    uint32_t at = 0;
    char text[112];
    pf_buffer name = {0};
    do {
        const pf_node *node = pf_tree_at(t, at);
        int n = snprintf(
            text, sizeof text, "%s%" PRIu32 ",%" PRIu32 ",%" PRIu64 ",%" PRIu32 ",%" PRIu32,
            at ? "," : "", node->depth, use(names, node->name) - 1, node->total[PF_NOW],
            at ? node->code : PF_CODE_LABEL, use_object(modules, x, node->object));
        pf_emit_bytes(&x->base, text, (size_t)n);
        if (x->base.out.len >= WRITE_BYTES) {
            perfile_status st = pf_emitter_write_out(&x->base, err);
            if (st != PERFILE_OK)
                return st;
        }
        at = next_shown(x, t, at);
    } while (at);
    put(x, "],\n\"names\":[");
    for (uint32_t i = 0; i < names->n; i++) {
        put(x, i ? "," : "");
        pf_export_put_string(x, names->things[i] ? t->names[names->things[i]] : "all");
    }
    put(x, "],\n\"modules\":[");
    for (uint32_t i = 0; i < modules->n; i++) {
        put(x, i ? "," : "");
        if (modules->things[i] == x->profile.objects.n)
            put(x, "\"several files\"");
        else
            pf_export_put_name(x, &name,
                               pf_profile_object_at(&x->profile, modules->things[i])->name);
    }
    put(x, "]");
    pf_buffer_free(&name);
    return PERFILE_OK;
}

/* Writes the meaning of boxes that are not code. */
static void put_keys(pf_exporter *x)
{
    static const char *const words[] = {[PERFILE_PER_COMM] = ", names of threads",
                                        [PERFILE_PER_PID] = ", processes",
                                        [PERFILE_PER_TID] = ", threads",
                                        [PERFILE_PER_EVENT] = ", events",
                                        [PERFILE_PER_CPU] = ", CPUs"};
    put(x, ",\n\"keys\":\"all samples");
    for (const uint8_t *per = x->options.per; *per; per++)
        put(x, words[*per]);
    put(x, "\"");
}

/* Writes host and command line of the first capture that has them. */
static void put_about(pf_exporter *x)
{
    const char *host = x->facts[PERFILE_FACT_HOSTNAME], *command = x->facts[PERFILE_FACT_CMDLINE];
    const char *const parts[] = {host ? host : "", host && command ? ": " : "",
                                 command ? command : ""};
    pf_buffer text = {0}, name = {0};
    bool ok = true;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        ok = ok && pf_buffer_append(&text, parts[i], strlen(parts[i]));
    if (!ok || !pf_buffer_append_u8(&text, 0)) {
        x->base.no_memory = true;
    } else if (host || command) {
        put(x, ",\n\"about\":");
        pf_export_put_name(x, &name, (const char *)text.ptr);
    }
    pf_buffer_free(&text);
    pf_buffer_free(&name);
}

/* Writes the earlier weights of the nodes that are shown. */
static void put_before(pf_exporter *x, const pf_tree *t)
{
    const uint64_t pruned = x->sum.pruned; /* counted already */
    char text[32];
    put(x, ",\n\"before\":[");
    uint32_t at = 0;
    do {
        int n = snprintf(text, sizeof text, "%s%" PRIu64, at ? "," : "",
                         pf_tree_at(t, at)->total[PF_BEFORE]);
        pf_emit_bytes(&x->base, text, (size_t)n);
        at = next_shown(x, t, at);
    } while (at);
    put(x, "]");
    x->sum.pruned = pruned;
}

/* Writes the data: everything that the script reads. */
static perfile_status put_data(pf_exporter *x, const pf_tree *t, perfile_error *err)
{
    char text[64];
    perfile_status st = PERFILE_E_NOMEM;
    pf_buffer title = {0};
    used_texts names = {0}, modules = {0};
    put(x, "<script id='data' type='application/json'>{\"title\":");
    pf_export_put_title(x, &title);
    put(x, x->options.flags & PERFILE_EXPORT_PERIODS ? ",\"unit\":\"events (periods)\""
                                                     : ",\"unit\":\"samples\"");
    if (x->options.flags & PERFILE_EXPORT_REVERSE)
        put(x, ",\"reversed\":true");
    put_keys(x);
    put_about(x);
    put(x, ",\n\"nodes\":[");
    if (open_used(&names, t->n_names) && open_used(&modules, x->profile.objects.n + 1))
        st = put_nodes(x, t, &names, &modules, err);
    if (x->compares)
        put_before(x, t);
    snprintf(text, sizeof text, ",\n\"pruned\":%" PRIu64 ",\"least\":\"%s\"}", x->sum.pruned,
             LEAST_TEXT);
    put(x, text);
    put(x, "</script>\n");
    close_used(&names);
    close_used(&modules);
    pf_buffer_free(&title);
    return st == PERFILE_E_NOMEM ? pf_fail_nomem(err, "export") : st;
}

static perfile_status flamegraph_finish(perfile_emitter *e, perfile_error *err)
{
    pf_exporter *x = (pf_exporter *)e;
    pf_tree tree = {0};
    const pf_tree_options options = pf_export_tree_options(x);
    perfile_status st = pf_export_end_input(x, err);
    if (st == PERFILE_OK)
        st = pf_tree_make(&tree, &x->profile, &options, err);
    put(x, "<!DOCTYPE html>\n<html lang='en'>\n<head>\n<meta charset='utf-8'>\n"
           "<meta name='viewport' content='width=device-width'>\n<title>Flame graph</title>\n");
    if (st == PERFILE_OK)
        st = put_data(x, &tree, err);
    for (const char *const *line = page; *line; line++) {
        put(x, *line);
        put(x, "\n");
    }
    pf_tree_free(&tree);
    return st;
}

const pf_emit_ops pf_emit_flamegraph = {
    .name = "flamegraph",
    .doc = "a picture to zoom and search, one HTML file for any browser",
    .size = sizeof(pf_exporter),
    .open = pf_export_open,
    .close = pf_export_close,
    .begin = pf_export_begin,
    .put = pf_export_put,
    .finish = flamegraph_finish,
    .exports = &pf_export_adds_up,
};

# Names of functions: whole in pipes however long they are, cut in the middle on terminals; functions of one name are apart
# where their addresses are.
set -eu
. "$PERFILE_SOURCE/tests/needs.bash"
needs python3
PYTHONDONTWRITEBYTECODE=1 PYTHONPATH="$PERFILE_SOURCE/tests/hostile" python3 - "$PERFILE" <<'END'
import gzip
import json
import os
import pty
import subprocess
import sys

import cost_symbols

perfile = sys.argv[1]
long = "n" * 300
names = ["same", "same", "_Z2ovi", "_Z2ovd", long + "1", long + "2", "m" * 4000]
cost_symbols.capture("jit.data", [b"//anon"], [(0, 0x1000 + 16 * i + k) for i in range(len(names)) for k in range(i + 1)])
os.mkdir("maps")
with open("maps/perf-7.map", "w") as out:
    for i, name in enumerate(names):
        print("%x 10 %s" % (0x401000 + 16 * i, name), file=out)


def run(*words):
    return subprocess.run([perfile, *words, "--perf-map-dir", "maps", "jit.data"], check=True, capture_output=True).stdout


rows = json.loads(run("stats", "--by", "sym", "--sort", "key", "--json"))["rows"]
assert len(rows) == len(names), rows
for name in names:
    assert name.startswith("_Z") or name in [row["sym"] for row in rows], name
same = [row for row in rows if row["sym"] == "same"]
assert [(row["start"], row["samples"]) for row in same] == [(str(0x401000), 1), (str(0x401010), 2)], same

table = run("stats", "--by", "sym", "--sort", "key").decode().splitlines()
assert len(table) == len(names) + 2, table
for name in (long + "1", long + "2", "m" * 4000):
    assert [line for line in table if line.endswith("[.] " + name)], name
assert len(run("stats", "--by", "sym,comm")) < 8000, "a long cell widens all rows"

packed = gzip.decompress(run("export", "--to", "pprof"))
for name in ("_Z2ovi", "_Z2ovd", long + "1", long + "2"):
    assert packed.count(name.encode()) == 1, name # of a function of its own, which has it as system_name

# On a terminal of 80 columns a line is no longer than that, and the ends of names are there.
parent, child = pty.openpty()
command = subprocess.Popen([perfile, "stats", "--by", "sym", "--perf-map-dir", "maps", "jit.data"], stdout=child,
                           env=dict(os.environ, COLUMNS="80"))
os.close(child)
shown = b""
try:
    while piece := os.read(parent, 4096):
        shown += piece
except OSError: # the other end is closed
    pass
assert command.wait() == 0
lines = shown.decode().splitlines()
assert max(map(len, lines)) <= 80, lines
assert any(line.startswith(" ") and "…" in line and line.endswith("n2") for line in lines), lines

# What has no name is told by file, with the reason and what helps; those with most come first.
os.mkdir("root")
cost_symbols.capture("missing.data", [b"//anon", b"/nowhere/lib.so", b"/not/there", b"/bin/one", b"/bin/two", b"/bin/three"],
                     [(m, 0x1000 + 16 * i) for m, n in enumerate((3, 4, 2, 1, 1, 1)) for i in range(n)])


def told(*words):
    done = subprocess.run([perfile, *words, "--symfs", "root", "missing.data"], check=True, capture_output=True)
    return done.stdout, done.stderr.decode().splitlines()


rows = [("  4 in /nowhere/lib.so: the file is not here (--symfs, --debug-dir)"),
        ("  3 in /tmp/perf-7.map: compiled while it ran, and there is no perf-PID.map (--perf-map-dir)"),
        ("  2 in /not/there: the file is not here (--symfs, --debug-dir)"),
        ("  1 in /bin/one: the file is not here (--symfs, --debug-dir)"),
        ("  1 in /bin/three: the file is not here (--symfs, --debug-dir)"),
        ("  1 in other files")]
for words, head in ((("stats", "--by", "sym"), "missing.data: "), (("export", "--to", "folded", "--unknown", "address"), "")):
    text, lines = told(*words)
    at = lines.index("perfile: %s12 nodes of the call tree have no known function" % head)
    assert lines[at + 1:at + 7] == ["perfile: " + row for row in rows], lines
    assert not any("in other" in line or " in /" in line for line in told(*words, "--no-symbols")[1])
unnamed = json.loads(told("stats", "--by", "sym", "--json")[0])["code"]["unnamed"]
assert [(row["file"], row["kind"], row["stacks"]) for row in unnamed][:2] == [("/nowhere/lib.so", "file", 4), ("/tmp/perf-7.map", "generated", 3)]
assert len(unnamed) == 6 and sum(row["stacks"] for row in unnamed) == 12, unnamed
text, lines = told("export", "--to", "folded", "--unknown", "address", "--json", "-o", "out")
assert json.loads(text)["unnamed"] == unnamed, text
text, lines = told("export", "--to", "folded", "--json", "-o", "joined")  # a frame for each file
assert [(row["file"], row["stacks"]) for row in json.loads(text)["unnamed"]] == sorted((row["file"], 1) for row in unnamed), text

# Code that a process has made is called by its map, as perf does, in every report, and selected by that name.
assert [line.split()[-1] for line in told("stats", "--by", "dso")[0].decode().splitlines() if "perf-7.map" in line] == ["/tmp/perf-7.map"]
assert [row["dso"] for row in json.loads(told("stats", "--by", "dso,sym", "--json")[0])["rows"]].count("/tmp/perf-7.map") == 3
assert b"[perf-7.map" in told("export", "--to", "folded")[0]
for words in (("--dso", "/tmp/perf-7.map"), ("--dso", "perf-7.map"), ("--where", 'dso == "/tmp/perf-7.map"')):
    chosen = subprocess.run([perfile, "stats", *words, "--type", "sample", "--json", "missing.data"], check=True, capture_output=True).stdout
    assert json.loads(chosen)["total"]["records"] == 3, words

# A file whose symbols do not cover an address, as in programs that are stripped of all but dynamic symbols.
os.mkdir("root/bin")
cost_symbols.elf("root/bin/four", [(b".text\0", 1, 0x1000, bytes(64), 0, 0),
                                   (b".symtab\0", 2, 0, cost_symbols.symbol(0, 0, 0) + cost_symbols.symbol(1, 0x1000, 16), 3, 24),
                                   (b".strtab\0", 3, 0, b"\0here\0", 0, 0)])
cost_symbols.capture("missing.data", [b"/bin/four"], [(0, 0x1000), (0, 0x1020)])
text, lines = told("stats", "--by", "sym")
assert b" here\n" in text, text
assert lines[-1] == "perfile:   1 in /bin/four: none of its symbols covers them; a debug file may have more (--debug-dir)", lines

# A name that is no UTF-8 is bytes in JSON.
cost_symbols.capture("missing.data", [b"/\xc3\xc3"], [(0, 0x1000)])
assert json.loads(told("stats", "--by", "sym", "--json")[0])["code"]["unnamed"][0]["file"] == {"hex": "2fc3c3"}
END

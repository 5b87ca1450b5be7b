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
END

"""A name that a report prints, given back to the option of that key, selects exactly what was printed: see names.sh."""
import json
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.environ["PERFILE_SOURCE"], "tests"))
from chosen import CASES, chosen

PERFILE, CAPTURES = sys.argv[1], sys.argv[2:]
KEYS = ("comm", "dso", "event", "type", "pid", "tid", "cpu")
MOST = 12  # names of a key that are given back, for each capture: the most frequent, and some others
WRONG, TRIED = [], 0


def run(*words):
    done = subprocess.run([PERFILE, *words], capture_output=True)
    return done.returncode, done.stdout, done.stderr


def figures(row):
    return row["records"], row["samples"], row["bytes"]


def rows_of(capture, key):
    status, out, _ = run("stats", "--by", key, "--json", capture)
    if status not in (0, 3):
        return []
    try:
        rows = [row for row in json.loads(out)["rows"] if row[key] is not None]
    except ValueError:
        return []
    rows = [row for row in rows if not isinstance(row[key], dict)]  # bytes that are no UTF-8
    random.seed(len(rows))
    return rows[:MOST // 2] + random.sample(rows[MOST // 2:], min(len(rows[MOST // 2:]), MOST // 2))


def selected(capture, *option):
    status, out, err = run("stats", *option, "--json", capture)
    if status not in (0, 3):
        return "status %d: %.200s" % (status, err.decode(errors="replace"))
    return figures(json.loads(out)["total"])


def quoted(text):
    return '"%s"' % text.replace("\\", "\\\\").replace('"', '\\"')


def try_row(capture, key, row):
    global TRIED
    name = str(row[key])
    wanted = figures(row)
    TRIED += 1
    got = selected(capture, "--" + key, name)
    if got != wanted:
        WRONG.append("%s: --%s %r selects %s, printed were %s" % (capture, key, name, got, wanted))
    if key not in ("comm", "dso", "event", "pid", "tid"):
        return
    condition = "type == SAMPLE && %s == %s" % (key, name if key in ("pid", "tid") else quoted(name))
    got = selected(capture, "--where", condition)
    if row["samples"] and not (isinstance(got, tuple) and got[1] == row["samples"]):
        WRONG.append("%s: --where %r selects %s, samples printed were %d" % (capture, condition, got, row["samples"]))


for capture in CAPTURES:
    for key in KEYS:
        for row in rows_of(capture, key):
            if chosen():
                try_row(capture, key, row)
print("%d names of %d captures" % (TRIED, len(CAPTURES)))
if TRIED < 400 // CASES:
    WRONG.append("only %d names" % TRIED)
sys.exit("\n".join(WRONG) if WRONG else 0)

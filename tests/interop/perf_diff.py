"""perf_diff.py: see perf_diff.sh."""
import collections
import json
import os
import re
import subprocess
import sys

import perf_report
from captures import PERFILE, captures, run
from enough import enough
from perf_report import NO_KERNEL, as_text, module, place

counted = collections.Counter()
KEYS = {"dso,sym": "dso,symbol", "comm": "comm", "dso": "dso", "cpu": "cpu"}


def event_of(path):
    """The name of the only event that has samples, and can be compared; None."""
    status, output, _ = run(PERFILE, "stats", "--json", "--by", "event", "--type", "sample", path)
    if status != 0 or perf_report.says_something_else(path):
        return None
    names = [as_text(row["event"]) for row in json.loads(output)["rows"] if row["event"] is not None]
    report = json.loads(run(PERFILE, "stats", "--json", "--total", *NO_KERNEL, path)[1])
    return names[0] if len(names) == 1 and report["total"]["period"] and not report["code"]["unmapped"] else None


def of_perfile(before, now, by):
    """{key: [period before, now, share before, delta, ratio]}, and the text of what is wrong."""
    status, output, errors = run(PERFILE, "stats", "--json", "--by", by, "--compare", before, *NO_KERNEL, now)
    if status != 0:
        return None, errors
    found = collections.defaultdict(lambda: [0, 0, 0.0, 0.0, None])
    for row in json.loads(output)["rows"]:
        key = [row[word] if isinstance(row[word], int) else as_text(row[word]) for word in by.split(",")]
        if "dso" in by:
            key[0] = "unknown" if key[0] is None else module(key[0])
        if by == "comm":
            key[0] = key[0][:7]
        if by == "dso,sym":
            key = place(key[0], key[1] if row["named"] else "?")
        sums = found[tuple(str(word) for word in key)]
        sums[0] += int(row["before"]["period"])
        sums[1] += int(row["period"])
        sums[2] += row["percent_before"]
        sums[3] += row["delta"]
        sums[4] = row["ratio"]
    return {key: sums for key, sums in found.items() if sums[0] or sums[1]}, ""


def of_perf(before, now, by, compute):
    """The same of perf diff: the last two numbers are texts, as it prints them; one of them is None."""
    status, output, errors = run("perf", "diff", "-p", "-t", "|", "-c", compute, "-s", KEYS[by], *NO_KERNEL,
                                 before, now)
    if status or perf_report.TROUBLE.search(errors):
        return None
    found = {}
    for line in output.split("\n"):
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("#") or len(cells) < 5:
            continue
        key = cells[4:]
        if "dso" in by:
            key[0] = "unknown" if key[0] == "[unknown]" else module(key[0])
        if by == "dso,sym":
            key = place(key[0], "?" if cells[5][4:].startswith("0x") else cells[5][4:])
        if by == "comm":
            key[0] = key[0][:7]  # some it cuts to the width of a heading
        if by == "cpu":
            key[0] = str(int(key[0])) if int(key[0]) >= 0 else "None"
        old = found.get(tuple(key), [0, 0])
        texts = [cells[0], cells[2]] if tuple(key) not in found else ["", ""]  # several lines have no common share
        found[tuple(key)] = [old[0] + int(cells[1] or 0), old[1] + int(cells[3] or 0), *texts]
    return found


def differs(mine, theirs):
    """Whether a line says something else; what perf rounds may be one off in the last digit."""
    if mine[:2] != theirs[:2]:
        return True
    if theirs[2] and abs(mine[2] - float(theirs[2])) > 0.0051:
        return True
    if theirs[3] == "N/A":  # the ratio of a line that was not there before
        return mine[4] is not None
    if theirs[3].endswith("%"):
        return abs(mine[3] - float(theirs[3].rstrip("%"))) > 0.0051
    return bool(theirs[3]) and abs((mine[4] or 0) - float(theirs[3])) > 1e-6 * max(1, mine[4] or 0)


def compare(before, now, by, compute):
    """None, or what differs; "skipped" where perf does not read them."""
    mine, errors = of_perfile(before, now, by)
    theirs = of_perf(before, now, by, compute)
    if mine is None:
        return "stats: " + errors
    if not theirs:
        return "skipped"
    wrong = [(key, mine.get(key), theirs.get(key)) for key in {*mine, *theirs}
             if key not in mine or key not in theirs or differs(mine[key], theirs[key])]
    counted["lines by " + by] += len(theirs)
    counted["lines on one side"] += sum(not sums[0] or not sums[1] for sums in theirs.values())
    return "--by %s, %s: %d of %d lines differ: %s" % (by, compute, len(wrong), len(theirs), wrong[:3]) if wrong else None


PROGRAM = """
static volatile unsigned long n;
%s
__attribute__((noinline)) void often(void) { for (int i = 0; i < %d; i++) n += i; n++; }
__attribute__((noinline)) void %s(void) { for (int i = 0; i < 20000; i++) n ^= i; n++; }
int main(void) { for (int i = 0; i < 5000; i++) { often(); %s(); } return 0; }
"""
BUILDS = (("old", ("", 30000, "before", "before")),
          ("new", ("__attribute__((noinline)) int other(int x) { return x * (int)n; }", 15000, "after", "after")))


def recorded():
    """Captures of two builds of a program; None where they cannot be recorded."""
    for folder, parts in BUILDS:
        os.makedirs(folder, exist_ok=True)
        with open(folder + "/work.c", "w") as f:
            f.write(PROGRAM % parts)
        for command in (["cc", "-O1", "-o", folder + "/work", folder + "/work.c"],
                        ["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "2000", "-o", folder + ".data", folder + "/work"]):
            try:
                if subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL).returncode:
                    return None
            except OSError:
                return None
    return "old.data", "new.data"


def pairs():
    """Captures with the one after them that has the same event, of the same folder."""
    last = {}
    for path, _ in captures():
        if os.path.isdir(path) or not (event := event_of(path)):
            continue
        key = os.path.dirname(path), event
        if key in last:
            yield last[key], path
        last[key] = path


def main():
    failed = skipped = 0
    with open("none", "w") as f:
        f.write("0000000000001000 d none\n")
    here = recorded()
    if not here:
        print("not tried: recording two builds of a program")
    for before, now in [*pairs(), *([here] if here else [])]:
        for by, compute in (*((by, "delta-abs") for by in KEYS), ("dso,sym", "ratio")):
            if by == "comm" and "systemwide.1-3.8" in before + now:
                continue  # samples of thread 0 of a process, which perf calls swapper
            said = compare(before, now, by, compute)
            counted["comparisons"] += not said
            skipped += said == "skipped"
            if said and said != "skipped":
                failed += 1
                print("%s, %s: %s" % (before, now, said))
    if here:
        mine, _ = of_perfile(*here, "dso,sym")
        print("of two builds:", {key: ["%.1f" % x for x in sums[2:4]] for key, sums in mine.items() if key[0] == "work"})
        functions = [("work", name) for name in ("often", "before", "after")]
        failed += not (all(key in mine for key in functions) and mine[functions[0]][0] and mine[functions[0]][1])
    print("%d skipped, %s" % (skipped, ", ".join("%d %s" % (n, what) for what, n in sorted(counted.items()))))
    for what, least, own in (("comparisons", 250, 20), ("lines by dso,sym", 380, 20), ("lines on one side", 450, 20)):
        failed += not enough(what, counted[what], least, own)
    return failed != 0


sys.exit(main())

"""perf_stat.py: see perf_stat.sh."""
import collections
import json
import os
import re
import subprocess
import sys

from captures import PERFILE, captures, run
from enough import enough

counted = collections.Counter()
BUSY = "i=0; while [ $i -lt 40000 ]; do i=$((i + 1)); done"


def of_perfile(path, by):
    """{(time, cpu, thread, event): (count as perf prints it, unit, running, percent)}; None without counters."""
    status, output, _ = run(PERFILE, "stats", "--json", "--by", by, path)
    report = json.loads(output) if status in (0, 3) else {}
    if "counters" not in report:
        return None
    found = {}
    for row in report["counters"]:
        if "time" in row and row["time"] is None and row["values"]:
            continue  # after the last interval
        time = "" if row.get("time") is None else "%.9f" % (int(row["time"]) / 1e9)
        cpu = "" if row.get("cpu") is None else "CPU%d" % row["cpu"]
        thread = "" if row.get("tid", -1) == -1 else "%s-%d" % (row["comm"], row["tid"])
        if not row["values"]:
            found["", "", "", row["event"]] = ("<not supported>", 0, None)
        elif row["count"] is None:
            found[time, cpu, thread, row["event"]] = ("<not counted>", int(row["running"]), None)
        else:
            count = int(row["count"]) * row["scale"]
            text = "%d" % count if row["scale"] == 1 else "%.2f" % count
            percent = "%.2f" % (100 * int(row["running"]) / int(row["enabled"]))
            found[time, cpu, thread, row["event"]] = (text + " " + (row["unit"] or ""), int(row["running"]), percent)
    return found


def of_perf(path, options, whole):
    """The same of perf stat report; `whole`: there is one time, which it does not print."""
    status, output, errors = run("perf", "stat", "-x", ",", "report", *options, "-i", path)
    lines = [line.split(",") for line in (output + errors).split("\n") if line.count(",") >= 4]
    if status or not lines:
        return None
    found = {}
    for cells in lines:
        time = cells.pop(0).strip() if re.fullmatch(r" *\d+\.\d{9}", cells[0]) else ""
        cpu = cells.pop(0) if re.fullmatch(r"CPU\d+", cells[0]) else ""
        thread = cells.pop(0) if re.fullmatch(r"[^<]*-\d+", cells[0]) else ""
        count, unit, event, running, percent = cells[:5]
        if count == "<not supported>":
            found["", "", "", event] = (count, 0, None)
        elif count == "<not counted>":
            found[time, cpu, thread, event] = (count, int(running), None)
        else:
            found[time, cpu, thread, event] = (count + " " + unit, int(running), percent)
    if whole != any(key[0] for key in found):
        return found
    return None


def compare(path):
    """Compares all that a capture has: None, or what differs; "skipped" if perf does not read it."""
    if not (report := of_perfile(path, "time")):
        return "no counters"
    intervals = len({key[0] for key in report if key[0]}) > 1
    config = re.search(r"aggr_mode +val (\d+)", run(PERFILE, "dump", "--type", "stat_config", path)[1])
    mode = int(config[1]) if config else 1
    said = None
    for by, options in (("time,tid,comm", []), ("time,cpu", ["-A"])):
        if mode not in ((1, 6) if not options else (0, 1)):
            continue
        theirs = of_perf(path, options, not intervals)
        if not theirs:
            return "skipped"
        mine = of_perfile(path, by)
        if not intervals:
            mine = {("", *key[1:]): value for key, value in mine.items()}
        if not any(key[2] for key in theirs):
            mine = {(*key[:2], "", key[3]): value for key, value in mine.items()}
        if not any(key[1] for key in theirs):
            mine = {(key[0], "", *key[2:]): value for key, value in mine.items()}
        counted["lines by " + by] += len(theirs)
        wrong = [(key, mine.get(key), theirs.get(key)) for key in {*mine, *theirs} if mine.get(key) != theirs.get(key)]
        if wrong and not said:
            said = "--by %s: %d of %d lines differ: %s" % (by, len(wrong), len(theirs), wrong[:3])
    counted["captures"] += not said
    return said


RECORDED = {"whole": ["-a", "-e", "cpu-clock,task-clock,context-switches,page-faults", "--", "sh", "-c", BUSY],
            "intervals": ["-a", "-I", "50", "-e", "cpu-clock,context-switches,cycles", "--", "sleep", "0.28"],
            "cpus": ["-a", "-A", "-e", "cpu-clock,page-faults", "--", "sh", "-c", BUSY],
            "cpu-intervals": ["-a", "-A", "-I", "60", "-e", "cpu-clock,page-faults", "--", "sleep", "0.2"],
            "task": ["-e", "task-clock,page-faults,instructions", "--", "sh", "-c", BUSY]}


def recorded():
    """Captures that are made here, and those that cannot be."""
    for name, options in RECORDED.items():
        path = name + ".data"
        p = subprocess.run(["perf", "stat", "record", "-o", path, *options], stdin=subprocess.DEVNULL, capture_output=True)
        if p.returncode or not os.path.exists(path):
            print("not tried: recording %s: %s" % (name, p.stderr.decode().split("\n")[0]))
        else:
            yield path, "recorded: " + name
    busy = subprocess.Popen(["sh", "-c", "while :; do :; done"])
    try:
        p = subprocess.run(["perf", "stat", "record", "-o", "threads.data", "--per-thread", "-e", "task-clock,page-faults", "-p",
                            "%d,%d" % (busy.pid, os.getpid()), "--", "sleep", "0.2"], capture_output=True)
    finally:
        busy.kill()
        busy.wait()
    if p.returncode:
        print("not tried: recording threads: " + p.stderr.decode().split("\n")[0])
    else:
        yield "threads.data", "recorded: threads"


def main():
    failed = skipped = 0
    given = [(path, name) for path, name in captures() if "stat" in name and "s390x" not in name and not os.path.isdir(path)]
    for path, name in [*given, *recorded()]:
        said = compare(path)
        skipped += said == "skipped"
        if said and said not in ("skipped", "no counters"):
            failed += 1
            print(name + ": " + said)
    print("%d skipped, %s" % (skipped, ", ".join("%d %s" % (n, what) for what, n in sorted(counted.items()))))
    for what, least, own in (("captures", 4, 0), ("lines by time,tid,comm", 15, 0)):
        failed += not enough(what, counted[what], least, own)
    return failed != 0


sys.exit(main())

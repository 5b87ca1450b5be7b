# Where a capture comes from, as `perf report --header-only -I` and `perfile info --json` say it: host,
# kernel, tool, architecture, processor, number of processors, command line, when it was captured, how
# often and with what call chains its events were sampled; of our captures and of those of
# $PERFILE_CORPUS whose header perf reads.
#
# perf takes the time of the file for that of the capture; ours is that of the clocks where they are known.
# perf says nothing of call chains but the fields of samples.
#
# perf 6.1 escapes nothing in the command line and ends it with a blank; ours is quoted for the shell.
# So the words are compared, quotes taken away.  What perf does not know ("(null)", 0) is not compared:
# it stops at the first feature that is damaged.  Where there is no CPUID it may say that of this machine.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf python3
export HOME=$PWD PYTHONPATH=$PERFILE_SOURCE/tests/interop PYTHONDONTWRITEBYTECODE=1
exec python3 - <<'PYTHON'
import collections
import datetime
import json
import re
import shlex
import sys

from captures import PERFILE, captures, run

FACTS = {"hostname": "hostname", "os release": "osrelease", "perf version": "tool", "arch": "arch",
         "cpudesc": "cpudesc", "cpuid": "cpuid", "nrcpus avail": "cpus", "cmdline": "cmdline"}
counted = collections.Counter()


def compare(path):
    status, text, errors = run("perf", "report", "--header-only", "-I", "-i", path)
    theirs = {}
    for line in text.splitlines():
        key, colon, value = line[2:].partition(" : ")
        if colon and key.strip() in FACTS and value not in ("(null)", "0", ""):
            theirs.setdefault(key.strip(), value)
    if "arch" not in theirs:
        theirs.pop("cpuid", None)
    if status or not theirs:
        return "skipped"
    status, report, errors = run(PERFILE, "info", "--json", path)
    if status not in (0, 3):
        return errors
    host = json.loads(report)["host"]
    for key, value in theirs.items():
        ours = str(host.get(FACTS[key]))
        if key == "perf version":
            ours = ours.removeprefix("perf ").removeprefix("simpleperf ")
        elif key == "cmdline":
            ours, value = " ".join(shlex.split(ours)).strip(), value.strip()
        if ours != value:
            return f"{key}: perf says {value!r}, perfile {ours!r}"
        counted[key] += 1
    return compare_sampling(text, json.loads(report))


def compare_sampling(text, info):
    captured = info["captured"]
    when = re.search(r"^# captured on +: (.*)$", text, re.M)
    if when and captured["from"] == "file":
        theirs = datetime.datetime.strptime(when[1].strip(), "%a %b %d %H:%M:%S %Y")
        ours = datetime.datetime.utcfromtimestamp(int(captured["time"]) // 10**9)
        if ours != theirs:
            return f"captured: perf says {theirs}, perfile {ours}"
        counted["captured"] += 1
    lines = [line for line in text.splitlines() if line.startswith("# event : name = ")]
    if len(lines) != len(info["events"]):
        return None
    for line, event in zip(lines, info["events"]):
        m = re.search(r"\{ sample_period, sample_freq \} = (\d+)", line)
        theirs = m[1] if m else "0"
        name = "sample_freq" if ", freq = 1" in line else "sample_period"
        if event.get(name) != theirs:
            return f"{name}: perf says {theirs}, perfile {event}"
        counted[name] += 1
        fields = re.search(r"sample_type = ([A-Z_|]*)", line)
        fields = fields[1].split("|") if fields else []
        kind = "dwarf" if "STACK_USER" in fields and "REGS_USER" in fields else \
               "fp" if "CALLCHAIN" in fields else None
        if "BRANCH_STACK" in fields and re.search(r"branch_sample_type = \S*CALL_STACK", line):
            kind = "lbr"
        if event["call_graph"] != kind:
            return f"call_graph: {kind} by what perf says, perfile {event['call_graph']}"
        counted["call_graph"] += kind is not None
    return None


failed, compared, skipped = False, 0, []
for path, name in captures():
    result = compare(path)
    if result == "skipped":
        skipped.append(name)
        continue
    compared += 1
    if result:
        print(f"FAILED {name}: {result}")
        failed = True
print(f"{compared} captures compared, {len(skipped)} skipped: {' '.join(skipped)}")
print(dict(counted))
if min(counted[key] for key in ("captured", "sample_freq", "sample_period", "call_graph")) < 3:
    print("FAILED: of our own captures at least 3 have a rate, a period and call chains")
    failed = True
if min(counted[key] for key in FACTS) < 15:
    print("FAILED: perf knows each fact of at least 15 of our own captures")
    failed = True
sys.exit(failed)
PYTHON

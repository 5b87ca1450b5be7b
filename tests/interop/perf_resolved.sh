# Whose samples are and what they hit, as `perf script -F comm,tid,time,event,ip,dso` and `perfile dump
# --format tsv` say it, and how many samples of each thread name `perfile stats` counts; of our captures
# and of every third of those of $PERFILE_CORPUS that perf reads to their end.
#
# Not compared, because perf 6.1 says something else than what is stored:
# - names like :123 and dsos like [unknown] or /tmp/perf-123.map, which it makes for what is not known
#   and for mappings without a file;
# - samples of kernel addresses, where there is no mapping of the kernel: it takes that of this machine;
# - big-endian pipes, in which it takes process for thread.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf python3
export HOME=$PWD PYTHONPATH=$PERFILE_SOURCE/tests/interop PYTHONDONTWRITEBYTECODE=1
exec python3 - <<'PYTHON'
import collections
import json
import re
import sys

from captures import PERFILE, captures, run

INCOMPLETE = re.compile("failed|rror:|Couldn|unexpected|incompatible|was the|not terminated|attribute")
LINE = re.compile(r" *(.*?) +(-?\d+) +(\d+)\.(\d{9}): +(.*): +([0-9a-f]+) \((.*)\)")
counted = collections.Counter()


def compare(path, name):
    status, output, errors = run("perf", "script", "-G", "--ns", "-F", "comm,tid,time,event,ip,dso", "-i", path)
    if status or INCOMPLETE.search(errors):
        return "skipped"
    status, table, errors = run(PERFILE, "dump", "--fields", "comm,tid,time,ip,dso,cpumode", path)
    if status not in (0, 3):
        return errors
    ours = collections.defaultdict(list)
    rows = [line.split("\t") for line in table.splitlines()[1:]]
    for comm, tid, time, ip, dso, mode in rows:
        ours[tid, time, int(ip or "0", 16)].append((comm, dso, mode))
    comms = collections.Counter(row[0] for row in rows)
    n = 0
    for line in output.splitlines():
        m = LINE.fullmatch(line)
        if not m:
            continue
        comm, tid, seconds, ns, event, ip, dso = m.groups()
        found = ours.get((str(int(tid) & 0xffffffff), str(int(seconds) * 10**9 + int(ns)), int(ip, 16)))
        if not found:
            continue
        n += 1
        if not comm.startswith(":"):
            counted["comm"] += 1
            if comm not in [f[0] for f in found]:
                return f"comm: perf says {line!r}, perfile {found}"
        if dso != "[unknown]" and not dso.startswith("/tmp/perf-") and \
           not (any(f[2] == "kernel" for f in found) and not any(f[1] for f in found)):
            counted["dso"] += 1
            if dso not in [f[1] for f in found]:
                return f"dso: perf says {line!r}, perfile {found}"
    status, report, errors = run(PERFILE, "stats", "--json", "--by", "comm", "--type", "sample", path)
    for row in json.loads(report)["rows"]:
        if isinstance(row["comm"], str) and row["samples"] != comms[row["comm"]]:
            return f"stats: {row}, dump has {comms[row['comm']]}"
        counted["threads"] += 1
    counted["captures"] += n > 0
    return None if n or not output.strip() else "skipped"


failed, skipped = False, []
for i, (path, name) in enumerate(captures()):
    if not name.startswith("samples/") and i % 3:
        continue
    result = compare(path, name)
    if result == "skipped":
        skipped.append(name)
    elif result:
        print(f"FAILED {name}: {result}")
        failed = True
print(dict(counted), f"{len(skipped)} captures skipped: {' '.join(skipped)}")
if counted["captures"] < 15 or counted["comm"] < 200 or counted["dso"] < 200:
    print("FAILED: of our own captures perf reads at least 15, with 200 samples")
    failed = True
sys.exit(failed)
PYTHON

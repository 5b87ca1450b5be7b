# Where a capture comes from, as `perf report --header-only -I` and `perfile info --json` say it: host,
# kernel, tool, architecture, processor, number of processors, command line; of our captures and of
# those of $PERFILE_CORPUS whose header perf reads.
#
# perf 6.1 escapes nothing in the command line and ends it with a blank; ours is quoted for the shell.
# So the words are compared, quotes taken away.  What perf does not know ("(null)", 0) is not compared:
# it stops at the first feature that is damaged.  Where there is no CPUID it may say that of this machine.
set -u
for tool in perf python3; do
    if ! command -v "$tool" >/dev/null; then
        echo "$tool is not installed"
        exit 77
    fi
done
export HOME=$PWD PYTHONPATH=$PERFILE_SOURCE/tests/interop PYTHONDONTWRITEBYTECODE=1
exec python3 - <<'PYTHON'
import collections
import json
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
    status, text, errors = run(PERFILE, "info", "--json", path)
    if status not in (0, 3):
        return errors
    host = json.loads(text)["host"]
    for key, value in theirs.items():
        ours = str(host.get(FACTS[key]))
        if key == "perf version":
            ours = ours.removeprefix("perf ").removeprefix("simpleperf ")
        elif key == "cmdline":
            ours, value = " ".join(shlex.split(ours)).strip(), value.strip()
        if ours != value:
            return f"{key}: perf says {value!r}, perfile {ours!r}"
        counted[key] += 1
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
if min(counted[key] for key in FACTS) < 15:
    print("FAILED: perf knows each fact of at least 15 of our own captures")
    failed = True
sys.exit(failed)
PYTHON

# What the header says, as perf prints it and as perfile does: `perf evlist -v` and
# `perfile list events`, `perf buildid-list` and `perfile list build-ids`; of our captures and of those
# of $PERFILE_CORPUS that perf opens.
#
# Differences that are perf's own, seen with perf 6.1:
# - A name that it makes from the attr has modifiers that say what exclude_host, exclude_guest or
#   precise_ip say (:HG, :ppp); a name of the file has those that were asked for.  Modifiers are not
#   compared.  Where it cannot name a tracepoint it says so.  simpleperf calls cycles cpu-cycles.
# - It does not print every bit of sample_type (TRANSACTION), and not in their order.
# - In big-endian files it leaves some members of the attr as they are stored.
# - In pipes it reads attrs smaller than its own to the end of its own.
# - Build ids are padded with zeros to 20 bytes.  Without the feature BUILD_ID it lists what samples
#   hit, and looks into files of this machine: only captures with the feature are compared.
set -u
. "$PERFILE_SOURCE/tests/needs.bash"
needs perf python3
export HOME=$PWD PYTHONPATH=$PERFILE_SOURCE/tests/interop PYTHONDONTWRITEBYTECODE=1
exec python3 - <<'PYTHON'
import json
import re
import sys

from captures import PERFILE, captures, run

SAMPLE = """IP TID TIME ADDR READ CALLCHAIN ID CPU PERIOD STREAM_ID RAW BRANCH_STACK REGS_USER STACK_USER
    WEIGHT DATA_SRC IDENTIFIER - REGS_INTR PHYS_ADDR AUX CGROUP DATA_PAGE_SIZE CODE_PAGE_SIZE
    WEIGHT_STRUCT""".split()
READ = "TOTAL_TIME_ENABLED TOTAL_TIME_RUNNING ID GROUP LOST".split()
BRANCH = """USER KERNEL HV ANY ANY_CALL ANY_RETURN IND_CALL ABORT_TX IN_TX NO_TX COND CALL_STACK IND_JUMP CALL
    NO_FLAGS NO_CYCLES TYPE_SAVE HW_INDEX PRIV_SAVE""".split()
# Members of unions have the name of the first in perf's "{ a, b }: value".
UNION = {"sample_freq": "sample_period", "wakeup_watermark": "wakeup_events"}

# Members behind the first 64 bytes, and their width.
LATE = dict(sample_regs_user=8, sample_stack_user=4, clockid=4, sample_regs_intr=8, aux_watermark=4,
            sample_max_stack=2, aux_sample_size=4, sig_data=8)


def words(value, names):
    bits = int(value, 16)
    return "|".join(sorted(name for i, name in enumerate(names) if bits >> i & 1 and name != "-"))


def swapped(value, width):
    return int.from_bytes(int(value, 0).to_bytes(width, "big"), "little")


def plain(name):
    """The name without modifiers."""
    name = re.sub(r":[ukhpPHGSDeWI]+$", "", name)
    return "cycles" if name == "cpu-cycles" else name


def perf_events(text):
    """[(name, {member: value})]; members that are zero are not printed."""
    for line in text.splitlines():
        if line.startswith("#") or ": type: " not in line and ": size: " not in line:
            continue
        name, rest = re.match(r"(.*?): ((?:type|size): .*)", line).groups()
        members = {}
        for part in re.findall(r"(?:\{[^}]*\}|\w+): [^,]*", rest):
            key, value = re.match(r"(.*): (.*)", part).groups()
            if "|" in value:
                value = "|".join(sorted(value.split("|")))
            members[key.strip("{} ").split(",")[0]] = value
        yield name, members


def our_events(report):
    for event in report["events"]:
        members = {}
        for key, value in event["attr"].items():
            if key == "flags":
                members.update((flag, "1") for flag in value)
                continue
            if key == "sample_type":
                value = words(value, SAMPLE)
            elif key == "read_format":
                value = words(value, READ)
            elif key == "branch_sample_type":
                value = words(value, BRANCH)
            elif key == "sig_data":
                value = str(int(value, 16))
            members[{**UNION, "config1": "bp_addr", "config2": "bp_len"}.get(key, key)] = str(value)
        for key in [k for k, v in members.items() if v in ("0", "0x0", "") or k in ("extra",)]:
            del members[key]
        yield event["name"], members, event["attr"]


def without_bugs(their, attr):
    """What perf would have printed without the faults told above."""
    for key in list(their):
        if key in LATE and key not in attr:
            del their[key]
        elif key in LATE and swapped(their[key], LATE[key]) == int(str(attr[key]), 0):
            their[key] = str(attr[key])
    return their


def compare_events(path, name):
    status, text, errors = run("perf", "evlist", "-v", "-i", path)
    theirs = list(perf_events(text))
    if status or not theirs:
        return "skipped"
    status, text, errors = run(PERFILE, "list", "events", "--json", path)
    if status not in (0, 3):
        return f"perfile: {errors}"
    ours = list(our_events(json.loads(text)))
    if len(ours) != len(theirs):
        return f"perf has {len(theirs)} events, perfile {len(ours)}"
    for (their_name, their), (our_name, our, attr) in zip(theirs, ours):
        their = without_bugs(their, attr)
        named = (plain(their_name), plain(our_name))
        if named[0] not in (named[1], "unknown tracepoint"):
            return f"event {their_name} is called {our_name}"
        if their != our:
            return f"{our_name}: perf {sorted(their.items() - our.items())}, " \
                f"perfile {sorted(our.items() - their.items())}"
    return None


def compare_build_ids(path, name):
    status, text, errors = run(PERFILE, "list", "build-ids", "--json", path)
    if status not in (0, 3):
        return "skipped"
    ours = sorted((b["build_id"].ljust(40, "0"), b["filename"])
                  for b in json.loads(text)["build_ids"] if b["from"] == "feature")
    if not ours:
        return "skipped"
    status, text, errors = run("perf", "buildid-list", "-i", path)
    lines = [re.fullmatch(r"([0-9a-f]+) (.*)", line) for line in text.splitlines()]
    theirs = sorted((m[1].ljust(40, "0"), m[2]) for m in lines if m)
    if status or not theirs:
        return "skipped"
    if theirs != ours:
        return f"perf only: {[b for b in theirs if b not in ours]}, " \
            f"perfile only: {[b for b in ours if b not in theirs]}"
    return None


failed = False
for what, compare, least in (("events", compare_events, 18), ("build ids", compare_build_ids, 12)):
    compared, skipped = 0, []
    for path, name in captures():
        result = compare(path, name)
        if result == "skipped":
            skipped.append(name)
            continue
        compared += 1
        if result:
            print(f"FAILED {name}, {what}: {result}")
            failed = True
    print(f"{what}: {compared} captures compared, {len(skipped)} skipped: {' '.join(skipped)}")
    if compared < least:
        print(f"FAILED: perf has {what} of at least {least} of our own captures")
        failed = True
sys.exit(failed)
PYTHON

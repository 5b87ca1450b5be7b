# What is in the records, as `perf script -D` prints it and as `perfile dump --format jsonl` does:
# samples (ip, process, thread, time, processor, period, address, call chain, counters, registers,
# stack, weight, data source …), mappings, names, forks and exits; of our captures and of those of
# $PERFILE_CORPUS that perf reads to their end.
#
# Records are matched by their offset.  Those that come out of a compressed record share one, and in
# pipes perf counts offsets differently: such are compared as a set.  Not compared, because perf 6.1 prints something else than what is stored:
# - the period of samples that have none (it takes that of the event), the address likewise;
# - protection and flags of MMAP2 in big-endian files (it does not swap them);
# - in big-endian pipes, processors (it takes the wrong half of the word) and which of the numbers of a
#   sample is process and which thread (likewise);
# - the processor or time of samples that have none (it prints all ones);
# - names in MMAP2 records of the first kernels that had them, which had no protection and flags before
#   the name (hotspot/perf.data.true.v2);
# - LBR call chains, which it joins with the branch stack.
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

INCOMPLETE = re.compile("failed|rror:|Couldn|unexpected|incompatible|was the|not terminated")
HEAD = re.compile(r"((?:-?\d+ )*)0x([0-9a-f]+) \[(?:0x)?[0-9a-f]+\]: PERF_RECORD_(\w+)(.*)")
REST = {
    "SAMPLE": r"\(\w+, (\w+)\): (-?\d+)/(-?\d+): (\w+) period: (\d+) addr: (\w+)",
    "MMAP": r" (-?\d+)/(-?\d+): \[(\w+)\((\w+)\) @ (\w+)\]: . (.*)",
    "MMAP2": r" (-?\d+)/(-?\d+): \[(\w+)\((\w+)\) @ (\w+) (?:(\w+):(\w+) (\d+) (\d+)|<(\w*)>)\]: \S+ (.*)",
    "COMM": r"(?: exec)?: (.*):(-?\d+)/(-?\d+)",
    "FORK": r"\((-?\d+):(-?\d+)\):\((-?\d+):(-?\d+)\)",
    "EXIT": r"\((-?\d+):(-?\d+)\):\((-?\d+):(-?\d+)\)",
}
NONE = ("4294967295", "18446744073709551615")
FIRST_MMAP2 = ("hotspot/perf.data.true.v2",)
COUNTED = collections.Counter()


def number(text):
    return int(text, 0) & (1 << 64) - 1


def signed(value):
    return value - (1 << 32) if value >> 31 else value


def perf_records(lines):
    """(offset, type, facts) of each record that is compared."""
    facts, section = None, None
    for line in lines:
        m = HEAD.fullmatch(line)
        if m:
            facts, section = None, None
            prefix, offset, kind, rest = m.groups()
            m = re.fullmatch(REST[kind], rest) if kind in REST else None
            if not m:
                continue
            facts = {"prefix": prefix.split()}
            v = m.groups()
            if kind == "SAMPLE":
                facts.update(misc=number(v[0]), pid=int(v[1]), tid=int(v[2]), ip=number(v[3]),
                             period=number(v[4]), addr=number(v[5]))
            elif kind == "MMAP":
                facts.update(pid=int(v[0]), tid=int(v[1]), addr=number(v[2]), len=number(v[3]),
                             pgoff=number(v[4]), filename=v[5])
            elif kind == "MMAP2":
                facts.update(pid=int(v[0]), tid=int(v[1]), addr=number(v[2]), len=number(v[3]),
                             pgoff=number(v[4]), filename=v[10])
                if v[9] is None:
                    facts.update(maj=int(v[5], 16), min=int(v[6], 16), ino=number(v[7]),
                                 ino_generation=number(v[8]))
                else:
                    facts.update(build_id=v[9])
            elif kind == "COMM":
                facts.update(comm=v[0], pid=int(v[1]), tid=int(v[2]))
            else:
                facts.update(zip(("pid", "tid", "ppid", "ptid"), map(int, v)))
            yield int(offset, 16), kind, facts
        elif facts is None:
            continue
        elif line.startswith("... FP chain"):
            section = facts.setdefault("callchain", [])
        elif line.startswith("... user regs"):
            section = facts.setdefault("regs_user", [])
        elif line.startswith("... intr regs"):
            section = facts.setdefault("regs_intr", [])
        elif line.startswith("... sample_read"):
            section = facts.setdefault("values", [])
        elif m := re.match(r"\.{5} +\d+: ([0-9a-f]{16})$", line):
            if section is not None:
                section.append(int(m[1], 16))
        elif m := re.match(r"\.{4} \S+ +0x([0-9a-f]{16})$", line):
            section.append(int(m[1], 16))
        elif m := re.match(r"\.{5} id ([0-9a-f]+), value ([0-9a-f]+)", line):
            section.append((int(m[1], 16), int(m[2], 16)))
        elif m := re.match(r"\.\.\. ustack: size (\d+)", line):
            facts["stack"] = number(m[1])
        elif m := re.match(r"\.\.\. weight: (\d+)(?:,(\w+),(\w+))?$", line):
            facts["weight"] = [number(w) for w in m.groups() if w is not None]
        elif m := re.match(r" ?\.+ (data_src|phys_addr|transaction): (\w+)$", line):
            facts[m[1]] = number(m[2])
        elif not line or line.startswith("0x"):
            facts, section = None, None
        elif line.startswith("... "):
            section = None


def our_records(lines):
    pipe = big_endian = False
    for line in lines:
        r = json.loads(line)
        if r["kind"] == "header":
            pipe, big_endian = r["format"] == "pipe", r["endian"] == "big"
        kind = (r.get("name") or "")[len("PERF_RECORD_"):]
        if r["kind"] != "record" or kind not in REST or "body" not in r:
            continue
        body, trailer = r["body"], r.get("sample_id", {})
        facts = dict(body, misc=r["misc"], big_endian_pipe=pipe and big_endian)
        where = body if kind == "SAMPLE" else trailer
        facts["prefix"] = [str(where[k]) for k in ("cpu", "time") if k in where]
        for key in ("ip", "addr", "len", "pgoff", "ino", "ino_generation", "data_src", "phys_addr",
                    "transaction", "period"):
            if key in body:
                facts[key] = number(body[key])
        for key in ("pid", "tid", "ppid", "ptid"):
            if key in body:
                facts[key] = signed(body[key])
        if "callchain" in body:
            facts["callchain"] = [number(a) for a in body["callchain"]]
        for regs in ("regs_user", "regs_intr"):
            if regs in body:
                facts[regs] = [number(a) for a in body[regs].get("regs", [])]
        if "stack_user" in body:
            facts["stack"] = number(body["stack_user"].get("dyn_size", "0"))
        if "weight" in body:
            facts["weight"] = [number(str(w)) for w in body["weight"].values()]
        if "values" in body:
            counters = body["values"].get("cntr", [body["values"]])
            facts["values"] = [(number(c.get("id", "0")), number(c["value"])) for c in counters]
        yield 0 if pipe else int(r["offset"]), kind, facts


def equal(kind, theirs, ours, name):
    """None when they are, else what differs."""
    keys = []
    for key, value in theirs.items():
        if key == "filename" and kind == "MMAP2" and name in FIRST_MMAP2:
            continue
        if key == "prefix":
            value = [v for v in value if v not in NONE]
            if value[:1] == ["-1"]:  # perf does not know the trailer
                continue
        elif key == "misc" or key not in ours:
            if key != "misc" and value not in (0, [], [0]) and key not in ("period", "addr"):
                return key
            if key != "misc":
                continue
        if key == "weight":
            value, mine = sorted(value), sorted(ours["weight"])
        else:
            mine = ours.get(key)
        if ours["big_endian_pipe"]:
            if key == "prefix":
                value, mine = value[-1:], mine[-1:]
            elif key in ("pid", "tid") and kind == "SAMPLE":
                mine = ours["tid" if key == "pid" else "pid"]
        if value != mine:
            return key
        keys.append(f"{kind} {key}")
    COUNTED.update(keys)
    return None


def compare(path, name):
    status, output, errors = run("perf", "script", "-D", "-i", path)
    if status or INCOMPLETE.search(errors):
        return "skipped", 0
    pipe = "@pipe [" in output
    theirs = collections.defaultdict(list)
    for offset, kind, facts in perf_records(output.splitlines()):
        theirs[0 if pipe else offset, kind].append(facts)
    status, output, errors = run(PERFILE, "dump", "--format", "jsonl", path)
    if status not in (0, 3):
        return errors, 0
    ours = collections.defaultdict(list)
    for offset, kind, facts in our_records(output.splitlines()):
        ours[offset, kind].append(facts)
    n = 0
    for where, records in theirs.items():
        left = ours[where]
        for record in records:
            n += 1
            reasons = []
            for i, mine in enumerate(left):
                reasons.append((equal(where[1], record, mine, name), mine))
                if reasons[-1][0] is None:
                    del left[i]
                    break
            else:
                return f"{where[1]} at offset {where[0]}: perf has {record}, perfile {reasons[:3]}", n
    return None, n


failed, compared, total, skipped = False, 0, 0, []
for path, name in captures():
    result, n = compare(path, name)
    total += n
    if result == "skipped":
        skipped.append(name)
        continue
    compared += 1
    if result:
        print(f"FAILED {name}: {result}")
        failed = True
print(f"{compared} captures compared, {total} records, {len(skipped)} captures skipped: {' '.join(skipped)}")
print("values compared: " + ", ".join(f"{k} {n}" for k, n in sorted(COUNTED.items())))
for key in ("SAMPLE callchain", "SAMPLE regs_user", "SAMPLE stack", "SAMPLE values", "MMAP2 ino", "COMM comm"):
    if COUNTED[key] < 5:
        print(f"FAILED: {key} was compared {COUNTED[key]} times only")
        failed = True
sys.exit(failed)
PYTHON

"""export.py: see export.sh."""
import collections
import json
import os
import re
import sys

from captures import PERFILE, captures, run
from enough import enough

INCOMPLETE = re.compile("failed|rror:|Couldn|unexpected|incompatible|was the|not terminated|attribute")
HEAD = re.compile(r" *(.*?) +(-?\d+)/(-?\d+) +(.*?): *(?:([0-9a-f]+) (.*) \((.*)\))?\s*")
FRAME = re.compile(r"\s+([0-9a-f]+) (.*) \((.*)\)")
LINE = re.compile(r"([^\x00-\x1f\x7f]+) ([0-9]+)")
counted = collections.Counter()


def folded(path, *options):
    """Lines as (list of names, weight)."""
    status, output, errors = run(PERFILE, "export", "--no-symbols", "--unknown", "address", "--to", "folded", *options, path)
    if status not in (0, 3):
        return None
    lines = []
    for line in output.split("\n")[:-1]:
        m = LINE.fullmatch(line)
        assert m and "" not in m[1].split(";"), line
        lines.append((m[1].split(";"), int(m[2])))
    assert len({";".join(names) for names, _ in lines}) == len(lines), "a stack stands there twice"
    return lines


def as_name(text):
    """A name as it stands in folded lines."""
    if isinstance(text, dict):  # bytes that are no UTF-8
        text = bytes.fromhex(text["hex"]).decode(errors="surrogateescape")
    text = "".join("?" if not c.isprintable() and c != "\u00a0" or "\udc80" <= c <= "\udcff" else c for c in text)
    return text.replace(";", ":") or "?"


def against_stats(path, key):
    """Samples and periods by comm or event."""
    sums = []
    for weight in "samples", "period":
        lines = folded(path, "--per", key, "--weight", weight)
        if lines is None:
            return "skipped"
        of = collections.Counter()
        for names, n in lines:
            of[names[0]] += n
        sums.append(of)
    status, report, errors = run(PERFILE, "stats", "--json", "--by", "comm,event" if key == "comm" else key, "--type", "sample", path)
    if status not in (0, 3):
        return "skipped"
    theirs = [collections.Counter(), collections.Counter()]
    vague = False  # the sum of a row is not known
    for row in json.loads(report)["rows"]:
        name = as_name(row[key]) if row[key] is not None else None
        if name is None and key == "event":
            name = "unknown event"
        theirs[0][name] += row["samples"]
        theirs[1][name] += int(row["period"] or 0)
        vague |= row["period"] is None
    for ours, stats, what in zip(sums, theirs, ("samples", "period")):
        for name in [n for n in ours if re.fullmatch(":-?[0-9]+", n) and n not in stats]:
            ours[None] += ours.pop(name)  # threads without a name
        if what == "period" and vague:
            continue
        if +ours != +stats:
            return f"{what} by {key}: export {ours - stats}, stats {stats - ours}"
        counted[what + " by " + key] += len(stats)
    return None


MMAP = re.compile(r".*PERF_RECORD_MMAP2? (-?\d+)/-?\d+: \[0x([0-9a-f]+)\(0x([0-9a-f]+)\) @ (?:0x)?([0-9a-f]+)"
                  r"(?: [0-9a-f:]+ \d+ \d+| <[0-9a-f]*>)?\]: (\S+) (.*)")
EXEC = re.compile(r".*PERF_RECORD_COMM exec: .*:(-?\d+)/-?\d+")
FORK = re.compile(r".*PERF_RECORD_FORK\((\d+):\d+\):\((\d+):\d+\)")


def module(dso):
    """The name of what is mapped, as we have it in frames; modules of the kernel have several."""
    base = dso.rsplit("/", 1)[-1] or dso
    return as_name(re.sub(r"\.ko(\.\w+)?$", "", base).strip("[]") if "/" not in dso.strip("[") or ".ko" in base
                   else base)


class World:
    """What perf says is mapped, as its records pass."""

    def __init__(self):
        self.maps = collections.defaultdict(list)

    def read(self, line):
        if m := MMAP.match(line):
            addr, size, offset = (int(x, 16) for x in m.group(2, 3, 4))
            self.maps[int(m[1])].append((addr, addr + size, offset, m[6]))
        elif m := EXEC.match(line):
            self.maps.pop(int(m[1]), None)
        elif m := FORK.match(line):
            if m[1] != m[2]:
                self.maps[int(m[1])] = list(self.maps[int(m[2])])

    def offset(self, pid, ip, dso):
        """The offset in the file; the address itself where nothing is mapped there."""
        for addr, end, offset, name in reversed(self.maps[pid]):
            if addr <= ip < end:
                return ip - addr + offset if module(name) == module(dso) else ip
        return ip


def perf_frame(world, pid, frame, raw):
    """A frame as we name it.  perf prints addresses for samples without call chain (`raw`) and in the kernel, else
    offsets in the file."""
    ip, dso = int(frame[0], 16), frame[2]
    if dso == "[unknown]":
        return f"[unknown+0x{ip:x}]"
    if dso.startswith(("[kernel.", "[guest.kernel.")) or dso.endswith("vmlinux"):
        return f"[kernel+0x{ip:x}]"
    if ip >= 1 << 63:
        ip = world.offset(-1, ip, dso)
    elif raw:
        ip = world.offset(pid, ip, dso)
    return f"[{module(dso)}+0x{ip:x}]"


def own_frame(name):
    """One of ours, with the same names of the kernel and its modules."""
    m = re.fullmatch(r"\[(.*)(\+0x[0-9a-f]+)\]", name)
    if not m:
        return name
    return f"[{'kernel' if m[1].startswith('[kernel.') or m[1] == 'vmlinux' else module(m[1])}{m[2]}]"


def perf_stacks(output):
    """Stacks of perf script: (comm, frames from the outermost on), each frame as we name it; None if it is not
    understood."""
    world, stacks, head, frames = World(), [], None, []

    def end():
        if head:
            vague = head[1].startswith(":") or (head[3] == "0" and head[2] != "0")
            stacks.append((as_name(":" if vague else head[1]), *frames[::-1]))

    for line in output.split("\n"):
        if "PERF_RECORD_" in line:
            world.read(line)
        elif line.startswith("\t") or re.match(r" {8,}[0-9a-f]+ .* \(.*\)$", line):
            m = FRAME.fullmatch(line)
            if not m or not head:
                return None
            frames.append(perf_frame(world, int(head[2]), m.groups(), False))
        elif m := HEAD.fullmatch(line):
            end()
            head, frames = m, []
            if m[5]:
                frames.append(perf_frame(world, int(m[2]), m.group(5, 6, 7), True))
        elif line.strip():
            return None
    end()
    return stacks


def is_known(stack):
    """False if perf shows something of this machine, or of its own, in the place of what is stored."""
    return len(stack) > 1 and stack[0] != ":" and not any(f.startswith(("[unknown+", "[perf-")) for f in stack[1:])


def perf_differs(path):
    """Why perf prints something else than what is stored, or None."""
    events = json.loads(run(PERFILE, "list", "events", "--json", path)[1] or "{}").get("events", [])
    for event in events:
        attr = event["attr"]
        has = {name: int(str(attr.get(name, "0")), 0) for name in ("sample_type", "read_format")}
        if has["sample_type"] & 0x3000:
            return "unwound by perf"
        if has["sample_type"] & 0x10 and has["read_format"] & 8:
            return "a sample for each event of a group"
    info = json.loads(run(PERFILE, "info", "--json", path)[1] or "{}")
    if info.get("form") == "pipe" and info.get("endian") == "big":
        return "big-endian pipes"
    return None


def against_perf(path):
    reason = perf_differs(path)
    if reason:
        counted["captures: " + reason] += 1
        return None
    status, output, errors = run("perf", "script", "-F", "comm,pid,tid,event,ip,sym,dso", "--no-inline", "--max-stack",
                                 "30000", "--show-mmap-events", "--show-task-events", "-i", path)
    if status or INCOMPLETE.search(errors) or not output.strip():
        return "skipped"
    stacks = perf_stacks(output)
    lines = folded(path, "--per", "comm", "--branch-chains")
    if stacks is None or lines is None:
        return "skipped"
    ours = collections.Counter()
    for names, n in lines:
        ours[tuple([names[0]] + [own_frame(f) for f in names[1:]])] += n
    perf = collections.Counter(stacks)
    if sum(ours.values()) != sum(perf.values()):
        return f"{sum(ours.values())} samples, perf prints {sum(perf.values())}"
    counted["stacks"] += sum(ours.values())
    counted["stacks as perf has them"] += sum((ours & perf).values())
    if ours == perf:
        counted["captures as perf has them"] += 1
        return None
    a, b = ours - perf, perf - ours
    # What perf prints, of which nothing is unknown to it, must be ours.
    missing = collections.Counter({stack: n for stack, n in b.items() if is_known(stack)})
    counted["stacks of which perf knows less"] += sum(b.values()) - sum(missing.values())
    if not missing:
        return None
    return f"{sum(missing.values())} of {sum(ours.values())} stacks; perf {list(missing.items())[:2]}, export {list(a.items())[:2]}"


def main():
    failed, skipped = False, []
    for path, name in captures():
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        results = [against_stats(path, "comm"), against_stats(path, "event"), against_perf(path)]
        for result in results:
            if result == "skipped":
                counted["skipped"] += 1
            elif result:
                print(f"FAILED {name}: {result}")
                failed = True
        if "skipped" in results:
            skipped.append(name)
    print(dict(counted), f"not all could be compared of {len(skipped)} captures: {' '.join(skipped)}")
    for what, least, own in (("captures as perf has them", 100, 10), ("samples by comm", 400, 60),
                             ("samples by event", 200, 30), ("period by event", 200, 30)):
        if not enough(what, counted[what], least, own):
            failed = True
    sys.exit(failed)


main()

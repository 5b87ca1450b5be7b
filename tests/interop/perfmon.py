"""Zircon perfmon buffers, read by a reader of its own: what `dump --format jsonl` has to print, and what a
conversion to perf.data has to hold.

    perfmon.py dump BUFFER DUMP [STATUS]         the lines of DUMP are those that BUFFER asks for
    perfmon.py convert DUMP SCRIPT [-l LAYOUT] [-r EVENT=N]... CPU=BUFFER...
                                                 DUMP, of the converted file, has the records of the buffers, and
                                                 SCRIPT, the output of perf script -D, shows them
    perfmon.py stat DUMP REPORT CPU=BUFFER...    the same of a conversion with --stat, and the output of
                                                 perf stat report -x, (- where there is none)
"""
import argparse
import json
import re
import struct
import sys

NAMES = {1: "TIME", 2: "TICK", 3: "COUNT", 4: "VALUE", 5: "PC", 6: "LAST_BRANCH"}
SIZES = {1: 12, 2: 4, 3: 12, 4: 12, 5: 20, 6: 16}
NO = 0xFFFFFFFF


class Record:
    pass


def branches_of(data, at, n):
    return [struct.unpack_from("<QQQ", data, at + 16 + 24 * i) for i in range(n)]


def read(data):
    """Header (or None), records and errors of a buffer, in the order of the dump: a list of (kind, …)."""
    items = []
    if len(data) < 24:
        return None, [("error", 0, "truncated-header")]
    version, arch, flags, ticks, end = struct.unpack_from("<HHIqQ", data)
    header = dict(version=version, arch=arch, flags=flags, ticks_per_second=ticks, capture_end=end)
    if version:
        return header, [("error", 0, "bad-version")]
    if arch > 2:
        items.append(("error", 2, "bad-arch"))
    if flags & ~1:
        items.append(("error", 4, "bad-flags"))
    if ticks <= 0:
        items.append(("error", 8, "bad-ticks-per-second"))
    if end < 24:
        return header, items + [("error", 16, "bad-capture-end")]
    at, stop, time = 24, min(end, len(data)), None
    while at < stop:
        left = stop - at
        error = None
        size = 0
        if left < 4:
            error = "truncated-header"
        elif data[at] not in SIZES:
            error = "bad-record-type"
        elif data[at] == 6 and left < 8:
            error = "truncated-record"
        elif data[at] == 6 and struct.unpack_from("<I", data, at + 4)[0] > 32:
            error = "bad-branch-count"
        else:
            size = SIZES[data[at]] + (24 * struct.unpack_from("<I", data, at + 4)[0] if data[at] == 6 else 0)
            if size > left:
                error = "truncated-record"
        if error:
            return header, items + [("error", at, error)]
        r = Record()
        r.type, r.reserved, r.event = struct.unpack_from("<BBH", data, at)
        r.at, r.size = at, size
        r.aspace = r.pc = r.value = None
        r.branches = []
        if r.type == 1:
            time = struct.unpack_from("<q", data, at + 4)[0]
        elif r.type in (3, 4):
            r.value = struct.unpack_from("<Q", data, at + 4)[0]
        elif r.type == 5:
            r.aspace, r.pc = struct.unpack_from("<QQ", data, at + 4)
        elif r.type == 6:
            n, r.aspace = struct.unpack_from("<IQ", data, at + 4)
            r.branches = branches_of(data, at, n)
        r.time = time
        items.append(("record", r))
        at += size
    if end > len(data):
        items.append(("error", len(data), "truncated-data"))
    return header, items


def body(r):
    if r.type == 1:
        return {"time": str(r.time)}
    if r.type == 2:
        return {}
    if r.type in (3, 4):
        return {{3: "count", 4: "value"}[r.type]: str(r.value)}
    if r.type == 5:
        return {"aspace": hex(r.aspace), "pc": hex(r.pc)}
    return {"num_branches": len(r.branches), "aspace": hex(r.aspace),
            "branches": [{"from": hex(a), "to": hex(b), "info": hex(i), "cycles": i & 0xFFFF, "mispred": i >> 16 & 1}
                         for a, b, i in r.branches]}


def lines(data):
    """What `dump --format jsonl` prints."""
    header, items = read(data)
    out = []
    if header:
        out.append(dict(kind="header", format="perfmon", endian="little", version=header["version"],
                        arch=header["arch"], flags=header["flags"],
                        ticks_per_second=str(header["ticks_per_second"]), capture_end=str(header["capture_end"])))
    n = errors = 0
    for item in items:
        if item[0] == "error":
            out.append(dict(kind="error", offset=str(item[1]), error=item[2]))
            errors += 1
            continue
        r = item[1]
        line = dict(kind="record", index=n, offset=str(r.at), type=r.type, name="PERFMON_RECORD_" + NAMES[r.type],
                    reserved_flags=r.reserved, event=r.event, size=r.size, body=body(r))
        if r.time is not None:
            line["time"] = str(r.time)
        out.append(line)
        n += 1
    out.append(dict(kind="end", records=n, errors=errors))
    return out


def compare(what, have, want):
    for i, (h, w) in enumerate(zip(have, want)):
        if h != w:
            sys.exit("%s: line %d is\n  %s\nand should be\n  %s" % (what, i, json.dumps(h), json.dumps(w)))
    if len(have) != len(want):
        sys.exit("%s: %d lines, not %d" % (what, len(have), len(want)))


# ----- the conversion

KNOWN = {  # (arch, group, number): (name, perf's config)
    (1, 2, 1): ("instructions_retired", 1), (1, 2, 2): ("unhalted_core_cycles", 0),
    (1, 2, 3): ("unhalted_reference_cycles", 9), (1, 1, 0): ("unhalted_core_cycles", 0),
    (1, 1, 1): ("instructions_retired", 1), (1, 1, 2): ("unhalted_reference_cycles", 9),
    (1, 1, 3): ("llc_references", 2), (1, 1, 4): ("llc_misses", 3), (1, 1, 5): ("branch_instructions", 4),
    (1, 1, 6): ("branch_misses", 5), (2, 2, 1): ("cycle_counter", 0), (2, 1, 9): ("inst_retired", 1),
    (2, 1, 18): ("cpu_cycles", 0)}
GROUPS = {1: "arch", 2: "fixed", 3: "model", 4: "misc"}


def layout_of(records):
    """The layout that the ids of all records speak for: 0 is A, 1 is B."""
    a = b = False
    for r in records:
        if 0x400 <= r.event <= 0x7FF:
            a = True
        if r.event >= 0x1400 or (r.type in (1, 2, 5) and 0x1000 <= r.event <= 0x13FF):
            b = True
    return 1 if b and not a else 0


def name_of(arch, layout, event):
    if event == 0:
        return "perfmon:none", (1, 9)
    bits = 11 if layout else 10
    group, number = event >> bits, event & (1 << bits) - 1
    if group not in GROUPS:
        return "perfmon:%#x" % event, (64, event)
    if (arch, group, number) in KNOWN:
        name, config = KNOWN[arch, group, number]
        return "%s:%s" % (GROUPS[group], name), (0, config)
    return "%s:%#x" % (GROUPS[group], number), (64, event)


def conversion(ticks_per_second):
    for shift in range(32, -1, -1):
        mult = 10**9 * 2**shift // ticks_per_second
        if mult < 2**32:
            return shift, mult
    raise AssertionError


class Sample:
    def __init__(self, event, time, cpu, period):
        self.event, self.time, self.cpu, self.period = event, time, cpu, period
        self.ip, self.pid, self.weight, self.phys, self.mode = 0, NO, 0, 0, 0
        self.branches, self.taken, self.of_pc = [], False, False


def convert(buffers, layout, rates):
    """The attrs, and the records behind those that only describe the capture."""
    parsed = []
    for cpu, data in sorted(buffers):
        header, items = read(data)
        parsed.append((cpu, header, [i[1] for i in items if i[0] == "record"]))
    records = [r for _, _, rs in parsed for r in rs]
    arch = parsed[0][1]["arch"] if parsed[0][1]["arch"] <= 2 else 0
    if layout is None:
        layout = layout_of(records)
    shift, mult = conversion(parsed[0][1]["ticks_per_second"])

    def ns(ticks):
        if ticks is None or ticks <= 0:
            return 1
        return ((ticks >> shift) * mult + ((ticks & (1 << shift) - 1) * mult >> shift)) or 1

    def key(aspace):
        return aspace & ~(0xFFF | 1 << 63) if arch == 1 else aspace

    events, types, aspaces = [], {}, []
    for r in records:
        if r.event and r.event not in events:
            events.append(r.event)
        if not (r.type == 1 and r.event == 0):
            types.setdefault(r.event, set()).add(r.type)
        if r.type in (5, 6) and key(r.aspace) not in aspaces:
            aspaces.append(key(r.aspace))
    if 0 in types or not events:
        events.append(0)
    reports = any(i >> 16 & 1 for r in records for _, _, i in r.branches)
    stacks = {e: 6 in types.get(e, ()) for e in events}
    samples, n = [], 0
    for rank, (cpu, header, rs) in enumerate(parsed):
        times = [r.time for r in rs if r.type == 1]
        now = ns(times[0]) if times else 1
        group = []
        mine = []
        for r in rs:
            if r.type == 1:
                now, group = ns(r.time), []
                if r.event == 0:
                    continue
            s = Sample(r.event, now, cpu, rates.get(r.event, 1))
            if r.type == 3:
                s.period = r.value
            elif r.type == 4:
                s.period, s.weight = 1, r.value
            elif r.type == 5:
                s.ip, s.phys, s.pid, s.of_pc = r.pc, r.aspace, aspaces.index(key(r.aspace)) + 1, True
                s.mode = 1 if r.pc >> 63 else 2
            elif r.type == 6:
                open_ = [c for c in group if stacks[c.event] and not c.taken]
                own = [c for c in open_ if c.event == r.event]
                if open_:
                    into = (own or open_)[-1]
                    into.branches, into.taken = r.branches, True
                    if not into.of_pc:
                        into.pid, into.phys = aspaces.index(key(r.aspace)) + 1, r.aspace
                    continue
                s.pid, s.phys, s.branches, s.taken = aspaces.index(key(r.aspace)) + 1, r.aspace, r.branches, True
                if r.branches:
                    s.ip = r.branches[0][1]
                    s.mode = 1 if s.ip >> 63 else 2
            group.append(s)
            mine.append(s)
        samples += [(s.time, rank, s) for s in mine]
        if header["flags"] & 1:
            first = next((r.event for r in rs if r.event), events[0])
            ident = 1 + events.index(first) * len(parsed) + rank
            samples.append((ns(times[-1]) if times else 1, rank, ("lost", ident, cpu)))
    samples.sort(key=lambda x: x[:2])
    attrs = []
    for i, e in enumerate(events):
        has = types.get(e, set())
        kind = 0x10187 | (0x80000 if has & {5, 6} else 0) | (0x800 if 6 in has else 0) | (0x4000 if 4 in has else 0)
        name, (perf_type, config) = name_of(arch, layout, e)
        attrs.append(dict(name=name, type=perf_type, config=config, config1=e | layout << 16, sample_type=kind,
                          period=rates.get(e, 0), branch=0xB if 6 in has else 0))
    return dict(attrs=attrs, events=events, samples=samples, cpus=[p[0] for p in parsed], aspaces=aspaces,
                shift=shift, mult=mult, reports=reports, types=types)


def expected_samples(c):
    """Samples and losses, as the dump of the converted file shows them."""
    out = []
    for time, rank, s in c["samples"]:
        if isinstance(s, tuple):
            out.append(("LOST", dict(id=str(s[1]), lost="1"),
                        dict(pid=NO, tid=NO, time=str(time), cpu=s[2], res=0, identifier=str(s[1]))))
            continue
        at = c["events"].index(s.event)
        kind = c["attrs"][at]["sample_type"]
        b = dict(identifier=str(1 + at * len(c["cpus"]) + rank), ip=hex(s.ip), pid=s.pid, tid=s.pid, time=str(s.time),
                 cpu=s.cpu, res=0, period=str(s.period))
        if kind & 0x800:
            b["branches"] = [(hex(x), hex(y), i >> 16 & 1, (1 if c["reports"] and not i >> 16 & 1 else 0), i & 0xFFFF)
                             for x, y, i in s.branches]
        if kind & 0x4000:
            b["weight"] = s.weight
        if kind & 0x80000:
            b["phys_addr"] = hex(s.phys)
        out.append(("SAMPLE", b, s.mode))
    return out


def seen_samples(dump):
    out = []
    for x in dump:
        if x["kind"] != "record" or x["name"] not in ("PERF_RECORD_SAMPLE", "PERF_RECORD_LOST"):
            continue
        b = dict(x["body"])
        if x["name"] == "PERF_RECORD_LOST":
            out.append(("LOST", b, x["sample_id"]))
            continue
        if "branch_stack" in b:
            b["branches"] = [(e["from"], e["to"], e["mispred"], e["predicted"], e["cycles"])
                             for e in b.pop("branch_stack")["lbr"]]
        if "weight" in b:
            w = b["weight"]
            b["weight"] = int(w["full"] if isinstance(w, dict) else w, 0)
        out.append(("SAMPLE", b, x["misc"]))
    return out


def check_convert(c, dump, script):
    attrs = [x for x in dump if x["kind"] == "attr"]
    features = {x["name"]: x.get("data") for x in dump if x["kind"] == "feature"}
    ids = []
    for i, (x, w) in enumerate(zip(attrs, c["attrs"])):
        a = x["attr"]
        flags = ["sample_id_all"] + (["comm"] if i == 0 else [])
        have = (a["type"], int(a["config"], 0), int(a["config1"], 0), int(a["sample_type"], 0), int(a["sample_period"], 0),
                int(a["branch_sample_type"], 0), a["size"], sorted(a["flags"]))
        want = (w["type"], w["config"], w["config1"], w["sample_type"], w["period"], w["branch"], 80, sorted(flags))
        if have != want:
            sys.exit("attr %d: %s, not %s" % (i, have, want))
        ids += [int(n) for n in x["ids"]]
    assert len(attrs) == len(c["attrs"]), (len(attrs), len(c["attrs"]))
    assert ids == list(range(1, len(attrs) * len(c["cpus"]) + 1)), ids
    names = [e["name"] for e in features["EVENT_DESC"]["events"]]
    assert names == [a["name"] for a in c["attrs"]], names
    records = [x for x in dump if x["kind"] == "record"]
    types = [x["name"][len("PERF_RECORD_"):] for x in records]
    n_index = types.count("ID_INDEX")
    front = ["TIME_CONV"] + n_index * ["ID_INDEX"] + ["CPU_MAP"] + ["COMM"] * len(c["aspaces"])
    assert types[:len(front)] == front, types[:len(front)]
    assert types[-1] == "FINISHED_ROUND" and types.count("FINISHED_ROUND") == 1
    conv = records[0]["body"]
    assert (int(conv["time_shift"], 0), int(conv["time_mult"], 0), int(conv["time_zero"], 0)) == (c["shift"], c["mult"], 0)
    assert records[0]["size"] == 56, records[0]
    index = [e for x in records if x["name"].endswith("ID_INDEX") for e in x["body"]["entries"]]
    assert [int(e["id"]) for e in index] == ids
    assert [int(e["cpu"]) for e in index] == c["cpus"] * len(attrs), index
    comms = [(x["body"]["pid"], x["body"]["tid"], x["body"]["comm"]) for x in records if x["name"].endswith("COMM")]
    assert comms == [(i + 1, i + 1, "aspace-%x" % k) for i, k in enumerate(c["aspaces"])], comms
    want = expected_samples(c)
    compare("records", seen_samples(dump), want)
    times = [int(w[1]["time"]) for w in want if w[0] == "SAMPLE"]
    span = features["SAMPLE_TIME"]
    assert (int(span["first_sample_time"]), int(span["last_sample_time"])) == \
        ((min(times), max(times)) if times else (0, 0)), span
    if script:
        check_script(c, want, script)


def check_script(c, want, script):
    """perf script -D: for each sample a line with all of its numbers, and lines for the rest."""
    have, sample = [], None
    head = re.compile(r"(-?\d+) (\d+) 0x[0-9a-f]+ \[0x[0-9a-f]+\]: PERF_RECORD_(SAMPLE|LOST)(?:\(IP, (0x[0-9a-f]+)\): "
                      r"(-?\d+)/(-?\d+): (0x[0-9a-f]+|0) period: (\d+))?")
    branch = re.compile(r"\.+ *\d+: ([0-9a-f]+) -> ([0-9a-f]+) (\d+) cycles (.)(.)")
    for line in open(script):
        m = head.match(line)
        if m:
            kind = m.group(3)
            sample = dict(kind=kind, cpu=int(m.group(1)), time=int(m.group(2)))
            if kind == "SAMPLE":
                sample.update(mode=int(m.group(4), 16), pid=int(m.group(5)), ip=int(m.group(7), 16),
                              period=int(m.group(8)), branches=[], weight=None, phys=None, name=None)
            have.append(sample)
            continue
        m = branch.match(line)
        if m:
            sample["branches"].append((int(m.group(1), 16), int(m.group(2), 16), int(m.group(3)), m.group(4) + m.group(5)))
        m = re.match(r" *\.+ (weight|phys_addr): (\w+)", line)
        if m:
            sample[dict(weight="weight", phys_addr="phys")[m.group(1)]] = int(m.group(2), 0)
        m = re.match(r".*\[\d+\] +[\d.]+: +\d+ +(\S+): ", line)
        if m and sample:
            sample["name"] = m.group(1)
    lines_ = []
    for x in want:
        b = x[1]
        if x[0] == "LOST":
            lines_.append(dict(kind="LOST", cpu=x[2]["cpu"], time=int(x[2]["time"])))
            continue
        i = (int(b["identifier"]) - 1) // len(c["cpus"])
        lines_.append(dict(
            kind="SAMPLE", cpu=b["cpu"], time=int(b["time"]), mode=x[2], pid=-1 if b["pid"] == NO else b["pid"],
            ip=int(b["ip"], 16), period=int(b["period"]), name=c["attrs"][i]["name"], weight=b.get("weight"),
            phys=int(b["phys_addr"], 16) if "phys_addr" in b else None,
            branches=[(int(f, 16), int(t, 16), n, ("M" if m else " ") + ("P" if p else " "))
                      for f, t, m, p, n in b.get("branches", [])]))
    compare("perf script -D", have, lines_)


def check_stat(buffers, dump, report):
    c = convert(buffers, None, {})
    sums, spans = {}, []
    for rank, (cpu, data) in enumerate(sorted(buffers)):
        header, items = read(data)
        records = [i[1] for i in items if i[0] == "record"]
        shift, mult = c["shift"], c["mult"]
        times = [((t >> shift) * mult + ((t & (1 << shift) - 1) * mult >> shift)) or 1 if t > 0 else 1
                 for t in (r.time for r in records if r.type == 1)] or [0]
        spans.append((times[0], times[-1]))
        for r in records:
            if r.type == 3:
                sums[r.event, rank] = sums.get((r.event, rank), 0) + r.value
    want = []
    for e in c["events"]:
        for rank, cpu in enumerate(c["cpus"]):
            ns = spans[rank][1] - spans[rank][0] if (e, rank) in sums else 0
            want.append(dict(id=str(len(want) + 1), cpu=cpu, thread=0, val=str(sums.get((e, rank), 0)), ena=str(ns),
                             run=str(ns)))
    for x, w in zip((x for x in dump if x["kind"] == "attr"), c["attrs"]):
        a = x["attr"]
        have = (a["type"], int(a["config"], 0), int(a["config1"], 0), int(a["sample_type"], 0), a["flags"], a["size"])
        assert have == (w["type"], w["config"], w["config1"], 1 << 16, [], 80), have
    features = {x["name"]: x.get("data") for x in dump if x["kind"] == "feature"}
    assert "STAT" in features and "SAMPLE_TIME" not in features, list(features)
    assert [e["name"] for e in features["EVENT_DESC"]["events"]] == [a["name"] for a in c["attrs"]]
    records = [x for x in dump if x["kind"] == "record"]
    types = [x["name"][len("PERF_RECORD_"):] for x in records]
    assert types == ["STAT_CONFIG", "THREAD_MAP", "CPU_MAP"] + len(want) * ["STAT"] + ["STAT_ROUND"], types
    compare("counts", [x["body"] for x in records[3:-1]], want)
    last = records[-1]["body"]
    wall = max(s[1] for s in spans) - min(s[0] for s in spans)
    assert (int(last["type"]), int(last["time"])) == (1, wall), last
    if report:
        check_report(c, sums, report)


def check_report(c, sums, report):
    """perf stat report -x,: a line for each event with the sum of all processors."""
    have = [line.split(",") for line in open(report) if "," in line]
    want = []
    for a, e in zip(c["attrs"], c["events"]):
        counts = [sums[k] for k in sums if k[0] == e]
        want.append((str(sum(counts) % 2**64) if counts else "<not counted>", a["name"]))
    compare("perf stat report", [(x[0], x[2]) for x in have], want)


def main():
    if sys.argv[1] == "dump":
        data = open(sys.argv[2], "rb").read()
        want = lines(data)
        compare(sys.argv[2], [json.loads(x) for x in open(sys.argv[3])], want)
        status = 0 if not want[-1]["errors"] else 3 if want[-1]["records"] else 1
        if len(sys.argv) > 4 and int(sys.argv[4]) != status:
            sys.exit("%s: status %s, not %d" % (sys.argv[2], sys.argv[4], status))
        return
    p = argparse.ArgumentParser()
    p.add_argument("mode")
    p.add_argument("dump")
    p.add_argument("script")
    p.add_argument("-l", dest="layout")
    p.add_argument("-r", dest="rates", action="append", default=[])
    p.add_argument("buffers", nargs="+")
    a = p.parse_args()
    buffers = []
    for b in a.buffers:
        cpu, path = b.split("=", 1)
        buffers.append((int(cpu), open(path, "rb").read()))
    dump = [json.loads(x) for x in open(a.dump)]
    if a.mode == "stat":
        check_stat(buffers, dump, None if a.script == "-" else a.script)
        return
    rates = {int(r.split("=")[0], 0): int(r.split("=")[1]) for r in a.rates}
    layout = None if a.layout is None else "ab".index(a.layout)
    check_convert(convert(buffers, layout, rates), dump, None if a.script == "-" else a.script)


main()

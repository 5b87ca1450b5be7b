"""What `perfile filter` keeps is what is worked out here from `dump --format jsonl` of the input, for
every kind of term; the result is sound, and has everything else as it was."""
import fnmatch
import json
import os
import subprocess
import sys
from bisect import bisect_right
from collections import Counter

from enough import enough
from convert_content import EVERY, PERFILE, PLACES, captures

MOST_BYTES = 3 << 20
NO_TIME = 1 << 70
TASK = {"MMAP", "MMAP2", "COMM", "FORK", "EXIT", "NAMESPACES", "ITRACE_START"}
SYSTEM = {"KSYMBOL", "BPF_EVENT", "CGROUP", "TEXT_POKE"}
LOSS = {"LOST", "LOST_SAMPLES", "THROTTLE", "UNTHROTTLE"}
FACTS = {"HEADER_ATTR", "HEADER_EVENT_TYPE", "HEADER_TRACING_DATA", "HEADER_BUILD_ID", "STAT_CONFIG",
         "EVENT_UPDATE", "TIME_CONV", "HEADER_FEATURE"}
TOOL_DATA = {"AUXTRACE_ERROR", "STAT", "SCHEDSTAT_CPU", "SCHEDSTAT_DOMAIN"}
NOBODY = 0xffffffff


class Record:
    def __init__(self, d, number):
        self.d, self.number = d, number
        self.name = (d["name"] or "").replace("PERF_RECORD_", "")
        self.body, trailer = d.get("body", {}), d.get("sample_id", {})
        self.sample = self.name == "SAMPLE"
        place = self.body if self.sample else trailer
        self.time = self.number_of(place, "time")
        if self.time is None and self.name in ("FORK", "EXIT", "THROTTLE", "UNTHROTTLE", "AUXTRACE_ERROR"):
            self.time = self.number_of(self.body, "time")
        self.pid, self.tid = place.get("pid"), place.get("tid")
        own = None if self.name in ("AUX", "AUXTRACE", "SAMPLE") else self.body.get("pid")
        if not self.sample and (self.pid is None or (self.pid == self.tid == 0 and self.time == 0)):
            if own is not None and (self.d["type"] < 64 or
                                    self.name == "AUXTRACE_ERROR"):
                self.pid, self.tid = own, self.body.get("tid")
        self.cpu = place.get("cpu")
        if self.cpu is None and self.name in ("STAT", "AUXTRACE_ERROR"):
            self.cpu = self.body.get("cpu")
            self.cpu = None if self.cpu == NOBODY else self.cpu
        self.cls = self.class_of()

    @staticmethod
    def number_of(place, name):
        value = place.get(name)
        return None if value is None else int(value, 0) if isinstance(value, str) else value

    def class_of(self):
        if self.name in TASK:
            return "task"
        if self.name in SYSTEM:
            return "system"
        if self.name in LOSS:
            return "loss"
        if self.name in FACTS:
            return "fact"
        if self.name == "AUXTRACE":
            return "aux"
        if self.name == "AUX_OUTPUT_HW_ID":
            return "recording"
        return "data" if self.d["type"] < 64 or self.name in TOOL_DATA else "recording"


class Content:
    """All records but compressed ones, and features of sections by number."""

    def __init__(self, path):
        self.form, self.broken, self.features, self.records = None, False, {}, []
        dump = subprocess.run([PERFILE, "dump", "--format", "jsonl", path], capture_output=True)
        self.damaged = dump.returncode != 0
        for line in dump.stdout.splitlines():
            d = json.loads(line)
            self.broken = self.broken or "error" in d
            if d["kind"] == "header":
                self.form = d["format"]
            elif d["kind"] == "feature":
                self.features.setdefault(int(d["feature"]), d.get("data"))
            elif d["kind"] == "record" and d["type"] not in (81, 83):
                packed = d["name"] == "PERF_RECORD_HEADER_FEATURE" and \
                    d["body"].get("name") == "COMPRESSED"
                if not packed:  # what is written is not
                    record = {k: v for k, v in d.items() if k not in PLACES}
                    record["payload"] = (d.get("payload") or {}).get("crc32")
                    self.records.append(record)


class World:
    """Names and mappings over time."""

    def __init__(self, records):
        self.names, self.births, self.images, self.maps, self.cgroups = {}, {}, {}, {}, {}
        for r in records:
            at = (r.time or 0, r.number)
            b = r.body
            if r.name == "COMM" and "comm" in b:
                self.names.setdefault(b["tid"], []).append((at, b["comm"]))
                if r.d["misc"] & 0x2000:
                    self.images.setdefault(b["pid"], []).append((at, None))
            elif r.name == "FORK" and "ptid" in b:
                copy = not r.d["misc"] & 0x2000
                self.births.setdefault(b["tid"], []).append((at, b["ptid"] if copy else None))
                if b["pid"] != b["ppid"] and b["pid"] == b["tid"]:
                    self.images.setdefault(b["pid"], []).append((at, b["ppid"] if copy else None))
            elif r.name in ("MMAP", "MMAP2") and "filename" in b:
                begin = int(b["addr"], 0)
                self.maps.setdefault(b["pid"], []).append(
                    (at, begin, begin + int(b["len"], 0), b["filename"]))
            elif r.name == "KSYMBOL" and "name" in b:
                begin = int(b["addr"], 0)
                gone = int(b["flags"]) & 1 if "flags" in b else 0
                self.maps.setdefault("symbols", []).append(
                    (at, begin, begin + b["len"], None if gone else b["name"]))
            elif r.name == "CGROUP" and "path" in b:
                self.cgroups.setdefault(int(b["id"]), b["path"])
        for table in (self.names, self.births, self.images, self.maps):
            for of in table.values():
                of.sort(key=lambda x: x[0])

    @staticmethod
    def last(table, key, time):
        of = table.get(key, [])
        i = bisect_right(of, time, key=lambda x: x[0][0])
        return of[i - 1] if i else None

    def comm(self, pid, tid, time):
        at, then = tid, time
        for _ in range(32):
            name, birth = self.last(self.names, at, then), self.last(self.births, at, then)
            if name and (not birth or name[0][0] >= birth[0][0]):
                return name[1]
            if not birth or birth[1] is None:
                break
            at, then = birth[1], birth[0][0]
        if pid == tid == 0:
            return "swapper"
        return self.comm(pid, pid, time) if tid != pid else None

    def mapped(self, pid, ip, time):
        if pid == NOBODY:
            found = [m for m in self.maps.get("symbols", []) if m[0][0] <= time and m[1] <= ip < m[2]]
            if found and found[-1][3]:
                return found[-1][3]
        for _ in range(32):
            image = self.last(self.images, pid, time)
            found = [m for m in self.maps.get(pid, []) if m[0][0] <= time and m[1] <= ip < m[2]]
            if found and (not image or found[-1][0][0] >= image[0][0]):
                return found[-1][3]
            if not image or image[1] is None:
                return None
            pid, time = image[1], image[0][0]
        return None

    def dso(self, r):
        mode = r.d["misc"] & 7
        ip = r.body.get("ip")
        if ip is None or mode not in (1, 2) or (mode == 2 and r.pid is None):
            return None
        return self.mapped(NOBODY if mode == 1 else r.pid, int(ip, 0),
                           NO_TIME if r.time is None else r.time)


class Filter:
    """The terms as functions of a record; `window` is (from, to) in ns."""

    def __init__(self, options, window=None, cpu=None, types=None, where=None, invert=False, every=0,
                 head=0, no_state=False, thread=None, **terms):
        self.options, self.window, self.cpu, self.terms = options, window, cpu, terms
        self.types, self.where, self.invert, self.every, self.head = types, where, invert, every, head
        self.no_state, self.thread = no_state, thread
        self.end = NO_TIME if window is None or invert else window[1]

    def fits(self, r):
        if self.window and not (r.time is not None and self.window[0] <= r.time <= self.window[1]):
            return False
        if self.cpu is not None and r.cpu != self.cpu:
            return False
        if self.types is not None and r.name not in self.types:
            return False
        if self.where is not None and not self.where(r):
            return False
        return all(f(r) for f in self.terms.values())

    def loss(self, r):
        if self.window is None and self.cpu is None:
            return True
        yes = self.window is None or (r.time is not None and
                                      self.window[0] <= r.time <= self.window[1])
        return (yes and (self.cpu is None or r.cpu == self.cpu)) != self.invert

    def aux(self, r):
        return self.invert or (
            (self.cpu is None or r.body["cpu"] in (self.cpu, NOBODY)) and
            (self.thread is None or r.body["tid"] in (self.thread, NOBODY)))

    def selected(self, records):
        state = self.no_state or self.types is not None or self.where is not None
        skip = count = 0
        out = set()
        for r in records:
            if not (r.cls == "data" or (state and r.cls != "fact")) or self.fits(r) == self.invert:
                continue
            if r.sample or self.types is not None:
                if self.every:
                    skip += 1
                    if (skip - 1) % self.every:
                        continue
                count += 1
                if self.head and count > self.head:
                    continue
            out.add(r.number)
        return out

    def kept(self, records):
        """The numbers; and how many processes were selected."""
        chosen = self.selected(records)
        wanted, everyone, parents = set(), False, {}
        for r in records:
            if r.name == "FORK" and r.body["pid"] != r.body["ppid"] and (r.time or 0) <= self.end:
                parents.setdefault(r.body["pid"], set()).add(r.body["ppid"])
            if r.name == "AUXTRACE" and r.body["tid"] == NOBODY and self.aux(r):
                everyone = True
            if r.number not in chosen or r.cls != "data":
                continue
            if r.pid is not None and r.pid != NOBODY:
                wanted.add(r.pid)
            if r.sample and r.pid is None:
                everyone = True
            if r.name == "SWITCH_CPU_WIDE" and r.body["next_prev_pid"] != NOBODY:
                wanted.add(r.body["next_prev_pid"])
        needed, todo = set(), list(wanted)
        while todo:
            pid = todo.pop()
            if pid not in needed:
                needed.add(pid)
                todo += parents.get(pid, ())
        return self.closing(records, chosen, lambda r: self.keeps(r, needed, everyone))

    @staticmethod
    def closing(records, chosen, keeps):
        """Without the FINISHED_ROUNDs that have only dropped records in front of them."""
        out, kept, dropped = [], False, False
        for r in records:
            a_round = r.name == "FINISHED_ROUND"
            if r.number in chosen or (keeps(r) and not (a_round and dropped and not kept)):
                out.append(r)
                kept, dropped = (False, False) if a_round else (True, dropped)
            else:
                dropped = True
        return out

    def keeps(self, r, needed, everyone):
        if r.cls == "fact":
            return True
        if self.no_state or r.cls == "data":
            return False
        if r.cls == "loss":
            return self.loss(r)
        if r.cls == "aux":
            return self.aux(r)
        if r.cls == "recording":
            return True
        if (r.time or 0) > self.end:
            return False
        pid = r.body.get("pid", NOBODY)
        kernel = r.name in ("MMAP", "MMAP2") and r.d["misc"] & 7 in (1, 4)
        return r.cls == "system" or everyone or kernel or pid in (needed | {NOBODY})


def most(values):
    values = Counter(v for v in values if isinstance(v, (int, str)))
    return values.most_common(1)[0][0] if values else None


def filters(records, world):
    samples = [r for r in records if r.sample]
    times = [r.time for r in samples if r.time is not None]
    yield Filter(["--every", "3"], every=3)
    yield Filter(["--head", "5"], head=5)
    yield Filter(["--type", "SAMPLE"], types={"SAMPLE"})
    yield Filter(["--type", "COMM,MMAP2"], types={"COMM", "MMAP2"})
    if times:
        first, last = min(times), max(times)
        span = last - first
        a, b = first + span // 5, first + span * 3 // 5
        yield Filter(["--time", "%dns..%dns" % (a, b)], window=(a, b))
        yield Filter(["--time", "%d.%09d.." % divmod(a, 10**9)], window=(a, (1 << 64) - 2))
        yield Filter(["--time", "20%..60%"], window=(
            first + span // 10**9 * 2 * 10**8 + span % 10**9 * 2 // 10,
            first + span // 10**9 * 6 * 10**8 + span % 10**9 * 6 // 10))
        yield Filter(["--time", "+%dns..+%dns" % (span // 7, span // 2)],
                     window=(first + span // 7, first + span // 2))
        yield Filter(["--time", "..%dns" % b, "--invert"], window=(0, b), invert=True)
    pid, tid, cpu = (most(getattr(r, n) for r in samples) for n in ("pid", "tid", "cpu"))
    if pid is not None:
        yield Filter(["--pid", str(pid)], pid=lambda r: r.pid == pid)
        yield Filter(["--pid", str(pid), "--invert"], pid=lambda r: r.pid == pid, invert=True)
        yield Filter(["--pid", str(pid), "--no-state"], pid=lambda r: r.pid == pid, no_state=True)
        yield Filter(["--tid", str(tid)], thread=tid, tid=lambda r: r.tid == tid)
        comm = most(world.comm(r.pid, r.tid, NO_TIME if r.time is None else r.time) for r in samples)
        if comm and not set(comm) & set("*?[\\,"):
            named = lambda r: r.pid is not None and (world.comm(
                r.pid, r.tid, NO_TIME if r.time is None else r.time) or "").startswith(comm[:3])
            yield Filter(["--comm", comm[:3] + "*"], comm=named)
            if times:
                yield Filter(["--comm", comm[:3] + "*", "--time", "%dns..%dns" % (a, b)],
                             comm=named, window=(a, b))
            if '"' not in comm:
                sampled = lambda r: r.sample and named(r)
                yield Filter(["--where", 'type == SAMPLE && comm ~ "%s*"' % comm[:3]], where=sampled)
    if cpu is not None:
        yield Filter(["--cpu", str(cpu)], cpu=cpu)
        if pid is not None:
            yield Filter(["--cpu", str(cpu), "--pid", str(pid)], cpu=cpu, pid=lambda r: r.pid == pid)
    ips = sorted(int(r.body["ip"], 0) for r in samples if "ip" in r.body)
    if ips:
        low, high = ips[len(ips) // 4], ips[3 * len(ips) // 4]
        yield Filter(["--ip", "%#x..%#x" % (low, high)],
                     ip=lambda r: r.sample and "ip" in r.body and low <= int(r.body["ip"], 0) <= high)
        dso = most(world.dso(r) for r in samples)
        if dso and not set(dso) & set("*?[\\"):
            last = dso.rsplit("/", 1)[-1]
            yield Filter(["--dso", last], dso=lambda r: r.sample and world.dso(r) is not None and
                         last in (world.dso(r), world.dso(r).rsplit("/", 1)[-1]))
    event = most(r.d.get("attr") for r in samples)
    if event is not None:
        yield Filter(["--event", str(event)], event=lambda r: r.d.get("attr") == event)
    group = most(world.cgroups.get(int(r.body["cgroup"])) for r in samples if "cgroup" in r.body)
    if group and not set(group) & set("*?[\\"):
        yield Filter(["--cgroup", group], cgroup=lambda r: r.sample and "cgroup" in r.body and
                     world.cgroups.get(int(r.body["cgroup"])) == group)
    periods = sorted(int(r.body["period"]) for r in samples if "period" in r.body)
    if periods:
        middle = periods[len(periods) // 2]
        yield Filter(["--where", "period >= %d" % middle],
                     where=lambda r: r.sample and "period" in r.body and
                     int(r.body["period"]) >= middle)


def run(capture, out, options):
    p = subprocess.run([PERFILE, "filter", "-f", "--json", "-o", out, *options, capture],
                       capture_output=True, text=True)
    return (json.loads(p.stdout) if p.returncode == 0 else None), p.stderr


def short(record):
    return "%.24s misc %#x %.80s %.90s" % (record["name"], record["misc"], record.get("body"),
                                         record.get("sample_id"))


def same(what, expected, content):
    found = [r for r in content.records]
    wanted = [r.d for r in expected]
    if found == wanted:
        return True
    for i, (one, other) in enumerate(zip(wanted, found)):
        if one != other:
            print("%s: record %d: %s and not %s" % (what, i, short(other), short(one)))
            return False
    print("%s: %d records, not %d" % (what, len(found), len(wanted)))
    return False


def plain(content, capture):
    """Whether it can be worked out here what is kept."""
    return (not content.broken and not os.path.isdir(capture) and
            not any((r["name"] or "").startswith("SIMPLEPERF") or r["type"] >= 32768
                    for r in content.records))


def sample_time(what, records, expected, before, after):
    """Feature 21 says from when to when the samples are."""
    if 21 not in before.features or len(expected) == len(records):
        return True
    times = [r.time for r in expected if r.sample and r.time is not None]
    if sum(r.sample for r in expected) == sum(r.sample for r in records):
        return True
    wanted = {"first_sample_time": str(min(times, default=0)),
              "last_sample_time": str(max(times, default=0))}
    if before.form == "file" and after.features[21] != wanted:
        print("%s: SAMPLE_TIME is %s, not %s" % (what, after.features[21], wanted))
        return False
    return True


def sound(what, out):
    p = subprocess.run([PERFILE, "validate", "--severity", "error", out], capture_output=True,
                       text=True)
    if p.returncode != 0:
        print("%s: %s" % (what, p.stdout.strip().splitlines()[:2]))
    return p.returncode == 0


def try_all(capture, tally):
    content = Content(capture)
    if content.damaged or not plain(content, capture):
        return 0
    tally["captures"] = tally.get("captures", 0) + 1
    whole = subprocess.run([PERFILE, "validate", "--severity", "error", capture],
                           capture_output=True).returncode == 0
    records = [Record(d, i) for i, d in enumerate(content.records)]
    bad = 0
    for f in filters(records, World(records)):
        what = "%s %s" % (capture, " ".join(f.options))
        report, said = run(capture, "out.data", f.options)
        if report is None:
            print("%s: %s" % (what, said.strip()))
            bad += 1
            continue
        expected, after = f.kept(records), Content("out.data")
        good = same(what, expected, after)
        good = sample_time(what, records, expected, content, after) and good
        good = (not whole or sound(what, "out.data")) and good
        if good and report["kept_samples"] != sum(r.sample for r in expected):
            print("%s: %s samples are told" % (what, report["kept_samples"]))
            good = False
        bad += not good
        kept = len(expected)
        tally[f.options[0]] = tally.get(f.options[0], 0) + (0 < kept < len(records))
    return bad


def main():
    bad, tally = 0, {}
    for capture in sys.argv[1:] or captures():
        if os.path.isdir(capture) or os.path.getsize(capture) > MOST_BYTES:
            continue
        bad += try_all(capture, tally)
    tried = tally.pop("captures", 0)
    print("%d captures; kept a part: %s" % (tried, tally))
    if not sys.argv[1:]:
        bad += not enough("captures filtered", tried, 160, 18)
        bad += not enough("kinds of terms", len(tally), 12 * EVERY, 12)
        for term, n in tally.items():
            least = 3 if term == "--cgroup" else 30
            bad += not enough("captures filtered by " + term, n, least // EVERY, min(3, least // 6))
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()

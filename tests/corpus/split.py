"""The parts of `perfile split` are what is worked out here from `dump --format jsonl` of the input:
each record where it belongs, and besides what `perfile filter` would keep for the data of the part.
All parts are sound, and all records are in one at least."""
import itertools
import json
import os
import shutil
import subprocess
import sys
from collections import Counter

from enough import enough
from convert_content import EVERY, PERFILE, captures
from filter import NO_TIME, NOBODY, Content, Filter, Record, World, plain, short, sound

MOST_BYTES = 100 << 10
MOST_PARTS = 150 // EVERY, 30 // EVERY  # of every tenth capture, of the others


class Part(Filter):
    """A filter whose selection is given: the data of the part."""

    def __init__(self, home, stored, **terms):
        super().__init__([], **terms)
        self.home, self.stored = {r.number for r in home}, stored
        self.chosen = {r.number for r in home if r.cls == "data"}

    def selected(self, records):
        return self.chosen

    @staticmethod
    def closing(records, chosen, keeps):
        """A part has all FINISHED_ROUNDs."""
        return [r for r in records if r.number in chosen or keeps(r)]

    def aux(self, r):
        return r.number in self.home if self.stored else super().aux(r)

    def whole(self, records, state):
        if not state:
            return [r for r in records if r.number in self.home or r.cls == "fact"]
        kept = {r.number for r in self.kept(records)} | self.home
        return [r for r in records if r.number in kept]


class Way:
    """How to split; homes() has the records of each part."""
    stored = False

    def __init__(self, *options):
        self.options = list(options)

    def part(self, key, home):
        return Part(home, self.stored)


    def terms(self, key):
        """The terms of `perfile filter` that select the same, or None."""
        return None


class InOrder(Way):
    def lay(self, records, keys):
        """Parts exist for the keys of data; other records go to the last one that is not later."""
        there = sorted({k for k, r in zip(keys, records) if r.cls == "data"}) or [0]
        homes = {k: [] for k in there}
        for k, r in zip(keys, records):
            homes[max([t for t in there if t <= k], default=there[0])].append(r)
        return sorted(homes.items())


class Every(InOrder):
    def __init__(self, first, ns):
        super().__init__("--every", "%dns" % ns)
        self.first, self.ns = first, ns

    def homes(self, records):
        keys, key = [], 0
        for r in records:
            if r.time is not None:
                key = max(0, r.time - self.first) // self.ns
            keys.append(key)
        return self.lay(records, keys)

    def terms(self, key):
        begin = self.first + key * self.ns
        return ["--time", "%dns..%dns" % (begin, begin + self.ns - 1)] if self.first < NO_TIME else None

    def part(self, key, home):
        begin = self.first + key * self.ns
        return Part(home, False, window=(begin, begin + self.ns - 1))


class Records(InOrder):
    stored = True

    def __init__(self, n):
        super().__init__("--records", str(n))
        self.n = n

    def homes(self, records):
        keys, data = [], 0
        for r in records:
            data += r.cls == "data"
            keys.append(max(0, data - 1) // self.n)
        return self.lay(records, keys)

    def part(self, key, home):
        times = [r.time for r in home if r.cls == "data" and r.time is not None]
        return Part(home, True, window=(min(times), max(times)) if times else None)


class By(Way):
    def __init__(self, name, key):
        super().__init__("--by", name)
        self.name, self.key = name, key

    def key_of(self, r):
        if r.name == "AUXTRACE" and self.name in ("cpu", "tid"):
            return None if r.body[self.name] == NOBODY else r.body[self.name]
        return self.key(r)

    def homes(self, records):
        there = {self.key_of(r) for r in records if r.cls == "data"}
        homes = {k: [] for k in sorted(there - {None}) + ([None] if None in there else [])}
        homes = homes or {None: []}
        first = next(iter(homes))
        for r in records:
            k = self.key_of(r)
            homes[k if k in homes and (k is not None or r.cls == "data") else first].append(r)
        return list(homes.items())

    def terms(self, key):
        return ["--" + self.name, str(key)] if self.name in ("pid", "tid", "cpu") and \
            key is not None else None

    def part(self, key, home):
        if self.name == "cpu":
            return Part(home, False, cpu=-1 if key is None else key)
        if self.name == "tid":
            return Part(home, False, thread=-1 if key is None else key)
        return Part(home, False)


def in_bytes(name):
    return bytes.fromhex(name["hex"]) if isinstance(name, dict) else name and name.encode()


def ways(records, world, ids):
    samples = [r for r in records if r.sample]
    times = [r.time for r in samples if r.time is not None] or \
        [r.time for r in records if r.cls == "data" and r.time is not None]
    n_data = sum(r.cls == "data" for r in records)
    first = min(times, default=NO_TIME)
    span = max(times) - first if times else 0
    yield Every(first, span // 5 + 1)
    yield Every(first, span // 40 + 1)
    yield Records(n_data // 4 + 1)
    yield Records(n_data // 90 + 1)
    yield By("tid", lambda r: r.tid)
    yield By("pid", lambda r: r.pid)
    if not any(r.name.startswith("SCHEDSTAT") for r in records):  # of which some cannot be read
        yield By("cpu", lambda r: r.cpu)
    yield By("event", lambda r: ids.get(str(r.body["id"])) if r.name == "STAT" else r.d.get("attr"))
    yield By("comm", lambda r: None if r.pid is None else in_bytes(
        world.comm(r.pid, r.tid, NO_TIME if r.time is None else r.time)))


def event_ids(capture):
    """id -> position of the event"""
    dump = subprocess.run([PERFILE, "dump", "--format", "jsonl", capture], capture_output=True)
    events = []
    for d in map(json.loads, dump.stdout.splitlines()):
        if d["kind"] == "attr":
            events.append(d.get("ids", []))
        elif d["kind"] == "record" and d["name"] == "PERF_RECORD_HEADER_ATTR":
            events.append(d["body"].get("id", []))
    return {str(i): n for n, of in enumerate(events) for i in of}


def run(capture, options):
    shutil.rmtree("parts", ignore_errors=True)
    os.mkdir("parts")
    p = subprocess.run([PERFILE, "split", "--json", "-o", "parts/%d", *options, capture],
                       capture_output=True, text=True)
    report = json.loads(p.stdout) if p.returncode == 0 else None
    there = sorted(os.listdir("parts"), key=int)
    if report and there != [str(i) for i in range(len(report["parts"]))]:
        return None, "the files are %s" % there
    return report, p.stderr


def compare(what, expected, content):
    """Facts at the front of a pipe and features are compared as records, as they are."""
    found, wanted = content.records, [r.d for r in expected]
    if found == wanted:
        return True
    for one, other in zip(wanted, found):
        if one != other:
            print("%s: %s and not %s" % (what, short(other), short(one)))
            return False
    print("%s: %d records, not %d" % (what, len(found), len(wanted)))
    return False


def has_all_of_filter(what, capture, terms, after):
    """What `perfile filter` itself keeps is in the part, in that order."""
    subprocess.run([PERFILE, "filter", "-f", "-o", "kept", *terms, capture], check=True,
                   stderr=subprocess.DEVNULL)
    at = iter(after.records)
    missing = [r for r in Content("kept").records if not any(r == other for other in at)]
    if missing:
        print("%s: filter %s keeps %s" % (what, " ".join(terms), short(missing[0])))
    return not missing


def sample_time(what, home, before, after, records):
    if 21 not in before.features or before.form != "file":
        return True
    if sum(r.sample for r in home) == sum(r.sample for r in records):
        return after.features[21] == before.features[21]
    times = [r.time for r in home if r.sample and r.time is not None]
    wanted = {"first_sample_time": str(min(times, default=0)),
              "last_sample_time": str(max(times, default=0))}
    if after.features[21] != wanted:
        print("%s: SAMPLE_TIME is %s, not %s" % (what, after.features[21], wanted))
    return after.features[21] == wanted


def try_way(capture, way, state, content, records, whole, most, tally):
    options = way.options + ([] if state else ["--no-state"])
    what = "%s %s" % (capture, " ".join(options))
    homes = way.homes(records)
    if len(homes) > most:
        return None
    report, said = run(capture, options)
    if report is None:
        print("%s: %s" % (what, said.strip()))
        return False
    if len(report["parts"]) != len(homes):
        print("%s: %d parts, not %d" % (what, len(report["parts"]), len(homes)))
        return False
    good = True
    for i, (key, home) in enumerate(homes):
        after = Content("parts/%d" % i)
        here = "%s: part %d" % (what, i)
        good = good and compare(here, way.part(key, home).whole(records, state), after)
        good = good and sample_time(here, home, content, after, records)
        if i % 3 == 0 or i + 1 == len(homes):
            good = good and (not whole or sound(here, "parts/%d" % i))
        terms = way.terms(key) if state and i in (0, len(homes) // 2, len(homes) - 1) else None
        if good and terms:
            good = has_all_of_filter(here, capture, terms, after)
            tally["filtered"] += good
        told, data = report["parts"][i], [r for r in home if r.cls == "data"]
        if (told["records"], told["samples"]) != (len(data), sum(r.sample for r in data)):
            print("%s: %s is told" % (here, told))
            good = False
    return good


def data_sizes(path):
    dump = subprocess.run([PERFILE, "dump", "--format", "jsonl", path], capture_output=True)
    records = [d for d in map(json.loads, dump.stdout.splitlines()) if d["kind"] == "record"]
    return [d["size"] for n, d in enumerate(records) if Record(d, n).cls in ("data", "aux")]


def try_size(capture, records, tally):
    """No part is larger than it may be; the data follows itself from part to part."""
    bytes_there = os.path.getsize(capture)
    good = True
    for limit in bytes_there // 2 + 1, bytes_there // 5 + 1:
        what = "%s --size %d" % (capture, limit)
        report, said = run(capture, ["--size", str(limit)])
        if report is None:
            print("%s: %s" % (what, said.strip()))
            return False
        data, seen = [], Counter()
        for i, told in enumerate(report["parts"]):
            path = "parts/%d" % i
            mine = [Record(d, n) for n, d in enumerate(Content(path).records)]
            data += [r.d for r in mine if r.cls == "data"]
            seen.update(json.dumps(r.d) for r in mine)
            size = os.path.getsize(path)
            # What is repeated may leave no room; then there is an eighth of data and a record.
            sizes = data_sizes(path)
            over = size > limit and len(sizes) > 1 and sum(sizes[:-1]) >= limit // 8
            tally["within"] += size <= limit
            if size != told["bytes"] or over:
                print("%s: part %d has %d bytes, %s" % (what, i, size, told))
                good = False
        if data != [r.d for r in records if r.cls == "data"]:
            print("%s: the data is another" % what)
            good = False
        missing = Counter(json.dumps(r.d) for r in records if r.cls != "fact") - seen
        if missing:
            print("%s: missing %s" % (what, list(missing)[:2]))
            good = False
    return good


def try_all(capture, tally):
    content = Content(capture)
    if content.damaged or not plain(content, capture):
        return 0
    tally["captures"] += 1
    whole = subprocess.run([PERFILE, "validate", "--severity", "error", capture],
                           capture_output=True).returncode == 0
    records = [Record(d, i) for i, d in enumerate(content.records)]
    bad = 0
    most = MOST_PARTS[tally["captures"] % 10 != 1]
    for n, way in enumerate(ways(records, World(records), event_ids(capture))):
        state = (n + tally["captures"]) % 4 != 0
        good = try_way(capture, way, state, content, records, whole, most, tally)
        bad += good is False
        tally[" ".join(way.options[:1 if way.options[0] != "--by" else 2])] += good is True
    good = try_size(capture, records, tally)
    tally["--size"] += good
    return bad + (not good)


def main():
    bad, tally = 0, Counter()
    # It takes long: half of them where not all are asked for.
    share = 2 if EVERY > 1 else 1
    for capture in sys.argv[1:] or itertools.islice(captures(), 0, None, share):
        if os.path.isdir(capture) or os.path.getsize(capture) > MOST_BYTES:
            continue
        bad += try_all(capture, tally)
    tried = tally.pop("captures", 0)
    print("%d captures: %s" % (tried, dict(tally)))
    if not sys.argv[1:]:
        bad += not enough("captures split", tried, 40 // share, 18 // share)
        # `within`: parts of --size that are no larger than that; the state of small captures takes more.
        for way, n in tally.items():
            bad += not enough("captures split " + way, n, 40 // share, 0 if way == "within" else 18 // share)
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()

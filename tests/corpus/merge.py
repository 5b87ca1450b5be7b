"""What `perfile merge` writes is what is worked out here from `dump --format jsonl` of its inputs: the
records of all of them by time, each as it was but for ids, times and numbers of processes."""
import heapq
import json
import os
import subprocess
import sys
from collections import Counter

from enough import enough
from convert_content import EVERY, PERFILE, captures

MOST_BYTES = 2 << 20
ALL_ONES = 2**64 - 1
OFFSET = 1500000  # +1.5ms
PLACES = ("index", "offset", "size", "compressed_in", "stream_offset", "file", "attr")
# Became facts of the output, or are made anew.
TAKEN = {"HEADER_ATTR", "HEADER_EVENT_TYPE", "HEADER_TRACING_DATA", "HEADER_BUILD_ID", "HEADER_FEATURE",
         "FINISHED_ROUND", "COMPRESSED", "COMPRESSED2"}
# Of tools, about the capture as a whole: in front.
FACTS = {"ID_INDEX", "AUXTRACE_INFO", "THREAD_MAP", "CPU_MAP", "STAT_CONFIG", "EVENT_UPDATE", "TIME_CONV"}
OWN_TIME = ("FORK", "EXIT", "THROTTLE", "UNTHROTTLE", "AUXTRACE_ERROR")
EVENT_ID = {"LOST", "THROTTLE", "UNTHROTTLE", "STAT", "EVENT_UPDATE", "ID_INDEX", "SAMPLE", "READ"}
PIDS = {"pid", "tid", "ppid", "ptid", "next_prev_pid", "next_prev_tid", "machine_pid"}
HOST_PIDS = 1 << 22
TALLY = {"with itself": 0, "refused": 0, "offset": 0, "align": 0, "split": 0, "strange": 0}


def lines(*arguments):
    p = subprocess.run([PERFILE, *arguments], capture_output=True)
    return [json.loads(line) for line in p.stdout.splitlines()], p.returncode


class Capture:
    """Records in the order of `sort` (of one that merge has written: as they stand), events."""

    def __init__(self, path, merged=False):
        self.damaged = False
        self.path, self.records, self.events, self.rounds = path, [], [], 0
        listed, _ = lines("list", "events", "--json", path)
        for e in listed[0]["events"] if listed else []:
            self.events.append((e["name"], e.get("attr"), e.get("ids", [])))
        if not merged:
            p = subprocess.run([PERFILE, "sort", "-f", "-o", "sorted", path], capture_output=True)
            self.damaged = p.returncode == 3
        dump, status = lines("dump", "--format", "jsonl", path if merged else "sorted")
        self.broken = status != 0
        for d in dump:
            if "error" in d:
                self.broken = str(d)[:400]
            if d["kind"] != "record":
                continue
            name = (d["name"] or "").replace("PERF_RECORD_", "")
            if name.startswith("SIMPLEPERF") or d["type"] >= 32768:
                self.broken = name or "a type of its own"
            self.rounds += name == "FINISHED_ROUND"
            if name not in TAKEN:
                d["name"] = name
                (d.get("payload") or {}).pop("offset", None)
                self.records.append(d)
        self.strange = self.broken or not all(self.is_clear(r) for r in self.records)
        self.timeless = any(r["name"] == "SAMPLE" and "time" not in r.get("body", {})
                            for r in self.records)
        self.starts = [int(r["body"]["time"]) for r in self.records
                       if r["name"] == "SAMPLE" and "time" in r.get("body", {})]


    def is_clear(self, r):
        """Whether nobody wonders whose the record is, and every id in it is one of an event."""
        known = {i for e in self.events for i in e[2]} | {"0"}

        def ids(d, key=None):
            if isinstance(d, dict):
                for k, v in d.items():
                    yield from ids(v, k)
            elif isinstance(d, list):
                for v in d:
                    yield from ids(v, key)
            elif key in ("id", "identifier"):
                yield str(d)

        if r["name"] == "READ" and "sample_id" not in r and len(self.events) > 1:
            return False
        said = list(ids(r.get("sample_id")))
        if r["name"] in EVENT_ID:
            said += list(ids(r.get("body")))
        return all(i in known for i in said)


def time_of(r):
    body = r.get("body") or {}
    value = (body if r["name"] == "SAMPLE" else r.get("sample_id") or {}).get("time")
    if value is None and r["name"] in OWN_TIME:
        value = body.get("time")
    if value is None and r["name"] == "TIME_CONV":
        return None
    return None if value is None or int(value) == ALL_ONES else int(value)


def keyed(capture, at, offset):
    """(key, input, number, record) of all, by the clock of the output."""
    near = top = 0
    for number, r in enumerate(capture.records):
        time = time_of(r)
        if time:
            near, top = time, max(top, time)
        elif time is None:
            time = near if r["type"] < 64 else 0 if r["name"] in FACTS else top
        yield (time + offset if time else 0), at, number, r


class Input:
    """What the report says of one: how its fields are rewritten."""

    def __init__(self, at, capture, said, report, base):
        self.at, self.capture, self.base = at, capture, base
        self.offset, self.host = int(said["offset_ns"]), said["boot"]
        self.ids = {m["id"]: m["new_id"] for m in report["ids"] if m["input"] == at}
        self.pids = {m["pid"]: m["new_pid"] for m in report["pids"] if m["input"] == at}

    def event(self, index):
        return None if index is None else self.base + index


class Comparison:
    def __init__(self, source, out, mapped):
        self.source, self.out, self.mapped = source, out, mapped
        self.owned = {i: set(e[2]) for i, e in enumerate(out.events)}

    def event_id(self, was, now, event):
        """An id: its new number; where nobody said whose it is, one of the event."""
        if was is not None and str(was) in self.source.ids:
            return str(now) == self.source.ids[str(was)]
        if was is None or int(was) == 0:
            return event is None or str(now) in self.owned[event] or not self.owned[event]
        return all(str(now) not in ids for e, ids in self.owned.items() if e != event)

    def pid(self, was, now):
        number = int(was)
        if not self.mapped or not self.source.host or not 0 < number < HOST_PIDS:
            return was == now
        wanted = number + self.source.host * HOST_PIDS
        return int(now) == wanted and self.source.pids.get(number) == wanted

    def same(self, was, now, name, event, key=None, trailer=False):
        if isinstance(was, dict) and isinstance(now, dict):
            more = set(now) - set(was)
            if more - {"identifier"} or set(was) - set(now):
                return False
            if "identifier" in more and not self.event_id(was.get("id"), now["identifier"], event):
                return False
            return all(self.same(was[k], now[k], name, event, k, trailer) for k in was)
        if isinstance(was, list) and isinstance(now, list):
            return len(was) == len(now) and all(
                self.same(a, b, name, event, key, trailer) for a, b in zip(was, now))
        if key in ("identifier", "stream_id") or (key == "id" and (trailer or name in EVENT_ID)):
            return self.event_id(was, now, event)
        if key == "time" and (trailer or name == "SAMPLE" or name in OWN_TIME):
            shifted = int(was) not in (0, ALL_ONES)
            return int(now) == int(was) + (self.source.offset if shifted else 0)
        if key == "time_zero":
            return int(now, 0) == (int(was, 0) + self.source.offset) % 2**64
        if key in PIDS:
            return self.pid(was, now)
        if key == "cgroup" and self.source.host:
            return int(now) & (1 << 56) - 1 == int(was) & (1 << 56) - 1
        if key == "id" and name == "CGROUP" and self.source.host:
            return int(now) & (1 << 56) - 1 == int(was) & (1 << 56) - 1
        return was == now

    def record(self, was, now):
        if was["name"] == "ID_INDEX":  # how its entries are numbered is the checker's business
            return now["name"] == "ID_INDEX" and self.same(
                was["body"], now["body"], "ID_INDEX", None)
        event = self.source.event(was.get("attr"))
        if was["name"] == "SAMPLE" and now.get("attr") != event:
            return False
        one = {k: v for k, v in was.items() if k not in PLACES and k != "sample_id"}
        other = {k: v for k, v in now.items() if k not in PLACES and k != "sample_id"}
        if not self.same(one, other, was["name"], event):
            return False
        if "sample_id" not in was:
            return True
        return self.same(was["sample_id"], now.get("sample_id"), was["name"], event, trailer=True)


def same_attr(was, now):
    """All but what merging has to change.  Sizes grow with a clock, and shrink to what all inputs know:
    what is no longer there was zero."""
    one, other = dict(was), dict(now)
    for attr in one, other:
        attr["sample_type"] = int(attr.get("sample_type", "0"), 0) | 1 << 16
        attr["flags"] = [f for f in attr.get("flags", []) if f not in ("sample_id_all", "use_clockid")]
        attr.pop("size", None)
        attr.pop("clockid", None)
    return all(one[k] == other[k] if k in other else one[k] in (0, "0", "0x0") for k in one)


def bases(inputs, out, report):
    """Where the events of each input begin among those of the output."""
    base, n = [], 0
    for i, capture in enumerate(inputs):
        part_of = report["inputs"][i]["part_of"]
        shared = part_of != i and sum(len(c.events) for c in inputs) != len(out.events)
        base.append(base[part_of] if shared else n)
        n += 0 if shared else len(capture.events)
    return base if n == len(out.events) else None


def errors(path):
    p = subprocess.run([PERFILE, "validate", "--severity", "error", "--format", "json", path],
                       capture_output=True, text=True)
    try:
        return {f["rule"] for f in json.loads(p.stdout)["rules"]}
    except (ValueError, KeyError):
        return {"no report: " + p.stderr}


def look_at_events(what, inputs, out, base):
    good = True
    ids = [i for e in out.events for i in e[2]]
    if len(ids) != len(set(ids)):
        print("%s: an id is of two events" % what)
        good = False
    for at, capture in enumerate(inputs):
        for k, (name, attr, _) in enumerate(capture.events):
            other = out.events[base[at] + k]
            # What nobody has named is called in the way of the tool, of which there may be two now.
            named = name == other[0] or sorted((str(name), str(other[0]))) == ["cpu-cycles", "cycles"]
            if not named or not same_attr(attr, other[1]):
                print("%s: event %d of input %d was %s %s, is %s %s" %
                      (what, k, at, name, attr if name == other[0] else "", other[0],
                       other[1] if name == other[0] else ""))
                good = False
    return good


def short(r):
    return "%s of event %s %.300s %.200s" % (r["name"], r.get("attr"), r.get("body"), r.get("sample_id"))


def left_out_of(report):
    # A note of kind "records" tells of_nobody, too.
    return sum(report[k] for k in ("repeated", "unreadable", "conflicting")) + sum(
        n["count"] for n in report["notes"] if n["kind"] == "records")


def look_at_records(what, sources, out, report, mapped):
    """In order of (time, input, place); what the result says was left out may be missing."""
    left_out = left_out_of(report)
    order = heapq.merge(*(keyed(s.capture, s.at, s.offset) for s in sources), key=lambda r: r[:3])
    compare = [Comparison(s, out, mapped) for s in sources]
    at = missing = 0
    missed = ""
    for _, which, _, r in order:
        if at < len(out.records) and compare[which].record(r, out.records[at]):
            at += 1
            missed = ""
            continue
        missing += 1
        if at < len(out.records) and out.records[at]["name"] == r["name"]:
            missed = missed or "input %d: %s" % (which, short(r))
        if missing > left_out:
            now = short(out.records[at]) if at < len(out.records) else "nothing"
            print("%s: record %d of %s; is %s" % (what, at, missed or short(r), now))
            return False
    if at != len(out.records) or missing != left_out or at != report["records"]:
        print("%s: %d of %d records were expected, %d are missing, %d left out, %d told" %
              (what, at, len(out.records), missing, left_out, report["records"]))
        return False
    return True


def look_at_numbers(what, inputs, out, report):
    """Of captures whose records have ids of nobody: as many as there were."""
    there, lost = sum(len(c.records) for c in inputs), left_out_of(report)
    if not len(out.records) == report["records"] == there - lost:
        print("%s: %d records, %d told, of %d, %d left out" %
              (what, len(out.records), report["records"], there, lost))
        return False
    return True


def merge(out, *arguments):
    p = subprocess.run([PERFILE, "merge", "-f", "--report", "json", "-o", out, *arguments],
                       capture_output=True, text=True)
    return (json.loads(p.stdout) if p.stdout else {}), p.stderr.strip(), p.returncode


def attempt(paths, inputs, options):
    """Whether it went well; None when it was refused."""
    what = "merge %s %s" % (" ".join(options), " ".join(paths))
    report, said, status = merge("out.data", "--to", "perf.data", *options, *paths)
    if status == 2 and "error" in report:
        return None
    # A record that is as long as one can be has no room for an id.
    if status == 1 and "65,535 are the most" in said:
        return None if any(r["size"] > 65535 - 8 for c in inputs for r in c.records) else False
    if status != 3 * any(c.damaged for c in inputs) or (status == 3) != (report["damages"] > 0):
        print("%s: status %d: %s" % (what, status, said))
        return False
    out = Capture("out.data", merged=True)
    base = bases(inputs, out, report)
    strange = any(c.strange for c in inputs)
    if base is None or (out.broken and not strange):
        print("%s: %d events; %s" % (what, len(out.events), out.broken))
        return False
    good = look_at_events(what, inputs, out, base)
    if "--align" in options and all(c.starts and not c.timeless for c in inputs):
        first = {min(c.starts) + int(i["offset_ns"]) for c, i in zip(inputs, report["inputs"])}
        if len(first) != 1:
            print("%s: the first samples are at %s" % (what, first))
            good = False
    if "--offset" in options and report["inputs"][1]["offset_ns"] != str(OFFSET):
        print("%s: the offset is %s" % (what, report["inputs"][1]["offset_ns"]))
        good = False
    sources = [Input(i, c, report["inputs"][i], report, base[i]) for i, c in enumerate(inputs)]
    if strange:
        TALLY["strange"] += 1
        good = look_at_numbers(what, inputs, out, report) and good
    else:
        good = look_at_records(what, sources, out, report, "--map-pids" in options) and good
    new = errors("out.data") - set().union(*(errors(p) for p in set(paths)))
    if strange:  # whose those are nobody can say
        new -= {"V-206", "V-210"}
    if new:
        print("%s: rules that were kept before are broken: %s" % (what, sorted(new)))
        good = False
    return good


def as_text(r):
    return json.dumps({k: v for k, v in r.items() if k not in PLACES}, sort_keys=True)


def split_and_merge(path, capture):
    """The parts of a recording make what sorting makes of it; None when it cannot be tried.  Records
    that say no time follow others of their part, which may be another then."""
    subprocess.run("rm -rf parts; mkdir parts", shell=True, check=True)
    n = max(1, len(capture.records) // 4)
    how = ["--records", str(n)] if TALLY["split"] % 2 else ["--by", "pid"]
    p = subprocess.run([PERFILE, "split", *how, "-o", "parts/%04d.data", path],
                       capture_output=True, text=True)
    parts = sorted("parts/" + name for name in os.listdir("parts"))
    if p.returncode != 0 or len(parts) < 2:
        return None
    report, said, status = merge("out.data", "--to", "perf.data", "--join-events", *parts)
    if status == 2 and "AUX traces" in said:  # one part has no samples: it may be of any recording
        return None
    if status != 0:
        print("%s: split, then merge: %s" % (path, said))
        return False
    out = Capture("out.data", merged=True)
    if len(out.events) != len(capture.events):
        print("%s: split, then merge: %d events of %d" % (path, len(out.events), len(capture.events)))
        return False
    was, now = ([as_text(r) for r in c.records if time_of(r)] for c in (capture, out))
    if how[0] == "--by":  # of one time, in the order of the parts
        was, now = ([x for _, x in sorted((time_of(r), as_text(r)) for r in c.records if time_of(r))]
                    for c in (capture, out))
    for i, (one, other) in enumerate(zip(was, now)):
        if one != other:
            print("%s: split %s, then merge: record %d was %s, is %s" % (path, how, i, one[:300], other[:300]))
            return False
    was, now = (Counter(as_text(r) for r in c.records) for c in (capture, out))
    if was != now:
        print("%s: split %s, then merge: lost %s, more %s" % (
            path, how, list((was - now).items())[:2], list((now - was).items())[:2]))
    return was == now


def self_check(capture):
    """What is compared can differ."""
    source = Input(0, capture, {"offset_ns": "0", "boot": 0}, {"ids": [], "pids": []}, 0)
    compare = Comparison(source, capture, False)
    r = next(r for r in capture.records if r["name"] == "SAMPLE")
    assert compare.record(r, r)
    for edit in ({"time": "5"}, {"pid": 99999}, {"ip": "0x5"}, {"more": 1}):
        assert not compare.record(r, {**r, "body": {**r["body"], **edit}}), edit
    assert not compare.record(r, {**r, "attr": 7})


def main():
    paths = [p for p in sys.argv[1:] or captures()
             if os.path.isdir(p) or os.path.getsize(p) <= MOST_BYTES]
    bad, before, has_split = 0, None, " split " in subprocess.run(
        [PERFILE, "--help"], capture_output=True, text=True).stdout
    for path in paths:
        capture = Capture(path)
        if capture.broken or not capture.records or not capture.events:
            continue
        if TALLY["with itself"] == 0 and capture.starts:
            self_check(capture)
        tries = [("with itself", [path, path], [capture, capture], [])]
        if before:
            both, contents = [before.path, path], [before, capture]
            tries.append(("offset", both, contents, ["--offset", "2=+1.5ms"] + ["--map-pids"] * (TALLY["offset"] % 2)))
            tries.append(("align", both[::-1], contents[::-1], ["--align", "start"]))
        for kind, names, contents, options in tries:
            good = attempt(names, contents, options)
            TALLY["refused"] += good is None
            if good is None:
                good = attempt(names, contents, options + ["--drop-conflicting"])
            TALLY[kind] += good is not None
            bad += good is False
        if has_split:
            good = split_and_merge(path, capture)
            TALLY["split"] += good is not None
            bad += good is False
        before = capture
    print("tried:", TALLY)
    if not sys.argv[1:]:
        for k, n in TALLY.items():
            if k not in ("refused", "strange") and (k != "split" or has_split):
                bad += not enough("captures merged, " + k, n, 40, 14)
    sys.exit(bad != 0)


if __name__ == "__main__":
    main()

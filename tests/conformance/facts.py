"""What a capture has, by the dump that is beside it, compared with what a reader says it has.

The dump is that of `perfile generate --matrix` (or of `perfile dump --format jsonl`).  A reader says *facts*: a fact is the name of a
record, such as SAMPLE, with some members and their values, and the offset of the record if the reader shows it.  A fact belongs to the
record at its offset; without an offset to the record of its name and time; without a time to the next record of its name.  Members that
only one of both sides has are not compared.
"""
import collections
import json

NAME = "PERF_RECORD_"
SIGNED = {"pid", "tid", "ppid", "ptid", "cpu", "next_prev_pid", "next_prev_tid"}  # 32 bits; -1 and 4294967295 are the same

Fact = collections.namedtuple("Fact", "name members offset", defaults=(None,))


def number(value):
    """Dumps have large numbers as text; names stay text, with bytes that are not UTF-8 as lone surrogates."""
    if isinstance(value, dict) and set(value) == {"hex"}:
        return bytes.fromhex(value["hex"]).decode("utf-8", "surrogateescape")
    if isinstance(value, str):
        try:
            return int(value, 0)
        except ValueError:
            return value
    if isinstance(value, list):
        return [number(v) for v in value]
    return value


def sample_members(body):
    """Lists of a sample under names of their own: chain, counters, branches, regs_user, regs_intr."""
    members = {}
    values = body.get("values")
    if values is not None:
        entries = values["cntr"] if "cntr" in values else [values]
        members["counters"] = [number(e["value"]) for e in entries]
    if "callchain" in body:
        chain = body["callchain"]
        members["chain"] = number(chain["ips"] if isinstance(chain, dict) else chain)
    if "branch_stack" in body:
        members["branches"] = [(number(b["from"]), number(b["to"])) for b in body["branch_stack"]["lbr"]]
    for name in "regs_user", "regs_intr":
        if name in body:
            members[name] = number(body[name].get("regs", []))
    return members


class Capture:
    """The records of a dump."""

    def __init__(self, lines):
        self.records = []  # (name, members), in stored order
        self.by_offset = {}  # offset to index
        self.by_time = collections.defaultdict(list)  # (name, time) to indexes
        self.by_name = collections.defaultdict(list)
        self.pipe = False
        for line in lines:
            item = json.loads(line)
            if item["kind"] == "header":
                self.pipe = item["format"] == "pipe"
            elif item["kind"] == "record":
                self.add(item)

    def add(self, item):
        name = str(item.get("name") or item["type"]).removeprefix(NAME)
        body = item.get("body") or {}
        members = {k: number(v) for k, v in body.items() if not isinstance(v, (dict, list)) or k in ("comm", "filename", "path")}
        if name == "SAMPLE":
            members.update(sample_members(body))
        else:
            # Of records that are no samples readers show time and CPU of the trailer.
            for key in "time", "cpu":
                members.pop(key, None)
                if key in item.get("sample_id", {}):
                    members[key] = number(item["sample_id"][key])
        members.update(type=item["type"], misc=item["misc"], size=item["size"])
        index = len(self.records)
        self.records.append((name, members))
        self.by_offset[int(item["offset"])] = index
        self.by_name[name].append(index)
        if "time" in members:
            self.by_time[name, members["time"]].append(index)


def same(key, said, meant):
    if key in SIGNED:
        return said & 0xFFFFFFFF == meant & 0xFFFFFFFF
    return said == meant


def compare(capture, facts, shown):
    """Returns what differs, as a list of texts, and how many records of the names `shown` (None: all) the facts leave out."""
    differences = []
    told = set()
    turns = collections.Counter()
    for fact in facts:
        index = None
        if fact.offset is not None:
            index = capture.by_offset.get(fact.offset)
            if index is None:
                differences.append("%s at offset %d: no record begins there" % (fact.name, fact.offset))
                continue
        elif fact.members.get("time"):
            indexes = capture.by_time.get((fact.name, fact.members["time"]), [])
            if not indexes and any("time" in capture.records[i][1] for i in capture.by_name[fact.name]):
                differences.append("%s: no such record has time %d" % (fact.name, fact.members["time"]))
                continue
            index = next((i for i in indexes if i not in told), indexes[0] if indexes else None)
        if index is None:
            indexes = capture.by_name[fact.name]
            turn = turns[fact.name]
            turns[fact.name] += 1
            if turn >= len(indexes):
                differences.append("%s: said %d times, the capture has %d" % (fact.name, turn + 1, len(indexes)))
                continue
            index = indexes[turn]
        told.add(index)
        name, members = capture.records[index]
        if fact.name != name:
            differences.append("record %d: said %s, is %s" % (index, fact.name, name))
            continue
        for key, said in fact.members.items():
            if key in members and not same(key, said, members[key]):
                differences.append("record %d, %s.%s: said %.60s, is %.60s" % (index, name, key, said, members[key]))
    left_out = sum(1 for i, (name, _) in enumerate(capture.records) if i not in told and (shown is None or name in shown))
    return differences, left_out

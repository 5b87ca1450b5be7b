"""Whether two captures say the same, whatever their form: compares what `dump --format jsonl` shows.

Events, features and records have to be equal; places, sizes and what a form has for itself do not
count.  A fact is the same in a section or in a record.
"""
import itertools
import json
import os
import subprocess

PERFILE, SOURCE, CORPUS = (os.environ[n] for n in ("PERFILE", "PERFILE_SOURCE", "PERFILE_CORPUS"))

# Of one form only: places in it, how it is packed, how many files it has.
OF_THE_FORM = {"AUXTRACE", "DIR_FORMAT", "COMPRESSED"}
PLACES = ("index", "offset", "size", "compressed_in", "stream_offset", "file", "payload")
KERNEL = 64


class Content:
    def __init__(self):
        self.form = self.endian = None
        self.broken = False  # something in it cannot be read
        self.events, self.types, self.features, self.records = [], [], {}, []

    def feature(self, number, name, data):
        if name in OF_THE_FORM:
            return
        if name == "TRACING_DATA":
            data = {}  # a pipe pads it
        if name == "BUILD_ID" and isinstance(data, dict):
            data = plain_build_ids(data.get("build_ids", []))
        self.features.setdefault(number, data)


def plain_build_ids(entries):
    """Entries of the section and of records name their members differently."""
    return [(e.get("pid"), e.get("build_id"), e.get("filename")) for e in entries]


def read(path):
    c = Content()
    build_ids, in_front = [], True
    dump = subprocess.Popen([PERFILE, "dump", "--format", "jsonl", path], stdout=subprocess.PIPE,
                            stderr=subprocess.DEVNULL)
    for line in dump.stdout:
        d = json.loads(line)
        kind = d["kind"]
        c.broken = c.broken or "error" in d
        if kind == "header":
            c.form, c.endian = d["format"], d["endian"]
        elif kind == "attr":
            c.events.append([d["attr"], d.get("ids", [])])
        elif kind == "event_type":
            c.types.append([d["event_id"], d["name"]])
        elif kind == "feature":
            c.feature(int(d["feature"]), d.get("name"), d.get("data", d.get("error")))
        elif kind == "record":
            in_front = in_front and d["type"] >= KERNEL
            name = (d["name"] or "").replace("PERF_RECORD_", "")
            body = d.get("body", {})
            if name == "HEADER_ATTR" and in_front and "attr" in body:
                c.events.append([body["attr"], body.get("id", [])])
            elif name == "HEADER_EVENT_TYPE" and "event_id" in body and in_front:
                c.types.append([body["event_id"], body["name"]])
            elif name == "HEADER_FEATURE" and "feat_id" in body:
                data = body.get("data", body.get("error"))
                # One without content ends their list; below 32 its number is that of a feature.
                if data not in ({"data": ""}, "short-body") or d["size"] > 16:
                    c.feature(int(body["feat_id"]), body.get("name"), data)
            elif name == "HEADER_TRACING_DATA":
                c.feature(1, "TRACING_DATA", {})
            elif name == "HEADER_BUILD_ID" and in_front:
                build_ids.append(body)
            elif name not in ("COMPRESSED", "COMPRESSED2"):
                record = {k: v for k, v in d.items() if k not in PLACES}
                record["payload"] = (d.get("payload") or {}).get("crc32")
                c.records.append(record)
    if build_ids:
        c.features.setdefault(2, plain_build_ids(build_ids))
    dump.wait()
    return c


def counts(record, but):
    """Whether the record is compared."""
    if "unknown" in but and record["name"] is None:
        return False
    return (record["name"] or "").replace("PERF_RECORD_", "") not in but


def differences(a, b, lost, but):
    """In words; `lost` are numbers of features, `but` names of records that do not count."""
    if a.events != b.events:
        yield "events: %.200s and %.200s" % (json.dumps(a.events), json.dumps(b.events))
    if a.types != b.types:
        yield "event types: %.200s and %.200s" % (a.types, b.types)
    for number in sorted(set(a.features) | set(b.features)):
        one, other = a.features.get(number), b.features.get(number)
        if number == 3 and one is None and other == {"string": ""} and b.endian == "big":
            continue  # perf finds the byte order of the feature bits by HOSTNAME
        if number not in lost and one != other and not ("unknown" in but and unknown(one)):
            yield "feature %s: %.200s and %.200s" % (number, json.dumps(one), json.dumps(other))
    ones = [r for r in a.records if counts(r, but)]
    others = [r for r in b.records if counts(r, but)]
    if len(ones) != len(others):
        yield "records: %d and %d" % (len(ones), len(others))
    for i, (one, other) in enumerate(zip(ones, others)):
        if one != other:
            yield "record %d: %.300s and %.300s" % (i, json.dumps(one), json.dumps(other))
            break


def unknown(data):
    return isinstance(data, dict) and list(data) == ["data"]


EVERY = int(os.environ.get("PERFILE_EVERY", "1"))


def captures():
    """Those of our own and of the corpus that anything can be read of, or every n-th of them."""
    return itertools.islice(all_captures(), 0, None, EVERY)


def all_captures():
    for top in (os.path.join(SOURCE, "samples/captures"), CORPUS):
        for folder, folders, files in sorted(os.walk(top)):
            if os.path.basename(folder).endswith(".data"):
                yield folder
                continue
            folders.sort()
            for name in sorted(files):
                path = os.path.join(folder, name)
                with open(path, "rb") as f:
                    if f.read(8) in (b"PERFILE2", b"2ELIFREP", b"PERFFILE"):
                        yield path

"""Captures of dumps that perfile did not write: other lengths, widths, orders of keys; and what is refused, with its place.

The events and records here are made by hand, and what comes back is compared with what was put in.
"""
import json
import os
import subprocess
import sys

from dump_objects import Map, Writer, objects

PERFILE, SOURCE = os.environ["PERFILE"], os.environ["PERFILE_SOURCE"]
SAMPLES = os.path.join(SOURCE, "samples", "captures")
failed = []


def expect(right, what):
    if not right:
        failed.append(what)


def convert(data, *options, out="out"):
    if os.path.exists(out):
        os.remove(out)
    return subprocess.run([PERFILE, "convert", "--from", "cbor", "-o", out, *options, "-"], input=data, capture_output=True)


def dump(capture, form="cbor"):
    return subprocess.run([PERFILE, "dump", "--format", form, capture], capture_output=True).stdout


ATTR = Map(type=1, size=112, config=0, sample_freq=4000, sample_type=0x107, read_format=4,
           flags=["disabled", "mmap", "comm", "freq", "sample_id_all"], precise_ip=0, wakeup_events=0, bp_type=0, config1=0)


def with_attr(**members):
    return Map({**ATTR, **members})


def capture(*records, form="file", endian="little", attrs=(ATTR,), features=()):
    lines = [Map(kind="header", format=form, endian=endian)]
    lines += [Map(kind="attr", attr=a, ids=[7 + i]) for i, a in enumerate(attrs)]
    lines += [Map(kind="feature", feature=n, data=data) for n, data in features]
    return lines + list(records) + [Map(kind="end", records=len(records), errors=0)]


def record(type, body, **more):
    return Map(kind="record", type=type, body=body, **more)


def trailer(time):
    return Map(pid=5, tid=6, time=time)


COMM = record(3, Map(pid=5, tid=6, comm="work"), attr=0, sample_id=trailer(1))
MMAP = record(1, Map(pid=5, tid=6, addr=0x1000, len=0x1000, pgoff=0, filename=b"/bin/\xff"), attr=0, misc=2, sample_id=trailer(2))
SAMPLE = record(9, Map(ip=0x1234, pid=5, tid=6, time=3, period=99), attr=0, misc=2)
SAMPLE_ATTR = with_attr(sample_type=0x107)
UNKNOWN = record(200, Map(data=b"\1\2\3\4\5\6\7\0"), name=None)
ROUND = record(68, Map())


def made_by_hand():
    """A capture of nothing but data: what is put in is what all commands see."""
    lines = capture(COMM, MMAP, record(9, Map(ip=0x1234, pid=5, tid=6, time=3, period=99), attr=0, misc=2), UNKNOWN, ROUND,
                    attrs=(with_attr(sample_type=0x107),), features=((3, Map(string="far")), (7, Map(nr_cpus_avail=2, nr_cpus_online=2))))
    # sample_type 0x107: IP, TID, TIME, PERIOD
    for form in ("file", "pipe"):
        for endian in ("little", "big"):
            lines[0] = Map(kind="header", format=form, endian=endian)
            result = convert(Writer().sequence(lines))
            expect(result.returncode == 0 and result.stderr == b"", "by hand, %s, %s: %s" % (form, endian, result.stderr))
            got = [json.loads(line) for line in dump("out", "jsonl").splitlines()]
            records = {r["type"]: r for r in got if r["kind"] == "record"}
            expect(got[0]["format"] == form and got[0]["endian"] == endian, "header %s" % got[0])
            expect(records[3]["body"] == {"pid": 5, "tid": 6, "comm": "work"} and records[3]["size"] == 40, "comm %s" % records[3])
            expect(records[1]["body"]["filename"] == {"hex": "2f62696e2fff"} and records[1]["misc"] == 2, "mmap %s" % records[1])
            expect(records[9]["body"] == {"ip": "0x1234", "pid": 5, "tid": 6, "time": "3", "period": "99"}, "sample %s" % records[9])
            expect(records[200]["body"] == {"data": "0102030405060700"}, "unknown %s" % records[200])
            info = json.loads(subprocess.run([PERFILE, "info", "--json", "out"], capture_output=True).stdout)
            expect("far" in json.dumps(info), "host name of %s" % form)
            valid = subprocess.run([PERFILE, "validate", "out"], capture_output=True, text=True)
            expect(valid.returncode == 0 and " 0 errors" in valid.stdout, "validate: %s" % valid.stdout)


def other_forms():
    """Every way to write the same objects makes the same capture."""
    tried = 0
    for name in ("cpu-clock.data", "big-endian.data", "pipe.data", "fields.data", "stat.data", "group.data", "perfmon-all.cpuperf"):
        data = dump(os.path.join(SAMPLES, name))
        lines = objects(data)
        expect(convert(data).returncode == 0, name)
        wanted = open("out", "rb").read()
        for bits in range(16):
            w = Writer(bits & 1 == 0, bits & 2 != 0, 3 if bits & 4 else 0, bits & 8 != 0)
            result = convert(w.sequence(lines))
            expect(result.returncode == 0 and open("out", "rb").read() == wanted, "%s, form %d: %s" % (name, bits, result.stderr[:200]))
            tried += 1
        # What a reader can know by itself need not be there.
        less = [Map((k, v) for k, v in line.items()
                    if k not in ("index", "offset", "payload", "attrs", "records") and (k, "flags" in line) != ("version", False))
                for line in lines]
        result = convert(Writer().sequence(less))
        expect(result.returncode == 0 and open("out", "rb").read() == wanted, "%s, less: %s" % (name, result.stderr[:200]))
    return tried


def other_outputs():
    """What convert makes of a capture it makes of its dump."""
    original = os.path.join(SAMPLES, "cpu-clock.data")
    data = dump(original)
    convert(data, out="plain")
    for options in (["--to", "pipe"], ["--to", "archive"], ["--byte-order", "big"], ["--compress"], ["--target", "perf-4.19"],
                    ["--to", "dir"]):
        subprocess.run(["rm", "-rf", "direct"])
        subprocess.run(["rm", "-rf", "out"])
        result = convert(data, *options)
        direct = subprocess.run([PERFILE, "convert", *options, "-o", "direct", "plain"], capture_output=True)
        expect(result.returncode == direct.returncode, "%s: %d and %d: %s" % (options, result.returncode, direct.returncode, result.stderr))
        expect(dump("out") == dump("direct") != b"", "%s differs" % options)
    subprocess.run(["rm", "-rf", "direct", "out"])


def refused():
    """(what, bytes, words of the message)"""
    w = Writer()

    def of(*records, **how):
        return w.sequence(capture(*records, **how))

    def body(type, body, **more):
        return of(record(type, body, **more))

    whole = of(COMM, SAMPLE)
    cases = [
        ("empty", b"", "empty"),
        ("no header", w.sequence(capture(COMM)[1:]), "'header' has to come first"),
        ("two headers", w.sequence(capture()[:1] * 2), "a second header"),
        ("no end", w.sequence(capture(COMM)[:-1]), "'end' is missing"),
        ("after the end", whole + w.value(COMM), "after the line 'end'"),
        ("another count", w.sequence(capture(COMM)[:-1] + [Map(kind="end", records=2, errors=0)]), "2 records, but 1 came"),
        ("another kind", w.sequence([Map(kind="heard")]), "no line is of that kind"),
        ("another form", w.sequence([Map(kind="header", format="files", endian="little")]), "neither 'file'"),
        ("a tag", b"\xd9\xd9\xf7" + whole, "a tag or an indefinite length"),
        ("no map", b"\x01", "not the object that is needed"),
        ("nothing like CBOR", b"\xbf\x1c", "a byte that begins no item"),
        ("deep", b"\xbf\x64kind" + b"\x9f" * 100, "nested too deeply"),
        ("a claim of bytes", b"\xbf\x64kind\x7b" + b"\xff" * 8, "ends inside an object"),
        ("a claim of items", b"\xbf\x64kind\x9b" + b"\xff" * 8, "ends inside an object"),
        ("an odd map", b"\xbf\x64kind\xff", "an end where none can be"),
        ("a key twice", b"\xa2\x64kind\x63end\x64kind\x63end", "the key 'kind' comes twice"),
        ("another key", w.value(Map(kind="end", ends=1)), "no line has a key 'ends'"),
        ("no body", of(Map(kind="record", type=3)), "'body' is missing"),
        ("a member less", body(3, Map(pid=1, comm="x")), "'tid' is missing"),
        ("a member more", body(3, Map(pid=1, tid=1, comm="x", time=1)), "no member is called 'time'"),
        ("a member twice", of(COMM).replace(w.value("tid") + b"\6", w.value("pid") + b"\6", 1), "'pid' comes twice"),
        ("too large", body(3, Map(pid=1 << 32, tid=1, comm="x")), "pid is 4294967296, it has 32 bits"),
        ("negative", body(3, Map(pid=-1, tid=1, comm="x")), "pid is -1 - 0"),
        ("text for a number", body(3, Map(pid="1", tid=1, comm="x")), "not the number"),
        ("a number for text", body(3, Map(pid=1, tid=1, comm=1)), "not the text"),
        ("text with a NUL", of(record(3, Map(pid=1, tid=1, comm="a\0b"), attr=0, sample_id=trailer(1))), "comm.comm would not be read back"),
        ("an object for an array", body(17, Map(addr=Map(), len=1, ksym_type=1, flags=0, name="")), "not the number"),
        ("too short", of(record(3, Map(pid=1, tid=1, comm="long enough"), size=16)), "16 is given, 27 is needed"),
        ("too long", of(record(3, Map(pid=1, tid=1, comm="x"), size=60000)), "record.size: 60000"),
        ("a sample of nobody", of(SAMPLE, attrs=()), "0, but 0 are known"),
        ("another event", of(record(9, SAMPLE["body"], attr=3)), "event 3, but 1 are known"),
        ("a sample with less", body(9, Map(ip=1), attr=0), "present is 0x1"),
        ("a flag", of(attrs=(with_attr(flags=["quick"]),)), "no such flag"),
        ("flags against members", of(attrs=(with_attr(flags=[]),)), "attr.is_freq"),
        ("an attr out of order", w.sequence([capture()[0], Map(kind="attr", index=3, attr=ATTR, ids=[])]), "3, but it is event 0"),
        ("feature 256", of(features=((256, Map(data=b"")),)), "256 is above 255"),
        ("another feature", of(features=((3, Map(name="far")),)), "no member is called 'name'"),
        ("bytes that are none", of(record(200, Map(data="text"))), "not the byte string"),
        ("too many bytes", of(record(200, Map(data=bytes(70000)))), "more than a record has"),
        ("a damaged record without bytes", of(Map(kind="record", type=3, error="short-body")), "the key is missing"),
        ("perfmon with an attr", w.sequence([Map(kind="header", format="perfmon", endian="little", version=0, arch=1, flags=0,
                                                 ticks_per_second=1000, capture_end=24), Map(kind="attr", attr=ATTR, ids=[])]),
         "a perfmon buffer has records only"),
    ]
    for what, data, words in cases:
        result = convert(data)
        message = result.stderr.decode()
        expect(result.returncode == 1 and words in message, "%s: %d: %s" % (what, result.returncode, message))
        expect("offset " in message or "dump.cddl" in message, "%s: no place: %s" % (what, message))
        expect(not os.path.exists("out"), "%s: an output" % what)
    for n in range(0, len(whole), 7):
        result = convert(whole[:n])
        expect(result.returncode == 1 and b"offset" in result.stderr and not os.path.exists("out"), "cut at %d: %s" % (n, result.stderr))
    return len(cases)


def elsewhere():
    """Commands that read captures say what to do with a dump."""
    with open("x.cbor", "wb") as file:
        file.write(dump(os.path.join(SAMPLES, "cpu-clock.data")))
    plain = subprocess.run([PERFILE, "info", "x.cbor"], capture_output=True, text=True)
    expect(plain.returncode == 1 and "`perfile convert`, from cbor" in plain.stderr, "info: %s" % plain.stderr)
    named = subprocess.run([PERFILE, "info", "--from", "cbor", "x.cbor"], capture_output=True, text=True)
    expect(named.returncode != 0 and "with `perfile convert`" in named.stderr, "info --from: %s" % named.stderr)


made_by_hand()
tried = other_forms()
other_outputs()
n = refused()
elsewhere()
print("\n".join(failed))
print("%d forms, %d refused" % (tried, n))
sys.exit(1 if failed else 0)

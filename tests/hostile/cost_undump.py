"""Hostile dumps for cost.py: what `convert --from cbor` makes large or slow.

Each function makes the file at `path` and returns how many bytes it has.
"""
from dump_objects import Map, Writer

WRITER = Writer(definite=False)
ATTR = Map(type=1, size=64, config=0, sample_period=1, sample_type=2, read_format=0, flags=[], precise_ip=0, wakeup_events=0,
           bp_type=0, config1=0)
HEADER = Map(kind="header", format="file", endian="little")
EVENT = Map(kind="attr", attr=ATTR, ids=[])
OPEN = {list: b"\x9f", dict: b"\xbf"}


def write(path, pieces):
    with open(path, "wb") as out:
        for piece in pieces:
            out.write(piece)
        return out.tell()


def lines(path, size, line):
    """As many of `line(i)` as there is room for, encoded or an object."""
    def pieces():
        n = i = 0
        yield WRITER.value(HEADER) + WRITER.value(EVENT)
        while n < size:
            one = line(i)
            one = one if isinstance(one, bytes) else WRITER.value(one)
            n += len(one)
            i += 1
            yield one
        yield WRITER.value(Map(kind="end", records=i, errors=0))
    return write(path, pieces())


def feature(path, size, number, front, item, back):
    """A feature with a list of as many items as there is room for."""
    return write(path, (WRITER.value(HEADER), b"\xbf" + b"".join(map(WRITER.value, ("kind", "feature", "feature", number, "data"))),
                        front, item * (size // len(item)), back + b"\xff", WRITER.value(Map(kind="end", records=0, errors=0))))


def of(**members):
    return WRITER.value(Map(members))[:-1]


INPUTS = {
    # Records of zeros: a size that the fields do not need.
    "dump-sizes": lambda path, size: lines(path, size, lambda i: Map(kind="record", type=3, size=4000, body=Map(pid=1, tid=1, comm=""))),
    "dump-rounds": lambda path, size: lines(path, size, lambda i: Map(kind="record", type=68, body=Map())),
    "dump-errors": lambda path, size: lines(path, size, lambda i: Map(kind="error", offset=i, error="garbage")),
    "dump-aux": lambda path, size: lines(path, size, lambda i: Map(
        kind="record", type=71, body=Map(size=1 << 60, offset=0, reference=0, idx=0, tid=0, cpu=0, reserved__=0))),
    "dump-keys-backwards": lambda path, size: lines(path, size, lambda i: Map(
        kind="record", type=72, body=Map(msg="", ip=1, fmt=0, tid=1, pid=1, cpu=1, code=1, type=1))),
    "dump-strings-in-pieces": lambda path, size: lines(path, size, lambda i: b"\xbf" + of(kind="record", type=200)[1:] +
                                                      WRITER.value("body") + b"\xbf" + WRITER.value("data") + b"\x5f" +
                                                      b"\x40" * 9000 + b"\xff\xff\xff"),
    "dump-attrs": lambda path, size: write(path, [WRITER.value(HEADER)] + [WRITER.value(Map(
        kind="attr", attr=Map({**ATTR, "size": 4096}), ids=[i])) for i in range(size // 150)] + [WRITER.value(Map(kind="end"))]),
    "dump-ids": lambda path, size: write(path, (WRITER.value(HEADER), b"\xbf" + of(kind="attr", attr=ATTR)[1:] + WRITER.value("ids"),
                                                b"\x9f" + b"\x01" * size + b"\xff\xff", WRITER.value(Map(kind="end")))),
    "dump-words": lambda path, size: feature(path, size, 11, b"\xbf" + WRITER.value("cmdline") + b"\x9f", b"\x60", b"\xff\xff"),
    "dump-nodes": lambda path, size: feature(path, size, 22, of(version=1, block_size_bytes=1) + WRITER.value("nodes") + b"\x9f",
                                             WRITER.value(Map(node=1, size=1, bitmap=[])), b"\xff\xff"),
    "dump-bits": lambda path, size: feature(path, size, 22, of(version=1, block_size_bytes=1) + WRITER.value("nodes") + b"\x9f" +
                                            of(node=1, size=1) + WRITER.value("bitmap") + b"\x9f", b"\x01", b"\xff" * 4),
    # The size of each attr in the feature is 4 GB.
    "dump-attr-size": lambda path, size: feature(path, size, 12, of(attr_size=0xfffffff8) + WRITER.value("events") + b"\x9f",
                                                 WRITER.value(Map(attr=ATTR, name="", ids=[])), b"\xff\xff"),
    "dump-open": lambda path, size: write(path, (b"\xbf" + WRITER.value("kind") + b"\x9f", b"\x9f\xff" * (size // 2))),
    "dump-claims": lambda path, size: write(path, (b"\xbf" + WRITER.value("kind") + b"\x9b\0\0\0\xff\0\0\0\0", b"\0" * size)),
}
LINES = {"convert": ["--from cbor -o {out} {in}", "--from cbor --to pipe -o {out} {in}", "--from cbor --byte-order big -o {out} {in}"]}
CONVERT = {"memory0": 80 << 20, "memory": 288, "output0": 17 << 20, "output": 80}

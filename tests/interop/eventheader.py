"""EventHeader payloads against `dump --resolve`: see eventheader.sh.

This reader goes by the comments of eventheader.h of LinuxTracepoints and shares nothing with the library: it takes the bytes
of RAW, and makes of them what the member `tracepoint` has to be."""
import ipaddress
import json
import os
import struct
import subprocess
import sys
import uuid

PERFILE, CORPUS = os.environ["PERFILE"], os.environ["PERFILE_CORPUS"]
SIZES = {2: 1, 3: 2, 4: 4, 5: 8, 6: 16, 7: 1, 8: 2, 9: 4, 10: 1, 11: 2, 12: 4, 13: 1}
USABLE = {2: {2, 3, 7, 9, 10}, 3: {2, 3, 7, 9, 11, 16}, 4: {2, 3, 4, 5, 6, 7, 8, 9, 11, 17}, 5: {2, 3, 6, 8, 9}, 6: {15, 18}}


class Reader:
    def __init__(self, data, order):
        self.data, self.order, self.at = data, order, 0

    def take(self, n):
        self.at += n
        assert self.at <= len(self.data)
        return self.data[self.at - n:self.at]

    def number(self, n):
        return int.from_bytes(self.take(n), "little" if self.order == "<" else "big")

    def zero(self, size):
        begin = self.at
        while any(self.take(size)):
            pass
        return self.data[begin:self.at - size]


def definition(r):
    """Rows (name, encoding, format, count) of the metadata, and the name of the event."""
    event, rows = r.zero(1).decode().split(";")[0], []
    while r.at < len(r.data):
        name = r.zero(1).decode().split(";")[0]
        encoding = r.number(1)
        form = r.number(1) if encoding & 0x80 else 0
        if form & 0x80:
            r.number(2)
        rows.append((name, encoding & 0x7f, form & 0x7f, r.number(2) if encoding & 0x20 else 0))
    return event, rows


def text(data, size, form, order):
    if form == 10:
        return data.decode("latin-1")
    code = {1: "utf-8", 2: "utf-16", 4: "utf-32"}[size] + ("" if size == 1 else "-le" if order == "<" else "-be")
    if form >= 12 and size == 1 and data[:3] == b"\xef\xbb\xbf":
        data = data[3:]
    for other in ("<", ">"):
        if form >= 12 and size > 1 and data[:size] == struct.pack(other + " HI"[size // 2], 0xfeff):
            return text(data[size:], size, 11, other)
    return data.decode(code, "replace")


def item(r, encoding, form):
    """A value as JSON of jsonl has it, and whether it is always text."""
    size = SIZES[encoding]
    data = r.take(size) if encoding < 7 else r.zero(size) if encoding < 10 else r.take(r.number(2) * size)
    if encoding < 7:
        form = form if form in USABLE[encoding] else 9 if encoding == 6 else 1
    elif form != 9 and not 10 <= form <= 14:
        form = 9 if encoding == 13 else 11
    if form == 9:
        return data.hex()
    if form == 15:
        return str(uuid.UUID(bytes=data))
    if form == 17:
        return str(ipaddress.IPv4Address(data))
    if form == 18:
        return str(ipaddress.IPv6Address(data))
    if encoding >= 7 or form in (10, 11):
        return text(data, size, form, r.order)
    if form == 8:
        return ("float", struct.unpack(r.order + "fd"[size // 8], data)[0], size)
    order = "big" if form == 16 or r.order == ">" else "little"
    return ("number", int.from_bytes(data, order, signed=form in (2, 4, 5, 6)), size)


def members(r, rows, at, end, top):
    """Values of rows from `at` on, `end` of them (None: all), as a list of pairs, and the row after them."""
    out, seen = [], set(top)
    n = 0
    while at < len(rows) and (end is None or n < end):
        name, encoding, form, count = rows[at]
        kind, n, begin = encoding & 0x1f, n + 1, at
        items = count if encoding & 0x20 else r.number(2) if encoding & 0x40 else 1
        values, at = [], at + 1
        if kind == 1:
            after = skip(rows, begin)
            values = [members(r, rows, at, form, ())[0] for _ in range(items)]
            at = after
        else:
            values = [item(r, kind, form) for _ in range(items)]
        base, k = name, 2
        while name in seen:
            name, k = "%s_%d" % (base, k), k + 1
        seen.add(name)
        out.append((name, values if encoding & 0x60 else values[0]))
    return out, at


def skip(rows, at):
    """The row after a row and its members."""
    left, at = 1, at
    while left and at < len(rows):
        left += -1 + (rows[at][2] if rows[at][1] & 0x1f == 1 else 0)
        at += 1
    return at


def event(raw):
    flags = raw[8]
    order = "<" if flags & 2 else ">"
    r, metadata, activity, more = Reader(raw, order), None, b"", flags & 4
    r.take(16)
    while more:
        size, kind = r.number(2), r.number(2)
        data, more = r.take(size), kind & 0x8000
        if kind & 0x7fff == 1:
            metadata = data
        elif kind & 0x7fff == 2:
            activity = data
    if metadata is None:
        return []
    name, rows = definition(Reader(metadata, order))
    head = [("event_name", name)] + [(n, activity[16 * i:16 * i + 16].hex()) for i, n in enumerate(("activity_id", "related_id"))
                                     if len(activity) >= 16 * i + 16]
    taken = ("event_name", "activity_id", "related_id", "eventheader_flags", "version", "id", "tag", "opcode", "level")
    return head + members(r, rows, 0, None, taken)[0]


def same(mine, wanted):
    """Whether a value of jsonl is the one wanted: numbers above 32 bits may be texts, and masks are in hexadecimal."""
    if isinstance(wanted, list) and wanted and isinstance(wanted[0], tuple) and isinstance(wanted[0][0], str) and len(wanted[0]) == 2 \
            and wanted[0][0] != "float":
        return list(mine) == [k for k, _ in wanted] and all(same(mine[k], v) for k, v in wanted)
    if isinstance(wanted, list):
        return len(mine) == len(wanted) and all(same(m, w) for m, w in zip(mine, wanted))
    if isinstance(wanted, tuple) and wanted[0] == "float":
        code = "<f" if wanted[2] == 4 else "<d"
        return struct.pack(code, float(mine)) == struct.pack(code, wanted[1]) or (mine[-3:] == "nan" and wanted[1] != wanted[1])
    if isinstance(wanted, tuple):
        number = int(mine, 0) if isinstance(mine, str) else mine
        return number % (1 << 8 * wanted[2]) == wanted[1] % (1 << 8 * wanted[2])
    return mine == wanted


def count(wanted):
    return 1 if not isinstance(wanted, list) else sum(count(w[1] if isinstance(w, tuple) and len(w) == 2 else w) for w in wanted)


def output(*args):
    return subprocess.run([PERFILE, *args, path], stdout=subprocess.PIPE, check=True).stdout.decode().splitlines()


events = values = failed = 0
names, fives = {}, 0
path = os.path.join(CORPUS, "LinuxTracepoints/perf.data")
if not os.path.exists(path):
    print("there is no corpus, which has the capture of LinuxTracepoints")
    sys.exit(77)
for line in output("dump", "--json", "--resolve", "--type", "sample", "--where", "has(eventheader_flags)"):
    record = json.loads(line)
    if record["kind"] != "record":
        continue
    wanted, mine = event(bytes.fromhex(record["body"]["raw"])), record["tracepoint"]
    mine = {k: v for i, (k, v) in enumerate(mine.items()) if i >= 6}
    events, values = events + 1, values + count(wanted)
    names[wanted[0][1]] = names.get(wanted[0][1], 0) + 1
    fives += ("five", ("number", 5, 4)) in wanted
    if not same(mine, wanted):
        failed += 1
        print("%s: perfile %r, wanted %r" % (record["offset"], mine, wanted))
# As columns, keys and in conditions.
columns = {}
for name in output("dump", "--type", "sample", "--where", "has(event_name)", "--fields", "event_name")[1:]:
    columns[name] = columns.get(name, 0) + 1
keys = {}
for line in output("stats", "--where", "has(event_name)", "--by", "event_name", "--json"):
    keys = {row["event_name"]: row["records"] for row in json.loads(line)["rows"]}
found = len(output("dump", "--type", "sample", "--where", 'five == 5 && event_name ~ "Pack*"', "--fields", "five")) - 1
for what, mine in (("columns", columns), ("keys", keys)):
    if mine != names:
        failed += 1
        print("%s: perfile %r, wanted %r" % (what, mine, names))
if found != fives or not fives:
    failed += 1
    print("condition: perfile %d, wanted %d" % (found, fives))
print("%d events, %d values" % (events, values))
sys.exit(failed != 0 or events < 250 or values < 900)

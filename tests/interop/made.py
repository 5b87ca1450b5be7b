"""Captures of what no capture in samples/captures has, for writers.py: samples with every field at once, branch
stacks and the feature that speaks of them, call chains that come late, READ and AUX records, several events of
different layouts, trailers with and without ids; as files and pipes of either byte order."""
import struct

IP, TID, TIME, ADDR, READ, CALLCHAIN, ID, CPU, PERIOD, STREAM_ID, RAW, BRANCH_STACK, REGS_USER, STACK_USER, WEIGHT, \
    DATA_SRC, IDENTIFIER, TRANSACTION, REGS_INTR, PHYS_ADDR, AUX, CGROUP, DATA_PAGE, CODE_PAGE = (
        1 << n for n in range(24))
SAMPLE_ID_ALL, INHERIT, INHERIT_STAT, MMAP, COMM, TASK = 1 << 18, 1 << 1, 1 << 11, 1 << 8, 1 << 9, 1 << 13
READ_ID, READ_GROUP = 4, 8
ALL = (1 << 24) - 1 & ~(WEIGHT | TRANSACTION | AUX | RAW)


class Maker:
    def __init__(self, order):
        self.order = order

    def pack(self, form, *values):
        return struct.pack(self.order + form, *values)

    def words(self, *values):
        return b"".join(self.pack("Q", v % 2**64) for v in values)

    def record(self, kind, misc, body):
        return self.pack("IHH", kind, misc, 8 + len(body)) + body

    def text(self, text):
        return text.encode() + b"\0" * (8 - len(text) % 8)

    def flags(self, flags):
        """Bit-fields of C: a big-endian compiler begins at the other end."""
        if self.order == "<":
            return self.pack("Q", flags)
        return self.pack("Q", int("{:064b}".format(flags)[::-1], 2))

    def attr(self, config, sample_type, flags, read_format=READ_ID):
        branch = 1 if sample_type & BRANCH_STACK else 0
        user, stack = (3 if sample_type & REGS_USER else 0), (64 if sample_type & STACK_USER else 0)
        intr = 1 if sample_type & REGS_INTR else 0
        return (self.pack("IIQQQQ", 1, 128, config, 1000, sample_type, read_format) + self.flags(flags) +
                self.pack("IIQQQQIiQIHHII", 0, 0, 0, 0, branch, user, stack, 0, intr, 0, 0, 0, 0, 0) +
                self.pack("Q", 0))

    def trailer(self, sample_type, flags, n, id):
        if not flags & SAMPLE_ID_ALL:
            return b""
        parts = ((TID, self.pack("II", 5, 7)), (TIME, self.words(1000 + n)), (ID, self.words(id)),
                 (STREAM_ID, self.words(id)), (CPU, self.pack("II", n % 2, 0)), (IDENTIFIER, self.words(id)))
        return b"".join(bytes_ for bit, bytes_ in parts if sample_type & bit)

    def values(self, read_format, id, n):
        if read_format & READ_GROUP:
            return self.words(1, 40 + n, id)
        return self.words(40 + n, id)

    def sample(self, sample_type, read_format, n, id, chain=(-128, 0x100, -512, 0x401000)):
        parts = (
            (IDENTIFIER, self.words(id)), (IP, self.words(0x401000 + n)), (TID, self.pack("II", 5, 7)),
            (TIME, self.words(1000 + n)), (ADDR, self.words(0x7000)), (ID, self.words(id)),
            (STREAM_ID, self.words(id)), (CPU, self.pack("II", n % 2, 0)), (PERIOD, self.words(1000)),
            (READ, self.values(read_format, id, n)), (CALLCHAIN, self.words(len(chain), *chain)),
            (RAW, self.pack("I", 4) + b"rawd"), (BRANCH_STACK, self.words(1, 0x401000, 0x402000, 2)),
            (REGS_USER, self.words(2, 11, 12)), (STACK_USER, self.words(64) + b"s" * 64 + self.words(32)),
            (WEIGHT, self.words(9)), (DATA_SRC, self.words(0x5080021)), (TRANSACTION, self.words(1)),
            (REGS_INTR, self.words(2, 13)), (PHYS_ADDR, self.words(0x1000)), (AUX, self.words(8) + b"auxtrace"),
            (CGROUP, self.words(1)), (DATA_PAGE, self.words(4096)), (CODE_PAGE, self.words(4096)))
        return self.record(9, 2, b"".join(bytes_ for bit, bytes_ in parts if sample_type & bit))

    def records(self, events):
        """Of events (sample_type, flags, read_format, id), in turns."""
        sample_type, flags, _, id = events[0]
        end = self.trailer(sample_type, flags, 0, 0)
        out = self.record(3, 0x2000, self.pack("II", 5, 7) + self.text("work") + end)
        out += self.record(10, 2, self.pack("IIQQQIIQQII", 5, 7, 0x400000, 0x10000, 0, 8, 1, 99, 0, 5, 2) +
                           self.text("/bin/work") + end)
        for n in range(24):
            sample_type, flags, read_format, id = events[n % len(events)]
            out += self.sample(sample_type, read_format, n, id)
            end = self.trailer(sample_type, flags, n, id)
            if n % 5 == 3:
                out += self.record(14, 0x2000, end)  # SWITCH
            if n % 7 == 4 and not read_format & READ_GROUP:
                out += self.record(8, 0, self.pack("II", 5, 7) + self.values(read_format, id, n) + end)
            if n == 11:
                out += self.record(7, 0, self.pack("IIIIQ", 6, 5, 6, 7, 1000 + n) + end)  # FORK
                out += self.record(13, 0, self.words(3) + end)  # LOST_SAMPLES
                out += self.record(12, 0, self.pack("II", 5, 7) + end)  # ITRACE_START
        sample_type, flags, _, id = events[0]
        out += self.record(4, 0, self.pack("IIIIQ", 5, 5, 7, 7, 1100) + self.trailer(sample_type, flags, 100, id))
        return out + self.record(68, 0, b"")

    def pipe(self, events, more=b""):
        magic = b"PERFILE2" if self.order == "<" else b"2ELIFREP"
        out = magic + self.words(16)
        for n, (sample_type, flags, read_format, id) in enumerate(events):
            out += self.record(64, 0, self.attr(n, sample_type, flags, read_format) + self.words(id))
        return out + self.records(events) + more

    def file(self, events, features=()):
        """`features`: (number, payload); HOSTNAME among them in big-endian order."""
        magic = b"PERFILE2" if self.order == "<" else b"2ELIFREP"
        ids = b"".join(self.words(e[3]) for e in events)
        attrs = b"".join(self.attr(n, t, f, r) + self.words(104 + 8 * n, 8) for n, (t, f, r, _) in enumerate(events))
        data = self.records(events)
        at = 104 + len(ids) + len(attrs)
        bitmap = sum(1 << number for number, _ in features)
        header = magic + self.words(104, 144, 104 + len(ids), len(attrs), at, len(data), 0, 0, bitmap, 0, 0, 0)
        table, payloads = b"", b""
        start = at + len(data) + 16 * len(features)
        for _, payload in sorted(features):
            table += self.words(start + len(payloads), len(payload))
            payloads += payload
        return header + ids + attrs + data + table + payloads

    def string(self, text):
        return self.pack("I", 64) + text.encode().ljust(64, b"\0")


def made():
    """(name, bytes) of each."""
    base = IP | TID | TIME | CPU | PERIOD
    for order, word in ("<", "little"), (">", "big"):
        m = Maker(order)
        host = ((3, m.string("made")),)
        every = [(ALL, SAMPLE_ID_ALL, READ_ID, 70)]
        mixed = [(base | IDENTIFIER, SAMPLE_ID_ALL, READ_ID, 70),
                 (base | IDENTIFIER | CALLCHAIN | ADDR, SAMPLE_ID_ALL, READ_ID, 71),
                 (IP | TID | TIME | IDENTIFIER | RAW | WEIGHT | READ, SAMPLE_ID_ALL, READ_ID, 72)]
        branches = [(base | ID | BRANCH_STACK, SAMPLE_ID_ALL, READ_ID, 70)]
        yield "every-field-%s.data" % word, m.file(every, host)
        yield "every-field-pipe-%s.data" % word, m.pipe(every)
        yield "layouts-%s.data" % word, m.file(mixed, host)
        yield "layouts-pipe-%s.data" % word, m.pipe(mixed)
        yield "branches-%s.data" % word, m.file(branches, host + ((15, b""), (21, m.words(1000, 1023))))
        yield "no-trailers-%s.data" % word, m.file([(base | ID | READ, 0, READ_ID | READ_GROUP, 70)], host)
        yield "one-event-%s.data" % word, m.file([(IP | TID | TIME, SAMPLE_ID_ALL, 0, 70)], host)
        late = m.sample(base | CALLCHAIN, 0, 30, 70, (-128, 0x100, -640, 77))
        late += m.record(22, 2, m.words(77, 2, 0x401000, 0x402000) + m.trailer(base, SAMPLE_ID_ALL, 31, 70))
        yield "late-chains-%s.data" % word, m.pipe([(base | CALLCHAIN, SAMPLE_ID_ALL, READ_ID, 70)], late)

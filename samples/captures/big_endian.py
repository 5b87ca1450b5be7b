#!/usr/bin/env python3
"""big_endian.py: writes big-endian.data anew: group.data as a big-endian machine would have stored it.

Written from the kernel's and perf's headers, independently of the library.  It knows the records and
features of that one capture; others are refused.
"""
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))


class Swapper:
    """Copies `data`, turning over what it is told are numbers."""

    def __init__(self, data, at=0, end=None):
        self.data, self.at = data, at
        self.end = len(data) if end is None else end

    def number(self, width):
        value = self.data[self.at : self.at + width]
        assert len(value) == width and self.at + width <= self.end
        self.data[self.at : self.at + width] = value[::-1]
        self.at += width
        return int.from_bytes(value, "little")

    def numbers(self, *widths):
        return [self.number(w) for w in widths]

    def skip(self, n):
        assert self.at + n <= self.end
        self.at += n

    def string(self):  # of features: length with padding, text
        self.skip(self.number(4))

    def strings(self):
        for _ in range(self.number(4)):
            self.string()


def attr(s, size):
    """struct perf_event_attr.  Its flags are C bit-fields: the first one is the highest bit."""
    end = s.at + size
    s.numbers(4, 4, 8, 8)  # type, size, config, sample_period
    sample_type, read_format = s.numbers(8, 8)
    assert s.data[s.at + 1] & 0x80 == 0 and s.data[s.at + 2] & 1 == 0, "precise_ip has two bits"
    for i in range(s.at, s.at + 8):
        s.data[i] = int(f"{s.data[i]:08b}"[::-1], 2)
    s.skip(8)
    s.numbers(4, 4, 8, 8, 8, 8, 4, 4, 8, 4, 2, 2, 4, 4, 8)  # wakeup_events … sig_data
    assert s.at == end
    return sample_type, read_format


IP, TID, TIME, ADDR, READ, CHAIN, ID, CPU, PERIOD, STREAM, IDENT = (
    1 << n for n in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 16)
)


def sample(s, sample_type, read_format):
    assert sample_type & ~(IP | TID | TIME | ADDR | READ | ID | CPU | PERIOD | STREAM | IDENT) == 0
    for bit, widths in (
        (IDENT, [8]), (IP, [8]), (TID, [4, 4]), (TIME, [8]), (ADDR, [8]), (ID, [8]), (STREAM, [8]),
        (CPU, [4, 4]), (PERIOD, [8]),
    ):
        if sample_type & bit:
            s.numbers(*widths)
    if sample_type & READ:
        assert read_format & 8, "PERF_FORMAT_GROUP"
        n = s.number(8)
        per_counter = 1 + bool(read_format & 4) + bool(read_format & 16)
        s.numbers(*[8] * (bool(read_format & 1) + bool(read_format & 2) + n * per_counter))


def trailer(s, sample_type):
    for bit, widths in (
        (TID, [4, 4]), (TIME, [8]), (ID, [8]), (STREAM, [8]), (CPU, [4, 4]), (IDENT, [8]),
    ):
        if sample_type & bit:
            s.numbers(*widths)


def record(s, sample_type, read_format):
    start = s.at
    kind, misc, size = s.numbers(4, 2, 2)
    r = Swapper(s.data, s.at, start + size)
    tail = sum(8 for b in (TID, TIME, ID, STREAM, CPU, IDENT) if sample_type & b)
    if kind == 9:  # SAMPLE
        sample(r, sample_type, read_format)
    elif kind == 69:  # ID_INDEX
        r.numbers(*[8] * (4 * r.number(8)))
    elif kind == 73:  # THREAD_MAP
        for _ in range(r.number(8)):
            r.number(8)
            r.skip(16)
    elif kind == 74:  # CPU_MAP
        assert r.number(2) == 2, "a range"
        r.skip(2)
        r.numbers(2, 2)
    elif kind == 78:  # EVENT_UPDATE: unit, scale or name
        what, _ = r.numbers(8, 8)
        if what == 1:
            r.number(8)
        else:
            assert what in (0, 2)
    elif kind not in (68, 82):  # FINISHED_ROUND, FINISHED_INIT have no body
        if kind == 1:  # MMAP
            r.numbers(4, 4, 8, 8, 8)
        elif kind == 3:  # COMM
            r.numbers(4, 4)
        elif kind in (4, 7):  # EXIT, FORK
            r.numbers(4, 4, 4, 4, 8)
        elif kind == 10:  # MMAP2
            assert misc & 0x4000 == 0, "with an inode, not a build id"
            r.numbers(4, 4, 8, 8, 8, 4, 4, 8, 8, 4, 4)
        else:
            raise ValueError(f"record type {kind}")
        r.skip(r.end - tail - r.at)  # text
        trailer(r, sample_type)
        assert r.at == r.end
    s.at = start + size


def feature(number, s, n_cpus):
    if number == 2:  # BUILD_ID: records
        while s.at < s.end:
            start = s.at
            _, _, size, _ = s.numbers(4, 2, 2, 4)
            s.at = start + size
    elif number in (3, 4, 5, 6, 8, 9):  # HOSTNAME OSRELEASE VERSION ARCH CPUDESC CPUID
        s.string()
    elif number == 7:  # NRCPUS
        n_cpus[:] = s.numbers(4, 4)
    elif number == 10:  # TOTAL_MEM
        s.number(8)
    elif number == 11:  # CMDLINE
        s.strings()
    elif number == 12:  # EVENT_DESC
        n, size = s.numbers(4, 4)
        for _ in range(n):
            attr(s, size)
            n_ids = s.number(4)
            s.string()
            s.numbers(*[8] * n_ids)
    elif number == 13:  # CPU_TOPOLOGY
        s.strings()
        s.strings()
        s.numbers(*[4] * (2 * n_cpus[1]))
        s.strings()
        s.numbers(*[4] * n_cpus[1])
    elif number == 14:  # NUMA_TOPOLOGY
        for _ in range(s.number(4)):
            s.numbers(4, 8, 8)
            s.string()
    elif number == 16:  # PMU_MAPPINGS
        for _ in range(s.number(4)):
            s.number(4)
            s.string()
    elif number == 17:  # GROUP_DESC
        for _ in range(s.number(4)):
            s.string()
            s.numbers(4, 4)
    elif number == 20:  # CACHE
        _, n = s.numbers(4, 4)
        for _ in range(n):
            s.numbers(4, 4, 4, 4)
            for _ in range(3):
                s.string()
    elif number == 21:  # SAMPLE_TIME
        s.numbers(8, 8)
    elif number == 22:  # MEM_TOPOLOGY
        _, _, n = s.numbers(8, 8, 8)
        for _ in range(n):
            s.numbers(8, 8)
            s.numbers(*[8] * ((s.number(8) + 63) // 64))
    else:
        assert s.data[s.at : s.end] == bytes(s.end - s.at), f"feature {number}"


def main():
    with open(os.path.join(HERE, "group.data"), "rb") as f:
        data = bytearray(f.read())
    head = Swapper(data)
    head.number(8)  # the magic
    _, entry, attrs, attrs_size, start, size = head.numbers(*[8] * 6)
    head.numbers(8, 8)
    bits = sum(word << (64 * i) for i, word in enumerate(head.numbers(8, 8, 8, 8)))

    for at in range(attrs, attrs + attrs_size, entry):
        s = Swapper(data, at)
        sample_type, read_format = attr(s, entry - 16)
        ids, ids_size = s.numbers(8, 8)
        Swapper(data, ids).numbers(*[8] * (ids_size // 8))

    s = Swapper(data, start, start + size)
    while s.at < s.end:
        record(s, sample_type, read_format)

    n_cpus = []
    table = Swapper(data, start + size)
    for number in range(256):
        if bits >> number & 1:
            at, length = table.numbers(8, 8)
            feature(number, Swapper(data, at, at + length), n_cpus)

    with open(os.path.join(HERE, "big-endian.data"), "wb") as f:
        f.write(data)


main()

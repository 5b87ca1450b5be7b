"""Captures with what no recording here has: memory accesses, types of branches, branches as samples, changed kernel code."""
import random
import struct

IP, TID, TIME, ADDR, CPU, PERIOD, BRANCHES, SOURCE = 1, 2, 4, 8, 1 << 7, 1 << 8, 1 << 11, 1 << 15
PHYSICAL, DATA_PAGE, CODE_PAGE, WEIGHTS = 1 << 19, 1 << 22, 1 << 23, 1 << 24
USUAL = IP | TID | TIME | CPU | PERIOD
# Type and config of the event, sample_type, flags; then options that show what is special.
KINDS = {
    "memory": (4, 0x1cd, USUAL | ADDR | SOURCE | WEIGHTS | PHYSICAL | DATA_PAGE | CODE_PAGE, 0,
               ("", "-F +ins_lat,+weight,-addr", "-F data_src", "-F ip,sym,addr,phys_addr")),
    "branches": (0, 0, USUAL | BRANCHES, 0, ("-F +brstack", "-F +brstacksym", "-F +brstackoff", "-F ip,brstack,dso")),
    "bts": (0, 4, USUAL | ADDR, 0, ("", "-F ip,addr", "-F ip", "--ns -F +pid")),
    "poke": (1, 0, USUAL, 1 << 33, ("", "--show-text-poke-events", "--show-text-poke-events -F +misc")),
}


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def source(r):
    """What a memory access may say, in all combinations that perf has words for."""
    parts = ((0, [1, 2, 4, 8, 16]), (5, [0, 1, 2 | 8, 4 | 8, 2 | 16, 6, 2 | 0x20, 0x1000 | 2, 0x2000, 4 | 0x100, 2 | 8 | 16]),
             (19, [0, 1, 2, 4, 8, 16, 3]), (24, [0, 1, 2]), (26, [0, 1, 2 | 8, 4 | 8 | 16, 32, 64, 2 | 8 | 16]),
             (33, [0, 0, 1, 2, 3, 4, 5, 9, 10, 11, 12, 13, 14, 15]), (37, [0, 0, 1]), (38, [0, 0, 1, 2, 3]), (40, [0, 1, 2, 4, 6]),
             (43, [0, 0, 0, 1, 2, 3, 4]))
    return sum(r.choice(values) << at for at, values in parts)


def sample(r, sample_type, i, time):
    s = struct.pack("<QIIQ", 0x400000 + i, 7, 7, time)
    if sample_type & ADDR:
        s += struct.pack("<Q", 0x400000 + r.randrange(1 << 20))
    s += struct.pack("<IIQ", 1, 0, 1)
    if sample_type & BRANCHES:
        n = r.randrange(4)
        s += struct.pack("<Q", n)
        for _ in range(n):
            kind = r.randrange(15) << 20 if i % 2 else 15 << 20 | r.randrange(8) << 26
            s += struct.pack("<QQQ", 0x400000 + r.randrange(1 << 20), r.choice([0x400000 + r.randrange(1 << 20), 1 << 63 | 5, 0]),
                             r.randrange(1 << 20) | kind)
    if sample_type & WEIGHTS:
        s += struct.pack("<IHH", r.randrange(1 << 20), r.randrange(1 << 16), r.randrange(1 << 16))
    if sample_type & SOURCE:
        s += struct.pack("<Q", source(r))
    if sample_type & PHYSICAL:
        s += struct.pack("<QQQ", r.randrange(1 << 40), r.choice([0, 512, 4096, 1 << 21, 1 << 30]), r.choice([0, 4096, 1 << 34]))
    return record(9, 2, s)


def make(kind, path):
    """Writes the capture; returns the options to print it with."""
    event, config, sample_type, flags, options = KINDS[kind]
    r = random.Random(7)
    time = 10 ** 9
    trailer = struct.pack("<IIQII", 7, 7, time, 1, 0)
    data = record(3, 0x2000, struct.pack("<II", 7, 7) + b"work\0\0\0\0" + trailer)
    data += record(1, 2, struct.pack("<IIQQQ", 7, 7, 0x400000, 0x100000, 0) + b"/bin/work\0\0\0\0\0\0\0" + trailer)
    for i in range(300):
        time += 10 ** 6
        data += sample(r, sample_type, i, time)
        if flags and i % 7 == 0:
            old, new = r.choice([(5, 5), (1, 20), (0, 3), (17, 0)])
            poke = struct.pack("<QHH", 0xffffffff81000000 + i, old, new) + bytes(range(old + new))
            data += record(20, 1, poke + bytes(-len(poke) % 8) + struct.pack("<IIQII", 7, 7, time, 1, 0))
    attr = struct.pack("<IIQQQQQ", event, 128, config, 1, sample_type, 0, flags | 1 << 18 | 1 << 8 | 1 << 9 | 1 << 13)
    attr += bytes(24) + struct.pack("<Q", 8 if sample_type & BRANCHES else 0)
    attr += bytes(128 - len(attr))
    head = b"PERFILE2" + struct.pack("<8Q", 104, 144, 104, 144, 248, len(data), 0, 0) + bytes(32)
    with open(path, "wb") as out:
        out.write(head + attr + bytes(16) + data)
    return options

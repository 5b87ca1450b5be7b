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


def attr_of(r, size=128):
    """An attr whose members are 0 or anything."""
    words = [r.choice([0, 1, r.getrandbits(20), r.getrandbits(64)]) for _ in range(size // 8)]
    words[0] = r.randrange(6) | size << 32
    for i, bits in ((3, 25), (4, 5), (5, 38), (9, 19), (13, 48), (14, 32)):
        words[i] &= (1 << bits) - 1  # what perf 6.1 knows; it refuses others
    return struct.pack("<%dQ" % len(words), *words)


def text(t):
    t = t.encode() + b"\0"
    t += bytes(-len(t) % 64)
    return struct.pack("<I", len(t)) + t


def bpf_program(r, number, n, name):
    """struct bpf_prog_info, and the addresses, lengths and tags of its functions."""
    lens = struct.pack("<%dI" % n, *(r.randrange(4000) for _ in range(n)))
    lens += bytes(-len(lens) % 8)
    info = struct.pack("<II8s", 1, number, r.randbytes(8)) + bytes(48) + name.ljust(16, b"\0") + bytes(24)
    info += struct.pack("<IIQQ", n, n, 0, 8 * n) + bytes(52) + struct.pack("<IQ", n, 8 * n + len(lens)) + bytes(40)
    data = struct.pack("<%dQ" % n, *(r.getrandbits(64) for _ in range(n))) + lens + r.randbytes(8 * n)
    return struct.pack("<IIQ", len(info), len(data), 1 << 3 | 1 << 4 | 1 << 8) + info + data


def features(r):
    """{number: payload} of features that the header shows.  Groups, and folders, are in recordings."""
    found = {3: text("host"), 4: text("6.1.0-test"), 5: text("6.1"), 6: text("x86_64"), 7: struct.pack("<II", 4, 3), 8: text("A CPU"),
             9: text("id,1"), 10: struct.pack("<Q", 1 << 20), 15: b"", 19: b""}
    words = ["/usr/bin/perf", "record", "it's", "'", "a b", "''x''", "x" * 400]
    found[11] = struct.pack("<I", len(words)) + b"".join(map(text, words))
    events = [(attr_of(r), "event %d" % i, [r.getrandbits(40) for _ in range(i % 4)]) for i in range(40)]
    found[12] = struct.pack("<II", len(events), 128) + b"".join(
        attr + struct.pack("<I", len(ids)) + text(name) + struct.pack("<%dQ" % len(ids), *ids) for attr, name, ids in events)
    found[13] = struct.pack("<I", 2) + text("0-1") + text("2-3") + struct.pack("<I", 4) + b"".join(text(str(i)) for i in range(4)) + \
        struct.pack("<8i", 0, 0, 1, 0, -1, -1, 3, 1) + struct.pack("<I", 2) + text("0,2") + text("1,3") + struct.pack("<4i", 0, 1, 0, 1)
    found[14] = struct.pack("<I", 2) + b"".join(struct.pack("<IQQ", i, 1 << 30, i << 20) + text("%d-%d" % (i, i + 1)) for i in (0, 2))
    found[16] = struct.pack("<I", 3) + b"".join(struct.pack("<I", t) + text(n) for t, n in ((4, "cpu"), (1, "software"), (1 << 31, "x")))
    found[20] = struct.pack("<II", 1, 2) + b"".join(
        struct.pack("<4I", level, 64, 64, 8) + text(kind) + text(size) + text("0-3") for level, kind, size in
        ((1, "Data", "32K"), (3, "Unified and much longer", "1234567890K")))
    found[21] = struct.pack("<QQ", 1234567891234, 99999999999999)
    maps = ([0xffff00010007, 1], [1], [0x5555555555555555] * 4)
    found[22] = struct.pack("<QQQ", 1, 0x8000000, len(maps)) + b"".join(
        struct.pack("<QQQ", i, 3, 64 * len(m)) + struct.pack("<%dQ" % len(m), *m) for i, m in enumerate(maps))
    found[23] = struct.pack("<Q", 4)
    found[25] = struct.pack("<I", 3) + bpf_program(r, 3, 1, b"named") + bpf_program(r, 7, 3, b"") + bpf_program(r, 9, 1, b"")
    found[26] = struct.pack("<I", 2) + b"".join(struct.pack("<II", i, 8) + bytes(8) for i in (2, 5))
    found[27] = struct.pack("<5I", 0, 1, 3, 7, 528384)
    found[28] = struct.pack("<I", 2) + text("branches") + text("32") + text("max_precise") + text("3")
    found[29] = struct.pack("<IIQQ", 1, 11, 1700000000123456789, 987654321012)
    found[30] = struct.pack("<I", 2) + text("cpu_core") + text("0-1") + text("cpu_atom") + text("2-3")
    found[31] = struct.pack("<I", 2) + struct.pack("<I", 1) + text("a") + text("b") + text("cpu_core") + struct.pack("<I", 0) + text("ibs")
    return found


def append_features(path, found):
    """Gives a capture without features these, in place."""
    with open(path, "rb") as f:
        head, rest = f.read(104), f.read()
    at = 104 + len(rest) + 16 * len(found)
    table = payloads = b""
    for number in sorted(found):
        table += struct.pack("<QQ", at + len(payloads), len(found[number]))
        payloads += found[number]
    bits = sum(1 << number for number in found)
    with open(path, "wb") as f:
        f.write(head[:72] + struct.pack("<4Q", bits, 0, 0, 0) + rest + table + payloads)


def make_headers(folder):
    """Captures that have all features, some, or one of them with other contents; their paths."""
    paths = []
    for i in range(6):
        path = "%s/header%d.data" % (folder, i)
        make("bts", path)
        r = random.Random(i)
        found = features(r)
        if i:
            found = {number: found[number] for number in found if number in (3, 7) or r.random() < 0.6}
        if i == 2:
            found[16] = found[28] = struct.pack("<I", 0)
        if i == 3: # a core whose number is too big for perf, which reads no further then
            found = {number: found[number] for number in (3, 7)}
            found[13] = struct.pack("<I", 1) + text("0-3") + struct.pack("<I", 1) + text("0-3") + struct.pack("<8i", *range(8))
        if i == 4:
            found[13] = struct.pack("<I", 1) + text("0-3") + struct.pack("<I", 1) + text("0-3")
        append_features(path, found)
        paths.append(path)
    return paths


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

"""Hostile archives for cost.py: bombs, and structures that make a careless reader look at everything for everything.

make(name, size) returns the bytes of an archive, and how many bytes its chunks hold that a reader decodes.  All checksums are
right.  Compressed payloads are frames of runs, 4 bytes for 128 KiB, which are put together by hand.
"""
import struct

HEADER, BLOCK, RECORDS, BYTES, META, INDEX, END = 64, 1 << 17, 2, 3, 1, 4, 5
RAW, ZSTD, COLUMNS = 0, 1, 2
ID = 7


def tables():
    all_tables = []
    for i in range(256):
        c = i
        for _ in range(8):
            c = c >> 1 ^ (0x82f63b78 if c & 1 else 0)
        all_tables.append(c)
    return all_tables


TABLE = tables()


def crc(data, c=0):
    c ^= 0xffffffff
    for b in data:
        c = TABLE[(c ^ b) & 255] ^ c >> 8
    return c ^ 0xffffffff


def shift(c, n):
    """The checksum `c` when n bytes of zeros are behind it, as the linear part of it: by squaring matrices."""
    def times(matrix, v):
        out, i = 0, 0
        while v:
            if v & 1:
                out ^= matrix[i]
            v >>= 1
            i += 1
        return out

    matrix = [TABLE[(1 << i) & 255] ^ (1 << i) >> 8 for i in range(32)]  # one byte
    while n:
        if n & 1:
            c = times(matrix, c)
        matrix = [times(matrix, row) for row in matrix]
        n >>= 1
    return c


def crc_repeated(pattern, n):
    """The checksum of `n` times the pattern."""
    total, unit, length = 0, crc(pattern), len(pattern)
    done = 0
    while n:
        if n & 1:
            total = shift(total, length) ^ unit if done else unit
            done = 1
        unit = shift(unit, length) ^ unit
        length *= 2
        n >>= 1
    return total


def padded(data, to):
    return data + bytes(-len(data) % to)


def head():
    h = b"\x89PFC\r\n\x1a\n" + struct.pack("<HHIQQQ", 1, 0, HEADER, 3, 0, ID)
    h = h.ljust(60, b"\0")
    return h + struct.pack("<I", crc(h))


def header(at, kind, codec=RAW, meta=b"", payload=b"", raw_len=None, raw_crc=None, raw_off=0, source=0, part=0, flags=0, payload_len=None):
    meta_padded = padded(meta, 8)
    stored = payload.ljust((len(meta_padded) + len(payload) + 63) // 64 * 64 - len(meta_padded), b"\0")
    length = len(payload) if payload_len is None else payload_len
    h = b"PFCK" + struct.pack("<BBHQQIIIIQHHII", kind, codec, flags, at, ID, len(meta), length, length if raw_len is None else raw_len,
                              crc(payload) if raw_crc is None else raw_crc, raw_off, source, part, crc(meta_padded), crc(stored))
    h = h.ljust(60, b"\0")
    return h + struct.pack("<I", crc(h)), meta_padded + stored


class Archive:
    def __init__(self):
        self.out, self.at, self.entries, self.decoded = [head()], HEADER, [], 0

    def put(self, kind, decoded=True, **more):
        h, behind = header(self.at, kind, **more)
        if kind in (META, RECORDS, BYTES):
            self.entries.append(h + padded(more.get("meta", b""), 8))
            self.decoded += more.get("raw_len", len(more.get("payload", b""))) if decoded else 0
        at = self.at
        self.out.append(h + behind)
        self.at += len(h) + len(behind)
        return at

    def gap(self, data):
        self.out.append(data)
        self.at += len(data)

    def finish(self, entries=None, last=0):
        """Index and end."""
        at = self.put(INDEX, payload=b"".join(self.entries) if entries is None else entries, raw_off=last)
        self.put(END, raw_off=at)
        return self

    def result(self):
        return b"".join(self.out), self.decoded


def frame(prefix, n, byte=0):
    """One frame: the prefix, and n bytes that are equal.  Returns it with its decoded size and checksum."""
    blocks = [struct.pack("<I", len(prefix) << 3)[:3] + prefix] if prefix else []
    left = n
    while left:
        some = min(left, BLOCK)
        left -= some
        blocks.append(struct.pack("<I", some << 3 | 2 | (left == 0))[:3] + bytes([byte]))
    size = len(prefix) + n
    sums = crc_repeated(bytes([byte]), n)
    if prefix:
        sums ^= shift(crc(prefix), n)
    return b"\x28\xb5\x2f\xfd\xa0" + struct.pack("<I", size) + b"".join(blocks), size, sums


def leb(v):
    out = b""
    while v > 127:
        out += bytes([v & 127 | 128])
        v >>= 7
    return out + bytes([v])


def columns(contents):
    """A payload of the codec COLUMNS whose head is all there is."""
    front = struct.pack("<IIII", 0, len(contents), len(contents), len(contents)) + struct.pack("<I", crc(contents))
    return front + struct.pack("<I", crc(front)) + contents


PIPE = b"PERFILE2" + struct.pack("<Q", 16)


def attr():
    return struct.pack("<IHH", 64, 0, 120 + 8) + struct.pack("<IIQQQQQ", 1, 112, 0, 1, 1 << 1 | 1 << 2, 0, 1 << 18).ljust(112, b"\0") + \
        struct.pack("<Q", 7)


def sample(i):
    return struct.pack("<IHHIIQ", 9, 2, 24, 1, 1, i)


def begin():
    a = Archive()
    a.put(BYTES, payload=PIPE + attr())
    return a, len(PIPE + attr())


def cbor(major, n):
    if n < 24:
        return bytes([major << 5 | n])
    if n < 256:
        return bytes([major << 5 | 24, n])
    return bytes([major << 5 | 26]) + struct.pack(">I", n)


def parts_map(first, n, value):
    return b"\xa1\x65parts" + cbor(5, n) + b"".join(cbor(0, first + i) + value for i in range(n))


def rounds(size):
    """Records of 8 bytes that are all equal, 65536 of them in 56 bytes of columns."""
    a, at = begin()
    n = 1 << 16
    record = struct.pack("<IHH", 68, 0, 8)
    payload = columns(leb(n) + leb(1) + b"\0" + leb(68) + leb(0) + leb(0) + b"\0\0" + leb(0))
    sums = crc_repeated(record, n)
    for _ in range(max(1, 16 * size // (8 * n))):
        a.put(RECORDS, codec=COLUMNS, payload=payload, raw_len=8 * n, raw_crc=sums, raw_off=at)
        at += 8 * n
    return a.finish().result()


def bomb(size):
    """Chunks of 128 MiB of zeros.  They are refused: nothing is decoded."""
    a, at = begin()
    payload, n, sums = frame(b"", 1 << 27)
    for _ in range(max(12, size // (len(payload) + 128))):
        a.put(BYTES, decoded=False, codec=ZSTD, payload=payload, raw_len=n, raw_crc=sums, raw_off=at)
        at += n
    return a.finish().result()


def one_large(size):
    """One chunk of 128 MiB, of zeros."""
    a, at = begin()
    payload, n, sums = frame(b"", (1 << 27) - size % 2)
    a.put(BYTES, codec=ZSTD, payload=payload, raw_len=n, raw_crc=sums, raw_off=at)
    return a.finish().result()


def tiny_chunks(size):
    a, at = begin()
    for i in range(size // 128):
        a.put(RECORDS, payload=sample(i), raw_off=at)
        at += 24
    return a


def chunks(size):
    return tiny_chunks(size).finish().result()


def unfinished(size):
    return tiny_chunks(size).result()


def captures(size):
    a = Archive()
    for i in range(min(size // 128, 65536)):
        a.put(BYTES, payload=PIPE, source=i)
    return a.finish().result()


def chunks_of_captures(size):
    """As many captures as are inputs of their own, their chunks in turns."""
    a, front = Archive(), PIPE + attr()
    for i in range(128):
        a.put(BYTES, payload=front, source=i)
    for i in range(max(0, (size - a.at) // 128)):
        a.put(RECORDS, payload=sample(i), source=i % 128, raw_off=len(front) + 24 * (i // 128))
    return a.finish().result()


def metas(size):
    """Maps that name the same parts again and again."""
    a, at = begin()
    for i in range(size // 4300):
        a.put(META, payload=parts_map(0, 1000, b"\xa1\x64size" + cbor(0, 100000 + i))[:])
    return a.result()


def maps(size):
    """Maps of arrays of zeros."""
    a, at = begin()
    payload, n, sums = frame(b"\xa1\x61x\x9a" + struct.pack(">I", 1 << 20), 1 << 20)
    for i in range(size // (len(payload) + 128)):
        a.put(META, codec=ZSTD, payload=payload, raw_len=n, raw_crc=sums)
    return a.finish().result()


def parts(size):
    """Files that the metadata name and that are not there, with some bytes each."""
    a, at = begin()
    a.put(META, payload=parts_map(0, min(size // 12, 65536), b"\xa1\x64size\x10"))
    return a.finish().result()


def parts_with_chunks(size):
    a = Archive()
    a.put(META, payload=parts_map(0, min(size // 300, 65536), b"\xa0"))
    for i in range(min(size // 140, 65536)):
        a.put(BYTES, payload=PIPE, part=i)
    return a.finish().result()


def holes(size):
    """Sizes that nothing stands for: refused."""
    a, at = begin()
    a.put(META, payload=parts_map(0, min(size // 20, 65536), b"\xa1\x64size\x1b" + struct.pack(">Q", 1 << 26)))
    return a.finish().result()


def indexes(size):
    a, at = begin()
    last = 0
    for i in range(size // 64):
        last = a.put(INDEX, payload=b"".join(a.entries) if not last else b"", raw_off=last)
    a.put(END, raw_off=last)
    return a.result()


def overlaps(size):
    a, at = begin()
    for i in range(size // 128):
        a.put(RECORDS, payload=sample(i), raw_off=at)
    return a.finish().result()


def gap(size):
    a, at = begin()
    a.gap(bytes(size))
    return a.finish().result()


def false_headers(size):
    a, at = begin()
    for i in range(size // 64):
        h, _ = header(a.at, BYTES, payload_len=1 << 26, raw_off=at, raw_len=1 << 26)
        a.gap(h)
    return a.result()


def gaps(size):
    """Chunks and gaps in turns, and an index that names what is in gaps."""
    a, at = begin()
    entries = []
    for i in range(size // 3 // 128):
        a.put(BYTES, payload=b"", raw_off=at)
        entries.append(header(a.at, BYTES, raw_off=at)[0])
        a.gap(bytes(64))
    return a.finish(entries=b"".join(entries * 4)).result()


def wide(size):
    """Records of 4096 words, each in a column of its own."""
    a, at = begin()
    words = 4000
    contents = leb(1) + leb(1) + b"\0" + leb(9) + leb(2) + leb(words)
    contents += b"".join(b"\1\x08" + leb(i) for i in range(words))
    contents += b"\0\0" + leb(words) + words * (b"\x08" + leb(1) + b"\0\0")
    record = struct.pack("<IHH", 9, 2, 8 + 8 * words) + bytes(8 * words)
    payload, sums = columns(contents), crc(record)
    for _ in range(max(1, size // (len(payload) + 128))):
        a.put(RECORDS, codec=COLUMNS, payload=payload, raw_len=len(record), raw_crc=sums, raw_off=at)
        at += len(record)
    return a.finish().result()


def ids_by_turns(size):
    """A file with the ids of its attrs by turns in two chunks of 128 MiB."""
    n = size // 96
    front = 104 + 80 * n
    attrs = b"".join(struct.pack("<IIQQQQQ", 1, 64, 0, 1, 1 << 1 | 1 << 2, 0, 1 << 18).ljust(64, b"\0") +
                     struct.pack("<QQ", front + (i % 2 << 27) + 8 * (i // 2), 8) for i in range(n))
    head_of_file = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 80, 104, 80 * n, front + (1 << 28), 0, 0, 0).ljust(96, b"\0")
    a, at = Archive(), front
    a.put(BYTES, payload=head_of_file + attrs)
    payload, length, sums = frame(b"", 1 << 27)
    for _ in range(2):
        a.put(BYTES, codec=ZSTD, payload=payload, raw_len=length, raw_crc=sums, raw_off=at)
        at += length
    return a.finish().result()


INPUTS = {"archive-" + f.__name__.replace("_", "-"): f
          for f in (rounds, bomb, one_large, chunks, unfinished, captures, chunks_of_captures, metas, maps, parts, parts_with_chunks, holes, ids_by_turns, indexes,
                    overlaps, gap, false_headers, gaps, wide)}

# Command lines beside those of cost.py; of all commands only these are run.
LINES = {
    "info": ["{in}", "--chunks {in}", "--chunks --json {in}", "--columns {in}"],
    "stats": ["{in}"],
    "validate": ["{in}", "--format json {in}"],
    "dump": ["{in}"],
    "convert": ["--force -o {out} {in}", "--force --to archive -o {out} {in}"],
    "filter": ["--pid 1 -o {out} {in}"],
    "recover": ["--to archive -o {out} {in}", "-o {out} {in}"],
}

#!/usr/bin/env python3
"""A reader of archives that shares nothing with the library: written after format/archive.md and
format/columns.md, with the standard library and python3-zstandard.

    archive_reader.py check ARCHIVE                 all checksums, and that the index names every chunk
    archive_reader.py restore ARCHIVE SOURCE PART   the bytes of a part, to standard output
    archive_reader.py extract ARCHIVE OUT           source 0 as a file, or as a directory, after META; META and
                                                    zone maps are compared with what was restored
"""
import os
import struct
import sys

import zstandard

META, RECORDS, BYTES, INDEX, END = 1, 2, 3, 4, 5
RAW, ZSTD, COLUMNS = 0, 1, 2
BIG_ENDIAN = 8


def crc_table():
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    return table


TABLE = crc_table()


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ TABLE[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def padded(n, to):
    return (n + to - 1) // to * to


def unpack_zstd(frame, size):
    data = zstandard.ZstdDecompressor().decompress(frame, max_output_size=max(size, 1))
    if len(data) != size:
        raise ValueError("a frame of another size")
    return data


class Chunk:
    """The header of a chunk; raises ValueError if the bytes at `at` are none."""

    def __init__(self, data, at, archive_id):
        head = data[at : at + 64]
        if at % 64 or len(head) < 64 or head[:4] != b"PFCK":
            raise ValueError("no chunk at %d" % at)
        (self.kind, self.codec, self.flags, self.offset, self.id, self.meta_len, self.payload_len,
         self.raw_len, self.raw_crc, self.raw_off, self.source, self.part, self.meta_crc,
         self.payload_crc, crc) = struct.unpack("<4xBBHQQIIIIQHHIII", head)
        if crc != crc32c(head[:60]) or self.offset != at or self.id != archive_id:
            raise ValueError("no chunk at %d" % at)
        self.meta_at = at + 64
        self.payload_at = self.meta_at + padded(self.meta_len, 8)
        self.end = at + padded(self.payload_at + self.payload_len - at, 64)
        self.head = head

    def payload(self, data):
        stored = data[self.payload_at : self.end]
        if self.end > len(data) or crc32c(stored) != self.payload_crc:
            raise ValueError("the payload at %d is damaged" % self.offset)
        stored = stored[: self.payload_len]
        if self.codec == RAW:
            raw = stored
        elif self.codec == ZSTD:
            raw = unpack_zstd(stored, self.raw_len)
        elif self.codec == COLUMNS:
            raw = Columns(stored).records(bool(self.flags & BIG_ENDIAN))
        else:
            raise ValueError("codec %d" % self.codec)
        if len(raw) != self.raw_len or crc32c(raw) != self.raw_crc:
            raise ValueError("the payload at %d decodes to other bytes" % self.offset)
        return raw

    def meta(self, data):
        stored = data[self.meta_at : self.payload_at]
        if crc32c(stored) != self.meta_crc:
            raise ValueError("the metadata at %d is damaged" % self.offset)
        return stored


class Reader:
    """LEB128 numbers and bytes, from front to back."""

    def __init__(self, data):
        self.data, self.at = data, 0

    def u8(self):
        self.at += 1
        return self.data[self.at - 1]

    def v(self):
        value = shift = 0
        while True:
            byte = self.u8()
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
            shift += 7

    def take(self, n):
        if self.at + n > len(self.data):
            raise ValueError("too short")
        self.at += n
        return self.data[self.at - n : self.at]

    def at_end(self):
        return self.at == len(self.data)


def unzigzag(v):
    return v >> 1 ^ -(v & 1)


class Columns:
    """A payload of the codec COLUMNS."""

    def __init__(self, payload):
        n_frames, head_len, raw0, stored0 = struct.unpack_from("<IIII", payload)
        sizes = struct.unpack_from("<%dI" % n_frames, payload, 16)
        sums = struct.unpack_from("<%dI" % (n_frames + 1), payload, 16 + 4 * n_frames)
        table = 20 + 8 * n_frames
        if crc32c(payload[:table]) != struct.unpack_from("<I", payload, table)[0]:
            raise ValueError("the table of a payload is damaged")
        rest = Reader(payload[table + 4 :])
        first, *self.frames = [rest.take(size) for size in (stored0, *sizes)]
        if not rest.at_end():
            raise ValueError("bytes behind the frames")
        if [crc32c(frame) for frame in (first, *self.frames)] != list(sums):
            raise ValueError("a frame is damaged")
        first = first if stored0 == raw0 else unpack_zstd(first, raw0)
        self.head, self.small = Reader(first[:head_len]), Reader(first[head_len:])
        n_records = self.head.v()
        self.classes = [self.read_class() for _ in range(self.head.v())]
        self.class_of = self.numbers(n_records, 1)
        self.gaps = self.read_gaps()
        self.columns = [self.read_column() for _ in range(self.head.v())]
        if not (self.head.at_end() and self.small.at_end() and not self.frames):
            raise ValueError("something was not used")

    def stream(self):
        v = self.head.v()
        size = v >> 1
        if not v & 1:
            return self.small.take(size)
        frame = self.frames.pop(0)
        return frame if len(frame) == size else unpack_zstd(frame, size)

    def read_class(self):
        apart, kind, misc = self.head.u8(), self.head.v(), self.head.v()
        if apart > 1:
            raise ValueError("a class that is neither apart nor not")
        return apart, kind, misc, [self.read_op() for _ in range(self.head.v())]

    def read_gaps(self):
        """The sizes of gaps, None if the payload does not say them."""
        blobs = any(not apart and any(op[0] == 2 for op in ops) for apart, _, _, ops in self.classes)
        if not blobs or not any(c[0] for c in self.classes):
            return None
        aparts = [self.classes[number][0] for number in self.class_of]
        return self.numbers(sum(aparts[i : i + 2] == [0, 1] for i in range(len(aparts))), 4)

    def read_op(self):
        what = self.head.u8()
        if what == 1:
            return what, self.head.u8(), self.head.v()
        if what == 2:
            return what, self.head.u8(), self.head.v(), self.head.v(), self.head.v()
        if what == 3:
            return what, self.head.v(), self.head.v()
        raise ValueError("operation %d" % what)

    def planes(self, n, count):
        streams = [self.stream() for _ in range(count)]
        if any(len(s) != n for s in streams):
            raise ValueError("a plane of another length")
        return [sum(s[i] << 8 * j for j, s in enumerate(streams)) for i in range(n)]

    @staticmethod
    def sums(first, differences, width):
        out = []
        for difference in differences:
            first = (first + unzigzag(difference)) % (1 << 8 * width)
            out.append(first)
        return out

    @staticmethod
    def all_v(stream, n):
        reader = Reader(stream)
        out = [reader.v() for _ in range(n)]
        if not reader.at_end():
            raise ValueError("a stream is too long")
        return out

    def numbers(self, n, width, differences=False):
        how = self.head.u8()
        if differences and how in (3, 5):
            raise ValueError("differences of differences")
        if how == 0:
            return [self.head.v() % (1 << 8 * width)] * n
        if how == 1:
            stream = self.stream()
            return [int.from_bytes(stream[i * width : (i + 1) * width], "little") for i in range(n)]
        if how == 2:
            return self.planes(n, self.head.u8())
        if how == 3:
            first = self.head.v()
            return self.sums(first, self.numbers(n, width, True), width)
        if how == 4:
            m, form = self.head.v(), self.head.u8()
            entries, total = [], 0
            for difference in self.all_v(self.stream(), m):
                total = (total + difference) % (1 << 64)
                entries.append(total)
            if not 1 <= m <= min(n, 1 << 8 * (form & 15)) or form & 15 > width:
                raise ValueError("a dictionary of another size")
            if form & 16:
                stream, size = self.stream(), form - 16
                indexes = [int.from_bytes(stream[i * size : (i + 1) * size], "little") for i in range(n)]
            else:
                indexes = self.planes(n, form)
            return [entries[i] % (1 << 8 * width) for i in indexes]
        if how == 5:
            first = self.head.v()
            return self.sums(first, self.all_v(self.stream(), n), width)
        raise ValueError("numbers %d" % how)

    def blobs(self, n):
        how = self.head.u8()
        if how == 0:
            lengths = self.numbers(n, 4)
            reader = Reader(self.stream())
            return [reader.take(length) for length in lengths]
        if how != 1:
            raise ValueError("blobs %d" % how)
        m = self.head.v()
        ids, lengths = self.numbers(n, 4), self.numbers(m, 4)
        unit = self.head.u8()
        if unit == 1:
            heap = Reader(self.stream())
        else:
            heap = Reader(b"".join(w.to_bytes(8, "little") for w in self.numbers(sum(lengths) // 8, 8)))
        entries, out, used = [heap.take(length) for length in lengths], [], 0
        for i in ids:
            used += i == 0
            out.append(entries[used - 1 if i == 0 else i - 1])
            if i > used:
                raise ValueError("an entry that was not used yet")
        if used != m:
            raise ValueError("an entry was not used")
        return out

    def read_column(self):
        width, n = self.head.u8(), self.head.v()
        return self.numbers(n, width) if width else self.blobs(n)

    def record(self, number, at, big):
        """A record of the class; `at` says of each column which value is the next."""
        order = "big" if big else "little"
        _, kind, misc, ops = self.classes[number]
        body = b""
        for op in ops:
            if op[0] == 1:
                body += self.columns[op[2]][at[op[2]]].to_bytes(op[1], order)
                at[op[2]] += 1
            elif op[0] == 2:
                _, prefix, unit, extra, column = op
                blob = self.columns[column][at[column]]
                at[column] += 1
                if prefix:
                    body += ((len(blob) - extra) // unit).to_bytes(prefix, order)
                body += blob
            else:
                body += self.columns[op[1]][at[op[1]]][op[2] : op[2] + 8]
        return struct.pack(">IHH" if big else "<IHH", kind, misc, 8 + len(body)) + body

    def check_users(self):
        users = [set() for _ in self.columns]
        for apart, _, _, ops in self.classes:
            for op in ops:
                users[op[1] if op[0] == 3 else op[-1]].add(apart)
        if any(len(u) == 2 for u in users):
            raise ValueError("a column of records that are apart and of others")

    def records(self, big):
        self.check_users()
        out, at, gaps, gap = [], [0] * len(self.columns), [], 0
        for number in self.class_of:
            out.append(self.record(number, at, big))
            if not self.classes[number][0]:
                gap += len(out[-1])
            elif gap:
                gaps.append(gap)
                gap = 0
        if any(at[i] != len(column) for i, column in enumerate(self.columns)):
            raise ValueError("a column was not used up")
        if self.gaps is not None and self.gaps != gaps:
            raise ValueError("a gap of another size")
        return b"".join(out)


class Cbor:
    """Maps of format/archive.cddl: what its writers may use, and nothing else."""

    DEEPEST = 16

    def __init__(self, data):
        self.data, self.at = data, 0

    @classmethod
    def decode(cls, data):
        reader = cls(data)
        value = reader.item(0)
        if reader.at != len(data):
            raise ValueError("bytes behind a map")
        return value

    def take(self, n):
        if self.at + n > len(self.data):
            raise ValueError("a map is cut")
        self.at += n
        return self.data[self.at - n : self.at]

    def item(self, depth):
        if depth > self.DEEPEST:
            raise ValueError("too deep")
        first = self.take(1)[0]
        major, short = first >> 5, first & 31
        if major == 7:
            return self.simple(short)
        if short > 27:
            raise ValueError("an indefinite length")
        n = short if short < 24 else int.from_bytes(self.take(1 << short - 24), "big")
        if short >= 24 and n < (24 if short == 24 else 1 << 8 * (1 << short - 25)):
            raise ValueError("%d is not as short as possible" % n)
        return self.of_major(major, n, depth)

    @staticmethod
    def simple(short):
        values = {20: False, 21: True, 22: None}
        if short not in values:
            raise ValueError("a simple value that writers do not use")
        return values[short]

    def of_major(self, major, n, depth):
        if major == 0:
            return n
        if major == 1:
            return -1 - n
        if major == 2:
            return self.take(n)
        if major == 3:
            return self.take(n).decode()
        if major == 4:
            return [self.item(depth + 1) for _ in range(n)]
        if major == 5:
            pairs = [(self.item(depth + 1), self.item(depth + 1)) for _ in range(n)]
            if len(dict(pairs)) != n:
                raise ValueError("a key twice")
            return dict(pairs)
        raise ValueError("a tag")


def must(holds, what):
    if not holds:
        raise ValueError(what)


def is_uint(value, below=1 << 64):
    return type(value) is int and 0 <= value < below


def is_text(value):
    return isinstance(value, (str, bytes)) and "\0" not in (value if isinstance(value, str) else value.decode("latin1"))


class Zone:
    """The zone map of a chunk, against the record headers that the chunk has."""

    RECORDS, TYPES, BYTES_OF_TYPES, APART = 1, 4, 11, 12
    COUNTS, SETS, OF_TIMES = (4, 5, 11), (6, 7, 8), ((2, 3), (13, 14))
    HOLD_OTHERS = (81, 83, 32842)  # COMPRESSED, COMPRESSED2, SIMPLEPERF_SPLIT
    SAMPLE = 9

    def __init__(self, cbor):
        self.map = Cbor.decode(cbor)
        must(isinstance(self.map, dict) and is_uint(self.map.get(self.RECORDS)), "a zone without a count of records")
        for key in self.COUNTS:
            counts = self.map.get(key, {})
            must(len(counts) <= 4096 and all(map(is_uint, [*counts, *counts.values()])), "counts %d" % key)
        for key in self.SETS:
            members = self.map.get(key, [])
            must(all(is_uint(m, 1 << 32) for m in members) and 0 not in members[1:], "set %d" % key)
            must(sum(members) < 1 << 32, "set %d" % key)
        for least, greatest in self.OF_TIMES:
            must((least in self.map) == (greatest in self.map), "one of two times")
            must(self.map.get(least, 0) <= self.map.get(greatest, 0), "times that decrease")

    def compare(self, raw, big):
        """Returns which of the counts were there to compare."""
        numbers, sizes, at = {}, {}, 0
        while at < len(raw):
            kind, _misc, size = struct.unpack_from(">IHH" if big else "<IHH", raw, at)
            must(size >= 8 and at + size <= len(raw), "records that do not fill their chunk")
            numbers[kind] = numbers.get(kind, 0) + 1
            sizes[kind] = sizes.get(kind, 0) + size
            at += size
        n = sum(numbers.values())
        must(self.map[self.RECORDS] == n, "a zone of %d records, there are %d" % (self.map[self.RECORDS], n))
        if any(kind in self.HOLD_OTHERS for kind in numbers):
            must(set(self.map) <= {self.RECORDS, self.APART}, "a zone says more than can be known")
            return {self.RECORDS}
        must(self.map.get(self.TYPES, numbers) == numbers, "a zone with other types")
        must(self.map.get(self.BYTES_OF_TYPES, sizes) == sizes, "a zone with other sizes of types")
        must(self.map.get(self.APART, 0) <= n - numbers.get(self.SAMPLE, 0), "too many records are apart")
        must(sum(self.map.get(5, {}).values()) <= numbers.get(self.SAMPLE, 0), "more samples than there are")
        return {self.RECORDS, self.TYPES, self.BYTES_OF_TYPES} & set(self.map)


class Meta:
    """All META chunks of a source: a later one replaces what it says, parts key by key."""

    PART = {"format": is_text, "form": is_text, "name": is_text, "size": is_uint,
            "crc32c": lambda v: is_uint(v, 1 << 32), "mode": lambda v: is_uint(v, 1 << 32)}
    TOP = {"creator": is_text, "created": is_uint, "host": is_text, "name": is_text, "modified": is_uint}

    def __init__(self):
        self.parts, self.top = {}, {}

    def add(self, cbor):
        said = Cbor.decode(cbor)
        must(isinstance(said, dict) and all(isinstance(key, str) for key in said), "META is no map")
        for number, part in said.pop("parts", {}).items():
            must(is_uint(number, 1 << 16), "the number of a part")
            must(all(self.PART[key](value) for key, value in part.items() if key in self.PART), "a part")
            self.parts.setdefault(number, {}).update(part)
        must(all(self.TOP[key](value) for key, value in said.items() if key in self.TOP), "META")
        for event in said.get("events", []):
            must(is_text(event["name"]) and isinstance(event.get("attr", b""), bytes), "an event")
        self.top.update(said)

    def name(self, number):
        """Of a part in its directory; None: the capture is a file."""
        name = self.parts.get(number, {}).get("name")
        must(name is None or (0 < len(name) < 256 and "/" not in name and name not in (".", "..")), "a file name")
        return name


class Archive:
    def __init__(self, data):
        self.data = data
        if data[:8] != b"\x89PFC\r\n\x1a\n" or len(data) < 64:
            raise ValueError("not an archive")
        major, _minor, length, needs, _may, self.id, crc = struct.unpack("<8xHHIQQQ20xI", data[:64])
        if crc != crc32c(data[:60]) or major != 1 or length != 64 or needs & ~3:
            raise ValueError("not an archive that this reader knows")
        self.chunks, at = [], 64
        while at < len(data):
            self.chunks.append(Chunk(data, at, self.id))
            at = self.chunks[-1].end

    def check(self):
        since, last = b"", 0
        for chunk in self.chunks:
            raw = chunk.payload(self.data)
            meta = chunk.meta(self.data)
            if chunk.kind == INDEX:
                if raw != since or chunk.raw_off != last:
                    raise ValueError("the index at %d is not complete" % chunk.offset)
                since, last = b"", chunk.offset
            elif chunk.kind == END:
                if chunk.raw_off != last:
                    raise ValueError("the end at %d names no index" % chunk.offset)
            else:
                since += chunk.head + meta
        if not self.chunks or self.chunks[-1].kind != END:
            raise ValueError("not finished")

    def restore(self, source, part):
        ranges = sorted((c.raw_off, c.payload(self.data)) for c in self.chunks
                        if c.kind in (RECORDS, BYTES) and (c.source, c.part) == (source, part))
        out = b""
        for offset, raw in ranges:
            if raw and offset != len(out):
                raise ValueError("bytes are missing or there twice")
            out += raw
        return out


    def meta_of(self, source):
        meta = Meta()
        for chunk in self.chunks:
            if chunk.kind == META and chunk.source == source:
                meta.add(chunk.payload(self.data))
        return meta

    def check_zones(self):
        """Returns how many zones had each key that was compared."""
        compared = {}
        for chunk in self.chunks:
            if chunk.kind == RECORDS:
                zone = Zone(chunk.meta(self.data)[: chunk.meta_len])
                for key in zone.compare(chunk.payload(self.data), bool(chunk.flags & BIG_ENDIAN)):
                    compared[key] = compared.get(key, 0) + 1
        return compared

    def extract(self, out):
        """Source 0, where META says what it consists of."""
        meta = self.meta_of(0)
        must(sorted(meta.parts) == list(range(len(meta.parts))) and meta.parts, "META does not name the parts")
        must("creator" in meta.top and "created" in meta.top, "META does not say who made it")
        if meta.name(0) is not None:
            os.mkdir(out)
        for number, part in meta.parts.items():
            raw = self.restore(0, number)
            must(part["size"] == len(raw), "a part of %d bytes, META says %d" % (len(raw), part["size"]))
            must(part.get("crc32c", crc32c(raw)) == crc32c(raw), "META has another checksum")
            must("format" in part, "a part without a format")
            name = meta.name(number)
            with open(out if name is None else os.path.join(out, name), "wb") as file:
                file.write(raw)
        return meta


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with open(sys.argv[2], "rb") as file:
        archive = Archive(file.read())
    if sys.argv[1] == "check":
        archive.check()
        for c in archive.chunks:
            print(c.kind, c.codec, c.source, c.part, c.raw_off, c.raw_len, c.payload_len)
    elif sys.argv[1] == "extract":
        archive.check()
        meta = archive.extract(sys.argv[3])
        zones = archive.check_zones()
        print("parts %d, events %d, zones %d, with types %d" % (
            len(meta.parts), len(meta.top.get("events", [])), zones.get(1, 0), zones.get(4, 0)))
    else:
        sys.stdout.buffer.write(archive.restore(int(sys.argv[3]), int(sys.argv[4])))


if __name__ == "__main__":
    main()

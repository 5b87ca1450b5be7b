#!/usr/bin/env python3
"""A reader of archives that shares nothing with the library: written after format/archive.md and
format/columns.md, with the standard library and python3-zstandard.

    archive_reader.py check ARCHIVE                 all checksums, and that the index names every chunk
    archive_reader.py restore ARCHIVE SOURCE PART   the bytes of a part, to standard output
"""
import struct
import sys

import zstandard

RECORDS, BYTES, INDEX, END = 2, 3, 4, 5
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


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    with open(sys.argv[2], "rb") as file:
        archive = Archive(file.read())
    if sys.argv[1] == "check":
        archive.check()
        for c in archive.chunks:
            print(c.kind, c.codec, c.source, c.part, c.raw_off, c.raw_len, c.payload_len)
    else:
        sys.stdout.buffer.write(archive.restore(int(sys.argv[3]), int(sys.argv[4])))


main()

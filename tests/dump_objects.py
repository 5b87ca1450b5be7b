"""The objects of `dump --format cbor`, read and written without perfile, in every form that CBOR has for them."""
import struct


class Damaged(Exception):
    pass


def decode(data, at):
    """The item at `at`, and where the next one is: int, str, bytes, None, a list, or a list of pairs in Map."""
    first = data[at]
    major, low = first >> 5, first & 31
    at += 1
    if first == 0xf6:
        return None, at
    n = None
    if low < 24:
        n = low
    elif low < 28:
        width = 1 << (low - 24)
        n = int.from_bytes(data[at:at + width], "big")
        at += width
    elif low != 31:
        raise Damaged("byte %02x at %d" % (first, at - 1))
    if major == 0:
        return n, at
    if major == 1:
        return -1 - n, at
    if major in (2, 3):
        s = bytes(data[at:at + n])
        return (s if major == 2 else s.decode("utf-8")), at + n
    if major not in (4, 5):
        raise Damaged("byte %02x at %d" % (first, at - 1))
    items = []
    while data[at] != 0xff if n is None else len(items) < n * (major - 3):
        item, at = decode(data, at)
        items.append(item)
    at += n is None
    return (items if major == 4 else Map(zip(items[0::2], items[1::2]))), at


class Map(dict):
    """A map; its order counts when two are compared."""

    def __eq__(self, other):
        return isinstance(other, Map) and list(self.items()) == list(other.items())

    def __ne__(self, other):
        return not self == other

    __hash__ = None


def objects(data):
    """The lines of a dump."""
    at, lines = 0, []
    while at < len(data):
        item, at = decode(data, at)
        lines.append(item)
    return lines


class Writer:
    """How values are written: in which of the forms that CBOR has."""

    def __init__(self, definite=True, wide=False, pieces=0, reverse=False):
        self.definite = definite  # lengths of arrays and maps
        self.wide = wide          # numbers in more bytes than they need
        self.pieces = pieces      # strings in pieces of so many bytes
        self.reverse = reverse    # keys of maps

    def head(self, major, n):
        for low, width, code in ((24, 1, ">B"), (25, 2, ">H"), (26, 4, ">I"), (27, 8, ">Q")):
            if not self.wide and n < 24:
                return bytes([major << 5 | n])
            if n < 1 << 8 * width and not (self.wide and width < 8 and n % 3 != width % 3):
                return bytes([major << 5 | low]) + struct.pack(code, n)
        raise ValueError(n)

    def string(self, major, s):
        if not self.pieces:
            return self.head(major, len(s)) + s
        cut = [s[i:i + self.pieces] for i in range(0, len(s), self.pieces)]
        if major == 3:  # each piece must be text by itself
            cut = [c.encode() for c in s.decode()]
        return bytes([major << 5 | 31]) + b"".join(self.head(major, len(c)) + c for c in cut) + b"\xff"

    def around(self, major, n, items):
        return self.head(major, n) + items if self.definite else bytes([major << 5 | 31]) + items + b"\xff"

    def value(self, v):
        if v is None:
            return b"\xf6"
        if isinstance(v, int):
            return self.head(0, v) if v >= 0 else self.head(1, -1 - v)
        if isinstance(v, bytes):
            return self.string(2, v)
        if isinstance(v, str):
            return self.string(3, v.encode())
        if isinstance(v, list):
            return self.around(4, len(v), b"".join(map(self.value, v)))
        pairs = list(v.items())
        if self.reverse:
            pairs.reverse()
        return self.around(5, len(pairs), b"".join(self.value(k) + self.value(x) for k, x in pairs))

    def sequence(self, lines):
        return b"".join(map(self.value, lines))

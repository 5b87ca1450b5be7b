#!/usr/bin/env python3
"""damage.py: writes the damaged captures of this folder anew, from the whole ones beside it.

Each is named for what is wrong with it.  One edit each; README.md says which.
"""
import os
import struct

HERE = os.path.dirname(os.path.abspath(__file__))


def load(name):
    with open(os.path.join(HERE, name), "rb") as f:
        return bytearray(f.read())


def save(name, data):
    with open(os.path.join(HERE, name), "wb") as f:
        f.write(data)


def u64(data, at):
    return struct.unpack_from("<Q", data, at)[0]


ATTRS, DATA, FEATURES = 24, 40, 72  # in the file header


def records(data):
    """(offset, type, size) of each record of a file."""
    at, end = u64(data, DATA), u64(data, DATA) + u64(data, DATA + 8)
    while at < end:
        kind, _, size = struct.unpack_from("<IHH", data, at)
        yield at, kind, size
        at += size


def nth_sample(data, n):
    return [at for at, kind, _ in records(data) if kind == 9][n]


whole = load("cpu-clock.data")
data_end = u64(whole, DATA) + u64(whole, DATA + 8)
middle = nth_sample(whole, 20)

save("empty.data", b"")
save("text.data", b"This is not a capture.\nIt only has the name of one.\n")
save("truncated-header.data", whole[:60])
save("truncated-record.data", whole[: middle + 12])

data = bytearray(whole)
struct.pack_into("<H", data, middle + 6, 4)
save("bad-size.data", data)

data = bytearray(whole)
for i in range(100):
    data[middle + i] = 0xA5
save("garbage.data", data)

data = bytearray(whole)
struct.pack_into("<I", data, middle, 200)
save("unknown-type.data", data)

# The attr entry: the attr itself, then the section of its ids.
data = bytearray(whole)
attr_size = u64(data, 16)
ids = u64(data, ATTRS) + attr_size - 16
struct.pack_into("<Q", data, ids + 8, 1 << 32)
save("truncated-attr-ids.data", data)

data = bytearray(whole)
struct.pack_into("<I", data, u64(data, ATTRS) + 4, 32)
save("bad-attr-size.data", data)

# The entry of HOSTNAME, feature 3, in the feature table points behind the file.
data = bytearray(whole)
hostname = data_end + 16 * bin(u64(data, FEATURES) & 7).count("1")
struct.pack_into("<Q", data, hostname, len(data) + 4096)
save("corrupt-feature-offset.data", data)

# A payload of HOSTNAME that promises more text than there is.
data = bytearray(whole)
struct.pack_into("<I", data, u64(data, hostname), 1 << 30)
save("corrupt-feature.data", data)

save("truncated-features.data", whole[: data_end + 40])
save("trailing-text.data", whole + b"# written behind the capture\n")

data = load("zstd.data")
at, _, size = [r for r in records(data) if r[1] == 81][1]
for i in range(size // 2, size // 2 + 16):
    data[at + i] ^= 0xFF
save("corrupt-zstd.data", data)

save("truncated-pipe.data", load("pipe.data")[:-21])

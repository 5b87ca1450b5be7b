"""The captures of convert_target.sh: formats.data FROM has the formats of tracepoints in a record, read.data counter values
without ids."""
import struct
import sys


def record(kind, body, misc=0):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def formats_in_a_record(old):
    """The capture `old` without features, TRACING_DATA as the first record."""
    data_at, data_size = struct.unpack_from("<QQ", old, 40)
    assert old[72] & 2, "no TRACING_DATA"
    at, size = struct.unpack_from("<QQ", old, data_at + data_size)  # the first feature
    blob = old[at:at + size] + bytes(-size % 8)
    data = record(66, struct.pack("<I", size) + blob + bytes(4)) + old[data_at:data_at + data_size]
    new = bytearray(old[:data_at])
    struct.pack_into("<Q", new, 48, len(data))
    new[72:104] = bytes(32)
    return bytes(new) + data


def values_without_ids():
    """One event with sample_type IP, TID, READ and read_format 0, and a sample."""
    attr = struct.pack("<IIQQQQQ", 1, 128, 0, 1000, 1 | 2 | 16, 0, 0).ljust(128, b"\0")
    data = record(9, struct.pack("<QIIQ", 0x400000, 7, 7, 42), 2)
    at = 104 + 144
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 144, 104, 144, at, len(data), 0, 0) + bytes(32)
    return head + attr + bytes(16) + data


open("formats.data", "wb").write(formats_in_a_record(open(sys.argv[1], "rb").read()))
open("read.data", "wb").write(values_without_ids())

"""stale.py IN OUT: samples/captures/dwarf.data with half of each copy of the user stack said to be valid, and random bytes
behind that, as stale as those that the kernel leaves.  Samples end with stack, dyn_size and data_src."""
import random
import struct
import sys

rolled = random.Random(1)
with open(sys.argv[1], "rb") as f:
    data = bytearray(f.read())
at, size = struct.unpack_from("<QQ", data, 40)
end = at + size
while at < end:
    kind, _, size = struct.unpack_from("<IHH", data, at)
    if kind == 9:
        dyn_size = at + size - 16
        valid = struct.unpack_from("<Q", data, dyn_size)[0]
        stale = valid - valid // 16 * 8
        struct.pack_into("<Q", data, dyn_size, valid - stale)
        data[dyn_size - stale:dyn_size] = bytes(rolled.randrange(1, 256) for _ in range(stale))
    at += size
with open(sys.argv[2], "wb") as f:
    f.write(data)

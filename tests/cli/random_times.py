# random_times.py MEGABYTES OUT: a capture of samples of 48 bytes in random order of time.
import random
import struct
import sys

n = (int(sys.argv[1]) << 20) // 48
kind = 1 << 16 | 0x107  # IDENTIFIER, IP, TID, TIME, PERIOD
attr = struct.pack("<IIQQQQQ", 1, 136, 0, 1000, kind, 0, 1 << 18).ljust(136, b"\0")
dice, pack = random.Random(7), struct.Struct("<IHHQQIIQQ").pack
data = b"".join(pack(9, 2, 48, 70, i, 100, 101, dice.getrandbits(40) + 1, 1) for i in range(n))
with open(sys.argv[2], "wb") as f:
    f.write(b"PERFILE2" + struct.pack("<8Q", 104, 152, 112, 152, 264, len(data), 0, 0) + bytes(32))
    f.write(struct.pack("<Q", 70) + attr + struct.pack("<QQ", 104, 8) + data)

"""A capture of a process: arguments PID FILE, where FILE is a path as the process sees it.  Prints an address of it.

The capture has samples of memory of the process that is no file, and of a file that it is said to have mapped."""
import os
import struct
import sys

sys.path.insert(0, os.path.join(os.environ["PERFILE_SOURCE"], "tests", "hostile"))
import cost_symbols

FILE_AT = 0x400000
pid, name = int(sys.argv[1]), sys.argv[2]
inode = int(sys.argv[3]) if len(sys.argv) > 3 else os.stat(f"/proc/{pid}/root{name}").st_ino
start = int(sys.argv[4], 16) if len(sys.argv) > 4 else int(open(f"/proc/{pid}/maps").readline().split("-")[0], 16)


def mmap2(addr, length, ino, text):
    text = text.encode()
    text += b"\0" * (8 - len(text) % 8)
    return cost_symbols.record(10, struct.pack("<IIQQQIIQQII", pid, pid, addr, length, 0, 0, 99, ino, 0, 5, 2) + text)


records = mmap2(start, 4096, 0, "//anon") + mmap2(FILE_AT, 0x100000, inode, name)
for i, addr in enumerate((start + 8, FILE_AT + cost_symbols.TEXT)):
    records += cost_symbols.record(9, struct.pack("<QIIQ", addr, pid, pid, 1000 + i))
cost_symbols.put("capture.data", records)
print(f"{start:x}")

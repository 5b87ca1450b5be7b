#!/usr/bin/env python3
"""Writes a toy capture: make.py OUT < or > [SEED [EVENTS]].  Times go up but for one step back."""
import random
import struct
import sys

out, order = sys.argv[1:3]
seed = int(sys.argv[3]) if len(sys.argv) > 3 else 1
n = int(sys.argv[4]) if len(sys.argv) > 4 else 200
random.seed(seed)
data = bytearray()


def record(number, body):
    global data
    data += struct.pack(order + "HH", number, 4 + len(body)) + body


def time(t):
    record(1, struct.pack(order + "HHH", t >> 32, t >> 16 & 0xFFFF, t & 0xFFFF))


record(68, b"made by make.py %d\0" % seed)
t = 1000000
time(t)
for pid in (10, 20, 30):
    record(3, struct.pack(order + "HH", pid, pid) + b"task%d\0" % pid)
for i in range(n):
    if i % 3 == 0:
        t += random.randrange(1, 50000)
        time(t - 60000 if i == 99 else t)
    pid = random.choice((10, 20, 30))
    record(9, struct.pack(order + "HHHHH", i % 4, pid, pid + i % 2, random.randrange(4096), i % 1000))
    if i % 10 == 0:
        counts = [random.randrange(100) for _ in range(i % 5)]
        record(10, struct.pack(order + "HH%dH" % len(counts), i % 4, len(counts), *counts))
    if i % 50 == 49:
        record(2, struct.pack(order + "H", i % 7 + 1))
with open(out, "wb") as f:
    f.write(b"TOYTRACE" + struct.pack(order + "H", 1) + bytes(6) + bytes(data))

"""Hostile perfmon buffers for cost.py: what a conversion to perf.data makes large or slow.

Each function makes the files at `path` and returns how many bytes they have.
"""
import os
import struct

TIME, TICK, COUNT, PC, LAST_BRANCH = 1, 2, 3, 5, 6


def buffer(records):
    return struct.pack("<HHIqQ", 0, 1, 0, 1000000000, 24 + len(records)) + records


def time(t):
    return struct.pack("<BBHq", TIME, 0, 0, t)


def write(path, content):
    with open(path, "wb") as out:
        out.write(content)
    return len(content)


def ticks(path, size):
    return write(path, buffer(time(1) + struct.pack("<BBH", TICK, 0, 0x801) * (size // 4)))


def events(path, size):
    """As many events as there can be."""
    return write(path, buffer(time(1) + b"".join(struct.pack("<BBHQ", COUNT, 0, 1 + i % 65535, i) for i in range(size // 12))))


def aspaces(path, size):
    return write(path, buffer(time(1) + b"".join(struct.pack("<BBHQQ", PC, 0, 0x801, i << 12, i) for i in range(size // 20))))


def branches(path, size):
    """Samples of one interrupt, and as many branches that look for theirs, of other events."""
    n = size // 20
    pcs = b"".join(struct.pack("<BBHQQ", PC, 0, 0x801 + i % 7, 4096, i) for i in range(n // 2))
    lasts = b"".join(struct.pack("<BBHIQ", LAST_BRANCH, 0, 0x801 + i % 5, 0, 4096) for i in range(n // 2))
    return write(path, buffer(time(1) + pcs + lasts))


def interrupts(path, size):
    return write(path, buffer(b"".join(time(i) for i in range(size // 12))))


def parts(path, size):
    os.mkdir(path)
    return sum(write("%s/a.0.%d.cpuperf" % (path, i), buffer(time(i + 1))) for i in range(min(size // 128, 4096)))


def ids(path, size):
    """Other events in each buffer: each event has an id for each of them."""
    os.mkdir(path)
    n = max(1, int((size / 12) ** 0.5))
    return sum(write("%s/a.0.%d.cpuperf" % (path, b), buffer(time(1) + b"".join(
        struct.pack("<BBHQ", COUNT, 0, 1 + (b * n + i) % 65535, 1) for i in range(n)))) for b in range(n))


INPUTS = {"perfmon-" + f.__name__: f for f in (ticks, events, aspaces, branches, interrupts, parts, ids)}

# Command lines beside those of cost.py; of all commands only these are run.
LINES = {
    "info": ["--from perfmon {in}"],
    "stats": ["--from perfmon {in}"],
    "validate": ["--from perfmon {in}"],
    "dump": ["--from perfmon {in}", "--from perfmon --format jsonl {in}"],
    "convert": ["--from perfmon --force --to perf.data -o {out} {in}"],
    "filter": ["--from perfmon --cpu 0 -o {out} {in}"],
    "recover": ["--from perfmon -f -o {out} {in}"],
    "sort": ["--from perfmon -f -o {out}/%d {in}"],
}
CONVERT = {"memory0": 144 << 20, "memory": 48, "output0": 32 << 20, "output": 24}

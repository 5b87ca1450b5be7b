"""Damage reported is damage done: 500 random damages of captures, overwritten, cut out or inserted, 8 bytes to 64 KiB.

Every record that a damage does not touch is read, but for one at each end of it, and for those that the last record
before it covers when bytes were lost; bytes read and bytes reported as lost add up to all bytes of records; what
convert, filter and recover write has these records, and perf opens it.  Damaged are bytes of records from the first
sample on, in pipes behind the last record that describes events.

CASE=N tries one case and leaves damaged.data; DICE=N tries other damages."""
import json
import os
import random
import re
import shutil
import struct
import subprocess
import sys

from chosen import chosen

PERFILE, SOURCE, CORPUS = (os.environ[name] for name in ("PERFILE", "PERFILE_SOURCE", "PERFILE_CORPUS"))
PERF = shutil.which("perf")
ROUNDS = 500
OURS = ("cpu-clock", "dwarf", "tracepoints", "big-endian", "mixed", "pipe", "pipe-tracepoints", "zstd", "pipe-zstd")
THEIRS = ("recorded/x86_64-6.1/sched.data", "recorded/s390x-6.1/sysw.data", "recorded/x86_64-6.1/pipe-cpu.data",
          "perf_data_converter/perf.data.systemwide.0-3.4", "perf_data_converter/perf.data.i686-3.4",
          "recorded/aarch64-6.12/hwgroup.data")
RECORD = re.compile(r"0x(\w{8}) +(?:[\d.]+ +)?([A-Z]\w*|type \d+) +(\d+)(?: |$)")
COMPRESSED = ("COMPRESSED", "COMPRESSED2")
DESCRIBES = ("HEADER_ATTR", "HEADER_TRACING_DATA", "ID_INDEX", "EVENT_UPDATE", "HEADER_FEATURE")
POLICIES = ("stop", "salvage")


def run(*words):
    return subprocess.run([PERFILE, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          errors="replace", timeout=120)


def records(path, policy):
    """(offset, bytes, name) of each record."""
    lines = run("dump", "--raw", "--on-damage", policy, path).stdout.splitlines()
    return [(int(m[1], 16), int(m[3]), m[2]) for m in map(RECORD.match, lines) if m]


def bytes_told(path, policy):
    report = json.loads(run("stats", "--json", "--raw", "--on-damage", policy, path).stdout)
    return report["total"]["bytes"] + report["damage"]["lost"]


def opens(path):
    ways = (["script", "-F", "comm,event"], ["report", "--stdio", "--sort", "comm"])
    return any(subprocess.run([PERF, way[0], "-i", path, "-f", *way[1:]], stdin=subprocess.DEVNULL, timeout=120,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode == 0 for way in ways)


class Capture:
    def __init__(self, path):
        self.path, self.data = path, open(path, "rb").read()
        order = ">" if self.data[:8] == b"2ELIFREP" else "<"
        self.piped = struct.unpack_from(order + "Q", self.data, 8)[0] == 16
        if self.piped:
            self.start, size = 16, len(self.data) - 16
        else:
            self.start, size = struct.unpack_from(order + "QQ", self.data, 40)
        self.end = self.start + size
        self.records = records(path, "stop")
        self.compressed = any(name in COMPRESSED for _, _, name in self.records)
        self.first = next(at for at, _, name in self.records if name in ("SAMPLE", *COMPRESSED))
        if self.piped:
            last = max((at for at, _, name in self.records if name in DESCRIBES), default=0)
            self.first = max(self.first, last + 1 if last < self.end * 3 // 4 else 0)
        self.opens = PERF is not None and opens(path)


class Damage:
    def __init__(self, number, captures):
        dice = random.Random(number + int(os.environ.get("DICE") or 0))
        capture = self.capture = captures[number % len(captures)]
        space = capture.end - capture.first
        size = min(65536, space // 3, int(8 * 2 ** (13 * dice.random())))
        self.at = capture.first + dice.randrange(space - size)
        self.way = dice.choice(["random", "zero", "other", "cut", "insert"])
        other = dice.choice(captures).data
        start = dice.randrange(max(1, len(other) - size))
        new = {"zero": bytes(size), "other": other[start:start + size], "cut": b""}.get(self.way, dice.randbytes(size))
        self.took = {"insert": 0, "cut": size}.get(self.way, len(new))
        self.put = len(new)
        with open("damaged.data", "wb") as out:
            out.write(capture.data[:self.at] + new + capture.data[self.at + self.took:])
        move = self.put - self.took
        self.end = capture.end + move
        self.before = [r for r in capture.records if r[0] + r[1] <= self.at][:-1]
        self.behind = [(at + move, size, name) for at, size, name in capture.records if at >= self.at + self.took][1:]

    def __str__(self):
        return "%s, %s at %d: %d bytes become %d" % (os.path.relpath(self.capture.path, SOURCE), self.way, self.at,
                                                     self.took, self.put)

    def expected(self, policy, found):
        """The records that must be there: without those that a record across an end of the damage covers."""
        ends = (self.at, self.at + self.put)
        across = [(at, at + size) for at, size, _ in found if any(at < end < at + size for end in ends)]
        return [r for r in self.before + (self.behind if policy != "stop" else [])
                if not any(r[0] < end and begin < r[0] + r[1] for begin, end in across)]

    def wrong(self):
        for policy in POLICIES:
            found = records("damaged.data", policy)
            expected = self.expected(policy, found)
            lost = sorted({r[:2] for r in expected} - {r[:2] for r in found})
            if lost:
                yield "%s: %d records outside of the damage are lost, the first at %d" % (policy, len(lost), lost[0][0])
            told = bytes_told("damaged.data", policy)
            if told != self.end - self.capture.start:
                yield "%s: read and lost are %d of %d bytes" % (policy, told, self.end - self.capture.start)
            # A record that the damage ends in is copied by `stop`, and perf 6.1 crashes on some.
            safe = policy != "stop" or all(at + size <= self.at for at, size, _ in found)
            samples = sum(name == "SAMPLE" for _, _, name in expected)
            yield from self.written(policy, samples, safe)

    def written(self, policy, samples, safe):
        commands = [["convert", "--to", "perf.data", "--on-damage", policy], ["filter", "--on-damage", policy]]
        if policy == "salvage":
            commands.append(["recover"])
        for command in commands:
            result = run(*command, "-f", "-o", "out.data", "damaged.data")
            if result.returncode not in (0, 3):
                yield "%s: status %d: %s" % (" ".join(command), result.returncode, result.stderr[-300:])
                continue
            got = json.loads(run("stats", "--json", "out.data").stdout)["total"]["samples"]
            if not self.capture.compressed and got < samples:
                yield "%s: %d samples, %d are outside of the damage" % (" ".join(command), got, samples)
            if self.capture.opens and safe and not opens("out.data"):
                yield "%s: perf does not open it" % " ".join(command)


def main():
    paths = [os.path.join(SOURCE, "samples/captures", name + ".data") for name in OURS]
    paths += [path for path in (os.path.join(CORPUS, name) for name in THEIRS) if os.path.exists(path)]
    captures = [Capture(path) for path in paths]
    if not PERF:
        print("not tried: perf opens what was written: there is no perf")
    only = os.environ.get("CASE")
    tried = failed = 0
    for number in [int(only)] if only else [n for n in range(ROUNDS) if chosen()]:
        damage = Damage(number, captures)
        wrong = list(damage.wrong())
        tried += 1
        failed += bool(wrong)
        if wrong:
            print("case %d: %s\n  %s" % (number, damage, "\n  ".join(wrong)), flush=True)
    print("%d damages tried, %d break the law" % (tried, failed))
    return 1 if failed or not tried else 0


if __name__ == "__main__":
    sys.exit(main())

"""Chunks that go from one archive to another as they are stored never change a result: random commands from archive
to archive give the captures, the messages and the report that they give with --no-index, which reads and encodes
everything, and that they give of the capture that the archive was made of. What was made is a sound archive, and
chunks did go as they were stored. Chunks with a wrong checksum do not."""
import os
import random
import re
import struct
import subprocess
import sys

from chosen import CASES, SEED
from enough import enough
from small_captures import PERFILE, captures, values_of

SAMPLES = 200000 // CASES
IP, TID, TIME, CPU, PERIOD, IDENTIFIER = 1, 2, 4, 128, 256, 65536
pick = random.Random(SEED)


def record(kind, body):
    return struct.pack("<IHH", kind, 2, 8 + len(body)) + body


def make(path, samples, pipe=False):
    """A capture whose processes, processors and events change now and then: names first, then rounds of samples."""
    fields = IP | TID | TIME | CPU | PERIOD | IDENTIFIER
    attrs = [struct.pack("<IIQQQQQII", 1, 136, kind, 1000, fields, 4, 1 << 18 | 1 << 12 | 1 << 8, 0, 0) + bytes(80)
             for kind in (0, 1)]
    trailer = struct.pack("<IIQIIQ", 1, 1, 0, 0, 0, 1)
    data = [record(3, struct.pack("<II16s", 10 + i, 10 + i, b"task%d" % i) + trailer) for i in range(4)]
    for i in range(samples):
        place = i * 16 // samples
        if place % 5 == 4:
            place = pick.randrange(16)
        data.append(record(9, struct.pack("<QQIIQIIQ", 1 + place // 3 % 2, pick.randrange(1 << 47), 10 + place % 4,
                                          20 + place % 4, 1000000 + 10 * i, place % 3, 0, 1000 + i % 7)))
        if i % 8192 == 8191:
            data.append(struct.pack("<IHH", 68, 0, 8))
        if i == samples // 3:
            data.append(record(3, struct.pack("<II16s", 10, 10, b"renamed") + struct.pack(
                "<IIQIIQ", 10, 20, 1000000 + 10 * i, 0, 0, 1)))
    records = b"".join(data)
    if pipe:
        heads = [struct.pack("<IHH", 64, 0, 8 + 136 + 8) + attr + struct.pack("<Q", 1 + i)
                 for i, attr in enumerate(attrs)]
        content = b"PERFILE2" + struct.pack("<Q", 16) + b"".join(heads) + records
    else:
        ids = 104 + 2 * 152
        at = ids + 16
        content = struct.pack("<8sQQQQQQQ32s", b"PERFILE2", 104, 152, 104, 304, at, len(records), 0, bytes(40)[:32])
        content = content[:64] + bytes(40) + b"".join(
            attr + struct.pack("<QQ", ids + 8 * i, 8) for i, attr in enumerate(attrs))
        content += struct.pack("<QQ", 1, 2) + records
    with open(path, "wb") as f:
        f.write(content)


def command(*words):
    done = subprocess.run([PERFILE] + [str(word) for word in words], capture_output=True)
    return done.returncode, done.stdout, done.stderr


def read(path):
    with open(path, "rb") as f:
        return f.read()


def remove(names):
    for name in names:
        if os.path.lexists(name):
            os.remove(name)


def chunks(archive):
    """(offset, bytes, payload offset, payload bytes, checksums) of each chunk with records."""
    data, at, found = read(archive), 64, []
    while at + 64 <= len(data) and data[at:at + 4] == b"PFCK":
        kind, meta, payload, raw_crc, payload_crc = struct.unpack("<4xB19xII4xI16xI4x", data[at:at + 64])
        begin = at + 64 + (meta + 7) // 8 * 8
        end = (begin + payload + 63) // 64 * 64
        if kind == 2:
            found.append((at, end - at, begin, payload, (raw_crc, payload_crc, meta)))
        at = end
    return found


def selection(values):
    """A few random terms, often those that whole chunks fit."""
    terms = []
    for option, field in (("--pid", "pid"), ("--tid", "tid"), ("--cpu", "cpu"), ("--event", "event")):
        if pick.random() < 0.2:
            some = pick.sample(values[field], min(len(values[field]), pick.randint(1, 3))) or ["4000000000"]
            terms += [option, ",".join(some)]
    if pick.random() < 0.6:
        a, b = sorted((pick.randint(0, 100), pick.randint(0, 100)))
        terms += ["--time", pick.choice(("%d%%..%d%%" % (a, b), "%d%%.." % a, "..%d%%" % b))]
    for option in ("--invert", "--no-sideband", "--compact-sideband"):
        if pick.random() < 0.15:
            terms.append(option)
    for option, most in (("--every", 2), ("--head", 50000)):
        if pick.random() < 0.07:
            terms += [option, str(pick.randint(2, most))]
    if pick.random() < 0.1:
        terms += ["--where", pick.choice(("cpu == 0 || period > 1000", "period > 10", "comm == 'task1'"))]
    if pick.random() < 0.15:
        terms += ["--type", pick.choice(("SAMPLE", "SAMPLE,FINISHED_ROUND", "COMM"))]
    return terms


def outputs():
    return sorted(name for name in os.listdir(".") if name.startswith("out"))


def result(words, capture, archive):
    """What a command says and writes, of the input that is called x there; archives as what was in them."""
    remove(outputs())
    os.rename(capture, "x")
    said = command(*words, "x")
    os.rename("x", capture)
    written = {}
    for name in outputs():
        if archive:
            back = command("convert", "-f", "-o", "restored", name)
            written[name] = back[0], read("restored") if back[0] in (0, 3) else None
            remove(["restored"])
        else:
            written[name] = 0, read(name)
    return said, written


def without_sizes(said):
    """A report without the sizes of the files that were written, which are those of archives or captures.  What is
    refused may have been refused sooner: fewer archives than captures are open at once."""
    status, out, err = said
    sizes = rb'"bytes":"?\d+' if status in (0, 3) else rb'"(bytes|written)":"?\d+'
    return status, re.sub(sizes, b"", out), err


class Trial:
    def __init__(self):
        self.tried = self.failed = self.moved = self.refused = 0

    def fail(self, text, *results):
        self.failed += 1
        print("PERFILE_SEED=%d: %s" % (SEED, text))
        for (status, out, err), written in results:
            print("   ", status, out[:400] if len(results) and len(out) < 400 else len(out), err[:300], {k: (s, b and len(b)) for k, (s, b) in list(written.items())[:5]})

    def compare(self, text, words):
        """Runs words on x: the capture, its archive, and that without the index."""
        plain = result(words, "capture", False)
        packed = words + ["--to", "archive"]
        want = result(packed + ["--no-index"], "archive", True)
        got = result(packed, "archive", True)
        before = {chunk[4] for chunk in chunks("archive")}
        self.tried += 1
        self.refused += got[0][0] not in (0, 3)
        for name in outputs():
            self.moved += sum(chunk[4] in before for chunk in chunks(name))
            if b"V-7" in command("validate", name)[1]:
                self.fail("%s: validate finds something in %s" % (text, name), got)
        if (without_sizes(got[0]), got[1]) != (without_sizes(want[0]), want[1]):
            self.fail(text + ": differs from --no-index", got, want)
        elif got[1] != plain[1] or without_sizes(got[0]) != without_sizes(plain[0]):
            self.fail(text + ": differs from the capture", got, plain)


def pack(capture, size):
    remove(("archive", "capture"))
    os.symlink(capture, "capture")
    words = ["--chunk-records", size] if size else []
    return command("convert", "--to", "archive", *words, "-o", "archive", "capture")[0] in (0, 3)


def words_of(values, samples):
    """A command with random options, for a capture of so many samples."""
    if pick.random() < 0.6:
        return ["filter", "--json", "--decompress", "-f", "-o", "out"] + selection(values)
    how = pick.choice((["--every", "%dus" % pick.choice((100, 170, 700, 20000000))],
                       ["--records", str(samples // pick.randint(1, 9) + 1)],
                       ["--size", "%dK" % (samples * 56 // pick.randint(1, 7) // 1000 + 100)],
                       ["--by", pick.choice(("pid", "tid", "cpu", "event", "comm"))]))
    more = pick.choice(([], [], ["--no-sideband"], ["--compact-sideband"]))
    return ["split", "--json", "--decompress", "-f", "-o", "out-%03d"] + how + more


def damage(trial, name):
    """The first chunk (which has the events of a pipe), one or all with a wrong payload; all samples are selected, since what nobody needs is not looked at."""
    whole = read("archive")
    found = chunks("archive")
    policies = [[], ["--on-damage", "resync"], ["--on-damage", "fail"], ["--on-damage", "salvage"]]
    for many in (0, 1, 1, len(found)):
        data = bytearray(whole)
        for chunk in pick.sample(found, min(many, len(found))) if many else found[:1]:
            data[chunk[2] + pick.randrange(max(chunk[3], 1))] ^= 0x40
        with open("archive", "wb") as f:
            f.write(data)
        for more in policies if CASES == 1 or not many else pick.sample(policies, 1):
            words = ["filter", "--json", "-f", "-o", "out", "--to", "archive"] + more
            words += pick.choice(([], ["--pid", "10-13"], ["--cpu", "0,1,2"], ["--no-sideband"])) if many else ["--pid", "10-13"]
            want, got = (result(words + index, "archive", True) for index in (["--no-index"], []))
            trial.tried += 1
            if (without_sizes(got[0]), got[1]) != (without_sizes(want[0]), want[1]):
                trial.fail("%s, damaged: %s" % (name, " ".join(words)), got, want)
    with open("archive", "wb") as f:
        f.write(whole)


def main():
    trial = Trial()
    for capture in captures():
        if SEED and pick.random() > 1 / CASES:
            continue
        size = pick.choice((1, 5, 20, 100))
        if not pack(capture, size):
            trial.fail("%s: not packed" % capture)
            continue
        values = values_of(capture, ("pid", "tid", "cpu", "event"))
        for _ in range(2):
            words = words_of(values, 50)
            trial.compare("%s, chunks of %d: %s" % (capture, size, " ".join(words)), words)
    small = trial.moved
    values = {"pid": ["10", "11", "12", "13"], "tid": ["20", "21", "22", "23"], "cpu": ["0", "1", "2"],
              "event": ["0", "1"]}
    for pipe, size in ((False, 0), (False, 1000), (True, 5000)):
        make("made", SAMPLES, pipe)
        if not pack(os.path.abspath("made"), size):
            trial.fail("made: not packed")
            continue
        for i in range(1 + 24 // CASES):
            # The first selects most chunks as a whole, so that some move whatever the others are.
            words = words_of(values, SAMPLES) if i else ["filter", "--json", "--decompress", "-f", "-o", "out", "--time", "5%..95%"]
            trial.compare("made, pipe %s, chunks of %d: %s" % (pipe, size, " ".join(words)), words)
        damage(trial, "made, pipe %s, chunks of %d" % (pipe, size))
    print("%d cases, %d of them refused, %d differ; %d chunks moved, %d of them small" % (
        trial.tried, trial.refused, trial.failed, trial.moved, small))
    fine = enough("cases", trial.tried - trial.refused, 300 // CASES, 60 // CASES)
    fine = fine and enough("moved chunks", trial.moved, 320 // CASES, 160 // CASES)
    return trial.failed != 0 or not fine


sys.exit(main())

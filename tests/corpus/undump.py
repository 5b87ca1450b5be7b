"""Every capture comes back from its dump.

`dump --format cbor X | convert --from cbor -o Y -`: the dump of Y has what the dump of X has, but for what format/dump.cddl
("Back to a capture") says cannot.  Of Y, which has what a dump can hold, everything comes back: the capture made of its
dump is Y, byte for byte, and so is its dump.
"""
import concurrent.futures
import os
import shutil
import subprocess
import sys

from dump_objects import Map, objects
from enough import EVERY, enough

PERFILE, SOURCE, CORPUS = (os.environ[name] for name in ("PERFILE", "PERFILE_SOURCE", "PERFILE_CORPUS"))
MOST_BYTES = 4 << 20

# Features that say how a file is stored, and the one that dumps have a checksum of.
STORAGE, TRACING_DATA = (18, 24, 27), 1
COMPRESSED = (81, 83)
# Of captures that a dump cannot have as a whole: files that are none.
NO_HEADER = b"the line 'header' has to come first"


def captures():
    """Ours, and those of the corpus without the parts of directories."""
    ours = os.path.join(SOURCE, "samples", "captures")
    found = [os.path.join(ours, n) for n in sorted(os.listdir(ours)) if n.endswith((".data", ".cpuperf"))]
    manifest = os.path.join(CORPUS, "MANIFEST.tsv")
    if os.path.exists(manifest):
        with open(manifest) as lines:
            names = [line.split("\t")[0].rstrip("/") for line in list(lines)[1:]]
        found += [os.path.join(CORPUS, n) for n in names if ".data/" not in n]
    return found[::EVERY]


def size_of(capture):
    if os.path.isdir(capture):
        return sum(os.path.getsize(os.path.join(capture, n)) for n in os.listdir(capture))
    return os.path.getsize(capture)


def dump(capture, *options):
    return subprocess.run([PERFILE, "dump", "--format", "cbor", *options, capture], stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout


def back(data, out, *options):
    return subprocess.run([PERFILE, "convert", "--from", "cbor", "-o", out, *options, "-"], input=data,
                          stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def is_lost(line):
    """True if format/dump.cddl says that the line does not come back."""
    if line["kind"] == "feature":
        return line["feature"] in STORAGE or line["feature"] == TRACING_DATA or "error" in line
    if line["kind"] != "record" or "misc" not in line:
        return line["kind"] == "error"
    body = line.get("body", {})
    return (line["type"] in COMPRESSED and line["name"] is not None) or "payload" in line or "crc32" in body or \
        ("error" in body and line["size"] != 16)


def comparable(lines, whole):
    """What has to come back; `whole`: no line is left out."""
    kept = []
    for line in lines:
        if is_lost(line):
            continue
        line = Map(line)
        drop = {"header": () if "flags" in line else ("version", "size", "attr_size", "attrs", "data", "event_types",
                                                       "features"),
                "feature": ("offset", "size")}.get(line["kind"], ("offset", "file", "compressed_in", "stream_offset"))
        if line["kind"] == "record" and not whole:
            drop += ("index",)
        if line["kind"] == "end" and not whole:
            continue
        if line["kind"] == "attr" and 0 < line["attr"]["size"] < 64:
            line["attr"] = Map(line["attr"])
            line["attr"]["size"] = 64
        for key in drop:
            line.pop(key, None)
        kept.append(line)
    return kept


def first_difference(a, b):
    at = next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))
    return "%d and %d objects; number %d:\n  %.600s\n  %.600s" % (len(a), len(b), at, a[at:at + 1], b[at:at + 1])


def told(message, lines):
    """Whether all that is left out is told."""
    lost = [line for line in lines if is_lost(line) and not (line["kind"] == "feature" and line["feature"] in STORAGE)]
    words = {"feature": b"feature", "error": b"damage", "record": b"record"}
    return all(words[line["kind"]] in message for line in lost) and (bool(lost) or message == b"")


def check(number, capture):
    """What is wrong with the way back of a capture: "", None: it is none, or a sentence; and how many objects it has."""
    folder = "undump.%d" % number
    shutil.rmtree(folder, ignore_errors=True)
    os.mkdir(folder)
    once, twice = os.path.join(folder, "once"), os.path.join(folder, "twice")
    data = dump(capture)
    lines = objects(data)
    result = back(data, once)
    damaged = any(line["kind"] == "error" for line in lines)
    try:
        if result.returncode == 1 and not os.path.exists(once):
            if NO_HEADER in result.stderr and not any(line["kind"] == "header" for line in lines):
                return None, 0
            return result.stderr.decode(), 0
        if result.returncode != (3 if damaged else 0):
            return "exit status %d: %s" % (result.returncode, result.stderr.decode()), 0
        if not told(result.stderr, lines):
            return "not told, or nothing to tell: %s" % result.stderr.decode(), 0
        again = dump(once)
        whole = not any(is_lost(line) for line in lines)
        a, b = comparable(lines, whole), comparable(objects(again), whole)
        if a != b:
            return first_difference(a, b), 0
        result = back(again, twice)
        if result.returncode not in (0, 3):
            return "of what was made: " + result.stderr.decode(), 0
        if open(once, "rb").read() != open(twice, "rb").read() or dump(twice) != again:
            return "the capture made of the dump of the result is not the result", 0
        return "", len(lines)
    finally:
        shutil.rmtree(folder)


def main():
    tried = seen = 0
    failed = []
    chosen = [c for c in captures() if size_of(c) <= MOST_BYTES]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for capture, (wrong, n) in zip(chosen, pool.map(check, range(len(chosen)), chosen)):
            if wrong:
                failed.append("%s: %s" % (capture, wrong))
            elif wrong is not None:
                tried += 1
                seen += n
    print("\n".join(failed))
    print("%d captures, %d objects" % (tried, seen))
    return 1 if failed or not enough("captures", tried, 200, 30) else 0


def lines_of(**members):
    return [Map(kind="record", type=3, name="", **members)]


# The comparison itself, on dumps that differ.
assert Map(a=1, b=2) != Map(b=2, a=1) and Map(a=1) == Map(a=1)
assert comparable([Map(kind="end", records=1)], True) != comparable([Map(kind="end", records=2)], True)
assert comparable(lines_of(index=0, offset=1, misc=2), True) == comparable(lines_of(index=0, offset=9, misc=2), True)
assert comparable(lines_of(index=0, misc=2), True) != comparable(lines_of(index=0, misc=3), True)
assert comparable(lines_of(index=0, misc=2), True) != comparable(lines_of(index=1, misc=2), True)
sys.exit(main())

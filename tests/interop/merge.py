"""merge.py edit IN OUT [host=NAME] [wall=NS] [config=N:NAME]: a copy as another machine would have
recorded it: its host name, its wall clock that many ns later, its event another one.

merge.py times A OFFSET B OFFSET OUT: whether OUT has the samples of both, moved, by time."""
import json
import os
import struct
import subprocess
import sys

EVENT_DESC, HOSTNAME, CLOCK_DATA = 12, 3, 29


def sections(data):
    """Place and size of each feature section."""
    end = sum(struct.unpack_from("<QQ", data, 40))
    bits = int.from_bytes(data[72:104], "little")
    numbers = [n for n in range(256) if bits >> n & 1]
    return {n: struct.unpack_from("<QQ", data, end + 16 * i) for i, n in enumerate(numbers)}


def edit(source, to, *edits):
    with open(source, "rb") as f:
        data = bytearray(f.read())
    found = sections(data)
    for word in edits:
        what, value = word.split("=")
        if what == "host":
            at, size = found[HOSTNAME]
            data[at + 4:at + size] = value.encode().ljust(size - 4, b"\0")
        elif what == "wall":
            at = found[CLOCK_DATA][0] + 8
            struct.pack_into("<Q", data, at, struct.unpack_from("<Q", data, at)[0] + int(value))
        elif what == "config":
            config, name = value.split(":")
            attrs = struct.unpack_from("<Q", data, 24)[0]
            struct.pack_into("<Q", data, attrs + 8, int(config))
            at = found[EVENT_DESC][0] + 8
            attr_size = struct.unpack_from("<I", data, at - 4)[0]
            struct.pack_into("<Q", data, at + 8, int(config))
            length = struct.unpack_from("<I", data, at + attr_size + 4)[0]
            place = at + attr_size + 8
            data[place:place + length] = name.encode().ljust(length, b"\0")
        else:
            sys.exit("what is " + word)
    with open(to, "wb") as f:
        f.write(data)


def samples(path):
    dump = subprocess.run([os.environ["PERFILE"], "dump", "--format", "jsonl", path], capture_output=True,
                          check=True)
    for line in dump.stdout.splitlines():
        d = json.loads(line)
        if d.get("name") == "PERF_RECORD_SAMPLE":
            b = d["body"]
            yield int(b["time"]), d["attr"], b["ip"], b["tid"]


def times(a, a_offset, b, b_offset, out):
    def moved(path, offset, base):
        return sorted((t + int(offset), e + base, ip, tid) for t, e, ip, tid in samples(path))
    listed = subprocess.run([os.environ["PERFILE"], "list", "events", "--json", a], capture_output=True,
                            check=True)
    events = len(json.loads(listed.stdout)["events"])
    one, other = moved(a, a_offset, 0), moved(b, b_offset, events)
    found = list(samples(out))
    if sorted(one + other) != sorted(found):
        sys.exit("%d samples, not those of %d and %d" % (len(found), len(one), len(other)))
    if [s[0] for s in found] != sorted(s[0] for s in found):
        sys.exit("the samples are not by time")
    turns = sum(x[1] != y[1] for x, y in zip(found, found[1:]))
    both = max(one[0][0], other[0][0]) < min(one[-1][0], other[-1][0])
    print("%d samples of %d and %d, %d turns" % (len(found), len(one), len(other), turns))
    if both and turns < 5:
        sys.exit("they do not interleave")


if __name__ == "__main__":
    {"edit": edit, "times": times}[sys.argv[1]](*sys.argv[2:])

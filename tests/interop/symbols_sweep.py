"""Names at many addresses of an ELF file, by sample_resolve and by perf.

    symbols_sweep.py RESOLVE FILE…

A capture is made with one process that has the executable segments of all files mapped, and a sample
at random places, at the beginnings and ends of symbols, and in each entry of procedure linkage tables.
Prints how many names agree; fails if more than one in 200 is another one, or if one of an entry is.
Where symbols are nested or overlap perf finds one or the other."""
import collections
import random
import re
import struct
import subprocess
import sys

PAGE = 4096
SAMPLES = 3000  # of each file


def segments(path):
    """Of a file: executable segments (offset, vaddr, size), symbols (vaddr, size), places in entries of PLTs."""
    text = subprocess.run(["readelf", "-lW", path], capture_output=True, text=True).stdout
    found = []
    for m in re.finditer(r"LOAD +(0x\w+) (0x\w+) 0x\w+ (0x\w+) 0x\w+ R.E", text):
        found.append(tuple(int(x, 16) for x in m.groups()))
    text = subprocess.run(["readelf", "-sW", path], capture_output=True, text=True).stdout
    symbols = [(int(m[1], 16), int(m[2], 0)) for m in
               re.finditer(r"^ +\d+: ([0-9a-f]+) +(\w+) (?:FUNC|IFUNC|NOTYPE)", text, re.M)]
    text = subprocess.run(["readelf", "-SW", path], capture_output=True, text=True).stdout
    entries = []
    for m in re.finditer(r"\] \.plt(?:\.sec)? +PROGBITS +([0-9a-f]+) [0-9a-f]+ ([0-9a-f]+)", text):
        start = int(m[1], 16)
        entries += range(start, start + int(m[2], 16), 8)
    return found, symbols, entries


def record(kind, misc, body):
    body += bytes(-len(body) % 8)
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def capture(path, files):
    """Writes the capture; returns how many samples it has."""
    rng = random.Random(7)
    records, base, n = [], 0x7F0000000000, 0
    records.append(record(3, 0, struct.pack("<II", 77, 77) + b"sweep\0"))
    for name in files:
        found, symbols, entries = segments(name)
        for offset, vaddr, size in found:
            start = offset & ~(PAGE - 1)
            length = (offset + size - start + PAGE - 1) & ~(PAGE - 1)
            records.append(record(10, 2, struct.pack("<IIQQQIIQQII", 77, 77, base, length, start, 0, 0, 0, 0, 5, 2) +
                                  name.encode() + b"\0"))
            near = [v + d for v, s in symbols for d in (0, max(s - 1, 0), s)
                    if vaddr <= v + d < vaddr + size]
            places = rng.sample(near, min(len(near), SAMPLES // 2))
            places += [vaddr + rng.randrange(size) for _ in range(SAMPLES // 2)]
            places += [place for place in entries if vaddr <= place < vaddr + size]
            for place in places:
                records.append(record(9, 2, struct.pack("<QII", base + place - vaddr + offset - start, 77, 77)))
                n += 1
            base += (length + 0x10000) & ~0xFFFF
    data = b"".join(records)
    # An attr of 128 bytes, sample_type IP | TID, and where its ids are: nowhere.
    attr = struct.pack("<IIQQQQ", 1, 128, 0, 1, 3, 0).ljust(128, b"\0") + struct.pack("<QQ", 0, 0)
    head = struct.pack("<8sQQQQQQQQ", b"PERFILE2", 104, len(attr), 104, len(attr), 104 + len(attr), len(data), 0, 0)
    with open(path, "wb") as f:
        f.write(head.ljust(104, b"\0") + attr + data)
    return n


def names_of_perf(path):
    found = {}
    text = subprocess.run(["perf", "script", "-f", "-F", "ip,sym", "-i", path], capture_output=True,
                          text=True, errors="replace").stdout
    for line in text.splitlines():
        ip, _, name = line.strip().partition(" ")
        found[int(ip, 16)] = "?" if name == "[unknown]" else name
    return found


def names_of_ours(resolve, path):
    found = {}
    text = subprocess.run([resolve, path], capture_output=True, text=True, errors="replace").stdout
    for line in text.splitlines():
        ip, _, rest = line.partition(" ")
        name = rest.split(" ", 1)[1]
        found[int(ip, 16)] = "?" if name.startswith("? (") else name
    return found


def main():
    resolve, files = sys.argv[1], sys.argv[2:]
    n = capture("sweep.data", files)
    perf, ours = names_of_perf("sweep.data"), names_of_ours(resolve, "sweep.data")
    if len(perf) < n // 2 or set(perf) != set(ours):
        print(f"FAILED: {n} samples, perf has {len(perf)} addresses, resolve {len(ours)}")
        return 1
    kinds = collections.Counter()
    for ip, name in perf.items():
        if ours[ip] == name:
            kinds["same"] += 1
            kinds["unknown"] += name == "?"
            kinds["entries"] += name.endswith("@plt")
        elif ours[ip].endswith("@plt") and name in ("_init", "?"):
            # perf 6.1 does not know .plt.sec, and may find the symbol without size before the PLT.
            kinds["plt"] += 1
        elif "@plt" in ours[ip] + name:
            print(f"FAILED: {ip:x}: perf {name!r}, resolve {ours[ip]!r}")
            return 1
        else:
            kinds["other"] += 1
            if kinds["other"] <= 20:
                print(f"  {ip:x}: perf {name!r}, resolve {ours[ip]!r}")
    print(f"{len(files)} files, {len(perf)} addresses: {kinds['same']} names the same "
          f"({kinds['unknown']} unknown, {kinds['entries']} of PLT entries), "
          f"{kinds['plt']} of PLT entries otherwise, {kinds['other']} others")
    if kinds["entries"] < 500 or kinds["plt"] > kinds["entries"]:
        print("FAILED: too few entries of PLTs have the name that perf has")
        return 1
    return kinds["other"] * 200 > len(perf) or kinds["unknown"] * 2 > len(perf)


sys.exit(main())

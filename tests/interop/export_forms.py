"""export_forms.py: see export_forms.sh."""
import collections
import gzip
import json
import os
import re
import shutil
import subprocess
import sys

from captures import PERFILE, SOURCE, captures, run
from enough import enough
from export_time import check_chrome, check_firefox, check_firefox_joined, check_perfetto

counted = collections.Counter()
KEYS = "comm,pid,tid,event"
PROTOC = shutil.which("protoc")


def folded(path, weight):
    """{(comm, pid, tid, event, frames…): weight}, None if the capture cannot be read."""
    status, output, errors = run(PERFILE, "export", "--no-symbols", "--unknown", "address", "--to", "folded", "--per", KEYS, "--weight", weight, path)
    if status not in (0, 3):
        return None
    sums = collections.Counter()
    for line in output.split("\n")[:-1]:
        stack, _, n = line.rpartition(" ")
        sums[tuple(stack.split(";"))] += int(n)
    return sums


def export(path, form, *options):
    """The bytes of an export."""
    out = os.path.abspath("exported." + form)
    p = subprocess.run([PERFILE, "export", "--no-symbols", "--to", form, "--unknown", "address", *options, "-f", "-o", out, path], stdin=subprocess.DEVNULL,
                       capture_output=True)
    if p.returncode not in (0, 3):
        sys.exit(f"{path}: export --to {form}: exit status {p.returncode}: {p.stderr.decode(errors='replace')}")
    with open(out, "rb") as f:
        return f.read()


def messages(text):
    """What protoc --decode prints, as nested {field: [values]}."""
    top = collections.defaultdict(list)
    open_ = [top]
    for line in text.split("\n"):
        line = line.strip()
        if line.endswith(" {"):
            message = collections.defaultdict(list)
            open_[-1][line[:-2]].append(message)
            open_.append(message)
        elif line == "}":
            open_.pop()
        elif line:
            field, _, value = line.partition(": ")
            if value.startswith('"'):
                raw = re.sub(rb"\\([0-7]{3})", lambda m: bytes([int(m[1], 8)]), value[1:-1].encode())
                raw = re.sub(rb"\\(.)", lambda m: {b"n": b"\n", b"t": b"\t", b"r": b"\r"}.get(m[1], m[1]), raw)
                open_[-1][field].append(raw.decode(errors="surrogateescape"))
            else:
                open_[-1][field].append({"true": 1, "false": 0}[value] if value in ("true", "false") else int(value))
    return top


def decode(raw, message, schema):
    p = subprocess.run([PROTOC, "--decode=" + message, f"--proto_path={SOURCE}/tests/interop", schema], input=raw,
                       capture_output=True)
    assert p.returncode == 0, p.stderr
    return messages(p.stdout.decode())


def decode_pprof(data):
    return decode(gzip.decompress(data), "perftools.profiles.Profile", "export_forms.proto")


def one(message, field):
    values = message.get(field, [0])
    assert len(values) == 1, (field, values)
    return values[0]


def check_hosts(path, profile):
    """All samples are of the host that `perfile info` names; a pipe may name it behind the first of them."""
    texts = profile["string_table"]
    info = json.loads(run(PERFILE, "info", "--json", path)[1])
    said = {texts[one(x, "str")] for s in profile["sample"] for x in s["label"] if texts[one(x, "key")] == "host"}
    without = sum(all(texts[one(x, "key")] != "host" for x in s["label"]) for s in profile["sample"])
    host = info["host"].get("hostname")
    assert said <= {host} and (not host or info["form"] == "pipe" or not without), (path, said, without, host)
    counted["captures whose samples have a host"] += bool(said)


def check_pprof(profile):
    """Sums by samples and by period, as folded() has them."""
    texts = profile["string_table"]
    assert texts[0] == "" and len(set(texts)) == len(texts), texts[:3]
    types = [(texts[one(t, "type")], texts[one(t, "unit")]) for t in profile["sample_type"]]
    assert types[0] == ("samples", "count"), types
    mappings = {one(m, "id"): m for m in profile["mapping"]}
    functions = {one(f, "id"): texts[one(f, "name")] for f in profile["function"]}
    assert 0 not in mappings and 0 not in functions
    for m in mappings.values():
        assert re.fullmatch("([0-9a-f]{2})*", texts[one(m, "build_id")])
    names = {}
    for location in profile["location"]:
        address, mapping = one(location, "address"), one(location, "mapping_id")
        name = functions[one(location["line"][0], "function_id")]
        names[one(location, "id")] = name
        if not mapping:  # a caller is one byte before where it goes on
            assert name in (f"[unknown+{address:#x}]", f"[unknown+{address + 1:#x}]"), (name, address)
            continue
        m = mappings[mapping]
        start, limit = one(m, "memory_start"), one(m, "memory_limit")
        assert start <= address < limit or address == limit == (1 << 64) - 1, (start, address, limit)
        base = texts[one(m, "filename")].rsplit("/", 1)[-1] or texts[one(m, "filename")]
        # Of the kernel and of memory without a file frames are addresses, else offsets in the file.
        offsets = [f"[{base}+{at % (1 << 64):#x}]" for here in (address, address + 1)
                   for at in (here - start + one(m, "file_offset"), here)]
        assert name in offsets or one(m, "has_functions"), (name, offsets)
    sums = collections.Counter(), collections.Counter()
    for sample in profile["sample"]:
        labels = {texts[one(x, "key")]: texts[one(x, "str")] if x["str"] else one(x, "num") for x in sample["label"]}
        assert len(sample["value"]) == len(types), sample
        at = [i for i, v in enumerate(sample["value"]) if v and i]
        assert len(at) <= 1, sample  # the values of other events are 0
        event = labels.get("event") or (types[at[0]][0] if at else types[1][0] if len(types) == 2 else None)
        stack = [names[x] for x in reversed(sample["location_id"])]
        key = tuple([labels.get("comm", "?"), f"pid {as_signed(labels.get('pid', -1))}",
                     f"tid {as_signed(labels.get('tid', -1))}"])
        sums[0][key + (event,) + tuple(stack)] += sample["value"][0]
        for i in at:
            sums[1][key + (event,) + tuple(stack)] += sample["value"][i]
    return sums


def as_signed(n):
    return n - (1 << 32) if n >= 1 << 31 else n


def without_event(sums):
    out = collections.Counter()
    for key, n in sums.items():
        out[key[:3] + key[4:]] += n
    return out


def are_ends(ours, wanted):
    """Whether all that differs is who ends: the kernel does not say any more which thread sched_switch is of when one
    ends.  The forms that show time take it from the fields of the tracepoint."""
    unknown = all("sched:sched_switch" in key and (key[0] is None or "tid -1" in key) for key in wanted)
    return unknown and all("sched:sched_switch" in key for key in ours) and sum(ours.values()) == sum(wanted.values())


def same(what, ours, wanted):
    if +ours != +wanted:
        a, b = ours - wanted, wanted - ours
        if what in ("firefox: samples", "chrome: samples", "perfetto: samples", "speedscope: samples", "speedscope: period") and are_ends(a, b):
            counted["threads that end"] += sum(a.values())
            return None
        return f"{what}: {list(a.items())[:2]} and not {list(b.items())[:2]}"
    counted[what] += sum(wanted.values()) if "samples" in what else len(wanted)
    return None


def check_speedscope(data, periods):
    s = json.loads(data)
    assert s["$schema"] == "https://www.speedscope.app/file-format-schema.json"
    frames = [f["name"] for f in s["shared"]["frames"]]
    assert all(isinstance(n, str) for n in frames)
    functions = {(f["name"], f.get("file")) for f in s["shared"]["frames"]}
    threads = sum("file" not in f and re.search(r" -?\d+/-?\d+( \[\d+\])?$", f["name"]) is not None for f in s["shared"]["frames"])
    assert len(functions) >= len(frames) - threads
    sums, all_ = collections.Counter(), collections.Counter()
    for p in s["profiles"]:
        assert p["type"] == "sampled" and p["unit"] in ("none", "nanoseconds") and p["startValue"] == 0
        assert p["unit"] == "none" or periods
        assert len(p["samples"]) == len(p["weights"]) and sum(p["weights"]) == p["endValue"]
        m = re.fullmatch(r"(?s)(.*) (-?\d+)/(-?\d+)(?: \[\d+\])? (.*?)", p["name"])
        if p["name"].startswith("all "):  # of all threads: a frame for each stands below its stacks
            for stack, weight in zip(p["samples"], p["weights"]):
                m = re.fullmatch(r"(?s)(.*) (-?\d+)/(-?\d+)(?: \[\d+\])?", frames[stack[0]])
                all_[(m[1], f"pid {m[2]}", f"tid {m[3]}", p["name"][4:]) + tuple(frames[i] for i in stack[1:])] += weight
            continue
        for stack, weight in zip(p["samples"], p["weights"]):
            key = (m[1], f"pid {m[2]}", f"tid {m[3]}", m[4]) if m else (p["name"],)
            sums[key + tuple(frames[i] for i in stack)] += weight
    assert all(sums[key] == n for key, n in all_.items()), [(k, n, sums[k]) for k, n in all_.items() if sums[k] != n][:3]
    return sums


def by_comm(path):
    """{(comm, event): samples} as `perfile stats` counts them."""
    output = run(PERFILE, "stats", "--json", "--by", "comm,event", "--type", "SAMPLE", path)[1]
    sums = collections.Counter()
    for row in json.loads(output)["rows"]:
        sums[(row["comm"], row["event"])] += row["samples"]
    return sums


def as_stats(sums):
    """Exports call a thread without a name :TID, `stats` does not name it."""
    out = collections.Counter()
    for (comm, event), n in sums.items():
        out[(None if comm and re.fullmatch(r":-?\d+", comm) else comm, event)] += n
    return out


def compare_perfetto(path, samples):
    """Perfetto names threads, not samples: the sums are those of folded lines without the names."""
    wanted = collections.Counter()
    for key, n in samples.items():
        wanted[key[1:]] += n
    ours = check_perfetto(decode(export(path, "perfetto"), "perfetto.protos.Trace", "export_perfetto.proto"), counted)
    return same("perfetto: samples", ours, wanted)


def compare_time(path, wanted):
    """The forms that show time, against `perfile stats`."""
    events = sorted({event for _, event in wanted if event})
    by_event = collections.Counter()
    for (_, event), n in wanted.items():
        by_event[event] += n
    counted["firefox: events that are markers"] += check_firefox_joined(export(path, "firefox"), by_event)
    wanted = as_stats(wanted)
    return [same("firefox: samples", as_stats(check_firefox(export(path, "firefox", "--per", KEYS), events)), wanted),
            same("chrome: samples", as_stats(check_chrome(export(path, "chrome"), counted)), wanted)]


def compare(path):
    samples, periods = folded(path, "samples"), folded(path, "period")
    if samples is None or periods is None:
        counted["captures that cannot be exported"] += 1
        return []
    counted["captures"] += 1
    results = []
    named = all(re.match(r"pid -?\d", k[1]) and int(k[1][4:]) >= 0 and int(k[2][4:]) >= 0 for k in samples)
    if named:
        for sums, weight in ((samples, "samples"), (periods, "period")):
            ours = check_speedscope(export(path, "speedscope", "--weight", weight), weight == "period")
            results.append(same("speedscope: " + weight, ours, sums))
    results += compare_time(path, by_comm(path))
    if PROTOC:
        profile = decode_pprof(export(path, "pprof", "--per", KEYS))
        check_hosts(path, profile)
        ours = check_pprof(profile)
        apart = all(k[3] is not None for k in ours[0])
        results.append(same("pprof: samples", ours[0] if apart else without_event(ours[0]),
                            samples if apart else without_event(samples)))
        results.append(same("pprof: period", ours[1], periods))
        results.append(compare_perfetto(path, samples))
    return [r for r in results if r]


def main():
    failed = False
    for path, name in captures():
        if len(sys.argv) > 1 and sys.argv[1] not in name:
            continue
        for result in compare(path):
            print(f"FAILED {name}: {result}")
            failed = True
    print(dict(counted))
    for what, least, own in (("captures", 150, 30), ("speedscope: samples", 1000, 500), ("firefox: samples", 1000, 500),
                             ("chrome: samples", 1000, 500), ("chrome: slices", 20, 5), ("chrome: values", 20, 5)):
        if not enough(what, counted[what], least, own):
            failed = True
    if PROTOC and not enough("perfetto: payloads", counted["perfetto: payloads"], 160, 8):
        failed = True
    sys.exit(failed)


main()

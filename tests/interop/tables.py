"""tables.py NPM: see tables.sh.  What the rows have to be is in tables_expected.py."""
import collections
import glob
import json
import os
import re
import struct
import subprocess
import sys

import xxh3
from captures import CORPUS, PERFILE, SOURCE, captures, run
from chosen import chosen, CASES
from enough import enough
from tables_expected import Capture, text

NPM = sys.argv[1]
MOST_BYTES = 200_000
counted = collections.Counter()
failed = collections.Counter()
node = subprocess.Popen(["node", os.path.join(SOURCE, "tests/interop/tables.mjs"), NPM], stdin=subprocess.PIPE,
                        stdout=subprocess.PIPE, text=True)


class Differs(Exception):
    """A table is not what it should be."""


def ask(**request):
    node.stdin.write(json.dumps(request) + "\n")
    node.stdin.flush()
    return json.loads(node.stdout.readline())


def rows_of(file):
    """The rows of a Parquet file, as dicts; three readers agree on them."""
    got = ask(file=file)
    if "error" in got:
        raise Differs("%s: %s" % (file, got["error"][:600]))
    if got["differs"]:
        raise Differs("%s: %s" % (file, got["differs"]))
    counted["values"] += len(got["columns"]) * len(got["rows"])
    return [dict(zip(got["columns"], row)) for row in got["rows"]]


def export(path, out, *options):
    """All tables of a capture by name, and how the export ended."""
    status, _, errors = run(PERFILE, "export", "--to", "parquet", "-o", out, *options, path)
    tables = {}
    for file in sorted(glob.glob(glob.escape(out) + "/**/*.parquet", recursive=True)):
        parts = file[len(out) + 1:].split("/")
        name = parts[0] if parts[0] != "tracepoints" else "tracepoints/" + re.sub(
            "%(..)", lambda m: chr(int(m[1], 16)), parts[1][len("event="):])
        tables[name] = rows_of(file)
    return status, errors, tables


def same(table, got, wanted, *, key=None, skip=()):
    """Compares rows; those of `wanted` have all columns but those of `skip`."""
    if key:
        got, wanted = sorted(got, key=key), sorted(wanted, key=key)
    for i, (a, b) in enumerate(zip(got, wanted)):
        missing = set(a) - set(b) - set(skip) - {"capture_id"}
        if missing or set(b) - set(a):
            raise Differs("%s: columns %s" % (table, sorted(missing) + sorted(set(b) - set(a))))
        for k, value in b.items():
            if a[k] != value and not (isinstance(value, float) and a[k] is not None and abs(a[k] - value) <= 1e-12 * abs(value)):
                raise Differs("%s: row %d, %s: %r, not %r\n    %r" % (table, i, k, a[k], value, b))
            compared[table, k] += value is not None and value != []
    if len(got) != len(wanted):
        raise Differs("%s: %d rows, not %d" % (table, len(got), len(wanted)))
    counted["rows"] += len(got)


compared = collections.Counter()  # values that are not null, by column
ANY = lambda row: json.dumps({k: v for k, v in row.items() if k != "capture_id"}, sort_keys=True)


def check(ok, *what):
    if not ok:
        raise Differs(" ".join(map(str, what)))


def only(row, *names):
    return {n: row[n] for n in names}


def check_samples(c, tables):
    late = "module", "function", "frame_id", "stack_id", "stack_status"
    rows, frames = tables["samples"], {f["frame_id"] for f in tables["frames"]}
    got = []
    for row in rows:
        row = dict(row)
        for b in row["branches"] or []:
            check(b["from_frame"] in frames and b["to_frame"] in frames, "samples: frames of a branch are missing", b)
        row["branches"] = row["branches"] and [only(b, "from", "to", "mispredicted", "cycles") for b in row["branches"]]
        row["registers"] = row["registers"] and [r["value"] for r in row["registers"]]
        got.append(row)
    same("samples", got, c.sample_rows(), key=lambda r: r["record"], skip=late[1:])
    if [r["record"] for r in rows] != sorted(r["record"] for r in rows):
        raise Differs("samples: not in order of records")
    return rows


def check_ids(c, tables):
    """Ids are hashes of what they stand for, and each is there."""
    modules, frames, stacks = {}, {}, {}
    names = collections.defaultdict(set)
    for m in tables["modules"]:
        if m["module_id"] != xxh3.module_id(bytes.fromhex(m["build_id"] or ""), m["path"]):
            raise Differs("modules: id of %r" % m)
        modules[m["module_id"]] = m
    for f in tables["frames"]:
        modes = ["jit", "user"] if f["mode"] == "user" else [f["mode"] or "unknown"]
        if not f["inlined"] and f["frame_id"] not in [xxh3.frame_id(f["module_id"] or 0, f["offset"], m) for m in modes]:
            raise Differs("frames: id of %r" % f)
        if f["module_id"] is not None and (f["module_id"] not in modules or f["kind"] == "unknown" != modules[f["module_id"]]["kind"]):
            raise Differs("frames: module of %r" % f)
        if f["module_id"] is not None and modules[f["module_id"]]["build_id"] != f["build_id"]:
            raise Differs("frames: build id of %r" % f)
        frames[f["frame_id"]] = f
        names[f["frame_id"]].add((f["module"], f["function"]))  # files of one build id may have several names
    for s in tables["stacks"]:
        if s["stack_id"] != xxh3.stack_id(s["frames"]) and not s["truncated"] or s["depth"] != len(s["frames"]) or not s["frames"]:
            raise Differs("stacks: %r" % s)
        if not all(f in frames for f in s["frames"]):
            raise Differs("stacks: a frame of %r is missing" % s)
        stacks[s["stack_id"]] = s
    used = {r["stack_id"] for t, rows in tables.items() if t == "samples" or t.startswith("tracepoints/") for r in rows} - {None}
    if used != set(stacks):
        raise Differs("stacks: %d are used, %d there" % (len(used), len(stacks)))
    for r in tables["samples"]:
        if r["ip"] is None:
            continue
        if (r["module"], r["function"]) not in names[r["frame_id"]]:
            raise Differs("samples: frame of %r: %r" % (r, names[r["frame_id"]]))
    counted["frames"] += len(frames)
    return frames, stacks


class Places:
    """Where addresses are in files, by the list of mappings."""

    def __init__(self, c):
        self.of = collections.defaultdict(list)
        for m in c.mapping_rows():
            if m["file_offset"] is not None:
                self.of[m["path"]].append(m)

    def offsets(self, module, ip):
        """Offsets that an address may have; a process has the mappings of its parent, too."""
        return {m["file_offset"] + ip - m["start"] for m in self.of[module] if m["start"] <= ip < (m["end"] or 2**64)}


def by_time(c, rows):
    """Rows of samples in the order of `script`."""
    of = {r["record"]: r for r in rows}
    return [of[r["index"]] for r in c.by_time(c.samples())]


def check_stacks(c, tables, frames, stacks):
    """Frames of samples are the addresses of the record, and names those of `script`."""
    by_record, places = {r["index"]: r for r in c.samples()}, Places(c)
    script = c.script()
    rows = by_time(c, tables["samples"])
    if script is not None and not c.damaged:
        if len(script) != len(rows):
            script = None  # events without an address have no line
    for i, row in enumerate(rows):
        r = by_record[row["record"]]
        chain = c.chain_of(r)
        stack = stacks[row["stack_id"]] if row["stack_id"] is not None else None
        status = row["stack_status"]
        if chain is not None:
            want = "recorded" if r["body"].get("callchain") else None
            if status not in (want, "unreadable"):
                raise Differs("samples: stack_status of %r: not %r" % (row, want))
        if (stack is None) != (status is None) and not (stack is None and chain == []):
            raise Differs("samples: %r has no stack, or no status" % row)
        got = [frames[f] for f in stack["frames"]] if stack else []
        if chain and status == "recorded":
            if chain[-1] == 0:  # it ends the chain
                chain.pop()
            if len(got) != len(chain):
                raise Differs("samples: %d frames, not %d: %r" % (len(got), len(chain), row))
            for f, ip in zip(got, chain):
                if f["module"] is None and f["offset"] != ip:
                    raise Differs("samples: a frame without a module at %x: %r" % (ip, f))
                if f["kind"] == "elf" and f["offset"] not in places.offsets(f["module"], ip):
                    raise Differs("samples: offset of %x: %r" % (ip, f))
                counted["offsets"] += 1
        if script:
            time, tid, names = script[i]
            if row["time"] is not None and time != row["time"] or tid != row["tid"]:
                script = None
                continue
            mine = [(f["function"], f["module"]) for f in got]
            if not got and row["ip"] is not None:
                mine = [(row["function"], row["module"])]
            if len(mine) == len(names):
                for a, b in zip(mine, names):
                    if a[0] != b[0] and not (a[0] is None or "@" in (b[0] or "")):
                        raise Differs("samples: function %r, script has %r: %r" % (a, b, row))
                    # perf calls modules of the kernel [NAME].
                    if a[1] != b[1] and a[1] and b[1] and not b[1].startswith("["):
                        raise Differs("samples: module %r, script has %r: %r" % (a, b, row))
                    counted["names"] += a[0] is not None
            elif chain:
                raise Differs("samples: %d frames, script has %d: %r" % (len(mine), len(names), row))


def check_threads(c, tables):
    same("threads", tables["threads"], c.thread_rows(tables["samples"]), key=ANY)
    same("comms", tables["comms"], c.comm_rows(), key=ANY)
    got = tables["mappings"]
    same("mappings", got, c.mapping_rows(), key=lambda r: ANY({k: v for k, v in r.items() if k != "module_id"}), skip=("module_id",))
    modules = {m["module_id"] for m in tables["modules"]}
    for m in got:
        if m["module_id"] is not None and m["module_id"] not in modules and m["module_id"] != xxh3.module_id(None, m["path"]):
            counted["modules without a frame"] += 1
    counted["mappings"] += len(got)


def check_switches(c, tables):
    wanted = []
    for time, r, cpu, source, gone, came in c.switches():
        tracked = r["type"] == 9
        row = {"time": time, "cpu": cpu, "source": "sched_switch" if tracked else "switch",
               "preempted": gone[3] if gone else None}
        for name, who in ("prev", gone), ("next", came):
            row[name + "_pid"], row[name + "_tid"] = who[:2] if who else (None, None)
        wanted.append(row)
    key = lambda r: json.dumps([r["time"], r["cpu"], r["prev_tid"], r["next_tid"], r["source"], r["preempted"]])
    same("switches", tables["switches"], wanted, key=key, skip=("prev_comm", "next_comm"))
    # Names are those of the record; of the other thread of SWITCH_CPU_WIDE they are not looked at.
    said = collections.Counter()
    for time, r, cpu, source, gone, came in c.switches():
        own = text(r.get("comm")), None
        names = (gone[2], came[2]) if r["type"] == 9 else own if r["misc"] & 1 << 13 else own[::-1]
        said[(time, cpu) + names] += 1
    got = collections.Counter()
    for row in tables["switches"]:
        names = row["prev_comm"], row["next_comm"]
        if row["source"] == "switch":
            names = (names[0], None) if row["preempted"] is not None else (None, names[1])
        got[(row["time"], row["cpu"]) + names] += 1
    if said != got:
        raise Differs("switches: names: %r, not %r" % (list(got - said)[:3], list(said - got)[:3]))
    wanted = [dict(zip(("cpu", "pid", "tid", "comm", "start", "duration", "end_reason"), s)) for s in c.slices()]
    same("slices", tables["slices"], wanted, key=lambda r: json.dumps([r["start"], r["cpu"], r["tid"], r["duration"]]))
    counted["slices"] += len(wanted)


def check_tracepoints(c, tables):
    fixed = "capture_id record time wall cpu pid tid comm stack_id".split()
    rows = {r["record"]: r for r in tables["samples"]}
    found = 0
    by_index = {r["index"]: r for r in c.samples()}
    for name, table in tables.items():
        if not name.startswith("tracepoints/"):
            continue
        for t in table:
            r = by_index[t["record"]]
            for k in fixed[1:]:
                if t[k] != rows[t["record"]][k]:
                    raise Differs("%s: %s of %r" % (name, k, t))
            if c.event_of(r)["attr"]["type"] != 2:
                raise Differs("%s: %r is no tracepoint" % (name, t))
            found += 1
            said = r.get("tracepoint")
            columns = {k for k in t if k not in fixed}
            if said is None:
                continue
            for field, value in said.items():
                column = next((x for x in (field, "field_" + field, "field_field_" + field) if x in columns), None)
                if column is None or isinstance(value, dict) and "hex" not in value:
                    continue  # structures, and names that are no column
                if not same_field(t[column], value):
                    raise Differs("%s: %s: %r, not %r" % (name, column, t[column], value))
                counted["fields"] += 1
    wanted = sum(e is not None and e["attr"]["type"] == 2 for e in map(c.event_of, c.samples()))
    if found != wanted:
        raise Differs("tracepoints: %d rows, not %d" % (found, wanted))


def same_field(got, value):
    if isinstance(value, dict):
        return got == text(value)
    if isinstance(value, list):
        return got is not None and len(got) == len(value) and all(same_field(a, b) for a, b in zip(got, value))
    if isinstance(value, str) and not isinstance(got, str) and got is not None:
        try:
            return got % 2**64 == int(value, 0) % 2**64
        except ValueError:
            return False
    return got == value or value == "\0" and got == "\\x00"  # not all engines can have a NUL in a text


def check_rest(c, tables):
    same("events", tables["events"], c.event_rows(), key=lambda r: r["event_index"])
    same("lost", tables["lost"], c.lost_rows(), key=lambda r: r["record"])
    same("aux", tables["aux"], c.aux_rows(), key=lambda r: r["record"])
    same("counters", tables["counters"], c.counter_rows(), key=ANY)
    known = {r["cpu"] for r in tables["cpus"]}  # `list cpus` has those, too, that records name only
    same("cpus", tables["cpus"], [r for r in c.cpu_rows() if r["cpu"] in known], key=lambda r: r["cpu"], skip=("online",))
    count = c.features.get("NRCPUS")
    if count and known and count["nr_cpus_avail"] == count["nr_cpus_online"]:
        check(all(r["online"] for r in tables["cpus"]), "cpus: not online:", tables["cpus"])
    capture, = tables["captures"]
    want = c.capture_row()
    same("captures", [capture], [want], skip=("captured_at", "perfile_version", "schema_version"))
    if capture["captured_at"] is None or abs(capture["captured_at"] * 1000 - int(c.info["captured"]["time"])) > 10**9:
        raise Differs("captures: captured_at is %r, info says %r" % (capture["captured_at"], c.info["captured"]))
    kinds = c.info["damage"]["kinds"]
    wanted = collections.Counter({k["name"]: k["count"] for k in kinds}) - c.bad_features
    got = collections.Counter(d["damage"] for d in tables["damages"])
    if got != wanted:
        raise Differs("damages: %r, not %r" % (got, wanted))
    offsets = {int(k["offset"]) for k in kinds if k["name"] in wanted and k["name"] not in c.bad_features}
    if not offsets <= {d["offset"] for d in tables["damages"]}:
        raise Differs("damages: at %r, not %r" % ([d["offset"] for d in tables["damages"]], offsets))
    ids = {r["capture_id"] for rows in tables.values() for r in rows if "capture_id" in r}
    if len(ids) > 1 or not re.fullmatch("[0-9a-f]{32}", capture["capture_id"]):
        raise Differs("capture_id: %r" % ids)


def check_capture(path, name, *options):
    c = Capture(path, *options)
    if not c.ok:
        counted["unreadable"] += 1
        return
    counted["captures"] += 1
    out = "out-%d" % counted["captures"]
    status, errors, tables = export(path, out, "--wide", "--on-damage", "salvage", *options)
    try:
        if status not in (0, 3):
            raise Differs("export: %d %s" % (status, errors[:400]))
        check_samples(c, tables)
        frames, stacks = check_ids(c, tables)
    except Differs as e:
        report(name, e)
        return
    for check in (lambda c, t: check_stacks(c, t, frames, stacks)), check_threads, check_switches, check_tracepoints, check_rest:
        try:
            check(c, tables)
        except Differs as e:
            report(name, e)
    return tables


def report(name, error):
    failed[name] += 1
    print("%s: %s" % (name, error))


def files_of(out):
    """The contents of all files of a folder."""
    return {file: open(file, "rb").read() for file in glob.glob(glob.escape(out) + "/**/*.parquet", recursive=True)}


def check_again():
    """Exporting twice changes no number and no file of another capture; one table to a pipe has the same rows."""
    own = os.path.join(SOURCE, "samples/captures/")
    one, other = own + "callgraph.data", own + "switch.data"
    for path in one, other:
        export(path, "again")
    before = files_of("again")
    _, _, tables = export(one, "once")
    check(len(before) == 2 * len(files_of("once")), len(before), "files of two captures")
    export(one, "again")
    check(files_of("again") == before, "a second export changes files")
    rows = ask(query="select count(*), sum(period) from read_parquet('again/samples/*/*/*.parquet')")["rows"][0]
    sums = [ask(query="select count(*), sum(period) from read_parquet('%s')" % f)["rows"][0] for f in before if "/samples/" in f]
    check(rows == [sum(x) for x in zip(*sums)], "sums of both captures are", rows, "not", sums)
    for table in tables:
        with open("piped.parquet", "wb") as f:
            subprocess.run([PERFILE, "export", "--to", "parquet", "--tables", table, "-o", "-", one], check=True, stdout=f,
                           stderr=subprocess.DEVNULL)
        check(rows_of("piped.parquet") == tables[table], table, "to a pipe differs")
    _, _, wide = export(one, "wide", "--wide", "--label", "service=web", "--label", "zone=")
    check(wide["captures"][0]["labels"] == [{"key": "service", "value": "web"}, {"key": "zone", "value": ""}], wide["captures"])
    check([{k: v for k, v in row.items() if k not in ("branches", "registers")} for row in wide["samples"]] ==
          [{k: v for k, v in row.items() if k not in ("branches", "registers")} for row in tables["samples"]], "--wide differs")


def made(n):
    """A capture of n samples, whose times ascend."""
    attr = struct.pack("<IIQQQQQ", 1, 112, 0, 1, 1 | 2 | 4, 0, 1 << 18).ljust(112, b"\0") + struct.pack("<QQ", 0, 0)
    records = b"".join(struct.pack("<IHHQIIQ", 9, 2, 32, 0x400000 + i % 64, 7, 7 + i % 3, 1_000_000 + 1000 * i) for i in range(n))
    return struct.pack("<QQQQQQQQQ", 0x32454C4946524550, 104, 128, 104, 128, 232, len(records), 0, 0).ljust(104, b"\0") + attr + records


def made_memory(n):
    """A capture of n accesses to memory, with words of all kinds."""
    kind = 1 | 2 | 4 | 8 | 1 << 24 | 1 << 15 | 1 << 17 | 1 << 19 | 1 << 22 | 1 << 23
    attr = struct.pack("<IIQQQQQ", 4, 128, 0x1CD, 1, kind, 0, 1 << 18).ljust(128, b"\0") + struct.pack("<QQ", 0, 0)
    records, x = b"", 1
    for i in range(n):
        x = x * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
        word = x >> 13 if i >= 64 else 1 << i  # each bit alone, then any
        body = struct.pack("<QIIQQIHHQQQQQ", 0x400000 + i, 7, 7, 1000 + i, x, x >> 40 & 0xFFFF, x >> 20 & 0xFFFF, 3, word, x >> 7,
                           x ^ 0xFF, 4096 << i % 3, 4096 << i % 2)
        records += struct.pack("<IHH", 9, 2, 8 + len(body)) + body
    return struct.pack("<QQQQQQQQQ", 0x32454C4946524550, 104, 144, 104, 144, 248, len(records), 0, 0).ljust(104, b"\0") + attr + records


def check_memory():
    with open("memory.data", "wb") as f:
        f.write(made_memory(400))
    check_capture("memory.data", "memory.data")


def check_groups():
    """A filter by time needs one row group in three."""
    n = 300_000
    with open("many.data", "wb") as f:
        f.write(made(n))
    status, _, errors = run(PERFILE, "export", "--to", "parquet", "--tables", "samples", "-o", "many.parquet", "many.data")
    check(status == 0, errors)
    groups = ask(query="select row_group_id, row_group_num_rows, stats_min_value::bigint, stats_max_value::bigint from "
                 "parquet_metadata('many.parquet') where path_in_schema = 'time' order by 1")["rows"]
    check(len(groups) >= 3 and sum(g[1] for g in groups) == n, groups)
    check(all(a[3] < b[2] for a, b in zip(groups, groups[1:])), "row groups overlap in time:", groups)
    least, most = 1_000_000 + 1000 * (n - 500), 1_000_000 + 1000 * (n - 400)
    needed = [g for g in groups if g[2] <= most and g[3] >= least]
    check(len(needed) == 1, len(needed), "row groups are needed")
    rows = ask(query="select count(*), min(record), max(tid) from 'many.parquet' where time between %d and %d" % (least, most))["rows"]
    check(rows == [[101, n - 500, 9]], rows)


def check_converted(path, name):
    """The other byte order changes no row but what says so."""
    status, _, errors = run(PERFILE, "convert", "--byte-order", "big", "-o", "swapped.data", path)
    check(status == 0, errors)
    tables = [export(p, "swapped-%d-%d" % (counted["swapped"], i))[2] for i, p in enumerate((path, "swapped.data"))]
    os.remove("swapped.data")
    counted["swapped"] += 1
    for table in set(tables[0]) - {"captures"}:
        rows = [[{k: v for k, v in row.items() if k != "capture_id"} for row in t[table]] for t in tables]
        check(rows[0] == rows[1], table, "differs in the other byte order")


def check_stored(name, *command):
    """A capture in another form has the same rows; perfile COMMAND makes it."""
    path, out = os.path.join(SOURCE, "samples/captures/", name), "stored-" + name
    status, _, errors = run(PERFILE, *command, "-o", out, path)
    check(status in (0, 3), command, errors)
    tables = [export(p, out + "-%d" % i)[2] for i, p in enumerate((path, out))]
    differ = "capture_id", "file", "bytes", "form", "captured_at"
    for table in tables[0]:
        rows = [[{k: v for k, v in row.items() if k not in differ} for row in t[table]] for t in tables]
        check(rows[0] == rows[1], command, table, "differs")
    counted["stored"] += 1


def check_recorded():
    """A capture that perf makes now."""
    if run("perf", "record", "-q", "-e", "cpu-clock", "-g", "--switch-events", "-o", "new.data", "--", "sh", "-c", "ls -R /usr/lib | wc -l")[0]:
        print("not tried: a new recording: perf does not record")
        return
    check_capture("new.data", "new.data")


def check_hostile():
    """Whatever is written of damaged captures is read, and refers to what is there."""
    base = open(os.path.join(SOURCE, "samples/captures/group.data"), "rb").read()
    for seed in range(24):
        data = bytearray(base[:len(base) - (seed * 97 if seed % 2 else 0)])
        x = seed + 1
        for _ in range(1 + seed % 6):
            x = x * 6364136223846793005 + 1442695040888963407 & 2**64 - 1
            data[104 + (x >> 33) % (len(data) - 104)] = x >> 24 & 0xFF
        with open("damaged.data", "wb") as f:
            f.write(data)
        status, _, tables = export("damaged.data", "damaged-%d" % seed, "--on-damage", "salvage")
        if tables:
            counted["damaged"] += 1
            check_ids(None, tables)


def guarded(name, function, *arguments):
    try:
        function(*arguments)
    except Differs as e:
        report(name, e)


def main():
    for path, name in captures():
        if os.path.getsize(path) <= MOST_BYTES and chosen():
            guarded(name, check_capture, path, name)
    for name in "fields", "tracepoints", "group", "switch":
        if chosen():
            guarded(name, check_converted, os.path.join(SOURCE, "samples/captures/%s.data" % name), name)
    guarded("archive", check_stored, "callgraph.data", "convert", "--to", "archive")
    for name in "perfmon-all.cpuperf", "perfmon-sampling.cpuperf":
        guarded(name, check_stored, name, "convert")
    for function in check_again, check_memory, check_groups, check_recorded, check_hostile:
        guarded(function.__name__, function)
    print(dict(counted))
    never = sorted("%s.%s" % k for k, n in compared.items() if not n)
    print("never with a value:", " ".join(never))
    return bool(failed) or not enough("captures", counted["captures"], 90 // CASES, 25 // CASES)


sys.exit(main())

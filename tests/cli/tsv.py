"""tsv.py COMMAND SAMPLES CORPUS: compares `dump --format tsv` with `dump --format jsonl --resolve`, of our
captures and of those of the corpus that are small.  For tests/cli/tsv.sh."""
import collections
import glob
import json
import os
import re
import shutil
import subprocess
import sys

COMMAND, SAMPLES, CORPUS = sys.argv[1:4]
LARGE = 1 << 20
FIELDS = ["sequence", "offset", "type", "misc", "size", "event", "comm", "dso", "identifier", "ip", "pid", "tid",
          "time", "addr", "id", "stream_id", "cpu", "period", "values.value", "callchain", "raw", "weight.full",
          "data_src", "data_src.op", "data_src.mem_lvl_num", "weight", "phys_addr", "cgroup", "stack_user.size", "regs_user.abi", "regs_user.regs", "filename",
          "ppid", "len", "mmap2.addr", "comm.pid", "sample_id.time", "lost", "fork.ptid", "link_info"]
FIELDS.remove("link_info")  # a list of structs is no column
counted = collections.Counter()


def run(*arguments):
    r = subprocess.run([COMMAND, *arguments], capture_output=True)
    return r.returncode, r.stdout, r.stderr


def text(value):
    """A value of jsonl as tsv writes it."""
    if value is None:
        return ""
    if isinstance(value, list):
        return ",".join(map(text, value))
    if isinstance(value, dict):  # no UTF-8
        return escaped(bytes.fromhex(value["hex"]))
    return escaped(str(value).encode())


def escaped(data):
    out = ""
    i = 0
    while i < len(data):
        for n in range(1, 5):
            try:
                c = data[i:i + n].decode()
            except UnicodeDecodeError:
                continue
            break
        else:
            c, n = None, 1
        if c is None or ord(c) < 0x20 or 0x7f <= ord(c) < 0xa0 or c == "\\":
            known = {"\t": "\\t", "\n": "\\n", "\r": "\\r", "\\": "\\\\"}
            out += known.get(c) or "".join(f"\\x{b:02x}" for b in data[i:i + n])
        else:
            out += c
        i += n
    return out


def sought(record, path):
    for word in path.split("."):
        record = record.get(word) if isinstance(record, dict) else None
    return record


def expected(r, field):
    kind = r["name"][len("PERF_RECORD_"):] if r["name"] else str(r["type"])
    body, trailer = r.get("body", {}), r.get("sample_id", {})
    if field in ("offset", "misc", "size"):
        return text(r[field])
    if field == "sequence":
        return text(r["index"])
    if field == "type":
        return kind
    if field == "comm" and kind == "COMM":
        return text(body.get("comm"))
    if field in ("event", "comm", "dso"):
        return text(r.get(field))
    first, _, rest = field.partition(".")
    if first == "sample_id":
        return text(trailer.get(rest))
    if first in ("mmap2", "fork", "comm"):
        return text(sought(body, rest)) if kind == first.upper() else ""
    if field == "weight":
        weights = body.get("weight", {})
        return text(weights.get("full", weights.get("var1_dw")))
    if first == "data_src" and rest:
        shift, width = {"op": (0, 5), "mem_lvl_num": (33, 4)}[rest]
        return text(int(body["data_src"], 16) >> shift & (1 << width) - 1) if "data_src" in body else ""
    value = sought(body, field)
    return text(value if value is not None else sought(trailer, field))


def compare(path, *options):
    status, lines, _ = run("dump", "--format", "jsonl", "--resolve", *options, path)
    if status == 1:
        return
    records = [json.loads(line) for line in lines.splitlines()]
    # With errors jsonl has the bytes of the record; tsv has what could be read.
    wrong = {r["index"] for r in records if r["kind"] == "record" and "error" in r}
    records = [r for r in records if r["kind"] == "record"]
    status, table, errors = run("dump", "--fields", ",".join(FIELDS), *options, path)
    rows = table.decode().split("\n")
    assert rows.pop() == "", path
    assert rows.pop(0) == "\t".join(FIELDS), path
    assert len(rows) == len(records), (path, options, len(rows), len(records), errors)
    for row, record in zip(rows, records):
        cells = row.split("\t")
        assert len(cells) == len(FIELDS), (path, row)
        if record["index"] in wrong:
            continue
        for field, cell in zip(FIELDS, cells):
            if field == "sequence" and not path.startswith(SAMPLES):
                continue  # some others are read otherwise with sense than as stored
            wanted = expected(record, field)
            if wanted == "": # what the record does not have its tracepoint may have
                wanted = str(record.get("tracepoint", {}).get(field, ""))
            if field.split(".")[-1] in ("pid", "tid", "ppid", "ptid") and wanted == "4294967295":
                wanted = "-1"  # tsv shows what is meant, jsonl what is stored
            assert cell == wanted, (path, field, cell, wanted, record)
            counted[field] += wanted != ""
    counted["records"] += len(rows)


def small(folder):
    for path in sorted(glob.glob(folder + "/**/*.data*", recursive=True)):
        if os.path.isfile(path) and os.path.getsize(path) < LARGE and ".jsonl" not in path and \
           not os.path.isfile(os.path.dirname(path) + "/data"):
            yield path


types = "sample,mmap,mmap2,comm,fork,exit,lost,read,throttle,switch,cgroup,namespaces"
n = 0
every = int(os.environ.get("PERFILE_EVERY", "1"))
for i, path in enumerate([*small(SAMPLES), *list(small(CORPUS))[::4]]):
    # jsonl takes a file at its word, tsv mends: damaged and overlapping ones are not alike.
    if i % every or run("dump", "--format", "jsonl", path)[0] != 0:
        continue
    compare(path, "--type", types)
    n += 1
print(f"{n} captures, values compared: " + ", ".join(f"{k} {v}" for k, v in sorted(counted.items())))
for field in ("event", "comm", "dso", "ip", "pid", "time", "period", "callchain", "filename", "ppid", "cpu"):
    assert counted[field] >= 5, field

# Names that would break lines or drive a terminal: in a COMM record, at its place in the file.
shutil.copy(SAMPLES + "/cpu-clock.data", "names.data")
with open("names.data", "r+b") as file:
    data = bytearray(file.read())
    at = data.index(b"helper\0", 424)
    data[at:at + 6] = b"\t\n\\\x1b\xff\r"
    file.seek(0)
    file.write(data)
status, table, _ = run("dump", "--fields", "tid,comm,dso", "names.data")
assert status == 0, status
lines = table.decode().split("\n")
assert all(line.count("\t") == 2 for line in lines[:-1]), lines
assert any("\t\\t\\n\\\\\\x1b\\xff\\r\t" in line for line in lines), lines
assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]", table.decode()), "control characters"

# Several files have one head; without --fields the usual columns are there, of samples alone.
path = SAMPLES + "/cpu-clock.data"
status, table, _ = run("dump", "--format", "tsv", path, path)
lines = table.decode().splitlines()
assert len(lines) == 1 + 2 * 83 and lines[0].split("\t")[:2] == ["time", "comm"], len(lines)
for fields in ("perid", "data_src.opp", "values.cntr", "values", "branch_stack", "branch_stack.lbr", "", "time,", "a" * 100,
               ",".join(["time"] * 65)):
    status, out, errors = run("dump", "--fields", fields, path)
    assert status == 2 and out == b"" and b"--fields" in errors, (fields, status, errors)

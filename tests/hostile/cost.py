"""What every command costs for the worst inputs that are known, against the lines of format/limits.md.

cost.py PERFILE COMMANDS.DEF LIMITS.MD [BYTES]

Each input is made at three sizes (BYTES / 4, BYTES / 2, BYTES), and each command line is run on each: peak memory, processor
time and output have to lie below the lines, and time must not grow faster than the input.  A command that is in commands.def
and has no command line here is an error, and so is one without a row in the table of limits.md.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import threading

import cost_archives
import cost_perfmon
import cost_symbols
import cost_undump
from chosen import CASES, chosen

TID, TIME, CALLCHAIN, ID = 1 << 1, 1 << 2, 1 << 5, 1 << 16
SAMPLE_TYPE = TID | TIME | ID
SANITIZED = "-fsanitize" in os.environ.get("PERFILE_CFLAGS", "")


def attr(sample_type=SAMPLE_TYPE, size=112):
    body = struct.pack("<IIQQQQQ", 1, size, 0, 1, sample_type, 0, 1 << 18)
    return body.ljust(size, b"\0")


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def trailer(pid, tid, time):
    return struct.pack("<IIQQ", pid, tid, time, 7)


def text(s):
    s = s.encode() + b"\0"
    return s + b"\0" * (-len(s) % 8)


def sample(pid, tid, time):
    return record(9, 2, struct.pack("<QIIQ", 7, pid, tid, time))


def mmap2(pid, addr, name, time, length=0x1000):
    return record(10, 2, struct.pack("<IIQQQIIQQII", pid, pid, addr, length, 0, 8, 1, 1, 0, 5, 2) + text(name) + trailer(pid, pid, time))


def comm(pid, tid, name, time):
    return record(3, 0, struct.pack("<II", pid, tid) + text(name) + trailer(pid, tid, time))


def fork(pid, ppid, tid, ptid, time):
    return record(7, 0, struct.pack("<IIIIQ", pid, ppid, tid, ptid, time) + trailer(pid, tid, time))


def header_attr(ids, sample_type=SAMPLE_TYPE):
    return record(64, 0, attr(sample_type) + struct.pack("<%dQ" % len(ids), *ids))


def chains(size, words, address, *before):
    """Samples with call chains, of which none is like another; `address(i, k)`: entry k of chain i."""
    out, n, i = [header_attr([8], SAMPLE_TYPE | CALLCHAIN), *before], 0, 0
    while n < size:
        r = record(9, 2, struct.pack("<QIIQQ", 8, 1, 1, i, words) + struct.pack(
            "<%dQ" % words, *(address(i, k) for k in range(words))))
        out.append(r)
        n += len(r)
        i += 1
    return b"PERFILE2" + struct.pack("<Q", 16) + b"".join(out)


def pipe(*records):
    return b"PERFILE2" + struct.pack("<Q", 16) + header_attr([7]) + b"".join(records)


def fill(size, make):
    """A pipe of the records make(0), make(1) ... up to that size."""
    out, n, i = [], 0, 0
    while n < size:
        r = make(i)
        out.append(r)
        n += len(r)
        i += 1
    return pipe(*out)


def file_of(attrs, ids, features, payload, records=b""):
    """A file: attrs with their id sections (places in `ids`), features with theirs (places in `payload`)."""
    entry = 112 + 16
    at_ids = 104 + entry * len(attrs)
    at_data = at_ids + len(ids)
    behind = at_data + len(records) + 16 * len(features)
    bits = 0
    for number, _, _ in features:
        bits |= 1 << number
    words = struct.pack("<8Q", 104, entry, 104, entry * len(attrs), at_data, len(records), 0, 0)
    out = b"PERFILE2" + words + bits.to_bytes(32, "little")
    out += b"".join(attr() + struct.pack("<QQ", at_ids + offset, size) for offset, size in attrs)
    out += ids + records
    out += b"".join(struct.pack("<QQ", behind + offset, size) for _, offset, size in features)
    return out + payload


def shared_ids(size):
    n = size // 2 // 8
    ids = struct.pack("<%dQ" % n, *range(1, n + 1))
    return file_of([(0, len(ids))] * (size // 2 // 128), ids, [], b"", sample(1, 1, 1))


def shared_features(size):
    return file_of([(0, 8)], struct.pack("<Q", 7), [(number, 0, size) for number in range(2, 250)], b"\xaa" * size, sample(1, 1, 1))


def many_events(size):
    return file_of([(8 * i, 8) for i in range(size // 136)], struct.pack("<%dQ" % (size // 136), *range(1, size // 136 + 1)), [], b"",
                   sample(1, 1, 1))


def one_number(size):
    """Thousands of processes with one thread number, and as many names of it."""
    return fill(size, lambda i: comm(i // 2 + 1, 7, "n%d" % i, i) if i % 2 else sample(i // 2 + 1, 7, i))


def cpu_ranges(size):
    """Events that name 65536 processors each, in a few bytes."""
    def make(i):
        return header_attr([i + 8]) + record(78, 0, struct.pack("<QQHBBHH", 3, i + 8, 2, 0, 0, 0, 65535).ljust(24, b"\0"))
    return fill(size, make)


def threads_and_mappings(size):
    """Threads of one process that has all the mappings: each part of a split needs them all."""
    half = fill(size // 2, lambda i: mmap2(1, 0x1000 * i, "/lib/%d" % i, 1))
    return half + b"".join(sample(1, i + 1, 9) for i in range(size // 2 // 32))


def long_names(size):
    """A thread and a file of long names, which each sample belongs to."""
    before = [comm(1, 1, "c" * min(size // 4, 60000), 0), mmap2(1, 0x10000, "/" + "m" * min(size // 8, 60000), 0)]
    return chains(size // 2, 2, lambda i, k: 0x10000 + i % 4096, *before)


def counters(size):
    """Counts of perf stat of many threads and processors, each in an interval of its own."""
    threads = [(i, b"t%d" % i) for i in range(size // 96)]
    out = [record(73, 0, struct.pack("<Q", len(threads[:2700])) + b"".join(struct.pack("<Q16s", *t) for t in threads[:2700]))]
    for i in range(size // 96):
        out.append(record(76, 0, struct.pack("<QIIQQQ", 7, i * 31 % 4093, i % 2700, i, i + 2, i + 1)))
        out.append(record(77, 0, struct.pack("<QQ", 0, i + 1)))
    return b"PERFILE2" + struct.pack("<Q", 16) + header_attr([7]) + b"".join(out)


def sampled(size, mapping, where):
    """Half of it mappings, `mapping(i)`, half samples of two addresses, `where(i, n)`: process and address of sample i, of n
    mappings."""
    out, n, m = [], 0, 0
    while n < size // 2:
        out.append(mapping(m))
        n += len(out[-1])
        m += 1
    for i in range(size // 2 // 56):
        pid, address = where(i, m)
        out.append(record(9, 2, struct.pack("<QIIQQQQ", 8, pid, pid, m + i, 2, address, address + 8)))
    return b"PERFILE2" + struct.pack("<Q", 16) + header_attr([8], SAMPLE_TYPE | CALLCHAIN) + b"".join(out)


def described(formats, payloads, system=b"big"):
    """A pipe with descriptions of tracepoints 1, 2 ..., and samples of them: (number, payload)."""
    kind = TID | TIME | ID | 1 << 10
    out = []
    for i in range(len(formats)):
        body = struct.pack("<IIQQQQQ", 2, 112, i + 1, 1, kind, 0, 1 << 18).ljust(112, b"\0")
        out.append(record(64, 0, body + struct.pack("<Q", i + 8)))
    texts = b"".join(struct.pack("<Q", len(t)) + t for t in formats)
    blob = b"\x17\x08\x44tracing0.5\0\0\x08" + struct.pack("<I", 4096) + b"header_page\0" + struct.pack("<Q", 0) + b"header_event\0" + \
        struct.pack("<QII", 0, 0, 1) + system + b"\0" + struct.pack("<I", len(formats)) + texts + struct.pack("<II", 0, 0)
    out.append(record(66, 0, struct.pack("<II", len(blob), 0)) + blob + b"\0" * (-len(blob) % 8))
    for i, (number, payload) in enumerate(payloads):
        raw = struct.pack("<I", len(payload)) + payload
        out.append(record(9, 2, struct.pack("<QiiQ", number + 7, -1, -1, i) + raw + b"\0" * (-len(raw) % 8)))
    return b"PERFILE2" + struct.pack("<Q", 16) + b"".join(out)


def format_of(number, lines, print_fmt):
    return b"name: t%d\nID: %d\nformat:\n" % (number, number) + lines + b"\nprint fmt: " + print_fmt + b"\n"


def many_fields(size):
    """Descriptions of as many fields as there may be, and of one more than that; a sample of each."""
    field = b"\tfield:u8 f%03d;\toffset:0;\tsize:1;\tsigned:0;\n"
    formats, n = [], 0
    while n < size * 3 // 4:
        fields = b"".join(field % i for i in range(512 + len(formats) % 8 // 7))
        formats.append(format_of(len(formats) + 1, fields, b'"%d", ' + b"1+" * 3000 + b"1"))
        n += len(formats[-1]) + 200
    return described(formats, [(i % len(formats) + 1, b"\0" * 8) for i in range(size // 4 // 48)])


def fields_on_top(size):
    """Short payloads of which hundreds of fields with long names show the same bytes, printed in long texts."""
    fields = b"".join(b"\tfield:u8 %s%03d;\toffset:0;\tsize:1;\tsigned:0;\n" % (b"n" * 25, i) for i in range(512))
    text = b'"' + b"%256d" * 60 + b'"' + b", REC->" .join([b""] + [b"n" * 25 + b"%03d" % i for i in range(60)])
    return described([format_of(1, fields, text)], [(1, b"\1" * 4)] * (size // 48))


SWITCH_FIELDS = b"".join(b"\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:1;\n" % f for f in (
    (b"char prev_comm[16]", 0, 16), (b"pid_t prev_pid", 16, 4), (b"int prev_prio", 20, 4), (b"long prev_state", 24, 8),
    (b"char next_comm[16]", 32, 16), (b"pid_t next_pid", 48, 4), (b"int next_prio", 52, 4)))


def switches(size):
    """Each thread is on a processor once, has a name of its own, and is preempted by another one."""
    text = b"name: sched_switch\nID: 1\nformat:\n" + SWITCH_FIELDS + b"\nprint fmt: \"%d\", REC->prev_pid\n"
    payload = lambda i: struct.pack("<16siiq16sii", b"n%d" % i, i + 1, 0, 0, b"n%d" % (i + 1), i + 2, 0)
    return described([text], [(1, payload(i)) for i in range(size // 96)], b"sched")


INPUTS = {
    "switches": switches,
    "many-fields": many_fields,
    "fields-on-top": fields_on_top,
    "shared-ids": shared_ids,
    "shared-features": shared_features,
    "events": many_events,
    "equal-mappings": lambda size: fill(size, lambda i: mmap2(1, 0x1000, "/bin/x", 5)),
    "mappings-in-turns": lambda size: fill(size, lambda i: mmap2(1, 0x1000 * (i % 7), "/bin/x", 5)),
    "mappings": lambda size: fill(size, lambda i: mmap2(i, 0x1000 * i, "/%d" % i, size - i)),
    "mappings-of-one": lambda size: fill(size, lambda i: mmap2(1, 0x1000 * (i * 7919 % 10007), "/%d" % i, size - i)),
    "forks": lambda size: fill(size, lambda i: fork(i + 2, i + 1, i + 2, i + 1, i)),
    "equal-forks": lambda size: fill(size, lambda i: fork(2 + i % 3, 1, 2 + i % 3, 1, 5)),
    "names": lambda size: fill(size, lambda i: comm(1, 1, "n%d" % i, size - i)),
    "one-number": one_number,
    "tasks": lambda size: fill(size, lambda i: sample(i // 4 + 1, i + 1, i)),
    "rounds": lambda size: fill(size, lambda i: record(68, 0, b"")),
    "backwards": lambda size: fill(size, lambda i: sample(1, 1, size - i)),
    "cpu-ranges": cpu_ranges,
    "threads-and-mappings": threads_and_mappings,
    "chains": lambda size: chains(size, 16, lambda i, k: 0x10000 + 16 * i + k),
    "deep-chains": lambda size: chains(size, 8000, lambda i, k: 0x10000 + (i if k == 0 else k)),
    "chains-in-long-names": lambda size: chains(size, 16, lambda i, k: 0x10000 + i % 3000 + 16 * k,
                                                mmap2(1, 0x10000, "/" + "n" * 4000, 0), comm(1, 1, "c" * 60000, 0)),
    # Every function calls all others, once in each sample: the trees of each have all that is beyond it.
    "deep-chains-of-places": lambda size: chains(size, 8000, lambda i, k: 0x10000 + 8 * (i * 8000 + k),
                                                 mmap2(1, 0x10000, "/f", 0, 1 << 30)),
    "deep-chains-turned": lambda size: chains(size, 1000, lambda i, k: 0x10000 + 8 * ((k * (2 * i + 1)) % 1024),
                                              mmap2(1, 0x10000, "/f", 0, 1 << 30)),
    "counters": counters,
    "long-names": long_names,
    # A hundred thousand processes, or mappings of one, and each sample is in another one, where nothing is remembered.
    "processes-sampled": lambda size: sampled(size, lambda i: mmap2(i + 1, 0x10000, "/%d" % (i % 999), 0),
                                              lambda i, n: (i * 7919 % n + 1, 0x10000 + i % 4096)),
    "mappings-apart": lambda size: sampled(size, lambda i: mmap2(1, 0x10000 * (i + 1), "/%d" % (i % 999), 0),
                                           lambda i, n: (1, 0x10000 * (i * 1024 % n + 1) + i % 4096)),
}
FIELDS = {"many-fields": "f500", "fields-on-top": "n" * 25 + "500"}
# These are so many times as large, for the commands that look addresses up.
LARGE = {"processes-sampled": 40, "mappings-apart": 40}
LARGE_LINES = {"stats": ["--by comm {in}", "--by dso,sym -j 1 {in}", "--by dso,sym -j 4 {in}"],
               "script": ["-j 1 {in}", "-j 4 {in}"],
               "export": ["--to folded -o {out} {in}", "--to firefox -o {out} {in}"]}
MADE_BY_COMMAND = ("zstd", "parts")

# Command lines: {in} is the input, {out} what is written.  `small`: thousands of files are slow for any program.
LINES = {
    "info": ["{in}", "--json {in}"],
    "list": ["events {in}", "events --json {in}", "ids {in}", "ids --json {in}", "processes --json {in}", "threads {in}",
             "threads --json {in}", "mappings {in}", "mappings --json {in}", "build-ids --json {in}", "features --json {in}",
             "cpus --json {in}"],
    "stats": ["{in}", "--by comm,event {in}", "--by tid --json {in}", "--by comm,dso,sym {in}", "--by dso,sym --unknown address {in}",
              "--by pid,sym,parent --json {in}", "--tree --min 0 --json {in}", "--tree=callees --sort total --min 0 --depth 1024 {in}",
              "--callers [f] --tree --min 0 {in}", "--compare {in} {in}", "--by time,cpu,tid --json {in}",
              "--on-cpu --by comm,pid,tid,cpu --json {in}"],
    "validate": ["{in}", "--format json {in}"],
    "dump": ["{in}", "--format jsonl {in}", "--format cbor {in}", "--format jsonl --resolve {in}",
             "--format tsv --fields time,event,comm,dso {in}"],
    "export": ["--to folded --inline --branch-chains -o {out} {in}", "--to flamegraph -o {out} {in}",
               "--to flamegraph --compare {in} -o {out} {in}", "--to flamegraph --reverse -o {out} {in}", "--to speedscope -o {out} {in}",
               "--to pprof --per comm,pid,tid -o {out} {in}", "--to firefox -o {out} {in}",
               "--to folded --weight offcpu -o {out} {in}", "--to chrome -o {out} {in}", "--to perfetto -o {out} {in}", "--to aux -o {out} {in}",
               "--to parquet --wide -o {out} {in}", "--to parquet -j 2 --no-symbols -o {out} {in}"],
    "script": ["-F -sym,-symoff,-dso {in}", "--show-task-events --show-mmap-events --show-switch-events -F comm,event,misc {in}"],
    "convert": ["--force --to pipe -o {out} {in}", "--force -o {out} {in}"],
    "filter": ["--comm n1 -o {out} {in}", "--pid 1 -o {out} {in}"],
    "merge": ["-o {out} {in}"],
    "recover": ["-o {out} {in}"],
    "sort": ["-o {out} {in}"],
    "split": ["--every 1ms -o {out}/%d {in}", "--size 32K -o {out}/%d {in}", "--by pid -o {out}/%s {in}", "--by tid -o {out}/%s {in}",
              "--by comm -o {out}/%s {in}"],
}
SMALL = {"split": 16}


def lines_of(path):
    """The table of limits.md: command -> (memory, time, output) for each byte; and what is always allowed."""
    table = {}
    for row in open(path, encoding="utf-8"):
        m = re.match(r"\| `([a-z]+)` \| (\d+) MiB \| (\d+) \| ([\d.]+) \| (\d+) KiB \| (\d+) \|", row)
        if m:
            table[m[1]] = {"memory0": int(m[2]) << 20, "memory": int(m[3]), "time": float(m[4]), "output0": int(m[5]) << 10,
                           "output": int(m[6])}
    return table


class Run:
    """A command that ended: status, seconds of processor time, peak memory, bytes of output."""

    def __init__(self, command, out):
        shutil.rmtree(out, ignore_errors=True)
        if os.path.exists(out):
            os.remove(out)
        if "/%" in " ".join(command):
            os.mkdir(out)
        p = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        said = []
        reader = threading.Thread(target=lambda: said.append(p.stderr.read()))
        reader.start()
        self.output = 0
        while piece := p.stdout.read(1 << 20):
            self.output += len(piece)
        reader.join()
        _, status, usage = os.wait4(p.pid, 0)
        p.returncode = self.status = os.waitstatus_to_exitcode(status)
        self.said = said[0].decode(errors="replace")
        self.output += len(said[0])
        self.seconds = usage.ru_utime + usage.ru_stime
        self.memory = usage.ru_maxrss << 10
        for folder, _, names in os.walk(out):
            self.output += sum(os.path.getsize(os.path.join(folder, name)) for name in names)
        if os.path.isfile(out):
            self.output += os.path.getsize(out)


def make(perfile, name, size):
    """Makes the input; returns its path and how many bytes of records and facts it holds, uncompressed."""
    path = "%s-%d.data" % (name, size)
    if name in cost_archives.INPUTS:
        content, decoded = cost_archives.INPUTS[name](size)
        open(path, "wb").write(content)
        return path, len(content) + decoded
    if name in cost_perfmon.INPUTS:
        return path, cost_perfmon.INPUTS[name](path, size)
    if name in cost_undump.INPUTS:
        return path, cost_undump.INPUTS[name](path, size)
    if name in cost_symbols.INPUTS:
        return path, cost_symbols.INPUTS[name](path, size)
    if name == "parts":
        os.mkdir(path)
        half = shared_ids(size)
        open(path + "/data", "wb").write(file_of([(0, 8)], struct.pack("<Q", 7), [], b"", b""))
        n = min(size // 512, 1000)
        each = sample(1, 1, 1) * max(1, size // n // 32)
        for i in range(n):
            open("%s/data.%d" % (path, i), "wb").write(each)
        return path, n * len(each) + len(half) // 4
    if name == "zstd":
        plain = INPUTS["mappings-in-turns"](4 * size)
        open("plain.data", "wb").write(plain)
        subprocess.run([perfile, "convert", "--compress", "-f", "-o", path, "plain.data"], check=True, stderr=subprocess.DEVNULL)
        return path, len(plain)
    # In a process of its own: the memory of this one counts as that of the commands that it starts.
    child = os.fork()
    if not child:
        with open(path, "wb") as out:
            out.write(INPUTS[name](size))
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, name
    return path, os.path.getsize(path)


def judge(what, n, run, line, factor):
    """What of a run lies above its line."""
    wrong = []
    if run.status not in (0, 1, 3) and "say which" not in run.said: # of several captures in an archive
        wrong.append("%s: exit status %d: %s" % (what, run.status, run.said[-300:]))
    if run.status and not (run.said or run.output):
        wrong.append("%s: exit status %d without a word" % (what, run.status))
    if not SANITIZED and run.memory > line["memory0"] + line["memory"] * n:
        wrong.append("%s: %.1f MB of memory for %.2f MB" % (what, run.memory / 1e6, n / 1e6))
    if run.output > line["output0"] + line["output"] * n:
        wrong.append("%s: %.1f MB of output for %.2f MB" % (what, run.output / 1e6, n / 1e6))
    if run.seconds > factor * (1 + line["time"] * n / 1e6) + line.get("time0", 0):
        wrong.append("%s: %.2f s for %.2f MB" % (what, run.seconds, n / 1e6))
    return wrong


def measure(perfile, command, words, inputs, line, worst):
    """One command line on one input at three sizes."""
    wrong, factor, times = [], 10 if SANITIZED else 1, []
    for path, n in inputs:
        argv = [perfile, command] + [w.replace("{in}", path).replace("{out}", "out") for w in words.split()]
        run = Run(argv, "out")
        wrong += judge(" ".join(argv[1:]), n, run, line, factor)
        times.append((n, run.seconds))
        w = worst.setdefault(command, [0, 0, 0])
        w[0] = max(w[0], run.memory / n)
        w[1] = max(w[1], run.seconds / n * 1e6)
        w[2] = max(w[2], run.output / n)
    # Four times the input may take four times as long, and half as much again.
    (n0, t0), (n1, t1) = times[0], times[-1]
    if t1 > 1.5 * n1 / n0 * t0 + 0.4 * factor + line.get("time0", 0):
        wrong.append("%s: %.2f s for %.2f MB, %.2f s for %.2f MB" % (" ".join(argv[1:]), t0, n0 / 1e6, t1, n1 / 1e6))
    return wrong


def main():
    perfile, definitions, limits = sys.argv[1:4]
    size = int(sys.argv[4]) if len(sys.argv) > 4 else (1 << 15 if SANITIZED else 1 << 19)
    commands = re.findall(r"^COMMAND\((\w+),", open(definitions, encoding="utf-8").read(), re.M)
    commands.remove("schema")  # it reads nothing, like generate
    commands.remove("generate")
    commands.remove("damage")  # it validates again and again, see limits.md
    table = lines_of(limits)
    wrong = ["%s has no command line here" % c for c in commands if c not in LINES]
    wrong += ["%s has no row in limits.md" % c for c in commands if c not in table]
    if wrong:
        sys.exit("\n".join(wrong))
    runs, worst = 0, {}
    only = os.environ.get("ONLY")
    for name in list(INPUTS) + list(MADE_BY_COMMAND) + list(cost_archives.INPUTS) + list(cost_perfmon.INPUTS) + \
            list(cost_undump.INPUTS) + list(cost_symbols.INPUTS):
        if only and only not in name:
            continue
        made = {}
        lines = cost_archives.LINES if name in cost_archives.INPUTS else \
            cost_perfmon.LINES if name in cost_perfmon.INPUTS else \
            cost_undump.LINES if name in cost_undump.INPUTS else \
            cost_symbols.LINES if name in cost_symbols.INPUTS else \
            LARGE_LINES if name in LARGE and not SANITIZED else \
            dict(LINES, script=LINES["script"] + ["{in}"]) if "chains" in name else \
            dict(LINES, dump=LINES["dump"] + ["--fields %s {in}" % FIELDS[name]],
                 stats=LINES["stats"] + ["--by %s --where %s>=0 {in}" % (FIELDS[name], FIELDS[name])]) if name in FIELDS else LINES
        for command in commands:
            step = size // SMALL.get(command, 1) * (LARGE.get(name, 1) if not SANITIZED else 1)
            if step not in made and command in lines:
                made[step] = [make(perfile, name, s) for s in (step // 4, step // 2, step)]
            line = dict(table[command])
            if name in cost_archives.INPUTS: # as stored, decoded, and decoded once more to compare: format/limits.md
                line["memory0"] += 3 << 27
            if name in cost_perfmon.INPUTS and command == "convert":
                line.update(cost_perfmon.CONVERT)
            if name in cost_undump.INPUTS:
                line.update(cost_undump.CONVERT)
            if name in cost_symbols.BY_SYMBOLIZER:
                line.update(memory0=line["memory0"] + cost_symbols.SYMBOLIZER_MEMORY, time0=cost_symbols.SYMBOLIZER_SECONDS)
            for words in lines.get(command, []):
                if not chosen():
                    continue
                wrong += measure(perfile, command, words, made[step], line, worst)
                runs += 3
        for paths in made.values():
            for path, _ in paths:
                shutil.rmtree(path) if os.path.isdir(path) else os.remove(path)
    for command, (memory, seconds, output) in worst.items():
        print("%-9s worst: %6.0f bytes of memory, %6.2f us, %6.1f bytes of output a byte" % (command, memory, seconds, output))
    print("%d runs, %d above their line%s" % (runs, len(wrong), "; memory is not judged under sanitizers" if SANITIZED else ""))
    if not only and runs < 1600 // CASES:
        wrong.append("only %d runs" % runs)
    if wrong:
        sys.exit("\n".join(wrong))


main()

"""`perfile script` against `perf script`: see script.sh."""
import collections
import itertools
import os
import re
import struct
import subprocess
import sys

from captures import PERFILE, SOURCE, captures
from enough import enough
from script_made import KINDS, make, make_headers

# Fields that need something special of the capture are in the sets for all: what it does not have is an error of both.
SETS = """
-F comm,pid,tid,cpu,time,event,ip,sym
-F comm,tid,ip
-F comm,tid,time,ip,sym,dso
-F comm,pid,tid,time,event,ip,sym,dso,symoff
-F +pid,+misc
-F -comm,-time
-F time,event
-F ip,sym
-F ip,dso
-F sym
-F comm,cpu,period
-F +flags
-F +machine_pid,+vcpu
-F +callindent,+synth,+ipc
-F sw:comm,tid,ip
-F sw:
-F trace:comm,tid,time,event
-F hw:comm
-F sw:+pid -F trace:-cpu
-F +addr
-F +uregs
-F +iregs
-F +brstack
-F +brstacksym
-F +brstackoff
-F comm,tid,brstack,brstacksym
-F +data_src,+weight
-F +phys_addr
-F +data_page_size
-F comm,ip,-sym
-F foo
-F comm,bpf-output
-F tod,ip
--ns
--deltatime
--reltime
-G
--max-stack 3
--show-task-events
--show-mmap-events
--show-switch-events
--show-namespace-events
--show-lost-events
--show-bpf-events
--show-cgroup-events
--show-task-events --show-mmap-events --show-switch-events --show-lost-events --ns -F +pid,+misc
--show-task-events --deltatime
--header-only
--header-only -I
--header -F comm,tid
-I -F comm,tid
"""

# Captures that perf prints otherwise, all of them or with some options: what, name, options, reason.
DIFFERENCES = [
    (re.compile(name), re.compile(options), reason) for name, options, reason in (
        (r"dwarf|zstd22|mixed\.data|real-i686-dwarf|fork_static_gcc|vector_static_(gcc|clang)-|true\.v2|unwind",
         "", "copied stacks"),
        (r"platform_system_extras/", "", "names of simpleperf"),
        (r"intel_pt", "", "AUX data"),
        (r"mini-noall", "--show", "no sample_id_all"),
        (r"s390x.*pipe|pipe.*be\.data", "", "pipes of another byte order"),
        (r"s390x|big-endian|-be\.data", "--show-(mmap|bpf|switch)|iregs|addr|header", "fields that perf does not swap"),
        (r"ro_sample", "-I", "topology of another tool"),
        (r"lost\.data|systemwide\.1-3\.8", "", "names of threads"),
        (r"callgraph_and_branch-3\.4", "brstack", "the kernel is mapped from 0"),
        (r"garbage|truncated|corrupt|bad-|unknown-type|trailing|killed|cut|inject-pipe|synthetic|fuzz|broken", "",
         "damage"),
    )]
REFUSED = re.compile(rb"incompatible file format|was the |non matching|header|zero-sized")
STOPPED = re.compile(rb"failed to process type|\[0x[0-9a-f]+\]: failed")
COUNTS = collections.Counter()
TRIED = collections.Counter() # by group: texts that were compared
EQUAL, WITH_LINES = collections.Counter(), collections.Counter() # by group
FAILED = []


def run(*command):
    try:
        p = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)
    except subprocess.TimeoutExpired:
        return None, b"", b""
    return p.returncode, p.stdout, p.stderr


def group_of(name):
    """The group whose texts are counted together: `ours`, `made`, `corpus`, or the recording that was made here."""
    if name.startswith("samples/"):
        return "ours"
    if name.startswith("made: "):
        return "made"
    return name.split(",")[0] if name.startswith("here: ") else "corpus"


def first_difference(a, b):
    for x, y in itertools.zip_longest(a.split(b"\n"), b.split(b"\n")):
        if x != y:
            return "perf    %r\n    perfile %r" % ((x or b"")[:150], (y or b"")[:150])
    return ""


def reason_of(name, options):
    for pattern, of, reason in DIFFERENCES:
        if pattern.search(name) and of.search(options):
            return reason
    return None


# What perf may find in a procedure linkage table, _init, which has no size; and what is there.
INIT = re.compile(rb"(?<=[\s(/>])_init(?:\+0x[0-9a-f]+)?(?=[\s/)]|$)")
ENTRY = re.compile(rb"(?<=[\s(/>])(?:[^\s(/>]*@plt(?:\+0x[0-9a-f]+)?|\[unknown\])(?=[\s/)]|$)")


def with_entries(said, own_said):
    """What perf said, with the names of perfile where perf took _init for an entry of a procedure linkage table."""
    lines, own_lines = said.split(b"\n"), own_said.split(b"\n")
    for i, (line, own_line) in enumerate(zip(lines, own_lines)):
        if line != own_line and INIT.sub(b"?", line) == ENTRY.sub(b"?", own_line):
            lines[i] = own_line
            COUNTS["lines with _init for an entry of a procedure linkage table"] += 1
    return b"\n".join(lines)


def compare(path, name, options, with_symbols):
    ours = options.split() + ([] if with_symbols else ["--no-symbols"])
    theirs = options.split() + ([] if with_symbols else ["--symfs", os.path.abspath("nothing")])
    status, said, errors = run("perf", "script", *theirs, "-i", path)
    TRIED[group_of(name)] += 1
    own_status, own_said, _ = run(PERFILE, "script", *ours, path)
    if with_symbols and said != own_said:
        said = with_entries(said, own_said)
    if own_status is None or own_status < 0:
        FAILED.append("%s %s: perfile ended with %s" % (name, options, own_status))
    elif said == own_said:
        EQUAL[group_of(name)] += 1
        WITH_LINES[group_of(name)] += said.count(b"\n") > 2
    elif status is None or status < 0 or STOPPED.search(errors) or \
            (not said and REFUSED.search(errors)):
        COUNTS["perf fails"] += 1
    else:
        reason = reason_of(name, options)
        if reason:
            COUNTS["known: " + reason] += 1
        else:
            FAILED.append("%s %s:\n    %s" % (name, options or "(none)", first_difference(said, own_said)))


def recording():
    """Records a program of this machine; None where that is not possible."""
    status, _, _ = run("perf", "record", "-q", "-o", "made.data", "-F", "2000", "-e", "cpu-clock:u", "-g", "--",
                       "sh", "-c", "i=0; while [ $i -lt 100000 ]; do i=$((i + 1)); done; ls -lR /etc >/dev/null 2>&1")
    return "made.data" if status == 0 else None


def callers(path):
    """Names of some functions that call others in call chains."""
    chains = [chain.split("\n") for chain in run("perf", "script", "-F", "ip,sym", "-i", path)[1].decode().split("\n\n")]
    names = collections.Counter(line.split()[1] for chain in chains for line in chain[1:-1] if len(line.split()) == 2)
    return [name for name, _ in names.most_common(8) if re.fullmatch(r"\w+", name)][:2]


# Tracepoints whose print fmt has most of what there is: flags, words, bit masks, dynamic texts and arrays, addresses of
# functions, of networks; one group each, for a kernel need not have them all.  Not timer: perf takes a & (b | c) there for
# (a & b) | c.
GROUPS = ("sched:*", "syscalls:*", "irq:*", "kmem:*", "block:*", "net:*", "skb:*", "workqueue:*", "filemap:*", "exceptions:*")


def tracepoints():
    """Records tracepoints of this machine; None where that is not possible."""
    there = []
    for group in GROUPS:
        if run("perf", "record", "-q", "-o", "probe.data", "-e", group, "--", "true")[0] == 0:
            there += ["-e", group]
    if not there:
        return None
    status, _, _ = run("perf", "record", "-q", "-m", "4M", "-o", "traced.data", *there, "--",
                       "sh", "-c", "ls -lR /etc >/dev/null 2>&1; sleep 0.05")
    return "traced.data" if status == 0 else None


# Of all processors, of each, of each core and thread, at once and in intervals.
STATS = ("-a -I 50", "-a -A -I 50", "-a --per-core", "-a -A --no-scale", "--per-thread -p %d" % os.getpid(), "")


def stat_recordings():
    """Records counters of this machine; each capture as it is, and with counters that were on the PMU for a part of the time."""
    for i, options in enumerate(STATS):
        path = "stat%d.data" % i
        status, _, _ = run("perf", "stat", "record", *options.split(), "-e", "cpu-clock,page-faults,cycles", "-o", path, "--",
                           "sh", "-c", "i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done")
        if status:
            print("not tried: perf stat record %s: not possible here" % options)
            continue
        yield path
        yield with_parts(path, "parts-" + path)


def with_parts(path, out):
    """Writes the capture with STAT records that ran for 0, 1/5 … 5/5 of the time."""
    with open(path, "rb") as f:
        data = bytearray(f.read())
    at, size = struct.unpack_from("<QQ", data, 40)
    end, i = at + size, 0
    while at < end:
        kind, _, length = struct.unpack_from("<IHH", data, at)
        if kind == 76:
            i += 1
            ran, = struct.unpack_from("<Q", data, at + 40)
            struct.pack_into("<Q", data, at + 40, ran * (i % 6) // 5)
        at += length
    with open(out, "wb") as f:
        f.write(data)
    return out


os.makedirs("nothing", exist_ok=True)
sets = [""] + [line for line in SETS.strip().split("\n")]
n = 0
for path, name in captures():
    n += 1
    # All of our captures with all sets; of the others each with the first and a sixth of the rest, in turns.
    for i, options in enumerate(sets):
        if name.startswith("samples/") or i == 0 or i % 6 == n % 6:
            compare(path, name, options, False)
for kind in KINDS:
    for options in make(kind, kind + ".data"):
        compare(kind + ".data", "made: " + kind, options, False)
for path in stat_recordings():
    for options in ("", "--show-round-events", "-F comm"):
        compare(path, "here: counters, " + path, options, False)
for path in make_headers("."):
    for options in ("--header-only", "--header-only -I", "--header -F ip"):
        compare(path, "made: " + path, options, False)
if made := recording():
    for options in sets + ["--stop-bt nothing,%s" % ",".join(callers(made)), "--stop-bt [unknown]"]:
        if "brstack" not in options:
            compare(made, "here: functions", options, True)
if traced := tracepoints():
    for options in ("", "-F comm,tid,time,event,trace", "-F event,trace --ns"):
        compare(traced, "here: tracepoints", options, True)
    compare(traced, "here: tracepoints", "", False)
for what in sorted(COUNTS):
    print("%6d %s" % (COUNTS[what], what))
for text in FAILED[:40]:
    print("differs: " + text)
if len(FAILED) > 40:
    print("… and %d more" % (len(FAILED) - 40))
# Of our captures so many texts are equal, however few captures of others are looked at; of what is made or recorded here all.
ok = EQUAL["ours"] >= 1490 and WITH_LINES["ours"] >= 980
for group in ("made", "here: counters", "here: functions", "here: tracepoints"):
    if not TRIED[group]:
        print("not tried: %s: perf cannot record that on this machine" % group[6:])
    ok = ok and EQUAL[group] == TRIED[group] and WITH_LINES[group] * 2 >= TRIED[group]
ok = enough("equal texts of the corpus", EQUAL["corpus"], 1700, 0) and ok
ok = enough("equal texts of the corpus with lines", WITH_LINES["corpus"], 1200, 0) and ok
for group in sorted(TRIED):
    print("%6d equal of %d of %s, %d with lines" % (EQUAL[group], TRIED[group], group, WITH_LINES[group]))
if not ok:
    print("too few equal texts")
sys.exit(bool(FAILED) or not ok)

"""What known readers print, as facts.

An adapter has a name, a function that yields Fact for the bytes that the reader wrote to standard output, and `shown`: the names of
the records that the reader always shows (None: all).  Of other names a fact counts only if it is there.  `for_command()` finds the
adapter of a command.
"""
import collections
import os
import re
import struct
import sys

from facts import Fact

Adapter = collections.namedtuple("Adapter", "name facts shown")


class NotUnderstood(Exception):
    """The output is not what this reader is known to print."""


# perf report -D.  Each record has a line "0x108@FILE [0x50]: event: 69" before its bytes, and if perf makes something of it, lines like
# "1 3389479242773 0x4e8 [0x38]: PERF_RECORD_SAMPLE(IP, 0x2): 705/705: 0x40118d period: 250000 addr: 0".

EVENT_LINE = re.compile(r"^(0x[0-9a-f]+|0)@.* \[(0x[0-9a-f]+|0)\]: event: (\d+)$")
RECORD_LINE = re.compile(r"^(?:(-?\d+) )?(?:(-?\d+) )?(0x[0-9a-f]+|0) \[(0x[0-9a-f]+|0)\]: PERF_RECORD_([A-Z0-9_]+)(.*)$", re.S)
HEX = r"(?:0x)?([0-9a-f]+)"
DETAILS = {
    "SAMPLE": (r"\(IP, 0x([0-9a-f]+)\): (-?\d+)/(-?\d+): %s period: (\d+) addr: %s$" % (HEX, HEX), "misc:x pid tid ip:x period addr:x"),
    "MMAP": (r" (-?\d+)/(-?\d+): \[%s\(%s\) @ %s\]: \S+ (.*)$" % (HEX, HEX, HEX), "pid tid addr:x len:x pgoff:x filename:s"),
    "MMAP2": (r" (-?\d+)/(-?\d+): \[%s\(%s\) @ %s [^\]]*\]: \S+ (.*)$" % (HEX, HEX, HEX), "pid tid addr:x len:x pgoff:x filename:s"),
    "COMM": (r"(?: exec)?: (.*):(-?\d+)/(-?\d+)$", "comm:s pid tid"),
    "FORK": (r"\((-?\d+):(-?\d+)\):\((-?\d+):(-?\d+)\)$", "pid tid ppid ptid"),
    "EXIT": (r"\((-?\d+):(-?\d+)\):\((-?\d+):(-?\d+)\)$", "pid tid ppid ptid"),
    "LOST": (r": id:(\d+): lost:(\d+)$", "id lost"),
}


def details(name, text):
    """The members that a line has after the name of the record."""
    if name not in DETAILS:
        return {}
    pattern, keys = DETAILS[name]
    match = re.match(pattern, text)
    if match is None:
        return {}
    members = {}
    for key, value in zip(keys.split(), match.groups()):
        key, _, form = key.partition(":")
        members[key] = value if form == "s" else int(value, 16 if form == "x" else 10)
    return members


# Lines about the parts of a sample, below its own line.
CHAIN = re.compile(r"^\.\.\. FP chain: nr:(\d+)$")  # of an "LBR call chain" perf adds what it knows from branches
BRANCHES = re.compile(r"^\.\.\. branch stack: nr:(\d+)$")  # of a "branch callstack" perf shows one side only
REGS = re.compile(r"^\.\.\. (user|intr) regs: mask 0x[0-9a-f]+ ABI ")
ENTRY = re.compile(r"^\.\.\.\.\. +\d+: ([0-9a-f]{16})$")
BRANCH = re.compile(r"^\.\.\.\.\. +\d+: ([0-9a-f]{16}) -> ([0-9a-f]{16}) ")
REGISTER = re.compile(r"^\.\.\.\. \S+ +0x([0-9a-f]{16})$")
COUNTER = re.compile(r"^\.\.\.\.\. id [0-9a-f]{16}, value ([0-9a-f]{16})")
WORDS = {"phys_addr": r"^ \.\. phys_addr: 0x([0-9a-f]+)$", "data_src": r"^ \. data_src: 0x([0-9a-f]+)$", "transaction": r"^\.\.\. transaction: ([0-9a-f]+)$"}
WORDS = {key: re.compile(pattern) for key, pattern in WORDS.items()}


def sample_part(members, line, last):
    """Adds what a line says to the members; returns the list that the next lines continue."""
    for pattern, key in (CHAIN, "chain"), (BRANCHES, "branches"):
        if pattern.match(line):
            members[key] = []
            return key
    match = REGS.match(line)
    if match:
        key = "regs_" + match.group(1)
        members[key] = []
        return key
    for key, pattern in WORDS.items():
        match = pattern.match(line)
        if match:
            members[key] = int(match.group(1), 16)
    match = COUNTER.match(line)
    if match:
        members.setdefault("counters", []).append(int(match.group(1), 16))
    if line.startswith("... "):
        return None
    pattern = {"chain": ENTRY, "branches": BRANCH, "regs_user": REGISTER, "regs_intr": REGISTER}.get(last)
    match = pattern and pattern.match(line)
    if match:
        values = tuple(int(v, 16) for v in match.groups())
        members[last].append(values if len(values) > 1 else values[0])
    return last


def perf_report(output, capture):
    shift = 16 if capture.pipe else 0  # perf counts the offsets of a pipe from its first record
    fact = last = None
    for line in output.decode("utf-8", "surrogateescape").split("\n"):
        match = EVENT_LINE.match(line)
        if match:
            if fact:
                yield fact
            fact = last = None
            offset, size, kind = (int(v, 0) for v in match.groups())
            index = capture.by_offset.get(offset + shift)
            name = capture.records[index][0] if index is not None else "type %d" % kind
            yield Fact(name, {"type": kind, "size": size}, offset + shift)
            continue
        match = RECORD_LINE.match(line)
        if match:
            if fact:
                yield fact
            first, second, offset, size, name, rest = match.groups()
            if name == "UNKNOWN":  # a type that this perf does not know
                fact = None
                continue
            members = details(name, rest)
            members["size"] = int(size, 0)
            if second is not None:
                members.update(cpu=int(first), time=int(second))
            elif first is not None:
                members["time" if len(first) > 6 else "cpu"] = int(first)
            fact, last = Fact(perf_name(name), members, int(offset, 0) + shift), None
        elif fact and fact.name == "SAMPLE":
            last = sample_part(fact.members, line, last)
    if fact:
        yield fact


def perf_name(name):
    """perf's names of records, where they differ from those of the dump."""
    return {"ATTR": "HEADER_ATTR", "FEATURE": "HEADER_FEATURE", "BUILD_ID": "HEADER_BUILD_ID", "EVENT_TYPE": "HEADER_EVENT_TYPE",
            "TRACING_DATA": "HEADER_TRACING_DATA"}.get(name, name)


# perf script --ns: "work   705 [001]  3389.479242773:     250000 cpu-clock: ...", and for other records the text of `report -D`.
SCRIPT_LINE = re.compile(r"^ *(\S.*?) +(-?\d+)(?:/(-?\d+))? +(?:\[(-?\d+)\] +)?(\d+)\.(\d{9}): +(.*)$")


def perf_script(output, capture):
    for line in output.decode("utf-8", "surrogateescape").split("\n"):
        match = SCRIPT_LINE.match(line)
        if not match:
            continue
        _, first, second, cpu, seconds, ns, rest = match.groups()
        time = int(seconds) * 1000000000 + int(ns)
        record = re.match(r"PERF_RECORD_([A-Z0-9_]+)(.*)$", rest)
        if record:
            yield Fact(record.group(1), dict(details(*record.groups()), time=time))
            continue
        members = {"time": time, "tid": int(second or first)}
        if cpu is not None:
            members["cpu"] = int(cpu)
        yield Fact("SAMPLE", members)


# The parser of hotspot and of Qt Creator writes messages for its window.
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "interop"))


def perfparser(output, capture):
    import hotspot

    texts = {}
    comms = []
    try:
        for m in hotspot.messages(output):
            kind = m.take("B")
            if kind == hotspot.TEXT:
                number = m.take("i")
                texts[number] = m.take_bytes().decode("utf-8", "surrogateescape")
            elif kind == hotspot.COMMAND:
                pid, tid, time, _cpu, name = m.take("iiQIi")
                comms.append((pid, tid, time, name))
            elif kind in (hotspot.SAMPLE, hotspot.TRACEPOINT_SAMPLE):
                pid, tid, time, cpu = m.take("iiQI")
                yield Fact("SAMPLE", {"pid": pid, "tid": tid, "time": time, "cpu": cpu})
    except (SystemExit, struct.error) as error:
        raise NotUnderstood(str(error)) from None
    for pid, tid, time, name in comms:
        if time:  # others are made up by the parser
            yield Fact("COMM", {"pid": pid, "tid": tid, "time": time, "comm": texts.get(name)})


# Readers that print facts themselves: lines like "SAMPLE time=5 pid=7 tid=8"; numbers are decimal, or hexadecimal with 0x.  A member
# `comm` or `filename` is the last one and goes to the end of the line.
def plain(output, capture):
    for line in output.decode("utf-8", "surrogateescape").splitlines():
        name, _, rest = line.partition(" ")
        if not re.fullmatch(r"[A-Z0-9_]+", name):
            raise NotUnderstood("not a fact: %s" % line[:60])
        rest, _, text = re.sub(r"(?:^| )(comm|filename)=", "\n\\1=", rest).partition("\n")
        members = {}
        try:
            for word in rest.split():
                key, _, value = word.partition("=")
                members[key] = int(value, 0)
        except ValueError:
            raise NotUnderstood("not a fact: %s" % line[:60]) from None
        if text:
            key, _, value = text.partition("=")
            members[key] = value
        offset = members.pop("offset", None)
        yield Fact(name, members, offset)


SAMPLES = {"SAMPLE"}
ADAPTERS = {
    a.name: a
    for a in (
        Adapter("perf-report", perf_report, None),
        Adapter("perf-script", perf_script, set()),
        Adapter("perfparser", perfparser, SAMPLES),
        Adapter("facts", plain, SAMPLES),
        Adapter("jsonl", None, None),  # all of the output is the dump itself
    )
}


def for_command(command):
    """The adapter of a command that is known, or None."""
    program = os.path.basename(command[0])
    if program.startswith("perf") and "report" in command and "-D" in command:
        return ADAPTERS["perf-report"]
    if program in ("perf", "perf-script") and "script" in command and "--ns" in command:
        return ADAPTERS["perf-script"]
    if program in ("hotspot-perfparser", "perfparser"):
        return ADAPTERS["perfparser"]
    if program == "perfile" and "dump" in command and "jsonl" in command:
        return ADAPTERS["jsonl"]
    return None

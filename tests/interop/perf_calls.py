"""perf_calls.py: see perf_calls.sh."""
import collections
import json
import os
import re
import subprocess
import sys

import perf_report
from captures import PERFILE, captures, run
from enough import enough
from perf_report import NO_KERNEL, as_text

counted = collections.Counter()
ALL = ["--min", "0", "--depth", "1024"]


def function(name):
    """One name for all functions of user code and kernel modules that have none, or one of this machine's [vdso]; an
    address for those of the kernel."""
    if name == "[unknown]" or name.startswith("__vdso_"):
        return "?"
    if m := re.fullmatch(r"0x([0-9a-f]+)", name) or re.fullmatch(r"\[.*\+0x([0-9a-f]+)\]", name):
        return "0x" + m[1] if re.fullmatch("ffff(ffff[89]|[8-9a-d]).*", m[1]) else "?"
    return name


def stats(path, *options):
    """The report of perfile; None if it cannot read the capture."""
    status, output, _ = run(PERFILE, "stats", "--json", "--by", "sym", *options, *NO_KERNEL, path)
    return json.loads(output) if status in (0, 3) else None


def paths(row, ends):
    """The paths in the tree of a row, with how many samples end there: those beyond what the next ones have, or (`ends`)
    those that a node has itself."""
    path, left, found = [], [row["samples"]], []
    for node in row["tree"]:
        while len(path) >= node["depth"]:
            found.append((tuple(path), left.pop()))
            path.pop()
        path.append(function(as_text(node["sym"])))
        if not ends:
            left[-1] -= node["total_samples"]
        left.append(node["samples"] if ends else node["total_samples"])
    while path:
        found.append((tuple(path), left.pop()))
        path.pop()
    return found + [((), left.pop())]


def trees_of_perfile(path, tree, total):
    """{(function, path …): samples}, of lines whose function has a name."""
    found = collections.Counter()
    for row in stats(path, "--tree=" + tree, *ALL, *["--sort", "total"] * total)["rows"]:
        line = function(as_text(row["sym"]) or "?")
        if total and tree == "callers":
            row["samples"] = row["total_samples"]
        if tree == "callees":  # those that were taken where the function had called itself end there
            row["samples"] -= sum(n["samples"] for n in row["tree"] if function(as_text(n["sym"]) or "?") == line)
        for way, samples in paths(row, tree == "callees") if line != "?" else ():
            found[(line, *way)] += samples
    return +found


def trees_of_perf(path, order, children):
    """The same of perf report; None if it does not read it."""
    status, output, errors = run("perf", "report", "-i", path, "--stdio", "--no-group", "--no-inline", "--no-branch-stack",
                                 "--no-itrace", "--percent-limit", "0", "--max-stack", "1024", "-t", "|",
                                 "--children" if children else "--no-children", "-F",
                                 "overhead_children," * children + "sample,sym",
                                 "-g", "folded,0,%s,function,count" % order, *NO_KERNEL)
    if status or perf_report.TROUBLE.search(errors) or re.search(r"^ *N/A", output, re.M):
        return None  # N/A: it adds up no call chains of pipes
    found, line, alone = collections.Counter(), "?", 0
    for text in output.split("\n") + ["0|[.] ?"]:
        if m := re.match(r"(?: *[\d.]+% *\|)? *(\d+) *\|\[.\] (.*?) *$", text):
            if alone and line != "?":  # without any call chain
                found[(line,)] += alone
            line, alone = function(m[2]), int(m[1])
        elif text.startswith("#"):
            continue
        elif (m := re.match(r"(\d+) (.*)$", text)) and line != "?":
            alone = 0
            names = m[2].split("|")
            end = -1 if order == "callee" else 0
            if names[end] == "0":  # it ends the chain; others are addresses
                del names[end]
            way = [function("[unknown]" if name == "0" else name) for name in names]
            if line in way:
                found[tuple(way[way.index(line):])] += int(m[1])
    return found


def same(what, mine, theirs):
    """Nothing, or what differs."""
    counted[what] += len(theirs)
    wrong = [(key, mine[key], theirs[key]) for key in {*mine, *theirs} if mine[key] != theirs[key]]
    return "%s: %d of %d paths differ: %s" % (what, len(wrong), len(theirs), wrong[:3]) if wrong else None


def next_to(paths_of_perf):
    """Of each function the samples of what is next to it in the paths."""
    found = collections.defaultdict(collections.Counter)
    for path, samples in paths_of_perf.items():
        found[path[0]][path[1] if len(path) > 1 else None] += samples
    return found


def check_around(path, option, theirs):
    """The lines of --callers or --callees of the functions with the most samples."""
    busy = sorted(theirs, key=lambda name: -sum(theirs[name].values()))
    for name in [name for name in busy if not name.startswith("0x")][:6]:
        mine = collections.Counter()
        for row in stats(path, option, name)["rows"]:
            mine[function(as_text(row["sym"])) if row["sym"] is not None else None] += row["total_samples"]
        if wrong := same(option, mine, theirs[name]):
            return name + ": " + wrong
    return None


def compare(path):
    """None, or why not; `skipped …` where perf says something else than what is stored."""
    report = stats(path)
    if not report or not report["code"]["chains"]:
        return "skipped: no call chains"
    if "lbr" in path:
        return "skipped: branch stacks, which perf takes for call chains"
    if other := perf_report.says_something_else(path):
        return "skipped: " + other
    callers, callees, all_callers = (trees_of_perf(path, "callee", False), trees_of_perf(path, "caller", True),
                                     trees_of_perf(path, "callee", True))
    if not callers or not callees or not all_callers:
        return "skipped: perf"
    return same("paths to callers", trees_of_perfile(path, "callers", False), callers) or \
        same("paths to callees", trees_of_perfile(path, "callees", True), callees) or \
        same("paths to all callers", trees_of_perfile(path, "callers", True), all_callers) or \
        check_around(path, "--callers", next_to(all_callers)) or check_around(path, "--callees", next_to(callees))


PROGRAM = """
static volatile unsigned long n;
__attribute__((noinline)) void leaf(int times) { for (int i = 0; i < times * 1000; i++) n += i; n++; }
__attribute__((noinline)) void again(int depth) { leaf(depth); if (depth) again(depth - 1); n++; }
__attribute__((noinline)) void one(void) { again(5); n++; }
__attribute__((noinline)) void two(void) { again(3); leaf(9); n++; }
int main(void) { for (int i = 0; i < 3000; i++) { one(); two(); } return 0; }
"""


def recorded():
    """A capture of a program that is compiled and recorded here; None where that cannot be done."""
    with open("calls.c", "w") as f:
        f.write(PROGRAM)
    for command in (["cc", "-O1", "-fno-omit-frame-pointer", "-fno-optimize-sibling-calls", "-static", "-o", "calls", "calls.c"],
                    ["perf", "record", "-q", "-e", "cpu-clock:u", "-F", "20000", "-g", "-o", "calls.data", "./calls"]):
        try:
            if subprocess.run(command, capture_output=True, stdin=subprocess.DEVNULL).returncode:
                return None
        except OSError:
            return None
    return "calls.data"


def main():
    failed = 0
    with open("none", "w") as f:
        f.write("0000000000001000 d none\n")
    skipped = collections.Counter()
    given = [(path, name) for path, name in captures() if not os.path.isdir(path)]
    here = recorded()
    if here:
        given.append((here, "recorded: " + here))
    for path, name in given:
        said = compare(path)
        if said and said.startswith("skipped"):
            skipped[said[:72]] += 1
        elif said:
            failed += 1
            print(name + ": " + said)
        counted["captures"] += not said
    for why, n in skipped.most_common():
        print(n, why)
    if not here:
        print("not tried: recording a program with call chains")
    print(", ".join("%d %s" % (n, what) for what, n in sorted(counted.items())))
    for what, least, own in (("captures", 12, 4), ("paths to callers", 900, 50), ("paths to callees", 500, 100)):
        failed += not enough(what, counted[what], least, own)
    return failed != 0


sys.exit(main())

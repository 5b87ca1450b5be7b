#!/usr/bin/env python3
"""Prints which lines of src/ the tests executed: a table of rooms, and the files below 95 % with the lines that no test executed.

usage: table.py --profdata LLVM-PROFDATA --cov LLVM-COV --counts FOLDER PROGRAM...

FOLDER has the counts that the processes of the tests left; the programs have all of the code in them.  The target `coverage`
calls this script (cmake/coverage.cmake).
"""
import argparse
import collections
import os
import subprocess
import sys

REQUIRED = ("archive", "core", "emit", "expr", "io", "perf", "perfmon", "schema", "symbol")
PERCENT = 95
SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "src")


def executed_lines(options):
    """{path below src/: {line: count}}, for all lines with code in them."""
    counts = [entry.path for entry in os.scandir(options.counts) if entry.name.endswith(".profraw")] \
        if os.path.isdir(options.counts) else []
    if not counts:
        sys.exit(f"table.py: {options.counts} has no counts: run tests of the preset coverage first")
    names, merged = (os.path.join(options.counts, name) for name in ("files", "all.profdata"))
    with open(names, "w", encoding="utf-8") as f:
        f.writelines(name + "\n" for name in counts)
    subprocess.run([options.profdata, "merge", "-sparse", "-f", names, "-o", merged], check=True)
    others = [f"-object={program}" for program in options.programs[1:]]
    # It warns of inline functions of headers that one program uses and another does not: their lines are counted.
    export = subprocess.run([options.cov, "export", "-format=lcov", f"-instr-profile={merged}", options.programs[0], *others],
                            capture_output=True, text=True)
    if export.returncode != 0:
        sys.exit(f"table.py: {options.cov} failed:\n{export.stderr}")
    files = {}
    lines = None
    for line in export.stdout.splitlines():
        if line.startswith("SF:"):
            path = os.path.relpath(line[3:], SOURCE)
            lines = None if path.startswith("..") else files.setdefault(path, {})
        elif line.startswith("DA:") and lines is not None:
            number, count = line[3:].split(",")[:2]
            lines[int(number)] = int(count)
    return files


def never(lines):
    """The lines that were not executed, as text: ranges go over lines without code."""
    ranges = []
    before = None
    for number in sorted(lines):
        if lines[number] == 0:
            if ranges and ranges[-1][1] == before:
                ranges[-1][1] = number
            else:
                ranges.append([number, number])
        before = number
    return " ".join(f"{a}" if a == b else f"{a}-{b}" for a, b in ranges)


def percent(executed, lines):
    return 100 * executed / lines if lines else 100


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name in ("--profdata", "--cov", "--counts"):
        parser.add_argument(name, required=True)
    parser.add_argument("programs", nargs="+", metavar="PROGRAM")
    files = executed_lines(parser.parse_args())

    rooms = collections.defaultdict(lambda: [0, 0])
    for path, lines in files.items():
        room = rooms[path.split(os.sep)[0]]
        room[0] += len(lines)
        room[1] += sum(count > 0 for count in lines.values())
    print(f"{'room':<14}{'lines':>8}{'executed':>10}{'percent':>9}")
    for name in sorted(rooms, key=lambda name: (name not in REQUIRED, name)):
        n, executed = rooms[name]
        low = name in REQUIRED and percent(executed, n) < PERCENT
        print(f"{name:<14}{n:>8}{executed:>10}{percent(executed, n):>9.1f}{' below' if low else ''}")

    print(f"\nfiles of {', '.join(REQUIRED)} below {PERCENT} %, and their lines that no test executed:")
    for path in sorted(files):
        lines = files[path]
        share = percent(sum(count > 0 for count in lines.values()), len(lines))
        if path.split(os.sep)[0] in REQUIRED and share < PERCENT:
            print(f"{path:<28}{share:>6.1f}  {never(lines)}")


if __name__ == "__main__":
    main()

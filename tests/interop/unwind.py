"""Compares the stacks of `perfile export --to folded --per none` with those of `perf script -F ip,sym --no-inline`, sample
by sample: unwind.py PERF-SCRIPT FOLDED.

What perf 6.1 says differently, by libunwind, and is allowed for:
- It calls a signal trampoline by the byte in front of it, which has no name.
- Where the copied stack ends it adds a frame at address -1.
- It does not read the last word of the copied stack, so that a chain may end one frame sooner.
- Behind a trampoline it takes the byte in front of the instruction that was interrupted.
- Of code without call frame information it goes by a frame pointer that may be none.
"""

import collections
import sys

TRAMPOLINE = "__restore_rt"
BEYOND = "ffffffffffffffff "


def perf_stacks(path):
    """Stacks, outermost frame first."""
    stack, stacks = [], []
    with open(path, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            line = line.strip()
            if line.startswith(BEYOND):
                continue
            if line:
                stack.append(line.split(" ", 1)[1] if " " in line else "?")
            elif stack:
                stacks.append(tuple(reversed(stack)))
                stack = []
    if stack:
        stacks.append(tuple(reversed(stack)))
    return stacks


def our_stacks(path):
    stacks = []
    with open(path, encoding="utf-8") as lines:
        for line in lines:
            names, count = line.rstrip("\n").rsplit(" ", 1)
            stacks += [tuple(names.split(";"))] * int(count)
    return stacks


def same_name(perf, ours):
    return perf == ours or perf == "[unknown]" and (ours.startswith("[") or ours == TRAMPOLINE)


def same(perf, ours):
    """True if the frames are the same, but for what perf says differently."""
    n = len(perf)
    if len(ours) not in (n, n + 1):
        return False
    return all(same_name(p, o) for p, o in zip(perf, ours[len(ours) - n:]))


def main():
    perf, ours = perf_stacks(sys.argv[1]), our_stacks(sys.argv[2])
    left = collections.Counter(ours)
    rest = []
    for stack in perf:
        if left[stack]:
            left[stack] -= 1
        else:
            rest.append(stack)
    others = list(left.elements())
    missing = []
    longer = 0
    for stack in rest:
        found = next((o for o in others if same(stack, o)), None)
        if found is None:
            missing.append(stack)
        else:
            longer += len(found) > len(stack)
            others.remove(found)
    print(f"{len(perf)} samples of perf, {len(ours)} of perfile: {len(perf) - len(rest)} are the same, "
          f"{len(rest) - len(missing)} but for a name or the last frame ({longer})")
    for stack in missing[:5]:
        print("only perf:   ", ";".join(stack))
    for stack in others[:5]:
        print("only perfile:", ";".join(stack))
    # What code without information is left to: a chain of perf that goes on by chance.
    return 1 if len(missing) > len(perf) // 50 or len(others) > len(perf) // 50 or not perf else 0


sys.exit(main())

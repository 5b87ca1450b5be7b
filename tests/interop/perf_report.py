"""perf_report.py: see perf_report.sh."""
import collections
import json
import os
import re
import sys

from captures import PERFILE, captures, run
from enough import enough

counted = collections.Counter()
NO_KERNEL = ["--kallsyms", "none"]  # no names of functions of the kernel
TROUBLE = re.compile("failed|rror:|Couldn|unexpected|incompatible|was the|not terminated|attribute|corrupt|Processed")


def as_text(text):
    """A name of a JSON report, as perf prints it."""
    return text if isinstance(text, str) or text is None else bytes.fromhex(text["hex"]).decode(errors="replace")


def module(dso):
    """The name of what is mapped without folders; modules of the kernel and generated code have several."""
    base = dso.rsplit("/", 1)[-1] or dso
    if base.startswith(("[kernel.", "[guest.kernel.")) or base.startswith("vmlinux"):
        return "kernel"
    if m := re.fullmatch(r"perf-(\d+)\.map", base) or re.fullmatch(r"\[JIT\] tid (\d+)", dso):
        return "jit " + m[1]
    return re.sub(r"\.ko(\.\w+)?$", "", base).strip("[]")


def place(dso, sym):
    """perf names functions of every [vdso] as this machine's has them."""
    return dso, "" if dso == "vdso" else sym


def of_perfile(path, by):
    """What stats counts, {(module, symbol): [samples, period, total period]}, and its report."""
    status, output, errors = run(PERFILE, "stats", "--json", "--total", "--by", "event," + by, *NO_KERNEL, path)
    if status not in (0, 3):
        return None, errors
    report = json.loads(output)
    found = collections.defaultdict(lambda: [0, 0, 0])
    for row in report["rows"]:
        sym = as_text(row.get("sym", ""))
        if row["dso"] is None:
            continue
        if sym and not row["named"]:
            sym = "0x%x" % int(sym.rsplit("+0x", 1)[1].rstrip("]"), 16)
        sums = found[place(module(as_text(row["dso"])), sym)]
        for i, name in enumerate(("samples", "period", "total_period")):
            sums[i] += int(row[name] or 0)
    return found, report


def of_perf(path, by, children):
    """The same of perf report, without what it makes of branch stacks and AUX data.  With `children` the total period,
    from a share that is rounded."""
    columns = "overhead_children" * children + "overhead" * (not children) + ",sample,period," + by
    status, output, errors = run("perf", "report", "-i", path, "--stdio", "--no-group", "-g", "none", "--no-inline",
                                 "--no-branch-stack", "--no-itrace", "-t", "|", "--percent-limit", "0",
                                 "--children" if children else "--no-children", "-F", columns, *NO_KERNEL)
    if status or TROUBLE.search(errors):
        return None
    found, all_periods = collections.defaultdict(lambda: [0, 0, 0]), 0
    for line in output.split("\n"):
        if m := re.match(r"# Event count \(approx\.\): (\d+)", line):
            all_periods = int(m[1])
        cells = [cell.strip() for cell in line.split("|")]
        if line.startswith("#") or len(cells) < 4:
            continue
        sym = cells[4][4:] if len(cells) > 4 else ""
        if re.fullmatch("0x[0-9a-f]+", sym):
            sym = "0x%x" % int(sym, 16)
        sums = found[place("unknown" if cells[3] == "[unknown]" else module(cells[3]), sym)]
        sums[0] += int(cells[1])
        sums[1] += int(cells[2])
        if cells[0] == "N/A":
            return None  # it adds up no call chains of a pipe whose records are compressed
        sums[2] += float(cells[0].rstrip("%")) * all_periods / 100
    return found


def differences(mine, theirs, same):
    nothing = [0, 0, 0]
    pairs = {key: (mine.get(key, nothing), theirs.get(key, nothing)) for key in {*mine, *theirs}}
    return ["%s: %s, perf: %s" % (key, *pair) for key, pair in pairs.items() if not same(*pair)]


def says_something_else(path):
    """Why perf cannot be compared, None: it can."""
    status, output, errors = run(PERFILE, "list", "events", "--json", path)
    if status not in (0, 3):
        return errors
    attrs = [event["attr"] for event in json.loads(output)["events"]]
    if any(int(attr["read_format"], 16) & 8 and int(attr["sample_type"], 16) & 16 for attr in attrs):
        return "groups that are read with each sample, which perf counts for each event"
    if any(int(attr["sample_type"], 16) & 0x2000 for attr in attrs):
        return "user stacks, which perf unwinds"
    if "simpleperf" in run(PERFILE, "info", path)[1]:
        return "simpleperf, whose symbols perf does not read"
    return None


def compare(path):
    """None, or why not; `skipped …` where perf says something else than what is stored."""
    mine, report = of_perfile(path, "dso,sym")
    if mine is None:
        return "skipped: stats: " + report
    self = {key: sums for key, sums in mine.items() if sums[0]}
    if not self:
        return "skipped: no samples"
    if report["code"]["unmapped"]:
        return "skipped: addresses without a mapping, for which perf takes that of this machine"
    if other := says_something_else(path):
        return "skipped: " + other
    theirs = of_perf(path, "dso,sym", False)
    if not theirs:
        return "skipped: perf"
    if wrong := differences(self, theirs, lambda a, b: a[:2] == b[:2]):
        return "%d rows differ: %s" % (len(wrong), wrong[:4])
    counted["rows"] += len(theirs)
    if not report["code"]["chains"]:
        return None
    whole = sum(sums[1] for sums in self.values())
    mine, theirs = of_perfile(path, "dso")[0], of_perf(path, "dso", True)
    if theirs is None:
        return "skipped: totals, which perf does not add up"
    theirs.pop(place("unknown", ""), None)  # the 0 at the end of a chain: all other addresses are mapped
    if wrong := differences(mine, theirs, lambda a, b: a[:2] == b[:2] and abs(a[2] - b[2]) <= 1e-4 * whole):
        return "%d totals differ: %s" % (len(wrong), wrong[:4])
    counted["totals"] += len(theirs)
    return None


def main():
    failed = 0
    with open("none", "w") as f:
        f.write("0000000000001000 d none\n")
    skipped = collections.Counter()
    for path, name in captures():
        if os.path.isdir(path):
            continue
        said = compare(path)
        if said and said.startswith("skipped"):
            skipped[said[:72]] += 1
        elif said:
            failed += 1
            print(name + ": " + said)
        counted["captures"] += not said
    for why, n in skipped.most_common():
        print(n, why)
    print(", ".join("%d %s" % (n, what) for what, n in sorted(counted.items())))
    for what, least, own in (("captures", 90, 15), ("rows", 6000, 150), ("totals", 15, 3)):
        failed += not enough(what, counted[what], least, own)
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())

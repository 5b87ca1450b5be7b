"""The law of writers: what a command writes, with any of its options, is a capture of which

- `validate` tells no errors that its input does not have, and the writer and `stats` count the same samples;
- `validate --for` the version of --target says that it is read, as far as the input has nothing else against it;
- perf 6.1, where it reads the input or says that it is too new, reads the result if `validate --for perf-6.1`
  says so, with as many samples as were kept, and else does not.

Commands are those of commands.def, their options those of --help, fields those of format/words.def, versions
those that `convert --target` has: what is new there and not here fails.  Captures are those of captures.py and
made.py.

writers.py N: about N of the cases, at even distances, from the one of number PERFILE_SEED (default 0); `all`: every
one.  PERFILE_ONLY: of those that fit this expression."""
import concurrent.futures
import json
import os
import re
import shutil
import sys

sys.path.insert(0, os.path.dirname(__file__))
from captures import PERFILE, SOURCE, captures, run  # noqa: E402
from made import made  # noqa: E402

INCOMPLETE = re.compile(r"failed|rror:|Couldn|unexpected|incompatible|was the|not terminated")
# Why perf does not come to the end of some pipes: not so without --stats, and not those of all tools.
OF_STATS = "without --stats it does"
# What a machine of the other byte order does not understand is no fault of a writer that was told this byte order.
EXCUSED = OF_STATS, "a little-endian machine"


def read(path):
    with open(os.path.join(SOURCE, path)) as f:
        return f.read()


def commands():
    return re.findall(r"^COMMAND\((\w+),", read("src/cli/commands.def"), re.M)


def options_of(command):
    return set(re.findall(r"^ +(?:-\w, )?(--[a-z][a-z0-9-]+)", run(PERFILE, command, "--help")[1], re.M))


FIELDS = [n.lower() for n in re.findall(r"^BITS\(sample_type, (\w+),", read("format/words.def"), re.M)]
IDS = {"id", "stream_id", "identifier"}
VERSIONS = re.findall(r"perf-[0-9.]+", run(PERFILE, "convert", "--target", "?", "-o", "x", "x")[2])
FORMS = [], ["--to", "perf.data"], ["--to", "pipe"], ["--to", "dir"]
ONE_FILE = FORMS[:3]
PACKINGS = [], ["--decompress"], ["--compress"], ["--compress=9"]

# What does not change what is written, and what is tried elsewhere (tests/cli, tests/corpus).
NEUTRAL = {"--help", "--version", "--json", "--report", "--force", "--output", "--from", "--on-damage", "--max-memory",
           "--dry-run", "--progress", "--no-progress", "--quiet", "--allow-growth", "--input", "--jobs",
           # Of archives, which perf does not read: corpus.archive, corpus.archive_filters, unit.archive_sink,
           # cli.scrub.
           "--level", "--no-verify", "--chunk-records", "--append", "--source", "--no-index", "--expand",
           # Of perfmon buffers, which perf reads when they are converted: interop.perfmon.
           "--layout", "--rate", "--cpu", "--stat"}
# Where functions come from that a condition asks for: they change what is selected, not how it is written.
OF_FUNCTIONS = {"--symfs", "--debug-dir", "--kallsyms", "--perf-map-dir", "--mangled", "--no-symbols"}
NO_WRITERS = {"info", "list", "stats", "validate", "dump", "export", "script", "schema", "damage",
              "generate"}  # of captures that perf should read


def convert_cases():
    for form in FORMS:
        yield form
        yield form + ["--byte-order", "big"]
        yield form + ["--byte-order", "little"]
        yield form + ["--compress"]
        yield form + ["--decompress"]
        yield form + ["--drop-unknown"]
        yield form + ["--scrub"]
        for version in VERSIONS:
            yield form + ["--target", version]
    yield ["--keep-unknown"]
    yield ["--scrub", "--byte-order", "big"]
    yield ["--scrub", "--compress"]
    yield ["--scrub", "--to", "pipe", "--target", "perf-5.10"]
    for version in VERSIONS:
        for more in ["--byte-order", "big"], ["--to", "pipe", "--byte-order", "big"], ["--drop-unknown"], \
                ["--compress"], ["--to", "pipe", "--compress"]:
            yield ["--target", version] + more


def filter_cases():
    for field in FIELDS:
        if field not in IDS:
            yield ["--drop-field", field]
            yield ["--drop-field", field, "--to", "pipe"]
    yield ["--drop-field", "cpu", "--to", "dir"]
    yield ["--drop-field", "time", "--to", "perf.data"]
    yield ["--drop-field", "ip,tid,time,cpu"]
    yield ["--drop-field", "tid,time,cpu", "--to", "pipe"]
    yield ["--drop-field", ",".join(f for f in FIELDS if f not in IDS)]
    yield ["--drop-field", "time", "--every", "2"]
    for form in FORMS:
        for what in ([], ["--every", "3"], ["--head", "5"], ["--time", "30%..70%"], ["--cpu", "0"],
                     ["--no-sideband", "--every", "2"], ["--compact-sideband", "--time", "40%.."],
                     ["--invert", "--time", "20%..60%"], ["--type", "SAMPLE"], ["--event", "0"]):
            yield form + what
        for packing in PACKINGS:
            yield form + packing + ["--every", "2"]
    for what in ["--where", "period > 0"], ["--ip", "0x400000.."], ["--pid", "1-100000"], ["--tid", "1-100000"], \
            ["--comm", "*"], ["--dso", "*"], ["--cgroup", "*"]:
        yield what


def sort_cases():
    for form in ONE_FILE:
        for packing in PACKINGS:
            yield form + packing


def merge_cases():
    for form in ONE_FILE:
        yield form + ["--offset", "2=0"]
        yield form + ["--align", "start", "--drop-conflicting"]
        yield form + ["--offset", "2=+1ms", "--join-events"]
        for packing in PACKINGS:
            yield form + packing + ["--offset", "2=0"]
    yield ["--offset", "2=0", "--map-pids", "--host-comm"]


def split_cases():
    for form in ONE_FILE:
        for what in ["--records", "1000"], ["--size", "100K"], ["--by", "cpu"], ["--by", "event"]:
            yield form + what
        for packing in PACKINGS:
            yield form + packing + ["--records", "1000"]
    yield ["--every", "100ms"]
    yield ["--records", "1000", "--no-sideband"]
    yield ["--records", "1000", "--compact-sideband"]


WRITERS = {"convert": convert_cases, "filter": filter_cases, "sort": sort_cases, "merge": merge_cases,
           "split": split_cases, "recover": lambda: [[], ["--to", "perf.data"]]}
# Options of damage, which tests/corpus/recover.sh tries.
OF_DAMAGE = {"recover": {"--attrs-from", "--event", "--big-endian"}}

# What a writer may refuse of a whole capture.
REFUSALS = re.compile("|".join([
    r"perf [0-9.]+ knows no COMPRESSED",  # such a version cannot have compressed records
    r"perf-[0-9.]+ cannot read directories",
    r"their ids would be at different places",  # of events of which not all have the dropped field
    r"both have AUX traces, which perf.data cannot keep apart",
]))


def validate(path, version):
    """Rules of severity error, verdict, reasons."""
    _, out, err = run(PERFILE, "validate", "--format", "json", "--for", version, path)
    try:
        told = json.loads(out)
    except ValueError:
        return {"validate: " + err.strip()}, "fails", []
    file = told["files"][0]
    rules = {f["rule"] for f in told["findings"] if f["severity"] == "error"}
    if file["failure"]:
        rules.add(str(file["failure"]))
    perf = file["perf"] or {"verdict": "fails", "reasons": []}
    return rules, perf["verdict"], perf["reasons"]


def samples_of(path):
    """And whether all of it can be read."""
    status, out, _ = run(PERFILE, "stats", "--json", path)
    try:
        return sum(int(r["records"]) for r in json.loads(out)["rows"] if r["type"] == "SAMPLE"), status == 0
    except (ValueError, KeyError):
        return None, False


def perf_samples(path):
    """Samples that perf counts; None: it does not come to its end; and what it says."""
    status, out, err = run("timeout", "60", "perf", "report", "--stats", "-i", path)
    if status != 0 or "TOTAL events" not in out or INCOMPLETE.search(err):
        return None, "perf: " + err.strip().replace("\n", "; ")[:200]
    samples = 0
    for line in out[out.index("Aggregated stats:"):].splitlines()[1:]:
        if line.endswith(" stats:"):
            break
        if re.match(r"\s*SAMPLE events:", line):
            samples = int(line.split()[2])
    return samples, ""


class Capture:
    """An input, and what is to be expected of it: found out when it is first asked."""

    def __init__(self, path, name):
        self.path, self.name, self.verdicts = path, name, {}

    def __getattr__(self, what):
        self.errors, self.verdict, _ = self.verdict_for("perf-6.1")
        self.samples, readable = samples_of(self.path)
        self.whole = readable and not self.errors
        self.perf, _ = perf_samples(self.path)
        return self.__dict__[what]

    def verdict_for(self, version):
        if version not in self.verdicts:
            self.verdicts[version] = validate(self.path, version)
        return self.verdicts[version]

    def tells(self):
        """Whether perf's failing on a result says something: it reads the input, or is said not to."""
        return self.whole and (self.perf == self.samples or self.verdict not in ("reads", "loses"))


def said(command, out):
    """Samples that the writer says it wrote, None when it does not; and the captures."""
    told = json.loads(out)
    if command == "split":
        return None, [p["name"] for p in told["parts"]]
    if command == "recover":
        return told["kept"]["samples"], [told["out"]]
    return told["kept_samples"] if command == "filter" else told["samples"], [told["out"]]


def argv_of(command, options, capture, out):
    report = ["--report", "json"] if command in ("convert", "recover") else ["--json"]
    pattern = os.path.join(out, "part-%d.data" if command == "split" else "made")
    inputs = [capture.path] * (2 if command == "merge" else 1)
    return [PERFILE, command, *report, *options, "-o", pattern, *inputs]


def look_at_target(capture, version, made_of_it):
    _, verdict, reasons = validate(made_of_it, version)
    had = {json.dumps(r) for r in capture.verdict_for(version)[2]}
    new = [r for r in reasons if json.dumps(r) not in had and not any(k in json.dumps(r) for k in EXCUSED)]
    if verdict != "reads" and new:
        yield "for %s it is '%s': %s" % (version, verdict, json.dumps(new))


def look_at_perf(capture, made_of_it, samples, verdict, reasons):
    perf, why = perf_samples(made_of_it)
    reads = verdict in ("reads", "loses")
    if perf is None and reads:
        yield "perf does not read it and the verdict is %s: %s" % (verdict, why)
    elif perf is not None and not reads and not all(OF_STATS in json.dumps(r) for r in reasons[:1]):
        yield "perf reads it and the verdict is %s: %s" % (verdict, reasons)
    elif perf is not None and reads and perf != samples:
        yield "perf counts %s samples of %s" % (perf, samples)


def look(capture, options, made_of_it, kept):
    """What is wrong with one result."""
    errors, verdict, reasons = validate(made_of_it, "perf-6.1")
    if errors - capture.errors:
        yield "errors %s" % sorted(errors - capture.errors)
    samples, _ = samples_of(made_of_it)
    if kept is not None and kept != samples:
        yield "stats counts %s samples, the writer %s" % (samples, kept)
    if "--target" in options and capture.whole:
        yield from look_at_target(capture, options[options.index("--target") + 1], made_of_it)
    if samples and capture.tells():
        yield from look_at_perf(capture, made_of_it, samples, verdict, reasons)


def try_case(number, capture, command, options):
    """(what, texts): refused, failed or tried, and why."""
    out = "case-%d" % number
    os.makedirs(out)
    try:
        status, text, err = run(*argv_of(command, options, capture, out))
        words = "status %d: %s" % (status, err.strip().replace("\n", "; ").replace(capture.path, "IN"))
        if status not in (0, 3):
            return "failed" if capture.whole and not REFUSALS.search(err) else "refused", [words]
        # A form can be one that the version does not read, and then convert says why.
        unread = "--target" in options and re.search(r"^perfile: .*: perf [\d.]+ (does not read|loses|refuses)", err, re.M)
        if capture.whole and status == 3 and not unread:
            return "failed", ["of a whole capture " + words]
        kept, files = said(command, text)
        wrong = [text for f in files for text in look(capture, options, f, kept)]
        return "failed" if wrong else "tried", wrong
    finally:
        shutil.rmtree(out)


def missing():
    """What there is and is not tried here."""
    for command in commands():
        if command in WRITERS:
            here = {o for case in WRITERS[command]() for o in case if o.startswith("--")}
            for option in sorted(options_of(command) - here - NEUTRAL - OF_FUNCTIONS - OF_DAMAGE.get(command, set())):
                yield "%s %s" % (command, option)
        elif command not in NO_WRITERS:
            yield command


def inputs():
    for path, name in captures():
        yield Capture(path, name)
    os.makedirs("made", exist_ok=True)
    for name, content in made():
        with open(os.path.join("made", name), "wb") as f:
            f.write(content)
        yield Capture(os.path.join("made", name), "made/" + name)


def choose(cases):
    wanted, seed = sys.argv[1], int(os.environ.get("PERFILE_SEED", "0"))
    step = 1 if wanted == "all" else max(1, len(cases) // int(wanted)) | 1
    chosen = cases[seed % step::step]
    print("%d cases, %d of them tried (PERFILE_SEED=%d)" % (len(cases), len(chosen), seed), flush=True)
    return chosen


def main():
    failed = list(missing())
    for what in failed:
        print("FAILED %s is not tried here" % what)
    only = re.compile(os.environ.get("PERFILE_ONLY", ""))
    cases = [(c, w, o) for c in inputs() for w, make in WRITERS.items() for o in make()
             if only.search("%s: %s %s" % (c.name, w, " ".join(o)))]
    chosen = choose(cases)
    counts = {"refused": 0, "failed": 0, "tried": 0}
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        results = pool.map(lambda i: try_case(i, *chosen[i]), range(len(chosen)))
        for (capture, command, options), (what, texts) in zip(chosen, results):
            counts[what] += 1
            for text in texts if what == "failed" else []:
                print("FAILED %s: %s %s: %s" % (capture.name, command, " ".join(options), text), flush=True)
    print(", ".join("%d %s" % (n, what) for what, n in counts.items()))
    if counts["tried"] < len(chosen) // 2:
        print("FAILED: too few were written")
        return 1
    return 1 if failed or counts["failed"] else 0


sys.exit(main())

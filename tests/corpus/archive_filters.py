"""An index never changes a result: random selections give the same on an archive, whose chunks are small so that
many can be passed over, on the same archive without its index, and on the capture that it was made of: the same
output, messages and exit status."""
import json
import os
import random
import subprocess
import sys

from chosen import CASES, SEED
from enough import enough
from small_captures import PERFILE, captures, values_of

COMMANDS = (["filter", "-f", "-o", "out"], ["stats"], ["stats", "--by", "comm"],
            ["dump", "--format", "tsv", "--fields", "offset,type,time,pid,tid,cpu"], ["info", "--json"],
            ["list", "threads"])
pick = random.Random(SEED)


def selection(values):
    """A few random terms."""
    terms = []
    for option, field in (("--pid", "pid"), ("--tid", "tid"), ("--cpu", "cpu")):
        if pick.random() < 0.3:
            some = pick.sample(values[field], min(len(values[field]), pick.randint(1, 3))) or ["4000000000"]
            terms += [option, ",".join(some)]
    if pick.random() < 0.6:
        a, b = sorted((pick.randint(0, 100), pick.randint(0, 100)))
        terms += ["--time", "%d%%..%d%%" % (a, b)]
    for option in ("--invert", "--no-sideband", "--compact-sideband"):
        if pick.random() < 0.1:
            terms.append(option)
    for option, most in (("--every", 5), ("--head", 9)):
        if pick.random() < 0.1:
            terms += [option, str(pick.randint(2, most))]
    if pick.random() < 0.1:
        terms += ["--where", "cpu == 0 || period > 1000"]
    if pick.random() < 0.1:
        terms += ["--event", "0"]
    return terms


def run(command, options, name):
    """What the command says, prints and writes, of the file that is called `name` there."""
    if os.path.exists("out"):
        os.remove("out")
    done = subprocess.run([PERFILE] + command[:1] + options + command[1:] + [name], capture_output=True)
    written = open("out", "rb").read() if os.path.exists("out") else None
    printed = done.stdout
    if command[0] == "info" and done.returncode in (0, 3):
        said = json.loads(printed)
        for name in ("archive", "captured", "file_bytes"):  # of the archive, and of the time of its file
            said.pop(name, None)
        printed = json.dumps(said).encode()
    return done.returncode, printed, done.stderr, written


def main():
    tried = failed = skipped = 0
    for capture in captures():
        if SEED and pick.random() > 1 / CASES:
            continue
        for name in ("x", "capture", "archive"):
            if os.path.lexists(name):
                os.remove(name)
        size = pick.choice((1, 5, 20, 100))
        packed = subprocess.run([PERFILE, "convert", "--to", "archive", "--chunk-records", str(size), "-o", "archive",
                                 capture], capture_output=True)
        if packed.returncode not in (0, 3):
            print("%s: not packed: %s" % (capture, packed.stderr.decode()))
            failed += 1
            continue
        os.symlink(capture, "capture")
        values = values_of(capture, ("pid", "tid", "cpu"))
        for command in COMMANDS:
            options = [] if command[0] == "info" else selection(values)
            if command[0] != "filter":
                options = [o for o in options if o not in ("--no-sideband", "--compact-sideband")]
            results = []
            for file, more in (("capture", []), ("archive", []), ("archive", ["--no-index"])):
                os.rename(file, "x")
                results.append(run(command, options + more, "x"))
                os.rename("x", file)
            tried += 1
            skipped += bool(results[0][0] == 2)
            if results[1] != results[0] or results[2] != results[0]:
                print("PERFILE_SEED=%d: %s, chunks of %d: %s %s" % (SEED, capture, size, " ".join(command),
                                                                    " ".join(options)))
                for result in results:
                    print("   ", result[0], len(result[1]), result[2][:200], result[3] and len(result[3]))
                failed += 1
    print("%d selections, %d of them refused, %d differ" % (tried, skipped, failed))
    if not enough("selections", tried - skipped, 960 // CASES, 60 // CASES):
        failed += 1
    return failed != 0


sys.exit(main())

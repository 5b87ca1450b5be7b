"""damage_command.py PERFILE SOURCE: `perfile damage` makes what it says, and `perfile validate` reports it.

For each capture --all makes a folder of files.  The report must name each file, and for each file `perfile validate`, which
is another process that reads the file, must report the rule of the report at least once more than for the capture.
The rules in the report must be among those of --list, and all damages must be made in one capture or another."""
import collections
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys

perfile, source = sys.argv[1:3]
samples = os.path.join(source, "samples/captures")
UNDAMAGED = ("cpu-clock callgraph dwarf group tracepoints mixed switch namespaces stat overwrite fields big-endian zstd "
             "pipe pipe-zstd pipe-tracepoints").split()
failed = 0


def check(right, *words):
    global failed
    if not right:
        failed += 1
        print(*words)


def run(*words, status=0, **how):
    done = subprocess.run([perfile, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300, **how)
    check(done.returncode == status, words, "status", done.returncode, done.stderr.decode())
    return done.stdout


def sums(folder):
    return {name: hashlib.sha256(open(os.path.join(folder, name), "rb").read()).hexdigest()
            for name in sorted(os.listdir(folder)) if os.path.isfile(os.path.join(folder, name))}


def findings(paths):
    """How often each rule is broken: path -> {rule: count}."""
    done = subprocess.run([perfile, "validate", "--json", "--all", *paths], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=300)
    check(done.returncode in (0, 3), "validate", done.returncode, done.stderr.decode()[:500])
    found = collections.defaultdict(collections.Counter)
    for finding in json.loads(done.stdout)["findings"]:
        found[finding["file"]][finding["rule"]] += 1
    return found


def values(data, change, order):
    at, n = int(change["offset"]), change["bytes"]
    return str(int.from_bytes(data[at:at + n], order))


def examine(capture, folder, report, rules):
    """The report of --all against the files that it made."""
    original = open(capture, "rb").read()
    order = "big" if original[:8] == b"2ELIFREP" else "little"
    names = [change["out"] for change in report["changes"]]
    check(len(set(names)) == len(names), capture, "names are not unique")
    check(sorted(names) == sorted(os.listdir(folder)), capture, "other files than those of the report")
    made = {change["damage"] for change in report["changes"]}
    check(not made & set(report["not_applicable"]), capture, "made and not applicable")
    check(made | set(report["not_applicable"]) == set(rules), capture, "a damage is missing in the report")
    paths = [os.path.join(folder, name) for name in names]
    found, before = findings(paths), findings([capture])[capture]
    for change, path in zip(report["changes"], paths):
        rule, data = change["rule"], open(path, "rb").read()
        check(change["out"].startswith(change["damage"] + "."), change)
        check(any(rule.startswith(start) for start in rules[change["damage"]].split(",")), change, "a rule that --list does not have")
        check(found[path][rule] > before[rule], path, "does not break", rule, dict(found[path]))
        check(data != original, path, "is not damaged")
        if "before" in change:
            check(values(original, change, order) == change["before"], change, "had another value")
            check(values(data, change, order) == change["after"], change, "has another value")
            at = int(change["offset"])
            check(len(data) == len(original) and data[:at] == original[:at] and
                  data[at + change["bytes"]:] == original[at + change["bytes"]:], change, "changed other bytes")
    for path in paths[::23]:
        done = subprocess.run([perfile, "dump", path], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, timeout=60)
        check(done.returncode in (0, 1, 3), "dump", path, done.returncode)
    return made


rules = {row["name"]: row["rules"] for row in json.loads(run("damage", "--list", "--json"))["damages"]}
known = set(re.findall(r"^(V-\d+)", run("validate", "--rules").decode(), re.M))
check(len(rules) >= 15 and len(known) > 100, "the lists are not understood")
for name, starts in rules.items():
    for start in starts.split(","):
        check(any(rule.startswith(start) for rule in known), name, "has an unknown rule", start)
table = re.findall(r'^FAULT\(\w+, +"([^"]+)"', open(os.path.join(source, "format/faults.def")).read(), re.M)
check(table == list(rules), "--list differs from format/faults.def")

everything, differ = set(), 0
originals = sums(samples)
for name in UNDAMAGED:
    capture = os.path.join(samples, name + ".data")
    report = json.loads(run("damage", "--all", "a", "--json", capture))
    everything |= examine(capture, "a", report, rules)
    # The same seed gives the same bytes, also from a pipe; another seed gives others.
    with open(capture, "rb") as pipe:
        run("damage", "--all", "b", "-", stdin=pipe)
    check(sums("a") == sums("b"), name, "another run gives other files")
    run("damage", "--all", "c", "--seed", "1", capture)
    differ += sums("a") != sums("c")
    for folder in "abc":
        shutil.rmtree(folder)
check(everything == set(rules), "never made:", set(rules) - everything)
check(differ == len(UNDAMAGED), "another seed gives the same files for", len(UNDAMAGED) - differ, "captures")
check(sums(samples) == originals, "an input has changed")

# One file with several damages has the rules of all of them.
capture = os.path.join(samples, "cpu-clock.data")
for seed in range(5):
    report = json.loads(run("damage", "--do", "time-back,period-0,feature-outside", "--seed", str(seed), "--json", "-f", "-o", "many", capture))
    found = findings(["many"])["many"]
    check(len(report["changes"]) == 3 and report["out"] == "many", report)
    for change in report["changes"]:
        check(found[change["rule"]] > 0, seed, change, "is not reported")
check(os.listdir(".") == ["many"], os.listdir("."))

# Damaged files are damaged again, or the damage is not applicable; never anything else.
for name in sorted(os.listdir(samples)):
    if name.endswith(".data"):
        for fault in ("record-size-0", "count-too-large", "records-swapped", "zstd-broken"):
            done = subprocess.run([perfile, "damage", "--do", fault, "-f", "-o", "out", os.path.join(samples, name)],
                                  stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60)
            check(done.returncode in (0, 1), name, fault, done.returncode)
            check(os.path.exists("out") == (done.returncode == 0), name, fault, "the file is there without success, or the reverse")
            if os.path.exists("out"):
                os.remove("out")
sys.exit(failed > 0)

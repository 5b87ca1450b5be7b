"""habits.py COMMAND SOURCE: what people type who have not read the manual."""
import bz2
import gzip
import json
import lzma
import os
import pty
import re
import shutil
import subprocess
import sys
import threading

from chosen import chosen

perfile, source = sys.argv[1:3]
samples = os.path.join(source, "samples/captures")
commands = re.findall(r"^COMMAND\((\w+),", open(os.path.join(source, "src/cli/commands.def")).read(), re.M)
for command in ("schema", "generate"):  # they read no capture
    commands.remove(command)
commands.remove("damage")  # it needs an intact capture; see damage_command.sh
writers = ("convert", "filter", "merge", "recover", "sort", "split")
reporters = [c for c in commands if c not in writers]
failed = 0


def check(ok, *what):
    global failed
    if not ok:
        failed += 1
        print(*what)


def run(*words, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE):
    return subprocess.run([perfile, *words], stdin=stdin, stdout=stdout, stderr=subprocess.PIPE, text=True, timeout=60,
                          errors="surrogateescape")


def expect(status, said, *words, **more):
    """`said` is on standard error, None: nothing."""
    done = run(*words, **more)
    check(done.returncode == status, words, "status", done.returncode, "not", status, done.stderr)
    if said is None:
        check(not done.stderr, words, "says", done.stderr)
    else:
        check(said in done.stderr, words, "does not say", repr(said), done.stderr)
    return done


def files(path):
    return {os.path.join(d, f): open(os.path.join(d, f), "rb").read() for d, _, fs in os.walk(path) for f in fs}


for name in ("callgraph.data", "group.data", "killed.data", "bad-size.data", "garbage.data", "pipe.data", "mixed.data",
             "cpu-clock.data"):
    shutil.copy(os.path.join(samples, name), name)
pattern = {c: "o-%d" if c == "split" else "o" for c in writers}
way = {c: ["--records", "5"] if c == "split" else [] for c in commands}
way["list"] = ["events"]
way["export"] = ["--to", "folded"]

# Words that are nearly right.
for wrong, right in (("stat", "stats"), ("inof", "info"), ("fliter", "filter"), ("Dump", "dump"), ("recove", "recover")):
    expect(2, f"did you mean {right}", wrong, "x")
expect(2, "unknown command 'frobnicate'\n", "frobnicate")
# Commands of perf: each that we have something for names a command line that is none of nonsense, others say that
# there is nothing, and none is answered by similar letters.
named = 0
for word in ("annotate archive bench buildid-cache buildid-list c2c config daemon data diff evlist ftrace inject iostat "
             "kallsyms kmem kvm kwork lock mem probe record report sched test timechart top trace").split():
    said = expect(2, f"unknown command '{word}'; perf", word, "x").stderr
    check("did you mean" not in said, word, said)
    for line in re.findall(r"`perfile ([^`]*)`", said):
        line = line.replace("BEFORE AFTER", "callgraph.data callgraph.data").split()
        line += ["time", "cpu-clock.data"] if line[-1] == "--fields" else ["cpu-clock.data"]
        if line[0] in writers:
            line[1:1] = ["-o", "perfs"]
        done = run(*line)
        check(done.returncode == 0, word, line, done.stderr)
        shutil.rmtree("perfs", ignore_errors=True) if os.path.isdir("perfs") else os.path.exists("perfs") and os.remove("perfs")
        named += 1
check(named >= 12, "command lines for perf's commands:", named)
check("`perfile stats --by sym`" in run("report").stderr, "report")
for words, meant in (
        (("info", "--jsno", "x"), "--json"), (("info", "-json", "x"), "--json"), (("list", "evnts", "x"), "events"),
        (("stats", "--sort", "byte", "x"), "bytes"), (("dump", "--format", "jsnl", "x"), "jsonl"),
        (("dump", "--type", "sampel", "x"), "SAMPLE"), (("stats", "--type", "mmap22", "x"), "MMAP2"),
        (("convert", "--byte-order", "litle", "-o", "o", "x"), "little"), (("split", "--by", "pids", "-o", "%d", "x"), "pid"),
        (("filter", "--on-damage", "salvge", "-o", "o", "x"), "salvage"), (("filter", "--too", "x"), "--to"),
        (("filter", "--type", "SAMPEL", "-o", "o", "x"), "SAMPLE"), (("validate", "--severity", "eror", "x"), "error"),
        (("merge", "--join-event", "--aling", "start", "x"), "--align"), (("stats", "--by", "com", "cpu-clock.data"), "comm"),
        (("filter", "--where", "perid > 1", "-o", "o", "cpu-clock.data"), "period"), (("dump", "--format", "jsonlines", "x"), "jsonl"),
        (("dump", "--fields", "tim", "cpu-clock.data"), "time"), (("dump", "--fields", "pid,cmm", "cpu-clock.data"), "comm"),
        (("dump", "--fields", "perid", "cpu-clock.data"), "period"), (("dump", "--fields", "mmap2.filname", "x"), "mmap2.filename"),
        (("dump", "--fields", "sequenc", "cpu-clock.data"), "sequence"), (("dump", "--fields", "time_enabld", "cpu-clock.data"), "values.time_enabled")):
    done = expect(2, "did you mean", *words)
    check(re.search(rf"did you mean [^?]*{re.escape(meant)}", done.stderr), words, "does not suggest", meant, done.stderr)
# Every option of every command with one letter more is suggested.
for command in (*commands, "schema", "damage", "generate"):
    text = run(command, "--help").stdout
    for option in sorted(set(re.findall(r"^ +(?:-\w, )?(--[a-z0-9-]+)", text, re.M))):
        if not chosen():
            continue
        done = expect(2, "unknown option", command, option + "q")
        check(re.search(rf"did you mean [^?]*{option}\b", done.stderr), command, option, done.stderr)

expect(2, "there is no frobnicate, nor a field of a tracepoint (--fields)\n", "dump", "--fields", "frobnicate", "cpu-clock.data")
# Every field that is suggested is one: each word of --fields with one letter less.
for field in ("type misc cpumode size offset sequence event comm dso ip time addr period callchain raw data_src cgroup "
              "mmap2.pgoff mmap2.build_id fork.ppid sample_id.time values.time_enabled regs_user.abi").split():
    done = expect(2, "did you mean", "dump", "--fields", field[:-1] + "q", "cpu-clock.data")
    for meant in re.split(", | or ", re.search(r"did you mean ([^?]*)", done.stderr)[1]):
        done = run("dump", "--fields", meant, "--limit", "1", "callgraph.data")
        check(done.returncode == 0, "the suggested field", meant, "is none:", done.stderr)

# -i, --input: in every command, as the operand would be.
for command in commands:
    shutil.rmtree("a", ignore_errors=True)
    shutil.rmtree("b", ignore_errors=True)
    os.mkdir("a")
    os.mkdir("b")
    out = (lambda d: ["-o", f"{d}/{pattern[command]}"]) if command in writers else (lambda d: [])
    plain = run(command, *way[command], *out("a"), "callgraph.data")
    check(plain.returncode == 0, command, plain.stderr)
    for form in (["-i", "callgraph.data"], ["-icallgraph.data"], ["--input=callgraph.data"], ["--input", "callgraph.data"]):
        if not chosen():
            continue
        shutil.rmtree("b")
        os.mkdir("b")
        given = run(command, *form, *way[command], *out("b"))
        check(given.returncode == 0 and given.stdout == plain.stdout, command, form, given.stderr)
        check(sorted(os.path.basename(f) for f in files("a")) == sorted(os.path.basename(f) for f in files("b")), command, form)
        check(sorted(files("a").values()) == sorted(files("b").values()), command, form, "writes something else")
check(run("stats", "-i", "callgraph.data", "-i", "group.data", "mixed.data").stdout ==
      run("stats", "mixed.data", "callgraph.data", "group.data").stdout, "several -i")

# perf.data is the default on a terminal, and never where standard input may be meant.
os.mkdir("home")
shutil.copy("callgraph.data", "home/perf.data")
os.chdir("home")


def on_terminal(*words, out=False, typed=b""):
    """Standard input (with `out` also standard output) is a terminal; what stands there, and the status."""
    master, slave = pty.openpty()
    child = subprocess.Popen([perfile, *words], stdin=slave, stdout=slave if out else subprocess.PIPE,
                             stderr=subprocess.PIPE)
    os.close(slave)
    shown = []

    def read():
        try:
            while piece := os.read(master, 65536):
                shown.append(piece)
        except OSError:  # the other end is closed
            pass

    reader = threading.Thread(target=read)
    reader.start()
    os.write(master, typed)
    stdout, stderr = child.communicate(timeout=60)
    reader.join()
    os.close(master)
    return child.returncode, stdout or b"", stderr.decode(), b"".join(shown)


for command in commands:
    if command == "merge":
        continue
    out = ["-f", "-o", f"../d-{pattern[command]}"] if command in writers else []
    status, stdout, stderr, _ = on_terminal(command, *way[command], *out)
    check(status == 0, command, "does not take perf.data", status, stderr)
    expect(2, "missing input", command, *way[command], *out)
    # A pipe or file that standard input was redirected to is the input.
    expect(3 if command == "validate" else 1, None if command == "validate" else "standard input: offset 0: empty", command, *way[command], *out, stdin=subprocess.PIPE)
os.remove("perf.data")
status, _, stderr, _ = on_terminal("info")
check(status == 2 and "there is no perf.data here" in stderr, stderr)
os.chdir("..")

# A terminal is not given what is binary, and whoever waits on one is told.
for words in (["convert"], ["filter"], ["sort"], ["merge"], ["recover"], ["dump", "--format", "cbor"]):
    status, _, stderr, shown = on_terminal(*words, "-o", "-", "pipe.data", out=True)
    check(status == 2 and "is a terminal" in stderr and "redirect" in stderr, words, status, stderr)
    check(b"PERFILE2" not in shown, words, "wrote to the terminal")
status, _, stderr, shown = on_terminal("dump", "pipe.data", out=True)
check(status == 0 and b"SAMPLE" in shown, "dump as text to a terminal", stderr)
status, _, stderr, _ = on_terminal("info", "-", typed=b"hello there and more\n\x04")
check("standard input is a terminal: waiting for a capture" in stderr and "perf record -o -" in stderr, stderr)
check("waiting" not in run("info", "-", stdin=open("pipe.data")).stderr, "waits without a terminal")

# --on-damage everywhere, with its older names.
text = {c: run(c, "--help").stdout for c in commands}
for command in commands:
    check("--on-damage" in text[command], command, "has no --on-damage in its help")
    check("--json" in text[command] or command == "script", command, "has no --json in its help")
    check("-i, --input" in text[command], command, "has no -i in its help")
    if command in writers:
        check(re.search(r"^ +-f, --force", text[command], re.M), command, "has no -f, --force in its help")
    if command == "recover":
        continue
    words = [command, *way[command]]
    records = {}
    for policy in ("stop", "resync", "salvage", "fail"):
        out = ["-f", "-o", pattern[command]] if command in writers else []
        if os.path.exists("o"):
            os.remove("o")
        done = run(*words, "--on-damage", policy, *out, "garbage.data")
        check(done.returncode == (1 if policy == "fail" else 3), command, policy, done.returncode, done.stderr)
        if policy == "fail" and command in writers:
            check(not os.path.exists("o"), command, "wrote with fail")
        if policy == "fail" and command in ("info", "list", "stats"):
            check(not done.stdout, command, "reported with fail")
        records[policy] = open("o", "rb").read() if os.path.exists("o") and command != "split" else done.stdout
    old = run(*words, "--resync", *(["-f", "-o", pattern[command]] if command in writers else []), "garbage.data")
    check(old.returncode == 3, command, "--resync", old.stderr)
    if command in ("stats", "dump", "convert", "filter", "sort"):
        check(records["stop"] != records["resync"], command, "resync reads no more than stop")
expect(1, "on-damage", "info", "--on-damage", "fail", "killed.data")
expect(2, "did you mean salvage", "recover", "--on-damage", "salvag", "-n", "killed.data")
expect(3, None or "kept", "recover", "--on-damage", "salvage", "-f", "-o", "o", "killed.data")

# convert: copy is every byte; what is whole stays as it is with any policy; --force is what it was.
damaged = open("garbage.data", "rb").read()
for words in (["--on-damage", "copy"], ["--force"]):
    expect(3, "", "convert", *words, "-f", "-o", "o", "garbage.data")
    check(open("o", "rb").read() == damaged, words, "changes bytes")
for policy in ("fail", "copy", "stop", "resync", "salvage"):
    for name in ("callgraph.data", "pipe.data"):
        expect(0, None, "convert", "--on-damage", policy, "-f", "-o", "o", name)
        check(open("o", "rb").read() == open(name, "rb").read(), name, policy, "changes bytes")
        expect(0, None, "convert", "--on-damage", policy, "-f", "-o", "o", "-", stdin=open(name, "rb"))
        check(open("o", "rb").read() == open(name, "rb").read(), name, policy, "changes bytes of standard input")
samples_of = {}
for policy in ("stop", "resync", "salvage"):
    done = run("convert", "--on-damage", policy, "--json", "-f", "-o", "o", "garbage.data")
    samples_of[policy] = json.loads(done.stdout)["samples"]
    check(run("validate", "--severity", "error", "o").returncode == 0, "convert --on-damage", policy, "is damaged")
check(0 < samples_of["stop"] < samples_of["resync"], samples_of)
expect(1, "File exists", "convert", "-o", "o", "callgraph.data")
expect(0, None, "convert", "--force", "-o", "o", "callgraph.data")
check(open("o", "rb").read() == open("callgraph.data", "rb").read(), "convert --force does not replace")

# --json, and its older spellings.
for command in commands:
    if command == "script":  # its text is for programs as it is
        continue
    out = ["-f", "-o", pattern.get(command, "o")] if command in (*writers, "export") else [] # its report is beside it
    done = run(command, *way[command], "--json", *out, "callgraph.data")
    check(done.returncode == 0, command, "--json", done.stderr)
    for line in done.stdout.splitlines():
        json.loads(line)
    check(done.stdout, command, "--json gives nothing")
for one, other in ((["convert", "-f", "-o", "o", "--json"], ["convert", "-f", "-o", "o", "--report", "json"]),
                   (["recover", "-n", "--json"], ["recover", "-n", "--report", "json"]),
                   (["dump", "--json"], ["dump", "--format", "jsonl"]),
                   (["validate", "--json"], ["validate", "--format", "json"])):
    check(run(*one, "callgraph.data").stdout == run(*other, "callgraph.data").stdout, one, other)

# Files that are something else.
whole = open("callgraph.data", "rb").read()
for name, data, words in (("a.gz", gzip.compress(whole), "gzip -dc"), ("a.xz", lzma.compress(whole), "xz -dc"),
                          ("a.bz2", bz2.compress(whole), "bzip2 -dc"), ("a.zst", b"\x28\xb5\x2f\xfd" + gzip.compress(whole), "zstd -dc"),
                          ("elf", open(perfile, "rb").read(5000), "ELF"),
                          ("script.txt", b"perl 123 [000] 12.345: 1 cycles: ffff\n", "perf script")):
    open(name, "wb").write(data)
    for command in ("info", "stats", "dump", "list", "validate"):
        done = run(command, *way[command], name)
        check(done.returncode in (1, 3) and words in done.stdout + done.stderr, command, name, done.stdout, done.stderr)
    for command in ("convert", "filter", "sort", "merge"):
        expect(1, words, command, "-f", "-o", "o", name)
    expect(1, words, "info", "-", stdin=open(name, "rb"))
    # A file that was made unreadable may look like this, too: it is only said when nothing is left.
    expect(1, words, "recover", "-f", "-o", "o", name)
    expect(1, words, "recover", "-n", "-", stdin=open(name, "rb"))
    check(words in json.loads(run("recover", "-n", "--json", name).stdout)["error"], name, "recover --json")
open("begins.data", "wb").write(b"perl 123 [000] 12.345: 1 cycles: ffff\n" + whole[38:])
expect(3, "would keep", "recover", "-n", "begins.data")
os.mkdir("empty-folder")
done = expect(1, "'data'", "info", "empty-folder")
check("perf record --threads" in done.stderr, done.stderr)

# Filters: forms of perf, and nothing selected is said with what there is.


def kept(*words, name="callgraph.data"):
    done = run("filter", "--json", "-f", "-o", "o", *words, name)
    check(done.returncode == 0, words, done.stderr)
    return json.loads(done.stdout or '{"kept_samples":-1}')["kept_samples"]


info = json.loads(run("info", "--json", "callgraph.data").stdout)
first, last = (int(info["time"][k]) / 1e9 for k in ("first", "last"))
middle = (first + last) / 2
everything = kept()
check(everything > 10, info)
check(kept("--time", f"{first - 1:.6f},{last + 1:.6f}") == everything, "A,B")
check(0 < kept("--time", f",{middle:.6f}") < everything, ",B")
for perfs, ours in ((["--time", f"{middle:.6f},"], ["--time", f"{middle:.6f}.."]), (["--time", "10%-20%"], ["--time", "10%..20%"]),
                    (["--time", "10%,20%"], ["--time", "10%..20%"]), (["--time", "25%/2"], ["--time", "25%..50%"]),
                    (["--time", "0%-25%,50%-75%"], ["--time", "0%..25%", "--time", "50%..75%"]),
                    (["--comm", "work,child"], ["--comm", "work", "--comm", "child"]),
                    (["--dso", "work,[[]kernel.kallsyms]"], ["--dso", "work", "--dso", "[[]kernel.kallsyms]"])):
    check(kept(*perfs) == kept(*ours), perfs, ours)
clock, faults = (kept("--event", n, name="mixed.data") for n in "01")
for both in ("0,1", "cpu-clock*,page-faults*", "cpu-clock/call-graph=fp,period=1000000/,page-faults/call-graph=no,period=4/"):
    check(kept("--event", both, name="mixed.data") == clock + faults > clock > 0, both, clock, faults)
check(kept("--event", "cpu-clock/call-graph=fp,period=1000000/", name="mixed.data") == clock, "a name with a comma")
expect(2, "no event is called 'cyces'", "filter", "--event", "0,cyces", "-f", "-o", "o", "mixed.data")
for bad in ("5", ",", "10%", "10%/0", "10%/11", "0%/1", "x,y"):
    done = run("filter", "--time", bad, "-f", "-o", "o", "callgraph.data")
    check(done.returncode == 2 or False, bad, done.stderr)
times = f"time {info['time']['first'][:-9]}."
for words, there in ((["--time", "1,2"], times), (["--pid", "1"], "pid "), (["--tid", "1"], "tid "), (["--ip", "1"], "ip 0x"),
                     (["--comm", "nobody"], "threads called "), (["--dso", "nothing"], "files "),
                     (["--where", "period == 12345"], times)):
    done = expect(0, "no sample is selected; the capture has", "filter", *words, "-f", "-o", "o", "callgraph.data")
    check(there in done.stderr, words, "does not say", there, done.stderr)
    with open("callgraph.data", "rb") as file:
        piped = expect(0, "no sample is selected", "filter", *words, "-f", "-o", "o", "-", stdin=file)
        check(there in piped.stderr, words, "of standard input does not say", there, piped.stderr)
    check(run("validate", "--severity", "error", "o").returncode == 0, words)
    # stats, list and dump say the same, beside their reports.
    note = [line for line in done.stderr.splitlines() if "no sample is selected" in line]
    for command in (["stats"], ["stats", "--by", "comm,dso", "--json"], ["list", "threads"], ["dump"], ["dump", "--json"]):
        if not chosen():
            continue
        other = run(*command, *words, "callgraph.data")
        check(other.returncode == 0 and other.stderr.splitlines() == note, command, words, other.returncode, other.stderr)
        if "--json" in command:
            [json.loads(line) for line in other.stdout.splitlines()]
    piped = expect(0, "no sample is selected", "stats", *words, "-", stdin=subprocess.Popen(
        ["cat", "pipe.data"], stdout=subprocess.PIPE).stdout)
    check(there.split()[0] in piped.stderr, words, "of a pipe does not say", there, piped.stderr)
# Samples of several threads are not in order of time: the range is that of all.
expect(0, "has 42 samples, time 3405.438160220..3405.460334441", "filter", "--where", "period == 12345", "-f", "-o", "o", "pipe.data")
for command in (["filter", "-f", "-o", "o"], ["stats"], ["list", "threads"], ["dump"]):
    for words in (["--type", "COMM"], ["--pid", "0.."], ["--where", "type == COMM"], []):
        expect(0, None if command[0] != "filter" else "kept", *command, *words, "callgraph.data")
        check("no sample" not in run(*command, *words, "callgraph.data").stderr, command, words, "something is selected")
    done = expect(0, "--cgroup selects no sample: no event records", *command, "--cgroup", "x", "callgraph.data")
check(not run("dump", "--limit", "1", "--pid", "0..", "callgraph.data").stderr, "dump that does not read to the end")
sys.exit(failed != 0)

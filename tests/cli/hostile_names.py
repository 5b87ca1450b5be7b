"""hostile_names.py COMMAND SOURCE HOSTILE: what comes out of perfile never drives a terminal.

Captures, names of files and directories, and arguments of every option of every command hold escape
sequences, line breaks, bytes that are no UTF-8 and marks of direction.  Standard output (text and
reports) and standard error must hold none of them, and no line may begin with what was put in."""
import os
import re
import shutil
import subprocess
import sys

from chosen import CASES, chosen

perfile, source, hostile = sys.argv[1:4]
samples = os.path.join(source, "samples/captures")
EVIL = b"\x1b]0;owned\x07\nINJECTED: \xff\xc2\x9b31m\r\x7f\xe2\x80\xae'; rm -rf x"
BIDI = re.compile("[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
tried = failed = 0


def look(words, data, where, json=False):
    """Nothing that a terminal obeys is in `data`."""
    wrong = None
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as e:
        wrong = f"no UTF-8: {e}"
        text = ""
    if any(c < 0x20 and c not in b"\n\t" for c in data):
        wrong = "a control character"
    if not json and (b"\x7f" in data or any("\x80" <= c < "\xa0" for c in text) or BIDI.search(text)):
        wrong = "DEL, C1 or a mark of direction"
    if re.search(rb"^INJECTED", data, re.M):
        wrong = "a line that was put in"
    if wrong:
        global failed
        failed += 1
        print(f"{words}: {where}: {wrong}: {data[:600]!r}")


def run(*words, stdin=b""):
    global tried
    tried += 1
    words = [w if isinstance(w, bytes) else w.encode() for w in words]
    done = subprocess.run([os.fsencode(perfile), *words], input=stdin, capture_output=True, timeout=120)
    # JSON Lines escape in the way of JSON and nothing more.
    dump_json = b"jsonl" in words or (words[:1] == [b"dump"] and b"--json" in words)
    binary = b"cbor" in words
    if not binary:
        look(words, done.stdout, "standard output", dump_json)
    look(words, done.stderr, "standard error")
    if done.returncode not in (0, 1, 2, 3):
        global failed
        failed += 1
        print(f"{words}: status {done.returncode}: {done.stderr!r}")
    return done


def put_evil(data):
    """The capture with names of the same length that are evil."""
    for name in (b"cpu-clock\0", b"perf-exec\0", b"work\0", b"helper\0"):
        at = data.find(name)
        while at >= 0:
            evil = EVIL[: len(name) - 1]
            data = data[:at] + evil + data[at + len(evil):]
            at = data.find(name, at + 1)
    return re.sub(rb"/usr/[a-z/]{8}", b"/\x1b[2J\n\r\x07\xff\xc2\x9b\x7fx", data)


commands = re.findall(r"^COMMAND\((\w+),", open(os.path.join(source, "src/cli/commands.def")).read(), re.M)
assert len(commands) > 5
files = []
for name in ("callgraph.data", "pipe.data", "tracepoints.data", "killed.data"):
    evil = put_evil(open(os.path.join(samples, name), "rb").read())
    assert b"\x1b" in evil, name
    path = EVIL[:24].replace(b"/", b"") + b"-" + name.encode()
    open(path, "wb").write(evil)
    files.append(path)
for name in ("evil.data", "evil-pipe.data"):
    if os.path.exists(os.path.join(hostile, name)):
        files.append(os.fsencode(os.path.join(hostile, name)))
# A capture in a directory whose parts have such names.
folder = b"folder\x1b[1m\nINJECTED"
shutil.copytree(os.path.join(samples, "threads.data"), os.fsdecode(folder))
open(folder + b"/data.\x1b\nINJECTED", "wb").write(b"x")
open(folder + b"/more\x1b\nINJECTED", "wb").write(b"x")
files += [folder, b"missing\x1b\nINJECTED", b"-\x1b\nINJECTED"]
open(b"-\x1b\nINJECTED", "wb").write(put_evil(open(os.path.join(samples, "killed.data"), "rb").read()))

listed = ("events", "ids", "processes", "threads", "mappings", "build-ids", "features", "cpus")
for path in files:
    for words in (["info"], ["info", "--json"], ["validate"], ["validate", "--all"], ["validate", "--json"],
                  ["validate", "--format", "sarif"], ["dump"], ["dump", "--hex"], ["dump", "--json"],
                  ["stats", "--by", "comm,event"], ["stats", "--json", "--by", "comm,event"],
                  ["recover", "-n"], ["recover", "-n", "--json"],
                  *(["list", what] for what in listed), *(["list", what, "--json"] for what in listed),
                  ["list", "events", "--verbose"], ["list", "threads"]):
        if chosen():
            run(*words, "-i", path)
    for command in ("convert", "filter", "sort", "recover", "merge"):
        out = b"out\x1b\nINJECTED"
        run(command, "-f", "-o", out, "--", path)
        run(command, "-o", out, "--", path)
        run(command, "-f", "-o", out, "--json", "--", path)
    run("filter", "--event", b"zz" + EVIL, "-f", "-o", "o", "--", path)
    run("filter", "--comm", b"zz" + EVIL, "-f", "-o", "o", "--", path)
    run("filter", "--dso", b"zz", "-f", "-o", "o", "--", path)
    run("split", "--by", "comm", "-f", "-o", b"p\x1b-%d-%s", "--", path)
    run("stats", "--by", "comm", path, path)

# Each option of each command, with and without a value.
for command in commands:
    text = subprocess.run([perfile, command, "--help"], capture_output=True, check=True).stdout.decode()
    options = sorted(set(re.findall(r"(?<![\w-])(--[a-z][a-z0-9-]+|-[a-zA-Z])(?![\w-])", text)))
    assert command in ("schema", "generate", "damage") or "--from" in options and "--on-damage" in options and "-i" in options, (command, options)
    for option in options:
        for words in ([option, EVIL], [option.encode() + b"=" + EVIL], [option + "x", EVIL], [option]):
            if chosen():
                run(command, *words, "-o", "o", os.path.join(samples, "group.data"))
    for words in ([EVIL], [b"--" + EVIL], [b"-" + EVIL], [EVIL, EVIL, EVIL], ["-o", EVIL]):
        run(command, *words)
run(EVIL)
run(b"--" + EVIL)
run("help", EVIL)
run("dump", "-o", b"no/such\x1b/INJECTED", os.path.join(samples, "group.data"))

# What is said to type next is one word for a shell, and reads the same file.
copy = put_evil(open(os.path.join(samples, "killed.data"), "rb").read())
for name in (b"a b.data", b"it's;ls.data", b"-x.data", b"\x1b[2J\n.data", b"caf\xc3\xa9.data", b"$(touch owned).data"):
    open(name, "wb").write(copy)
    for words in (["info"], ["validate"], ["recover", "-n"]):
        done = run(*words, "--", name)
        said = (done.stdout + done.stderr).decode()
        next_line = re.search(r"next:? +(perfile recover -o OUT .*)", said)
        assert next_line, (name, said)
        shell = next_line.group(1).replace("perfile", f"'{perfile}'", 1).replace("OUT", "saved.data")
        again = subprocess.run(["bash", "-c", shell], capture_output=True)
        assert again.returncode == 3 and os.path.exists("saved.data"), (shell, again.stderr)
        os.remove("saved.data")
assert not os.path.exists("owned")
for words in (["info", "-"], ["validate", "-"], ["recover", "-n", "-"]):
    done = run(*words, stdin=copy)
    assert b"recover -o OUT" not in done.stdout + done.stderr, done

print(f"{tried} runs", file=sys.stderr)
assert tried > 500 // CASES
sys.exit(failed != 0)

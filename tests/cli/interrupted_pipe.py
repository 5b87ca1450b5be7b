"""What comes through a pipe is kept: see interrupted_pipe.sh.

This program is the recorder at the other end of the pipe.  A Ctrl-C reaches it as it reaches perfile, and like `perf record` it then
writes what it still has.
"""
import fcntl
import os
import re
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

PERFILE, CAPTURE, DEFINITIONS = sys.argv[1:4]
MOMENTS = 10
CONTENT = open(CAPTURE, "rb").read()

# Command lines of each command; of those that write, `out` is what appears.
LINES = {
    "info": ["-"],
    "list": ["events -", "threads -"],
    "stats": ["-", "--by comm --json -"],
    "validate": ["-"],
    "dump": ["-", "--format jsonl -"],
    "script": ["--no-symbols -", "--no-symbols --show-task-events -o out -"],
    "export": ["--to folded --no-symbols -o out -", "--to chrome -o out -"],
    "convert": ["--to perf.data -o out -", "--to archive -o out -", "--to dir -o out -"],
    "filter": ["--every 2 -o out -", "--every 2 --to pipe -o - -"],
    "merge": ["-o out -"],
    "recover": ["-o out -"],
    "sort": ["-o out -"],
    "split": ["--records 20 -o out-%d -"],
}
WRONG = []


def start(words):
    shutil.rmtree("work", ignore_errors=True)
    os.makedirs("work/tmp")
    env = dict(os.environ, TMPDIR=os.path.abspath("work/tmp"))
    # What a script starts in the background does not mind SIGINT otherwise.
    return subprocess.Popen(["env", "--default-signal=INT", PERFILE] + words, cwd="work", stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, env=env)


def produced():
    """All files below the folder with their bytes; of archives, which say when they were made, those of the capture."""
    found = {}
    for folder, _, names in os.walk("work"):
        for name in names:
            path = os.path.join(folder, name)
            data = open(path, "rb").read()
            if data.startswith(b"\x89PFC"):
                data = subprocess.run([PERFILE, "convert", "-o", "-", path], capture_output=True, check=True).stdout
            found[path] = data
    return found


def write(program, data):
    try:
        program.stdin.write(data)
        program.stdin.flush()
    except BrokenPipeError:
        pass


def wait_until_read(program):
    """Until the program has begun, and taken what was written."""
    for _ in range(1000):
        if struct.unpack("i", fcntl.ioctl(program.stdin, termios.FIONREAD, b"\0\0\0\0"))[0] == 0:
            break
        time.sleep(0.01)
    time.sleep(0.02)


def finish(program):
    out, err = program.communicate(timeout=60)
    return program.returncode, out, re.sub(rb"\d{4}-\d\d-\d\dT[^ ]*", b"TIME", err), produced()


def interrupted(words, moment, number):
    program = start(words)
    write(program, CONTENT[:moment])
    wait_until_read(program)
    program.send_signal(number)
    time.sleep(0.01)
    write(program, CONTENT[moment:])
    return finish(program)


def interrupted_twice(words, moment):
    program = start(words)
    write(program, CONTENT[:moment])
    wait_until_read(program)
    for _ in range(2):
        program.send_signal(signal.SIGINT)
        time.sleep(0.2)
    status, _, _, files = finish(program)
    if status != -signal.SIGINT:
        WRONG.append("%s: twice: status %d" % (" ".join(words), status))
    if files:
        WRONG.append("%s: twice: left behind: %s" % (" ".join(words), ", ".join(files)))


def try_line(words):
    program = start(words)
    write(program, CONTENT)
    wanted = finish(program)
    if wanted[0] != 0 or not (wanted[1] or wanted[3]):
        WRONG.append("%s: status %d: %r" % (" ".join(words), wanted[0], wanted[2]))
    for i in range(MOMENTS):
        moment = 16 + (len(CONTENT) - 16) * i // MOMENTS
        number = (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)[i % 3]
        got = interrupted(words, moment, number)
        for what, one, other in zip(("status", "standard output", "standard error", "files"), wanted, got):
            if one != other:
                WRONG.append("%s: %s after %d bytes: other %s: %.300r" % (" ".join(words), number.name, moment, what, other))
    interrupted_twice(words, len(CONTENT) // 2)


commands = re.findall(r"^COMMAND\((\w+),", open(DEFINITIONS, encoding="utf-8").read(), re.M)
WRONG += ["%s has no command line here" % c for c in commands if c not in LINES and c not in ("completion", "schema", "generate", "damage")]
for command, lines in LINES.items():
    for line in lines:
        try_line([command] + line.split())
print("%d command lines, %d moments" % (sum(map(len, LINES.values())), MOMENTS))
sys.exit("\n".join(WRONG) if WRONG else 0)

"""progress.py COMMAND CAPTURE: on a terminal, work that takes long says how far it is, in one row, and
erases it.  For tests/cli/progress.sh."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
import time

command, capture = sys.argv[1:3]
with open(capture, "rb") as file:
    everything = file.read()
head, records = everything[:16], everything[16:]
ERASE = b"\r\x1b[K"
LINE = rb"standard input: \d+ MB"


def rows(name, columns, environment=None):
    """What is shown while `name`, a named pipe or "-", slowly gives the same records over and over."""
    master, slave = pty.openpty()
    if columns:
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    run = subprocess.Popen([command, "stats", name], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
                           stderr=slave, env=dict(os.environ, **(environment or {})))
    os.close(slave)
    to = run.stdin if name == "-" else open(name, "wb")
    to.write(head)
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        to.write(records * 20)
        to.flush()
        time.sleep(0.01)
    to.close()
    run.stdin.close()
    assert run.wait() == 0
    shown = b""
    try:
        while piece := os.read(master, 65536):
            shown += piece
    except OSError:  # the other end is closed
        pass
    assert shown.startswith(ERASE) and shown.endswith(ERASE), shown
    lines = shown.split(ERASE)[1:-1]
    assert lines and not re.search(rb"[\r\n\x1b]", b"".join(lines)), shown
    return [line.decode() for line in lines]


assert all(re.fullmatch(r"standard input: \d+ MB", line) for line in rows("-", 0)), "plain"

# Of a long name the end is shown; neither it nor its control characters leave the row.
long = "a" * 120 + "\x1b[31m\n" + "\u00e4" * 40 + "end.data"
os.mkfifo(long)
for columns, environment in ((80, {}), (12, {}), (0, {"COLUMNS": "50"})):
    most = (columns or 50) - 1
    for line in rows(long, columns, environment):
        assert len(line) <= most, (columns, line)
        assert line.endswith(" MB"), line
        if most > 30:
            assert line.startswith("...") and "end.data: " in line, line
        if most > 12:
            assert len(line) == most, line


def on_one_terminal(*words):
    """What is shown when standard output is on the terminal as well."""
    master, slave = pty.openpty()
    run = subprocess.Popen([command, *words, "-"], stdin=subprocess.PIPE, stdout=slave, stderr=slave)
    os.close(slave)
    shown = []

    def read():
        try:
            while piece := os.read(master, 65536):
                shown.append(piece)
        except OSError:
            pass
    reader = threading.Thread(target=read)
    reader.start()
    run.stdin.write(head)
    end = time.monotonic() + 1.5
    while time.monotonic() < end:
        run.stdin.write(records * 20)
        run.stdin.flush()
        time.sleep(0.01)
    run.stdin.close()
    assert run.wait() == 0
    reader.join()
    return b"".join(shown)


# The line is erased before anything is printed, and there is none beside records that appear as they come.
for words in (["stats"], ["stats", "--json"], ["info"], ["list", "mappings"]):
    pieces = re.split(LINE, on_one_terminal(*words))
    assert len(pieces) > 1 and pieces[-1].startswith(ERASE), (words, pieces[-1][:100])
assert not re.search(LINE, on_one_terminal("dump")), "dump"

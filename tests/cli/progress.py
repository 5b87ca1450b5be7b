"""progress.py COMMAND CAPTURE: on a terminal, work that takes long says how far it is, and erases it."""
import os
import pty
import subprocess
import sys
import time

command, capture = sys.argv[1:3]
with open(capture, "rb") as file:
    everything = file.read()
head, records = everything[:16], everything[16:]

# Standard error is a terminal, standard input a slow pipe: the same records over and over.
master, slave = pty.openpty()
run = subprocess.Popen([command, "stats", "-"], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=slave)
os.close(slave)
run.stdin.write(head)
end = time.monotonic() + 2.0
while time.monotonic() < end:
    run.stdin.write(records * 20)
    run.stdin.flush()
    time.sleep(0.01)
run.stdin.close()
assert run.wait() == 0
shown = b""
try:
    while piece := os.read(master, 65536):
        shown += piece
except OSError:  # the other end is closed
    pass
erase = b"\r\x1b[K"
assert shown.startswith(erase + b"standard input: ") and b" MB" in shown, shown
assert shown.endswith(erase), shown

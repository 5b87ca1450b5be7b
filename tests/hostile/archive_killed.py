"""Archives that were cut while they were written, by `head`, through a FIFO, and by SIGKILL: what is
there is restored up to the last complete chunk, which this script finds by itself.

The capture is a stream, so that chunks lie in the order of its bytes: what complete chunks hold is a
prefix of it."""
import os
import random
import signal
import struct
import subprocess
import sys
import time

import chosen

PERFILE = os.environ["PERFILE"]
TURNS, RECORDS, BLOCK = 200, 300000, 1 << 16
CAPTURE, LEFT, BACK, FIFO = "capture.data", "left.perfile", "back.data", "fifo"
HEADER_ATTR, COMM, SAMPLE = 64, 3, 9
IP_TID_TIME = 1 | 2 | 4
DICE = random.Random(chosen.SEED)


def record(kind, misc, body):
    return struct.pack("<IHH", kind, misc, 8 + len(body)) + body


def make_capture():
    """Some MB: several chunks of records.  Addresses are random, so that archives are not small."""
    attr = struct.pack("<IIQQQ", 1, 64, 0, 1000, IP_TID_TIME) + bytes(32)
    with open(CAPTURE, "wb") as f:
        f.write(b"PERFILE2" + struct.pack("<Q", 16))
        f.write(record(HEADER_ATTR, 0, attr + struct.pack("<Q", 7)))
        f.write(record(COMM, 0, struct.pack("<II", 100, 100) + b"work\0\0\0\0"))
        for i in range(RECORDS):
            body = struct.pack("<QIIQ", DICE.getrandbits(40), 100, 100, 5000 + 10 * i)
            f.write(record(SAMPLE, 2, body))


def complete(path):
    """(bytes of the capture that complete chunks hold, whether the file header is complete).
    Headers that are written are right: only lengths are looked at."""
    with open(path, "rb") as f:
        data = f.read()
    at, end = 64, 0
    while at + 64 <= len(data):
        magic, kind, meta_len, payload_len, raw_len, raw_off = struct.unpack_from("<4sB19xIII4xQ", data, at)
        assert magic == b"PFCK"
        at += (64 + (meta_len + 7) // 8 * 8 + payload_len + 63) // 64 * 64
        if at > len(data):
            break
        if kind in (2, 3):
            assert raw_off == end
            end += raw_len
    return end, len(data) >= 64


def packing(to, stdout=None, jobs="1"):
    # The sanitizer of leaks would report that it cannot look into a thread which is being killed.
    quiet = dict(os.environ, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
    return subprocess.Popen([PERFILE, "convert", "--to", "archive", "-j", jobs, "-o", to, CAPTURE],
                            stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE, env=quiet)


def take(pipe, size):
    """The first bytes of a pipe, to LEFT; then nobody reads it any more."""
    with open(LEFT, "wb") as f:
        while size:
            block = pipe.read(min(size, BLOCK))
            if not block:
                break
            f.write(block)
            size -= len(block)
    pipe.close()


def by_head(size, jobs):
    p = packing("-", subprocess.PIPE, jobs)
    take(p.stdout, size)
    return p


def by_fifo(size, jobs):
    p = packing(FIFO, jobs=jobs)
    take(open(FIFO, "rb", buffering=0), size)
    return p


def by_kill(seconds, jobs):
    with open(LEFT, "wb") as f:
        p = packing("-", f, jobs)
    time.sleep(seconds)
    p.kill()
    return p


def check(how):
    """What is left is restored as far as it is complete.  Returns how many bytes that are."""
    end, has_header = complete(LEFT)
    if os.path.exists(BACK):
        os.unlink(BACK)
    p = subprocess.run([PERFILE, "convert", "--force", "-o", BACK, LEFT], stdin=subprocess.DEVNULL,
                       capture_output=True)
    said = p.stderr.decode()
    if p.returncode not in (0, 1, 3) or (p.returncode and not said):
        sys.exit("%s: status %d: %s" % (how, p.returncode, said))
    if end and p.returncode == 1:
        sys.exit("%s: %d bytes are complete, and refused: %s" % (how, end, said))
    if not end:
        return 0
    with open(CAPTURE, "rb") as f:
        want = f.read(end)
    with open(BACK, "rb") as f:
        if f.read() != want:
            sys.exit("%s: not the first %d bytes of the capture" % (how, end))
    p = subprocess.run([PERFILE, "stats", LEFT], stdin=subprocess.DEVNULL, capture_output=True)
    if p.returncode not in (0, 3):
        sys.exit("%s: stats: status %d: %s" % (how, p.returncode, p.stderr.decode()))
    return end


def main():
    make_capture()
    os.mkfifo(FIFO)
    begin = time.monotonic()
    with open(LEFT, "wb") as f:
        packing("-", f).wait()
    seconds, size = time.monotonic() - begin, os.path.getsize(LEFT)
    whole = check("a whole one")
    assert whole == os.path.getsize(CAPTURE)
    partly = killed = tried = 0
    for _ in range(TURNS):
        if not chosen.chosen():
            continue
        tried += 1
        jobs = DICE.choice("12")
        what = tried % 4
        if what < 2:
            n = DICE.randrange(size if DICE.random() < 0.95 else 300)
            how = "the first %d bytes, -j %s, %s" % (n, jobs, "FIFO" if what else "pipe")
            p = (by_fifo if what else by_head)(n, jobs)
        else:
            n = DICE.uniform(0, 1.1 * seconds)
            how = "killed after %.3f s, -j %s" % (n, jobs)
            p = by_kill(n, jobs)
        p.stderr.read()
        status = p.wait()
        if status not in (0, 1, -signal.SIGPIPE, -signal.SIGKILL):
            sys.exit("%s: it ends with status %d" % (how, status))
        killed += status == -signal.SIGKILL
        partly += 0 < check(how) < whole
    print("%d writers of %d bytes stopped, %d of them killed; %d left a part" % (tried, size, killed, partly))
    if tried < TURNS // chosen.CASES or killed < tried // 12 or partly < tried // 5:
        sys.exit("too few of them")


main()

"""Archives of every capture, of an empty file and of noise: what is restored is what was packed, one
thread packs what two pack, and every command says of an archive what it says of the capture.

The capture and its archive have the same name and the same time of last change, in two folders, so
that what commands print can be compared as it is."""
import filecmp
import itertools
import json
import os
import random
import shutil
import struct
import subprocess
import sys

import chosen
from enough import enough

PERFILE, SOURCE, BUILD, CORPUS = (os.environ["PERFILE" + n] for n in ("", "_SOURCE", "_BUILD", "_CORPUS"))
EVERY = int(os.environ.get("PERFILE_EVERY", "1"))
NAME, CHANGED, NOISE = "c.data", 1500000000, 1 << 20
META, RECORDS, BYTES = 1, 2, 3

COMMANDS = [
    ["stats"],
    ["stats", "--by", "comm"],
    ["info", "--json"],
    ["list", "events"],
    ["list", "processes"],
    ["list", "mappings"],
    ["validate", "--json"],
    ["dump", "--format", "jsonl"],
    ["dump", "--format", "tsv", "--type", "SAMPLE"],
    ["filter", "--time", "10%..20%", "-o", "out"],
    ["filter", "--pid", None, "-o", "out"],  # a process of the capture
]


def run(*command, cwd=None, given=None):
    """Exit status, output, errors; with `given` that file is standard input."""
    with open(given or os.devnull, "rb") as stdin:
        p = subprocess.run([PERFILE, *command], cwd=cwd, stdin=stdin, capture_output=True)
    return p.returncode, p.stdout, p.stderr


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    elif os.path.lexists(path):
        os.unlink(path)


def files(path):
    """The files of a capture, by name in its directory."""
    if os.path.isdir(path):
        return {name: os.path.join(path, name) for name in os.listdir(path)}
    return {None: path} if os.path.exists(path) else {}


def same(one, other):
    one, other = files(one), files(other)
    return one.keys() == other.keys() and all(
        filecmp.cmp(one[name], other[name], shallow=False) for name in one)


def chunks(path):
    """What is stored of the capture, of each chunk in turn: everything but ids and metadata, which
    say when the archive was made."""
    found = []
    with open(path, "rb") as f:
        data = f.read()
    at = 64
    while at + 64 <= len(data):
        (magic, kind, codec, flags, meta_len, payload_len, raw_len, raw_crc, raw_off, source, part,
         meta_crc, payload_crc) = struct.unpack_from("<4sBBH16xIIIIQHHII", data, at)
        if magic != b"PFCK":
            raise ValueError("%s: no chunk at %d" % (path, at))
        if kind in (RECORDS, BYTES):
            found.append((kind, codec, flags, raw_len, raw_crc, raw_off, source, part, meta_len,
                          meta_crc, payload_len, payload_crc))
        at += 64 + (meta_len + 7) // 8 * 8 + payload_len
        at = (at + 63) // 64 * 64
    return found


class Failures:
    def __init__(self):
        self.count, self.quiet = 0, False

    def say(self, text):
        if not self.quiet:
            print(text)
        self.count += 1


FAILURES = Failures()


def restore(capture, archive, how, *, given=None):
    remove("back")
    status, _, errors = run("convert", "-f", "-o", "back", archive, given=given)
    if status != 0:
        FAILURES.say("%s: %s: not restored, status %d: %s" % (capture, how, status, errors.decode()))
    elif not same(capture, "back"):
        FAILURES.say("%s: %s: what is restored is not the same" % (capture, how))


def pack(capture):
    """The archive by one thread and by two; false: there is none."""
    for jobs in ("1", "2"):
        status, _, errors = run("convert", "-f", "--to", "archive", "-j", jobs, "-o", "packed" + jobs, capture)
        if status not in (0, 3):
            FAILURES.say("%s: not packed with -j %s, status %d: %s" % (capture, jobs, status, errors.decode()))
            return False
        restore(capture, "packed" + jobs, "-j " + jobs)
    if chunks("packed1") != chunks("packed2"):
        FAILURES.say("%s: two threads do not pack what one packs" % capture)
    return True


def pack_through_pipes(capture):
    """From standard input to standard output, and back."""
    with open(capture, "rb") as stdin, open("piped", "wb") as stdout:
        p = subprocess.run([PERFILE, "convert", "--to", "archive", "-o", "-", "-"], stdin=stdin,
                           stdout=stdout, stderr=subprocess.PIPE)
    if p.returncode not in (0, 3):
        FAILURES.say("%s: not packed through pipes, status %d: %s" % (capture, p.returncode, p.stderr.decode()))
        return
    restore(capture, "piped", "packed through pipes")
    restore(capture, "-", "from standard input", given="piped")


def process_of(capture):
    """The middle one of the processes of a capture, or 1."""
    _, out, _ = run("list", "processes", "--json", capture)
    try:
        processes = json.loads(out)["processes"]
        return str(processes[len(processes) // 2]["pid"])
    except (ValueError, KeyError, IndexError):
        return "1"


def settle(capture, plain, packed):
    """When a capture was last written is part of what `info` says: the copy is as old as the capture.  That of the archive is another one."""
    for name, file in files(plain).items():
        shutil.copystat(files(capture)[name], file)
    os.utime(packed, (CHANGED, CHANGED))


def place(capture):
    """The capture and the archive under the same name."""
    for folder in ("capture", "archive"):
        remove(folder)
        os.mkdir(folder)
    plain, packed = os.path.join("capture", NAME), os.path.join("archive", NAME)
    if os.path.isdir(capture):
        shutil.copytree(capture, plain)
        os.chmod(plain, 0o700)
    else:
        shutil.copyfile(capture, plain)
    os.rename("packed1", packed)
    settle(capture, plain, packed)


def first_difference(one, other):
    """The line, and of both what stands around the first byte that is another one."""
    lines = itertools.zip_longest(one.splitlines(), other.splitlines(), fillvalue=b"")
    for number, (a, b) in enumerate(lines, 1):
        if a != b:
            at = max(0, len(os.path.commonprefix([a, b])) - 60)
            return "line %d: …%r, of the archive …%r" % (number, a[at:at + 140], b[at:at + 140])
    return "line ends"


def without_archive(out):
    """What `info --json` says of a capture, without what it says of the archive around it."""
    try:
        said = json.loads(out)
    except ValueError:
        return out
    said.pop("archive", None)
    return json.dumps(said).encode()


def compare(capture, command):
    outcomes = []
    for folder in ("capture", "archive"):
        remove(os.path.join(folder, "out"))
        outcomes.append(run(*command, NAME, cwd=folder))
    what = "%s: %s" % (capture, " ".join(command))
    (status, out, err), (archived_status, archived_out, archived_err) = outcomes
    if command[0] == "info":
        out, archived_out = without_archive(out), without_archive(archived_out)
    if status != archived_status:
        FAILURES.say("%s: status %d, of the archive %d: %.200r" % (what, status, archived_status, archived_err))
    if out != archived_out:
        FAILURES.say("%s: %s" % (what, first_difference(out, archived_out)))
    if err != archived_err:
        FAILURES.say("%s: on standard error: %s" % (what, first_difference(err, archived_err)))
    if not same("capture/out", "archive/out"):
        FAILURES.say("%s: writes other bytes" % what)
    return status == 0


def corpus():
    """Files and directories of $PERFILE_CORPUS, one in $PERFILE_EVERY."""
    found = []
    for folder, folders, names in os.walk(CORPUS):
        whole = [name for name in folders if name.endswith(".data")]
        folders[:] = [name for name in folders if name not in whole]
        found += [os.path.join(folder, name) for name in whole + names if not name.startswith(".git")]
    if not found:
        print("not tried: captures of others: there is no corpus")
    return sorted(found)[EVERY - 1::EVERY]


def folder_files(path):
    return [os.path.join(SOURCE, path, name) for name in sorted(os.listdir(os.path.join(SOURCE, path)))]


def generated():
    """What samples/generate makes, in all its forms."""
    generate = os.path.join(BUILD, "samples/generate")
    if not os.access(generate, os.X_OK):
        print("not tried: generated captures: the samples were not built (PERFILE_BUILD_SAMPLES)")
        return
    for form in ("file", "pipe", "directory"):
        for level in ([], ["3"]):
            path = "-".join(["generated", form, *level])
            subprocess.run([generate, path, form, *level], check=True)
            yield path


def invented():
    """An empty file and noise."""
    with open("empty", "wb"):
        pass
    with open("noise", "wb") as f:
        f.write(random.Random(chosen.SEED).randbytes(NOISE))
    return ["empty", "noise"]


def cases():
    """(path, whether it is one of many that are alike)"""
    for path in itertools.chain(invented(), generated()):
        yield path, False
    for path in itertools.chain(folder_files("samples/captures"), corpus(), folder_files("fuzz/corpus/recover"),
                                folder_files("fuzz/corpus/open")):
        yield path, True


def comparison_can_fail():
    """A byte that is another one, and a capture that has more to say, are seen."""
    before, FAILURES.quiet = FAILURES.count, True
    samples = os.path.join(SOURCE, "samples/captures")
    assert pack(os.path.join(samples, "group.data"))
    restore(os.path.join(samples, "cgroup.data"), "packed2", "another one")
    place(os.path.join(samples, "cgroup.data"))
    for command in COMMANDS:
        compare("another one", [word or "1" for word in command])
    found = FAILURES.count - before
    FAILURES.count, FAILURES.quiet = before, False
    if found < 1 + len(COMMANDS):
        FAILURES.say("two captures are not told apart: %d differences" % found)


def main():
    packed = compared = opened = 0
    for capture, alike in cases():
        if alike and not (capture.endswith(".data") or chosen.chosen()):
            continue
        if not pack(capture):
            continue
        packed += 1
        if not os.path.isdir(capture) and chosen.chosen():
            pack_through_pipes(capture)
        pid = process_of(capture)
        place(capture)
        for command in COMMANDS:
            if not chosen.chosen():
                continue
            opened += compare(capture, [word or pid for word in command])
            compared += 1
    comparison_can_fail()
    print("%d captures packed and restored, %d outputs compared, of %d the status was 0" % (packed, compared, opened))
    if not enough("captures packed", packed, 300 // chosen.CASES, 90 // chosen.CASES):
        FAILURES.count += 1
    if not enough("outputs compared", compared, 3000 // chosen.CASES, 800 // chosen.CASES):
        FAILURES.count += 1
    sys.exit(FAILURES.count != 0)


main()

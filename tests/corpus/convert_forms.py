"""file -> pipe -> file and pipe -> file -> pipe say the same; what the other form has no place for is
exactly what was told.  Compressed, decompressed and in the other byte order they say the same too."""
import json
import os
import subprocess
import sys

from enough import enough
from convert_content import PERFILE, captures, differences, read

LOST = {"feature-no-place", "feature-left-out", "feature-broken"}


def convert(one, other, *options):
    """The features that were told to be lost; None when it was refused."""
    p = subprocess.run([PERFILE, "convert", "-f", "--report", "json", *options, "-o", other, one],
                       capture_output=True)
    if p.returncode != 0:
        return None
    notes = json.loads(p.stdout)["notes"]
    return {n["feature"] for n in notes if n["kind"] in LOST}


def compare(what, a, b, lost, but=()):
    found = list(differences(a, b, lost, but))
    for line in found[:3]:
        print("%s: %s" % (what, line))
    return bool(found)


def remove(*paths):
    for path in paths:
        if os.path.exists(path):
            os.unlink(path)


def forms(capture):
    """There and back; false: refused."""
    content = read(capture)
    there, back = ("perf.data", "pipe") if content.form == "pipe" else ("pipe", "perf.data")
    lost = convert(capture, "there", "--to", there)
    if lost is None:
        return None, 0
    rounds = ["FINISHED_ROUND"] if os.path.isdir(capture) else []
    bad = compare(capture + " as " + there, content, read("there"), lost, rounds)
    more = convert("there", "back", "--to", back)
    if more is None:
        print("%s: the %s is refused" % (capture, there))
        return content, 1
    return content, bad + compare(capture + " there and back", content, read("back"), lost | more,
                                  rounds)


def others(capture, content):
    """Packed, unpacked, and in either byte order."""
    other = "little" if content.endian == "big" else "big"
    bad = 0
    for options in (["--compress=3"], ["--decompress"], ["--byte-order", other],
                    ["--to", "pipe", "--compress"], ["--to", "pipe", "--byte-order", other],
                    ["--to", "dir"], ["--drop-unknown"]):
        if os.path.isdir(capture) or (content.broken and "--byte-order" in options):
            continue
        remove("made")
        made = "made.dir" if "dir" in options else "made"
        lost = convert(capture, made, *options)
        if lost is None:
            print("%s %s: refused" % (capture, " ".join(options)))
            bad += 1
            continue
        # What nobody knows stays in the byte order that it had, or is left out.
        # Of SCHEDSTAT the dump shows numbers as bytes.
        but = {"--byte-order": ["unknown", "SCHEDSTAT_CPU", "SCHEDSTAT_DOMAIN"],
               "--drop-unknown": ["unknown"]}
        but = [name for option in options for name in but.get(option, [])]
        bad += compare(capture + " " + " ".join(options), content, read(made), lost, but)
    return bad


def main():
    tried = bad = refused = 0
    for capture in captures():
        content, wrong = forms(capture)
        if content is None:
            refused += 1
            continue
        tried += 1
        bad += wrong + others(capture, content)
    one, other = (os.path.join(os.environ["PERFILE_SOURCE"], "samples/captures", name)
                  for name in ("group.data", "cgroup.data"))
    if not list(differences(read(one), read(other), set(), ())):
        print("two captures are not told apart")
        bad += 1
    print("%d captures, %d refused" % (tried, refused))
    if not enough("captures in other forms", tried, 80, 18):
        bad += 1
    sys.exit(bad != 0)


main()

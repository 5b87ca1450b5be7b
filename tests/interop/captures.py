"""The captures that the scripts here compare: ours, and those of $PERFILE_CORPUS."""
import os
import re
import subprocess

PERFILE, SOURCE, CORPUS = (os.environ[n] for n in ("PERFILE", "PERFILE_SOURCE", "PERFILE_CORPUS"))
EVERY = int(os.environ.get("PERFILE_EVERY", "1"))


def captures():
    """(path, name) of each of ours, and of one in $PERFILE_EVERY of the others."""
    own = os.path.join(SOURCE, "samples/captures")
    for name in sorted(os.listdir(own)):
        if name.endswith(".data"):
            yield os.path.join(own, name), "samples/captures/" + name
    manifest = os.path.join(CORPUS, "MANIFEST.tsv")
    if not os.path.exists(manifest):
        print("not tried: captures of others: there is no corpus")
        return
    with open(manifest) as f:
        next(f)
        names = (line.split("\t")[0] for line in f)
        whole = [name for name in names if not re.search(r"\.data/.", name)]  # a part of a directory
        for name in whole[EVERY - 1::EVERY]:
            yield os.path.join(CORPUS, name.rstrip("/")), name


def run(*command):
    """Exit status, output, errors."""
    p = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True)
    return p.returncode, p.stdout.decode(errors="replace"), p.stderr.decode(errors="replace")

"""What scripts share that try random selections on small captures: ours, and those of $PERFILE_CORPUS."""
import os
import subprocess

PERFILE, SOURCE, CORPUS = (os.environ[name] for name in ("PERFILE", "PERFILE_SOURCE", "PERFILE_CORPUS"))
MOST_BYTES = 1 << 20


def captures():
    for folder in (os.path.join(SOURCE, "samples", "captures"), CORPUS):
        for path, _, names in sorted(os.walk(folder)):
            for name in sorted(names):
                file = os.path.join(path, name)
                if name.endswith(".data") and os.path.getsize(file) <= MOST_BYTES:
                    yield file


def values_of(capture, fields):
    """The values that samples have of each field, as text."""
    found = {}
    for field in fields:
        rows = subprocess.run([PERFILE, "dump", "--format", "tsv", "--fields", field, "--type", "SAMPLE", capture],
                              capture_output=True, text=True).stdout.split("\n")[1:]
        found[field] = sorted({row for row in rows if row and row != "-"})
    return found

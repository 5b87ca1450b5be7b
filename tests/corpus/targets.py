"""targets.py PERFILE OUT VERSION,… CAPTURE…: what `convert --target V` writes with exit status 0 passes `validate --for V`, as file,
as pipe and in the other byte order; with status 3 it says why.  Prints how many were tried."""
import json
import os
import shutil
import subprocess
import sys

from chosen import chosen

FORMS = (["--to", "perf.data"], ["--to", "pipe"], ["--byte-order", "big"], ["--byte-order", "little"], ["--to", "archive"])


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=300)


def main():
    perfile, out, versions = sys.argv[1:4]
    tried = whole = 0
    wrong = []
    for path in sys.argv[4:]:
        for version in versions.split(","):
            for form in FORMS:
                if not chosen():
                    continue
                if os.path.isdir(out):
                    shutil.rmtree(out)
                made = run(perfile, "convert", "-f", "--target", version, *form, "-o", out, path)
                what = "%s --target %s %s" % (path, version, " ".join(form))
                tried += 1
                if made.returncode not in (0, 1, 3):
                    wrong.append("%s: exit status %d: %s" % (what, made.returncode, made.stderr[-300:]))
                if made.returncode and not made.stderr:
                    wrong.append("%s: exit status %d without a word" % (what, made.returncode))
                if made.returncode:
                    continue
                whole += 1
                checked = run(perfile, "validate", "--for", version, "--json", out)
                if checked.returncode:
                    report = json.loads(checked.stdout)
                    wrong.append("%s: validate says %d: %s" % (what, checked.returncode, json.dumps(report)[:600]))
    print("%d tried, %d of them whole, %d wrong" % (tried, whole, len(wrong)))
    if wrong or not whole:
        sys.exit("\n".join(wrong) or "none was whole")


main()

#!/usr/bin/env python3
"""same_output.py PERFILE BEFORE [CAPTURE ...]: whether two builds say and write the same.

Runs commands of both on every capture of samples/captures and of the corpus (PERFILE_CORPUS), or on those given, and
compares exit status, standard output, standard error and files that are written, byte by byte.  Differences are printed;
with any the exit status is 1.  For changes of the inside that nobody may notice."""
import concurrent.futures
import difflib
import os
import subprocess
import sys
import tempfile

HOME = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
CORPUS = os.environ.get("PERFILE_CORPUS") or os.path.join(HOME, "../shared/corpus")
LARGEST = 24 << 20
COMMANDS = """
info --json IN
list events IN
stats IN
stats --json --by comm,event IN
stats --by dso,sym --no-symbols IN
stats --by cpu,type --time 20%..60% IN
dump IN
dump --raw IN
dump --format jsonl IN
dump --format jsonl --resolve IN
dump --format cbor --on-damage salvage IN
dump --format tsv IN
dump --where "time>0 && tid!=1" --format tsv -j 3 IN
validate --format json IN
validate --for perf-4.19 IN
filter --time 10%..40% -o OUT IN
filter --where "period>1 || cpu==0" --compact-sideband -o OUT IN
filter --type SAMPLE --every 3 --to pipe -o OUT IN
filter --drop-field callchain --on-damage salvage -o OUT IN
filter --comm "*a*" --invert --no-sideband --json -o OUT IN
sort -o OUT IN
sort --max-memory 2M --on-damage salvage --to pipe -o OUT IN
merge --align start -o OUT IN IN
merge --offset 2=1ms --join-events --to pipe -o OUT IN IN
merge --offset 2=0 --on-damage salvage -o OUT IN IN
split --records 100 -o OUT%d IN
split --by comm --json -o OUT%d IN
convert --to pipe -o OUT IN
convert --to perf.data -o OUT IN
convert --byte-order big -o OUT IN
convert --target perf-4.19 -o OUT IN
convert --scrub --compress --on-damage salvage -o OUT IN
convert --to dir -o OUT IN
recover -o OUT IN
export --to folded -o OUT IN
export --to pprof -o OUT IN
export --to chrome -o OUT IN
export --to speedscope --on-damage salvage -o OUT IN
""".split("\n")
# Of an archive of the capture: what is in it must not differ, the archive itself may.
OF_ARCHIVES = """
stats ARCHIVE
stats --by comm ARCHIVE
dump --format jsonl ARCHIVE
filter --time 30%..40% -o OUT ARCHIVE
filter --pid 1,2,1000-100000 --type sample -o OUT ARCHIVE
convert -o OUT ARCHIVE
validate ARCHIVE
info --chunks ARCHIVE
""".split("\n")


def run(perfile, line, where):
    """(status, stdout, stderr, files that were written) of one command."""
    with tempfile.TemporaryDirectory() as out:
        command = '"%s" ' % perfile + line.replace("OUT", out + "/x")
        try:
            done = subprocess.run(command, shell=True, cwd=where, capture_output=True, timeout=300, stdin=subprocess.DEVNULL)
        except subprocess.TimeoutExpired:
            return "does not end", b"", b"", {}
        files = {}
        for folder, _, names in os.walk(out):
            for name in names:
                path = os.path.join(folder, name)
                with open(path, "rb") as file:
                    files[os.path.relpath(path, out)] = file.read()
        return done.returncode, done.stdout.replace(out.encode(), b"OUT"), done.stderr.replace(out.encode(), b"OUT"), files


def differences(got, wanted):
    for name, a, b in zip(("status", "stdout", "stderr"), got, wanted):
        if a != b:
            yield name
            if name != "status":
                lines = difflib.unified_diff(b.decode("latin-1").split("\n"), a.decode("latin-1").split("\n"), n=0, lineterm="")
                for _, line in zip(range(8), lines):
                    yield "    " + line[:160]
            else:
                yield "    %s instead of %s" % (a, b)
    for name in sorted(set(got[3]) | set(wanted[3])):
        if got[3].get(name) != wanted[3].get(name):
            yield "file %s: %s bytes instead of %s" % (name, len(got[3].get(name, "")), len(wanted[3].get(name, "")))


def compare(job):
    """The differences of one capture."""
    capture, now, before = job
    found = []
    with tempfile.TemporaryDirectory() as where:
        os.symlink(capture, where + "/capture")
        lines = [line.replace("IN", "capture") for line in COMMANDS if line]
        for index, perfile in enumerate((now, before)):
            subprocess.run([perfile, "convert", "--to", "archive", "--chunk-records", "200", "-o", "archive%d" % index, "capture"],
                           cwd=where, capture_output=True, check=False)
        lines += [line.replace("ARCHIVE", "archive1") for line in OF_ARCHIVES if line]
        lines += ["convert -o OUT archive0"]
        for line in lines:
            wanted = run(before, line.replace("archive0", "archive1"), where)
            got = run(now, line, where)
            if "archive0" in line:
                got = got[:2] + (got[2].replace(b"archive0", b"archive1"),) + got[3:]
            if got != wanted:
                found.append("%s: perfile %s\n  " % (capture, line) + "\n  ".join(differences(got, wanted)))
    return found, len(lines)


def captures():
    for top in (os.path.join(HOME, "samples/captures"), CORPUS):
        for folder, _, names in os.walk(top):
            for name in sorted(names):
                path = os.path.join(folder, name)
                if os.path.isfile(path) and 0 < os.path.getsize(path) <= LARGEST and not name.endswith((".jsonl", ".py", ".md", ".c", ".sh", ".txt")):
                    yield path


def main():
    now, before = (os.path.abspath(p) for p in sys.argv[1:3])
    jobs = [(os.path.abspath(p), now, before) for p in sys.argv[3:] or captures()]
    commands = different = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found, n in pool.map(compare, jobs):
            commands += n
            different += len(found)
            for text in found:
                print(text, flush=True)
    print("%d captures, %d commands, %d differ" % (len(jobs), commands, different))
    return different != 0


sys.exit(main())

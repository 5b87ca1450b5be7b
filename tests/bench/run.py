#!/usr/bin/env python3
"""run.py PERFILE [BEFORE]: how long commands take that people wait for, by the clock on the wall.

PERFILE is a command of a release build, with the target `bench` built beside it.  With BEFORE, a command of another
build, both take turns, and a row is worse when PERFILE is 1.25 times as slow in two measurements; then the exit status
is 1.  See README.md."""
import argparse
import glob
import os
import shutil
import signal
import subprocess
import sys
import time

WORSE = 1.25
MADE = "flat", "chains", "stacks", "tracepoints", "dwarf"
# Recordings of a busy machine, where perf may record it, and the options of `perf record -a`.
BUSY = {
    "busy-flat": "-e cpu-clock -F 20000",
    "busy-chains": "-e cpu-clock -F 20000 -g",
    "busy-trace": "-e sched:* -e syscalls:*",
    "busy-dwarf": "-e cpu-clock -F 1500 --call-graph dwarf",
}
# Fields of sched_switch and of others, some of which several have.
PAYLOADS = "prev_comm,prev_pid,prev_prio,prev_state,next_comm,next_pid,next_prio,runtime,target_cpu"
# Rows: name, kinds of captures, command.  IN is the capture, SLICE the first 16 MB of it, PACKED an archive of it, OUT
# what is written; -o /dev/null would be another way of writing.
ROWS = [
    ("info", MADE, "info IN"),
    ("stats", MADE + tuple(BUSY), "stats IN"),
    ("stats, by comm", MADE + tuple(BUSY), "stats --by comm IN"),
    ("stats, by dso,sym", ("recorded", *BUSY), "stats --by dso,sym IN"),
    ("validate", MADE, "validate IN"),
    ("dump, text", MADE, "dump SLICE"),
    ("dump, jsonl", MADE, "dump --format jsonl SLICE"),
    ("dump, tsv", MADE, "dump --format tsv SLICE"),
    ("dump --fields, payloads", ("busy-trace",), "dump --fields " + PAYLOADS + " IN"),
    ("filter --time", MADE, "filter --time 10%..20% -f -o OUT IN"),
    ("filter --where", MADE, "filter --where 'cpumode==USER && tid>2016' -f -o OUT IN"),
    ("sort", MADE, "sort -f -o OUT IN"),
    ("merge, one clock", MADE, "merge --offset 2=0 -f -o OUT IN IN"),
    ("merge --offset", MADE, "merge --offset 2=1ms -f -o OUT IN IN"),
    ("convert, to a pipe", MADE, "convert --to pipe -f -o OUT IN"),
    ("convert, other byte order", ("flat", "chains"), "convert --byte-order big -f -o OUT IN"),
    ("archive", MADE, "convert --to archive -j 1 -f -o OUT IN"),
    ("archive, back", MADE, "convert -f -o OUT PACKED"),
    ("archive, 1 % of it", MADE, "filter --time 50%..51% -f -o OUT PACKED"),
    ("archive, stats", MADE, "stats PACKED"),
    ("export, folded", ("chains", "stacks", "recorded", *BUSY), "export --allow-growth --to folded -f -o OUT IN"),
    ("export, folded, no names", tuple(BUSY), "export --allow-growth --no-symbols --to folded -f -o OUT IN"),
    ("script", tuple(BUSY), "script IN"),
    ("script, no names", tuple(BUSY), "script --no-symbols IN"),
    ("export, parquet, no names", MADE + tuple(BUSY), "export --no-symbols --to parquet -o OUT IN"),
    ("export, parquet", tuple(BUSY), "export --to parquet -o OUT IN"),
    ("export, pprof", ("chains", "stacks", "recorded"), "export --allow-growth --to pprof -f -o OUT IN"),
]
PERF = {
    "stats": "report --stats -i IN",
    "stats, by comm": "report --stdio -g none --sort comm -i IN",
    "stats, by dso,sym": "report --stdio -g none --sort dso,sym -i IN",
    "dump, text": "script -D -i SLICE",
    "dump, tsv": "script -i SLICE",
    "dump --fields, payloads": "script -F time,event,trace -i IN",
    "script": "script -i IN",
    "script, no names": "script -F comm,tid,cpu,time,period,event,ip -i IN",
    "export, folded": "script -F comm,pid,tid,event,ip,sym -i IN",
    "export, folded, no names": "script -F comm,pid,tid,event,ip -i IN",
    "sort": "inject -i IN -o OUT",
}


class Captures:
    def __init__(self, tools, folder, megabytes):
        self.tools, self.folder, self.megabytes = tools, folder, megabytes
        os.makedirs(folder, exist_ok=True)

    def path(self, kind, what="", megabytes=None):
        path = os.path.join(self.folder, "%s%s.data" % (kind, what))
        if os.path.exists(path):
            return path
        if kind == "recorded":
            self.record(path)
        elif kind in BUSY:
            self.record_all(path, BUSY[kind])
        else:
            subprocess.run([self.tools + "/make_capture", kind, str(megabytes or self.megabytes), path + ".new"], check=True)
            os.rename(path + ".new", path)
        return path

    @staticmethod
    def record(path):
        """A recording of short processes and a long one, with call chains, or nothing where perf may not record."""
        load = "for i in $(seq 400); do ls -lR /usr/include >/dev/null; done & python3 -c '%s'; kill $!" % (
            "import json\nfor i in range(60): json.dumps({str(n): [n] * 20 for n in range(40000)}, indent=1)")
        subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "15000", "-g", "-o", path, "bash", "-c", load],
                       stderr=subprocess.DEVNULL, check=False)

    def record_all(self, path, how):
        """A recording of the whole machine while compilers, shells and an interpreter run, of at most so many MB."""
        load = "for k in 1 2 3; do (while :; do %s; done) & done; sleep 120; kill 0" % "; ".join([
            "ls -lR /usr/include >/dev/null", "for i in $(seq 200); do echo 'int f(int a) { return a + 1; }' | cc -O2 -x c -c -o /dev/null -; done",
            "find /usr/share -name '*a*' | sort | gzip >/dev/null", "python3 -c 'import json; json.dumps([list(range(99))] * 9999)'"])
        busy = subprocess.Popen(["bash", "-c", load], start_new_session=True, stderr=subprocess.DEVNULL)
        subprocess.run(["perf", "record", "-q", "-a", "-m", "4M", "--max-size", "%dM" % self.megabytes, *how.split(), "-o", path + ".new",
                        "sleep", "60"], stderr=subprocess.DEVNULL, check=False)
        os.killpg(busy.pid, signal.SIGKILL)
        if os.path.exists(path + ".new"):
            os.rename(path + ".new", path)

    def fill(self, command, kind, perfile):
        """The command with names of files, or None if there is no such capture."""
        whole = self.path(kind)
        if not os.path.exists(whole):
            return None
        out = os.path.join(self.folder, "out")
        if "PACKED" in command:
            packed = os.path.join(self.folder, kind + ".perfile")
            if not os.path.exists(packed):
                subprocess.run([perfile, "convert", "--to", "archive", "-o", packed, whole], check=True, stderr=subprocess.DEVNULL)
            command = command.replace("PACKED", packed)
        if "SLICE" in command:
            command = command.replace("SLICE", whole if kind == "recorded" else self.path(kind, "-slice", 16))
        return command.replace("IN", whole).replace("OUT", out)


def once(program, command, folder):
    """(seconds, MB that were resident) of one run."""
    for path in glob.glob(os.path.join(folder, "out*")):
        shutil.rmtree(path) if os.path.isdir(path) else os.unlink(path)
    began = time.perf_counter()
    child = subprocess.Popen(program + " " + command, shell=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = status
    seconds = time.perf_counter() - began
    return (seconds if os.waitstatus_to_exitcode(status) in (0, 3) else None), usage.ru_maxrss / 1024


def measure(programs, command, folder, rounds):
    """The best time of each program, which take turns, and the most memory."""
    best, memory = [None] * len(programs), [0.0] * len(programs)
    for _ in range(rounds):
        for i, program in enumerate(programs):
            seconds, used = once("exec " + program, command, folder)
            if seconds is None:
                return None, None
            best[i] = min(seconds, best[i] or seconds)
            memory[i] = max(memory[i], used)
    return best, memory


def main():
    options = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    options.add_argument("perfile")
    options.add_argument("before", nargs="?")
    options.add_argument("--rounds", type=int, default=5)
    options.add_argument("--megabytes", type=int, default=128)
    options.add_argument("--rows", help="only rows with this in their name")
    options.add_argument("--kinds", help="only these kinds of captures, separated by commas")
    options.add_argument("--perf", action="store_true", help="beside perf, too, once each")
    given = options.parse_args()
    programs = [os.path.abspath(p) for p in (given.perfile, given.before) if p]
    folder = os.environ.get("PERFILE_BENCH_DIR") or os.path.join(os.environ.get("TMPDIR", "/tmp"), "perfile-bench")
    captures = Captures(os.path.join(os.path.dirname(programs[0]), "bench"), folder, given.megabytes)
    worse = 0
    print("%-28s%-14s%9s%9s%8s%9s%9s" % ("", "", "seconds", "before", "ratio", "MB", "perf"))
    for name, kinds, template in ROWS:
        if given.rows and given.rows not in name:
            continue
        for kind in kinds:
            if given.kinds and kind not in given.kinds.split(","):
                continue
            command = captures.fill(template, kind, programs[0])
            if not command:
                print("%-28s%-14s not recorded" % (name, kind))
                continue
            best, memory = measure(programs, command, folder, given.rounds)
            if not best:
                print("%-28s%-14s failed" % (name, kind))
                worse += 1
                continue
            if len(best) > 1 and best[0] > WORSE * best[1]:
                again, _ = measure(programs, command, folder, given.rounds)
                best = [min(pair) for pair in zip(best, again)]
            is_worse = len(best) > 1 and best[0] > WORSE * best[1]
            worse += is_worse
            line = "%-28s%-14s%9.3f" % (name, kind, best[0])
            line += "%9.3f%8.2f" % (best[1], best[0] / best[1]) if len(best) > 1 else " " * 17
            line += "%9.1f" % memory[0]
            if given.perf and name in PERF:
                seconds, _ = once("exec perf", captures.fill(PERF[name], kind, programs[0]), folder)
                line += "%9.3f" % seconds if seconds else "        -"
            print(line + (" worse" if is_worse else ""), flush=True)
    if worse:
        print("%d rows are worse" % worse)
    return worse != 0


sys.exit(main())

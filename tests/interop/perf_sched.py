"""perf_sched.py: see perf_sched.sh."""
import collections
import json
import os
import re
import subprocess
import sys

import sched_made
from captures import PERFILE, captures, run
from enough import enough

counted = collections.Counter()
wrong = []
NS = re.compile(r"\[(\d+)\]\s+(\d+)\.(\d{9}):.*?(sched:\w+|context-switches):")
SWITCH = re.compile(r"prev_comm=(.*) prev_pid=(-?\d+) prev_prio=-?\d+ prev_state=(\S+) ==> next_comm=(.*) next_pid=(-?\d+)")
ROW = re.compile(r"^\s*(.*?)\[(-?\d+)(?:/-?\d+)?\]\s+(-?\d+)\s+(\d+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)(?:\s+([\d.]+))?")
LATENCY = re.compile(r"^\s*(.*):(\d+)\s*\|\s*([\d.]+) ms \|\s*(\d+) \| avg:\s*([\d.]+) ms \| max:\s*([\d.]+) ms")


class Switches:
    """What the text of perf script says: which threads have a gap, were preempted as R+, or are on a processor in the end; and
    the ns for which each thread was away from one processor until it came to one again."""

    def __init__(self, path):
        self.gaps, self.preempted, self.away = set(), set(), collections.Counter()
        on, left, self.n, self.processors = {}, {}, 0, set()
        status, text, _ = run("perf", "script", "-i", path, "--ns", "-F", "tid,cpu,time,event,trace")
        self.waking = "sched:sched_waking:" in text
        for line in text.splitlines():
            m, s = NS.search(line), SWITCH.search(line)
            if not m or not s:
                continue
            self.n += 1
            cpu, time = int(m[1]), int(m[2]) * 10**9 + int(m[3])
            prev, state, next_ = int(s[2]), s[3], int(s[5])
            self.processors.add(cpu)
            if on.get(cpu, prev) != prev:
                self.gaps |= {on[cpu], prev}
            if next_ in on.values():
                self.gaps.add(next_)
            if int(line.split()[0]) == -1 or "-1" in line.split("[")[0]:
                self.gaps.add(prev)
            if state.endswith("+"):
                self.preempted.add(prev)
            if prev:
                left[prev] = time
            if next_ and next_ in left:
                self.away[next_] += time - left.pop(next_)
            on[cpu] = next_
        self.still_on = set(on.values())


def of_perfile(path, *more):
    status, output, error = run(PERFILE, "stats", "--json", "--on-cpu", "--by", "tid", path, *more)
    if status not in (0, 3):
        wrong.append("%s: status %d: %s" % (path, status, error))
        return {}
    return {row["tid"]: row for row in json.loads(output)["rows"]}


def ms(ns):
    return "%d.%03d" % (int(ns) // 10**6, int(ns) // 1000 % 1000)


def differ(what, path, tid, perf, ours):
    wrong.append("%s: %s of thread %d: perf %s, perfile %s" % (path, what, tid, perf, ours))


def compare_timehist(path, ours, known):
    """On a processor, and how often it left one: exactly; sleep and waits, to the us that each of perf's numbers is cut to."""
    status, text, _ = run("perf", "sched", "-i", path, "timehist", "-s")
    for m in filter(None, map(ROW.match, text.splitlines())):
        tid, times, on = int(m[2]), int(m[4]), m[5]
        if tid in known.gaps or tid <= 0:
            counted["threads with gaps"] += 1
            continue
        row = ours.get(tid, {"on": "0", "switches": 0})
        counted["threads"] += 1
        if (ms(row["on"]), row["switches"]) != (on, times):
            differ("time on, switches", path, tid, (on, times), (ms(row["on"]), row["switches"]))
    status, text, _ = run("perf", "sched", "-i", path, "timehist", "-s", "--state")
    for m in filter(None, map(ROW.match, text.splitlines())):
        tid = int(m[2])
        if tid in known.gaps or tid <= 0 or not m[9] or tid not in ours:
            continue
        sleep, iowait, preempt, delay = (float(m[i]) for i in (6, 7, 8, 9))
        off, waiting = int(ours[tid]["off"]) / 1e6, int(ours[tid]["waiting"]) / 1e6
        counted["times off"] += 1
        if abs(off - (sleep + iowait + preempt)) > 0.004:
            differ("time off", path, tid, sleep + iowait + preempt, off)
        if tid in known.preempted:
            counted["threads preempted as R+"] += 1
        elif abs(waiting - (preempt + delay)) > 0.003:
            differ("waiting", path, tid, preempt + delay, waiting)
        else:
            counted["waits"] += 1


def compare_latency(path, ours, known):
    """The longest wait, and all of them, of threads that are not on a processor in the end: perf counts their last one."""
    if known.waking:
        counted["captures with sched_waking, whose latencies are not compared"] += 1
        return
    status, text, _ = run("perf", "sched", "-i", path, "latency", "-p")
    for m in filter(None, map(LATENCY.match, text.splitlines())):
        tid, times, average, most = int(m[2]), int(m[4]), float(m[5]), float(m[6])
        if tid in known.gaps | known.still_on | known.preempted or tid not in ours:
            continue
        longest, waiting = int(ours[tid]["longest"]) / 1e6, int(ours[tid]["waiting"]) / 1e6
        counted["latencies"] += 1
        if abs(longest - most) > 0.0011:
            differ("longest wait", path, tid, most, longest)
        if abs(waiting - average * times) > 0.0006 * (times + 1):
            differ("all waits", path, tid, average * times, waiting)


def compare_stacks(path, known):
    """The weights of all stacks of a thread, in ns."""
    status, text, error = run(PERFILE, "export", "--to", "folded", "--no-symbols", "--per", "tid", "--weight", "offcpu", path)
    if status not in (0, 3):
        wrong.append("%s: export: status %d: %s" % (path, status, error))
    found = collections.Counter()
    for line in text.splitlines():
        stack, _, weight = line.rpartition(" ")
        found[int(re.sub(r"^tid |;.*", "", stack))] += int(weight)
    for tid, ns in known.away.items():
        if tid in known.gaps:
            continue
        counted["threads off"] += 1
        if found[tid] != ns:
            differ("weight", path, tid, ns, found[tid])


def compare(path):
    known = Switches(path)
    if not known.n:
        return
    counted["captures"] += 1
    counted["switches"] += known.n
    ours = of_perfile(path)
    compare_timehist(path, ours, known)
    compare_latency(path, ours, known)
    compare_stacks(path, known)


def takes_all(path):
    """Whether each switch is a sample: perf sched does not look."""
    _, text, _ = run("perf", "evlist", "-v", "-i", path)
    lines = [l for l in text.splitlines() if l.startswith("sched:sched_switch:")]
    return lines and all("{ sample_period, sample_freq }: 1," in l or "sample_period: 1," in l for l in lines)


sched_made.make("made.data")
sched_made.make("many.data", cpus=16, threads=200, steps=20000, seed=2)
for name in ("made.data", "many.data"):
    compare(name)
made = dict(counted)
assert not counted["threads with gaps"] and made["threads"] == 212 and made["threads off"] == 212, made
for path, _ in captures():
    if takes_all(path):
        compare(path)
BUSY = "for i in 1 2 3 4 5 6; do (i=0; while [ $i -lt 30000 ]; do i=$((i + 1)); [ $((i % 500)) = 0 ] && sleep 0.001; done) & done; wait"
recorded = 0
for name, options in (("sched.data", ["-e", "sched:sched_switch,sched:sched_wakeup,sched:sched_wakeup_new"]),
                      ("waking.data", ["-g", "-e", "sched:sched_switch,sched:sched_waking,sched:sched_wakeup"])):
    subprocess.run(["perf", "record", "-q", "-a", "-o", name] + options + ["--", "sh", "-c", BUSY], stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL)
    if os.path.exists(name) and os.path.getsize(name):
        recorded += 1
        compare(name)
if not recorded:
    print("not recorded: perf cannot record sched:sched_switch here")
for line in wrong[:40]:
    print(line)
print(dict(counted))
ok = enough("captures", counted["captures"], 3, 2)
ok &= enough("times off", counted["times off"], 200, 200) and enough("waits", counted["waits"], 200, 200)
ok &= enough("latencies", counted["latencies"], 150, 150) and enough("threads off", counted["threads off"], 212, 212)
sys.exit(0 if ok and not wrong else 1)

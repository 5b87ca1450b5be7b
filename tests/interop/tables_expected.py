"""What the rows of the tables of a capture have to be, worked out from what `perfile dump --format jsonl --resolve`, `list --json`,
`info --json` and `script` say of it, in another way than src/tables does: for tables.py."""
import collections
import json
import re

from captures import PERFILE, run

I64 = 2**63 - 1
LISTED = "out-of-bounds", "truncated-feature-table"  # damages of features that are seen without decoding them
CONTEXT = 2**64 - 4096  # call chains: words from here on are no addresses
EXIT, FORK = 4, 7
DEFERRED = 2**64 - 640
MARKERS = {2**64 - x for x in (32, 128, 512, 2048, 2176, 2560)}  # hypervisor, kernel, user, and those of guests
SAMPLE, LOST, READ, AUX, LOST_SAMPLES, SWITCH, SWITCH_WIDE, CGROUP = 9, 2, 8, 11, 13, 14, 15, 19
THREAD_MAP, STAT, STAT_ROUND = 73, 76, 77
TID, TIME, CPU, PERIOD = 1 << 1, 1 << 2, 1 << 7, 1 << 8
REGS_USER, STACK_USER = 1 << 12, 1 << 13
# linux/perf_event.h: data_src of samples; name of the column, shift, width, words.  With bits, all that are set.
MEM_BITS = (
    ("op", 0, 5, "na load store prefetch exec".split()),
    ("level", 5, 14, "na hit miss l1 lfb l2 l3 local_ram remote_ram1 remote_ram2 remote_cache1 remote_cache2 io uncached".split()),
    ("snoop", 19, 5, "na none hit miss hitm".split()),
    ("snoopx", 38, 2, "forward peer".split()),
    ("lock", 24, 2, "na locked".split()),
    ("tlb", 26, 7, "na hit miss l1 l2 walker os_fault".split()),
    ("blk", 40, 3, "na data addr".split()))
MEM_NUMBERS = (
    ("level_num", 33, 4, dict(enumerate("l1 l2 l3 l4 l2_mhb msc l0 uncached cxl io any_cache lfb ram pmem na".split(), 1))),
    ("hops", 43, 3, dict(enumerate("none remote_core remote_node remote_socket remote_board".split()))))
MODES = {1: "kernel", 2: "user", 3: "hypervisor", 4: "guest_kernel", 5: "guest_user"}


def number(x):
    """A number of the JSON, which may be a text."""
    return x if x is None or isinstance(x, int) else int(x, 0)


def signed(x, bits=32):
    x = number(x)
    return x if x is None or x < 1 << bits - 1 else x - (1 << bits)


def fits(x):
    """A number of 64 bits, null if it has no sign to spare."""
    x = number(x)
    return x if x is not None and x <= I64 else None


def escaped(data):
    """format/tables.md: bytes that are no UTF-8 as \\xNN, and then each backslash twice."""
    try:
        return data.decode()
    except UnicodeDecodeError:
        return re.sub(r"[\udc80-\udcff]", lambda m: "\\x%02x" % (ord(m[0]) - 0xDC00),
                      data.decode(errors="surrogateescape").replace("\\", "\\\\"))


def text(x):
    """A text of the JSON, which has other bytes in hex."""
    return escaped(bytes.fromhex(x["hex"])) if isinstance(x, dict) else x


def data_src(word):
    if word is None:
        return None
    out = {}
    for name, shift, width, words in MEM_BITS:
        part = word >> shift & (1 << width) - 1
        out[name] = "|".join(w for i, w in enumerate(words) if part >> i & 1) or None
    for name, shift, width, words in MEM_NUMBERS:
        part = word >> shift & (1 << width) - 1
        out[name] = words.get(part, str(part))
    out["remote"] = bool(word >> 37 & 1)
    return out


class Capture:
    """What the other commands say."""

    def __init__(self, path, *options):
        self.path, self.options = path, options
        self.ok = False
        status, out, _ = run(PERFILE, "dump", "--format", "jsonl", "--resolve", "--on-damage", "salvage", *options, path)
        if status not in (0, 3):
            return
        lines = [json.loads(line) for line in out.splitlines()]
        self.end = lines[-1]
        self.records = [x for x in lines if x["kind"] == "record"]
        self.errors = [x for x in lines if x["kind"] == "error"]
        # Not found without decoding them.
        self.bad_features = collections.Counter(
            x["error"] for x in lines if x["kind"] == "feature" and "error" in x and x["error"] not in LISTED)
        self.features = {x["name"]: x.get("data") for x in lines if x["kind"] == "feature"}
        self.features.update((x["name"], x.get("data")) for x in self.ask("list", "features")["features"])
        for what in "events", "threads", "mappings", "cpus":
            setattr(self, what, self.ask("list", what)[what])
        self.info = self.ask("info")
        self.by_id = {number(i): e for e in self.events for i in e["ids"]}
        self.damaged = bool(self.info["damage"]["count"])
        clock = self.features.get("CLOCK_DATA")
        self.wall_offset = number(clock["wall_clock_ns"]) - number(clock["clockid_time_ns"]) if self.info["clock"]["wall"] else None
        self.forks()
        self.ok = True

    def ask(self, *command):
        status, out, errors = run(PERFILE, *command, "--json", "--on-damage", "salvage", *self.options, self.path)
        assert status in (0, 3), (command, self.path, status, errors)
        return json.loads(out)

    def event_of(self, r):
        """The event that a record is of."""
        return self.events[r["attr"]] if r.get("attr") is not None else None

    def trailer(self, r):
        """time, pid, tid, cpu as the record says them."""
        of = r["body"] if r["type"] == SAMPLE else r.get("sample_id") or {}
        time = of.get("time", r["body"].get("time") if r["type"] in (FORK, EXIT) else None)
        return number(time), signed(of.get("pid")), signed(of.get("tid")), of.get("cpu")

    def wall(self, time):
        return None if self.wall_offset is None or time is None else (time + self.wall_offset) // 1000

    # Names of threads.

    def forks(self):
        self.parents = {}  # (pid, tid): [(time, (ppid, ptid))]
        self.names = collections.defaultdict(list)
        for t in self.threads:
            key = t["pid"], t["tid"]
            for n in t["names"]:
                self.names[key].append((number(n["time"]) or 0, text(n["name"])))
            if t["start"] is not None and t["ptid"] is not None:
                self.parents.setdefault(key, []).append((number(t["start"]), (t["ppid"], t["ptid"])))

    # Samples.

    def samples(self):
        return [r for r in self.records if r["type"] == SAMPLE]

    def by_time(self, records):
        """Those without a time are where they are."""
        last, keyed = 0, []
        for r in records:
            time = self.trailer(r)[0]
            last = last if time is None else time
            keyed.append((last, r["index"], r))
        return [r for _, _, r in sorted(keyed, key=lambda k: k[:2])]

    def values(self, r):
        """Counters of READ values: (event, value, enabled, running)."""
        v = r["body"].get("values")
        if v is None:
            return None
        entries = v["cntr"] if "cntr" in v else [v] if "value" in v else []
        enabled, running = (number(v.get(k)) for k in ("time_enabled", "time_running"))
        return [(self.by_id.get(number(e["id"])) if "id" in e else self.event_of(r), number(e["value"]), enabled, running)
                for e in entries]

    def sample_row(self, r, cgroups):
        b, event = r["body"], self.event_of(r)
        has = number(event["attr"]["sample_type"]) if event else 0
        time = number(b.get("time"))
        weight, period = b.get("weight"), number(b.get("period"))
        if period is None and event and "freq" not in event["attr"]["flags"]:
            period = number(event["attr"]["sample_period"])
        full = weight.get("full", weight.get("var1_dw")) if weight else None
        counters = self.values(r)
        cgroup = number(b.get("cgroup"))
        return {
            "record": r["index"], "time": fits(time), "wall": self.wall(time),
            "event": text(r.get("event")), "event_index": r.get("attr"),
            "pid": signed(b.get("pid")), "tid": signed(b.get("tid")),
            "comm": text(r.get("comm")) if has & TID else None, "cpu": signed(b.get("cpu")),
            "mode": MODES.get(r["misc"] & 7), "ip": number(b.get("ip")), "module": text(r.get("dso")),
            "period": fits(period), "addr": number(b.get("addr")), "phys_addr": number(b.get("phys_addr")),
            "weight": signed(full, 64), "ins_lat": weight.get("var2_w") if weight else None,
            "data_src": data_src(number(b.get("data_src"))), "transaction": number(b.get("transaction")),
            "cgroup": cgroups.get(cgroup, None if cgroup is None else str(cgroup)),
            "page_size": fits(b.get("data_page_size")), "code_page_size": fits(b.get("code_page_size")),
            "counters": counters and [{"event": text(e["name"]) if e else None, "value": signed(v, 64), "enabled": en, "running": ru}
                                      for e, v, en, ru in counters],
            "branches": self.branches(b), "registers": self.registers(b)}

    def branches(self, b):
        """Without the frames."""
        if "branch_stack" not in b:
            return None
        return [{"from": number(x["from"]), "to": number(x["to"]), "cycles": x["cycles"],
                 "mispredicted": bool(x["mispred"]) if x["mispred"] or x["predicted"] else None} for x in b["branch_stack"].get("lbr", [])]

    def registers(self, b):
        """Values only."""
        sets = [b[k] for k in ("regs_user", "regs_intr") if k in b]
        return [number(x) for s in sets for x in s.get("regs", [])] if sets else None

    def sample_rows(self):
        cgroups = {}
        for r in self.records:
            if r["type"] == CGROUP:
                cgroups.setdefault(number(r["body"]["id"]), text(r["body"]["path"]))
        return [self.sample_row(r, cgroups) for r in self.samples()]

    def chain_of(self, r):
        """The addresses of a call chain as the record has it, innermost first; None: other rules make it."""
        event, b = self.event_of(r), r["body"]
        if event is None or number(event["attr"]["sample_type"]) & STACK_USER or "branch_stack" in b or "branches" in b:
            return None
        chain = [number(x) for x in b.get("callchain") or []]
        if DEFERRED in chain:  # its user part comes later
            return None
        if any(x >= CONTEXT and x not in MARKERS for x in chain):  # as perf has it, that is no chain
            return []
        return [x for x in chain if x < CONTEXT]

    def script(self):
        """Frames of all samples as `script` prints them, in order of time: (time in ns, tid, [(function, module, address), ...])."""
        status, out, _ = run(PERFILE, "script", "--ns", "-F", "tid,time,ip,sym,dso", "--on-damage", "salvage", *self.options,
                             "--no-inline", self.path)
        if status not in (0, 3):
            return None
        found, frames = [], None
        frame = re.compile(r"\s*([0-9a-f]+) (.*) \((.*)\)$")
        for line in out.splitlines():
            m = re.match(r"\s*(-?\d+)\s+(\d+)\.(\d{9}): *(.*)$", line)
            if m:
                frames = []
                found.append((int(m[2] + m[3]), int(m[1]), frames))
                line = m[4]
            f = frame.match(line)
            if f and frames is not None:
                frames.append((None if f[2] == "[unknown]" else f[2], None if f[3] == "[unknown]" else f[3], int(f[1], 16)))
        for _, _, frames in found:
            if frames and not frames[-1][2]:  # it ends a chain, and is none
                frames.pop()
        return found

    # Other tables.

    def event_rows(self):
        rows = []
        types = {0: "hardware", 1: "software", 2: "tracepoint", 3: "hw_cache", 4: "raw", 5: "breakpoint"}
        pmus = {p["type"]: text(p["name"]) for p in (self.features.get("PMU_MAPPINGS") or {}).get("pmus", [])}
        for e in self.events:
            a = e["attr"]
            freq, kind = "freq" in a["flags"], number(a["sample_type"])
            branches = number(a.get("branch_sample_type")) or 0
            call_graph = "lbr" if kind & 1 << 11 and branches & 1 << 11 else \
                "dwarf" if kind & (REGS_USER | STACK_USER) == REGS_USER | STACK_USER else "fp" if kind & 1 << 5 else None
            scale = e.get("scale", 1)
            rows.append({
                "event_index": e["index"], "event": text(e["name"]), "type": types.get(a["type"], pmus.get(a["type"])),
                "type_number": a["type"], "config": number(a["config"]),
                "sample_period": None if freq else fits(a["sample_period"]), "sample_freq": fits(a["sample_freq"]) if freq else None,
                "precise": a["precise_ip"], "call_graph": call_graph, "unit": text(e.get("unit")),
                "scale": scale if "unit" in e or scale != 1 else None, "group_leader": e["group_leader"],
                "flags": [f for f in a["flags"] if not isinstance(f, int)], "is_tracepoint": a["type"] == 2})
        return rows

    def mapping_rows(self):
        rows = []
        for m in self.mappings:
            prot = m.get("prot")
            start, length = number(m["addr"]), number(m["len"])
            rows.append({
                "pid": -1 if m["pid"] is None else signed(m["pid"]), "start": start, "end": start + length if start + length < 2**64 else None,
                "file_offset": number(m["pgoff"]) if m["kind"] == "file" else None,
                "protection": None if prot is None else
                "".join(c if prot >> i & 1 else "-" for i, c in enumerate("rwx")) + "ps"[m.get("flags", 0) & 1],
                "path": re.sub(r"^(\[kernel\.kallsyms\]).+", r"\1", text(m["name"])), "from_time": fits(m["start"]) or None, "to_time": fits(m["end"])})
        return rows

    def thread_rows(self, samples):
        """`samples` are rows of samples."""
        known = collections.defaultdict(list)
        for t in self.threads:
            row = {
                "pid": signed(t["pid"]), "tid": signed(t["tid"]), "parent_pid": signed(t["ppid"]), "parent_tid": signed(t["ptid"]),
                "comm": text(t["comm"]), "fork_time": fits(t["start"]) or None, "exit_time": fits(t["end"]),
                "times": [], "samples": 0}
            known[row["pid"], row["tid"]].append(row)
        for s in samples:
            if s["tid"] is None or s["tid"] == -1:
                continue
            of = known[s["pid"], s["tid"]]
            if not of:
                of.append({"pid": s["pid"], "tid": s["tid"], "parent_pid": None, "parent_tid": None, "comm": s["comm"],
                           "fork_time": None, "exit_time": None, "times": [], "samples": 0})
            began = [t for t in of if s["time"] is None or (t["fork_time"] or 0) <= s["time"]]
            row = began[-1] if began else of[0]
            row["samples"] += 1
            if s["time"] is not None:
                row["times"].append(s["time"])
        rows = [row for of in known.values() for row in of]
        for row in rows:
            times = row.pop("times")
            row["first_time"], row["last_time"] = (min(times), max(times)) if times else (None, None)
        return rows

    def comm_rows(self):
        return [{"pid": signed(t["pid"]), "tid": signed(t["tid"]), "time": fits(n["time"]) or None, "comm": text(n["name"]),
                 "exec": n["exec"]} for t in self.threads for n in t["names"]]

    def lost_rows(self):
        rows = []
        for r in self.records:
            if not (r["type"] in (LOST, LOST_SAMPLES) or r["type"] == AUX and number(r["body"]["flags"]) & 1):
                continue
            time, pid, tid, cpu = self.trailer(r)
            event = self.event_of(r) or (self.by_id.get(number(r["body"]["id"])) if r["type"] == LOST else None)
            rows.append({"record": r["index"], "time": fits(time), "cpu": cpu, "pid": pid, "tid": tid,
                         "event": event and text(event["name"]), "kind": {LOST: "records", LOST_SAMPLES: "samples", AUX: "aux"}[r["type"]],
                         "lost": fits(r["body"].get("lost"))})
        return rows

    def aux_rows(self):
        names = ["truncated", "overwrite", "partial", "collision"]
        rows = []
        for r in self.records:
            if r["type"] == AUX:
                time, pid, tid, cpu = self.trailer(r)
                b = r["body"]
                rows.append({"record": r["index"], "time": fits(time), "cpu": cpu, "pid": pid, "tid": tid,
                             "offset": number(b["aux_offset"]), "bytes": fits(b["aux_size"]),
                             "flags": [n for i, n in enumerate(names) if number(b["flags"]) >> i & 1]})
        return rows

    def counter_row(self, r, event, value, enabled, running, **more):
        row = {"record": r["index"], "event": event and text(event["name"]), "event_index": event and event["index"],
               "value": fits(value), "enabled": fits(enabled), "running": fits(running), "unit": text(event.get("unit")) if event else None,
               "time": None, "cpu": None, "pid": None, "tid": None}
        scaled = float(value) * (event.get("scale", 1) if event else 1)
        if enabled is not None and running is not None:
            scaled = scaled * (enabled / running) if running else None
        return dict(row, scaled=scaled, **more)

    def counter_rows(self):
        rows, waiting, threads = [], [], []
        for r in self.records:
            b = r["body"]
            if r["type"] in (SAMPLE, READ) and "values" in b or r["type"] == READ:
                time, _, _, cpu = self.trailer(r)
                source = "sample" if r["type"] == SAMPLE else "read"
                for event, value, enabled, running in self.values(r if "values" in b else dict(r, body={"values": b})) or []:
                    row = self.counter_row(r, event, value, enabled, running, source=source)
                    row.update(time=fits(time), cpu=cpu if source == "sample" else None, pid=signed(b.get("pid")), tid=signed(b.get("tid")))
                    rows.append(row)
            elif r["type"] == THREAD_MAP:
                threads = [signed(number(e["pid"]) & 2**32 - 1) if number(e["pid"]) < 2**32 - 1 else None for e in b["entries"]]
            elif r["type"] == STAT:
                event = self.by_id.get(number(b["id"]))
                row = self.counter_row(r, event, *(number(b[k]) for k in ("val", "ena", "run")), source="stat")
                row.update(cpu=b["cpu"] if b["cpu"] != 2**32 - 1 else None,
                           tid=threads[b["thread"]] if b["thread"] < len(threads) else None)
                waiting.append(row)
            elif r["type"] == STAT_ROUND:
                rows += [dict(row, time=fits(b["time"])) for row in waiting]
                waiting = []
        return rows + waiting

    def capture_row(self):
        i, host = self.info, self.info.get("host") or {}
        total = self.features.get("TOTAL_MEM")
        times = [t for t in (self.trailer(r)[0] for r in self.records) if t]
        first, last = (min(times), max(times)) if times else (None, None)
        sizes = [p["size"] for p in i["parts"]]
        return {
            "file": self.path.rstrip("/").split("/")[-1], "bytes": sum(map(number, sizes)) if None not in sizes else None,
            "form": ("directory" if i["directory"] else i["form"]),
            "host": text(host.get("hostname")), "kernel": text(host.get("osrelease")), "arch": text(host.get("arch")),
            "cpu_model": text(host.get("cpudesc")), "cpuid": text(host.get("cpuid")), "cpus": host.get("cpus") or None,
            "memory_bytes": 1024 * number(total["total_mem"]) if total else None, "perf_version": text(host.get("tool")),
            "command": text(host.get("cmdline")), "clock": i["clock"]["name"], "wall_offset_ns": self.wall_offset,
            "first_time": first, "last_time": last, "records": len(self.records), "samples": len(self.samples()),
            "lost_records": sum(number(r["body"]["lost"]) for r in self.records if r["type"] == LOST),
            "lost_samples": sum(number(r["body"]["lost"]) for r in self.records if r["type"] == LOST_SAMPLES),
            "damages": i["damage"]["count"] - sum(self.bad_features.values()), "damaged_bytes": number(i["damage"]["lost"]), "labels": []}

    def cpu_rows(self):
        return [{k: c.get(k) for k in ("cpu", "core", "die", "socket", "node")} for c in self.cpus]

    # Switches.

    def switches(self):
        """Of each record that says who left or came: (time, record, cpu, source, leaves, comes), the last two None or (pid, tid, comm
        as the record says it, preempted)."""
        found = []
        for r in self.by_time([r for r in self.records if r["type"] in (SWITCH, SWITCH_WIDE, SAMPLE)]):
            time, pid, tid, cpu = self.trailer(r)
            if time is None:
                continue
            if r["type"] == SAMPLE:
                t, name = r.get("tracepoint"), r.get("event") or ""
                if not re.match(r"sched:sched_switch(:|$)", name) or not t or "prev_pid" not in t or \
                        (tid not in (None, -1) and tid != t["prev_pid"]):
                    continue
                attr = self.event_of(r)["attr"]
                traced = "freq" not in attr["flags"] and number(attr["sample_period"]) == 1
                gone = (pid, t["prev_pid"], text(t["prev_comm"]), not number(t["prev_state"]) & 0xFF)
                came = (0 if t["next_pid"] == 0 else None, t["next_pid"], text(t["next_comm"]), None)
                found.append((time, r, cpu, "sched_switch" if traced else None, gone, came))
                continue
            b, left = r["body"], bool(r["misc"] & 1 << 13)
            this = pid, tid, "", bool(r["misc"] & 1 << 14) if left else None
            other = (signed(b["next_prev_pid"]), signed(b["next_prev_tid"]), "", None) if r["type"] == SWITCH_WIDE else None
            found.append((time, r, cpu, r["type"], this if left else other, other if left else this))
        return found

    def slices(self):
        """(cpu, pid, tid, comm, start, duration, end_reason)."""
        threads, on_cpu, rows = {}, {}, []
        for time, r, cpu, source, gone, came in self.switches():
            if source is None:
                continue
            steps = [("out", gone)] if gone else []
            steps += [("in", came)] if came else []
            if source in (SWITCH, SWITCH_WIDE):  # what the record says of the other one is not its own
                steps = [("out", gone)] if r["misc"] & 1 << 13 else [("in", came)]
            for what, (pid, tid, comm, preempted) in steps:
                if tid in (None, -1) or tid == 0 and cpu is None:
                    continue
                key = (tid, cpu if tid == 0 else None)
                state = threads.get(key)  # (True: on, cpu, since, comm, pid) or (False, source)
                if what == "in":
                    if state and state[0]:
                        continue
                    threads[key] = True, cpu, time, comm or text(r.get("comm")), pid
                    former = on_cpu.get(cpu)
                    if cpu is not None:
                        if former not in (None, key) and threads[former][0]:
                            del threads[former]
                        on_cpu[cpu] = key
                    continue
                if state and not state[0] and state[1] != source:
                    continue
                threads[key] = False, source
                if state and state[0]:
                    pid = state[4] if pid in (None, -1) else pid
                    rows.append((state[1], pid, tid, state[3], state[2], time - state[2], "preempted" if preempted else "wait"))
                former = on_cpu.get(cpu)
                if cpu is not None:
                    if former not in (None, key) and threads.get(former, (False,))[0]:
                        del threads[former]
                    on_cpu[cpu] = None
        return rows

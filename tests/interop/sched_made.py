"""A capture of sched:sched_switch and sched:sched_wakeup that is made, for perf_sched.py: some processors, on which threads run, are
preempted, sleep and are woken, all at random but without a gap."""
import random
import struct

SWITCH, WAKEUP = 316, 317
SAMPLE_ID_ALL = 1 << 18
IP, TID, TIME, CPU, PERIOD, RAW, IDENTIFIER, CALLCHAIN = 1, 2, 4, 1 << 7, 1 << 8, 1 << 10, 1 << 16, 1 << 5
COMMON = (("unsigned short common_type", 0, 2, 0), ("unsigned char common_flags", 2, 1, 0),
          ("unsigned char common_preempt_count", 3, 1, 0), ("int common_pid", 4, 4, 1))
SWITCH_FIELDS = (("char prev_comm[16]", 8, 16, 0), ("pid_t prev_pid", 24, 4, 1), ("int prev_prio", 28, 4, 1),
                 ("long prev_state", 32, 8, 1), ("char next_comm[16]", 40, 16, 0), ("pid_t next_pid", 56, 4, 1),
                 ("int next_prio", 60, 4, 1))
WAKEUP_FIELDS = (("char comm[16]", 8, 16, 0), ("pid_t pid", 24, 4, 1), ("int prio", 28, 4, 1), ("int success", 32, 4, 1),
                 ("int target_cpu", 36, 4, 1))


def described(name, number, fields, text):
    lines = ["\tfield:%s;\toffset:%d;\tsize:%d;\tsigned:%d;\n" % f for f in fields]
    return ("name: %s\nID: %d\nformat:\n" % (name, number) + "".join(lines[:4]) + "\n" + "".join(lines[4:]) +
            "\nprint fmt: %s\n" % text).encode()


def tracing(switch=SWITCH):
    """Feature TRACING_DATA; `switch` is the number of sched:sched_switch."""
    page = b"\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n" \
        b"\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n"
    event = b"# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n\tarray       :   32 bits\n"
    formats = (described("sched_switch", switch, COMMON + SWITCH_FIELDS,
                         '"prev_comm=%s prev_pid=%d prev_prio=%d prev_state=%ld ==> next_comm=%s next_pid=%d next_prio=%d", '
                         'REC->prev_comm, REC->prev_pid, REC->prev_prio, REC->prev_state, REC->next_comm, REC->next_pid, '
                         'REC->next_prio'),
               described("sched_wakeup", WAKEUP, COMMON + WAKEUP_FIELDS,
                         '"comm=%s pid=%d prio=%d target_cpu=%03d", REC->comm, REC->pid, REC->prio, REC->target_cpu'))
    out = b"\x17\x08\x44tracing0.6\0" + struct.pack("<BBI", 0, 8, 4096)
    out += b"header_page\0" + struct.pack("<Q", len(page)) + page + b"header_event\0" + struct.pack("<Q", len(event)) + event
    out += struct.pack("<II", 0, 1) + b"sched\0" + struct.pack("<I", len(formats))
    for text in formats:
        out += struct.pack("<Q", len(text)) + text
    return out + struct.pack("<IIQ", 0, 0, 0)


def sample(event, time, cpu, tid, chain, payload):
    raw = struct.pack("<I", len(payload)) + payload
    raw += bytes(-len(raw) % 8)
    raw = struct.pack("<I", len(raw) - 4) + raw[4:]
    body = struct.pack("<QQiiQIIQ", event, chain[0], tid, tid, time, cpu, 0, 1)
    body += struct.pack("<Q", len(chain) + 1) + struct.pack("<Q", 2**64 - 128)
    body += struct.pack("<%dQ" % len(chain), *chain) + raw
    return struct.pack("<IHH", 9, 1, 8 + len(body)) + body


class Machine:
    def __init__(self, cpus, threads, seed):
        self.random = random.Random(seed)
        self.on = [0] * cpus
        self.ready = list(range(100, 100 + threads))
        self.asleep = []
        self.records = []
        self.time = 10**9

    def comm(self, tid):
        return ("task-%d" % (tid % 7) if tid else "swapper").encode()

    def switch(self, cpu):
        prev = self.on[cpu]
        state = self.random.choice((0, 1, 1, 2)) if prev else 0
        if prev and state:
            self.asleep.append(prev)
        elif prev:
            self.ready.append(prev)
        next_ = self.ready.pop(self.random.randrange(len(self.ready))) if self.ready and self.random.random() < 0.9 else 0
        if next_ == prev:
            return
        self.on[cpu] = next_
        payload = struct.pack("<HBBi16siiq16sii", SWITCH, 0, 0, prev, self.comm(prev), prev, 120, state, self.comm(next_), next_, 120)
        chain = [0xffffffff81000000 + 16 * self.random.randrange(20) for _ in range(3)]
        self.records.append(sample(1, self.time, cpu, prev, chain, payload))

    def wake(self, cpu):
        if not self.asleep:
            return
        tid = self.asleep.pop(self.random.randrange(len(self.asleep)))
        self.ready.append(tid)
        payload = struct.pack("<HBBi16siiii", WAKEUP, 0, 0, self.on[cpu], self.comm(tid), tid, 120, 1, cpu)
        self.records.append(sample(2, self.time, cpu, self.on[cpu], [0xffffffff81000000], payload))

    def run(self, steps):
        for _ in range(steps):
            self.time += self.random.randrange(1, 2000000)
            cpu = self.random.randrange(len(self.on))
            (self.switch if self.random.random() < 0.6 else self.wake)(cpu)


def deferred(time, cpu, tid, cookie, chain):
    """The user part of an earlier call chain; for write(…, flags=SAMPLE_ID_ALL)."""
    body = struct.pack("<QQ%dQ" % len(chain), cookie, len(chain), *chain) + struct.pack("<iiQIIQ", tid, tid, time, cpu, 0, 1)
    return struct.pack("<IHH", 22, 2, 8 + len(body)) + body


def switched(time, cpu, tid, out):
    """A SWITCH record, likewise."""
    body = struct.pack("<iiQIIQ", tid, tid, time, cpu, 0, 1)
    return struct.pack("<IHH", 14, out << 13, 8 + len(body)) + body


def write(path, records, period=1, flags=0):
    """A file of samples that sample() made."""
    data = b"".join(records)
    sample_type = IDENTIFIER | IP | TID | TIME | CPU | PERIOD | CALLCHAIN | RAW
    attrs = b"".join(struct.pack("<IIQQQQQ", 2, 128, number, period, sample_type, 4, flags).ljust(128, b"\0")
                     for number in (SWITCH, WAKEUP))
    at = 104
    ids_at, attrs_at = at, at + 16
    data_at = attrs_at + 2 * (128 + 16)
    ids = struct.pack("<QQ", 1, 2)
    table = b"".join(attrs[128 * i:128 * i + 128] + struct.pack("<QQ", ids_at + 8 * i, 8) for i in range(2))
    trace = tracing()
    desc = struct.pack("<II", 2, 128)
    for i, name in enumerate((b"sched:sched_switch", b"sched:sched_wakeup")):
        desc += attrs[128 * i:128 * i + 128] + struct.pack("<II", 1, 64) + name.ljust(64, b"\0") + struct.pack("<Q", i + 1)
    sections = data_at + len(data)
    features = struct.pack("<QQQQ", sections + 32, len(trace), sections + 32 + len(trace), len(desc)) + trace + desc
    head = b"PERFILE2" + struct.pack("<QQQQQQQQ", 104, 144, attrs_at, len(table), data_at, len(data), 0, 0)
    head += struct.pack("<QQQQ", 1 << 1 | 1 << 12, 0, 0, 0)
    with open(path, "wb") as f:
        f.write(head + ids + table + data + features)


def make(path, cpus=3, threads=12, steps=4000, seed=1):
    m = Machine(cpus, threads, seed)
    m.run(steps)
    write(path, m.records)

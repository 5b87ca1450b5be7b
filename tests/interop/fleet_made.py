"""Captures of a fleet: of several machines and days, with call chains, threads that leave processors, and functions of a file
that all machines have.  fleet_made.py LIBRARY SYMBOLS BUILD_ID FOLDER HOSTS DAYS: writes FOLDER/HOST-DAY.data and
FOLDER/kallsyms; SYMBOLS is what `nm` prints."""
import os
import random
import sys

from made import CALLCHAIN, COMM, CPU, IDENTIFIER, IP, MMAP, PERIOD, SAMPLE_ID_ALL, TASK, TID, TIME, Maker

USE_CLOCKID, CONTEXT_SWITCH, CLOCK_MONOTONIC = 1 << 25, 1 << 26, 1
SAMPLE_TYPE = IP | TID | TIME | CPU | PERIOD | CALLCHAIN | IDENTIFIER
USER, KERNEL = 2, 1
IN_USER, IN_KERNEL = -512, -128
BASE, CLOSED, KERNEL_BASE = 0x7f0000000000, 0x560000000000, 0xffffffff81000000
KERNEL_FUNCTIONS = {"_stext": 0, "do_syscall_64": 0x1000, "schedule": 0x2000, "page_fault": 0x3000, "_etext": 0x10000}
FIRST_DAY = 1772323200  # 2026-03-01
DAY = 86400
NS = 10**9
ID = 77


class Capture(Maker):
    def __init__(self, seed, functions, sample_type):
        super().__init__("<")
        self.sample_type = sample_type
        self.random = random.Random(seed)
        self.functions = functions
        self.now = self.random.randrange(1, 1000) * NS
        self.data = b""

    def attr(self):
        flags = SAMPLE_ID_ALL | MMAP | COMM | TASK | USE_CLOCKID | CONTEXT_SWITCH
        return (self.pack("IIQQQQQ", 1, 128, 0, 1000, self.sample_type, 0, flags) + bytes(4 + 4 + 8 * 4 + 4) +
                self.pack("i", CLOCK_MONOTONIC) + bytes(8 + 4 + 2 + 2 + 4 + 4 + 8))

    def end(self, pid, tid, cpu):
        return self.pack("IIQIIQ", pid, tid, self.now, cpu, 0, ID)

    def put(self, kind, misc, body, pid, tid, cpu=0):
        self.data += self.record(kind, misc, body + self.end(pid, tid, cpu))

    def process(self, pid, comm, library, build_id):
        self.put(3, 0x2000, self.pack("II", pid, pid) + self.text(comm), pid, pid)
        body = self.pack("IIQQQ", pid, pid, BASE, 0x100000, 0) + bytes((len(build_id), 0, 0, 0)) + build_id.ljust(20, b"\0")
        self.put(10, USER | 1 << 14, body + self.pack("II", 5, 2) + self.text(library), pid, pid)
        body = self.pack("IIQQQ", pid, pid, CLOSED, 0x10000, 0) + bytes((20, 0, 0, 0)) + b"closed".ljust(20, b"!")
        self.put(10, USER | 1 << 14, body + self.pack("II", 5, 2) + self.text("/opt/closed"), pid, pid)

    def place(self):
        name = self.random.choice(sorted(self.functions))
        return BASE + self.functions[name] + self.random.randrange(4)

    def chain(self):
        user = [self.place() for _ in range(self.random.randrange(1, 9))]
        if self.random.random() < 0.2:
            user.insert(self.random.randrange(len(user) + 1), CLOSED + 16 * self.random.randrange(5))
        if self.random.random() < 0.1:
            user.append(0x1234)  # nothing is mapped there
        kernel = [KERNEL_BASE + self.random.choice([0x1000, 0x2000, 0x3000]) + 8 for _ in range(self.random.randrange(3))]
        return kernel, user

    def sample(self, pid, cpu):
        kernel, user = self.chain()
        words = ([IN_KERNEL, *kernel] if kernel else []) + [IN_USER, *user]
        period = self.random.randrange(1, 5000)
        body = self.words(ID, (kernel + user)[0]) + self.pack("IIQIIQ", pid, pid, self.now, cpu, 0, period)
        body += self.words(len(words), *words) if self.sample_type & CALLCHAIN else b""
        self.data += self.record(9, KERNEL if kernel else USER, body)

    def run(self, pids, n):
        """`n` samples; threads take turns on two processors."""
        on = {0: None, 1: None}
        for _ in range(n):
            self.now += self.random.randrange(1, NS // 20)
            cpu = self.random.randrange(2)
            if on[cpu] is None or self.random.random() < 0.3:
                free = [p for p in pids if p not in on.values()]
                if on[cpu] is not None:
                    self.put(14, 0x2000 | self.random.choice((0, 0x4000)), b"", on[cpu], on[cpu], cpu)
                on[cpu] = self.random.choice(free)
                self.now += 100
                self.put(14, 0, b"", on[cpu], on[cpu], cpu)
            self.now += 50
            self.sample(on[cpu], cpu)

    def file(self, features):
        attr, at = self.attr(), 104 + 8
        bitmap = sum(1 << number for number, _ in features)
        start = at + len(attr) + 16
        header = b"PERFILE2" + self.words(104, len(attr) + 16, at, len(attr) + 16, start, len(self.data), 0, 0, bitmap, 0, 0, 0)
        table, payloads = b"", b""
        begin = start + len(self.data) + 16 * len(features)
        for _, payload in sorted(features):
            table += self.words(begin + len(payloads), len(payload))
            payloads += payload
        return header + self.words(ID) + attr + self.words(104, 8) + self.data + table + payloads


def capture(host, day, library, build_id, functions):
    """Those of each fifth day have no call chains."""
    c = Capture("%d/%d" % (host, day), functions, SAMPLE_TYPE & ~(CALLCHAIN if day % 5 == 4 else 0))
    wall = (FIRST_DAY + day * DAY + host * 3600) * NS
    clock = c.pack("IiQQ", 1, CLOCK_MONOTONIC, wall, c.now)
    body = c.pack("IIQQQ", 0xffffffff, 0, KERNEL_BASE, 0x10000, KERNEL_BASE) + c.text("[kernel.kallsyms]_text")
    c.put(1, KERNEL, body, 0, 0)
    pids = [100 + 10 * host + k for k in range(4)]
    for pid, comm in zip(pids, ("web", "database", "cache", "batch-%d" % (host % 3))):
        c.process(pid, comm, library, build_id)
    c.run(pids, 100 + 10 * host + day)
    return c.file(((3, c.string("host-%d" % host)), (4, c.string("6.1.0")), (29, clock)))


def main():
    library, symbols, build_id, folder, hosts, days = sys.argv[1:]
    functions = {}
    for line in open(symbols):
        words = line.split()
        if words[1] == "T":
            functions[words[2]] = int(words[0], 16)
    for host in range(int(hosts)):
        for day in range(int(days)):
            with open(os.path.join(folder, "host-%d-day-%d.data" % (host, day)), "wb") as f:
                f.write(capture(host, day, library, bytes.fromhex(build_id), functions))
    with open(os.path.join(folder, "kallsyms"), "w") as f:
        for name, offset in KERNEL_FUNCTIONS.items():
            f.write("%x T %s\n" % (KERNEL_BASE + offset, name))


if __name__ == "__main__":
    main()

"""What hotspot's parser made of a capture, beside what `perfile stats` says of it.

    hotspot.py STREAM STATS ORDER   compares the stream of hotspot-perfparser with `perfile stats --by event,tid,comm --type sample
                                    --json`.  ORDER is that of the bytes of the capture, little or big.  Prints what differs and
                                    ends with 1, or prints the number of samples.

Samples and sums of periods are those of `stats` for each event and thread.  So they are for each name that a thread had: but the
stream does not say who forked a thread, and names no idle, so samples of those may be without a name.  Samples of groups have the
values of all counters instead of a period, so only their number counts.  Of big-endian captures the parser misses the flags of
attrs: names of threads have no time there, and a period that all samples of an event have is not known.

The stream: a magic, the version of QDataStream, then messages.  A message is its size, little-endian, and a byte for its kind with
fields, big-endian.  What a message needs comes before it: texts before those who name them by number, names of threads before the
samples that have them.
"""
import collections
import json
import struct
import sys

MAGIC = b"QPERFSTREAM\0"
FORK, COMMAND, TEXT, EVENT, SAMPLE, TRACEPOINT_SAMPLE = 0, 2, 5, 11, 13, 14  # kinds of messages
NULL = 0xFFFFFFFF  # as the size of bytes


class Message:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        values = struct.unpack_from(">" + form, self.data, self.at)
        self.at += struct.calcsize(">" + form)
        return values if len(values) != 1 else values[0]

    def take_bytes(self):
        size = self.take("I")
        return b"" if size == NULL else self.take("%ds" % size)

    def take_list(self, form):
        return [self.take(form) for _ in range(self.take("I"))]


def messages(stream):
    if stream[: len(MAGIC)] != MAGIC:
        sys.exit("hotspot-perfparser wrote no stream")
    at = len(MAGIC) + 4
    while at < len(stream):
        (size,) = struct.unpack_from("<I", stream, at)
        at += 4
        if size == 0 or at + size > len(stream):
            sys.exit("the stream is cut off at byte %d of %d" % (at, len(stream)))
        yield Message(stream[at : at + size])
        at += size


class Reader:
    def __init__(self):
        self.texts = {-1: None}  # by number
        self.events = {}  # number to (name, period of all samples; 0: samples have their own)
        self.comms = {}  # tid to name
        self.forked = {0}  # threads that may have a name of which the stream says nothing
        self.samples = collections.Counter()  # by event, tid and comm
        self.periods = collections.Counter()
        self.groups = False  # samples have counters, not periods

    def read(self, stream):
        readers = {
            FORK: self.fork,
            COMMAND: self.comm,
            TEXT: self.text,
            EVENT: self.event,
            SAMPLE: self.sample,
            TRACEPOINT_SAMPLE: self.sample,
        }
        for m in messages(stream):
            kind = m.take("B")
            if kind in readers:
                readers[kind](m)

    def text(self, m):
        number = m.take("i")
        self.texts[number] = m.take_bytes().decode("utf-8", "replace")

    def event(self, m):
        number, _type, _config, name, by_frequency, period = m.take("iIQi?Q")
        self.events[number] = self.texts[name], 0 if by_frequency else period

    def fork(self, m):
        _pid, tid = m.take("ii")
        self.comms.pop(tid, None)
        self.forked.add(tid)

    def comm(self, m):
        _pid, tid, _time, _cpu, name = m.take("iiQIi")
        self.comms[tid] = self.texts[name]

    def sample(self, m):
        _pid, tid, _time, _cpu = m.take("iiQI")
        m.take_list("i")  # frames
        m.take("B")
        values = m.take_list("iQ")
        self.groups |= len(values) > 1
        event, period = values[0]
        name, fixed = self.events[event]
        key = name, tid, self.comms.get(tid)
        self.samples[key] += 1
        self.periods[key] += period or fixed


def by_thread(rows):
    sums = collections.defaultdict(lambda: (0, 0))
    for (event, tid, _), (samples, period) in rows.items():
        sums[event, tid] = sums[event, tid][0] + samples, sums[event, tid][1] + period
    return sums


def main(stream_name, stats_name, order):
    reader = Reader()
    with open(stream_name, "rb") as f:
        reader.read(f.read())
    with open(stats_name, encoding="utf-8") as f:
        rows = json.load(f)["rows"]
    has_periods = not reader.groups
    wanted = {(r["event"], r["tid"], r["comm"]): (r["samples"], int(r["period"]) * has_periods) for r in rows}
    have = {key: (n, reader.periods[key] * has_periods) for key, n in reader.samples.items()}
    differs = 0
    if order == "big":
        unsaid = {event for event, _, _ in have} - {event for (event, _, _), (_, period) in have.items() if period}
        wanted = {key: (n, period * (key[0] not in unsaid)) for key, (n, period) in wanted.items()}
    pairs = [(by_thread(have), by_thread(wanted))]
    if order != "big":
        pairs.append((have, wanted))
    for sums, others in pairs:
        for key in sorted(sums.keys() | others.keys(), key=str):
            left, right = sums.get(key, (0, 0)), others.get(key, (0, 0))
            forked = len(key) == 3 and key[1] in reader.forked
            # Of a forked thread some samples may be without its name.
            if left != right and not (forked and (key[2] is None or (left[0] <= right[0] and left[1] <= right[1]))):
                print("%s: hotspot has %s, stats %s" % (key, left, right))
                differs = 1
    print(sum(reader.samples.values()))
    sys.exit(differs)


if __name__ == "__main__":
    main(*sys.argv[1:])

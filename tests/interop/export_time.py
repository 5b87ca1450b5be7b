"""The forms of `perfile export` that show time, by their published rules: each check gives the samples of each comm and
event, which `perfile stats` counts, too."""
import collections
import json
import re

# docs-developer/CHANGELOG-formats.md and src/types/profile.ts of firefox-devtools/profiler, version 57.
TABLES = {
    "stackTable": ("frame", "prefix"),
    "frameTable": ("address", "inlineDepth", "category", "subcategory", "func", "nativeSymbol", "innerWindowID", "line",
                   "column"),
    "funcTable": ("name", "isJS", "relevantForJS", "resource", "fileName", "lineNumber", "columnNumber"),
    "resourceTable": ("lib", "name", "host", "type"),
    "nativeSymbols": ("libIndex", "address", "name", "functionSize"),
    "markers": ("data", "name", "startTime", "endTime", "phase", "category"),
}
COLORS = {"transparent", "purple", "green", "orange", "yellow", "lightblue", "blue", "brown", "magenta", "red", "lightred",
          "darkgrey", "grey"}


def ascending(times):
    return all(a <= b for a, b in zip(times, times[1:]))


def check_table(thread, name):
    table = thread[name]
    assert set(table) == {"length", *TABLES[name]}, (name, set(table))
    assert all(len(table[column]) == table["length"] for column in TABLES[name]), name
    return table


def within(values, n, *others):
    """All are positions in a table of n rows, or one of the others."""
    assert all(v in others or (type(v) is int and 0 <= v < n) for v in values), (n, others, values[:20])


def check_thread(p, thread):
    texts, libs, categories = len(p["shared"]["stringArray"]), len(p["libs"]), len(p["meta"]["categories"])
    t = {name: check_table(thread, name) for name in TABLES}
    within(t["stackTable"]["frame"], t["frameTable"]["length"])
    assert all(x is None or 0 <= x < i for i, x in enumerate(t["stackTable"]["prefix"]))
    within(t["frameTable"]["func"], t["funcTable"]["length"])
    within(t["frameTable"]["category"], categories)
    within(t["frameTable"]["subcategory"], 1)
    assert all(type(a) is int and a >= -1 for a in t["frameTable"]["address"])
    within(t["frameTable"]["nativeSymbol"], t["nativeSymbols"]["length"], None)
    within(t["funcTable"]["name"], texts)
    within(t["funcTable"]["resource"], t["resourceTable"]["length"], -1)
    within(t["resourceTable"]["lib"], libs)
    within(t["resourceTable"]["name"], texts)
    within(t["markers"]["name"], texts)
    within(t["markers"]["category"], categories)
    schemas = {s["name"] for s in p["meta"]["markerSchema"]}
    for data, phase, start, end in zip(*(t["markers"][c] for c in ("data", "phase", "startTime", "endTime"))):
        assert data["type"] in schemas and start >= 0
        assert "cause" not in data or (data["cause"]["time"] == start and 0 <= data["cause"]["stack"] < t["stackTable"]["length"])
        assert (phase, end) == (0, None) or (phase == 1 and end >= start), (phase, start, end)
    samples = thread["samples"]
    n = samples["length"]
    assert len(samples["stack"]) == len(samples["time"]) == n and ascending(samples["time"])
    within(samples["stack"], t["stackTable"]["length"], None)
    assert samples["weight"] is None or len(samples["weight"]) == n
    assert samples["weightType"] in ("samples", "tracing-ms")
    assert not n or samples["time"][0] >= 0
    assert type(thread["pid"]) is str and type(thread["tid"]) in (int, str) and thread["name"]
    assert thread["registerTime"] >= 0 and thread["processStartupTime"] >= 0
    assert thread["unregisterTime"] is None or thread["unregisterTime"] >= thread["registerTime"]


def check_meta(meta):
    """The rules of meta."""
    assert meta["symbolicated"] is True
    assert meta["preprocessedProfileVersion"] == 57 and meta["startTime"] >= 0 and meta["interval"] > 0
    assert all(c["color"] in COLORS and c["subcategories"] == ["Other"] for c in meta["categories"])
    assert any(c["color"] == "grey" for c in meta["categories"])
    for schema in meta["markerSchema"]:
        keys = [f["key"] for f in schema["fields"]]
        assert len(set(keys)) == len(keys) and "type" not in keys and all(f["format"] for f in schema["fields"])
        for label in "tableLabel", "chartLabel", "tooltipLabel":
            assert schema[label], schema
            used = re.findall(r"\{([^}]*)\}", schema[label])
            assert all(u == "marker.name" or u.startswith("marker.data.") and u[12:] in keys for u in used), (schema, used)


def check_firefox_joined(data, wanted):
    """The default: a track for each thread, with samples of one event and markers of the others; how many others."""
    p = json.loads(data)
    check_meta(p["meta"])
    markers, tracks, n = collections.Counter(), collections.Counter(), 0
    for thread in p["threads"]:
        check_thread(p, thread)
        tracks[thread["pid"], thread["tid"], thread["name"] if thread["tid"] == 0 else ""] += 1
        n += thread["samples"]["length"]
        markers.update(d["type"] for d in thread["markers"]["data"] if d["type"] in wanted)
    assert not tracks or max(tracks.values()) == 1, tracks.most_common(3)
    rest = sum(wanted.values()) - sum(markers.values())
    assert n == rest and all(wanted[event] == k for event, k in markers.items()), (n, markers, wanted)
    return len(markers)


def check_firefox(data, events):
    """{(comm, event): samples} of an export with --per comm,pid,tid,event."""
    p = json.loads(data)
    check_meta(p["meta"])
    texts = p["shared"]["stringArray"]
    assert all(type(x) is str for x in texts) and len(set(texts)) == len(texts)
    for lib in p["libs"]:
        assert {type(lib[k]) for k in ("name", "path", "debugName", "debugPath", "arch")} == {str}
        code, debug = lib["codeId"], lib["breakpadId"]
        assert re.fullmatch("[0-9A-F]{32}0", debug)
        if code:
            head = (code + "0" * 32)[:32].upper()
            swapped = [head[i:i + 2] for i in (6, 4, 2, 0, 10, 8, 14, 12)] + [head[16:]]
            assert "".join(swapped) + "0" == debug, (code, debug)
    sums = collections.Counter()
    for thread in p["threads"]:
        check_thread(p, thread)
        named = re.fullmatch(r"(?s)(.*) \((.*?)\)", thread["name"])
        several = named and named[2] in events
        key = (named[1], named[2]) if several else (thread["name"], events[0] if len(events) == 1 else None)
        sums[key] += thread["samples"]["length"]
    return sums


def one(message, field, default=None):
    values = message.get(field, [])
    assert len(values) <= 1, (field, values)
    return values[0] if values else default


class Sequence:
    """What packets of one sequence may refer to."""
    KINDS = {"function_names": "str", "build_ids": "str", "mapping_paths": "str", "mappings": None, "frames": None,
             "callstacks": None}

    def __init__(self):
        self.interned = {kind: {} for kind in self.KINDS}
        self.event = None

    def add(self, data):
        for kind in self.KINDS:
            for item in data.get(kind, []):
                iid = one(item, "iid")
                assert iid and iid not in self.interned[kind], (kind, iid)
                self.interned[kind][iid] = item
        for m in data.get("mappings", []):
            assert all(i in self.interned["mapping_paths"] for i in m["path_string_ids"]) and m["path_string_ids"]
            assert one(m, "build_id", 0) == 0 or one(m, "build_id") in self.interned["build_ids"]
            assert one(m, "start") <= one(m, "end")
        for f in data.get("frames", []):
            assert one(f, "function_name_id") in self.interned["function_names"] and "rel_pc" in f
            assert one(f, "mapping_id") in self.interned["mappings"]  # else older versions drop the samples
        for c in data.get("callstacks", []):
            assert c["frame_ids"] and all(i in self.interned["frames"] for i in c["frame_ids"])

    def stack(self, iid):
        frames = (self.interned["frames"][i] for i in self.interned["callstacks"][iid]["frame_ids"])
        return tuple(one(self.interned["function_names"][one(f, "function_name_id")], "str") for f in frames)


def as_signed(n):
    return n - (1 << 32) if n >= 1 << 31 else n


def check_switches(bundle):
    assert "cpu" in bundle and bundle["event"]
    for event in bundle["event"]:
        s = one(event, "sched_switch")
        assert one(event, "timestamp") is not None and one(event, "pid") == one(s, "prev_pid") % (1 << 32)
        assert {"prev_comm", "next_comm", "next_pid", "prev_state"} <= set(s), s
    assert ascending([one(e, "timestamp") for e in bundle["event"]])
    return len(bundle["event"])


def check_perfetto(trace, found):
    """{(pid, tid, event, frames…): samples}; adds to what was found."""
    sequences, sums, members, tracks, last = {}, collections.Counter(), {}, {0: None}, None
    for packet in trace["packet"]:
        number, flags = one(packet, "trusted_packet_sequence_id"), one(packet, "sequence_flags")
        assert number and flags in (2, 3) and (flags == 3) == (number not in sequences), (number, flags)
        sequence = sequences.setdefault(number, Sequence())
        if "trace_packet_defaults" in packet:
            defaults = one(packet, "trace_packet_defaults")
            assert one(defaults, "timestamp_clock_id") == 6
            base = one(one(defaults, "perf_sample_defaults"), "timebase")
            sequence.event = one(base, "name")
            assert len({"counter", "tracepoint", "raw_event"} & set(base)) == 1, base
        if "interned_data" in packet:
            sequence.add(one(packet, "interned_data"))
        if "process_tree" in packet:
            for thread in one(packet, "process_tree")["threads"]:
                key = one(thread, "tgid"), one(thread, "tid")
                assert key not in members
                members[key] = one(thread, "name")
        if "ftrace_events" in packet:
            found["perfetto: switches"] += check_switches(one(packet, "ftrace_events"))
        if "clock_snapshot" in packet:
            clocks = one(packet, "clock_snapshot")["clocks"]
            assert one(clocks[0], "clock_id") == 6 and len(clocks) <= 2
        if "track_descriptor" in packet:
            thread = one(one(packet, "track_descriptor"), "thread")
            key = one(thread, "pid"), one(thread, "tid")
            assert tracks.setdefault(one(one(packet, "track_descriptor"), "uuid"), key) == key
        if "track_event" in packet: # the payload of the sample before it
            event = one(packet, "track_event")
            fields = event["debug_annotations"][0]
            assert last == (number, one(packet, "timestamp")) and one(event, "type") == 3
            assert one(event, "name") == sequence.event and one(event, "track_uuid") in tracks
            assert one(fields, "name") == "tracepoint" and type(json.loads(one(fields, "legacy_json_value"))) is dict
            found["perfetto: payloads"] += 1
        if "perf_sample" in packet:
            sample = one(packet, "perf_sample")
            assert "timestamp" in packet
            last = number, one(packet, "timestamp")
            if "kernel_records_lost" in sample:
                found["perfetto: losses"] += 1
                continue
            pid, tid = (as_signed(one(sample, k, (1 << 32) - 1)) for k in ("pid", "tid"))
            # Of tid 0, the idle threads, there is one in Perfetto, whatever process a capture says it is of.
            assert (pid, tid) in members or -1 in (pid, tid) or tid == 0, (pid, tid)
            iid = one(sample, "callstack_iid", 0)
            stack = sequence.stack(iid) if iid else ()
            sums[(f"pid {pid}", f"tid {tid}", sequence.event, *stack)] += 1
    return sums


def check_chrome(data, found):
    """{(comm, event): samples} of trace events, by the rules of the Trace Event Format."""
    trace = json.loads(data)
    assert set(trace) == {"displayTimeUnit", "otherData", "traceEvents", "stackFrames"} and trace["displayTimeUnit"] == "ns"
    stacks = trace["stackFrames"]
    for number, frame in stacks.items():
        assert type(frame["name"]) is str and type(frame["category"]) is str
        assert int(frame.get("parent", 0)) < int(number) and frame.get("parent", "1") in stacks
    sums, slices, named, counters = collections.Counter(), collections.defaultdict(list), set(), collections.defaultdict(list)
    for event in trace["traceEvents"]:
        phase, track = event["ph"], (event["pid"], event["tid"])
        assert type(event["pid"]) is int and type(event["tid"]) is int and type(event["name"]) is str
        if phase == "M":
            assert event["name"] in ("process_name", "thread_name") and type(event["args"]["name"]) is str
            assert (event["name"], track) not in named
            named.add((event["name"], track))
            continue
        assert event["ts"] >= 0, event
        if phase == "X":
            assert event["dur"] >= 0
            slices[track].append((event["ts"], event["ts"] + event["dur"]))
        elif phase == "C":
            assert type(event["args"]["value"]) is int
            counters[event["pid"], event["name"]].append(event["ts"])
        else:
            assert phase == "i" and event["s"] == "t" and event.get("sf", "1") in stacks or "sf" not in event, event
            if event["cat"] == "sample":
                sums[event["args"].get("comm"), event["name"]] += 1
            else:
                assert event["cat"] == "record"
                found["chrome: records"] += 1
    for spans in slices.values():
        spans.sort()
        # As decimals of µs they are exact to the ns, but for the sum.
        assert all(a[1] <= b[0] + 0.0005 for a, b in zip(spans, spans[1:])), spans
        found["chrome: slices"] += len(spans)
    for times in counters.values():
        assert ascending(times)
        found["chrome: values"] += len(times)
    return sums

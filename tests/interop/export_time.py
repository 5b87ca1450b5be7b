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


def check_firefox(data, events):
    """{(comm, event): samples} of an export with --per comm,pid,tid,event."""
    p = json.loads(data)
    meta = p["meta"]
    assert meta["preprocessedProfileVersion"] == 57 and meta["startTime"] >= 0 and meta["interval"] > 0
    assert all(c["color"] in COLORS and c["subcategories"] == ["Other"] for c in meta["categories"])
    assert any(c["color"] == "grey" for c in meta["categories"])
    for schema in meta["markerSchema"]:
        keys = [f["key"] for f in schema["fields"]]
        assert len(set(keys)) == len(keys) and "type" not in keys and all(f["format"] for f in schema["fields"])
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

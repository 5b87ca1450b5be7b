"""fleet.py PERFILE PAGE DUCKDB: the captures in captures/, of 8 machines and 5 days, as tables: what DuckDB and two servers of
ClickHouse make of them by the text of the page format/tables.md and by the views is what `perfile stats`, `perfile export --to
folded` and the rules of the page say of the same captures."""
import collections
import glob
import json
import os
import re
import subprocess
import sys

import clickhouse
import xxh3

PERFILE, PAGE, DUCKDB = sys.argv[1:]
FILES = sorted(glob.glob("captures/*.data"))
SYMBOLS = ["--kallsyms", "captures/kallsyms"]
failed = 0


def check(ok, *what):
    global failed
    if not ok:
        failed += 1
        print(*what)


def run(*command):
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        sys.exit("%s: %d\n%s" % (" ".join(command), done.returncode, done.stderr[-2000:]))
    return done.stdout


def block(name):
    """The fenced block of the page after <!-- fleet: NAME -->."""
    return re.search(r"<!-- fleet: %s -->\n```\w+\n(.*?)```" % name, open(PAGE, encoding="utf-8").read(), re.S)[1]


def duckdb(*texts):
    """The answers of all SELECTs, as lists of rows."""
    for i, text in enumerate(texts):
        with open("query-%d.sql" % i, "w") as f:
            f.write(text)
    answers, rows = [], []
    for line in run("node", DUCKDB, *("query-%d.sql" % i for i in range(len(texts)))).splitlines():
        if line == "end":
            answers.append(rows)
            rows = []
        else:
            rows.append(json.loads(line))
    return answers


def as_sums(rows):
    """Rows of keys, then samples and period."""
    out = collections.defaultdict(lambda: (0, 0))
    for *key, samples, period in rows:
        n, weight = out[tuple(key)]
        out[tuple(key)] = n + int(samples), weight + int(period)
    return dict(out)


def same(what, got, want):
    check(got == want and want, what, "differ:", list(set(got.items()) ^ set(want.items()))[:6] if got != want else "nothing there")


def differing(what, got, want):
    check(got == want and want, what, "differ:", got[:6], want[:6])


class Wanted:
    """What perfile itself says of the captures: by host, date, comm, module and function."""

    def __init__(self):
        flat, total, self.waits = [], [], collections.Counter()
        for path in FILES:
            host, day = re.fullmatch(r"captures/(host-\d+)-day-(\d+)\.data", path).groups()
            date = "2026-03-%02d" % (int(day) + 1)
            for row in json.loads(run(PERFILE, "stats", "--by", "comm,dso,sym", "--unknown", "module", "--json", *SYMBOLS, path))["rows"]:
                key = [host, date, row["comm"], row["dso"], row["sym"] if row["named"] else None]
                flat.append(key + [row["samples"], row["period"]])
                total.append(key + [row["total_samples"], row["total_period"]])
            for row in json.loads(run(PERFILE, "stats", "--on-cpu", "--by", "comm,tid", "--json", path))["rows"]:
                self.waits[host, row["comm"]] += int(row["off"])
        self.flat = {k: v for k, v in as_sums(flat).items() if v[0]}
        self.total = as_sums(total)
        self.folded = collections.Counter()
        for line in run(PERFILE, "export", "--to", "folded", *SYMBOLS, *FILES).splitlines():
            stack, n = line.rsplit(" ", 1)
            self.folded[stack] += int(n)

    @staticmethod
    def by(sums, *places):
        return as_sums([[k[p] for p in places] + list(v) for k, v in sums.items()])


def check_ids(ask):
    """Each id is what the rules of the page make of the other columns."""
    modules, frames, stacks = ask(
        "SELECT DISTINCT module_id, build_id, path FROM read_parquet('fleet/modules/**/*.parquet');",
        "SELECT DISTINCT frame_id, module_id, \"offset\", mode FROM read_parquet('fleet/frames/**/*.parquet') WHERE kind <> 'jit' AND NOT inlined;",
        "SELECT DISTINCT stack_id, frames FROM read_parquet('fleet/stacks/**/*.parquet') WHERE NOT truncated;")
    check(len(modules) >= 3 and len(frames) > 20 and len(stacks) > 1000, "few ids:", len(modules), len(frames), len(stacks))
    for id, build_id, path in modules:
        check(int(id) == xxh3.module_id(bytes.fromhex(build_id or ""), path), "module_id of", path)
    for id, module, offset, mode in frames:
        check(int(id) == xxh3.frame_id(int(module or 0), int(offset), mode or "unknown"), "frame_id of", module, offset, mode)
    for id, places in stacks:
        check(int(id) == xxh3.stack_id([int(p) for p in places]), "stack_id of", places)
    for path in FILES[:3]:
        id = "%032x" % xxh3.xxh3_128(open(path, "rb").read())
        check(glob.glob("fleet/samples/*/*/%s.parquet" % id), "capture_id of", path)


VIEWS = (
    "SELECT host, date::VARCHAR, comm, module, function, sum(samples), sum(period) FROM flat GROUP BY ALL;",
    "SELECT host, date::VARCHAR, comm, module, function, sum(samples), sum(period) FROM total GROUP BY ALL;",
    "SELECT stack, sum(samples) FROM folded GROUP BY ALL;",
    "SELECT sum(samples), sum(period), count(wall) = count(*), max(second) > 1 FROM per_second;",
    "SELECT host, comm, sum(ns) FROM (FROM off_cpu UNION ALL BY NAME FROM switch_latency) GROUP BY ALL;",
    "SELECT count(*) FROM slices;",
)


def check_views(wanted, answers, what):
    flat, total, folded, seconds, waits, slices = answers
    same(what + ": flat", as_sums(flat), wanted.flat)
    same(what + ": total", as_sums(total), wanted.total)
    same(what + ": folded", {k: int(v) for k, v in folded}, dict(wanted.folded))
    samples, period = wanted.by(wanted.flat)[()]
    check([int(float(x)) if not isinstance(x, bool) else x for x in seconds[0]] == [samples, period, True, True], what, "per_second:", seconds)
    if int(slices[0][0]):
        same(what + ": off_cpu and switch_latency", {(h, c): int(n) for h, c, n in waits}, {k: n for k, n in wanted.waits.items() if n})
    else:
        print("not tried: off_cpu and switch_latency: there are no slices")


def check_page(wanted, answers):
    """The queries of the page."""
    flat, top = answers[:2]
    by_comm = sorted([h, c, str(n)] for (h, c), (n, _) in wanted.by(wanted.flat, 0, 2).items())
    differing("page: host, comm", flat, by_comm)
    late = {k: v for k, v in wanted.total.items() if k[1] >= "2026-03-02"}
    functions = sorted(((-n, f) for (f,), (n, _) in wanted.by(late, 4).items() if f))
    differing("page: functions", [r for r in top if r[0]], [[f, str(-n)] for n, f in functions])


def in_duckdb(wanted):
    for line in block("export").splitlines():
        run("bash", "-c", "set -e; PATH=%s:$PATH; %s" % (os.path.dirname(PERFILE), line.replace("--to parquet", "--to parquet " + " ".join(SYMBOLS))))
    page = block("duckdb")
    views = page[:page.index("SELECT")]
    answers = duckdb(page, *VIEWS)
    check_page(wanted, answers)
    check_views(wanted, answers[2:], "DuckDB")
    check_ids(duckdb)
    # Exported again, one of them under another name: the same files, and so the same numbers.
    before = sorted(glob.glob("fleet/**/*.parquet", recursive=True))
    os.link(FILES[7], "another-name.data")
    run(PERFILE, "export", "--to", "parquet", *SYMBOLS, "-o", "fleet", *FILES[3:9], "another-name.data")
    check(sorted(glob.glob("fleet/**/*.parquet", recursive=True)) == before, "exporting again made other files")
    check_views(wanted, duckdb(views, *VIEWS), "exported again")
    # Compacted.
    check_views(wanted, duckdb(views, block("compaction"), *VIEWS), "compacted")
    counts = duckdb(views, "SELECT count(*), count(DISTINCT stack_id) FROM stacks;", block("compaction"), "SELECT count(*) FROM stacks;")
    check(int(counts[0][0][0]) > int(counts[0][0][1]) == int(counts[1][0][0]), "compaction:", counts)


# Columns that go to ClickHouse, and what DuckDB makes of them first.
LOADED = {
    "captures": ("capture_id", "host", "captured_at", "first_time"),
    "samples": ("capture_id", "time", "event", "comm", "module", "function", "stack_id", "period"),
    "stacks": ("stack_id", "frames"),
    "frames": ("frame_id", "module", "function"),
    "slices": ("capture_id", "cpu", "pid", "tid", "comm", "start", "duration", "end_reason"),
}
AS_TEXT = {
    "captured_at": "strftime(captured_at AT TIME ZONE 'UTC', '%Y-%m-%d %H:%M:%S')",
    "frames": "'[' || array_to_string(frames, ',') || ']'",
}


def statements(text):
    return [s for s in (re.sub(r"^--.*\n?", "", s, flags=re.M).strip() for s in re.split(r";[ \t]*(?:--.*)?\n", text)) if s]


def fill(server, shard):
    """Tables and views of a shard, with the captures of every second machine."""
    tables = run(PERFILE, "schema", "--format", "sql", "--dialect", "clickhouse", *LOADED)
    # Of 18.16: it does not know these types.
    tables = re.sub(r" -- .*", "", tables).replace("(Bool)", "(UInt8)").replace("DateTime64(6, 'UTC')", "DateTime('UTC')")
    tables = re.sub(r",\n\)", "\n)", re.sub(r"^.*Tuple\(.*\n", "", tables, flags=re.M))
    for statement in statements(tables):
        server.query(statement)
    for statement in statements(run(PERFILE, "schema", "--format", "views", "--dialect", "clickhouse")):
        server.query(statement)
    for table, names in LOADED.items():
        file = "%s-%d.tsv" % (table, shard)
        columns = ", ".join(AS_TEXT.get(n, '"%s"' % n) for n in names)
        duckdb("COPY (SELECT %s FROM read_parquet('fleet/%s/**/*.parquet', hive_partitioning = true) WHERE host[6:]::INT %% 2 = %d)"
               " TO '%s' (FORMAT csv, DELIMITER '\t', NULLSTR '\\N', HEADER false, QUOTE '', ESCAPE '');" % (columns, table, shard, file))
        server.query("INSERT INTO %s (%s) FORMAT TabSeparated" % (table, ", ".join(names)), open(file, "rb").read())


def rows_of(text):
    return [[None if w == "\\N" else w for w in line.split("\t")] for line in text.splitlines()]


CLICKHOUSE_VIEWS = (
    "SELECT host, toString(date), comm, module, function, sum(samples), sum(period) FROM all_flat GROUP BY host, date, comm, module, function",
    "SELECT host, toString(date), comm, module, function, sum(samples), sum(period) FROM all_total GROUP BY host, date, comm, module, function",
    "SELECT stack, sum(samples) FROM all_folded GROUP BY stack",
)


def in_clickhouse(wanted):
    if not clickhouse.program():
        print("not tried: ClickHouse: there is no clickhouse-server (apt-get install clickhouse-server)")
        return
    with clickhouse.Fleet("clickhouse") as servers:
        for shard, server in enumerate(servers):
            fill(server, shard)
        answers = [rows_of(said) for said in map(servers[0].query, statements(block("clickhouse")))]
        differing("ClickHouse: host, comm", answers[2], sorted([h, c, str(n)] for (h, c), (n, _) in wanted.by(wanted.flat, 0, 2).items()))
        functions = sorted((-n, f) for (f,), (n, _) in wanted.by(wanted.total, 4).items() if f)
        differing("ClickHouse: functions", [r for r in answers[3] if r[0]], [[f, str(-n)] for n, f in functions])
        servers[0].query("CREATE TABLE all_folded AS folded ENGINE = Distributed(fleet, currentDatabase(), folded)")
        flat, total, folded = (rows_of(servers[0].query(q)) for q in CLICKHOUSE_VIEWS)
        same("ClickHouse: flat", as_sums(flat), wanted.flat)
        same("ClickHouse: total", as_sums(total), wanted.total)
        same("ClickHouse: folded", {k: int(v) for k, v in folded}, dict(wanted.folded))
        sums = [[int(w) for w in rows_of(s.query("SELECT sum(samples), sum(period) FROM per_second"))[0]] for s in servers]
        check([sum(x) for x in zip(*sums)] == list(wanted.by(wanted.flat)[()]) and all(s[0] for s in sums), "ClickHouse: per_second:", sums)
        waits = collections.Counter()
        for server in servers:
            for view in "off_cpu", "switch_latency":
                for host, comm, ns in rows_of(server.query("SELECT host, comm, sum(ns) FROM %s GROUP BY host, comm" % view)):
                    waits[host, comm] += int(ns)
        if waits:
            same("ClickHouse: off_cpu and switch_latency", dict(waits), {k: n for k, n in wanted.waits.items() if n})


def main():
    check(len(FILES) == 40, len(FILES), "captures")
    wanted = Wanted()
    in_duckdb(wanted)
    in_clickhouse(wanted)
    sys.exit(1 if failed else 0)


main()

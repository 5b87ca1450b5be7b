/* Rows by the clock on the wall: commands beside the loops that bound them, one thread beside two,
 * and the memory that is resident.  All runners of a row take turns, and the best of each counts.
 */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ARGS = 16, ROW_BYTES = 80, SLOW_ROUNDS = 3 };

/* A loop or a command, and the best that was seen of it. */
typedef struct runner {
    loop *run; /* NULL: argv is a command */
    const char *argv[MOST_ARGS];
    const char *twin; /* not NULL: at once, the same command of this file, which ends argv, too */
    double wall, cpu;
} runner;

static runner of_loop(loop *run)
{
    return (runner){.run = run};
}

static runner of_command(const settings *set, const char *const *words, const char *path)
{
    runner r = {.argv = {set->command}};
    size_t n = 1;
    for (; words[n - 1]; n++)
        r.argv[n] = words[n - 1];
    r.argv[n] = path;
    return r;
}
/* Two files: of one the second reader finds in the cache what the first one brought there. */
static runner pair_of(runner r, const char *twin)
{
    r.twin = twin;
    return r;
}

static usage run_pair(const runner *r)
{
    runner other = *r;
    size_t n = 0;
    while (other.argv[n])
        n++;
    other.argv[n - 1] = r->twin;
    return process_pair(r->argv, other.argv);
}

/* A copy of the capture beside it; removed by twin_end(). */
static void twin_begin(const capture *c, char *twin, size_t size)
{
    snprintf(twin, size, "%s.twin", c->path);
    const char *const cp[] = {"cp", c->path, twin, NULL};
    (void)process_run(cp, NULL, false);
}

static void twin_end(const char *twin)
{
    remove(twin);
}

#define COMMAND(set, path, ...) of_command(set, (const char *const[]){__VA_ARGS__, NULL}, path)

static bool keep(double value, double *best)
{
    const double noise = 0.98;
    bool much = value < *best * noise;
    *best = fmin(value, *best);
    return much;
}

/* One turn; whether it was better than all before. */
static bool turn(const capture *c, runner *r)
{
    double wall, cpu;
    captures_ready(c);
    if (r->run) {
        double start = wall_time(), before = cpu_time();
        (void)r->run(c);
        wall = wall_time() - start;
        cpu = cpu_time() - before;
    } else {
        usage u = r->twin ? run_pair(r) : process_run(r->argv, NULL, false);
        wall = u.ok ? u.wall : INFINITY;
        cpu = u.ok ? u.seconds : INFINITY;
    }
    bool better = keep(wall, &r->wall);
    return keep(cpu, &r->cpu) || better;
}

/* Until none was better for `rounds` turns, eight times as many at most. */
static void race(const capture *c, runner *all, size_t n, unsigned rounds)
{
    enum { PATIENCE = 8 };
    unsigned since = 0;
    for (size_t i = 0; i < n; i++)
        all[i].wall = all[i].cpu = INFINITY;
    for (unsigned i = 0; since < rounds && i < PATIENCE * rounds; i++) {
        since++;
        for (size_t k = 0; k < n; k++)
            if (turn(c, &all[k]))
                since = 0;
    }
    captures_ready(c);
}

/* `limit` seconds of wall and processor time beside those of `r`. */
static void row(const char *kind, const char *what, double limit, double limit_cpu, const runner *r,
                const char *unit, double required)
{
    char note[ROW_BYTES];
    if (isinf(r->wall)) {
        printf("%-12s %s: it failed\n", kind, what);
        return;
    }
    snprintf(note, sizeof note, "%.1f ms; by processor time %.2f", 1e3 * r->wall,
             limit_cpu / r->cpu);
    table_row(kind, what, limit / r->wall, unit, required, false, note);
}

/* What threads cannot gain: the bare read loop, by one thread and by two, and the start of the
 * program. */
typedef struct bounds {
    double read, read_two, start;
} bounds;

/* Two threads beside one.  Required are 1.7 of the 2 that two processors gain at best, and the same
 * share of what this machine gains, behind the start of the program, with two such commands at
 * once, or would with a command that halves all but what the read loop takes: processors may share
 * a core or the memory. */
static void jobs_row(const char *kind, const char *what, const runner *one, const runner *pair,
                     const runner *two, bounds b)
{
    const double share = 1.7 / 2;
    const double work = one->wall - b.start;
    const double gain = 2 * one->wall / pair->wall;
    const double read = fmin(b.read, work);
    const double by_read = work / (fmin(b.read_two, read) + (work - read) / 2);
    const double best = fmin(2, fmin(gain, by_read));
    printf("%-12s %s: two commands at once gain %.2f x, with the read loop's two threads %.2f x; "
           "the start takes %.1f ms\n",
           kind, what, gain, by_read, 1e3 * b.start);
    row(kind, what, one->wall, one->cpu, two, "x", share * one->wall / (b.start + work / best));
}

/* `read`: the loop that does nothing but read, which no command that reads can beat alone. */
static void beside_perf(const settings *set, const capture *c, const runner *ours, size_t n,
                        const runner *read)
{
    static const double needed[N_KINDS] = {8, 6, 6, NAN};
    static const char *const names[] = {"stats", "info", "list processes"};
    runner perf = {.argv = {"perf", "report", "--stats", "-i", c->path}};
    if (set->no_perf)
        return;
    race(c, &perf, 1, SLOW_ROUNDS);
    printf("%-12s the bare read loop / perf report --stats: %.2f x\n", kind_names[c->kind],
           perf.wall / read->wall);
    for (size_t i = 0; i < n && !isinf(perf.wall); i++) {
        char what[ROW_BYTES];
        snprintf(what, sizeof what, "wall: %s / perf report --stats", names[i]);
        row(kind_names[c->kind], what, perf.wall, perf.cpu, &ours[i], "x",
            needed[c->kind] / (i ? 2 : 1));
    }
}

static void reading_rows(const settings *set, const capture *c, const char *twin)
{
    enum {
        STATS,
        INFO,
        LIST,
        VALIDATE,
        STATS_1,
        STATS_2,
        STATS_PAIR,
        VALIDATE_1,
        VALIDATE_2,
        VALIDATE_PAIR,
        START,
        READ,
        READ_TWO,
        WALK,
        WALK_AHEAD,
        N
    };
    const char *kind = kind_names[c->kind];
    runner r[N] = {
        [STATS] = COMMAND(set, c->path, "stats"),
        [INFO] = COMMAND(set, c->path, "info"),
        [LIST] = COMMAND(set, c->path, "list", "processes"),
        [VALIDATE] = COMMAND(set, c->path, "validate"),
        [STATS_1] = COMMAND(set, c->path, "stats", "-j", "1"),
        [STATS_PAIR] = pair_of(COMMAND(set, c->path, "stats", "-j", "1"), twin),
        [VALIDATE_PAIR] = pair_of(COMMAND(set, c->path, "validate", "-j", "1"), twin),
        [STATS_2] = COMMAND(set, c->path, "stats", "-j", "2"),
        [VALIDATE_1] = COMMAND(set, c->path, "validate", "-j", "1"),
        [VALIDATE_2] = COMMAND(set, c->path, "validate", "-j", "2"),
        [START] = COMMAND(set, c->path, "--version"),
        [READ] = of_loop(limit_read_bare),
        [READ_TWO] = of_loop(limit_read_two),
        [WALK] = of_loop(limit_walk),
        [WALK_AHEAD] = of_loop(limit_walk_ahead_4k),
    };
    race(c, r, N, set->rounds);
    double wall = r[READ].wall + fmin(r[WALK].wall, r[WALK_AHEAD].wall);
    double cpu = r[READ].cpu + fmin(r[WALK].cpu, r[WALK_AHEAD].cpu);
    row(kind, "wall: stats / (read + warm walk)", wall, cpu, &r[STATS], "", 0.6);
    row(kind, "wall: info / (read + warm walk)", wall, cpu, &r[INFO], "", 0.3);
    row(kind, "wall: list processes / (read + warm walk)", wall, cpu, &r[LIST], "", 0.3);
    row(kind, "wall: validate / (read + warm walk)", wall, cpu, &r[VALIDATE], "", 0.25);
    const bounds b = {r[READ].wall, r[READ_TWO].wall, r[START].wall};
    jobs_row(kind, "wall: stats -j 2 / -j 1", &r[STATS_1], &r[STATS_PAIR], &r[STATS_2], b);
    jobs_row(kind, "wall: validate -j 2 / -j 1", &r[VALIDATE_1], &r[VALIDATE_PAIR], &r[VALIDATE_2],
             b);
    beside_perf(set, c, r, LIST + 1, &r[READ]);
}

static void dumping_rows(const settings *set, const capture *c, const char *twin)
{
    static const char *const formats[] = {"text", "jsonl"};
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++) {
        char what[ROW_BYTES];
        runner r[] = {
            COMMAND(set, c->path, "dump", "-j", "1", "--format", formats[i]),
            COMMAND(set, c->path, "dump", "-j", "2", "--format", formats[i]),
            pair_of(COMMAND(set, c->path, "dump", "-j", "1", "--format", formats[i]), twin),
            of_loop(limit_read_bare),
            of_loop(limit_read_two),
            COMMAND(set, c->path, "--version"),
        };
        race(c, r, sizeof r / sizeof r[0], set->rounds);
        snprintf(what, sizeof what, "wall: dump --format %s -j 2 / -j 1", formats[i]);
        jobs_row(kind_names[c->kind], what, &r[0], &r[2], &r[1],
                 (bounds){r[3].wall, r[4].wall, r[5].wall});
    }
}

static void writing_rows(const settings *set, const capture *c)
{
    enum { COPY, CONVERT, FILTER, N };
    char out[sizeof c->path + 8];
    snprintf(out, sizeof out, "%s" OUT_SUFFIX, c->path);
    runner r[N] = {
        [COPY] = of_loop(limit_copy),
        [CONVERT] = COMMAND(set, c->path, "convert", "-o", out),
        [FILTER] = COMMAND(set, c->path, "filter", "-o", out),
    };
    race(c, r, N, set->rounds);
    const char *kind = kind_names[c->kind];
    row(kind, "wall: convert / read/write loop", r[COPY].wall, r[COPY].cpu, &r[CONVERT], "", 0.7);
    row(kind, "wall: filter / read/write loop", r[COPY].wall, r[COPY].cpu, &r[FILTER], "", 0.7);
}

/* All that is resident, mapped files included. */
static void resident_rows(const settings *set, const capture *c)
{
    enum { MOST_MB = 16 };
    static const char *const commands[][4] = {
        {"info"}, {"list", "processes"}, {"stats"},         {"validate"},
        {"dump"}, {"dump", "--json"},    {"convert", "-o"}, {"filter", "-o"},
    };
    char out[sizeof c->path + 8], what[ROW_BYTES];
    snprintf(out, sizeof out, "%s" OUT_SUFFIX, c->path);
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        const char *words[8] = {commands[i][0], commands[i][1]};
        if (words[1] && strcmp(words[1], "-o") == 0)
            words[2] = out;
        const runner r = of_command(set, words, c->path);
        captures_ready(c);
        usage u = process_run(r.argv, NULL, false);
        bool option = words[1] && words[1][0] == '-';
        snprintf(what, sizeof what, "%s%s%s: resident memory", words[0], words[1] ? " " : "",
                 !words[1]                      ? ""
                 : option && words[1][1] != '-' ? "all"
                                                : words[1]);
        if (u.ok)
            table_row(kind_names[c->kind], what, u.resident_mb, "MB", MOST_MB, true, "");
        else
            printf("%-12s %s: it failed\n", kind_names[c->kind], what);
    }
    captures_ready(c);
}

void wall_rows(const settings *set, const capture *c)
{
    char twin[sizeof c->path + 8];
    twin_begin(c, twin, sizeof twin);
    reading_rows(set, c, twin);
    dumping_rows(set, c, twin);
    twin_end(twin);
    writing_rows(set, c);
    resident_rows(set, c);
}

/* Bytes in temporary files, as the report of a command says; NAN when it does not. */
static double temporary_bytes(const char *report)
{
    static const char key[] = "\"temporary\":";
    const char *at = strstr(report, key);
    return at ? strtod(at + sizeof key - 1, NULL) : NAN;
}

static void sort_rows(const settings *set, const capture *c, const char *kind)
{
    char out[sizeof c->path + 8], report[4096] = "";
    snprintf(out, sizeof out, "%s" OUT_SUFFIX, c->path);
    runner r[] = {of_loop(limit_copy), COMMAND(set, c->path, "sort", "-o", out)};
    race(c, r, 2, set->rounds);
    row(kind, "wall: sort / read/write loop", r[0].wall, r[0].cpu, &r[1], "", 0.5);
    const runner json = COMMAND(set, c->path, "sort", "--json", "-o", out);
    captures_ready(c);
    if (process_output(json.argv, report, sizeof report))
        table_row(kind, "sort: bytes in temporary files", temporary_bytes(report), "", 0, true, "");
    captures_ready(c);
}

static void merge_rows(const settings *set, const capture *c, const char *kind)
{
    char out[sizeof c->path + 8];
    snprintf(out, sizeof out, "%s" OUT_SUFFIX, c->path);
    runner r[] = {of_loop(limit_copy_four),
                  COMMAND(set, c->path, "merge", "-o", out, c->path, c->path, c->path)};
    race(c, r, 2, set->rounds);
    row(kind, "wall: merge of four / read/write loop", r[0].wall, r[0].cpu, &r[1], "", 0.5);
}

/* Recordings with rounds of 16 MB and more, as machines of many processors make them. */
void rounds_rows(const settings *set)
{
    static const char *const kinds[] = {"rounds", "in order"};
    for (unsigned sorted = 0; sorted < 2; sorted++) {
        capture c;
        if (!captures_make_rounds(set, sorted, &c)) {
            printf("%-12s no such capture: perf cannot record here\n", kinds[sorted]);
            return;
        }
        sort_rows(set, &c, kinds[sorted]);
        merge_rows(set, &c, kinds[sorted]);
        captures_release(&c);
    }
}

/* Rows of the second family: perfmon buffers beside a perf capture, by the record. */
#include "bench.h"

#include <inttypes.h>
#include <math.h>
#include <unistd.h>

#include "perfile/perfile.h"

#define KIND "perfmon"

/* A command on a buffer, and the one on a perf capture that it is compared with. */
typedef struct pair {
    const char *what;
    const char *const *buffer, *const *perf;
    double required; /* NAN: nothing */
} pair;

/* Makes a buffer of `interrupts`, each of which leaves some records. */
static bool make_buffer(const settings *set, const char *path, uint64_t interrupts)
{
    char maker[sizeof set->tools + 32], n[24];
    snprintf(maker, sizeof maker, "%s/../samples/make_perfmon", set->tools);
    snprintf(n, sizeof n, "%" PRIu64, interrupts);
    const char *const argv[] = {maker, path, "sampling", "1", n, NULL};
    return access(maker, X_OK) == 0 && process_run(argv, NULL, false).ok;
}

static uint64_t count_records(const char *path)
{
    perfile_stream *s;
    const perfile_record *r;
    uint64_t n = 0;
    size_t some;
    if (perfile_open_path(path, NULL, &s, NULL) != PERFILE_OK)
        return 0;
    while (perfile_stream_next_run(s, &r, &some, NULL) == PERFILE_OK)
        n += some;
    perfile_stream_close(s);
    return n;
}

/* Both take turns; the rate of records of the first by that of the second. */
static void compare(const settings *set, const capture *c, uint64_t n, const pair *p)
{
    double best[2] = {INFINITY, INFINITY};
    bool ok = true;
    for (unsigned i = 0; i < set->rounds && ok; i++)
        for (unsigned k = 0; k < 2; k++) {
            const usage u = process_best(k ? p->perf : p->buffer, c, 1);
            best[k] = fmin(best[k], u.seconds);
            ok &= u.ok;
        }
    captures_ready(c);
    if (!ok || !n)
        printf("%-12s %s: it failed\n", KIND, p->what);
    else
        table_row(KIND, p->what, best[1] / (double)c->n_records / (best[0] / (double)n), "",
                  p->required, false, "");
}

static void dump_row(const settings *set, const char *buffer)
{
    enum { INTERRUPTS = 300000 };
    capture c;
    if (!captures_make(set->dir, set->tools, FLAT, set->megabytes, true, &c))
        return;
    const char *const ours[] = {set->command, "dump", "-j", "1", "--format", "jsonl", buffer, NULL};
    const char *const perf[] = {set->command, "dump", "-j", "1", "--format", "jsonl", c.path, NULL};
    if (make_buffer(set, buffer, INTERRUPTS))
        compare(set, &c, count_records(buffer),
                &(pair){"dump --format jsonl / of flat, by the record", ours, perf, 0.5});
    else
        printf("%-12s no buffers: the samples are not built\n", KIND);
    captures_release(&c);
}

static void convert_row(const settings *set, const char *buffer)
{
    enum { INTERRUPTS = 3000000 };
    capture c;
    char out[sizeof c.path + 8];
    if (!captures_make(set->dir, set->tools, FLAT, set->megabytes, false, &c))
        return;
    snprintf(out, sizeof out, "%s" OUT_SUFFIX, c.path);
    const char *const ours[] = {set->command, "convert", "-f",   "--to", "perf.data",
                                "-o",         out,       buffer, NULL};
    /* What rewrites each record, as the conversion to another family does; and what copies them. */
    const char *const big[] = {set->command, "convert", "-f", "--byte-order", "big", "-o",
                               out,          c.path,    NULL};
    const char *const pipe[] = {set->command, "convert", "-f",   "--to", "pipe",
                                "-o",         out,       c.path, NULL};
    if (make_buffer(set, buffer, INTERRUPTS)) {
        const uint64_t n = count_records(buffer);
        compare(set, &c, n,
                &(pair){"convert to perf / flat to big-endian, by the record", ours, big, 0.5});
        compare(set, &c, n,
                &(pair){"convert to perf / flat to a pipe, by the record", ours, pipe, NAN});
    }
    captures_release(&c);
}

void perfmon_rows(const settings *set)
{
    char buffer[sizeof set->dir + 32];
    snprintf(buffer, sizeof buffer, "%s/bench.0.0.cpuperf", set->dir);
    dump_row(set, buffer);
    convert_row(set, buffer);
    unlink(buffer);
}

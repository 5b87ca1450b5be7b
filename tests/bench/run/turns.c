/* A command beside the loop that it is measured by. */
#include "bench.h"

#include <math.h>

/* Whether `seconds` beats the best by more than the clock's own noise; keeps it. */
static bool better(double seconds, double *best)
{
    const double noise = 0.98;
    bool much = seconds < *best * noise;
    *best = fmin(seconds, *best);
    return much;
}

turns turns_take(const settings *set, const capture *c, loop *limit, const char *const *argv)
{
    enum { PATIENCE = 8 }; /* times as many turns as asked for, at most */
    turns t = {.limit = INFINITY, .command.seconds = INFINITY};
    unsigned since = 0; /* the last turn that was better */
    for (unsigned i = 0; since < set->rounds && i < PATIENCE * set->rounds; i++) {
        captures_ready(c);
        double start = cpu_time();
        bool whole = limit(c) == c->size;
        double took = cpu_time() - start;
        since++;
        if (whole && better(took, &t.limit))
            since = 0;
        usage u = process_best(argv, c, 1);
        t.command.anonymous_mb = fmax(u.anonymous_mb, t.command.anonymous_mb);
        if (u.ok && better(u.seconds, &t.command.seconds))
            since = 0;
        t.command.ok |= u.ok;
    }
    captures_ready(c);
    return t;
}

turns turns_rows(const settings *set, const capture *c, loop *limit, const char *const *argv,
                 const char *what, double required, double most_mb)
{
    const char *kind = kind_names[c->kind];
    char row[80];
    turns t = turns_take(set, c, limit, argv);
    if (!t.command.ok) {
        printf("%-12s %s failed\n", kind, what);
        return t;
    }
    printf("%-12s %-40s %8.2f GB/s\n", kind, what, (double)c->size / t.command.seconds / 1e9);
    snprintf(row, sizeof row, "%s / %s loop", what, limit == limit_read ? "read" : "read/write");
    table_row(kind, row, t.limit / t.command.seconds, "", required, false, "");
    snprintf(row, sizeof row, "%s: memory", what);
    table_memory(kind, row, &t.command, most_mb);
    return t;
}

double turns_inject(const settings *set, const capture *c)
{
    enum { ROUNDS = 3 }; /* it is slow */
    char out[sizeof c->path + 8];
    snprintf(out, sizeof out, "%s" OUT_SUFFIX, c->path);
    const char *const argv[] = {"perf", "inject", "-i", c->path, "-o", out, NULL};
    if (set->no_perf)
        return NAN;
    usage u = process_best(argv, c, set->rounds < ROUNDS ? set->rounds : ROUNDS);
    captures_ready(c);
    return u.ok ? u.seconds : NAN;
}

void turns_inject_row(const char *kind, const char *what, double ratio, double possible)
{
    enum { NEED = 10 };
    char row[96], note[48] = "";
    bool required = possible >= NEED;
    if (!required)
        snprintf(note, sizeof note, "the loop itself: %.1f x", possible);
    snprintf(row, sizeof row, "%s / perf inject", what);
    table_row(kind, row, ratio, "x", required ? NEED : NAN, false, note);
}

/* A command beside the loop that it is measured by. */
#include "bench.h"

#include <math.h>

turns turns_take(const settings *set, const capture *c, loop *limit, const char *const *argv)
{
    turns t = {.limit = INFINITY};
    for (unsigned i = 0; i < set->rounds; i++) {
        captures_ready(c);
        double start = cpu_time();
        bool whole = limit(c) == c->size;
        double took = cpu_time() - start;
        if (whole && took < t.limit)
            t.limit = took;
        usage u = process_best(argv, c, 1);
        double mb =
            u.anonymous_mb > t.command.anonymous_mb ? u.anonymous_mb : t.command.anonymous_mb;
        if (u.ok && (!t.command.ok || u.seconds < t.command.seconds))
            t.command = u;
        t.command.anonymous_mb = mb;
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

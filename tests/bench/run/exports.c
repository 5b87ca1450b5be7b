/* Rows of exports: call chains become stacks, beside perf, which prints them as lines. */
#include "bench.h"

#include <math.h>

enum { PERF_ROUNDS = 2, MOST_MB = 64 /* of memory: distinct stacks, not samples */ };

void exports_rows(const settings *set, const capture *c)
{
    const char *kind = kind_names[c->kind];
    const char *const ours[] = {set->command, "export", "--no-symbols", "--to", "folded",
                                "-j",         "1",      c->path,        NULL};
    const char *const theirs[] = {"perf", "script", "-F", "comm,pid,tid,event,ip",
                                  "-i",   c->path,  NULL};
    if (c->kind != CHAINS)
        return;
    usage u = process_best(ours, c, set->rounds);
    if (!u.ok) {
        printf("%-12s export --to folded: it failed\n", kind);
        return;
    }
    char note[96];
    snprintf(note, sizeof note, "%.0f MB, %.0f MB/s", (double)c->size / 1e6,
             (double)c->size / u.seconds / 1e6);
    usage perf = {0};
    if (!set->no_perf)
        perf = process_best(theirs, c, PERF_ROUNDS);
    if (perf.ok)
        table_row(kind, "export --to folded / perf script", perf.seconds / u.seconds, "x", 20,
                  false, note);
    else
        printf("%-12s export --to folded: %s\n", kind, note);
    table_memory(kind, "export --to folded: memory", &u, MOST_MB);
}

/* Rows of exports: call chains become stacks, beside perf, which prints them as lines. */
#include "bench.h"

#include <math.h>

enum { PERF_ROUNDS = 2, MOST_MB = 64 /* of memory: distinct stacks, not samples */ };

/* One way to export, and how many times as fast as perf it has to be. */
typedef struct way {
    const char *form;
    const char *option; /* besides the form; NULL: none */
    const char *name;
    double needed;
} way;

static const way ways[] = {
    {"folded", "--no-symbols", "export --to folded", 20},
    {"pprof", "--no-symbols", "export --to pprof", 20},
    {"folded", NULL, "export --to folded, with names", 10},
    {"pprof", NULL, "export --to pprof, with names", 10},
};

/* The rows of one way; `perf` is not ok where it was not asked or is not there. */
static void way_rows(const settings *set, const capture *c, const way *w, const usage *perf)
{
    const char *kind = kind_names[c->kind];
    const char *const command[] = {set->command, "export", "-j",      "1", "--to",
                                   w->form,      c->path,  w->option, NULL};
    char note[96], what[96], memory[96];
    const usage u = process_best(command, c, set->rounds);
    if (!u.ok) {
        printf("%-12s %s: it failed\n", kind, w->name);
        return;
    }
    snprintf(note, sizeof note, "%.0f MB, %.0f MB/s", (double)c->size / 1e6,
             (double)c->size / u.seconds / 1e6);
    snprintf(what, sizeof what, "%s / perf script", w->name);
    snprintf(memory, sizeof memory, "%s: memory", w->name);
    if (perf->ok)
        table_row(kind, what, perf->seconds / u.seconds, "x", w->needed, false, note);
    else
        printf("%-12s %s: %s\n", kind, w->name, note);
    table_memory(kind, memory, &u, MOST_MB);
}

void exports_rows(const settings *set, const capture *c)
{
    const char *const theirs[] = {"perf", "script", "-F", "comm,pid,tid,event,ip",
                                  "-i",   c->path,  NULL};
    usage perf = {0};
    if (c->kind != CHAINS)
        return;
    if (!set->no_perf)
        perf = process_best(theirs, c, PERF_ROUNDS);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
        way_rows(set, c, &ways[i], &perf);
}

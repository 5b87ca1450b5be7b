/* Rows of commands that read a capture, or write the same one anew. */
#include "bench.h"

#include <math.h>
#include <string.h>

/* `stats` against `perf report --stats`. */

static void measure_stats(const settings *set, const capture *c)
{
    const char *kind = kind_names[c->kind];
    const char *const ours[] = {set->command, "stats", c->path, NULL};
    const char *const piped[] = {set->command, "stats", "-", NULL};
    contender touch[] = {{"plain", limit_touch, 0, 0}, {"populated", limit_populate, 0, 0}};
    contest(touch, 2, c, set->rounds);
    usage u = process_best(ours, c, set->rounds);
    if (!u.ok)
        return;
    printf("%-12s %-28s %8.2f GB/s\n", kind, "perfile stats", (double)c->size / u.seconds / 1e9);
    table_row(kind, "stats / first touch", fmin(touch[0].best, touch[1].best) / u.seconds, "", NAN,
              false, "");
    table_memory(kind, "stats: memory beyond the mapping", &u, 16);
    captures_ready(c);
    usage p = process_run(piped, c->path, false);
    table_memory(kind, "stats from a pipe: memory", &p, 32);
}

/* A whole capture: nothing is lost, and copying is what it costs. */
static void measure_recover(const settings *set, const capture *c)
{
    char out[sizeof c->path + 8];
    snprintf(out, sizeof out, "%s" OUT_SUFFIX, c->path);
    const char *const argv[] = {set->command, "recover", "-o", out, c->path, NULL};
    (void)turns_rows(set, c, limit_copy, argv, "recover", 0.5, 64);
}

static void measure_convert(const settings *set, const capture *c)
{
    char out[sizeof c->path + 8];
    snprintf(out, sizeof out, "%s" OUT_SUFFIX, c->path);
    const char *const same[] = {set->command, "convert", "-o", out, c->path, NULL};
    const char *const big[] = {set->command, "convert", "--byte-order", "big",
                               "-o",         out,       c->path,        NULL};
    const char *const pipe[] = {set->command, "convert", "--to", "pipe", "-o", out, c->path, NULL};
    turns f = turns_rows(set, c, limit_copy, same, "convert", 0.7, 16);
    (void)turns_rows(set, c, limit_copy, big, "convert --byte-order big", 0.25, 16);
    turns p = turns_rows(set, c, limit_copy, pipe, "convert --to pipe", 0.7, 16);
    double theirs = turns_inject(set, c);
    double ours = fmax(f.command.seconds, p.command.seconds);
    /* The slower of the same form and a pipe. */
    if (f.command.ok && p.command.ok && !isnan(theirs))
        turns_inject_row(kind_names[c->kind], "convert", theirs / ours,
                         theirs / fmin(f.limit, p.limit));
}

/* The same records in other forms: what is held at a time does not depend on how many they are. */
static void measure_forms(const settings *set, const capture *c)
{
    static const char *const commands[][4] = {{"info"}, {"stats"}, {"dump", "--format", "jsonl"}};
    const char *kind = kind_names[c->kind];
    char path[sizeof c->path];
    for (unsigned form = 0; form < N_FORMS; form++) {
        if (!captures_make_form(set->tools, c, form, path)) {
            printf("%-12s no capture of the form %s\n", kind, form_names[form]);
            continue;
        }
        for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
            const char *argv[8] = {set->command};
            char what[64];
            bool piped = form != FORM_ZSTD;
            size_t n = 1;
            for (; n < 4 && commands[i][n - 1]; n++)
                argv[n] = commands[i][n - 1];
            argv[n] = piped ? "-" : path;
            captures_cache(path);
            usage u = process_run(argv, piped ? path : NULL, false);
            snprintf(what, sizeof what, "%s, form %s: memory", commands[i][0], form_names[form]);
            if (!u.ok)
                printf("%-12s %s: it failed\n", kind, what);
            table_memory(kind, what, &u,
                         (piped ? 32 : 16) + (form == FORM_PIPE ? 0 : ZSTD_WINDOW_MB));
        }
    }
}

void commands_rows(const settings *set, const capture *c)
{
    measure_stats(set, c);
    measure_recover(set, c);
    measure_convert(set, c);
    measure_forms(set, c);
}

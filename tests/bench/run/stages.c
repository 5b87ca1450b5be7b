/* Rows of commands that make other captures of captures: sorted, smaller, put together, cut. */
#include "bench.h"

#include <math.h>
#include <string.h>

enum { MOST_WORDS = 16 };

typedef struct stage_row {
    const char *what;
    const char *command[8];
    unsigned inputs;
    loop *limit;
    double required; /* of the speed of `limit` */
    bool inject;     /* ten times as fast as perf inject */
    double most_mb;
} stage_row;

static const stage_row stage_rows[] = {
    {"filter nothing, no state",
     {"filter", "--no-state", "--pid", "4000000", "--time", "1..2"},
     1,
     limit_read,
     0.5,
     true,
     64},
    {"filter nothing, with state",
     {"filter", "--pid", "4000000", "--time", "1..2"},
     1,
     limit_read,
     0.25,
     true,
     64},
    {"filter everything", {"filter"}, 1, limit_copy, 0.5, true, 64},
    {"filter all by pid", {"filter", "--pid", "0..4194304"}, 1, limit_copy, 0.5, true, 64},
    {"filter all by pid and time",
     {"filter", "--pid", "0..4194304", "--time", "0.."},
     1,
     limit_copy,
     0.5,
     true,
     64},
    {"filter none, where",
     {"filter", "--no-state", "--where", "pid == 4000000 && time > 0 && cpumode < 7"},
     1,
     limit_read,
     0.25,
     true,
     64},
    {"filter all, where",
     {"filter", "--where", "pid >= 0 && time > 0 && cpumode < 7"},
     1,
     limit_copy,
     0.25,
     true,
     64},
    {"sort", {"sort", "-j", "1"}, 1, limit_copy, 0.3, true, 256},
    {"sort --max-memory 8M",
     {"sort", "-j", "1", "--max-memory", "8M"},
     1,
     limit_copy,
     NAN,
     false,
     8},
    {"split by 64 MB", {"split", "--size", "64M"}, 1, limit_copy, NAN, false, 64},
    {"merge of four", {"merge", "-j", "1"}, 4, limit_copy_four, 0.3, true, 64},
};

/* Whether this perfile has the command. */
static bool knows(const settings *set, const char *command)
{
    const char *const argv[] = {set->command, command, "--help", NULL};
    return process_run(argv, NULL, false).ok;
}

/* Seconds of perf inject, and the best of all read/write loops. */
typedef struct others {
    double inject, copy;
} others;

static void measure_row(const settings *set, const capture *c, const stage_row *s, others *o)
{
    const char *kind = kind_names[c->kind];
    char out[sizeof c->path + 16];
    const char *argv[MOST_WORDS] = {set->command};
    size_t n = 1;
    bool parts = strcmp(s->command[0], "split") == 0;
    snprintf(out, sizeof out, "%s" OUT_SUFFIX "%s", c->path, parts ? ".%04d" : "");
    for (size_t i = 0; i < sizeof s->command / sizeof s->command[0] && s->command[i]; i++)
        argv[n++] = s->command[i];
    argv[n++] = "-f";
    argv[n++] = "-o";
    argv[n++] = out;
    for (unsigned i = 0; i < s->inputs; i++)
        argv[n++] = c->path;
    if (!knows(set, s->command[0])) {
        printf("%-12s %s: there is no such command yet\n", kind, s->what);
        return;
    }
    turns t = turns_rows(set, c, s->limit, argv, s->what, s->required, s->most_mb);
    if (s->limit != limit_read)
        o->copy = fmin(o->copy, t.limit / s->inputs);
    if (!s->inject || !t.command.ok || isnan(o->inject))
        return;
    /* A command that writes as much as its input is no faster than the loop. */
    turns_inject_row(kind, s->what, s->inputs * o->inject / t.command.seconds,
                     s->limit == limit_read ? INFINITY : o->inject / o->copy);
}

void stages_rows(const settings *set, const capture *c)
{
    contender copy = {"read/write loop", limit_copy, 0, 0};
    contest(&copy, 1, c, set->rounds);
    others o = {.inject = turns_inject(set, c), .copy = copy.best};
    for (size_t i = 0; i < sizeof stage_rows / sizeof stage_rows[0]; i++)
        measure_row(set, c, &stage_rows[i], &o);
}

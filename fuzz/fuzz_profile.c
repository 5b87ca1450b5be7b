/* Any bytes as a capture with samples counted by any keys (perfile/profile.h).  The samples of all
 * rows add up to those of the capture, no total is less than the samples taken there or more than
 * all, rows differ, and several threads give the same.  Or the capture is compared with itself, or
 * only samples with a certain function in their callchain are counted; and the rows get call trees.
 * Or counts of perf stat, or times of threads on CPUs, are added up. */
#include <string.h>

#include "ensure.h"
#include "limits.h"
#include "perfile/perfile.h"
#include "tests/owned.h"
#include "report/command.h"

enum { AROUND = PERFILE_PROFILE_CALLERS | PERFILE_PROFILE_CALLEES };

/* The input and the options. */
typedef struct plan {
    perfile_bytes in;
    perfile_open_options options;
    perfile_profile_options counting;
    pf_calls_options trees; /* without `rows` */
} plan;

/* Puts all records of a stream into a profile. */
static perfile_status put_all(perfile_profile *profile, perfile_stream *s, perfile_error *err)
{
    const perfile_record *first;
    size_t n;
    perfile_status st = PERFILE_OK;
    while (st == PERFILE_OK && (st = perfile_stream_next_run(s, &first, &n, err)) == PERFILE_OK)
        st = perfile_profile_put_run(profile, first, n, err);
    return st;
}

/* Opens the capture; returns NULL if the bytes are not one. */
static perfile_stream *open_stream(const plan *p, const perfile_model **model)
{
    perfile_source *source;
    perfile_stream *s;
    perfile_error err = {0};
    perfile_filter_options all = {.size = sizeof all};
    perfile_open_filtered_options reading = {
        .size = sizeof reading, .how = &p->options, .model = true};
    ENSURE(perfile_source_memory(p->in, "input", &source, NULL) == PERFILE_OK);
    const perfile_status st = perfile_open_filtered(source, &all, &reading, &s, model, &err);
    return closed_unless_ok(source, st) == PERFILE_OK ? s : NULL;
}

/* Counts; returns NULL if the bytes are not a capture, or a limit was exceeded. */
static perfile_profile *profile_of(const plan *p)
{
    const perfile_model *model;
    perfile_profile *profile = NULL;
    perfile_error err = {0};
    perfile_stream *s = open_stream(p, &model);
    if (!s)
        return NULL;
    perfile_status st =
        perfile_profile_open(perfile_stream_session(s), model, &p->counting, &profile, &err);
    if (st == PERFILE_OK)
        st = put_all(profile, s, &err);
    if (st == PERFILE_END && p->counting.flags & PF_PROFILE_COMPARE) {
        st = pf_profile_continue(profile, NULL, NULL, &err);
        perfile_stream_close(s);
        s = open_stream(p, &model);
        ENSURE(s);
        if (st == PERFILE_OK)
            st = pf_profile_continue(profile, perfile_stream_session(s), model, &err);
        if (st == PERFILE_OK)
            st = put_all(profile, s, &err);
    }
    if (st == PERFILE_END)
        st = perfile_profile_finish(profile, &err);
    ENSURE(st == PERFILE_OK || (st == PERFILE_E_LIMIT && err.where && err.message[0]));
    if (st != PERFILE_OK) {
        perfile_profile_close(profile);
        profile = NULL;
    }
    perfile_stream_close(s);
    return profile;
}

/* A capture compared with itself has the same numbers twice. */
static void check_before(const perfile_profile *p, size_t i, const perfile_profile_row *row)
{
    perfile_profile_row before;
    ENSURE(pf_profile_get_before(p, i, &before, sizeof before));
    ENSURE(row->samples == before.samples && row->total_period == before.total_period);
}

/* Makes trees of the first rows: no node is larger than its row or than its parent. */
static void check_trees(perfile_profile *p, const plan *how)
{
    enum { ROWS = 16, DEEPEST = 1024 };
    uint64_t rows[ROWS], above[DEEPEST + 1];
    perfile_profile_row row;
    pf_profile_node node;
    pf_calls_options o = how->trees;
    while (o.n_rows < ROWS && perfile_profile_get_row(p, o.n_rows, &row, sizeof row)) {
        rows[o.n_rows] = o.n_rows;
        o.n_rows++;
    }
    o.rows = rows;
    const perfile_status st = pf_profile_make_trees(p, &o, NULL);
    if (how->counting.flags & PF_PROFILE_COMPARE)
        ENSURE(st == PERFILE_E_USAGE);
    else
        ENSURE(st == PERFILE_OK || st == PERFILE_E_LIMIT);
    for (size_t i = 0; st == PERFILE_OK && pf_profile_get_node(p, i, &node, sizeof node); i++) {
        ENSURE(node.row < o.n_rows && node.symbol && node.depth && node.depth <= DEEPEST);
        ENSURE(perfile_profile_get_row(p, (size_t)node.row, &row, sizeof row));
        above[0] = row.total_samples;
        ENSURE(node.samples <= node.total_samples && node.total_samples);
        ENSURE(node.total_samples <= above[node.depth - 1]);
        above[node.depth] = node.total_samples;
    }
}

/* Checks the rows of times: none exceeds the total. */
static void check_times(const perfile_profile *p)
{
    perfile_profile_summary sum;
    perfile_profile_row row;
    pf_profile_times times;
    uint64_t switches = 0;
    size_t n = 0;
    perfile_profile_get_summary(p, &sum, sizeof sum);
    for (; perfile_profile_get_row(p, n, &row, sizeof row); n++) {
        ENSURE(pf_profile_get_times(p, n, &times, sizeof times));
        ENSURE(row.period <= sum.period && times.longest <= times.waiting);
        ENSURE(times.preempted <= row.samples && times.preempted_most <= times.preempted);
        ENSURE(!times.preempted_by == !times.preempted_most && times.idle <= sum.idle);
        switches += row.samples;
    }
    ENSURE(n == sum.rows && switches == sum.samples);
}

/* Checks the rows of a profile. */
static void check_rows(const perfile_profile *p, uint32_t flags)
{
    perfile_profile_summary sum;
    perfile_profile_row row;
    uint64_t samples = 0;
    size_t n = 0;
    perfile_profile_get_summary(p, &sum, sizeof sum);
    for (; perfile_profile_get_row(p, n, &row, sizeof row); n++) {
        ENSURE(row.samples <= row.total_samples && row.total_samples <= sum.samples);
        ENSURE(row.period <= row.total_period && row.total_period <= sum.period);
        ENSURE((row.total_samples || flags & PERFILE_PROFILE_COUNTERS) &&
               (!row.named || row.symbol));
        samples += row.samples;
        if (flags & PF_PROFILE_COMPARE)
            check_before(p, n, &row);
    }
    ENSURE(n == sum.rows);
    ENSURE(flags & AROUND ? samples <= sum.samples : samples == sum.samples);
    ENSURE(sum.unmapped + sum.named <= sum.stacks);
    const uint64_t all = sum.samples + sum.before_samples;
    ENSURE(sum.without_stack <= all && sum.without_period <= all);
}

/* Compares two equal profiles with texts in different memory. */
static void check_same(const perfile_profile *a, const perfile_profile *b)
{
    perfile_profile_row x, y;
    for (size_t i = 0; perfile_profile_get_row(a, i, &x, sizeof x); i++) {
        ENSURE(perfile_profile_get_row(b, i, &y, sizeof y));
        ENSURE(x.samples == y.samples && x.total_period == y.total_period && x.tid == y.tid);
        ENSURE(!x.symbol == !y.symbol && (!x.symbol || strcmp(x.symbol, y.symbol) == 0));
        ENSURE(!x.dso == !y.dso && (!x.dso || strcmp(x.dso, y.dso) == 0));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    const uint64_t chosen = choose(&c, 4);
    perfile_limits limits = small_limits;
    limits.profile_bytes = chosen & 1 ? 4 << 20 : 20000;
    plan p = {.options = {.size = sizeof p.options,
                          .limits = &limits,
                          .on_damage = PERFILE_ON_DAMAGE_STOP + (uint32_t)(chosen >> 1 & 3) % 3},
              .counting = {.size = sizeof p.counting, .parent = chosen & 8 ? "a" : NULL}};
    /* Use no files of this machine: the result depends on the capture alone. */
    const perfile_symbols_options symbols = {
        .size = sizeof symbols, .flags = PERFILE_SYMBOLS_GIVEN_ONLY, .limits = &limits};
    if (chosen >> 4 & 1)
        p.counting.symbols = &symbols;
    const uint32_t modes[] = {0, PERFILE_PROFILE_CALLERS, PERFILE_PROFILE_CALLEES,
                              PF_PROFILE_COMPARE};
    p.counting.flags = modes[chosen >> 16 & 3];
    if (p.counting.flags & AROUND)
        p.counting.function = chosen >> 18 & 1 ? "[unknown]" : "[work]";
    if (chosen >> 19 & 1)
        p.counting.flags |= PERFILE_PROFILE_UNKNOWN_MODULE;
    p.trees = (pf_calls_options){.flags = chosen >> 20 & 7, .depth = chosen >> 23 & 1 ? 2 : 1024};
    size_t n = 0;
    const uint8_t counters[] = {PERFILE_PER_EVENT, PERFILE_PER_CPU, PERFILE_PER_TID,
                                PERFILE_PER_COMM, PERFILE_PER_TIME};
    const bool counts = chosen >> 24 & 1;
    for (uint8_t key = PERFILE_PER_COMM; !counts && key <= PERFILE_PER_SOURCE; key++)
        if (chosen >> (4 + key) & 1)
            p.counting.per[n++] = key;
    for (size_t i = 0; counts && i < sizeof counters; i++)
        if (chosen >> (5 + i) & 1)
            p.counting.per[n++] = counters[i];
    if (counts) {
        p.counting.flags = PERFILE_PROFILE_COUNTERS;
        p.counting.function = NULL;
        p.counting.time_step = chosen >> 16 & 15;
    }
    const bool times = !counts && chosen >> 25 & 1;
    if (times) {
        const uint8_t kept = chosen >> 5 & 31;
        memset(p.counting.per, 0, sizeof p.counting.per);
        n = 0;
        for (uint8_t key = PERFILE_PER_COMM; key <= PERFILE_PER_CPU; key++)
            if (key != PERFILE_PER_EVENT && kept >> (key - 1) & 1)
                p.counting.per[n++] = key;
        p.counting.flags = PF_PROFILE_TIMES;
        p.counting.function = NULL;
    }
    uint8_t *block = malloc(c.left ? c.left : 1);
    ENSURE(block);
    if (c.left)
        memcpy(block, data, c.left);
    p.in = (perfile_bytes){block, c.left};
    perfile_profile *profile = profile_of(&p);
    p.counting.threads = 3;
    perfile_profile *by_threads = profile_of(&p);
    ENSURE(!by_threads || profile); /* the limit may be too low for the tables of each */
    if (profile && times)
        check_times(profile);
    else if (profile)
        check_rows(profile, p.counting.flags);
    if (by_threads)
        check_same(profile, by_threads);
    if (profile && !times)
        check_trees(profile, &p);
    perfile_profile_close(profile);
    perfile_profile_close(by_threads);
    free(block);
    return 0;
}

/* Any bytes as a capture whose samples are counted by any keys (perfile/profile.h): the samples of
 * all rows are those of the capture, no total is less than what was taken there or more than all,
 * rows differ, and several threads make the same. */
#include <string.h>

#include "ensure.h"
#include "limits.h"
#include "perfile/perfile.h"

/* What is counted, and how. */
typedef struct plan {
    perfile_bytes in;
    perfile_open_options options;
    perfile_profile_options counting;
} plan;

/* Counts; NULL if the bytes are no capture, or a limit was exceeded. */
static perfile_profile *profile_of(const plan *p)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_model *model;
    const perfile_record *first;
    size_t n;
    perfile_profile *profile = NULL;
    perfile_error err = {0};
    perfile_filter_options all = {.size = sizeof all};
    perfile_filter_open_options reading = {
        .size = sizeof reading, .how = &p->options, .model = true};
    ENSURE(perfile_source_memory(p->in, "input", &source, NULL) == PERFILE_OK);
    if (perfile_filter_open(source, &all, &reading, &s, &model, &err) != PERFILE_OK)
        return NULL;
    perfile_status st =
        perfile_profile_open(perfile_stream_session(s), model, &p->counting, &profile, &err);
    while (st == PERFILE_OK && (st = perfile_stream_next_run(s, &first, &n, &err)) == PERFILE_OK)
        st = perfile_profile_put_run(profile, first, n, &err);
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

/* Checks the rows of a profile. */
static void check_rows(const perfile_profile *p)
{
    perfile_profile_summary sum;
    perfile_profile_row row;
    uint64_t samples = 0;
    size_t n = 0;
    perfile_profile_get_summary(p, &sum, sizeof sum);
    for (; perfile_profile_get_row(p, n, &row, sizeof row); n++) {
        ENSURE(row.samples <= row.total_samples && row.total_samples <= sum.samples);
        ENSURE(row.period <= row.total_period && row.total_period <= sum.period);
        ENSURE(row.total_samples && (!row.named || row.symbol));
        samples += row.samples;
    }
    ENSURE(n == sum.rows && samples == sum.samples);
    ENSURE(sum.unmapped + sum.named <= sum.stacks);
    ENSURE(sum.without_stack <= sum.samples && sum.without_period <= sum.samples);
}

/* Two profiles of the same, whose texts are not the same memory. */
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
    const uint64_t chosen = choose(&c, 2);
    perfile_limits limits = small_limits;
    limits.profile_bytes = chosen & 1 ? 4 << 20 : 20000;
    plan p = {.options = {.size = sizeof p.options,
                          .limits = &limits,
                          .on_damage = PERFILE_ON_DAMAGE_STOP + (uint32_t)(chosen >> 1 & 3) % 3},
              .counting = {.size = sizeof p.counting, .parent = chosen & 8 ? "a" : NULL}};
    /* No file of this machine: what comes from a capture alone. */
    const perfile_symbols_options symbols = {
        .size = sizeof symbols, .flags = PERFILE_SYMBOLS_GIVEN_ONLY, .limits = &limits};
    if (chosen >> 4 & 1)
        p.counting.symbols = &symbols;
    size_t n = 0;
    for (uint8_t key = PERFILE_PER_COMM; key <= PERFILE_PER_SOURCE; key++)
        if (chosen >> (4 + key) & 1)
            p.counting.per[n++] = key;
    uint8_t *block = malloc(c.left ? c.left : 1);
    ENSURE(block);
    if (c.left)
        memcpy(block, data, c.left);
    p.in = (perfile_bytes){block, c.left};
    perfile_profile *profile = profile_of(&p);
    p.counting.threads = 3;
    perfile_profile *by_threads = profile_of(&p);
    ENSURE(!by_threads || profile); /* the limit may not suffice for the tables of each */
    if (profile)
        check_rows(profile);
    if (by_threads)
        check_same(profile, by_threads);
    perfile_profile_close(profile);
    perfile_profile_close(by_threads);
    free(block);
    return 0;
}

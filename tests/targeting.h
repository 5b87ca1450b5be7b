/* Small streams through the stage for older versions of perf. */
#ifndef TESTS_TARGETING_H
#define TESTS_TARGETING_H

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "builder.h"
#include "dripping.h"
#include "perfile/perfile.h"

#define USER     ((uint64_t)-512)
#define DEFERRED ((uint64_t)-640)

enum {
    MOST = 64,
    CHAIN_TYPE = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME |
                 PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_PERIOD
};

/* What came out. */
typedef struct result {
    perfile_stream *s;
    perfile_record *records[MOST];
    size_t n;
    uint64_t lost[PERFILE_N_TARGET_LOSSES];
    char names[512];
    uint64_t first[PERFILE_N_TARGET_LOSSES];
    perfile_target_summary sum;
    uint64_t extra; /* bytes behind records */
} result;

static inline void on_loss(void *user, const perfile_target_loss *loss)
{
    result *out = user;
    out->lost[loss->kind] += loss->count;
    out->first[loss->kind] = loss->first_offset;
    strncat(out->names, loss->name, sizeof out->names - strlen(out->names) - 1);
    strncat(out->names, " ", sizeof out->names - strlen(out->names) - 1);
    assert_true(strlen(loss->message) > 20);
}

static inline void begin(builder *b, const build_attr_plan *plan)
{
    build_bytes(b, b->swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
    build_u64(b, 16);
    size_t start = build_begin(b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(b, plan);
    build_u64(b, 70);
    build_end(b, start);
}

static inline void take(result *out, perfile_stream *below, const char *version)
{
    const perfile_target_options options = {
        .size = sizeof options, .version = version, .loss = on_loss, .user = out};
    const perfile_record *r;
    perfile_bytes piece;
    perfile_status st;

    assert_int_equal(perfile_target(below, &options, &out->s, NULL), PERFILE_OK);
    while ((st = perfile_stream_next(out->s, &r, NULL)) == PERFILE_OK) {
        assert_true(out->n < MOST);
        assert_ptr_equal(r->session, perfile_stream_session(out->s));
        assert_int_equal(perfile_record_copy(r, &out->records[out->n++], NULL), PERFILE_OK);
        if (r->extra.ptr)
            out->extra += r->extra.len;
        else
            while (r->extra.len && perfile_stream_extra(out->s, r, &piece, NULL) == PERFILE_OK)
                out->extra += piece.len;
    }
    assert_int_equal(st, PERFILE_END);
    perfile_target_get_summary(out->s, &out->sum, sizeof out->sum);
}

static inline void run_with(result *out, const builder *b, const char *version, uint64_t held_bytes)
{
    const perfile_limits limits = {.size = sizeof limits, .held_bytes = held_bytes};
    const perfile_open_options options = {.size = sizeof options, .limits = &limits};
    perfile_source *source;
    perfile_stream *s;
    *out = (result){.n = 0};
    assert_int_equal(perfile_source_memory(built(b), "built", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &options, &s, NULL), PERFILE_OK);
    take(out, s, version);
}

static inline void run(result *out, const builder *b, const char *version)
{
    run_with(out, b, version, 0);
}

static inline void done(result *out)
{
    for (size_t i = 0; i < out->n; i++)
        perfile_record_free(out->records[i]);
    perfile_stream_close(out->s);
}

/* The `i`-th record of that type. */
static const perfile_record *nth(const result *out, uint32_t type, size_t i)
{
    for (size_t k = 0; k < out->n; k++)
        if (out->records[k]->type == type && i-- == 0)
            return out->records[k];
    fail_msg("no such record of type %u", type);
    return NULL;
}

static inline size_t n_of(const result *out, uint32_t type)
{
    size_t n = 0;
    for (size_t k = 0; k < out->n; k++)
        n += out->records[k]->type == type;
    return n;
}

static inline perfile_sample sample_at(const result *out, size_t i)
{
    perfile_sample v;
    perfile_error err;
    if (perfile_sample_decode(nth(out, PERFILE_RECORD_SAMPLE, i), &v, sizeof v, &err) != PERFILE_OK)
        fail_msg("%s", err.message);
    return v;
}

#define FOR_BOTH_ORDERS(b) for (unsigned b##_swap = 0; b##_swap < 2; b##_swap++)

static inline build_attr_plan chain_plan(void)
{
    return (build_attr_plan){.type = 1,
                             .size = 144,
                             .period = 1000,
                             .sample_type = CHAIN_TYPE,
                             .read_format = PERFILE_FORMAT_ID,
                             .flags = (uint64_t)1 << PERFILE_ATTR_BIT_SAMPLE_ID_ALL |
                                      (uint64_t)1 << PERFILE_ATTR_BIT_DEFER_CALLCHAIN};
}

/* A sample at `time` with the chain KERNEL 0x100 and, unless it is 0, the cookie. */
static inline void chain_sample(builder *b, uint32_t tid, uint64_t time, uint64_t cookie)
{
    size_t start = build_begin(b, PERFILE_RECORD_SAMPLE, 2);
    build_u64(b, 0x401000);
    build_u32(b, 5);
    build_u32(b, tid);
    build_u64(b, time);
    build_u64(b, 1000 + time); /* period */
    build_u64(b, cookie ? 4 : 2);
    build_u64(b, (uint64_t)-128);
    build_u64(b, 0x100);
    if (cookie) {
        build_u64(b, DEFERRED);
        build_u64(b, cookie);
    }
    build_end(b, start);
}

static inline void chain_trailer(builder *b, uint32_t tid, uint64_t time)
{
    build_u32(b, 5);
    build_u32(b, tid);
    build_u64(b, time);
}

static inline void chain_rest(builder *b, uint32_t tid, uint64_t cookie, uint64_t n, bool marked)
{
    size_t start = build_begin(b, PERFILE_RECORD_CALLCHAIN_DEFERRED, 2);
    build_u64(b, cookie);
    build_u64(b, n + marked);
    if (marked)
        build_u64(b, USER);
    for (uint64_t i = 0; i < n; i++)
        build_u64(b, 0x5000 + i);
    chain_trailer(b, tid, 50);
    build_end(b, start);
}

#endif

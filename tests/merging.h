/* Inputs of a merge that are nothing but their sessions, what becomes of their features, and what
 * is told of that. */
#ifndef TESTS_MERGING_H
#define TESTS_MERGING_H

#include "testing.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/alloc.h"
#include "base/buffer.h"
#include "builder.h"
#include "core/session.h"
#include "perfile/perfile.h"
#include "sort/merge.h"

enum { INPUTS = 3, EVENTS = 4, ATTR = 136 };

typedef struct merging {
    pf_merge x;
    pf_merge_input in[INPUTS];
    pf_merge_event events[INPUTS][EVENTS];
    bool swap;
    char told[4096];
    perfile_error err;
    uint8_t scratch[1 << 16];
} merging;

static merging m;

static inline void on_note(void *user, const perfile_merge_note *note)
{
    size_t len = strlen(m.told);
    (void)user;
    snprintf(m.told + len, sizeof m.told - len, "%" PRIu32 " %" PRIu32 " %d %" PRIu64 " %s\n",
             note->kind, note->number, (int)note->input, note->count, note->message);
}

static inline perfile_session *new_session(bool swap)
{
    perfile_session *s;
    assert_int_equal(pf_session_open(swap, NULL, &s, NULL), PERFILE_OK);
    return s;
}

static inline void begin(uint32_t n, bool swap)
{
    static const char *const names[INPUTS] = {"a.data", "b.data", "c.data"};
    memset(&m, 0, sizeof m);
    m.swap = swap;
    m.x.inputs = m.in;
    m.x.n_inputs = n;
    m.x.options.note = on_note;
    m.x.base.session = new_session(swap);
    for (uint32_t k = 0; k < n; k++) {
        m.in[k].session = new_session(swap);
        m.in[k].name = names[k];
        m.in[k].at = k;
        m.in[k].events = m.events[k];
        m.in[k].plain = true;
    }
}

static inline void end(void)
{
    for (uint32_t k = 0; k < m.x.n_inputs; k++)
        pf_session_free((perfile_session *)(uintptr_t)m.in[k].session);
    pf_session_free(m.x.base.session);
}

static inline perfile_session *session_of(uint32_t k)
{
    return (perfile_session *)(uintptr_t)m.in[k].session;
}

static inline void add(uint32_t k, uint32_t number, perfile_bytes payload)
{
    const perfile_feature f = {.number = number,
                               .flags = m.swap ? PERFILE_REC_SWAPPED : 0,
                               .size = payload.len,
                               .payload = payload};
    assert_int_equal(pf_session_add_feature(session_of(k), &f, false, NULL), PERFILE_OK);
}

static inline perfile_bytes text(const char *s)
{
    return (perfile_bytes){(const uint8_t *)s, strlen(s)};
}

static inline perfile_encode_options order(void)
{
    return (perfile_encode_options){.size = sizeof(perfile_encode_options),
                                    .byte_order = pf_byte_order_of(m.swap)};
}

/* Gives input `k` a feature made of a struct. */
#define ADD(k, NUMBER, id, ...)                                                                    \
    do {                                                                                           \
        const perfile_##id v_ = {__VA_ARGS__};                                                     \
        const perfile_encode_options how_ = order();                                               \
        size_t len_;                                                                               \
        assert_int_equal(perfile_##id##_encode(&v_, sizeof v_, &how_, m.scratch, sizeof m.scratch, \
                                               &len_, &m.err),                                     \
                         PERFILE_OK);                                                              \
        add(k, PERFILE_FEATURE_##NUMBER, (perfile_bytes){m.scratch, len_});                        \
    } while (0)

static inline const perfile_feature *out(uint32_t number)
{
    return perfile_session_feature(m.x.base.session, number);
}

/* The struct `v` of a feature of the output. */
#define OUT(NUMBER, id)                                                                            \
    perfile_##id v;                                                                                \
    assert_non_null(out(PERFILE_FEATURE_##NUMBER));                                                \
    assert_int_equal(perfile_##id##_decode(out(PERFILE_FEATURE_##NUMBER), &v, sizeof v, &m.err),   \
                     PERFILE_OK)

static inline void join(void)
{
    assert_int_equal(pf_merge_features(&m.x, &m.err), PERFILE_OK);
}

static inline void is_text(perfile_bytes b, const char *wanted)
{
    assert_int_equal(b.len, strlen(wanted));
    assert_memory_equal(b.ptr, wanted, b.len);
}

static inline void says(const char *wanted)
{
    if (!strstr(m.told, wanted))
        print_error("no '%s' in:\n%s", wanted, m.told);
    assert_non_null(strstr(m.told, wanted));
}

static inline void is_as_in(uint32_t k, uint32_t number)
{
    const perfile_feature *f = perfile_session_feature(m.in[k].session, number);
    assert_non_null(f);
    assert_non_null(out(number));
    assert_int_equal(out(number)->size, f->payload.len);
    assert_int_equal(out(number)->payload.len, f->payload.len);
    assert_int_equal(out(number)->origin, PERFILE_ORIGIN_CONTAINER);
    assert_int_equal((out(number)->flags & PERFILE_REC_SWAPPED) != 0, m.swap);
    assert_memory_equal(out(number)->payload.ptr, f->payload.ptr, f->payload.len);
}

static inline void add_event(perfile_session *s, uint32_t type, uint64_t config, uint64_t id)
{
    BUILDER b = {.swap = m.swap};
    BUILDER ids = {.swap = m.swap};
    build_u32(&b, type);
    build_u32(&b, ATTR);
    build_u64(&b, config);
    build_zeros(&b, ATTR - 16);
    build_u64(&ids, id);
    const pf_attr_fact fact = {.attr = built(&b), .ids = {built(&ids).ptr, id ? 8 : 0}};
    assert_int_equal(pf_session_add_attr(s, &fact, NULL), PERFILE_OK);
    assert_int_equal(pf_session_resolve(s, NULL), PERFILE_OK);
}

/* An event of input `k` that is event `to` of the output, where it is added unless it is there. */
static inline void event(uint32_t k, uint32_t type, uint64_t config, uint64_t id, uint32_t to)
{
    add_event(session_of(k), type, config, id);
    m.events[k][m.in[k].n_events++].out = to;
    if (to >= perfile_session_n_events(m.x.base.session))
        add_event(m.x.base.session, type, config, id ? id + 100 * k : 0);
}

static inline void settle(uint32_t k)
{
    assert_int_equal(pf_session_resolve(session_of(k), NULL), PERFILE_OK);
}

static inline void describe(uint32_t k, const char *one, uint64_t id)
{
    const perfile_event_desc_entry e = {
        .attr = {.size = ATTR, .config = id}, .name = text(one), .ids = perfile_words_u64(&id, 1)};
    ADD(k, EVENT_DESC, event_desc, .attr_size = ATTR,
        .events = perfile_event_desc_entry_list(&e, 1, sizeof e));
    settle(k);
}

static inline const char *called(uint32_t i)
{
    return perfile_session_event(m.x.base.session, i)->name;
}

/* Whatever allocation fails, that is said and nothing leaks. */
static inline void fails_without_memory(void (*fill)(void))
{
    perfile_status st = PERFILE_E_NOMEM;
    uint64_t n = 0;
    while (st != PERFILE_OK) {
        begin(INPUTS, false);
        fill();
        pf_alloc_fail_at = pf_alloc_count + ++n;
        st = pf_merge_features(&m.x, &m.err);
        pf_alloc_fail_at = 0;
        if (st != PERFILE_OK)
            assert_int_equal(st, PERFILE_E_NOMEM);
        end();
    }
    assert_true(n > 10);
}

#define IN_BOTH_ORDERS(name)                                                                       \
    static void name(void **state)                                                                 \
    {                                                                                              \
        (void)state;                                                                               \
        test_##name(false);                                                                        \
        test_##name(true);                                                                         \
    }

#endif

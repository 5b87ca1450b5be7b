/* Whose a record is, where its trailer begins, and what is read of it without decoding. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "builder.h"
#include "core/session.h"
#include "core/stream.h"
#include "schema/rows.h"
#include "core/command.h"

#define ALL (UINT64_C(1) << 18) /* sample_id_all, as in a little-endian file */
#define TRAILER                                                                                    \
    (PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_ID | PERFILE_SAMPLE_STREAM_ID |     \
     PERFILE_SAMPLE_CPU | PERFILE_SAMPLE_IDENTIFIER)

static perfile_session *session_of(bool swap, bool as_stored)
{
    perfile_open_options options = {.size = sizeof options, .as_stored = as_stored};
    perfile_session *s;
    assert_int_equal(pf_session_open(swap, &options, &s, NULL), PERFILE_OK);
    return s;
}

/* An event of 64 bytes of attr; id 0: without ids. */
static void event(perfile_session *s, uint64_t sample_type, uint64_t flags, uint64_t id)
{
    BUILDER b = {.swap = perfile_session_swapped(s)}, ids = {.swap = b.swap};
    build_u32(&b, 1), build_u32(&b, 64), build_u64(&b, 9), build_u64(&b, 0),
        build_u64(&b, sample_type), build_u64(&b, 0);
    if (b.swap != (bool)PF_NATIVE_BIG && flags) /* mirrored: bit 18 becomes bit 45 */
        build_u64(&b, UINT64_C(1) << 45);
    else
        build_u64(&b, flags);
    build_u64(&b, 0), build_u64(&b, 0);
    if (id)
        build_u64(&ids, id);
    pf_attr_fact fact = {.attr = built(&b), .ids = built(&ids)};
    assert_int_equal(pf_session_add_attr(s, &fact, NULL), PERFILE_OK);
}

/* The record whose bytes are `b`, 8 of header included. */
static perfile_record record(const perfile_session *s, uint32_t type, const builder *b)
{
    return (perfile_record){.type = type,
                            .header = b->b.ptr,
                            .body = {b->b.ptr + 8, b->b.len - 8},
                            .flags = b->swap ? PERFILE_REC_SWAPPED : 0,
                            .session = s};
}

/* Empties `b` up to the place of a header. */
static void start(builder *b, bool swap)
{
    b->swap = swap;
    b->b.len = 0;
    build_zeros(b, 8);
}

/* What the lookup gives: index of the event, -1 for none; *shared: with a layout nevertheless. */
static int owner(const perfile_record *r, bool *shared, uint32_t *damage)
{
    const perfile_layout *l = pf_record_layout(r, damage);
    const perfile_event *e = perfile_record_event(r);
    if (e)
        assert_ptr_equal(l, e->layout);
    *shared = !e && l;
    return e ? (int)e->index : -1;
}

#define OWNER(r, want_event, want_shared, want_damage)                                             \
    do {                                                                                           \
        bool shared_;                                                                              \
        uint32_t damage_;                                                                          \
        assert_int_equal(owner(r, &shared_, &damage_), want_event);                                \
        assert_int_equal(shared_, want_shared);                                                    \
        assert_int_equal(damage_, want_damage);                                                    \
    } while (0)

static perfile_record of_words(const perfile_session *s, uint32_t type, builder *b, size_t n,
                               const uint64_t *words)
{
    start(b, perfile_session_swapped(s));
    for (size_t i = 0; i < n; i++)
        build_u64(b, words[i]);
    return record(s, type, b);
}

#define WORDS(s, type, b, ...)                                                                     \
    of_words(s, type, b, sizeof((uint64_t[]){__VA_ARGS__}) / 8, (uint64_t[]){__VA_ARGS__})

static void no_event_and_one(void **state)
{
    (void)state;
    perfile_session *s = session_of(false, false);
    BUILDER b = {0};
    perfile_record sample = WORDS(s, PERFILE_RECORD_SAMPLE, &b, 5);
    OWNER(&sample, -1, false, PERFILE_DAMAGE_NO_ATTR);
    perfile_record r = sample;
    r.type = PERFILE_RECORD_READ;
    OWNER(&r, -1, false, PERFILE_DAMAGE_NO_ATTR);
    r.type = PERFILE_RECORD_LOST_SAMPLES;
    OWNER(&r, -1, false, 0);

    event(s, PERFILE_SAMPLE_IDENTIFIER, ALL, 7);
    OWNER(&sample, 0, false, 0); /* whatever its id */
    OWNER(&r, 0, false, 0);
    r.type = 40; /* of a kernel to come */
    OWNER(&r, 0, false, 0);
    r.type = PERFILE_RECORD_FINISHED_ROUND;
    OWNER(&r, -1, false, 0);
    r = sample;
    r.family = PERFILE_FAMILY_DAMAGE;
    OWNER(&r, -1, false, 0);
    pf_session_free(s);
}

static void identifier_decides(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        perfile_session *s = session_of(swap, false);
        BUILDER b = {0};
        event(s, PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_TIME, ALL, 7);
        event(s, PERFILE_SAMPLE_IDENTIFIER | PERFILE_SAMPLE_IP, ALL, 8);
        perfile_record r = WORDS(s, PERFILE_RECORD_SAMPLE, &b, 8, 1);
        OWNER(&r, 1, false, 0);
        r = WORDS(s, PERFILE_RECORD_SAMPLE, &b, 7, 8);
        OWNER(&r, 0, false, 0);
        r = WORDS(s, PERFILE_RECORD_SAMPLE, &b, 0, 8); /* id 0: the first */
        OWNER(&r, 0, false, 0);
        r = WORDS(s, PERFILE_RECORD_SAMPLE, &b, 9, 8);
        OWNER(&r, -1, false, PERFILE_DAMAGE_UNKNOWN_ID);
        r.body.len = 7; /* too short for an id */
        OWNER(&r, 0, false, 0);
        r = WORDS(s, PERFILE_RECORD_LOST_SAMPLES, &b, 1, 8);
        OWNER(&r, 1, false, 0);
        r = WORDS(s, PERFILE_RECORD_LOST_SAMPLES, &b, 8, 9);
        OWNER(&r, -1, false, PERFILE_DAMAGE_UNKNOWN_ID);
        r.body.len = 0;
        OWNER(&r, 0, false, 0);
        pf_session_free(s);
    }
}

static void id_decides(void **state)
{
    (void)state;
    const uint64_t type = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_ID |
                          PERFILE_SAMPLE_STREAM_ID | PERFILE_SAMPLE_CPU;
    perfile_session *s = session_of(false, false);
    BUILDER b = {0};
    event(s, type, ALL, 7);
    event(s, type, ALL, 8);
    perfile_record r = WORDS(s, PERFILE_RECORD_SAMPLE, &b, 1, 2, 8, 4, 5);
    OWNER(&r, 1, false, 0);
    r = WORDS(s, PERFILE_RECORD_LOST_SAMPLES, &b, 1, 100, 8, 3, 4);
    OWNER(&r, 1, false, 0);
    r = WORDS(s, PERFILE_RECORD_LOST_SAMPLES, &b, 8, 8); /* shorter than the place of the id */
    OWNER(&r, 0, false, 0);
    r = WORDS(s, PERFILE_RECORD_SAMPLE, &b, 1, 2, 99, 4, 5); /* unknown, but all alike */
    OWNER(&r, -1, true, 0);
    event(s, type | PERFILE_SAMPLE_PERIOD, ALL, 9);
    OWNER(&r, -1, false, PERFILE_DAMAGE_UNKNOWN_ID);
    pf_session_free(s);
}

static void first_without_trailer(void **state)
{
    (void)state;
    perfile_session *s = session_of(false, false);
    BUILDER b = {0};
    event(s, PERFILE_SAMPLE_IDENTIFIER, 0, 7);
    event(s, PERFILE_SAMPLE_IDENTIFIER, ALL, 8);
    perfile_record r = WORDS(s, PERFILE_RECORD_LOST_SAMPLES, &b, 1, 8);
    OWNER(&r, 0, false, 0);
    r.type = PERFILE_RECORD_SAMPLE;
    r = WORDS(s, PERFILE_RECORD_SAMPLE, &b, 8, 1);
    OWNER(&r, 1, false, 0);
    pf_session_free(s);

    s = session_of(false, false); /* no id anywhere */
    event(s, PERFILE_SAMPLE_IP, ALL, 7);
    event(s, PERFILE_SAMPLE_IP, ALL, 8);
    r = WORDS(s, PERFILE_RECORD_SAMPLE, &b, 8, 1);
    OWNER(&r, -1, true, 0);
    event(s, PERFILE_SAMPLE_TIME, ALL, 9);
    OWNER(&r, -1, false, PERFILE_DAMAGE_UNKNOWN_ID);
    pf_session_free(s);
}

static void stat_names_its_event(void **state)
{
    (void)state;
    perfile_session *s = session_of(true, false);
    BUILDER b = {0};
    event(s, 0, 0, 7);
    event(s, 0, 0, 8);
    perfile_record r = WORDS(s, PERFILE_RECORD_STAT, &b, 8, 0, 0, 0, 0);
    assert_ptr_equal(perfile_record_event(&r), perfile_session_event(s, 1));
    assert_null(pf_record_layout(&r, NULL));
    r = WORDS(s, PERFILE_RECORD_STAT, &b, 9, 0, 0, 0, 0);
    assert_null(perfile_record_event(&r));
    r.body.len = 4;
    assert_null(perfile_record_event(&r));
    pf_session_free(s);
}

static void sample_fields(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        perfile_session *s = session_of(swap, false);
        event(s, 0x103cf, ALL, 7); /* all that have a fixed place */
        BUILDER b = {0};
        start(&b, swap);
        build_u64(&b, 7), build_u64(&b, 0x4000), build_u32(&b, 12), build_u32(&b, 13),
            build_u64(&b, 1000), build_u64(&b, 0x5000);
        build_u64(&b, 7), build_u64(&b, 70), build_u32(&b, 3), build_u32(&b, 0),
            build_u64(&b, 250000);
        perfile_record r = record(s, PERFILE_RECORD_SAMPLE, &b);
        static const struct {
            uint32_t bit;
            uint64_t value;
        } want[] = {
            {PERFILE_SAMPLE_IDENTIFIER, 7},  {PERFILE_SAMPLE_IP, 0x4000},
            {PERFILE_SAMPLE_TIME, 1000},     {PERFILE_SAMPLE_TID, UINT64_C(13) << 32 | 12},
            {PERFILE_SAMPLE_ADDR, 0x5000},   {PERFILE_SAMPLE_ID, 7},
            {PERFILE_SAMPLE_STREAM_ID, 70},  {PERFILE_SAMPLE_CPU, 3},
            {PERFILE_SAMPLE_PERIOD, 250000},
        };
        uint64_t v = 0;
        for (size_t i = 0; i < sizeof want / sizeof want[0]; i++) {
            assert_true(perfile_sample_field(&r, want[i].bit, &v));
            assert_int_equal(v, want[i].value);
        }
        assert_false(perfile_sample_field(&r, PERFILE_SAMPLE_CALLCHAIN, &v));
        assert_false(perfile_sample_field(&r, 0, &v));
        assert_false(perfile_sample_field(&r, 3, &v));
        assert_false(perfile_sample_field(&r, UINT32_C(1) << 25, &v));
        assert_false(perfile_sample_field(&r, UINT32_C(1) << 31, &v));
        uint32_t pid, tid, cpu;
        assert_int_equal(perfile_record_time(&r), 1000);
        assert_true(perfile_record_task(&r, &pid, &tid));
        assert_int_equal(pid, 12);
        assert_int_equal(tid, 13);
        assert_true(perfile_record_cpu(&r, &cpu));
        assert_int_equal(cpu, 3);

        /* Decoding gives the same. */
        perfile_sample sample;
        assert_int_equal(perfile_sample_decode(&r, &sample, sizeof sample, NULL), PERFILE_OK);
        assert_int_equal(sample.time, 1000);
        assert_int_equal(sample.period, 250000);

        /* Cut off field by field: what is not whole is not there. */
        uint8_t *exact = malloc(b.b.len);
        for (size_t n = 0; n < b.b.len - 8; n++) {
            memcpy(exact + (b.b.len - n), b.b.ptr + 8, n); /* ends where the block does */
            r.body = (perfile_bytes){exact + (b.b.len - n), n};
            assert_int_equal(perfile_record_time(&r), n >= 32 ? 1000 : PERFILE_NO_TIME);
            assert_int_equal(perfile_sample_field(&r, PERFILE_SAMPLE_PERIOD, &v), n >= 72);
        }
        free(exact);
        pf_session_free(s);
    }
}

static void trailers(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        perfile_session *s = session_of(swap, false);
        event(s, TRAILER, ALL, 7);
        BUILDER b = {0};
        start(&b, swap);
        build_u64(&b, 5); /* LOST_SAMPLES */
        build_u32(&b, 12), build_u32(&b, 13), build_u64(&b, 1000), build_u64(&b, 7),
            build_u64(&b, 70), build_u32(&b, 3), build_u32(&b, 0);
        build_u64(&b, 7);
        perfile_record r = record(s, PERFILE_RECORD_LOST_SAMPLES, &b);
        uint32_t pid, tid, cpu;
        assert_int_equal(perfile_record_time(&r), 1000);
        assert_true(perfile_record_task(&r, &pid, &tid));
        assert_int_equal(pid, 12);
        assert_int_equal(tid, 13);
        assert_true(perfile_record_cpu(&r, &cpu));
        assert_int_equal(cpu, 3);
        perfile_sample_id id;
        assert_int_equal(perfile_sample_id_decode(&r, &id, sizeof id, NULL), PERFILE_OK);
        assert_int_equal(id.stream_id, 70);
        uint64_t v;
        assert_false(perfile_sample_field(&r, PERFILE_SAMPLE_TIME, &v));

        r.body.len -= 8; /* no room for fixed part and trailer */
        assert_int_equal(perfile_record_time(&r), PERFILE_NO_TIME);
        assert_false(perfile_record_task(&r, &pid, &tid));
        assert_false(perfile_record_cpu(&r, &cpu));
        assert_int_equal(perfile_sample_id_decode(&r, &id, sizeof id, NULL), PERFILE_END);
        r.body.len += 8;
        r.type = 40; /* of a kernel to come */
        assert_int_equal(perfile_record_time(&r), 1000);
        r.type = PERFILE_RECORD_STAT;
        assert_int_equal(perfile_record_time(&r), PERFILE_NO_TIME);
        pf_session_free(s);
    }
}

/* A record of a type that a later kernel adds: whatever its fields are, its trailer is at its end,
 * and says whose it is, when and where.  Types from 64 on are of tools, and have none. */
static void of_a_later_kernel(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        perfile_session *s = session_of(swap, false);
        event(s, TRAILER, ALL, 7);
        event(s, TRAILER, ALL, 8);
        for (size_t fields = 0; fields < 32; fields += 8) {
            BUILDER b = {0};
            start(&b, swap);
            while (b.b.len < 8 + fields)
                build_u64(&b, 7); /* could be the id of the first event */
            build_u32(&b, 12), build_u32(&b, 13), build_u64(&b, 1000), build_u64(&b, 8),
                build_u64(&b, 70), build_u32(&b, 3), build_u32(&b, 0), build_u64(&b, 8);
            for (uint32_t type = 23; type < 66; type++) {
                const bool kernel = type < 64;
                perfile_record r = record(s, type, &b);
                uint32_t pid = 0, tid = 0, cpu = 0;
                perfile_sample_id id;
                assert_false(kernel && pf_record_known(type));
                OWNER(&r, kernel ? 1 : -1, false, 0);
                assert_int_equal(perfile_record_time(&r), kernel ? 1000 : PERFILE_NO_TIME);
                assert_int_equal(perfile_record_task(&r, &pid, &tid), kernel);
                assert_int_equal(perfile_record_cpu(&r, &cpu), kernel);
                assert_int_equal(perfile_sample_id_decode(&r, &id, sizeof id, NULL),
                                 kernel ? PERFILE_OK : PERFILE_END);
                if (kernel) {
                    assert_int_equal(pid, 12);
                    assert_int_equal(tid, 13);
                    assert_int_equal(cpu, 3);
                    assert_int_equal(id.stream_id, 70);
                    assert_int_equal(id.identifier, 8);
                }
                r.body = (perfile_bytes){b.b.ptr + b.b.len - 40, 40}; /* no room for a trailer */
                assert_int_equal(perfile_record_time(&r), PERFILE_NO_TIME);
                assert_false(perfile_record_task(&r, &pid, &tid));
                assert_false(perfile_record_cpu(&r, &cpu));
            }
            /* A file may have the number that asks for a trailer as a type. */
            perfile_sample_id id;
            const perfile_record odd = record(s, PERFILE_TYPE_SAMPLE_ID, &b);
            assert_int_equal(perfile_sample_id_decode(&odd, &id, sizeof id, NULL), PERFILE_END);
        }
        pf_session_free(s);
    }
}

/* Every type, at every length: a trailer is there exactly when fixed part and trailer fit. */
static void split_of_every_type(void **state)
{
    (void)state;
    static const struct {
        uint32_t type;
        size_t fixed;
    } rows[] = {
        {1, 32},  {2, 16},  {3, 8},   {4, 24}, {5, 24},  {6, 24}, {7, 24},  {8, 16},
        {10, 64}, {11, 24}, {12, 8},  {13, 8}, {14, 0},  {15, 8}, {16, 16}, {17, 16},
        {18, 16}, {19, 8},  {20, 12}, {21, 8}, {22, 16}, {23, 0}, {63, 0}}; /* the last two: kernels
                                                                               to come */
    uint8_t bytes[256];
    memset(bytes, 1, sizeof bytes); /* no NUL: nothing looks like a string without trailer */
    perfile_layout l = {.sample_id_all = true, .trailer_size = 24, .trailer_slots = 3};
    perfile_bytes body, trailer;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        for (size_t n = 0; n < 200; n++) {
            perfile_record r = {.type = rows[i].type, .header = bytes, .body = {bytes + 8, n}};
            bool there = pf_record_split(&r, &l, false, &body, &trailer);
            assert_int_equal(there, n >= rows[i].fixed + 24);
            assert_int_equal(body.len + trailer.len, n);
            assert_int_equal(trailer.len, there ? 24 : 0);
            assert_false(pf_record_split(&r, NULL, false, &body, &trailer));
            assert_int_equal(body.len, n);
        }
    }
    static const uint32_t none[] = {0, 9, 64, 67, 84, 32775, UINT32_MAX};
    for (size_t i = 0; i < sizeof none / sizeof none[0]; i++) {
        perfile_record r = {.type = none[i], .header = bytes, .body = {bytes + 8, 200}};
        assert_false(pf_record_split(&r, &l, false, &body, &trailer));
        assert_false(none[i] != 9 && pf_record_known(none[i]));
    }
}

/* COMM with "sh" and what tools leave out. */
static void left_out_trailer(void **state)
{
    (void)state;
    for (int as_stored = 0; as_stored < 2; as_stored++) {
        perfile_session *s = session_of(false, as_stored);
        event(s, PERFILE_SAMPLE_TIME, ALL, 7);
        BUILDER b = {0};
        start(&b, false);
        build_u32(&b, 3), build_u32(&b, 4), build_bytes(&b, "sh\0\0\0\0\0\0", 8),
            build_u64(&b, 1000);
        perfile_record r = record(s, PERFILE_RECORD_COMM, &b);
        perfile_comm comm;
        assert_int_equal(perfile_comm_decode(&r, &comm, sizeof comm, NULL), PERFILE_OK);
        assert_int_equal(comm.comm.len, 2);
        assert_int_equal(perfile_record_time(&r), 1000);

        /* "long-name" fills two words, the second of which is no time. */
        b.b.len = 16;
        build_bytes(&b, "long-name\0\0\0\0\0\0\0", 16);
        r = record(s, PERFILE_RECORD_COMM, &b);
        assert_int_equal(perfile_comm_decode(&r, &comm, sizeof comm, NULL), PERFILE_OK);
        assert_int_equal(comm.comm.len, as_stored ? 8 : 9);
        assert_int_equal(perfile_record_time(&r),
                         as_stored ? (uint64_t)'e' << (PF_NATIVE_BIG ? 56 : 0) : PERFILE_NO_TIME);
        uint32_t pid, tid;
        assert_true(perfile_record_task(&r, &pid, &tid)); /* its own */
        assert_int_equal(pid, 3);
        assert_int_equal(tid, 4);
        pf_session_free(s);
    }
}

static void own_fields(void **state)
{
    (void)state;
    perfile_session *s = session_of(true, false);
    event(s, PERFILE_SAMPLE_IP, 0, 7);
    BUILDER b = {0};
    start(&b, true);
    build_u32(&b, 1), build_u32(&b, 2), build_u32(&b, 3), build_u32(&b, 4), build_u64(&b, 77);
    perfile_record r = record(s, PERFILE_RECORD_FORK, &b);
    uint32_t pid, tid, cpu;
    /* The words 1 and 2 in the other byte order than that of this machine. */
    const uint64_t two_words = PF_NATIVE_BIG ? UINT64_C(2) << 32 | 1 : UINT64_C(1) << 32 | 2;
    assert_int_equal(perfile_record_time(&r), 77);
    assert_true(perfile_record_task(&r, &pid, &tid));
    assert_int_equal(pid, 1);
    assert_int_equal(tid, 3);
    assert_false(perfile_record_cpu(&r, &cpu));
    r.type = PERFILE_RECORD_THROTTLE;
    assert_int_equal(perfile_record_time(&r), two_words);
    r.type = PERFILE_RECORD_SIMPLEPERF_DEBUG;
    assert_int_equal(perfile_record_time(&r), two_words);
    r.body.len = 7;
    assert_int_equal(perfile_record_time(&r), PERFILE_NO_TIME);
    perfile_record stat =
        WORDS(s, PERFILE_RECORD_STAT, &b, 7, PF_NATIVE_BIG ? 5 : UINT64_C(5) << 32, 1, 1, 1);
    assert_true(perfile_record_cpu(&stat, &cpu));
    assert_int_equal(cpu, 5);
    stat = WORDS(s, PERFILE_RECORD_STAT, &b, 7, UINT64_MAX, 1, 1, 1);
    assert_false(perfile_record_cpu(&stat, &cpu));
    pf_session_free(s);
}

static void copies(void **state)
{
    (void)state;
    perfile_session *s = session_of(false, false);
    event(s, PERFILE_SAMPLE_TIME, ALL, 7);
    BUILDER b = {0};
    start(&b, false);
    build_u64(&b, 5), build_u64(&b, 1000);
    perfile_record r = record(s, PERFILE_RECORD_LOST_SAMPLES, &b), *copy;
    r.extra = (perfile_bytes){b.b.ptr, 5};
    r.flags |= PERFILE_REC_STABLE;
    assert_int_equal(perfile_record_copy(&r, &copy, NULL), PERFILE_OK);
    b.b.ptr[16] = 99;
    assert_int_equal(perfile_record_time(copy), 1000);
    assert_int_equal(copy->extra.len, 5);
    assert_ptr_equal(copy->body.ptr, copy->header + 8);
    assert_int_equal(copy->flags & PERFILE_REC_STABLE, 0);
    perfile_record_free(copy);

    r = (perfile_record){.family = PERFILE_FAMILY_DAMAGE, .body = {NULL, SIZE_MAX}};
    assert_int_equal(perfile_record_copy(&r, &copy, NULL), PERFILE_OK); /* not in memory */
    assert_null(copy->body.ptr);
    assert_true(copy->body.len == SIZE_MAX);
    perfile_record_free(copy);

    pf_alloc_count = 0;
    pf_alloc_fail_at = 1;
    assert_int_equal(perfile_record_copy(&r, &copy, NULL), PERFILE_E_NOMEM);
    pf_alloc_fail_at = 0;
    perfile_record_free(NULL);
    pf_session_free(s);
}

/* A stream of runs: two records, damage, which is alone in its run, two records, then the end or an
 * error. */
typedef struct runs {
    perfile_stream base;
    int step;
    perfile_status last;
    int closed;
} runs;

static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    static const char kinds[3][4] = {"rr", "d", "rr"};
    runs *x = (void *)s;
    if (x->step == 3) {
        if (err)
            err->sys = 55;
        return x->last;
    }
    for (const char *k = kinds[x->step]; *k; k++) {
        perfile_record *r = &s->run[s->n_run++];
        *r = (perfile_record){.sequence = (uint64_t)x->step};
        if (*k == 'd') {
            r->family = PERFILE_FAMILY_DAMAGE;
            pf_stream_damage(s, PERFILE_DAMAGE_GARBAGE, 10 + (uint64_t)x->step, 7);
        }
    }
    x->step++;
    return PERFILE_OK;
}

static void close_runs(perfile_stream *s)
{
    ((runs *)(void *)s)->closed++;
}

static void streams(void **state)
{
    (void)state;
    static const pf_stream_ops ops = {.fill = fill, .close = close_runs};
    for (int round = 0; round < 4; round++) {
        bool deliver = round & 1;
        runs x = {.base = {.ops = &ops, .name = "x"}};
        x.last = round & 2 ? PERFILE_E_IO : PERFILE_END;
        x.base.options.deliver = deliver ? PERFILE_DELIVER_DAMAGE : 0;
        const perfile_record *r;
        perfile_error err = {0};
        perfile_status st;
        unsigned n = 0, n_damage = 0;
        while ((st = perfile_stream_next(&x.base, &r, &err)) == PERFILE_OK) {
            n++;
            n_damage += r->family == PERFILE_FAMILY_DAMAGE;
        }
        assert_int_equal(n, deliver ? 5 : 4);
        assert_int_equal(n_damage, deliver ? 1 : 0);
        for (int again = 0; again < 3; again++) { /* final */
            assert_int_equal(st, x.last);
            assert_int_equal(err.sys, x.last < 0 ? 55 : 0);
            x.step = 0;
            err.sys = 0;
            st = perfile_stream_next(&x.base, &r, &err);
        }
        perfile_stream_summary sum;
        memset(&sum, 1, sizeof sum);
        perfile_stream_get_summary(&x.base, &sum, sizeof sum);
        assert_int_equal(sum.damages, 1);
        assert_int_equal(sum.lost, 7);
        assert_int_equal(sum.first_offset, 11);
        assert_int_equal(sum.by_damage[PERFILE_DAMAGE_GARBAGE], 1);
        assert_string_equal(pf_stream_name(&x.base), "x");
        perfile_bytes piece;
        assert_int_equal(perfile_stream_extra(&x.base, r, &piece, NULL), PERFILE_END);
        perfile_stream_close(&x.base);
        assert_int_equal(x.closed, 1);
    }
    perfile_stream_close(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_event_and_one),
        cmocka_unit_test(identifier_decides),
        cmocka_unit_test(id_decides),
        cmocka_unit_test(first_without_trailer),
        cmocka_unit_test(stat_names_its_event),
        cmocka_unit_test(sample_fields),
        cmocka_unit_test(trailers),
        cmocka_unit_test(of_a_later_kernel),
        cmocka_unit_test(split_of_every_type),
        cmocka_unit_test(left_out_trailer),
        cmocka_unit_test(own_fields),
        cmocka_unit_test(copies),
        cmocka_unit_test(streams),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Sessions: facts come back as they went in, whoever brings them, and cost what they weigh. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/alloc.h"
#include "base/order.h"
#include "core/session.h"

enum { /* attr flags */
       EXCLUDE_KERNEL = 1 << 5,
       EXCLUDE_HV = 1 << 6,
       PRECISE = 1 << 15,
       SAMPLE_ID_ALL = 1 << 18,
       USE_CLOCKID = 1 << 25
};

/* Bytes being written, in either byte order. */
typedef struct block {
    uint8_t at[4096];
    size_t n;
    bool swap;
} block;

static void put(block *b, const void *bytes, size_t n)
{
    assert_true(b->n + n <= sizeof b->at);
    memcpy(b->at + b->n, bytes, n);
    b->n += n;
}

static void u32(block *b, uint32_t v)
{
    v = b->swap ? pf_swap_u32(v) : v;
    put(b, &v, 4);
}

static void u64(block *b, uint64_t v)
{
    v = b->swap ? pf_swap_u64(v) : v;
    put(b, &v, 8);
}

static void zeros(block *b, size_t n)
{
    while (n--)
        put(b, "", 1);
}

/* u32 len, text, NULs up to a multiple of 8. */
static void string(block *b, const char *text)
{
    size_t n = strlen(text);
    u32(b, (uint32_t)(n + 8) / 8 * 8);
    put(b, text, n);
    zeros(b, (n + 8) / 8 * 8 - n);
}

static perfile_bytes bytes(const block *b)
{
    return (perfile_bytes){b->at, b->n};
}

/* The flag word is a C bit-field: mirrored in the other byte order. */
static uint64_t mirrored(const block *b, uint64_t flags)
{
    uint64_t m = 0;
    if (!b->swap)
        return flags;
    for (int i = 0; i < 64; i++)
        m |= (flags >> i & 1) << (63 - i);
    return m;
}

typedef struct attr {
    uint32_t type, size;
    uint64_t config, sample_type, flags, config1, config2, branch;
    uint32_t bp_type;
    int32_t clockid;
} attr;

static void put_attr(block *b, const attr *a, size_t n)
{
    size_t start = b->n;
    u32(b, a->type);
    u32(b, a->size);
    u64(b, a->config);
    u64(b, 0);
    u64(b, a->sample_type);
    u64(b, 0);
    u64(b, mirrored(b, a->flags));
    u32(b, 0);
    u32(b, a->bp_type);
    u64(b, a->config1);
    u64(b, a->config2);
    u64(b, a->branch);
    u64(b, 0);
    u32(b, 0);
    u32(b, (uint32_t)a->clockid);
    b->n = start + (n < 96 ? n : 96);
    if (n > 96)
        zeros(b, n - 96);
}

static perfile_session *session_of(bool swap)
{
    perfile_session *s;
    assert_int_equal(pf_session_new(swap, NULL, &s, NULL), PERFILE_OK);
    return s;
}

/* An attr of `n` bytes with ids from a NULL-ended list of numbers, 0 ending it. */
static void add_attr(perfile_session *s, const attr *a, const uint64_t *ids)
{
    block b = {.swap = perfile_session_swapped(s)}, i = {.swap = b.swap};
    put_attr(&b, a, a->size ? a->size : 64);
    for (; ids && *ids; ids++)
        u64(&i, *ids);
    pf_attr_fact fact = {.attr = bytes(&b), .ids = bytes(&i)};
    assert_int_equal(pf_session_add_attr(s, &fact, NULL), PERFILE_OK);
}

static void add_feature(perfile_session *s, uint32_t number, const block *b)
{
    perfile_feature f = {.number = number,
                         .size = b->n,
                         .payload = bytes(b),
                         .flags = b->swap ? PERFILE_REC_SWAPPED : 0};
    assert_int_equal(pf_session_add_feature(s, &f, false, NULL), PERFILE_OK);
}

static perfile_status learn(perfile_session *s, uint32_t type, uint16_t misc, const block *b)
{
    perfile_record r = {.type = type,
                        .misc = misc,
                        .header = b->at,
                        .body = {b->at + 8, b->n - 8},
                        .offset = 1000,
                        .flags = b->swap ? PERFILE_REC_SWAPPED : 0,
                        .session = s};
    perfile_status st = pf_session_learn(s, &r, NULL);
    return st == PERFILE_OK ? pf_session_settle(s, NULL) : st;
}

static const char *name_of(const perfile_session *s, uint32_t index)
{
    return perfile_session_event(s, index)->name;
}

#define SETTLE(s) assert_int_equal(pf_session_settle(s, NULL), PERFILE_OK)

static void attr_sizes(void **state)
{
    (void)state;
    static const struct {
        uint32_t size;
        size_t there, counts;
        uint32_t damage;
    } cases[] = {
        {0, 96, 64, 0},
        {64, 96, 64, 0},
        {96, 96, 96, 0},
        {160, 160, 160, 0},
        {20, 96, 64, PERFILE_DAMAGE_BAD_ATTR_SIZE},
        {104, 96, 96, PERFILE_DAMAGE_BAD_ATTR_SIZE},
        {UINT32_MAX, 64, 64, PERFILE_DAMAGE_BAD_ATTR_SIZE},
    };
    for (int swap = 0; swap < 2; swap++) {
        perfile_session *s = session_of(swap);
        uint32_t n = sizeof cases / sizeof cases[0];
        for (uint32_t i = 0; i < n; i++) {
            attr a = {.type = 1, .size = cases[i].size, .config = i, .branch = 9};
            block b = {.swap = swap};
            put_attr(&b, &a, cases[i].there);
            pf_attr_fact fact = {.attr = bytes(&b)};
            assert_int_equal(pf_session_add_attr(s, &fact, NULL), PERFILE_OK);
        }
        SETTLE(s);
        assert_int_equal(perfile_session_n_events(s), n);
        for (uint32_t i = 0; i < n; i++) {
            const perfile_event *e = perfile_session_event(s, i);
            assert_int_equal(e->index, i);
            assert_int_equal(e->damage, cases[i].damage);
            assert_int_equal(e->stored.len, cases[i].counts);
            assert_int_equal(e->attr.size, cases[i].size);
            assert_int_equal(e->attr.config, i);
            assert_int_equal(e->attr.branch_sample_type, cases[i].counts >= 80 ? 9 : 0);
        }
        assert_null(perfile_session_event(s, n));
        pf_session_free(s);
    }
}

static void ids_belong_to_the_first(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        perfile_session *s = session_of(swap);
        attr a = {.size = 64};
        add_attr(s, &a, (const uint64_t[]){10, 11, UINT64_MAX, 0});
        add_attr(s, &a, (const uint64_t[]){11, 12, 0});
        const perfile_event *first = perfile_session_event(s, 0);
        assert_ptr_equal(perfile_session_event_by_id(s, 10), first);
        assert_ptr_equal(perfile_session_event_by_id(s, 11), first);
        assert_ptr_equal(perfile_session_event_by_id(s, UINT64_MAX), first);
        assert_ptr_equal(perfile_session_event_by_id(s, 12), perfile_session_event(s, 1));
        assert_null(perfile_session_event_by_id(s, 13));
        assert_int_equal(first->ids.n, 3);
        assert_int_equal(perfile_word(&first->ids, 1), 11);
        pf_session_free(s);
    }
}

static void derived_names(void **state)
{
    (void)state;
    static const struct {
        attr a;
        const char *name;
    } cases[] = {
        {{.type = 0, .size = 64, .config = 0}, "cycles"},
        {{.type = 0, .size = 64, .config = 0, .flags = EXCLUDE_KERNEL | EXCLUDE_HV}, "cycles:u"},
        {{.type = 0, .size = 64, .config = 1, .flags = 2 * PRECISE | EXCLUDE_KERNEL},
         "instructions:upp"},
        {{.type = 0, .size = 64, .config = 4}, "branches"},
        {{.type = 0, .size = 64, .config = UINT64_C(4) << 32}, "cpu_core/cycles/"},
        {{.type = 0, .size = 64, .config = 77}, "hardware/config=0x4d/"},
        {{.type = 1, .size = 64, .config = 9}, "dummy"},
        {{.type = 2, .size = 64, .config = 316, .flags = EXCLUDE_KERNEL}, "tracepoint:316"},
        {{.type = 3, .size = 64, .config = 0x10000}, "L1-dcache-load-misses"},
        {{.type = 3, .size = 64, .config = 0x00102}, "LLC-stores"},
        {{.type = 3, .size = 64, .config = 0x00203}, "dTLB-prefetches"},
        {{.type = 3, .size = 64, .config = 0x00005}, "branch-loads"},
        {{.type = 3, .size = 64, .config = 0x20005}, "hw-cache/config=0x20005/"},
        {{.type = 4, .size = 64, .config = 0x1a2b}, "r1a2b"},
        {{.type = 5, .size = 64, .config1 = 0x1234, .bp_type = 3}, "mem:0x1234:rw"},
        {{.type = 4, .size = 64, .config = 1, .flags = EXCLUDE_KERNEL}, "r1:u"},
        {{.type = 4096, .size = 72, .config = 3, .config2 = 7},
         "pmu-type-4096/config=0x3,config2=0x7/"},
        {{.type = 8, .size = 64, .config = 0x51, .flags = EXCLUDE_KERNEL}, "msr/config=0x51/u"},
    };
    perfile_session *s = session_of(false);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        add_attr(s, &cases[i].a, NULL);
    SETTLE(s);
    assert_string_equal(name_of(s, 4), "pmu-type-4/cycles/");

    block b = {0};
    u32(&b, 2);
    u32(&b, 8), string(&b, "msr");
    u32(&b, 4), string(&b, "cpu_core");
    add_feature(s, PERFILE_FEATURE_PMU_MAPPINGS, &b);
    SETTLE(s);
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(name_of(s, i), cases[i].name);
    assert_string_equal(perfile_session_pmu_name(s, 8), "msr");
    assert_null(perfile_session_pmu_name(s, 9));
    pf_session_free(s);
}

static void put_desc(block *b, const attr *a, const char *name, uint64_t id)
{
    put_attr(b, a, 64);
    u32(b, id ? 1 : 0);
    string(b, name);
    if (id)
        u64(b, id);
}

/* EVENT_DESC before or behind the attrs, its order another than theirs. */
static void names_of_event_desc(void **state)
{
    (void)state;
    static const attr a = {.size = 64, .config = 1}, other = {.size = 64, .config = 2};
    for (int round = 0; round < 4; round++) {
        bool first = round & 1, swap = round & 2;
        perfile_session *s = session_of(swap);
        block b = {.swap = swap};
        u32(&b, 4), u32(&b, 64);
        put_desc(&b, &a, "second", 21);
        put_desc(&b, &a, "first", 20);
        put_desc(&b, &other, "third", 0);
        put_desc(&b, &a, "not it", 0);
        if (first)
            add_feature(s, PERFILE_FEATURE_EVENT_DESC, &b);
        add_attr(s, &a, (const uint64_t[]){20, 0});
        SETTLE(s);
        add_attr(s, &a, (const uint64_t[]){21, 0});
        add_attr(s, &other, NULL);
        add_attr(s, &other, NULL);
        SETTLE(s);
        if (!first) {
            assert_string_equal(name_of(s, 0), "instructions");
            add_feature(s, PERFILE_FEATURE_EVENT_DESC, &b);
            SETTLE(s);
        }
        assert_string_equal(name_of(s, 0), "first");
        assert_string_equal(name_of(s, 1), "second");
        assert_string_equal(name_of(s, 2), "third");
        assert_string_equal(name_of(s, 3), "cache-references");
        assert_int_equal(perfile_session_event(s, 0)->name_origin, PERFILE_ORIGIN_CONTAINER);
        assert_int_equal(perfile_session_event(s, 3)->name_origin, PERFILE_ORIGIN_DERIVED);
        pf_session_free(s);
    }
}

static void update(perfile_session *s, uint64_t what, uint64_t id, const char *text, uint64_t bits)
{
    block b = {.swap = perfile_session_swapped(s)};
    zeros(&b, 8);
    u64(&b, what);
    u64(&b, id);
    if (text)
        put(&b, text, strlen(text) + 1);
    else
        u64(&b, bits);
    assert_int_equal(learn(s, PERFILE_RECORD_EVENT_UPDATE, 0, &b), PERFILE_OK);
}

static void event_updates(void **state)
{
    (void)state;
    perfile_session *s = session_of(false);
    attr a = {.size = 64};
    add_attr(s, &a, (const uint64_t[]){5, 0});
    add_attr(s, &a, (const uint64_t[]){6, 0});
    SETTLE(s);
    uint64_t generation = perfile_session_generation(s);
    update(s, 2, 6, "energy", 0);
    update(s, 0, 6, "Joules", 0);
    update(s, 1, 6, NULL, UINT64_C(0x3fe0000000000000));
    update(s, 2, 77, "nobody", 0);
    const perfile_event *e = perfile_session_event(s, 1);
    assert_string_equal(e->name, "energy");
    assert_int_equal(e->name_origin, PERFILE_ORIGIN_STREAM);
    assert_string_equal(e->unit, "Joules");
    assert_true(e->scale > 0.49 && e->scale < 0.51);
    assert_string_equal(name_of(s, 0), "cycles");
    assert_null(perfile_session_event(s, 0)->unit);
    assert_int_equal(perfile_session_generation(s), generation + 3);
    update(s, 2, 6, "power", 0); /* the last word counts */
    assert_string_equal(e->name, "power");
    pf_session_free(s);
}

static void old_event_types(void **state)
{
    (void)state;
    perfile_session *s = session_of(false);
    attr raw = {.type = 4, .size = 64}, clock = {.type = 1, .size = 64};
    attr trace = {.type = 2, .size = 64};
    trace.config = 300;
    add_attr(s, &clock, NULL);
    add_attr(s, &raw, NULL);
    add_attr(s, &trace, NULL);
    SETTLE(s);
    block b = {0};
    zeros(&b, 8);
    u64(&b, 300);
    put(&b, "sched:a\0\0", 8);
    learn(s, PERFILE_RECORD_HEADER_EVENT_TYPE, 0, &b);
    assert_string_equal(name_of(s, 2), "sched:a");
    b.n = 8;
    u64(&b, 0);
    put(&b, "CYC", 4);
    learn(s, PERFILE_RECORD_HEADER_EVENT_TYPE, 0, &b);
    assert_string_equal(name_of(s, 0), "cpu-clock"); /* the attr says more than the list */
    assert_string_equal(name_of(s, 1), "CYC");
    add_attr(s, &trace, NULL);
    SETTLE(s);
    assert_string_equal(name_of(s, 3), "sched:a");
    assert_int_equal(perfile_session_n_event_types(s), 2);
    assert_int_equal(perfile_session_event_type(s, 0)->event_id, 300);
    assert_int_equal(perfile_session_event_type(s, 0)->name.len, 7);
    pf_session_free(s);
}

static void simpleperf_facts(void **state)
{
    (void)state;
    static const char meta[] = "simpleperf_version\0001.build.9\0event_type_info\0"
                               "cpu-cycles,0,0\nmyraw,4,17\nbad,\n,1,1\nx,1\n";
    perfile_session *s = session_of(false);
    attr raw = {.type = 4, .size = 64, .config = 17, .flags = EXCLUDE_KERNEL};
    attr clock = {.type = 1, .size = 64};
    add_attr(s, &raw, (const uint64_t[]){1, 0});
    add_attr(s, &clock, (const uint64_t[]){2, 0});
    block b = {0};
    put(&b, meta, sizeof meta);
    add_feature(s, PERFILE_FEATURE_META_INFO, &b);
    SETTLE(s);
    assert_string_equal(name_of(s, 0), "myraw:u");
    assert_string_equal(name_of(s, 1), "cpu-clock");
    assert_string_equal(perfile_session_fact(s, PERFILE_FACT_TOOL), "simpleperf 1.build.9");

    /* EVENT_ID: event 1 gets ids, those of event 0 stay its own. */
    perfile_words before = perfile_session_event(s, 1)->ids;
    for (uint64_t id = 100; id < 130; id++) {
        block e = {0};
        zeros(&e, 8);
        u64(&e, 3);
        u64(&e, 1), u64(&e, id);
        u64(&e, 1), u64(&e, 1);
        u64(&e, 7), u64(&e, 9999);
        learn(s, PERFILE_RECORD_SIMPLEPERF_EVENT_ID, 0, &e);
    }
    const perfile_event *e = perfile_session_event(s, 1);
    assert_int_equal(e->ids.n, 31);
    for (size_t i = 0; i < 30; i++)
        assert_int_equal(perfile_word(&e->ids, i + 1), 100 + i);
    assert_int_equal(perfile_word(&before, 0), 2);
    assert_ptr_equal(perfile_session_event_by_id(s, 129), e);
    assert_ptr_equal(perfile_session_event_by_id(s, 1), perfile_session_event(s, 0));
    assert_null(perfile_session_event_by_id(s, 9999));
    pf_session_free(s);
}

static void ids_of_an_index(void **state)
{
    (void)state;
    for (int n_idless = 1; n_idless < 3; n_idless++) {
        perfile_session *s = session_of(true);
        attr a = {.size = 64};
        for (int i = 0; i < n_idless; i++)
            add_attr(s, &a, NULL);
        block b = {.swap = true};
        zeros(&b, 8);
        u64(&b, 1);
        u64(&b, 55), u64(&b, 0), u64(&b, 0), u64(&b, 0);
        learn(s, PERFILE_RECORD_ID_INDEX, 0, &b);
        const perfile_event *e = perfile_session_event_by_id(s, 55);
        assert_ptr_equal(e, n_idless == 1 ? perfile_session_event(s, 0) : NULL);
        if (e)
            assert_int_equal(perfile_word(&e->ids, 0), 55);
        pf_session_free(s);
    }
}

/* Feature 1 as perf writes it: version 0.6, little-endian, one system with two formats. */
static void put_tracing(block *b, bool big)
{
    static const char format1[] = "name: sched_switch\nID: 316\nformat:\n\tfield:int x;\n";
    static const char format2[] = "name: sched_wakeup\nID:\t317\n";
    b->swap = big;
    put(b, "\x17\x08\x44tracing", 10);
    put(b, "0.6", 4);
    put(b, big ? "\1" : "\0", 1);
    put(b, "\10", 1);
    u32(b, 4096);
    put(b, "header_page", 12);
    u64(b, 3), put(b, "abc", 3);
    put(b, "header_event", 13);
    u64(b, 0);
    u32(b, 1), u64(b, 2), put(b, "xy", 2);
    u32(b, 1), put(b, "sched", 6), u32(b, 2);
    u64(b, sizeof format1 - 1), put(b, format1, sizeof format1 - 1);
    u64(b, sizeof format2 - 1), put(b, format2, sizeof format2 - 1);
    b->swap = false;
}

static void tracepoint_names(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        block b = {0};
        put_tracing(&b, big);
        for (size_t cut = b.n;; cut--) {
            perfile_session *s = session_of(false);
            attr a = {.type = 2, .size = 64, .config = 317};
            add_attr(s, &a, NULL);
            uint8_t *exact = malloc(cut ? cut : 1);
            memcpy(exact, b.at, cut);
            perfile_feature f = {.number = 1, .payload = {exact, cut}};
            assert_int_equal(pf_session_add_feature(s, &f, true, NULL), PERFILE_OK);
            SETTLE(s);
            assert_string_equal(name_of(s, 0),
                                cut == b.n ? "sched:sched_wakeup" : "tracepoint:317");
            pf_session_free(s);
            free(exact);
            if (cut == 0)
                break;
        }
    }
}

static void features(void **state)
{
    (void)state;
    perfile_session *s = session_of(false);
    block b = {0};
    string(&b, "host");
    add_feature(s, PERFILE_FEATURE_HOSTNAME, &b);
    b.n = 0;
    string(&b, "later");
    add_feature(s, PERFILE_FEATURE_HOSTNAME, &b); /* the first counts */
    b.n = 0;
    string(&b, "6.1.176");
    add_feature(s, PERFILE_FEATURE_VERSION, &b);
    b.n = 0;
    u32(&b, 8), u32(&b, 4);
    add_feature(s, PERFILE_FEATURE_NRCPUS, &b);
    b.n = 0;
    u32(&b, 4);
    string(&b, "/usr/bin/perf"), string(&b, "record"), string(&b, "it's a"), string(&b, "");
    add_feature(s, PERFILE_FEATURE_CMDLINE, &b);
    b.n = 0;
    add_feature(s, 255, &b);
    add_feature(s, 256, &b);
    add_feature(s, UINT32_MAX, &b);
    static const uint32_t numbers[] = {3, 5, 7, 11, 255};
    assert_int_equal(perfile_session_n_features(s), 5);
    for (uint32_t i = 0; i < 5; i++)
        assert_int_equal(perfile_session_feature_at(s, i)->number, numbers[i]);
    assert_null(perfile_session_feature_at(s, 5));
    assert_null(perfile_session_feature(s, 4));
    assert_null(perfile_session_feature(s, 256));
    assert_ptr_equal(perfile_session_feature(s, 3)->session, s);
    assert_string_equal(perfile_session_fact(s, PERFILE_FACT_HOSTNAME), "host");
    assert_string_equal(perfile_session_fact(s, PERFILE_FACT_TOOL), "perf 6.1.176");
    assert_string_equal(perfile_session_fact(s, PERFILE_FACT_CMDLINE),
                        "/usr/bin/perf record 'it'\\''s a' ''");
    assert_null(perfile_session_fact(s, PERFILE_FACT_ARCH));
    assert_null(perfile_session_fact(s, PERFILE_N_FACTS));
    assert_int_equal(perfile_session_n_cpus(s), 8);

    /* Damaged ones are listed and not read. */
    perfile_feature bad = {
        .number = PERFILE_FEATURE_ARCH, .size = 100, .damage = PERFILE_DAMAGE_OUT_OF_BOUNDS};
    assert_int_equal(pf_session_add_feature(s, &bad, false, NULL), PERFILE_OK);
    assert_int_equal(perfile_session_feature(s, PERFILE_FEATURE_ARCH)->size, 100);
    pf_session_free(s);
}

static void feature_records(void **state)
{
    (void)state;
    perfile_session *s = session_of(true);
    block b = {.swap = true};
    zeros(&b, 8);
    u64(&b, PERFILE_FEATURE_OSRELEASE);
    string(&b, "6.1");
    learn(s, PERFILE_RECORD_HEADER_FEATURE, 0, &b);
    assert_string_equal(perfile_session_fact(s, PERFILE_FACT_OSRELEASE), "6.1");
    const perfile_feature *f = perfile_session_feature(s, PERFILE_FEATURE_OSRELEASE);
    assert_int_equal(f->origin, PERFILE_ORIGIN_STREAM);
    assert_int_equal(f->offset, 1000);
    assert_int_equal(f->size, 12);

    static const uint64_t none[] = {32, 35, UINT64_C(1) << 32 | 3, UINT64_MAX};
    for (size_t i = 0; i < 4; i++) {
        b.n = 8;
        u64(&b, none[i]); /* end markers, and numbers that must not be cut to 32 bits */
        learn(s, PERFILE_RECORD_HEADER_FEATURE, 0, &b);
        assert_int_equal(perfile_session_n_features(s), 1);
    }
    b.n = 8;
    u64(&b, PERFILE_FEATURE_BRANCH_STACK); /* empty and below 32: a feature */
    learn(s, PERFILE_RECORD_HEADER_FEATURE, 0, &b);
    assert_int_equal(perfile_session_n_features(s), 2);
    b.n = 12; /* cut */
    learn(s, PERFILE_RECORD_HEADER_FEATURE, 0, &b);
    assert_int_equal(perfile_session_n_features(s), 2);
    pf_session_free(s);
}

static void attr_records(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        perfile_session *s = session_of(swap);
        attr a = {.type = 1, .size = 96, .config = 9};
        block b = {.swap = swap};
        zeros(&b, 8);
        put_attr(&b, &a, 96);
        u64(&b, 70), u64(&b, 71);
        zeros(&b, 4); /* half a word */
        learn(s, PERFILE_RECORD_HEADER_ATTR, 0x7f54, &b);
        const perfile_event *e = perfile_session_event(s, 0);
        assert_non_null(e);
        assert_string_equal(e->name, "dummy");
        assert_int_equal(e->origin, PERFILE_ORIGIN_STREAM);
        assert_int_equal(e->stored.len, 96);
        assert_int_equal(e->ids.n, 2);
        assert_ptr_equal(perfile_session_event_by_id(s, 71), e);

        learn(s, PERFILE_RECORD_HEADER_ATTR, 0, &b); /* again: an event of its own */
        assert_int_equal(perfile_session_n_events(s), 2);
        assert_ptr_equal(perfile_session_event_by_id(s, 71), e);
        for (b.n = 8; b.n < 8 + 96; b.n++) /* too short to be one */
            learn(s, PERFILE_RECORD_HEADER_ATTR, 0, &b);
        assert_int_equal(perfile_session_n_events(s), 2);
        pf_session_free(s);
    }
}

static void build_ids(void **state)
{
    (void)state;
    perfile_session *s = session_of(false);
    block b = {0};
    zeros(&b, 8);
    u32(&b, UINT32_MAX);
    for (uint8_t i = 1; i <= 20; i++)
        put(&b, &i, 1);
    put(&b, "\20\0\0\0", 4); /* 16 bytes */
    put(&b, "/bin/true", 10);
    learn(s, PERFILE_RECORD_HEADER_BUILD_ID, PERFILE_MISC_BUILD_ID_SIZE | 2, &b);
    assert_int_equal(perfile_session_n_build_ids(s), 1);
    const perfile_build_id *id = perfile_session_build_id(s, 0);
    assert_int_equal(id->id.len, 16);
    assert_int_equal(id->id.ptr[15], 16);
    assert_int_equal(id->filename.len, 9);
    assert_int_equal(id->pid, -1);
    assert_int_equal(id->misc & PERFILE_MISC_CPUMODE_MASK, 2);
    assert_int_equal(id->origin, PERFILE_ORIGIN_STREAM);

    block section = {0};
    u32(&section, 0);
    put(&section, "\2\0", 2);
    put(&section, "\60\0", 2); /* 48 */
    put(&section, b.at + 8, b.n - 8);
    zeros(&section, 2);
    add_feature(s, PERFILE_FEATURE_BUILD_ID, &section);
    assert_int_equal(perfile_session_n_build_ids(s), 2);
    assert_int_equal(perfile_session_build_id(s, 1)->origin, PERFILE_ORIGIN_CONTAINER);
    assert_int_equal(perfile_session_build_id(s, 1)->filename.len, 9);
    assert_null(perfile_session_build_id(s, 2));
    pf_session_free(s);
}

static void clocks(void **state)
{
    (void)state;
    for (int round = 0; round < 4; round++) {
        perfile_session *s = session_of(false);
        attr a = {.size = 96, .flags = round == 1 ? 0 : USE_CLOCKID, .clockid = 1};
        add_attr(s, &a, NULL);
        block b = {0};
        u32(&b, 1), u32(&b, round == 2 ? 4 : 1);
        u64(&b, round == 3 ? 0 : 5000), u64(&b, round == 3 ? 0 : 1000);
        add_feature(s, PERFILE_FEATURE_CLOCK_DATA, &b);
        SETTLE(s);
        perfile_clock clock;
        perfile_session_clock(s, &clock);
        assert_int_equal(clock.known, round != 1);
        assert_int_equal(clock.has_wall, round == 0);
        uint64_t wall = 1;
        assert_int_equal(perfile_session_wall_time(s, 1234, &wall), round == 0);
        assert_int_equal(wall, round == 0 ? 5234 : 1);
        pf_session_free(s);
    }

    perfile_session *s = session_of(false);
    block b = {0};
    zeros(&b, 8);
    u64(&b, 31), u64(&b, 7), u64(&b, 9), u64(&b, 0), u64(&b, 0);
    put(&b, "\0\0\0\0\0\0\0", 8);
    learn(s, PERFILE_RECORD_TIME_CONV, 0, &b);
    perfile_clock clock;
    perfile_session_clock(s, &clock);
    assert_false(clock.has_conversion); /* says itself that it is not valid */
    b.n = 8 + 24;
    learn(s, PERFILE_RECORD_TIME_CONV, 0, &b);
    perfile_session_clock(s, &clock);
    assert_true(clock.has_conversion);
    assert_int_equal(clock.shift, 31);
    assert_int_equal(clock.zero, 9);
    pf_session_free(s);
}

static void groups(void **state)
{
    (void)state;
    static const uint32_t want[] = {0, 1, 1, 1, 4, 5, 5, 5};
    for (int late = 0; late < 2; late++) {
        perfile_session *s = session_of(false);
        attr a = {.size = 64};
        block b = {0};
        u32(&b, 4);
        string(&b, "{anon_group}"), u32(&b, 1), u32(&b, 3);
        string(&b, "overlaps"), u32(&b, 2), u32(&b, 2);
        string(&b, "{anon_group}"), u32(&b, 5), u32(&b, 100);
        string(&b, "wraps"), u32(&b, UINT32_MAX), u32(&b, 5);
        if (!late)
            add_feature(s, PERFILE_FEATURE_GROUP_DESC, &b);
        for (uint32_t i = 0; i < 8; i++) {
            add_attr(s, &a, NULL);
            SETTLE(s);
        }
        if (late)
            add_feature(s, PERFILE_FEATURE_GROUP_DESC, &b);
        SETTLE(s);
        for (uint32_t i = 0; i < 8; i++)
            assert_int_equal(perfile_session_event(s, i)->group_leader, want[i]);
        pf_session_free(s);
    }
}

/* A hostile pipe: the work per record must not grow with the records that came before. */
static double seconds_for(uint32_t n)
{
    perfile_session *s = session_of(false);
    clock_t start = clock();
    for (uint32_t i = 0; i < n; i++) {
        attr a = {.type = 2, .size = 64, .config = i & 1};
        block b = {0};
        zeros(&b, 8);
        put_attr(&b, &a, 64);
        u64(&b, (uint64_t)i << 32); /* ids that differ in a few bits only */
        assert_int_equal(learn(s, PERFILE_RECORD_HEADER_ATTR, 0, &b), PERFILE_OK);
        b.n = 8;
        u64(&b, i & 1);
        put(&b, "name", 5);
        assert_int_equal(learn(s, PERFILE_RECORD_HEADER_EVENT_TYPE, 0, &b), PERFILE_OK);
        update(s, 2, (uint64_t)(i / 2) << 32, "name", 0);
    }
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    assert_int_equal(perfile_session_n_events(s), n);
    pf_session_free(s);
    return seconds;
}

static void work_is_linear(void **state)
{
    (void)state;
    double few = seconds_for(5000);
    double many = seconds_for(80000);
    /* 16 times as much; quadratic work would take 256 times as long. */
    if (many > 80 * few + 0.2)
        fail_msg("%g s for 5000, %g s for 80000", few, many);
}

static void limit_is_kept(void **state)
{
    (void)state;
    perfile_limits limits = {.size = sizeof limits, .session_bytes = 100000};
    perfile_options options = {.size = sizeof options, .limits = &limits};
    perfile_session *s;
    perfile_error err;
    assert_int_equal(pf_session_new(false, &options, &s, &err), PERFILE_OK);
    block b = {0};
    zeros(&b, 8 + 4 + 24);
    put(&b, "some file", 10);
    perfile_status st = PERFILE_OK;
    int n = 0;
    for (; st == PERFILE_OK && n < 100000; n++) {
        perfile_record r = {.type = PERFILE_RECORD_HEADER_BUILD_ID,
                            .header = b.at,
                            .body = {b.at + 8, b.n - 8},
                            .session = s};
        st = pf_session_learn(s, &r, &err);
    }
    assert_int_equal(st, PERFILE_E_LIMIT);
    assert_string_equal(err.where, "session_bytes");
    assert_in_range(n, 500, 2000);
    pf_session_free(s);
}

/* Everything once, with the n-th allocation failing. */
static perfile_status build_all(void)
{
    perfile_session *s;
    perfile_status st = pf_session_new(false, NULL, &s, NULL);
    if (st != PERFILE_OK)
        return st;
    attr a = {.type = 2, .size = 64, .config = 317};
    block at = {0}, tracing = {0}, meta = {0}, desc = {0}, group = {0}, pmu = {0};
    zeros(&at, 8);
    put_attr(&at, &a, 64);
    u64(&at, 0);
    put_tracing(&tracing, false);
    put(&meta, "event_type_info\0x,4,17\n", 24);
    u32(&desc, 1), u32(&desc, 64), put_desc(&desc, &a, "one", 3);
    u32(&group, 1), string(&group, "g"), u32(&group, 0), u32(&group, 2);
    u32(&pmu, 1), u32(&pmu, 8), string(&pmu, "msr");
    const block *blocks[] = {&tracing, &meta, &desc, &group, &pmu};
    static const uint32_t numbers[] = {1, 129, 12, 17, 16};
    for (size_t i = 0; st == PERFILE_OK && i < 5; i++) {
        perfile_feature f = {.number = numbers[i], .payload = bytes(blocks[i])};
        st = pf_session_add_feature(s, &f, false, NULL);
    }
    for (uint64_t id = 1; st == PERFILE_OK && id < 40; id++) {
        memcpy(at.at + 72, &id, 8);
        st = learn(s, PERFILE_RECORD_HEADER_ATTR, 0, &at);
        if (st == PERFILE_OK)
            st = pf_session_add_event_type(s, id, (perfile_bytes){at.at, 10}, false, NULL);
    }
    pf_session_free(s);
    return st;
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    pf_alloc_count = 0;
    assert_int_equal(build_all(), PERFILE_OK);
    uint64_t n = pf_alloc_count;
    assert_true(n > 10);
    for (uint64_t i = 1; i <= n; i++) {
        pf_alloc_count = 0;
        pf_alloc_fail_at = i;
        perfile_status st = build_all();
        pf_alloc_fail_at = 0;
        assert_int_equal(st, PERFILE_E_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(attr_sizes),       cmocka_unit_test(ids_belong_to_the_first),
        cmocka_unit_test(derived_names),    cmocka_unit_test(names_of_event_desc),
        cmocka_unit_test(event_updates),    cmocka_unit_test(old_event_types),
        cmocka_unit_test(simpleperf_facts), cmocka_unit_test(ids_of_an_index),
        cmocka_unit_test(tracepoint_names), cmocka_unit_test(features),
        cmocka_unit_test(feature_records),  cmocka_unit_test(attr_records),
        cmocka_unit_test(build_ids),        cmocka_unit_test(clocks),
        cmocka_unit_test(groups),           cmocka_unit_test(work_is_linear),
        cmocka_unit_test(limit_is_kept),    cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

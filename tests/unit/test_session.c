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
#include "builder.h"
#include "core/session.h"
#include "core/command.h"

enum { /* attr flags */
       EXCLUDE_KERNEL = 1 << 5,
       EXCLUDE_HV = 1 << 6,
       PRECISE = 1 << 15,
       SAMPLE_ID_ALL = 1 << 18,
       USE_CLOCKID = 1 << 25
};

typedef struct attr {
    uint32_t type, size;
    uint64_t config, sample_type, flags, config1, config2, branch;
    uint32_t bp_type;
    int32_t clockid;
} attr;

static void put_attr(builder *b, const attr *a, size_t n)
{
    size_t start = b->b.len;
    build_u32(b, a->type);
    build_u32(b, a->size);
    build_u64(b, a->config);
    build_u64(b, 0);
    build_u64(b, a->sample_type);
    build_u64(b, 0);
    build_u64(b, b->swap != (bool)PF_NATIVE_BIG ? build_big_flags(a->flags, PERFILE_KIND_ATTR_FLAGS)
                                                : a->flags);
    build_u32(b, 0);
    build_u32(b, a->bp_type);
    build_u64(b, a->config1);
    build_u64(b, a->config2);
    build_u64(b, a->branch);
    build_u64(b, 0);
    build_u32(b, 0);
    build_u32(b, (uint32_t)a->clockid);
    b->b.len = start + (n < 96 ? n : 96);
    if (n > 96)
        build_zeros(b, n - 96);
}

static perfile_session *session_of(bool swap)
{
    perfile_session *s;
    assert_int_equal(pf_session_open(swap, NULL, &s, NULL), PERFILE_OK);
    return s;
}

/* An attr of `n` bytes with ids from a NULL-ended list of numbers, 0 ending it. */
static void add_attr(perfile_session *s, const attr *a, const uint64_t *ids)
{
    BUILDER b = {.swap = perfile_session_swapped(s)}, i = {.swap = b.swap};
    put_attr(&b, a, a->size ? a->size : 64);
    for (; ids && *ids; ids++)
        build_u64(&i, *ids);
    pf_attr_fact fact = {.attr = built(&b), .ids = built(&i)};
    assert_int_equal(pf_session_add_attr(s, &fact, NULL), PERFILE_OK);
}

static void add_feature(perfile_session *s, uint32_t number, const builder *b)
{
    perfile_feature f = {.number = number,
                         .size = b->b.len,
                         .payload = built(b),
                         .flags = b->swap ? PERFILE_REC_SWAPPED : 0};
    assert_int_equal(pf_session_add_feature(s, &f, false, NULL), PERFILE_OK);
}

static perfile_status learn(perfile_session *s, uint32_t type, uint16_t misc, const builder *b)
{
    perfile_record r = {.type = type,
                        .misc = misc,
                        .header = b->b.ptr,
                        .body = {b->b.ptr + 8, b->b.len - 8},
                        .offset = 1000,
                        .flags = b->swap ? PERFILE_REC_SWAPPED : 0,
                        .session = s};
    perfile_status st = pf_session_collect(s, &r, NULL);
    return st == PERFILE_OK ? pf_session_resolve(s, NULL) : st;
}

static const char *name_of(const perfile_session *s, uint32_t index)
{
    return perfile_session_event(s, index)->name;
}

#define SETTLE(s) assert_int_equal(pf_session_resolve(s, NULL), PERFILE_OK)

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
            BUILDER b = {.swap = swap};
            put_attr(&b, &a, cases[i].there);
            pf_attr_fact fact = {.attr = built(&b)};
            assert_int_equal(pf_session_add_attr(s, &fact, NULL), PERFILE_OK);
        }
        SETTLE(s);
        assert_int_equal(perfile_session_n_events(s), n);
        for (uint32_t i = 0; i < n; i++) {
            const perfile_event *e = perfile_session_event(s, i);
            assert_int_equal(e->index, i);
            assert_int_equal(e->damage, cases[i].damage);
            assert_int_equal(e->stored.len, cases[i].counts);
            assert_int_equal(e->attr->size, cases[i].size);
            assert_int_equal(e->attr->config, i);
            assert_int_equal(e->attr->branch_sample_type, cases[i].counts >= 80 ? 9 : 0);
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

    BUILDER b = {0};
    build_u32(&b, 2);
    build_u32(&b, 8), build_string(&b, "msr");
    build_u32(&b, 4), build_string(&b, "cpu_core");
    add_feature(s, PERFILE_FEATURE_PMU_MAPPINGS, &b);
    SETTLE(s);
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_string_equal(name_of(s, i), cases[i].name);
    assert_string_equal(pf_session_pmu_name(s, 8), "msr");
    assert_null(pf_session_pmu_name(s, 9));
    pf_session_free(s);
}

static void put_desc(builder *b, const attr *a, const char *name, uint64_t id)
{
    put_attr(b, a, 64);
    build_u32(b, id ? 1 : 0);
    build_string(b, name);
    if (id)
        build_u64(b, id);
}

/* EVENT_DESC before or behind the attrs, its order another than theirs. */
static void names_of_event_desc(void **state)
{
    (void)state;
    static const attr a = {.size = 64, .config = 1}, other = {.size = 64, .config = 2};
    for (int round = 0; round < 4; round++) {
        bool first = round & 1, swap = round & 2;
        perfile_session *s = session_of(swap);
        BUILDER b = {.swap = swap};
        build_u32(&b, 4), build_u32(&b, 64);
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
    BUILDER b = {.swap = perfile_session_swapped(s)};
    build_zeros(&b, 8);
    build_u64(&b, what);
    build_u64(&b, id);
    if (text)
        build_bytes(&b, text, strlen(text) + 1);
    else
        build_u64(&b, bits);
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
    BUILDER b = {0};
    build_zeros(&b, 8);
    build_u64(&b, 300);
    build_bytes(&b, "sched:a\0\0", 8);
    learn(s, PERFILE_RECORD_HEADER_EVENT_TYPE, 0, &b);
    assert_string_equal(name_of(s, 2), "sched:a");
    b.b.len = 8;
    build_u64(&b, 0);
    build_bytes(&b, "CYC", 4);
    learn(s, PERFILE_RECORD_HEADER_EVENT_TYPE, 0, &b);
    assert_string_equal(name_of(s, 0), "cpu-clock"); /* the attr says more than the list */
    assert_string_equal(name_of(s, 1), "CYC");
    add_attr(s, &trace, NULL);
    SETTLE(s);
    assert_string_equal(name_of(s, 3), "sched:a");
    assert_int_equal(pf_session_n_event_types(s), 2);
    assert_int_equal(pf_session_event_type(s, 0)->event_id, 300);
    assert_int_equal(pf_session_event_type(s, 0)->name.len, 7);
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
    BUILDER b = {0};
    build_bytes(&b, meta, sizeof meta);
    add_feature(s, PERFILE_FEATURE_META_INFO, &b);
    SETTLE(s);
    assert_string_equal(name_of(s, 0), "myraw:u");
    assert_string_equal(name_of(s, 1), "cpu-clock");
    assert_string_equal(perfile_session_fact(s, PERFILE_FACT_TOOL), "simpleperf 1.build.9");

    /* EVENT_ID: event 1 gets ids, those of event 0 stay its own. */
    perfile_words before = perfile_session_event(s, 1)->ids;
    for (uint64_t id = 100; id < 130; id++) {
        BUILDER e = {0};
        build_zeros(&e, 8);
        build_u64(&e, 3);
        build_u64(&e, 1), build_u64(&e, id);
        build_u64(&e, 1), build_u64(&e, 1);
        build_u64(&e, 7), build_u64(&e, 9999);
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
        BUILDER b = {.swap = true};
        build_zeros(&b, 8);
        build_u64(&b, 1);
        build_u64(&b, 55), build_u64(&b, 0), build_u64(&b, 0), build_u64(&b, 0);
        learn(s, PERFILE_RECORD_ID_INDEX, 0, &b);
        const perfile_event *e = perfile_session_event_by_id(s, 55);
        assert_ptr_equal(e, n_idless == 1 ? perfile_session_event(s, 0) : NULL);
        if (e)
            assert_int_equal(perfile_word(&e->ids, 0), 55);
        pf_session_free(s);
    }
}

static void tracepoint_names(void **state)
{
    (void)state;
    for (int big = 0; big < 2; big++) {
        BUILDER b = {0};
        build_tracing(&b, big);
        for (size_t cut = b.b.len;; cut--) {
            perfile_session *s = session_of(false);
            attr a = {.type = 2, .size = 64, .config = 317};
            add_attr(s, &a, NULL);
            uint8_t *exact = malloc(cut ? cut : 1);
            memcpy(exact, b.b.ptr, cut);
            perfile_feature f = {.number = 1, .payload = {exact, cut}};
            assert_int_equal(pf_session_add_feature(s, &f, true, NULL), PERFILE_OK);
            SETTLE(s);
            assert_string_equal(name_of(s, 0),
                                cut == b.b.len ? "sched:sched_wakeup" : "tracepoint:317");
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
    BUILDER b = {0};
    build_string(&b, "host");
    add_feature(s, PERFILE_FEATURE_HOSTNAME, &b);
    b.b.len = 0;
    build_string(&b, "later");
    add_feature(s, PERFILE_FEATURE_HOSTNAME, &b); /* the first counts */
    b.b.len = 0;
    build_string(&b, "6.1.176");
    add_feature(s, PERFILE_FEATURE_VERSION, &b);
    b.b.len = 0;
    build_u32(&b, 8), build_u32(&b, 4);
    add_feature(s, PERFILE_FEATURE_NRCPUS, &b);
    b.b.len = 0;
    build_u32(&b, 4);
    build_string(&b, "/usr/bin/perf"), build_string(&b, "record"), build_string(&b, "it's a"),
        build_string(&b, "");
    add_feature(s, PERFILE_FEATURE_CMDLINE, &b);
    b.b.len = 0;
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
    BUILDER b = {.swap = true};
    build_zeros(&b, 8);
    build_u64(&b, PERFILE_FEATURE_OSRELEASE);
    build_string(&b, "6.1");
    learn(s, PERFILE_RECORD_HEADER_FEATURE, 0, &b);
    assert_string_equal(perfile_session_fact(s, PERFILE_FACT_OSRELEASE), "6.1");
    const perfile_feature *f = perfile_session_feature(s, PERFILE_FEATURE_OSRELEASE);
    assert_int_equal(f->origin, PERFILE_ORIGIN_STREAM);
    assert_int_equal(f->offset, 1000);
    assert_int_equal(f->size, 12);

    static const uint64_t none[] = {32, 35, PERFILE_FEATURE_CLOCKID, UINT64_C(1) << 32 | 3,
                                    UINT64_MAX};
    for (size_t i = 0; i < 5; i++) {
        b.b.len = 8;
        build_u64(&b, none[i]); /* end markers, and numbers that must not be cut to 32 bits */
        learn(s, PERFILE_RECORD_HEADER_FEATURE, 0, &b);
        assert_int_equal(perfile_session_n_features(s), 1);
    }
    b.b.len = 8;
    build_u64(&b, PERFILE_FEATURE_BRANCH_STACK); /* empty and below 32: a feature */
    learn(s, PERFILE_RECORD_HEADER_FEATURE, 0, &b);
    assert_int_equal(perfile_session_n_features(s), 2);
    b.b.len = 12; /* cut */
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
        BUILDER b = {.swap = swap};
        build_zeros(&b, 8);
        put_attr(&b, &a, 96);
        build_u64(&b, 70), build_u64(&b, 71);
        build_zeros(&b, 4); /* half a word */
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
        for (b.b.len = 8; b.b.len < 8 + 96; b.b.len++) /* too short to be one */
            learn(s, PERFILE_RECORD_HEADER_ATTR, 0, &b);
        assert_int_equal(perfile_session_n_events(s), 2);
        pf_session_free(s);
    }
}

static void build_ids(void **state)
{
    (void)state;
    perfile_session *s = session_of(false);
    BUILDER b = {0};
    build_zeros(&b, 8);
    build_u32(&b, UINT32_MAX);
    for (uint8_t i = 1; i <= 20; i++)
        build_bytes(&b, &i, 1);
    build_bytes(&b, "\20\0\0\0", 4); /* 16 bytes */
    build_bytes(&b, "/bin/true", 10);
    learn(s, PERFILE_RECORD_HEADER_BUILD_ID, PERFILE_MISC_BUILD_ID_SIZE | 2, &b);
    assert_int_equal(perfile_session_n_build_ids(s), 1);
    const perfile_build_id *id = perfile_session_build_id(s, 0);
    assert_int_equal(id->id.len, 16);
    assert_int_equal(id->id.ptr[15], 16);
    assert_int_equal(id->filename.len, 9);
    assert_int_equal(id->pid, -1);
    assert_int_equal(id->misc & PERFILE_MISC_CPUMODE_MASK, 2);
    assert_int_equal(id->origin, PERFILE_ORIGIN_STREAM);

    BUILDER section = {0};
    build_u32(&section, 0);
    build_u16(&section, 2);
    build_u16(&section, 48);
    build_bytes(&section, b.b.ptr + 8, b.b.len - 8);
    build_zeros(&section, 2);
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
        BUILDER b = {0};
        build_u32(&b, 1), build_u32(&b, round == 2 ? 4 : 1);
        build_u64(&b, round == 3 ? 0 : 5000), build_u64(&b, round == 3 ? 0 : 1000);
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
    BUILDER b = {0};
    build_zeros(&b, 8);
    build_u64(&b, 31), build_u64(&b, 7), build_u64(&b, 9), build_u64(&b, 0), build_u64(&b, 0);
    build_bytes(&b, "\0\0\0\0\0\0\0", 8);
    learn(s, PERFILE_RECORD_TIME_CONV, 0, &b);
    perfile_clock clock;
    perfile_session_clock(s, &clock);
    assert_false(clock.has_conversion); /* says itself that it is not valid */
    b.b.len = 8 + 24;
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
        BUILDER b = {0};
        build_u32(&b, 4);
        build_string(&b, "{anon_group}"), build_u32(&b, 1), build_u32(&b, 3);
        build_string(&b, "overlaps"), build_u32(&b, 2), build_u32(&b, 2);
        build_string(&b, "{anon_group}"), build_u32(&b, 5), build_u32(&b, 100);
        build_string(&b, "wraps"), build_u32(&b, UINT32_MAX), build_u32(&b, 5);
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
        BUILDER b = {0};
        build_zeros(&b, 8);
        put_attr(&b, &a, 64);
        build_u64(&b, (uint64_t)i << 32); /* ids that differ in a few bits only */
        assert_int_equal(learn(s, PERFILE_RECORD_HEADER_ATTR, 0, &b), PERFILE_OK);
        b.b.len = 8;
        build_u64(&b, i & 1);
        build_bytes(&b, "name", 5);
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
    perfile_open_options options = {.size = sizeof options, .limits = &limits};
    perfile_session *s;
    perfile_error err;
    assert_int_equal(pf_session_open(false, &options, &s, &err), PERFILE_OK);
    BUILDER b = {0};
    build_zeros(&b, 8 + 4 + 24);
    build_bytes(&b, "some file", 10);
    perfile_status st = PERFILE_OK;
    int n = 0;
    for (; st == PERFILE_OK && n < 100000; n++) {
        perfile_record r = {.type = PERFILE_RECORD_HEADER_BUILD_ID,
                            .header = b.b.ptr,
                            .body = {b.b.ptr + 8, b.b.len - 8},
                            .session = s};
        st = pf_session_collect(s, &r, &err);
    }
    assert_int_equal(st, PERFILE_E_LIMIT);
    assert_string_equal(err.where, "session_bytes");
    assert_in_range(n, 500, 2000);
    pf_session_free(s);
}

enum { N_BLOCKS = 5 };

/* A session with all of it: features, attrs by record, ids with places, processors of an event. */
static perfile_status learn_all(const builder *blocks, builder *at, const builder *index,
                                const builder *update)
{
    static const uint32_t numbers[N_BLOCKS] = {1, 129, 12, 17, 16};
    perfile_session *s;
    perfile_status st = pf_session_open(false, NULL, &s, NULL);
    if (st != PERFILE_OK)
        return st;
    for (size_t i = 0; st == PERFILE_OK && i < N_BLOCKS; i++) {
        perfile_feature f = {.number = numbers[i], .payload = built(&blocks[i])};
        st = pf_session_add_feature(s, &f, false, NULL);
    }
    for (uint64_t id = 1; st == PERFILE_OK && id < 40; id++) {
        memcpy(at->b.ptr + 72, &id, 8);
        st = learn(s, PERFILE_RECORD_HEADER_ATTR, 0, at);
        if (st == PERFILE_OK)
            st = pf_session_add_event_type(s, id, (perfile_bytes){at->b.ptr, 10}, false, NULL);
    }
    if (st == PERFILE_OK)
        st = learn(s, PERFILE_RECORD_ID_INDEX, 0, index);
    if (st == PERFILE_OK)
        st = learn(s, PERFILE_RECORD_EVENT_UPDATE, 0, update);
    pf_session_free(s);
    return st;
}

/* Everything once, with the n-th allocation failing. */
static void every_allocation_may_fail(void **state)
{
    (void)state;
    attr a = {.type = 2, .size = 64, .config = 317};
    builder blocks[N_BLOCKS] = {0};
    BUILDER at = {0}, index = {0}, update = {0};
    build_zeros(&at, 8);
    put_attr(&at, &a, 64);
    build_u64(&at, 0);
    build_tracing(&blocks[0], false);
    build_bytes(&blocks[1], "event_type_info\0x,4,17\n", 24);
    build_u32(&blocks[2], 1), build_u32(&blocks[2], 64), put_desc(&blocks[2], &a, "one", 3);
    build_u32(&blocks[3], 1), build_string(&blocks[3], "g");
    build_u32(&blocks[3], 0), build_u32(&blocks[3], 2);
    build_u32(&blocks[4], 1), build_u32(&blocks[4], 8), build_string(&blocks[4], "msr");
    build_zeros(&index, 8);
    build_u64(&index, 40);
    for (uint64_t id = 0; id < 40; id++)
        build_u64(&index, id), build_zeros(&index, 24);
    build_zeros(&update, 8);
    build_u64(&update, 3), build_u64(&update, 5), build_u64(&update, 1 << 16);

    pf_alloc_count = 0;
    assert_int_equal(learn_all(blocks, &at, &index, &update), PERFILE_OK);
    uint64_t n = pf_alloc_count;
    assert_true(n > 10);
    for (uint64_t i = 1; i <= n; i++) {
        pf_alloc_count = 0;
        pf_alloc_fail_at = i;
        perfile_status st = learn_all(blocks, &at, &index, &update);
        pf_alloc_fail_at = 0;
        assert_int_equal(st, PERFILE_E_NOMEM);
    }
    for (size_t i = 0; i < N_BLOCKS; i++)
        build_clear(&blocks[i]);
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

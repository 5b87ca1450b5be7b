/* Profiles: what samples add up to.  Captures are built here, exported as folded stacks, and
 * compared with the lines that they must give; then the tables themselves, and their limits. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "base/alloc.h"
#include "base/crc32.h"
#include "core/layout.h"
#include "exporting.h"
#include "model/ask.h"
#include "perfile/perfile.h"
#include "profile/profile.h"

static const perfile_export_options by_address = {.size = sizeof by_address,
                                                  .flags = PERFILE_EXPORT_UNKNOWN_ADDRESS};

/* The first of two captures is what the other is compared with. */
static void captures_are_compared(void **state)
{
    (void)state;
    char text[1024];
    builder b[2] = {{.swap = false}, {.swap = false}};
    for (size_t i = 0; i < 2; i++) {
        begin(&b[i], CHAIN_TYPE, 0, FREQ);
        put_comm(&b[i], 5, "work", false, 0);
        put_mmap(&b[i], 5, 0x400000, 0x1000, 0, "/bin/work", 0);
        put_sample(&b[i], USER, 5, 100, 0x400010, CHAIN(PF_CONTEXT_USER, 0x400010));
        put_sample(&b[i], USER, 5, 101, 0x400010, CHAIN(PF_CONTEXT_USER, 0x400020 + i));
    }
    put_sample(&b[1], USER, 5, 102, 0x400010, CHAIN(PF_CONTEXT_USER, 0x400010));
    perfile_export_summary sum;
    perfile_export_options how = {.size = sizeof how,
                                  .flags = PERFILE_EXPORT_COMPARE | PERFILE_EXPORT_UNKNOWN_ADDRESS};
    assert_int_equal(export_to("folded", b, 2, &how, NULL, text, sizeof text, &sum), PERFILE_OK);
    assert_string_equal(text, "work;[work+0x10] 1 2\n"
                              "work;[work+0x20] 1 0\n"
                              "work;[work+0x21] 0 1\n");
    assert_int_equal(sum.before_samples, 2);
    assert_int_equal(sum.samples, 3);
    assert_int_equal(sum.period, 30);
    how.flags |= PERFILE_EXPORT_PERIODS;
    assert_int_equal(export_to("folded", b, 2, &how, NULL, text, sizeof text, &sum), PERFILE_OK);
    assert_string_equal(text, "work;[work+0x10] 10 20\n"
                              "work;[work+0x20] 10 0\n"
                              "work;[work+0x21] 0 10\n");
    assert_int_equal(export_to("speedscope", b, 2, &how, NULL, text, sizeof text, NULL),
                     PERFILE_E_USAGE);
    build_clear(&b[0]);
    build_clear(&b[1]);
}

/* One capture as folded lines, which must be `wanted`; frames without a name by their address
 * unless the options say otherwise. */
static void assert_folded(const builder *b, const perfile_export_options *options,
                          const char *wanted)
{
    char text[8192];
    perfile_export_summary sum;
    perfile_export_options how = options ? *options : (perfile_export_options){.size = sizeof how};
    if (!(how.flags & PERFILE_EXPORT_UNKNOWN_MODULE))
        how.flags |= PERFILE_EXPORT_UNKNOWN_ADDRESS;
    assert_int_equal(export_to("folded", b, 1, &how, NULL, text, sizeof text, &sum), PERFILE_OK);
    assert_string_equal(text, wanted);
}

/* A sample with a call chain and a branch stack. */
static void put_branches(builder *b, const uint64_t *chain, size_t n, const uint64_t *branches,
                         size_t n_branches)
{
    size_t start = build_begin(b, PERFILE_RECORD_SAMPLE, USER);
    build_u64(b, 0x400010);
    build_u32(b, 5);
    build_u32(b, 5);
    build_u64(b, n);
    for (size_t i = 0; i < n; i++)
        build_u64(b, chain[i]);
    build_u64(b, n_branches / 2);
    for (size_t i = 0; i < n_branches; i++) {
        build_u64(b, branches[i]);
        if (i % 2)
            build_u64(b, 0);
    }
    build_end(b, start);
}

/* Calls that the processor kept: where the last one went, then where each was made. */
static void branch_stacks_are_call_chains_on_request(void **state)
{
    (void)state;
    for (unsigned swap = 0; swap < 2; swap++) {
        BUILDER b = {.swap = swap};
        build_u64(&b, 0x32454c4946524550);
        build_u64(&b, 16);
        size_t start = build_begin(&b, PERFILE_RECORD_HEADER_ATTR, 0);
        build_attr(&b, &(build_attr_plan){.type = 1,
                                          .size = 96,
                                          .period = 1,
                                          .sample_type = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID |
                                                         PERFILE_SAMPLE_CALLCHAIN |
                                                         PERFILE_SAMPLE_BRANCH_STACK,
                                          .branch = PERFILE_BRANCH_CALL_STACK});
        build_u64(&b, 7);
        build_end(&b, start);
        start = build_begin(&b, PERFILE_RECORD_MMAP, USER);
        build_u32(&b, 5);
        build_u32(&b, 5);
        build_u64(&b, 0x400000);
        build_u64(&b, 0x1000);
        build_u64(&b, 0);
        build_text(&b, "/bin/work");
        build_end(&b, start);
        /* Its own chain, which is short without frame pointers, and the calls. */
        put_branches(&b, CHAIN(PF_CONTEXT_USER, 0x400014),
                     CHAIN(0x400120, 0x400000, 0x400230, 0x400100));
        /* No branches: its own chain. */
        put_branches(&b, CHAIN(PF_CONTEXT_USER, 0x400014, 0x400024), NULL, 0);
        put_branches(&b, CHAIN(PF_CONTEXT_USER, 0x400300), CHAIN(0x400120, 0x400000));
        perfile_export_options how = {.size = sizeof how, .flags = PERFILE_EXPORT_NO_LABELS};
        assert_folded(&b, &how,
                      "[work+0x14] 1\n"
                      "[work+0x24];[work+0x14] 1\n"
                      "[work+0x300] 1\n");
        how.flags |= PERFILE_EXPORT_BRANCH_CHAINS;
        assert_folded(&b, &how,
                      "[work+0x120];[work+0x0] 1\n"
                      "[work+0x230];[work+0x120];[work+0x0] 1\n"
                      "[work+0x24];[work+0x14] 1\n");
    }
}

static void contexts_tell_user_from_kernel(void **state)
{
    (void)state;
    BUILDER b = {0};
    begin(&b, CHAIN_TYPE, 0, FREQ);
    put_mmap(&b, PERFILE_NO_PID, KERNEL_TEXT, 0x1000000, KERNEL_TEXT, "[kernel.kallsyms]_text", 0);
    put_comm(&b, 5, "work", false, 0);
    put_mmap(&b, 5, 0x400000, 0x1000, 0x2000, "/bin/work", 0);
    put_mmap(&b, 5, 0x500000, 0x1000, 0, "//anon", 0);
    put_sample(&b, KERNEL, 5, 100, KERNEL_TEXT + 1,
               CHAIN(PF_CONTEXT_KERNEL, KERNEL_TEXT + 1, PF_CONTEXT_USER, 0x400010, 0x500020));
    /* Without a marker in front, addresses are of user code, as perf has it. */
    put_sample(&b, USER, 5, 101, 0x400010, CHAIN(0x400010, 0x400020));
    /* A guest's addresses are of nothing that is known. */
    put_sample(&b, USER, 5, 102, 0x400010, CHAIN(PF_CONTEXT_GUEST_KERNEL, 0x400010));
    /* Nobody knows this marker: the chain says nothing, and the address counts. */
    put_sample(&b, USER, 5, 103, 0x400030, CHAIN(PF_CONTEXT_USER, 0x400010, (uint64_t)-3000));
    put_sample(&b, USER, 5, 104, 0x400040, NULL, 0);
    const perfile_export_options marks = {
        .size = sizeof marks, .flags = PERFILE_EXPORT_MARK_KERNEL | PERFILE_EXPORT_MARK_JIT};
    assert_folded(&b, &marks,
                  "work;[perf-5.map+0x500020]_[j];[work+0x2010];"
                  "[[kernel.kallsyms]+0xffffffff81000001]_[k] 1\n"
                  "work;[unknown+0x400010] 1\n"
                  "work;[work+0x2020];[work+0x2010] 1\n"
                  "work;[work+0x2030] 1\n"
                  "work;[work+0x2040] 1\n");
}

/* Frames without a name are one for each object; the 0 at the end of a part of a chain is none. */
static void frames_without_names_are_joined(void **state)
{
    (void)state;
    BUILDER b = {0};
    begin(&b, CHAIN_TYPE, 0, FREQ);
    put_mmap(&b, PERFILE_NO_PID, KERNEL_TEXT, 0x1000000, KERNEL_TEXT, "[kernel.kallsyms]_text", 0);
    put_comm(&b, 5, "work", false, 0);
    put_mmap(&b, 5, 0x400000, 0x1000, 0, "/bin/work", 0);
    put_sample(
        &b, KERNEL, 5, 100, KERNEL_TEXT + 1,
        CHAIN(PF_CONTEXT_KERNEL, KERNEL_TEXT + 1, 0, PF_CONTEXT_USER, 0x400010, 0x900000, 0));
    put_sample(&b, KERNEL, 5, 101, KERNEL_TEXT + 2,
               CHAIN(PF_CONTEXT_KERNEL, KERNEL_TEXT + 2, PF_CONTEXT_USER, 0x400020, 0x900008));
    put_sample(&b, USER, 5, 102, 0, CHAIN(PF_CONTEXT_USER, 0, 0x400020));
    const perfile_export_options joined = {.size = sizeof joined,
                                           .flags = PERFILE_EXPORT_UNKNOWN_MODULE};
    assert_folded(&b, &joined,
                  "work;[unknown];[work];[kernel.kallsyms] 2\n"
                  "work;[work];[unknown] 1\n");
    assert_folded(&b, NULL,
                  "work;[unknown+0x900000];[work+0x10];[[kernel.kallsyms]+0xffffffff81000001] 1\n"
                  "work;[unknown+0x900008];[work+0x20];[[kernel.kallsyms]+0xffffffff81000002] 1\n"
                  "work;[work+0x20];[unknown+0x0] 1\n");
    const perfile_export_options both = {.size = sizeof both,
                                         .flags = PERFILE_EXPORT_UNKNOWN_MODULE |
                                                  PERFILE_EXPORT_UNKNOWN_ADDRESS};
    char text[64];
    assert_int_equal(export_to("folded", &b, 1, &both, NULL, text, sizeof text, NULL),
                     PERFILE_E_USAGE);
    build_clear(&b);
}

static void mappings_count_at_the_time_of_the_sample(void **state)
{
    (void)state;
    BUILDER b = {0};
    begin(&b, CHAIN_TYPE, 0, FREQ);
    put_comm(&b, 5, "sh", false, 0);
    put_mmap(&b, 5, 0x400000, 0x1000, 0, "/bin/sh", 0);
    /* The same chain again and again, in no order of time, while what is mapped changes. */
    const uint64_t times[] = {500, 100, 350, 250, 150, 450, 250, 120};
    for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
        put_sample(&b, USER, 6, times[i], 0x400010, CHAIN(PF_CONTEXT_USER, 0x400010));
    put_mmap(&b, 6, 0x400000, 0x800, 0, "/lib/over.so", 400);
    put_mmap(&b, 6, 0x400000, 0x1000, 0, "/bin/ls", 300);
    put_comm(&b, 6, "ls", true, 200);
    put_fork(&b, 6, 5, 110);
    assert_folded(&b, NULL,
                  ":6;[unknown+0x400010] 1\n"
                  "ls;[ls+0x10] 1\n"
                  "ls;[over.so+0x10] 2\n"
                  "ls;[sh+0x10] 2\n" /* between the exec and what it maps */
                  "sh;[sh+0x10] 2\n");
}

/* A sample of which the user part comes later. */
static void put_deferred(builder *b, uint32_t pid, uint64_t cookie, const uint64_t *ips, size_t n)
{
    size_t start = build_begin(b, PERFILE_RECORD_CALLCHAIN_DEFERRED, 0);
    build_u64(b, cookie);
    build_u64(b, n);
    for (size_t i = 0; i < n; i++)
        build_u64(b, ips[i]);
    end(b, start, pid, pid, 900);
}

static void deferred_chains_are_joined(void **state)
{
    (void)state;
    for (unsigned swap = 0; swap < 2; swap++) {
        BUILDER b = {.swap = swap};
        begin(&b, CHAIN_TYPE, 0, FREQ);
        put_comm(&b, 5, "work", false, 0);
        put_mmap(&b, 5, 0x400000, 0x1000, 0, "/bin/work", 0);
        put_sample(&b, KERNEL, 5, 100, 9,
                   CHAIN(PF_CONTEXT_KERNEL, 0x77, PF_CONTEXT_DEFERRED, 1234));
        put_sample(&b, USER, 5, 101, 0x400010, CHAIN(PF_CONTEXT_USER, 0x400010));
        put_sample(&b, KERNEL, 5, 102, 9, CHAIN(PF_CONTEXT_KERNEL, 0x78, PF_CONTEXT_DEFERRED, 999));
        put_deferred(&b, 5, 1234, CHAIN(0x400030, 0x400040));
        char text[1024];
        perfile_export_summary sum;
        assert_int_equal(export_to("folded", &b, 1, &by_address, NULL, text, sizeof text, &sum),
                         PERFILE_OK);
        assert_string_equal(text, "work;[unknown+0x78] 1\n"
                                  "work;[work+0x10] 1\n"
                                  "work;[work+0x40];[work+0x30];[unknown+0x77] 1\n");
        assert_int_equal(sum.joined, 1);
        assert_int_equal(sum.not_joined, 1);
        assert_int_equal(sum.samples, 3);
    }
}

static void names_cannot_break_a_line(void **state)
{
    (void)state;
    BUILDER b = {0};
    begin(&b, CHAIN_TYPE, 0, FREQ);
    put_comm(&b, 5, "a;b\n\"<\xff\x1b 1", false, 0);
    put_mmap(&b, 5, 0x400000, 0x1000, 0, "/tmp/\xc3\xa4;\n 7", 0);
    put_sample(&b, USER, 5, 100, 0x400010, CHAIN(PF_CONTEXT_USER, 0x400010));
    assert_folded(&b, NULL, "a:b?\"<?? 1;[\xc3\xa4:? 7+0x10] 1\n");
    char text[32768];
    assert_int_equal(export_to("flamegraph", &b, 1, NULL, NULL, text, sizeof text, NULL),
                     PERFILE_OK);
    assert_non_null(strstr(text, "\"all\",\"a:b?\\\"\\u003c?? 1\""));
}

static void long_names_are_cut(void **state)
{
    (void)state;
    BUILDER b = {0};
    enum { LONG = 60000, KEPT = 256 };
    char *name = malloc(LONG + 1), *wanted = malloc(2 * KEPT + 32);
    assert_true(name && wanted);
    memset(name, 'n', LONG);
    name[LONG] = '\0';
    begin(&b, CHAIN_TYPE, 0, FREQ);
    put_comm(&b, 5, name, false, 0);
    put_mmap(&b, 5, 0x400000, 0x1000, 0, name, 0);
    put_sample(&b, USER, 5, 100, 0x400010, CHAIN(PF_CONTEXT_USER, 0x400010));
    /* The ends, and in the middle the checksum of the first 4096 bytes. */
    char cut[KEPT + 1];
    snprintf(cut, sizeof cut, "%.*s\xe2\x80\xa6%08x\xe2\x80\xa6%.*s", (KEPT - 14) / 2, name,
             (unsigned)pf_crc32(0, (perfile_bytes){(const uint8_t *)name, 4096}), (KEPT - 14) / 2,
             name);
    snprintf(wanted, 2 * KEPT + 32, "%s;[%s+0x10] 1\n", cut, cut);
    assert_folded(&b, NULL, wanted);
    free(name);
    free(wanted);
}

static void weights_are_numbers_or_periods(void **state)
{
    (void)state;
    /* Periods of the samples; the fixed one of the event; none. */
    const struct {
        uint64_t type, flags;
        const char *lines;
    } cases[] = {
        {PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME, 0,
         "work;[unknown+0x9] 8000\n"},
        {PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME, FREQ, ""},
    };
    const perfile_export_options periods = {.size = sizeof periods,
                                            .flags = PERFILE_EXPORT_PERIODS};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        BUILDER b = {0};
        begin(&b, cases[i].type, 4000, cases[i].flags);
        put_comm(&b, 5, "work", false, 0);
        for (unsigned k = 0; k < 2; k++) {
            size_t start = build_begin(&b, PERFILE_RECORD_SAMPLE, USER);
            build_u64(&b, 9);
            end(&b, start, 5, 5, 100);
        }
        assert_folded(&b, &periods, cases[i].lines);
        assert_folded(&b, NULL, "work;[unknown+0x9] 2\n");
    }
    BUILDER b = {0};
    begin(&b, CHAIN_TYPE, 0, FREQ);
    put_sample(&b, USER, 5, 100, 9, NULL, 0);
    put_sample(&b, USER, 5, 100, 9, NULL, 0);
    assert_folded(&b, &periods, ":5;[unknown+0x9] 20\n");
}

static void a_sample_says_its_period(void **state)
{
    (void)state;
    const uint64_t bare = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME;
    const struct {
        uint64_t type, flags;
        bool known;
        uint64_t period;
    } cases[] = {{CHAIN_TYPE, FREQ, true, 10}, {bare, 0, true, 4000}, {bare, FREQ, false, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        BUILDER b = {0};
        perfile_stream *s;
        const perfile_model *model;
        const perfile_record *r;
        uint64_t period = 0;
        begin(&b, cases[i].type, 4000, cases[i].flags);
        put_sample(&b, USER, 5, 100, 9, NULL, 0);
        assert_int_equal(open_capture(built(&b), NULL, &s, &model), PERFILE_OK);
        assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
        assert_false(perfile_sample_period(r, &period)); /* the attr */
        assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
        assert_int_equal(perfile_sample_period(r, &period), cases[i].known);
        assert_int_equal(period, cases[i].period);
        perfile_stream_close(s);
    }
}

static void keys_stand_in_front(void **state)
{
    (void)state;
    BUILDER b = {0};
    begin(&b, CHAIN_TYPE, 0, FREQ);
    put_comm(&b, 5, "work", false, 0);
    put_sample(&b, USER, 5, 100, 9, NULL, 0);
    const perfile_export_options keys = {
        .size = sizeof keys,
        .per = {PERFILE_PER_CPU, PERFILE_PER_TID, PERFILE_PER_PID, PERFILE_PER_COMM}};
    assert_folded(&b, &keys, "cpu -1;tid 5;pid 5;work;[unknown+0x9] 1\n");
    const perfile_export_options none = {.size = sizeof none, .flags = PERFILE_EXPORT_NO_LABELS};
    assert_folded(&b, &none, "[unknown+0x9] 1\n");
    const perfile_export_options wrong = {.size = sizeof wrong, .per = {PERFILE_PER_CPU + 1}};
    char text[64];
    assert_int_equal(export_to("folded", &b, 1, &wrong, NULL, text, sizeof text, NULL),
                     PERFILE_E_USAGE);
}

static void captures_add_up(void **state)
{
    (void)state;
    builder b[2] = {{.swap = false}, {.swap = true}};
    char text[256];
    perfile_export_summary sum;
    for (unsigned i = 0; i < 2; i++) {
        begin(&b[i], CHAIN_TYPE, 0, FREQ);
        put_comm(&b[i], 5, "work", false, 0);
        put_mmap(&b[i], 5, i ? 0x400000 : 0x900000, 0x1000, 0, "/bin/work", 0);
        uint64_t ip = (i ? 0x400000 : 0x900000) + 0x10;
        put_sample(&b[i], USER, 5, 100, ip, CHAIN(PF_CONTEXT_USER, ip));
    }
    assert_int_equal(export_to("folded", b, 2, &by_address, NULL, text, sizeof text, &sum),
                     PERFILE_OK);
    assert_string_equal(text, "work;[work+0x10] 2\n");
    assert_int_equal(sum.stacks, 1);
    build_clear(&b[0]);
    build_clear(&b[1]);
}

static void forms_are_listed_apart(void **state)
{
    (void)state;
    assert_string_equal(perfile_export_format(0), "folded");
    perfile_format format;
    assert_true(perfile_format_at(true, 0, &format, sizeof format));
    assert_non_null(format.doc);
    assert_false(format.binary);
    for (size_t i = 0; perfile_export_format(i); i++)
        for (size_t k = 0; perfile_emit_format(k); k++)
            assert_string_not_equal(perfile_export_format(i), perfile_emit_format(k));
    /* A form of `dump` shows one capture. */
    BUILDER b = {0};
    begin(&b, CHAIN_TYPE, 0, FREQ);
    char text[4096];
    assert_int_equal(export_to("jsonl", &b, 1, NULL, NULL, text, sizeof text, NULL),
                     PERFILE_E_USAGE);
}

/* Many different chains of one sample each. */
static void build_many(builder *b, size_t n)
{
    begin(b, CHAIN_TYPE, 0, FREQ);
    for (size_t i = 0; i < n; i++)
        put_sample(b, USER, 5, 100, 9,
                   CHAIN(PF_CONTEXT_USER, 0x1000000 + i * 16, 0x2000, 0x3000 + i));
}

static void a_limit_is_kept(void **state)
{
    (void)state;
    enum { N = 4000, TEXT = 1 << 20 };
    BUILDER b = {0};
    build_many(&b, N);
    char *text = malloc(TEXT);
    assert_non_null(text);
    perfile_export_summary sum;
    assert_int_equal(export_to("folded", &b, 1, NULL, NULL, text, TEXT, &sum), PERFILE_OK);
    assert_int_equal(sum.stacks, 3); /* a stack has one frame for all that is not known */
    assert_int_equal(sum.unmapped, 3);
    assert_int_equal(sum.frames, 1);
    const perfile_export_options apart = {.size = sizeof apart,
                                          .flags = PERFILE_EXPORT_UNKNOWN_ADDRESS};
    assert_int_equal(export_to("folded", &b, 1, &apart, NULL, text, TEXT, &sum), PERFILE_OK);
    assert_int_equal(sum.frames, 2 * N + 1);
    unsigned kept = 0;
    for (uint64_t bytes = 1000; bytes < UINT64_C(1) << 24; bytes *= 2) {
        const perfile_limits limits = {.size = sizeof limits, .profile_bytes = bytes};
        sum = (perfile_export_summary){0};
        perfile_status st = export_to("folded", &b, 1, &apart, &limits, text, TEXT, &sum);
        assert_true(st == PERFILE_OK || st == PERFILE_E_LIMIT);
        assert_true(sum.bytes <= bytes);
        kept += st == PERFILE_OK;
    }
    assert_in_range(kept, 1, 10);
    free(text);
}

static void no_memory_is_survived(void **state)
{
    (void)state;
    static char text[1 << 17];
    BUILDER b = {0};
    build_many(&b, 60);
    put_comm(&b, 5, "work", false, 0);
    put_mmap(&b, 5, 0x2000, 0x1000, 0, "/bin/work", 0);
    const char *const forms[] = {"folded", "flamegraph", "speedscope", "firefox", "chrome"};
    for (size_t f = 0; f < sizeof forms / sizeof forms[0]; f++) {
        perfile_status st = PERFILE_E_NOMEM;
        uint64_t n = 0;
        for (; st != PERFILE_OK && n < 10000; n++) {
            pf_alloc_fail_at = pf_alloc_count + n + 1;
            st = export_to(forms[f], &b, 1, NULL, NULL, text, sizeof text, NULL);
            assert_true(st == PERFILE_OK || st == PERFILE_E_NOMEM);
        }
        pf_alloc_fail_at = 0;
        assert_in_range(n, 20, 9999);
    }
}

/* The reach of answers, against the answers themselves at all times and addresses around. */
static void answers_hold_where_they_say(void **state)
{
    (void)state;
    enum { TIMES = 60, ADDRESSES = 40 };
    uint64_t random = 12345;
    for (unsigned round = 0; round < 60; round++) {
        BUILDER b = {0};
        begin(&b, CHAIN_TYPE, 0, FREQ);
        for (unsigned i = 0; i < 70; i++) {
            random = random * 6364136223846793005 + 1442695040888963407;
            const uint64_t time = random >> 33 & 0xffff;
            const uint32_t pid = 5 + (uint32_t)(random >> 20) % 3;
            char name[8];
            snprintf(name, sizeof name, "%u", i);
            if (i % 9 == 8)
                put_comm(&b, pid, name, random >> 40 & 1, time % TIMES);
            else if (i % 9 == 7)
                put_fork(&b, pid, pid == 5 ? 6 : 5, time % TIMES);
            else
                put_mmap(&b, pid, (random >> 50) % ADDRESSES, 1 + (random >> 56) % 12, 0, name,
                         time % TIMES);
        }
        perfile_stream *s;
        const perfile_model *m;
        assert_int_equal(open_capture(built(&b), NULL, &s, &m), PERFILE_OK);
        for (uint64_t time = 0; time < TIMES; time += 7)
            for (uint64_t addr = 0; addr < ADDRESSES + 12; addr++) {
                pf_reach in, of;
                const perfile_mapping *x = pf_model_mapping(m, 6, addr, time, &in);
                const char *comm = pf_model_comm(m, 6, 6, time, &of);
                assert_ptr_equal(x, perfile_model_mapping(m, 6, addr, time));
                assert_true(in.first <= time && time <= in.last && in.low <= addr &&
                            addr <= in.high);
                for (uint64_t t = in.first; t <= in.last && t < TIMES; t++)
                    for (uint64_t a = in.low; a <= in.high && a < ADDRESSES + 12; a++)
                        assert_ptr_equal(x, perfile_model_mapping(m, 6, a, t));
                for (uint64_t t = of.first; t <= of.last && t < TIMES; t++)
                    assert_ptr_equal(comm, perfile_model_comm(m, 6, 6, t));
            }
        perfile_stream_close(s);
    }
}

static void items_are_kept_once(void **state)
{
    (void)state;
    static pf_profile p;
    assert_true(pf_profile_init(&p, UINT64_MAX));
    uint32_t frames[1000];
    for (unsigned round = 0; round < 2; round++)
        for (uint64_t i = 0; i < 1000; i++) {
            uint32_t frame = pf_profile_frame(&p, PF_NO_OBJECT, PF_CODE_USER, i);
            assert_int_equal(frame, i);
            uint32_t stack = pf_profile_stack(&p, i ? frames[i - 1] : PF_EMPTY_STACK, frame);
            assert_true(round == 0 || stack == frames[i]);
            frames[i] = stack;
        }
    assert_int_equal(p.stacks.n, 1001);
    assert_int_equal(pf_profile_stack_at(&p, frames[999])->parent, frames[998]);
    pf_profile_free(&p);
    assert_int_equal(p.budget.used, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(contexts_tell_user_from_kernel),
        cmocka_unit_test(frames_without_names_are_joined),
        cmocka_unit_test(mappings_count_at_the_time_of_the_sample),
        cmocka_unit_test(captures_are_compared),
        cmocka_unit_test(branch_stacks_are_call_chains_on_request),
        cmocka_unit_test(deferred_chains_are_joined),
        cmocka_unit_test(names_cannot_break_a_line),
        cmocka_unit_test(long_names_are_cut),
        cmocka_unit_test(weights_are_numbers_or_periods),
        cmocka_unit_test(a_sample_says_its_period),
        cmocka_unit_test(keys_stand_in_front),
        cmocka_unit_test(captures_add_up),
        cmocka_unit_test(forms_are_listed_apart),
        cmocka_unit_test(a_limit_is_kept),
        cmocka_unit_test(no_memory_is_survived),
        cmocka_unit_test(answers_hold_where_they_say),
        cmocka_unit_test(items_are_kept_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

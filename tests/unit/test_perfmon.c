/* Perfmon buffers: the rules of validate, ids of events and their layouts, the conversion of ticks,
 * names of files. */
#include "testing.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/session.h"
#include "perfile/perfile.h"
#include "perfmon/events.h"
#include "io/command.h"

/* Version 0, x86-64, no flags, 10^9 ticks per second, the end at %s. */
#define HEADER(end) "0000 0100 00000000 00ca9a3b00000000 " end "00000000000000 "
/* TIME of 16 ticks; PC of FIXED 1 at 0x400000; COUNT 5 of FIXED 1. */
#define TIME  "01000000 1000000000000000 "
#define PC    "05000108 0010000000000000 0000400000000000 "
#define COUNT "03000108 0500000000000000 "

typedef struct found {
    uint64_t rules[PERFILE_RULE_LIMIT];
    uint64_t n;
} found;

static void on_finding(void *user, const perfile_finding *f)
{
    found *x = user;
    x->rules[f->rule]++;
    x->n++;
}

/* All findings about the buffer. */
static found check(perfile_bytes buffer)
{
    found x = {{0}, 0};
    const perfile_open_options how = {.size = sizeof how, .from = "perfmon"};
    const perfile_check_options checking = {
        .size = sizeof checking, .finding = on_finding, .user = &x};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    assert_int_equal(perfile_source_memory(buffer, "buffer", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &how, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_check(s, &checking, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        continue;
    perfile_stream_close(s);
    return x;
}

static const struct {
    unsigned rule; /* the only one that is broken; 0: none */
    const char *buffer;
} cases[] = {
    {0, HEADER("18")},
    {0, HEADER("44") TIME PC COUNT},
    {PERFILE_RULE_V_801, "0100 0100 00000000 00ca9a3b00000000 1800000000000000"},
    {PERFILE_RULE_V_801, "0000 0300 00000000 00ca9a3b00000000 1800000000000000"},
    {PERFILE_RULE_V_801, "0000 0100 02000000 00ca9a3b00000000 1800000000000000"},
    {PERFILE_RULE_V_802, "0000 0100 00000000 0000000000000000 1800000000000000"},
    {PERFILE_RULE_V_803, "0000 0100 00000000 00ca9a3b00000000 1700000000000000"},
    {PERFILE_RULE_V_804, HEADER("24") TIME "00"},
    {PERFILE_RULE_V_805, HEADER("28") TIME "07000000"},
    {PERFILE_RULE_V_806, HEADER("2c") TIME "06000108 21000000"},
    {PERFILE_RULE_V_807, HEADER("24") COUNT},
    {PERFILE_RULE_V_808, HEADER("30") TIME "01000000 0f00000000000000"},
    {PERFILE_RULE_V_809, HEADER("30") TIME "03010108 0500000000000000"},
    {PERFILE_RULE_V_809, HEADER("4c") TIME "06000108 01000000 0000000000000000 0000000000000000 "
                                           "0000000000000000 0000020000000000"},
    {PERFILE_RULE_V_810, HEADER("28") TIME "02000000"},
    {PERFILE_RULE_V_811, "0000 0100 01000000 00ca9a3b00000000 1800000000000000"},
    {PERFILE_RULE_V_812, HEADER("28") TIME "02000128"},
    {PERFILE_RULE_V_812, HEADER("28") TIME "0200ff03"},
};

static void each_rule_has_a_case(void **state)
{
    (void)state;
    bool tried[PERFILE_RULE_LIMIT] = {false};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const perfile_bytes buffer = hex(cases[i].buffer);
        const found x = check(buffer);
        if (x.n != (cases[i].rule != 0) || (cases[i].rule && x.rules[cases[i].rule] != 1))
            fail_msg("case %zu: %llu findings", i, (unsigned long long)x.n);
        tried[cases[i].rule] = true;
        free((void *)(uintptr_t)buffer.ptr);
    }
    for (unsigned rule = PERFILE_RULE_V_801; rule <= PERFILE_RULE_V_812; rule++)
        assert_true(tried[rule]);
}

static void names_of_events(void **state)
{
    (void)state;
    static const struct {
        uint16_t arch;
        unsigned layout;
        uint16_t id;
        const char *name;
        int64_t config; /* -1: perf has no name for it */
    } rows[] = {
        {1, PF_PERFMON_LAYOUT_A, 0x0801, "fixed:instructions_retired", 1},
        {1, PF_PERFMON_LAYOUT_B, 0x0801, "arch:instructions_retired", 1},
        {1, PF_PERFMON_LAYOUT_B, 0x1003, "fixed:unhalted_reference_cycles", 9},
        {1, PF_PERFMON_LAYOUT_A, 0x0404, "arch:llc_misses", 3},
        {1, PF_PERFMON_LAYOUT_A, 0x0405, "arch:branch_instructions", 4},
        {2, PF_PERFMON_LAYOUT_A, 0x0801, "fixed:cycle_counter", 0},
        {2, PF_PERFMON_LAYOUT_A, 0x0412, "arch:cpu_cycles", 0},
        {2, PF_PERFMON_LAYOUT_A, 0x0402, "arch:0x2", -1},
        {0, PF_PERFMON_LAYOUT_A, 0x0801, "fixed:0x1", -1},
        {1, PF_PERFMON_LAYOUT_A, 0x0c07, "model:0x7", -1},
        {1, PF_PERFMON_LAYOUT_B, 0x2007, "misc:0x7", -1},
        {1, PF_PERFMON_LAYOUT_A, 0x2007, "perfmon:0x2007", -1},
        {1, PF_PERFMON_LAYOUT_A, 0, "perfmon:none", -1},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        char name[PF_PERFMON_NAME];
        uint64_t config = 77;
        pf_perfmon_event_name(name, rows[i].arch, rows[i].layout, rows[i].id);
        assert_string_equal(name, rows[i].name);
        assert_int_equal(
            pf_perfmon_event_of_perf(rows[i].arch, rows[i].layout, rows[i].id, &config),
            rows[i].config >= 0);
        assert_int_equal(config, rows[i].config >= 0 ? rows[i].config : 77);
    }
}

static void evidence_for_a_layout(void **state)
{
    (void)state;
    const unsigned a = 1 << PF_PERFMON_LAYOUT_A, b = 1 << PF_PERFMON_LAYOUT_B;
    assert_int_equal(pf_perfmon_evidence(PF_PERFMON_COUNT, 0x03ff), 0);
    assert_int_equal(pf_perfmon_evidence(PF_PERFMON_COUNT, 0x0400), a);
    assert_int_equal(pf_perfmon_evidence(PF_PERFMON_COUNT, 0x07ff), a);
    assert_int_equal(pf_perfmon_evidence(PF_PERFMON_PC, 0x0800), 0);
    assert_int_equal(pf_perfmon_evidence(PF_PERFMON_VALUE, 0x1000), 0);
    assert_int_equal(pf_perfmon_evidence(PF_PERFMON_LAST_BRANCH, 0x1000), 0);
    assert_int_equal(pf_perfmon_evidence(PF_PERFMON_PC, 0x1000), b);
    assert_int_equal(pf_perfmon_evidence(PF_PERFMON_TICK, 0x13ff), b);
    assert_int_equal(pf_perfmon_evidence(PF_PERFMON_TIME, 0x13ff), b);
    assert_int_equal(pf_perfmon_evidence(PF_PERFMON_COUNT, 0x1400), b);
}

static void ticks_to_ns(void **state)
{
    (void)state;
    uint32_t shift;
    uint64_t mult;
    assert_false(pf_perfmon_conversion(0, &shift, &mult));
    assert_false(pf_perfmon_conversion(-1, &shift, &mult));
    assert_true(pf_perfmon_conversion(2592000000, &shift, &mult));
    assert_int_equal(shift, 32);
    assert_int_equal(mult, 1657008987);
    assert_int_equal(pf_ticks_to_ns(INT64_C(812345678901), shift, mult), UINT64_C(313404968588));
    assert_true(pf_perfmon_conversion(1000000000, &shift, &mult));
    assert_int_equal(shift, 32 - 1); /* 2^32 does not fit 32 bits */
    assert_int_equal(mult, UINT64_C(1) << 31);
    assert_int_equal(pf_ticks_to_ns(123456789, shift, mult), 123456789);
    assert_true(pf_perfmon_conversion(1, &shift, &mult));
    assert_int_equal(shift, 2);
    assert_int_equal(pf_ticks_to_ns(3, shift, mult), UINT64_C(3000000000));
    assert_int_equal(pf_ticks_to_ns(INT64_MAX, shift, mult), PERFILE_NO_TIME - 1);
    assert_int_equal(pf_ticks_to_ns(0, shift, mult), 1);
    assert_int_equal(pf_ticks_to_ns(INT64_MIN, shift, mult), 1);
    assert_true(pf_perfmon_conversion(INT64_MAX, &shift, &mult));
    assert_int_equal(pf_ticks_to_ns(1, shift, mult), 1);
}

/* A buffer whose header lies about its end: the stream that is opened for a conversion, and then
 * refused, is closed once. */
static void a_refused_conversion(void **state)
{
    (void)state;
    static const uint32_t policies[] = {PERFILE_ON_DAMAGE_FAIL, PERFILE_ON_DAMAGE_STOP,
                                        PERFILE_ON_DAMAGE_RESYNC, PERFILE_ON_DAMAGE_SALVAGE};
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        const perfile_bytes buffer = hex(HEADER("02") TIME PC);
        const perfile_convert_options how = {
            .size = sizeof how, .format = "perf.data", .from = "perfmon", .on_damage = policies[i]};
        perfile_source *source;
        perfile_sink *sink;
        perfile_error err = {0};
        assert_int_equal(perfile_source_memory(buffer, "buffer", &source, NULL), PERFILE_OK);
        assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
        const perfile_status st =
            closed_unless_ok(source, perfile_convert_capture(source, sink, &how, NULL, 0, &err));
        assert_true(i > 0 || st == PERFILE_E_CORRUPT);
        assert_true(st == PERFILE_OK || err.message[0]);
        perfile_sink_close(sink);
        free((void *)(uintptr_t)buffer.ptr);
    }
}

/* After damage reading goes on at a chain of records that begins with a TIME, if that is asked for:
 * neither at a record without a time, nor at bytes that look like one TIME. */
static void reading_on_after_damage(void **state)
{
    (void)state;
    enum { PAIRS = 20, BAD_AT = 24 + 12 + 20, BAD = 4 + 12 + 4 + 20 };
    static const struct {
        uint32_t policy;
        size_t records;
    } ways[] = {{PERFILE_ON_DAMAGE_STOP, 2}, {PERFILE_ON_DAMAGE_RESYNC, 2 + 2 * PAIRS}};
    char digits[4096] = HEADER("80") TIME PC "07000000 " TIME "07000000 " PC;
    for (unsigned i = 0; i < PAIRS; i++)
        strcat(digits, TIME PC);
    const perfile_bytes buffer = hex(digits);
    ((uint8_t *)(uintptr_t)buffer.ptr)[16] = (uint8_t)buffer.len;
    ((uint8_t *)(uintptr_t)buffer.ptr)[17] = (uint8_t)(buffer.len >> 8);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const perfile_open_options how = {
            .size = sizeof how, .from = "perfmon", .on_damage = ways[i].policy};
        perfile_source *source;
        perfile_stream *s;
        const perfile_record *r;
        size_t n = 0;
        assert_int_equal(perfile_source_memory(buffer, "buffer", &source, NULL), PERFILE_OK);
        assert_int_equal(perfile_open(source, &how, &s, NULL), PERFILE_OK);
        for (; perfile_stream_next(s, &r, NULL) == PERFILE_OK; n++)
            if (n == 2)
                assert_int_equal(r->offset, BAD_AT + BAD);
        assert_int_equal(n, ways[i].records);
        perfile_stream_summary sum;
        perfile_stream_get_summary(s, &sum, sizeof sum);
        assert_int_equal(sum.damages, 1);
        perfile_stream_close(s);
    }
    free((void *)(uintptr_t)buffer.ptr);
}

static void names_of_files(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "",           ".cpuperf",       "0.cpuperf",    "0.1.cpuperf",    "a.0.cpuperf",
        "a.0.1.perf", "a.0.x1.cpuperf", "a..1.cpuperf", "a.0.1.cpuperf2", "a.0.-1.cpuperf"};
    pf_perfmon_name n;
    assert_true(pf_perfmon_name_of("cpuperf.3.12.cpuperf", &n));
    assert_int_equal(n.prefix, 7);
    assert_int_equal(n.iteration, 3);
    assert_int_equal(n.trace, 12);
    assert_true(pf_perfmon_name_of("a.b.00.1.cpuperf", &n));
    assert_int_equal(n.prefix, 3);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (pf_perfmon_name_of(wrong[i], &n) || pf_is_record_file(wrong[i]))
            fail_msg("'%s' is no name of a buffer", wrong[i]);
}

/* Names that files with records have in a directory, of any format. */
static void files_of_directories(void **state)
{
    (void)state;
    static const char *const right[] = {"data", "data.0", "data.17", "cpuperf.3.12.cpuperf",
                                        "a.b.00.1.cpuperf"};
    static const char *const wrong[] = {"",        "dat",        "datas",  "data.", "data.x",
                                        "data.0x", "data.0.old", "xdata",  "x.0",   ".0",
                                        "0",       "kcore_dir",  "../data"};
    for (size_t i = 0; i < sizeof right / sizeof right[0]; i++)
        if (!pf_is_record_file(right[i]))
            fail_msg("'%s' is a name of a file with records", right[i]);
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (pf_is_record_file(wrong[i]))
            fail_msg("'%s' is no name of a file with records", wrong[i]);
    assert_false(pf_is_record_file("../a.0.1.cpuperf"));
}

typedef struct told {
    char text[1024]; /* all notes, one behind the other */
} told;

static void on_note(void *user, const perfile_note *note)
{
    told *t = user;
    const size_t n = strlen(t->text);
    snprintf(t->text + n, sizeof t->text - n, "%s\n", note->message);
}

/* Converts a buffer to perf.data; *out, if wanted, is the capture, to be released by free(). */
static perfile_status converted(const char *digits, const perfile_perfmon_options *perfmon,
                                const perfile_limits *limits, told *notes, perfile_bytes *out,
                                perfile_error *err)
{
    const perfile_bytes buffer = hex(digits);
    const perfile_convert_options how = {.size = sizeof how,
                                         .format = "perf.data",
                                         .from = "perfmon",
                                         .limits = limits,
                                         .perfmon = perfmon,
                                         .note = on_note,
                                         .user = notes};
    perfile_source *source;
    perfile_sink *sink;
    *notes = (told){{0}};
    *err = (perfile_error){0};
    assert_int_equal(perfile_source_memory(buffer, "buffer", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    const perfile_status st =
        closed_unless_ok(source, perfile_convert_capture(source, sink, &how, NULL, 0, err));
    if (st == PERFILE_OK && out) {
        void *bytes;
        assert_int_equal(sink_copy(sink, &bytes, &out->len), PERFILE_OK);
        out->ptr = bytes;
    }
    perfile_sink_close(sink);
    free((void *)(uintptr_t)buffer.ptr);
    return st;
}

/* A rate is the period of the samples of its event; bytes after the last record are counted. */
static void rates(void **state)
{
    (void)state;
    const perfile_perfmon_rate rate = {.event = 0x801, .rate = 7};
    const perfile_perfmon_options with = {.size = sizeof with, .rates = &rate, .n_rates = 1};
    for (unsigned given = 0; given < 2; given++) {
        perfile_bytes out;
        told notes;
        perfile_error err;
        perfile_source *source;
        perfile_stream *s;
        const perfile_record *r;
        unsigned n = 0;
        assert_int_equal(converted(HEADER("38") TIME PC "01020304 05", given ? &with : NULL, NULL,
                                   &notes, &out, &err),
                         PERFILE_OK);
        assert_non_null(strstr(notes.text, "5 bytes after the last record left out"));
        assert_int_equal(perfile_source_memory(out, "out", &source, NULL), PERFILE_OK);
        assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
        while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
            if (r->type == PERFILE_RECORD_SAMPLE) {
                perfile_sample sample;
                assert_int_equal(perfile_decode(r, r->type, &sample, sizeof sample, NULL),
                                 PERFILE_OK);
                assert_int_equal(sample.period, given ? 7 : 1);
                assert_int_equal(perfile_record_event(r)->attr->sample_period, given ? 7 : 0);
                n++;
            }
        assert_int_equal(n, 1);
        perfile_stream_close(s);
        free((void *)(uintptr_t)out.ptr);
    }
}

/* What perf.data cannot say is refused, not changed. */
static void refused_conversions(void **state)
{
    (void)state;
#define MOST_COUNT "03000108 ffffffffffffffff "
#define BRANCHES   "06000108 00000000 0000000000000000 "
    static const uint32_t last = UINT16_MAX - 1, beyond = UINT16_MAX;
    static const perfile_perfmon_options stat = {.size = sizeof stat,
                                                 .flags = PERFILE_PERFMON_STAT};
    static const perfile_perfmon_options on_last = {
        .size = sizeof on_last, .cpus = &last, .n_cpus = 1};
    static const perfile_perfmon_options on_beyond = {
        .size = sizeof on_beyond, .cpus = &beyond, .n_cpus = 1};
    static const perfile_limits narrow = {.size = sizeof narrow, .held_bytes = 32};
    static const struct {
        const char *buffer;
        const perfile_perfmon_options *perfmon;
        const perfile_limits *limits;
        perfile_status st;
        const char *where, *says;
    } refusals[] = {
        {HEADER("30") TIME MOST_COUNT, &stat, NULL, PERFILE_OK, NULL, NULL},
        {HEADER("3c") TIME MOST_COUNT COUNT, &stat, NULL, PERFILE_E_UNSUPPORTED, "perfmon.count",
         "the counts of event 0x801 add up to more than 64 bits"},
        {HEADER("38") TIME PC, &on_last, NULL, PERFILE_OK, NULL, NULL},
        {HEADER("38") TIME PC, &on_beyond, NULL, PERFILE_E_UNSUPPORTED, "perfmon.cpus",
         "CPU 65535: records of perf have numbers below 65535"},
        /* Samples of an interrupt are held until it ends, if there are branches. */
        {HEADER("74") TIME PC PC PC PC, NULL, &narrow, PERFILE_OK, NULL, NULL},
        {HEADER("84") TIME PC PC PC PC BRANCHES, NULL, NULL, PERFILE_OK, NULL, NULL},
        {HEADER("84") TIME PC PC PC PC BRANCHES, NULL, &narrow, PERFILE_E_LIMIT, "held_bytes",
         "an interrupt has more than 32 bytes of samples"},
    };
    for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
        perfile_error err;
        told notes;
        const perfile_status st = converted(refusals[i].buffer, refusals[i].perfmon,
                                            refusals[i].limits, &notes, NULL, &err);
        if (st != refusals[i].st || (st && (strcmp(err.where, refusals[i].where) != 0 ||
                                            !strstr(err.message, refusals[i].says))))
            fail_msg("case %zu: %d %s: %s", i, st, err.where, err.message);
    }
}

/* The writer of buffers takes records of buffers only, and those whose header it was given. */
static void what_the_writer_takes(void **state)
{
    (void)state;
    const perfile_writer_options how = {.size = sizeof how, .format = "perfmon"};
    const perfile_bytes buffer = hex(HEADER("38") TIME PC);
    const perfile_open_options from = {.size = sizeof from, .from = "perfmon"};
    perfile_source *source;
    perfile_stream *s;
    perfile_sink *sink;
    perfile_writer *w;
    const perfile_record *r;
    perfile_error err;
    assert_int_equal(perfile_source_memory(buffer, "buffer", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &from, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, &how, &w, &err), PERFILE_OK);
    assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_put(w, r, &err), PERFILE_E_USAGE);
    assert_string_equal(err.where, "writer.put");
    assert_non_null(strstr(err.message, "a record of part 0, of 0"));
    perfile_record other = *r;
    other.family = PERFILE_FAMILY_PERF;
    other.type = PERFILE_RECORD_LOST;
    assert_int_equal(perfile_writer_put(w, &other, &err), PERFILE_E_USAGE);
    assert_non_null(strstr(err.message, "not perfmon"));
    perfile_writer_close(w);
    perfile_sink_close(sink);
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, &how, &w, &err), PERFILE_OK);
    assert_int_equal(perfile_writer_finish(w, &err), PERFILE_E_USAGE);
    assert_non_null(strstr(err.message, "is written from perfmon buffers only"));
    perfile_writer_close(w);
    perfile_sink_close(sink);
    perfile_stream_close(s);
    free((void *)(uintptr_t)buffer.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_has_a_case),    cmocka_unit_test(names_of_events),
        cmocka_unit_test(evidence_for_a_layout),   cmocka_unit_test(ticks_to_ns),
        cmocka_unit_test(names_of_files),          cmocka_unit_test(files_of_directories),
        cmocka_unit_test(a_refused_conversion),    cmocka_unit_test(rates),
        cmocka_unit_test(reading_on_after_damage), cmocka_unit_test(refused_conversions),
        cmocka_unit_test(what_the_writer_takes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

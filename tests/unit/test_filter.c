/* perfile_filter(): what terms mean, by the numbers of records that are kept; failures. */
#include "../testing.h"

#include <stdio.h>

#include "../captures.h"
#include "base/alloc.h"
#include "perfile/perfile.h"
#include "filter/filter.h"

enum { N = 48 }; /* samples of a capture: times 5000, 5010 …, processors 0 and 1, process 100 */

static const perfile_filter_term none[1];

static perfile_status filter_bytes(perfile_bytes in, const perfile_filter_options *how,
                                   perfile_sink *sink, perfile_filter_summary *sum,
                                   perfile_error *err)
{
    perfile_source *source;
    perfile_filter_capture_options writing = {.size = sizeof writing};
    perfile_status st = perfile_source_memory(in, "capture", &source, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_filter_capture(source, sink, how, &writing, sum, sizeof *sum, NULL, 0, err);
    return closed_unless_ok(source, st);
}

static perfile_filter_summary filtered(unsigned form, bool swap, const perfile_filter_options *how)
{
    builder b;
    perfile_sink *sink;
    perfile_filter_summary sum = {0};
    perfile_error err;
    capture_make(&b, form, swap, N);
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    perfile_status st = filter_bytes((perfile_bytes){b.b.ptr, b.b.len}, how, sink, &sum, &err);
    if (st != PERFILE_OK)
        print_error("%s\n", err.message);
    assert_int_equal(st, PERFILE_OK);
    perfile_sink_close(sink);
    build_clear(&b);
    return sum;
}

/* How many samples one term keeps. */
static uint64_t kept(uint32_t kind, const char *text, uint32_t flags)
{
    static const unsigned forms[] = {CAPTURE_FILE, CAPTURE_PIPE, CAPTURE_FILE_ZSTD,
                                     CAPTURE_PIPE_ZSTD};
    const perfile_filter_term term = {.kind = kind, .text = text};
    const perfile_filter_options how = {
        .size = sizeof how, .flags = flags, .n_terms = 1, .terms = &term};
    uint64_t samples = filtered(CAPTURE_FILE, false, &how).kept_samples;
    for (size_t i = 0; i < 2 * sizeof forms / sizeof forms[0]; i++) {
        perfile_filter_summary sum = filtered(forms[i / 2], i % 2, &how);
        assert_int_equal(sum.kept_samples, samples);
        assert_int_equal(sum.samples, N);
    }
    return samples;
}

static void terms_keep_what_they_say(void **state)
{
    (void)state;
    assert_int_equal(kept(PERFILE_FILTER_BY_TIME, "5000ns..5090ns", 0), 10);
    assert_int_equal(kept(PERFILE_FILTER_BY_TIME, "5000ns..5090ns", PERFILE_FILTER_INVERT), N - 10);
    assert_int_equal(kept(PERFILE_FILTER_BY_TIME, "5.001us..5.09us", 0), 9);
    assert_int_equal(kept(PERFILE_FILTER_BY_TIME, "0.000005400..", 0), N - 40);
    assert_int_equal(kept(PERFILE_FILTER_BY_TIME, "..5us", 0), 1);
    assert_int_equal(kept(PERFILE_FILTER_BY_TIME, "+10ns..+20ns", 0), 2);
    assert_int_equal(kept(PERFILE_FILTER_BY_TIME, "0%..100%", 0), N);
    assert_int_equal(kept(PERFILE_FILTER_BY_TIME, "..50%", 0), N / 2);
    assert_int_equal(kept(PERFILE_FILTER_BY_TIME, "+1s..", 0), 0);
    assert_int_equal(kept(PERFILE_FILTER_BY_PID, "100", 0), N);
    assert_int_equal(kept(PERFILE_FILTER_BY_PID, "1-99,101..", 0), 0);
    assert_int_equal(kept(PERFILE_FILTER_BY_TID, "..101", 0), N);
    assert_int_equal(kept(PERFILE_FILTER_BY_CPU, "0", 0), N / 2);
    assert_int_equal(kept(PERFILE_FILTER_BY_CPU, "1-3,7", PERFILE_FILTER_NO_SIDEBAND), N / 2);
    assert_int_equal(kept(PERFILE_FILTER_BY_EVENT, "1", 0), N / 2);
    assert_int_equal(kept(PERFILE_FILTER_BY_IP, "0x401000..0x401003", 0), 4);
    assert_int_equal(kept(PERFILE_FILTER_BY_IP, "0x401007", 0), 1);
    assert_int_equal(kept(PERFILE_FILTER_BY_TYPE, "sample", 0), N);
    assert_int_equal(kept(PERFILE_FILTER_BY_TYPE, "COMM,8", 0), 0);
    assert_int_equal(kept(PERFILE_FILTER_BY_WHERE, "cpu == 1 && time < 5100", 0), 5);
}

static void few_are_counted_after_the_rest(void **state)
{
    (void)state;
    const perfile_filter_term term = {.kind = PERFILE_FILTER_BY_CPU, .text = "1"};
    perfile_filter_options how = {
        .size = sizeof how, .n_terms = 1, .terms = &term, .every = 5, .head = 3};
    assert_int_equal(filtered(CAPTURE_FILE, false, &how).kept_samples, 3);
    how.head = 0;
    assert_int_equal(filtered(CAPTURE_FILE, false, &how).kept_samples, (N / 2 + 4) / 5);
    how.every = UINT64_MAX;
    assert_int_equal(filtered(CAPTURE_PIPE, true, &how).kept_samples, 1);
    how = (perfile_filter_options){.size = sizeof how, .terms = none};
    perfile_filter_summary all = filtered(CAPTURE_RECORDS, false, &how);
    assert_int_equal(all.kept, all.records);
}

/* On a stage whose runs are not as the records lie in the file. */
static void sorted_records_are_tested_where_they_lie(void **state)
{
    const perfile_filter_term term = {.kind = PERFILE_FILTER_BY_TIME, .text = "5003ns..5090ns"};
    const perfile_filter_options how = {.size = sizeof how, .n_terms = 1, .terms = &term};
    builder b;
    perfile_source *source;
    perfile_stream *s;
    perfile_filter_state *filter;
    const perfile_record *r;
    uint64_t expected = 5020;
    (void)state;
    b = (builder){.swap = false};
    capture_pipe_header(&b, 1);
    for (uint32_t i = N; i-- > 0;)
        capture_sample(&b, 2 * i); /* all of one size */
    assert_int_equal(
        perfile_source_memory((perfile_bytes){b.b.ptr, b.b.len}, "capture", &source, NULL),
        PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_sort(s, NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_filter_open(&how, &filter, NULL), PERFILE_OK);
    assert_int_equal(perfile_filter(s, filter, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        if (r->type == PERFILE_RECORD_SAMPLE) {
            assert_int_equal(perfile_record_time(r), expected);
            expected += 20;
        }
    assert_int_equal(expected, 5100);
    perfile_stream_close(s);
    perfile_filter_close(filter);
    build_clear(&b);
}

static perfile_bytes text_of(const char *s)
{
    return (perfile_bytes){(const uint8_t *)s, strlen(s)};
}

/* A capture of two processes: each with a file that is mapped, a build id of that, and samples. */
static perfile_sink *two_processes(bool swapped)
{
    perfile_sink *sink;
    perfile_writer *w;
    const perfile_attr attr = {
        .type = 1, .sample_type = PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME, .sample_period = 1};
    const perfile_new_event event = {.size = sizeof event, .attr = &attr, .name = "one"};
    const perfile_writer_options how = {.size = sizeof how,
                                        .byte_order = pf_byte_order_of(swapped)};
    const perfile_sample_time span = {.first_sample_time = 100, .last_sample_time = 201};
    BUILDER ids = {.swap = swapped};
    assert_int_equal(perfile_sink_memory("two", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, &how, &w, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_add_event(w, &event, NULL, NULL), PERFILE_OK);
    for (uint32_t pid = 1; pid <= 2; pid++) {
        const perfile_mmap map = {
            .pid = pid, .tid = pid, .len = 64, .filename = text_of(pid == 1 ? "/one" : "/two")};
        size_t start = build_begin(&ids, 0, 2);
        build_u32(&ids, UINT32_MAX);
        build_zeros(&ids, 24);
        build_text(&ids, pid == 1 ? "/one" : "/two");
        build_end(&ids, start);
        assert_int_equal(perfile_writer_put_mmap(w, &map, sizeof map, NULL, NULL), PERFILE_OK);
    }
    for (uint32_t i = 0; i < 4; i++) {
        const uint32_t pid = 1 + i / 2;
        const perfile_sample s = {.pid = pid, .tid = pid, .time = 100 * pid + i % 2};
        assert_int_equal(perfile_writer_put_sample(w, &s, sizeof s, NULL, NULL), PERFILE_OK);
    }
    assert_int_equal(perfile_writer_set_sample_time(w, &span, sizeof span, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_feature(w, PERFILE_FEATURE_BUILD_ID, built(&ids), NULL),
                     PERFILE_OK);
    assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
    perfile_writer_close(w);
    assert_int_equal(perfile_sink_finish(sink, NULL), PERFILE_OK);
    return sink;
}

static perfile_sample_time span_of(const perfile_session *s)
{
    perfile_sample_time span = {0};
    const perfile_feature *f = perfile_session_feature(s, PERFILE_FEATURE_SAMPLE_TIME);
    assert_non_null(f);
    assert_int_equal(perfile_sample_time_decode(f, &span, sizeof span, NULL), PERFILE_OK);
    return span;
}

static perfile_stream *reopened(perfile_sink *sink)
{
    perfile_source *source;
    perfile_stream *s;
    assert_int_equal(perfile_source_memory(perfile_sink_bytes(sink), "two", &source, NULL),
                     PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    return s;
}

/* What a filter says of what it keeps is said in a session of its own, that its records are of:
 * that of the stream below stays as it is. */
static void facts_below_stay(void **state)
{
    const perfile_filter_term term = {.kind = PERFILE_FILTER_BY_PID, .text = "2"};
    const perfile_filter_options how = {.size = sizeof how, .n_terms = 1, .terms = &term};
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        const bool learn = i & 1;
        perfile_sink *sink = two_processes(i & 2);
        perfile_stream *pass = reopened(sink), *below = reopened(sink), *s;
        const perfile_session *stored = perfile_stream_session(below);
        const uint64_t generation = perfile_session_generation(stored);
        const perfile_record *r;
        perfile_filter_state *filter;
        uint64_t samples = 0;
        assert_int_equal(perfile_filter_open(&how, &filter, NULL), PERFILE_OK);
        if (learn)
            assert_int_equal(perfile_filter_learn(filter, pass, NULL), PERFILE_OK);
        assert_int_equal(perfile_filter(below, filter, &s, NULL), PERFILE_OK);
        const perfile_session *mine = perfile_stream_session(s);
        assert_ptr_not_equal(mine, stored);
        assert_int_equal(span_of(mine).first_sample_time, learn ? 200 : 100);
        while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
            assert_ptr_equal(r->session, mine);
            samples += r->type == PERFILE_RECORD_SAMPLE;
        }
        assert_int_equal(samples, 2);
        assert_int_equal(span_of(mine).first_sample_time, 200);
        assert_int_equal(span_of(mine).last_sample_time, 201);
        assert_true(perfile_session_generation(mine) > generation);
        assert_int_equal(span_of(stored).first_sample_time, 100);
        assert_int_equal(perfile_session_generation(stored), generation);
        assert_int_equal(perfile_session_n_build_ids(stored), 2);
        /* Without a pass state is kept of all processes. */
        assert_int_equal(perfile_session_n_build_ids(mine), learn ? 1 : 2);
        if (learn)
            assert_memory_equal(perfile_session_build_id(mine, 0)->filename.ptr, "/two", 4);
        perfile_stream_close(s);
        perfile_stream_close(pass);
        perfile_filter_close(filter);
        perfile_sink_close(sink);
    }
}

/* A context switch that is selected counts for the process on its other side, also in the last
 * record. */
static void other_sides_of_switches_count(void **state)
{
    (void)state;
    const perfile_filter_term terms[] = {{.kind = PERFILE_FILTER_BY_CPU, .text = "0-9"}};
    const perfile_filter_options how = {.size = sizeof how, .n_terms = 1, .terms = terms};
    for (uint32_t switches = 1; switches < 3; switches++) {
        builder b = {.swap = false};
        perfile_filter_summary sum;
        perfile_sink *sink;
        capture_pipe_header(&b, 1);
        for (uint32_t i = 0; i < switches; i++) {
            const size_t start = build_begin(&b, PERFILE_RECORD_SWITCH_CPU_WIDE, 0);
            build_u32(&b, 300 + i);
            build_u32(&b, 300 + i);
            capture_trailer(&b, i);
            build_end(&b, start);
        }
        assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
        assert_int_equal(filter_bytes((perfile_bytes){b.b.ptr, b.b.len}, &how, sink, &sum, NULL),
                         PERFILE_OK);
        assert_int_equal(sum.selected, switches);
        assert_int_equal(sum.kept_processes, 1 + switches);
        perfile_sink_close(sink);
        build_clear(&b);
    }
}

/* All records come, of a stream and of what is sorted, and those that are not selected say so. */
static void records_are_marked(void **state)
{
    (void)state;
    const perfile_filter_term term = {.kind = PERFILE_FILTER_BY_CPU, .text = "0"};
    const perfile_filter_options how = {
        .size = sizeof how, .flags = PERFILE_FILTER_MARK, .n_terms = 1, .terms = &term};
    for (unsigned form = 0; form < 2; form++)
        for (unsigned sorted = 0; sorted < 2; sorted++) {
            const perfile_sort_options sorting = {.size = sizeof sorting};
            perfile_open_filtered_options reading = {.size = sizeof reading};
            const perfile_record *first;
            perfile_source *source;
            perfile_stream *s;
            builder b;
            size_t n, selected = 0, samples = 0, others = 0;
            capture_make(&b, form ? CAPTURE_PIPE : CAPTURE_FILE, false, N);
            assert_int_equal(perfile_source_memory(built(&b), "capture", &source, NULL),
                             PERFILE_OK);
            assert_int_equal(perfile_open_filtered(source, &how, &reading, &s, NULL, NULL),
                             PERFILE_OK);
            if (sorted)
                assert_int_equal(perfile_sort(s, &sorting, &s, NULL), PERFILE_OK);
            while (perfile_stream_next_run(s, &first, &n, NULL) == PERFILE_OK)
                for (size_t i = 0; i < n; i++) {
                    const bool sample = first[i].type == PERFILE_RECORD_SAMPLE;
                    const bool marked = first[i].flags & PERFILE_REC_UNSELECTED;
                    uint32_t cpu = UINT32_MAX;
                    samples += sample;
                    selected += sample && !marked;
                    others += !sample;
                    assert_true(!sample || perfile_record_cpu(&first[i], &cpu));
                    assert_true(!sample || marked == (cpu != 0));
                }
            assert_int_equal(samples, N);
            assert_int_equal(selected, N / 2);
            assert_true(others > 0);
            perfile_stream_close(s);
            build_clear(&b);
        }
}

static void wrong_terms_are_refused(void **state)
{
    static const struct {
        uint32_t kind;
        const char *text;
    } wrong[] = {
        {PERFILE_FILTER_BY_TIME, ""},
        {PERFILE_FILTER_BY_TIME, ".."},
        {PERFILE_FILTER_BY_TIME, "1"},
        {PERFILE_FILTER_BY_TIME, "1..2..3"},
        {PERFILE_FILTER_BY_TIME, "1x..2"},
        {PERFILE_FILTER_BY_TIME, "101%.."},
        {PERFILE_FILTER_BY_TIME, "-1..2"},
        {PERFILE_FILTER_BY_TIME, "99999999999999999999.."},
        {PERFILE_FILTER_BY_TIME, "+..+1"},
        {PERFILE_FILTER_BY_TIME, "2026-02-30.."},
        {PERFILE_FILTER_BY_TIME, "2026-1-1T.."},
        {PERFILE_FILTER_BY_TIME, "1969-01-01.."},
        {PERFILE_FILTER_BY_PID, ""},
        {PERFILE_FILTER_BY_PID, "1,"},
        {PERFILE_FILTER_BY_PID, ",1"},
        {PERFILE_FILTER_BY_PID, "1 "},
        {PERFILE_FILTER_BY_PID, "4294967296"},
        {PERFILE_FILTER_BY_PID, "2..1"},
        {PERFILE_FILTER_BY_PID, "-2"},
        {PERFILE_FILTER_BY_PID, ".."},
        {PERFILE_FILTER_BY_CPU, "0x"},
        {PERFILE_FILTER_BY_IP, "1-2"},
        {PERFILE_FILTER_BY_IP, "0x10000000000000000"},
        {PERFILE_FILTER_BY_TYPE, "SAMPLES"},
        {PERFILE_FILTER_BY_TYPE, ""},
        {PERFILE_FILTER_BY_WHERE, "a b"},
        {PERFILE_FILTER_N_BY, "1"},
        {PERFILE_FILTER_BY_PID, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        const perfile_filter_term term = {.kind = wrong[i].kind, .text = wrong[i].text};
        const perfile_filter_options how = {.size = sizeof how, .n_terms = 1, .terms = &term};
        perfile_filter_state *filter;
        perfile_error err = {0};
        perfile_status st = perfile_filter_open(&how, &filter, &err);
        if (st != PERFILE_E_USAGE)
            print_error("'%s'\n", wrong[i].text ? wrong[i].text : "NULL");
        assert_int_equal(st, PERFILE_E_USAGE);
        assert_true(err.message[0] != '\0');
    }
}

static void days_of_the_wall_clock(void **state)
{
    static const struct {
        const char *text;
        uint64_t seconds;
    } days[] = {{"1970-01-01..", 0},
                {"2000-02-29..", 951782400},
                {"2000-03-01..", 951868800},
                {"2026-05-01T10:00..", 1777629600},
                {"2100-03-01 00:00:01Z..", 4107542401}};
    (void)state;
    for (size_t i = 0; i < sizeof days / sizeof days[0]; i++) {
        pf_period p;
        const char *text = days[i].text;
        assert_int_equal(pf_filter_period(&text, text, &p, NULL), PERFILE_OK);
        assert_string_equal(text, "");
        assert_int_equal(p.from.kind, PF_WALL);
        assert_true(p.from.ns == days[i].seconds * UINT64_C(1000000000));
    }
}

static void odd_pids_and_many_ranges(void **state)
{
    (void)state;
    pf_pids pids = {0};
    bool is_new;
    for (uint32_t i = 0; i < 1000; i++) {
        assert_true(pf_pids_add(&pids, i * 7919U, &is_new) && is_new);
        assert_true(pf_pids_add(&pids, i * 7919U, &is_new) && !is_new);
        assert_true(pf_pids_add(&pids, UINT32_MAX - i, &is_new) && is_new);
    }
    assert_int_equal(pids.n, 2000);
    assert_true(pf_pids_have(&pids, 7919) && !pf_pids_have(&pids, 7918));
    assert_true(pf_pids_have(&pids, UINT32_MAX) && !pf_pids_have(&pids, UINT32_MAX - 1000));
    uint64_t at = 0, n = 0;
    uint32_t pid, before = 0;
    for (; pf_pids_next(&pids, &at, &pid); n++, before = pid) {
        assert_true(pf_pids_have(&pids, pid));
        assert_true(n == 0 || pid >= PF_PIDS_USUAL || pid > before); /* those in order */
    }
    assert_int_equal(n, 2000);
    pf_pids_free(&pids);
    pids = (pf_pids){0};
    at = 0;
    assert_false(pf_pids_next(&pids, &at, &pid));

    pf_ranges r = {0};
    for (uint64_t i = 100; i > 0; i--)
        assert_int_equal(pf_ranges_add(&r, 10 * i, 10 * i + (i % 10), NULL), PERFILE_OK);
    assert_int_equal(pf_ranges_add(&r, 15, 25, NULL), PERFILE_OK);
    pf_ranges_sort(&r);
    assert_true(pf_ranges_contain(&r, 15) && pf_ranges_contain(&r, 25) &&
                pf_ranges_contain(&r, 999));
    assert_true(!pf_ranges_contain(&r, 9) && !pf_ranges_contain(&r, 12) &&
                !pf_ranges_contain(&r, 1001));
    pf_ranges_free(&r);
}

/* Reads the capture through a filter to its end. */
static perfile_status read_bytes(perfile_bytes in, const perfile_filter_options *how,
                                 const perfile_open_options *options, perfile_error *limit,
                                 perfile_error *err)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_model *model;
    const perfile_record *r;
    perfile_open_filtered_options reading = {
        .size = sizeof reading, .how = options, .model = limit != NULL, .limit = limit};
    perfile_status st = perfile_source_memory(in, "capture", &source, err);
    if (st == PERFILE_OK)
        st =
            closed_unless_ok(source, perfile_open_filtered(source, how, &reading, &s, &model, err));
    if (st != PERFILE_OK)
        return st;
    while ((st = perfile_stream_next(s, &r, err)) == PERFILE_OK)
        continue;
    perfile_stream_close(s);
    return st == PERFILE_END ? PERFILE_OK : st;
}

/* Without names and mappings nobody knows what fits: whoever selects by them stops, whether a
 * capture is written (filter) or read with its state (list) or without (stats, dump); others go on,
 * and what they tell of names is what was known up to then. */
static void a_model_of_its_own_that_is_full_is_an_error(void **state)
{
    static const struct {
        perfile_filter_term term;
        bool asks;
    } terms[] = {
        {{.kind = PERFILE_FILTER_BY_COMM, .text = "*"}, true},
        {{.kind = PERFILE_FILTER_BY_DSO, .text = "*"}, true},
        {{.kind = PERFILE_FILTER_BY_WHERE, .text = "comm ~ '*'"}, true},
        {{.kind = PERFILE_FILTER_BY_WHERE, .text = "period >= 0"}, false},
        {{.kind = PERFILE_FILTER_BY_PID, .text = "0.."}, false},
    };
    static const unsigned forms[] = {CAPTURE_FILE, CAPTURE_PIPE};
    enum { N_TERMS = sizeof terms / sizeof terms[0], LEAST = 1, ENOUGH = 1 << 20 };
    unsigned refused = 0, cut = 0;
    (void)state;
    for (size_t i = 0; i < 2 * N_TERMS; i++) {
        for (uint64_t bytes = LEAST; bytes <= ENOUGH; bytes *= 2) {
            const bool asks = terms[i / 2].asks;
            const perfile_limits limits = {.size = sizeof limits, .model_bytes = bytes};
            const perfile_open_options options = {.size = sizeof options, .limits = &limits};
            const perfile_filter_capture_options writing = {.size = sizeof writing,
                                                            .limits = &limits};
            builder b;
            perfile_source *source;
            perfile_sink *sink;
            perfile_error err[4] = {0}, limit = {0};
            perfile_status st[4];
            perfile_filter_options how = {
                .size = sizeof how, .n_terms = 1, .terms = &terms[i / 2].term};
            capture_make(&b, forms[i % 2], false, N);
            assert_int_equal(perfile_source_memory(built(&b), "capture", &source, NULL),
                             PERFILE_OK);
            assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
            st[0] = perfile_filter_capture(source, sink, &how, &writing, NULL, 0, NULL, 0, &err[0]);
            closed_unless_ok(source, st[0]);
            perfile_sink_close(sink);
            st[1] = read_bytes(built(&b), &how, &options, NULL, &err[1]);
            how.flags = PERFILE_FILTER_ONLY;
            st[2] = read_bytes(built(&b), &how, &options, NULL, &err[2]);
            st[3] = read_bytes(built(&b), &how, &options, &limit, &err[3]);
            for (size_t k = 0; k < 4; k++) {
                if (k < 3)
                    assert_int_equal(st[k], st[0]);
                assert_true(st[k] == PERFILE_OK || st[k] == PERFILE_E_LIMIT);
                if (st[k] != PERFILE_OK)
                    assert_string_equal(err[k].where, "model_bytes");
            }
            assert_true(asks || st[0] == PERFILE_OK);
            assert_true(st[0] == PERFILE_OK || st[3] != PERFILE_OK);
            assert_true(!asks || bytes > LEAST || st[0] == PERFILE_E_LIMIT);
            assert_true(bytes < ENOUGH || (st[3] == PERFILE_OK && limit.status == PERFILE_OK));
            refused += st[0] == PERFILE_E_LIMIT;
            cut += st[3] == PERFILE_OK && limit.status == PERFILE_E_LIMIT;
            build_clear(&b);
        }
    }
    assert_true(refused > 0);
    print_message("%u refused, %u with a model that is cut\n", refused, cut);
}

/* A record of a type that a later kernel adds, after sample 20 and with its time: as file and pipe.
 */
static void with_later_type(builder *b, bool file, bool swap)
{
    *b = (builder){.swap = swap};
    if (file)
        capture_header(b);
    else
        capture_pipe_header(b, 2);
    for (uint32_t i = 0; i < N; i++) {
        capture_sample(b, i);
        if (i == 20) {
            size_t start = build_begin(b, 30, 0);
            build_u64(b, 5470); /* a field; the time is in the trailer */
            capture_trailer(b, i);
            build_end(b, start);
        }
    }
    if (file)
        capture_data_end(b);
}

/* How many records of that type a capture has. */
static uint64_t of_later_type(perfile_bytes capture)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    uint64_t n = 0;
    assert_int_equal(perfile_source_memory(capture, "capture", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        if (r->type == 30) {
            assert_int_equal(perfile_record_time(r), 5200);
            n++;
        }
    perfile_stream_close(s);
    return n;
}

/* Terms keep and drop it by its trailer, like records whose types are known. */
static void records_of_a_later_kernel_have_a_time(void **state)
{
    static const struct {
        uint32_t kind;
        const char *text;
        uint64_t samples, later;
    } terms[] = {
        {PERFILE_FILTER_BY_TIME, "5200ns..5200ns", 1, 1},
        {PERFILE_FILTER_BY_TIME, "5100ns..5300ns", 21, 1},
        {PERFILE_FILTER_BY_TIME, "..5199ns", 20, 0},
        {PERFILE_FILTER_BY_TIME, "5201ns..", 27, 0},
        {PERFILE_FILTER_BY_TIME, "5470ns..", 1, 0},
        {PERFILE_FILTER_BY_PID, "100", N, 1},
    };
    (void)state;
    for (unsigned i = 0; i < 4 * sizeof terms / sizeof terms[0]; i++) {
        const perfile_filter_term term = {.kind = terms[i / 4].kind, .text = terms[i / 4].text};
        const perfile_filter_options how = {.size = sizeof how, .n_terms = 1, .terms = &term};
        perfile_filter_summary sum = {0};
        perfile_sink *sink;
        BUILDER b;
        with_later_type(&b, i & 1, i & 2);
        assert_int_equal(of_later_type(built(&b)), 1);
        assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
        assert_int_equal(filter_bytes(built(&b), &how, sink, &sum, NULL), PERFILE_OK);
        assert_int_equal(sum.kept_samples, terms[i / 4].samples);
        assert_int_equal(of_later_type(perfile_sink_bytes(sink)), terms[i / 4].later);
        perfile_sink_close(sink);
    }
}

static void every_allocation_may_fail(void **state)
{
    const perfile_filter_term terms[] = {{.kind = PERFILE_FILTER_BY_TIME, .text = "10%.."},
                                         {.kind = PERFILE_FILTER_BY_COMM, .text = "*"},
                                         {.kind = PERFILE_FILTER_BY_PID, .text = "1,3,100"},
                                         {.kind = PERFILE_FILTER_BY_EVENT, .text = "*"},
                                         {.kind = PERFILE_FILTER_BY_WHERE, .text = "comm ~ '*'"}};
    const perfile_filter_options how = {.size = sizeof how,
                                        .flags = PERFILE_FILTER_COMPACT_SIDEBAND,
                                        .n_terms = sizeof terms / sizeof terms[0],
                                        .terms = terms};
    static const unsigned forms[] = {CAPTURE_FILE, CAPTURE_RECORDS, CAPTURE_PIPE};
    (void)state;
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        builder b;
        capture_make(&b, forms[i], false, N);
        perfile_status st = PERFILE_E_NOMEM;
        uint64_t n = 1;
        for (; st == PERFILE_E_NOMEM && n < 2000; n++) {
            perfile_sink *sink;
            perfile_filter_summary sum;
            perfile_error err = {0};
            assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
            pf_alloc_count = 0;
            pf_alloc_fail_at = n;
            st = filter_bytes((perfile_bytes){b.b.ptr, b.b.len}, &how, sink, &sum, &err);
            pf_alloc_fail_at = 0;
            perfile_sink_close(sink);
        }
        assert_int_equal(st, PERFILE_OK);
        assert_true(n > 30);
        build_clear(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(terms_keep_what_they_say),
        cmocka_unit_test(few_are_counted_after_the_rest),
        cmocka_unit_test(sorted_records_are_tested_where_they_lie),
        cmocka_unit_test(facts_below_stay),
        cmocka_unit_test(other_sides_of_switches_count),
        cmocka_unit_test(records_are_marked),
        cmocka_unit_test(wrong_terms_are_refused),
        cmocka_unit_test(days_of_the_wall_clock),
        cmocka_unit_test(odd_pids_and_many_ranges),
        cmocka_unit_test(a_model_of_its_own_that_is_full_is_an_error),
        cmocka_unit_test(records_of_a_later_kernel_have_a_time),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

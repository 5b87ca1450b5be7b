/* perfile_filter(): what terms mean, by the numbers of records that are kept; failures. */
#include "../testing.h"

#include <stdio.h>

#include "../captures.h"
#include "../dripping.h"
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
    return perfile_filter_capture(source, sink, how, &writing, sum, sizeof *sum, NULL, 0, err);
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
    assert_int_equal(perfile_filter_new(&how, &filter, NULL), PERFILE_OK);
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
        assert_int_equal(perfile_filter_new(&how, &filter, NULL), PERFILE_OK);
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

/* Of one event: long rows of samples of one size, with other records and sizes between them. */
static void long_rows(builder *b, bool swap)
{
    *b = (builder){.swap = swap};
    capture_pipe_header(b, 1);
    for (uint32_t i = 0; i < 2000; i++) {
        size_t start = b->b.len;
        capture_sample(b, 2 * i);
        if (i % 7 == 0)
            build_u16_at(b, start + 4, 1); /* misc */
        if (i % 301 == 300) {
            build_zeros(b, 8);
            build_end(b, start);
        }
        if (i % 333 == 332) {
            start = build_begin(b, PERFILE_RECORD_COMM, 0);
            build_u32(b, 200 + i);
            build_u32(b, 200 + i);
            build_text(b, "other");
            capture_trailer(b, 2 * i);
            build_end(b, start);
        }
    }
    build_u32(b, PERFILE_RECORD_SAMPLE); /* and one that is cut */
}

static perfile_stream *opened(const builder *b)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_bytes in = {b->b.ptr, b->b.len};
    assert_int_equal(perfile_source_memory(in, "capture", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    return s;
}

/* Those that are kept are the same records as without a filter, whatever was passed over.  With
 * `learn` a pass before has chosen them. */
static void dropped_rows_change_nothing(bool swap, bool learn, perfile_filter_summary *sum,
                                        perfile_stream_summary *read)
{
    const perfile_filter_term terms[] = {
        {.kind = PERFILE_FILTER_BY_TIME, .text = "5600ns..5610ns"},
        {.kind = PERFILE_FILTER_BY_TIME, .text = "31000ns..31210ns"},
        {.kind = PERFILE_FILTER_BY_TIME, .text = "44970ns.."}};
    const perfile_filter_options how = {.size = sizeof how, .n_terms = 3, .terms = terms};
    builder b;
    perfile_filter_state *filter;
    const perfile_record *r, *plain;
    uint64_t samples = 0;
    long_rows(&b, swap);
    perfile_stream *all = opened(&b), *s = opened(&b), *before = opened(&b);
    assert_int_equal(perfile_filter_new(&how, &filter, NULL), PERFILE_OK);
    if (learn)
        assert_int_equal(perfile_filter_learn(filter, before, NULL), PERFILE_OK);
    assert_int_equal(perfile_filter(s, filter, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        do
            assert_int_equal(perfile_stream_next(all, &plain, NULL), PERFILE_OK);
        while (plain->sequence < r->sequence);
        assert_int_equal(r->sequence, plain->sequence);
        assert_int_equal(r->offset, plain->offset);
        assert_int_equal(r->type, plain->type);
        assert_int_equal(r->misc, plain->misc);
        assert_int_equal(r->flags, plain->flags);
        assert_ptr_equal(r->header, plain->header);
        samples += r->type == PERFILE_RECORD_SAMPLE;
    }
    perfile_filter_get_summary(filter, sum, sizeof *sum);
    perfile_stream_get_summary(s, read, sizeof *read);
    assert_int_equal(samples, sum->kept_samples);
    perfile_stream_close(all);
    perfile_stream_close(s);
    perfile_stream_close(before);
    perfile_filter_close(filter);
    build_clear(&b);
}

static void rows_are_dropped_where_they_lie(void **state)
{
    (void)state;
    for (unsigned learn = 0; learn < 2; learn++) {
        perfile_filter_summary sum, swapped;
        perfile_stream_summary read, read_swapped;
        dropped_rows_change_nothing(false, learn, &sum, &read);
        dropped_rows_change_nothing(true, learn, &swapped, &read_swapped);
        assert_memory_equal(&sum, &swapped, sizeof sum);
        assert_memory_equal(&read, &read_swapped, sizeof read);
        assert_int_equal(sum.samples, 2000);
        assert_int_equal(sum.kept_samples, 1 + 11 + 1);
        assert_int_equal(read.records, sum.records);
        assert_int_equal(read.lost, 4);
        assert_int_equal(sum.processes, 1 + 6);
        assert_int_equal(sum.kept_processes, 1);
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

typedef struct told {
    uint64_t done, total;
} told;

static void note_told(void *user, uint64_t done, uint64_t total)
{
    told *last = user;
    assert_true(done >= last->done && done <= total);
    *last = (told){done, total};
}

/* Who waits for a filter that drops everything is told, too. */
static void progress_is_told_of_what_is_dropped(void **state)
{
    static const uint32_t kinds[] = {PERFILE_FILTER_BY_PID, PERFILE_FILTER_BY_COMM};
    static const char *const texts[] = {"7", "nobody"};
    enum { MANY = 400000 };
    builder b = {0};
    (void)state;
    capture_pipe_header(&b, 1);
    for (uint32_t i = 0; i < MANY; i++)
        capture_sample(&b, 2 * i);
    for (unsigned i = 0; i < 4; i++) {
        const perfile_filter_term term = {.kind = kinds[i / 2], .text = texts[i / 2]};
        const perfile_filter_options how = {.size = sizeof how,
                                            .flags = i % 2 ? PERFILE_FILTER_NO_SIDEBAND : 0,
                                            .n_terms = 1,
                                            .terms = &term};
        told last = {0};
        perfile_filter_capture_options writing = {
            .size = sizeof writing, .user = &last, .progress = note_told};
        perfile_source *source;
        perfile_sink *sink;
        const perfile_bytes in = {b.b.ptr, b.b.len};
        assert_int_equal(perfile_source_memory(in, "capture", &source, NULL), PERFILE_OK);
        assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
        assert_int_equal(
            perfile_filter_capture(source, sink, &how, &writing, NULL, 0, NULL, 0, NULL),
            PERFILE_OK);
        assert_int_equal(last.total, b.b.len); /* however often it is read */
        assert_true(last.total - last.done < 9 << 20);
        perfile_sink_close(sink);
    }
    build_clear(&b);
}

typedef struct counted {
    dripping d;
    uint64_t bytes; /* that were read */
} counted;

static int64_t counted_read(void *user, void *buf, size_t len)
{
    counted *c = user;
    int64_t n = dripping_read(&c->d, buf, len);
    c->bytes += (uint64_t)n;
    return n;
}

static int counted_seek(void *user, uint64_t offset)
{
    return dripping_seek(&((counted *)user)->d, offset);
}

/* A source of these bytes that counts in *c what is read. */
static perfile_source *counted_source(counted *c, perfile_bytes bytes)
{
    const perfile_source_callbacks calls = {.size = sizeof calls,
                                            .user = c,
                                            .read = counted_read,
                                            .seek = counted_seek,
                                            .total = bytes.len};
    perfile_source *source;
    *c = (counted){.d = {.bytes = bytes, .most = 1 << 16, .state = 1}};
    assert_int_equal(perfile_source_callback(&calls, "counted", NULL, &source, NULL), PERFILE_OK);
    return source;
}

/* So many samples, between which a process is named now and then. */
static void many_samples(builder *b, uint32_t n, bool swap)
{
    *b = (builder){.swap = swap};
    capture_pipe_header(b, 1);
    for (uint32_t i = 0; i < n; i++) {
        size_t start = b->b.len;
        capture_sample(b, 2 * i); /* all of one event */
        if (i % 100 == 99) {
            build_zeros(b, 8); /* of another size */
            build_end(b, start);
        }
        if (i % 9000 != 8999)
            continue;
        start = build_begin(b, PERFILE_RECORD_COMM, 0);
        build_u32(b, 100);
        build_u32(b, 101);
        build_text(b, "again");
        capture_trailer(b, 2 * i);
        build_end(b, start);
    }
}

static uint64_t records_of(const builder *b)
{
    perfile_stream *s = opened(b);
    const perfile_record *r;
    perfile_stream_summary sum;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        continue;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    perfile_stream_close(s);
    return sum.records;
}

/* Samples of many_samples() that stand one behind the other without one missing. */
static uint64_t samples_in_order(perfile_bytes out)
{
    const builder b = {.b = {.ptr = (uint8_t *)(uintptr_t)out.ptr, .len = out.len}};
    perfile_stream *s = opened(&b);
    const perfile_record *r;
    uint64_t n = 0, time = 0;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        if (r->type != PERFILE_RECORD_SAMPLE)
            continue;
        assert_true(n == 0 || perfile_record_time(r) == time + 20);
        time = perfile_record_time(r);
        n++;
    }
    perfile_stream_close(s);
    return n;
}

/* The pass that writes leaves out what the pass before has selected nothing of: the bytes that both
 * have read, in percent of the capture. */
static uint64_t percent_read(const char *times, bool swap, uint64_t kept)
{
    enum { SAMPLES = 40000 };
    const perfile_filter_term term = {.kind = PERFILE_FILTER_BY_TIME, .text = times};
    const perfile_filter_options how = {.size = sizeof how, .n_terms = 1, .terms = &term};
    const perfile_filter_capture_options writing = {.size = sizeof writing};
    BUILDER b = {0};
    many_samples(&b, SAMPLES, swap);
    counted c;
    perfile_source *source = counted_source(&c, built(&b));
    perfile_sink *sink;
    perfile_filter_summary sum;
    perfile_copy_summary copied;
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_filter_capture(source, sink, &how, &writing, &sum, sizeof sum, &copied,
                                            sizeof copied, NULL),
                     PERFILE_OK);
    assert_int_equal(sum.samples, SAMPLES);
    assert_int_equal(sum.records, records_of(&b));
    assert_int_equal(sum.kept_samples, kept);
    assert_int_equal(copied.samples, kept);
    assert_int_equal(copied.bytes, b.b.len - 16); /* behind the header of a pipe */
    assert_int_equal(samples_in_order(perfile_sink_bytes(sink)), kept);
    perfile_sink_close(sink);
    return 100 * c.bytes / b.b.len;
}

static void what_is_not_wanted_is_read_once(void **state)
{
    (void)state;
    for (unsigned swap = 0; swap < 2; swap++) {
        assert_in_range(percent_read("1ns..2ns", swap, 0), 100, 140);
        assert_in_range(percent_read("405000ns..405190ns", swap, 10), 100, 160);
        assert_in_range(percent_read("5000ns..", swap, 40000), 195, 210);
    }
}

/* Rows of samples of one size, of three processes and of one that is seen once, between them
 * others; one sample is too short for its fields. */
static void samples_of_processes(builder *b, bool swap)
{
    enum { PID_AT = 8 + 8 + 8 };
    *b = (builder){.swap = swap};
    capture_pipe_header(b, 1);
    for (uint32_t i = 0; i < 9000; i++) {
        size_t start = b->b.len;
        capture_sample(b, 2 * i);
        const uint32_t pid = i == 4321 ? 77 : 100 + i / 700 % 3;
        build_u16_at(b, start + PID_AT + (swap != (bool)PF_NATIVE_BIG ? 2 : 0), (uint16_t)pid);
        if (i % 2000 == 1999 || (i > 6000 && i % 3 == 0)) {
            build_zeros(b, 8);
            build_end(b, start);
        }
        if (i == 5000) {
            start = build_begin(b, PERFILE_RECORD_SAMPLE, 0);
            build_u64(b, 70);
            build_end(b, start);
        }
    }
}

/* Without terms everything is passed on, and the processes are counted all the same: of what lies
 * in memory, and of what comes through a window. */
static void without_terms_processes_are_counted(void **state)
{
    const perfile_filter_options how = {.size = sizeof how, .terms = none};
    const perfile_filter_capture_options writing = {.size = sizeof writing};
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        BUILDER b = {0};
        perfile_filter_summary sum;
        perfile_copy_summary copied;
        perfile_source *source;
        perfile_sink *sink;
        samples_of_processes(&b, i & 1);
        counted c;
        if (i & 2)
            assert_int_equal(perfile_source_memory(built(&b), "m", &source, NULL), PERFILE_OK);
        else
            source = counted_source(&c, built(&b));
        assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
        assert_int_equal(perfile_filter_capture(source, sink, &how, &writing, &sum, sizeof sum,
                                                &copied, sizeof copied, NULL),
                         PERFILE_OK);
        assert_int_equal(sum.processes, 4);
        assert_int_equal(sum.kept_processes, 4);
        assert_int_equal(sum.samples, 9001);
        assert_int_equal(sum.kept_samples, 9001);
        assert_int_equal(sum.records, records_of(&b));
        assert_int_equal(sum.kept, sum.records);
        assert_int_equal(sum.selected, 9001);
        assert_int_equal(copied.samples, 9001);
        assert_int_equal(perfile_sink_bytes(sink).len, b.b.len);
        assert_memory_equal(perfile_sink_bytes(sink).ptr, b.b.ptr, b.b.len);
        perfile_sink_close(sink);
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
        {PERFILE_FILTER_BY_COMM, "[a"},
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
        perfile_status st = perfile_filter_new(&how, &filter, &err);
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
    perfile_filter_open_options reading = {
        .size = sizeof reading, .how = options, .model = limit != NULL, .limit = limit};
    perfile_status st = perfile_source_memory(in, "capture", &source, err);
    if (st == PERFILE_OK)
        st = perfile_filter_open(source, how, &reading, &s, &model, err);
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
        cmocka_unit_test(rows_are_dropped_where_they_lie),
        cmocka_unit_test(other_sides_of_switches_count),
        cmocka_unit_test(progress_is_told_of_what_is_dropped),
        cmocka_unit_test(what_is_not_wanted_is_read_once),
        cmocka_unit_test(without_terms_processes_are_counted),
        cmocka_unit_test(wrong_terms_are_refused),
        cmocka_unit_test(days_of_the_wall_clock),
        cmocka_unit_test(odd_pids_and_many_ranges),
        cmocka_unit_test(a_model_of_its_own_that_is_full_is_an_error),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

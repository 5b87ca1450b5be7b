/* perfile_filter(): long rows of samples, of which none, some or all are selected. */
#include "filtering.h"

#include "../dripping.h"

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
    perfile_stream *all = capture_opened(&b), *s = capture_opened(&b), *before = capture_opened(&b);
    assert_int_equal(perfile_filter_open(&how, &filter, NULL), PERFILE_OK);
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
    perfile_stream *s = capture_opened(b);
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
    perfile_stream *s = capture_opened(&b);
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

/* What is selected goes out without a gap, and the rest is counted. */
static void check_selected(const char *times, bool swap, uint64_t kept)
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
}

static void ranges_of_time(void **state)
{
    (void)state;
    for (unsigned swap = 0; swap < 2; swap++) {
        check_selected("1ns..2ns", swap, 0);
        check_selected("405000ns..405190ns", swap, 10);
        check_selected("5000ns..", swap, 40000);
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
    const perfile_filter_options how = {.size = sizeof how};
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_dropped_where_they_lie),
        cmocka_unit_test(progress_is_told_of_what_is_dropped),
        cmocka_unit_test(ranges_of_time),
        cmocka_unit_test(without_terms_processes_are_counted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What becomes of a capture does not depend on how its bytes are read: through a window that moves,
 * from a mapping, or from memory.  Records that are written wait in the window, and what a sort
 * found in order is read through it once more. */
#include "../testing.h"

#include <stdio.h>
#include <unistd.h>

#include "../captures.h"
#include "perfile/perfile.h"

enum {
    SAMPLES = 32000, /* several windows */
    DEEP = 3000      /* addresses of the call chains of some samples: few fit into a buffer */
};

enum { IN_ORDER, EARLY, LATE, HALVES, N_ORDERS };

/* The number of the sample that stands in place `i`. */
static uint32_t sample_at(unsigned order, uint32_t i)
{
    const uint32_t late = SAMPLES * 3 / 4;
    switch (order) {
    case EARLY:
        return i < 1000 ? i / 100 * 100 + 99 - i % 100 : i;
    case LATE:
        return i < late || i >= late + 1000 ? i : late + (i - late + 500) % 1000;
    case HALVES:
        return (i + SAMPLES / 2) % SAMPLES;
    default:
        return i;
    }
}

/* A sample with a long call chain. */
static void deep_sample(builder *b, uint32_t n)
{
    const size_t start = capture_sample_begin(b, 1, n);
    build_u64(b, DEEP);
    for (uint64_t i = 0; i < DEEP; i++)
        build_u64(b, 0x401000 + i * n);
    build_end(b, start);
}

/* Samples in that order, now and then eighty with long call chains, and rounds that say nothing
 * true. */
static void make(builder *b, unsigned order, bool swap)
{
    *b = (builder){.swap = swap};
    capture_header(b);
    for (uint32_t i = 0; i < SAMPLES; i++) {
        (i % 16384 < 80 ? deep_sample : capture_sample)(b, sample_at(order, i));
        if (i % 17001 == 17000)
            build_end(b, build_begin(b, PERFILE_RECORD_FINISHED_ROUND, 0));
    }
    capture_data_end(b);
}

typedef perfile_status job(perfile_source *source, perfile_sink *sink);

static perfile_status written(perfile_stream *s, perfile_sink *sink)
{
    perfile_writer *w;
    perfile_writer_options how = {
        .size = sizeof how, .byte_order = perfile_session_byte_order(perfile_stream_session(s))};
    perfile_status st = perfile_writer_open(sink, &how, &w, NULL);
    if (st == PERFILE_OK) {
        st = perfile_copy(s, w, NULL, NULL, 0, NULL);
        if (st == PERFILE_OK)
            st = perfile_writer_finish(w, NULL);
        perfile_writer_close(w);
    }
    perfile_stream_close(s);
    return st;
}

static perfile_status copied(perfile_source *source, perfile_sink *sink)
{
    perfile_stream *s;
    perfile_status st = perfile_open(source, NULL, &s, NULL);
    return st == PERFILE_OK ? written(s, sink) : st;
}

static perfile_status kept(perfile_source *source, perfile_sink *sink, const char *where)
{
    const perfile_filter_term term = {PERFILE_FILTER_BY_WHERE, 0, where};
    const perfile_filter_options how = {.size = sizeof how, .n_terms = 1, .terms = &term};
    return closed_unless_ok(
        source, perfile_filter_capture(source, sink, &how, NULL, NULL, 0, NULL, 0, NULL));
}

static perfile_status all_kept(perfile_source *source, perfile_sink *sink)
{
    return kept(source, sink, "ip > 0");
}

static perfile_status some_kept(perfile_source *source, perfile_sink *sink)
{
    return kept(source, sink, "ip & 7 != 3");
}

static perfile_status sorted_with(perfile_source *source, perfile_sink *sink, uint64_t memory)
{
    const perfile_sort_options how = {.size = sizeof how, .max_memory = memory};
    perfile_stream *s;
    perfile_status st = perfile_open(source, NULL, &s, NULL);
    if (st == PERFILE_OK)
        st = perfile_sort(s, &how, &s, NULL);
    return st == PERFILE_OK ? written(s, sink) : st;
}

static perfile_status sorted(perfile_source *source, perfile_sink *sink)
{
    return sorted_with(source, sink, 0);
}

static perfile_status sorted_in_little_memory(perfile_source *source, perfile_sink *sink)
{
    return sorted_with(source, sink, PERFILE_SORT_LEAST_MEMORY);
}

/* Records instead of spans of samples: all of a run must be there at once. */
static perfile_status sorted_into_runs(perfile_source *source, perfile_sink *sink)
{
    const perfile_record *first;
    size_t n;
    perfile_stream *s;
    perfile_status st = perfile_open(source, NULL, &s, NULL);
    if (st != PERFILE_OK)
        return st;
    st = perfile_sort(s, NULL, &s, NULL);
    while (st == PERFILE_OK && (st = perfile_stream_next_run(s, &first, &n, NULL)) == PERFILE_OK)
        for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
            const perfile_bytes whole = {first[i].header, perfile_record_size(&first[i])};
            st = perfile_sink_write(sink, whole, NULL);
        }
    perfile_stream_close(s);
    return st == PERFILE_END ? PERFILE_OK : st;
}

static void write_file(const char *name, perfile_bytes bytes)
{
    FILE *f = fopen(name, "w");
    assert_non_null(f);
    assert_int_equal(fwrite(bytes.ptr, 1, bytes.len, f), bytes.len);
    assert_int_equal(fclose(f), 0);
}

static void do_job(job *one, perfile_bytes whole)
{
    static const uint32_t ways[] = {PERFILE_SOURCE_SEQUENTIAL, PERFILE_SOURCE_NO_MAP, 0};
    perfile_source *source;
    perfile_sink *want, *got;
    assert_int_equal(perfile_source_memory(whole, "windows", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("want", &want, NULL), PERFILE_OK);
    assert_int_equal(one(source, want), PERFILE_OK);
    const perfile_bytes a = perfile_sink_bytes(want);
    assert_true(a.len > whole.len / 2);
    for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
        const perfile_source_options how = {.size = sizeof how, .flags = ways[i]};
        assert_int_equal(perfile_source_path("windows", &how, &source, NULL), PERFILE_OK);
        assert_int_equal(perfile_sink_memory("got", &got, NULL), PERFILE_OK);
        assert_int_equal(one(source, got), PERFILE_OK);
        const perfile_bytes b = perfile_sink_bytes(got);
        assert_int_equal(a.len, b.len);
        assert_memory_equal(a.ptr, b.ptr, a.len);
        perfile_sink_close(got);
    }
    perfile_sink_close(want);
}

static void the_way_of_reading_changes_nothing(void **state)
{
    static job *const jobs[] = {
        copied, all_kept, some_kept, sorted, sorted_in_little_memory, sorted_into_runs};
    (void)state;
    for (unsigned order = 0; order < N_ORDERS; order++) {
        builder b;
        make(&b, order, order == EARLY);
        write_file("windows", built(&b));
        for (size_t i = 0; i < sizeof jobs / sizeof jobs[0]; i++)
            do_job(jobs[i], built(&b));
        build_clear(&b);
        assert_int_equal(unlink("windows"), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_way_of_reading_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Structs of options that are shorter than those of this library: nothing behind their size is
 * read.  They end where memory ends, so that reading on would be the end of the program. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../captures.h"
#include "perfile/perfile.h"

enum { SHORT = 16 };

/* `size` and 8 bytes of zeros, in front of a page that cannot be read. */
static void *short_options(void)
{
    static uint8_t *end;
    if (!end) {
        size_t page = (size_t)sysconf(_SC_PAGESIZE);
        uint8_t *two =
            mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(two != MAP_FAILED);
        assert_int_equal(mprotect(two + page, page, PROT_NONE), 0);
        end = two + page;
    }
    memset(end - SHORT, 0, SHORT);
    size_t size = SHORT;
    memcpy(end - SHORT, &size, sizeof size);
    return end - SHORT;
}

static perfile_bytes capture(void)
{
    static builder b;
    static bool made;
    if (!made)
        capture_make(&b, CAPTURE_FILE, false, 20);
    made = true;
    return built(&b);
}

static perfile_source *source(void)
{
    perfile_source *s;
    assert_int_equal(perfile_source_memory(capture(), "made", &s, NULL), PERFILE_OK);
    return s;
}

static perfile_stream *opened(void)
{
    perfile_stream *s;
    perfile_error err;
    if (perfile_open(source(), short_options(), &s, &err) != PERFILE_OK)
        fail_msg("%s: %s", err.where, err.message);
    return s;
}

/* Reads a stream to its end. */
static void drain(perfile_stream *s)
{
    const perfile_record *r;
    perfile_status st;
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
        ;
    assert_int_equal(st, PERFILE_END);
    perfile_stream_close(s);
}

static void opening(void **state)
{
    (void)state;
    perfile_stream *s;
    perfile_source *file;
    drain(opened());
    FILE *f = fopen("options.data", "wb");
    assert_non_null(f);
    assert_int_equal(fwrite(capture().ptr, capture().len, 1, f), 1);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(perfile_open_path("options.data", short_options(), &s, NULL), PERFILE_OK);
    drain(s);
    assert_int_equal(perfile_source_path("options.data", short_options(), &file, NULL), PERFILE_OK);
    perfile_source_close(file);
    /* Limits of an older header, too. */
    perfile_options how = {.size = sizeof how, .limits = short_options()};
    assert_int_equal(perfile_open_path("options.data", &how, &s, NULL), PERFILE_OK);
    drain(s);
}

static void no_size_is_a_mistake(void **state)
{
    (void)state;
    perfile_options how = {0};
    perfile_stream *s;
    perfile_source *in = source();
    assert_int_equal(perfile_open(in, &how, &s, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_open_path("options.data", &how, &s, NULL), PERFILE_E_USAGE);
    perfile_source_close(in);
}

static void stages(void **state)
{
    (void)state;
    perfile_stream *s = opened();
    assert_int_equal(perfile_check(s, short_options(), &s, NULL), PERFILE_OK);
    drain(s);
    s = opened();
    assert_int_equal(perfile_sort(s, short_options(), &s, NULL), PERFILE_OK);
    drain(s);
    s = opened();
    assert_int_equal(perfile_order(s, PERFILE_ORDER_BIG, short_options(), &s, NULL), PERFILE_OK);
    drain(s);
    perfile_filter_state *filter;
    assert_int_equal(perfile_filter_new(short_options(), &filter, NULL), PERFILE_OK);
    perfile_filter_close(filter);
    perfile_expr *e;
    assert_int_equal(perfile_expr_compile("cpu == 1", short_options(), &e, NULL), PERFILE_OK);
    perfile_expr_close(e);
}

static void writing(void **state)
{
    (void)state;
    perfile_sink *sink;
    perfile_writer *w;
    perfile_stream *s = opened();
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, short_options(), &w, NULL), PERFILE_OK);
    assert_int_equal(perfile_copy(s, w, short_options(), NULL, 0, NULL), PERFILE_OK);
    perfile_writer_close(w);
    perfile_sink_close(sink);
    perfile_stream_close(s);

    perfile_emitter *e;
    s = opened();
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_emitter_open("jsonl", s, sink, short_options(), &e, NULL), PERFILE_OK);
    perfile_emitter_close(e);
    perfile_sink_close(sink);
    perfile_stream_close(s);
}

static void whole_captures(void **state)
{
    (void)state;
    perfile_sink *sink;
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_convert(source(), sink, short_options(), NULL, 0, NULL), PERFILE_OK);
    perfile_sink_close(sink);
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_recover(source(), sink, short_options(), NULL, 0, NULL), PERFILE_OK);
    perfile_sink_close(sink);
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_filter_capture(source(), sink, short_options(), short_options(), NULL,
                                            0, NULL, 0, NULL),
                     PERFILE_OK);
    perfile_sink_close(sink);
    perfile_merge_source in = {.source = source(), .name = "made"};
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_merge_captures(&in, 1, sink, short_options(), short_options(), NULL, 0,
                                            NULL, 0, NULL),
                     PERFILE_OK);
    perfile_sink_close(sink);
    /* Without `by` there is nothing to be done, but that is what is said. */
    assert_int_equal(
        perfile_split_capture(source(), short_options(), short_options(), NULL, 0, NULL),
        PERFILE_E_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(opening), cmocka_unit_test(no_size_is_a_mistake), cmocka_unit_test(stages),
        cmocka_unit_test(writing), cmocka_unit_test(whole_captures)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

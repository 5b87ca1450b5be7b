/* How far long work is: in bytes of the input, each of which counts once, however often it is read.
 */
#include "../testing.h"

#include "../captures.h"
#include "perfile/perfile.h"

enum { MANY = 400000, HEADER = 16 };

typedef struct told {
    uint64_t done, total, times;
} told;

static void note_told(void *user, uint64_t done, uint64_t total)
{
    told *last = user;
    assert_true(done >= last->done && done <= total);
    *last = (told){done, total, last->times + 1};
}

static void looks_through(const told *last, uint64_t total)
{
    assert_true(last->times > 2);
    assert_in_range(last->total, total - HEADER, total);
    assert_true(last->done > total / 2);
}

static int make(void **state)
{
    builder *b = calloc(1, sizeof *b);
    capture_pipe_header(b, 1);
    for (uint32_t i = 0; i < MANY; i++)
        capture_sample(b, 2 * i);
    *state = b;
    return 0;
}

static int drop(void **state)
{
    builder *b = *state;
    build_clear(b);
    free(b);
    return 0;
}

static perfile_source *source_of(const builder *b)
{
    perfile_source *source;
    const perfile_bytes in = {b->b.ptr, b->b.len};
    assert_int_equal(perfile_source_memory(in, "capture", &source, NULL), PERFILE_OK);
    return source;
}

static void sorting_counts_once(void **state)
{
    const builder *b = *state;
    perfile_stream *s;
    const perfile_record *first;
    size_t n;
    told last = {0};
    perfile_sort_options how = {.size = sizeof how, .progress = note_told, .user = &last};
    assert_int_equal(perfile_open(source_of(b), NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_sort(s, &how, &s, NULL), PERFILE_OK);
    while (perfile_stream_next_run(s, &first, &n, NULL) == PERFILE_OK)
        ;
    perfile_stream_close(s);
    looks_through(&last, b->b.len);
}

static void merging_counts_once(void **state)
{
    const builder *b = *state;
    perfile_sink *sink;
    told last = {0};
    perfile_merge_source input = {.source = source_of(b)};
    perfile_merge_captures_options writing = {
        .size = sizeof writing, .progress = note_told, .user = &last};
    perfile_error err;
    assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
    perfile_status st = perfile_merge_captures(&input, 1, sink, &writing, NULL, 0, &err);
    if (st != PERFILE_OK)
        print_error("%s\n", err.message);
    assert_int_equal(st, PERFILE_OK);
    perfile_sink_close(sink);
    looks_through(&last, b->b.len);
}

static void splitting_counts_once(void **state)
{
    const builder *b = *state;
    told last = {0};
    perfile_split_options how = {
        .size = sizeof how, .by = PERFILE_SPLIT_RECORDS, .amount = MANY / 2, .pattern = "p%d"};
    perfile_split_capture_options writing = {
        .size = sizeof writing, .progress = note_told, .user = &last};
    assert_int_equal(perfile_split_capture(source_of(b), &how, &writing, NULL, 0, NULL),
                     PERFILE_OK);
    looks_through(&last, b->b.len);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sorting_counts_once),
        cmocka_unit_test(merging_counts_once),
        cmocka_unit_test(splitting_counts_once),
    };
    return cmocka_run_group_tests(tests, make, drop);
}

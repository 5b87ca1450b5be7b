/* Records in pieces, as simpleperf writes them, in captures that are merged. */
#include "testing.h"

#include "captures.h"
#include "sort/command.h"

/* A capture with a record in pieces behind `samples` others, sorted. */
static perfile_stream *sorted(builder *b, uint32_t samples)
{
    perfile_source *source;
    perfile_stream *s;
    capture_make(b, CAPTURE_SPLIT, false, samples);
    assert_int_equal(perfile_source_memory(built(b), "capture", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    assert_int_equal(perfile_sort(s, NULL, &s, NULL), PERFILE_OK);
    return s;
}

static void parts_keep_pieces_that_are_alike(void **state)
{
    (void)state;
    builder a, b;
    perfile_merge_input in[2] = {{.stream = sorted(&a, 2), .name = "a"},
                                 {.stream = sorted(&b, 3), .name = "b"}};
    perfile_stream *s;
    pf_merge_input_summary part;
    const perfile_record *r;
    perfile_status st;
    unsigned splits = 0, ends = 0, wholes = 0;
    assert_int_equal(perfile_merge(in, 2, NULL, &s, NULL), PERFILE_OK);
    pf_merge_get_input_summary(s, 1, &part, sizeof part);
    assert_int_equal(part.clock, PF_MERGE_CLOCK_RECORDING);
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK) {
        splits += r->type == PERFILE_RECORD_SIMPLEPERF_SPLIT;
        ends += r->type == PERFILE_RECORD_SIMPLEPERF_SPLIT_END;
        wholes += r->flags & PERFILE_REC_INNER && r->type == PERFILE_RECORD_SAMPLE;
    }
    assert_int_equal(st, PERFILE_END);
    assert_int_equal(splits, 6);
    assert_int_equal(ends, 2);
    assert_int_equal(wholes, 2);
    perfile_stream_close(s);
    build_clear(&a);
    build_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(parts_keep_pieces_that_are_alike)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

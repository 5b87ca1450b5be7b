/* What a filter reads of an archive: of a chunk in which nothing is selected, and that has samples
 * and FINISHED_ROUND records only, nothing before the last pass, and nothing in that as long as all
 * records in front of it are dropped, too. */
#include "archives.h"

#include <string.h>

#include "../written.h"
#include "perfile/filter.h"
#include "archive/command.h"

enum { SAMPLES = 1000, CHUNK = 100 };

/* A capture in chunks of CHUNK records. */
static perfile_bytes in_chunks(void)
{
    const perfile_archive_options how = {
        .size = sizeof how, .id = ARCHIVE_ID, .chunk_records = CHUNK};
    const perfile_writer_options writing = {.size = sizeof writing};
    perfile_sink *below = memory_sink(), *plain = memory_sink(), *sink;
    perfile_source *source;
    const perfile_convert_options as_is = {.size = sizeof as_is};
    assert_int_equal(written(plain, &writing, SAMPLES, NULL), PERFILE_OK);
    assert_int_equal(perfile_source_memory(perfile_sink_bytes(plain), "m", &source, NULL),
                     PERFILE_OK);
    assert_int_equal(perfile_archive_sink(below, &how, &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_convert_capture(source, sink, &as_is, NULL, 0, NULL), PERFILE_OK);
    const perfile_bytes bytes = perfile_sink_bytes(below);
    const perfile_bytes copy = {exact(bytes.ptr, bytes.len), bytes.len};
    perfile_sink_close(sink);
    perfile_sink_close(plain);
    return copy;
}

/* Makes the payload of the last chunk of records another one. */
static void damage_last(perfile_bytes b)
{
    perfile_archive *a = opened(b);
    pf_archive_summary sum;
    pf_archive_chunk c, last = {0};
    pf_archive_get_summary(a, &sum, sizeof sum);
    for (uint32_t i = 0; i < sum.chunks; i++) {
        chunk_at(a, i, &c);
        last = c.kind == PF_CHUNK_RECORDS ? c : last;
    }
    perfile_archive_close(a);
    assert_true(last.records > 0 && last.payload > 128);
    memset(writable(b) + last.offset + last.bytes - last.payload, 0, (size_t)last.payload - 64);
}

/* Reads one pass, or through the filter; how much damage it met. */
static uint64_t damage_of_pass(perfile_bytes b, perfile_filter_state *filter, bool last)
{
    const perfile_open_options reading = {.size = sizeof reading,
                                          .on_damage = PERFILE_ON_DAMAGE_RESYNC};
    perfile_source *source;
    perfile_stream *s;
    perfile_stream_summary read;
    const perfile_record *r;
    assert_int_equal(perfile_source_memory(b, "x.perfile", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &reading, &s, NULL), PERFILE_OK);
    if (last) {
        assert_int_equal(perfile_filter(s, filter, &s, NULL), PERFILE_OK);
        while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
            continue;
    } else {
        assert_int_equal(perfile_filter_learn(filter, s, NULL), PERFILE_OK);
    }
    perfile_stream_get_summary(s, &read, sizeof read);
    perfile_stream_close(s);
    return read.damages;
}

/* How much damage all passes met. */
static uint64_t damage_met(perfile_bytes b, const char *times)
{
    const perfile_filter_term term = {.kind = PERFILE_FILTER_BY_TIME, .text = times};
    const perfile_filter_options how = {.size = sizeof how, .n_terms = 1, .terms = &term};
    perfile_filter_state *filter;
    uint64_t met = 0;
    assert_int_equal(perfile_filter_open(&how, &filter, NULL), PERFILE_OK);
    while (perfile_filter_wants_pass(filter, NULL))
        met += damage_of_pass(b, filter, false);
    met += damage_of_pass(b, filter, true);
    perfile_filter_close(filter);
    return met;
}

static void nothing_is_read_of_what_is_not_needed(void **state)
{
    (void)state;
    const perfile_bytes b = in_chunks();
    assert_int_equal(damage_met(b, "6us..7us"), 0);
    damage_last(b);
    assert_int_equal(damage_met(b, "6us..7us"), 0);
    assert_int_equal(damage_met(b, "10%..20%"), 0);
    assert_true(damage_met(b, "6us..") > 0); /* the last chunk is among them */
    release(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_read_of_what_is_not_needed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* What a filter reads of an archive: of a chunk in which nothing is selected, and that has samples
 * and FINISHED_ROUND records only, nothing before the last pass, and nothing in that as long as all
 * records in front of it are dropped, too. */
#include "archives.h"

#include <string.h>

#include "../written.h"
#include "core/narrow.h"
#include "perfile/filter.h"

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
    perfile_archive_summary sum;
    perfile_archive_chunk c, last = {0};
    perfile_archive_get_summary(a, &sum, sizeof sum);
    for (uint32_t i = 0; i < sum.chunks; i++) {
        chunk_at(a, i, &c);
        last = c.kind == PERFILE_CHUNK_RECORDS ? c : last;
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
    assert_int_equal(perfile_filter_new(&how, &filter, NULL), PERFILE_OK);
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

/* A reader that needs records FIRST to END - 1 of each chunk, and what it was told and shown. */
enum { FIRST = 30, END = 41 };

typedef struct shown {
    pf_narrow how;
    uint64_t begin; /* sequence of the first record of the chunk */
    uint64_t n, passed;
} shown;

static unsigned needs_some(void *user, const pf_zone *zone, uint64_t sequence)
{
    shown *x = user;
    x->begin = sequence;
    x->how.span = (pf_narrow_span){.first = FIRST, .end = END};
    return pf_zone_plain_samples(zone) ? PF_NEED_SOME : PF_NEED_ALL;
}

static void count_passed(void *user, const pf_zone *zone, uint64_t sequence, uint64_t records)
{
    shown *x = user;
    (void)zone;
    assert_true(sequence == x->begin || sequence == x->begin + END);
    x->passed += records;
}

static perfile_stream *stream_of(perfile_bytes b)
{
    const perfile_open_options reading = {.size = sizeof reading, .as_stored = true};
    perfile_source *source;
    perfile_stream *s;
    assert_int_equal(perfile_source_memory(b, "x.perfile", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &reading, &s, NULL), PERFILE_OK);
    return s;
}

/* Those that are shown are the same records at the same places, and the rest is passed over. */
static void some_records_of_a_chunk_are_shown(void **state)
{
    (void)state;
    const perfile_bytes b = in_chunks();
    perfile_stream *all = stream_of(b), *some = stream_of(b);
    shown x = {.how = {.needs = needs_some, .passed = count_passed, .user = &x}};
    const perfile_record *one, *r;
    uint64_t n = 0, in_span = 0;
    pf_stream_narrow(some, &x.how);
    while (perfile_stream_next(some, &r, NULL) == PERFILE_OK) {
        do {
            assert_int_equal(perfile_stream_next(all, &one, NULL), PERFILE_OK);
            n++;
        } while (one->sequence < r->sequence);
        assert_true(r->sequence == one->sequence && r->offset == one->offset &&
                    r->type == one->type && r->body.len == one->body.len);
        assert_memory_equal(r->header, one->header, perfile_record_size(one));
        in_span += r->sequence >= x.begin + FIRST && r->sequence < x.begin + END;
        x.n++;
    }
    while (perfile_stream_next(all, &one, NULL) == PERFILE_OK)
        n++;
    assert_int_equal(x.n + x.passed, n);
    assert_true(in_span >= (END - FIRST) * (SAMPLES / CHUNK - 1) && in_span < SAMPLES / 2);
    assert_true(x.passed > SAMPLES / 2);
    perfile_stream_close(all);
    perfile_stream_close(some);
    release(b);
}

/* A reader that gets rows, and of the rest what is apart. */
typedef struct row_reader {
    pf_narrow how;
    perfile_stream *all; /* the same capture, read record by record */
    uint64_t next;       /* sequence of the next record of it */
    uint64_t rows, passed, words;
    bool apart;
} row_reader;

static unsigned needs_rows(void *user, const pf_zone *zone, uint64_t sequence)
{
    row_reader *x = user;
    (void)sequence;
    x->apart = !x->apart;
    return !pf_zone_only_samples(zone) ? PF_NEED_ALL : x->apart ? PF_NEED_ROWS_APART : PF_NEED_ROWS;
}

static void compare_rows(void *user, uint64_t sequence, size_t n, const uint64_t *rows)
{
    row_reader *x = user;
    const perfile_record *r;
    const size_t n_words = 64 - (size_t)__builtin_clzll(x->how.row.words);
    for (size_t i = 0; i < n; i++) {
        do
            assert_int_equal(perfile_stream_next(x->all, &r, NULL), PERFILE_OK);
        while (x->next++ < sequence + i);
        assert_int_equal(r->type, PERFILE_RECORD_SAMPLE);
        for (size_t k = 0; k < n_words; k++) {
            uint64_t word;
            memcpy(&word, r->body.ptr + 8 * k, sizeof word);
            assert_true(rows[i * n_words + k] == word || !(x->how.row.words >> k & 1));
        }
    }
    x->rows += n;
}

static void count_all_passed(void *user, const pf_zone *zone, uint64_t sequence, uint64_t records)
{
    (void)zone, (void)sequence;
    ((row_reader *)user)->passed += records;
}

/* Reads the capture so; `least` is asked of its records. */
static row_reader read_rows(perfile_bytes b, size_t least)
{
    row_reader x = {.how = {.needs = needs_rows,
                            .passed = count_all_passed,
                            .rows = compare_rows,
                            .row = {.words = 12, .least = least},
                            .words = UINT64_MAX}};
    const perfile_record *r;
    perfile_stream *s = stream_of(b);
    x.how.user = &x;
    x.all = stream_of(b);
    pf_stream_narrow(s, &x.how);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        assert_true(x.rows == 0 || r->type != PERFILE_RECORD_SAMPLE);
        x.words += r->type == PERFILE_RECORD_SAMPLE;
    }
    perfile_stream_close(x.all);
    perfile_stream_close(s);
    return x;
}

/* Rows have the words of the samples in their order; samples that are shorter than is asked come as
 * records, and so do those of a chunk that is damaged, as far as they can be read. */
static void rows_instead_of_samples(void **state)
{
    (void)state;
    const perfile_bytes b = in_chunks();
    const row_reader good = read_rows(b, 56), short_ones = read_rows(b, 4096);
    assert_int_equal(good.rows, SAMPLES - good.words);
    assert_true(good.rows >= SAMPLES - CHUNK && good.passed >= good.rows);
    assert_true(good.passed < SAMPLES + SAMPLES / WRITTEN_ROUND);
    assert_int_equal(short_ones.rows + short_ones.passed, 0);
    assert_int_equal(short_ones.words, SAMPLES);
    damage_last(b);
    const row_reader damaged = read_rows(b, 56);
    assert_true(damaged.rows < good.rows && damaged.rows >= good.rows - CHUNK);
    release(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_read_of_what_is_not_needed),
        cmocka_unit_test(some_records_of_a_chunk_are_shown),
        cmocka_unit_test(rows_instead_of_samples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

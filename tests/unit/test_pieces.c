/* Records in pieces, as simpleperf writes them: pieces that make no record are told as damage, and
 * nothing that writes a capture anew writes them. */
#include "testing.h"

#include "captures.h"
#include "fuzz/operations.h"
#include "splitting.h"

enum { WHOLE, NO_END, NO_BEGIN, ONE_LOST, END_TWICE, MIXED, UNFINISHED_FIRST, FULL_END, KINDS };

/* SPLIT_END written wrongly: a type that nobody knows. */
#define NO_SPLIT_END (PERFILE_RECORD_SIMPLEPERF_SPLIT_END | 1U << 31)

static void put_end(builder *b, uint32_t type)
{
    build_u32(b, type);
    build_u16(b, 0);
    build_u16(b, 8);
}

/* An end with bytes as many as a piece has, which are nothing of the record. */
static void put_full_end(builder *b)
{
    build_u32(b, PERFILE_RECORD_SIMPLEPERF_SPLIT_END);
    build_u16(b, 0);
    build_u16(b, 8 + 24);
    for (unsigned i = 0; i < 3; i++)
        build_u64(b, i);
}

/* A large sample, cut. */
static void put_pieces(builder *b, unsigned kind)
{
    builder whole = {.swap = b->swap};
    capture_sample(&whole, 0);
    for (size_t at = 0, i = 0; at < whole.b.len; at += 24, i++) {
        size_t n = whole.b.len - at < 24 ? whole.b.len - at : 24;
        if ((kind == NO_BEGIN && i == 0) || (kind == ONE_LOST && i == 1))
            continue;
        build_u32(b, PERFILE_RECORD_SIMPLEPERF_SPLIT);
        build_u16(b, 0);
        build_u16(b, (uint16_t)(n + 8));
        build_bytes(b, whole.b.ptr + at, n);
        if (kind == MIXED)
            capture_sample(b, (uint32_t)i + 1);
    }
    if (kind == FULL_END)
        put_full_end(b);
    else
        put_end(b, kind == NO_END ? NO_SPLIT_END : PERFILE_RECORD_SIMPLEPERF_SPLIT_END);
    if (kind == END_TWICE)
        put_end(b, PERFILE_RECORD_SIMPLEPERF_SPLIT_END);
    build_clear(&whole);
}

static void make(builder *b, unsigned kind)
{
    *b = (builder){0};
    capture_header(b);
    capture_stream(b, 3);
    if (kind == UNFINISHED_FIRST)
        put_pieces(b, ONE_LOST);
    put_pieces(b, kind);
    if (kind == UNFINISHED_FIRST)
        put_pieces(b, NO_END);
    capture_sample(b, 9);
    capture_data_end(b);
}

/* How many samples and damages there are when everything is read. */
static uint64_t read_all(perfile_bytes in, perfile_stream_summary *sum)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    perfile_status st;
    uint64_t samples = 0;
    assert_int_equal(perfile_source_memory(in, "capture", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
        samples += r->type == PERFILE_RECORD_SAMPLE;
    assert_int_equal(st, PERFILE_END);
    perfile_stream_get_summary(s, sum, sizeof *sum);
    perfile_stream_close(s);
    return samples;
}

static const uint64_t samples_of[KINDS] = {5, 4, 4, 4, 5, 8, 5, 5};

static void what_makes_no_record_is_damage(void **state)
{
    (void)state;
    static const uint64_t damages[KINDS] = {0, 1, 1, 1, 1, 0, 2, 0};
    for (unsigned kind = 0; kind < KINDS; kind++) {
        builder b;
        perfile_stream_summary sum;
        make(&b, kind);
        assert_int_equal(read_all(built(&b), &sum), samples_of[kind]);
        assert_int_equal(sum.damages, damages[kind]);
        assert_int_equal(sum.by_damage[PERFILE_DAMAGE_BAD_SPLIT], damages[kind]);
        build_clear(&b);
    }
}

static void assert_sound(perfile_bytes out, unsigned kind, unsigned what, uint64_t samples)
{
    perfile_stream_summary sum;
    uint64_t has = read_all(out, &sum);
    if (sum.damages || has != samples)
        print_error("kind %u, operation %u: %llu damages, %llu samples of %llu\n", kind, what,
                    (unsigned long long)sum.damages, (unsigned long long)has,
                    (unsigned long long)samples);
    assert_true(sum.damages == 0 && has == samples);
}

static void nothing_writes_it(void **state)
{
    (void)state;
    static const operation all[] = {
        {.what = OPERATION_CONVERT,
         .variant = PERFILE_FORM_PIPE,
         .on_damage = PERFILE_ON_DAMAGE_RESYNC},
        {.what = OPERATION_SORT, .on_damage = PERFILE_ON_DAMAGE_RESYNC},
        {.what = OPERATION_SORT, .variant = 2},
        {.what = OPERATION_FILTER,
         .variant = 5,
         .on_damage = PERFILE_ON_DAMAGE_RESYNC}, /* by type */
        {.what = OPERATION_MERGE, .on_damage = PERFILE_ON_DAMAGE_RESYNC},
        {.what = OPERATION_RECOVER},
    };
    for (unsigned kind = 0; kind < KINDS; kind++)
        for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
            builder b;
            perfile_source *source;
            perfile_sink *sink;
            perfile_error err = {0};
            make(&b, kind);
            assert_int_equal(perfile_source_memory(built(&b), "in", &source, NULL), PERFILE_OK);
            assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
            perfile_status st = operate(&all[i], source, sink, &err);
            if (st != PERFILE_OK)
                print_error("kind %u, operation %u: %s\n", kind, all[i].what, err.message);
            assert_int_equal(st, PERFILE_OK);
            assert_sound(perfile_sink_bytes(sink), kind, all[i].what, samples_of[kind]);
            perfile_sink_close(sink);
            build_clear(&b);
        }
}

static void no_part_of_a_split_has_it(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < KINDS; kind++) {
        builder b;
        perfile_source *source;
        perfile_split_summary sum;
        split_parts parts = {0};
        perfile_split_options how = {.size = sizeof how, .by = PERFILE_SPLIT_RECORDS, .amount = 2};
        perfile_split_capture_options writing = {.size = sizeof writing,
                                                 .on_damage = PERFILE_ON_DAMAGE_RESYNC,
                                                 .open = split_open_part,
                                                 .done = split_part_done,
                                                 .user = &parts};
        uint64_t samples = 0;
        make(&b, kind);
        assert_int_equal(perfile_source_memory(built(&b), "in", &source, NULL), PERFILE_OK);
        assert_int_equal(perfile_split_capture(source, &how, &writing, &sum, sizeof sum, NULL),
                         PERFILE_OK);
        for (size_t i = 0; i < parts.n; i++) {
            perfile_stream_summary of;
            samples += read_all(perfile_sink_bytes(parts.sinks[i]), &of);
            assert_int_equal(of.damages, 0);
        }
        assert_int_equal(samples, samples_of[kind]);
        split_parts_clear(&parts);
        build_clear(&b);
    }
}

/* Empty ones make no record however many there are, and each of them would be held. */
static void pieces_have_a_limit(void **state)
{
    (void)state;
    builder b = {0};
    perfile_limits limits = {.size = sizeof limits, .split_bytes = 1 << 16};
    perfile_open_options how = {.size = sizeof how, .limits = &limits};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    perfile_error err = {0};
    perfile_status st;
    capture_header(&b);
    for (unsigned i = 0; i < 1 << 12; i++)
        put_end(&b, PERFILE_RECORD_SIMPLEPERF_SPLIT);
    capture_data_end(&b);
    assert_int_equal(perfile_source_memory(built(&b), "in", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &how, &s, NULL), PERFILE_OK);
    while ((st = perfile_stream_next(s, &r, &err)) == PERFILE_OK)
        continue;
    assert_int_equal(st, PERFILE_E_LIMIT);
    assert_string_equal(err.where, "split_bytes");
    perfile_stream_close(s);
    build_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_makes_no_record_is_damage),
        cmocka_unit_test(nothing_writes_it),
        cmocka_unit_test(no_part_of_a_split_has_it),
        cmocka_unit_test(pieces_have_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

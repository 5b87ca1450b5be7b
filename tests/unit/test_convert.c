/* Conversions of captures made in memory, whose twins in the other byte order are made, too. */
#include "../testing.h"

#include "../captures.h"
#include "../dripping.h"
#include "../streamed.h"
#include "base/alloc.h"
#include "perfile/perfile.h"
#include "core/command.h"

enum { N = 24 };

static perfile_status convert(perfile_bytes in, const perfile_convert_options *how,
                              perfile_sink **sink, perfile_convert_summary *sum, perfile_error *err)
{
    perfile_source *source;
    perfile_status st = perfile_sink_memory("output", sink, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_source_memory(in, "input", &source, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_convert_capture(source, *sink, how, sum, sizeof *sum, err);
    return closed_unless_ok(source, st);
}

/* Without a byte more or less than `wanted`. */
static void gives(perfile_bytes in, const perfile_convert_options *how, perfile_bytes wanted)
{
    perfile_sink *sink;
    perfile_convert_summary sum;
    perfile_error err = {0};
    perfile_status st = convert(in, how, &sink, &sum, &err);
    if (st != PERFILE_OK)
        print_error("%s\n", err.message);
    assert_int_equal(st, PERFILE_OK);
    perfile_bytes got = perfile_sink_bytes(sink);
    assert_int_equal(got.len, wanted.len);
    assert_memory_equal(got.ptr, wanted.ptr, wanted.len);
    assert_int_equal(sum.same, !how->byte_order);
    perfile_sink_close(sink);
}

static bool is_packed(unsigned form)
{
    return form == CAPTURE_FILE_ZSTD || form == CAPTURE_PIPE_ZSTD;
}

static const perfile_convert_options as_it_is = {.size = sizeof as_it_is,
                                                 .flags = PERFILE_CONVERT_FORCE};
static const perfile_convert_options to_big = {
    .size = sizeof to_big, .flags = PERFILE_CONVERT_FORCE, .byte_order = PERFILE_BYTE_ORDER_BIG};
static const perfile_convert_options to_little = {.size = sizeof to_little,
                                                  .flags = PERFILE_CONVERT_FORCE,
                                                  .byte_order = PERFILE_BYTE_ORDER_LITTLE};

/* What is rolled is not the same in both byte orders: those without. */
static void twins_become_each_other(void **state)
{
    (void)state;
    const unsigned forms[] = {CAPTURE_PIPE, CAPTURE_KILLED};
    for (unsigned i = 0; i < 2; i++) {
        builder little, big;
        capture_make(&little, forms[i], PF_NATIVE_BIG, N);
        capture_make(&big, forms[i], !PF_NATIVE_BIG, N);
        gives(built(&little), &to_big, built(&big));
        gives(built(&big), &to_little, built(&little));
        build_clear(&little);
        build_clear(&big);
    }
}

/* The capture in the other byte order; perfile_sink_close() releases it. */
static perfile_bytes turned(perfile_bytes in, bool big, perfile_sink **sink)
{
    perfile_convert_summary sum;
    assert_int_equal(convert(in, big ? &to_big : &to_little, sink, &sum, NULL), PERFILE_OK);
    assert_int_equal(sum.byte_order, big ? PERFILE_BYTE_ORDER_BIG : PERFILE_BYTE_ORDER_LITTLE);
    return perfile_sink_bytes(*sink);
}

static void there_and_back(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 2 * CAPTURE_FORMS; form++) {
        builder b;
        perfile_sink *sink;
        bool swap = form % 2, big = swap != (bool)PF_NATIVE_BIG;
        capture_make(&b, form / 2, swap, N);
        gives(built(&b), &as_it_is, built(&b));
        if (!is_packed(form / 2)) {
            perfile_bytes other = turned(built(&b), !big, &sink);
            assert_int_equal(other.len, b.b.len);
            assert_memory_not_equal(other.ptr, b.b.ptr, b.b.len);
            gives(other, big ? &to_big : &to_little, built(&b));
            perfile_sink_close(sink);
        }
        build_clear(&b);
    }
}

/* What lies before the records is more than a window holds: it is asked for once more when they are
 * in hand. */
static void records_far_behind_the_attrs(void **state)
{
    enum { GAP = 3 << 20, DATA = 40, KILLED_RECORDS = 2000 };
    (void)state;
    for (unsigned turns = 0; turns < 2; turns++) {
        BUILDER near = {0};
        BUILDER far = {0};
        perfile_sink *sinks[2];
        perfile_source *source;
        perfile_convert_summary sum;
        const perfile_convert_options *how = turns ? &to_big : &as_it_is;
        capture_make(&near, CAPTURE_KILLED, PF_NATIVE_BIG, KILLED_RECORDS);
        size_t data = (size_t)pf_load_u64(near.b.ptr + DATA, PF_NATIVE_BIG);
        assert_true(pf_buffer_append(&far.b, near.b.ptr, data));
        for (unsigned i = 0; i < GAP; i++)
            build_u8(&far, (uint8_t)(i * 7 >> 3));
        assert_true(pf_buffer_append(&far.b, near.b.ptr + data, near.b.len - data));
        build_u64_at(&far, DATA, data + GAP);
        dripping d = {.bytes = built(&far), .most = 1 << 20, .state = 1};
        assert_int_equal(convert(built(&far), how, &sinks[0], &sum, NULL), PERFILE_OK);
        assert_int_equal(perfile_sink_memory("output", &sinks[1], NULL), PERFILE_OK);
        assert_int_equal(dripping_open(&d, true, NULL, &source, NULL), PERFILE_OK);
        assert_int_equal(perfile_convert_capture(source, sinks[1], how, &sum, sizeof sum, NULL),
                         PERFILE_OK);
        perfile_bytes wanted = perfile_sink_bytes(sinks[0]), got = perfile_sink_bytes(sinks[1]);
        assert_int_equal(got.len, wanted.len);
        assert_memory_equal(got.ptr, wanted.ptr, wanted.len);
        perfile_sink_close(sinks[0]);
        perfile_sink_close(sinks[1]);
    }
}

static perfile_stream *open_stream(perfile_bytes bytes)
{
    perfile_source *source;
    perfile_stream *s;
    perfile_open_options how = {.size = sizeof how, .deliver = PERFILE_DELIVER_DAMAGE};
    assert_int_equal(perfile_source_memory(bytes, "capture", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &how, &s, NULL), PERFILE_OK);
    return s;
}

static uint32_t other_order(bool swap)
{
    return swap != (bool)PF_NATIVE_BIG ? PERFILE_BYTE_ORDER_LITTLE : PERFILE_BYTE_ORDER_BIG;
}

/* Records, events, features and all they say: as if what was turned at its places was read. */
static void the_stage_reads_as_what_was_turned(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 2 * CAPTURE_FORMS; form++) {
        builder b;
        perfile_sink *sink;
        bool swap = form % 2;
        if (form / 2 == CAPTURE_SPLIT || is_packed(form / 2))
            continue; /* envelopes in a row, or turned with what is in them only */
        capture_make(&b, form / 2, swap, N);
        perfile_bytes other = turned(built(&b), other_order(swap) == PERFILE_BYTE_ORDER_BIG, &sink);
        perfile_stream *s = open_stream(built(&b));
        perfile_stream *twin = open_stream(other);
        assert_int_equal(perfile_byteswap(s, other_order(swap), NULL, &s, NULL), PERFILE_OK);
        transcript a = {0}, t = {0};
        assert_int_equal(streamed(&a, s, STREAMED_FIELDS, NULL), PERFILE_OK);
        assert_int_equal(streamed(&t, twin, STREAMED_FIELDS, NULL), PERFILE_OK);
        assert_int_equal(a.hash, t.hash);
        perfile_stream_close(s);
        perfile_stream_close(twin);
        perfile_sink_close(sink);
        build_clear(&b);
    }
}

/* The records of a run need not lie one behind the other when a stage made it: some are left out,
 * others are in a buffer of its own.  What is cut and turned is what is turned and cut. */
static void runs_that_lie_scattered(void **state)
{
    static const perfile_target_options changes[] = {
        {.size = sizeof changes[0], .drop = PERFILE_SAMPLE_PERIOD},
        {.size = sizeof changes[0], .drop = PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_TIME},
        {.size = sizeof changes[0], .version = "3.16"}};
    (void)state;
    for (unsigned i = 0; i < 2 * CAPTURE_FORMS * 3; i++) {
        const perfile_target_options *change = &changes[i / (2 * CAPTURE_FORMS)];
        const unsigned form = i / 2 % CAPTURE_FORMS;
        const bool swap = i % 2;
        builder b;
        /* Noise may be too short for its trailer, and long enough for one that was cut. */
        const bool noise = form == CAPTURE_RECORDS && change->drop & PERFILE_SAMPLE_TIME;
        if (form == CAPTURE_SPLIT || is_packed(form) || noise)
            continue;
        capture_make(&b, form, swap, 300);
        perfile_stream *s = open_stream(built(&b)), *twin = open_stream(built(&b));
        assert_int_equal(perfile_target(s, change, &s, NULL), PERFILE_OK);
        assert_int_equal(perfile_byteswap(s, other_order(swap), NULL, &s, NULL), PERFILE_OK);
        assert_int_equal(perfile_byteswap(twin, other_order(swap), NULL, &twin, NULL), PERFILE_OK);
        assert_int_equal(perfile_target(twin, change, &twin, NULL), PERFILE_OK);
        transcript a = {0}, t = {0};
        assert_int_equal(streamed(&a, s, STREAMED_FIELDS, NULL), PERFILE_OK);
        assert_int_equal(streamed(&t, twin, STREAMED_FIELDS, NULL), PERFILE_OK);
        assert_int_equal(a.hash, t.hash);

        perfile_stream_close(s);
        perfile_stream_close(twin);
        build_clear(&b);
    }
}

/* Pieces of a large record are handed on when it is whole, turned as one. */
static void pieces_are_turned_as_one(void **state)
{
    (void)state;
    for (unsigned swap = 0; swap < 2; swap++) {
        builder b;
        perfile_sink *sink;
        capture_make(&b, CAPTURE_SPLIT, swap, N);
        perfile_bytes other = turned(built(&b), other_order(swap) == PERFILE_BYTE_ORDER_BIG, &sink);
        perfile_stream *s = open_stream(built(&b));
        perfile_stream *twin = open_stream(other);
        assert_int_equal(perfile_byteswap(s, other_order(swap), NULL, &s, NULL), PERFILE_OK);
        const perfile_record *r, *t;
        size_t n = 0, pieces = 0;
        while (perfile_stream_next(twin, &t, NULL) == PERFILE_OK) {
            assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_OK);
            assert_int_equal(r->type, t->type);
            assert_int_equal(perfile_record_size(r), perfile_record_size(t));
            assert_memory_equal(r->header, t->header, perfile_record_size(t));
            n++;
            pieces += r->type == PERFILE_RECORD_SIMPLEPERF_SPLIT;
        }
        assert_int_equal(perfile_stream_next(s, &r, NULL), PERFILE_END);
        assert_true(n > N && pieces);
        perfile_stream_close(s);
        perfile_stream_close(twin);
        perfile_sink_close(sink);
        build_clear(&b);
    }
}

/* Bytes behind a record that are never in memory as a whole go through the stage. */
static void large_payloads_pass(void **state)
{
    (void)state;
    enum { LARGE = 3 << 20 };
    builder b, twin;
    for (unsigned swap = 0; swap < 2; swap++) {
        builder *to = swap ? &twin : &b;
        capture_make(to, CAPTURE_PIPE, swap, 1);
        size_t start = build_begin(to, PERFILE_RECORD_AUXTRACE, 0);
        build_u64(to, LARGE);
        build_zeros(to, 16);
        for (uint32_t i = 0; i < 4; i++)
            build_u32(to, i);
        build_end(to, start);
        for (size_t i = 0; i < LARGE; i++)
            build_u8(to, (uint8_t)(i * 7));
    }
    dripping d = {.bytes = built(&b), .most = 100000};
    perfile_source *source;
    perfile_sink *sink;
    perfile_convert_summary sum;
    perfile_convert_options how = {.size = sizeof how,
                                   .byte_order = PF_NATIVE_BIG ? PERFILE_BYTE_ORDER_LITTLE
                                                               : PERFILE_BYTE_ORDER_BIG};
    assert_int_equal(dripping_open(&d, false, NULL, &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("output", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_convert_capture(source, sink, &how, &sum, sizeof sum, NULL),
                     PERFILE_OK);
    perfile_bytes got = perfile_sink_bytes(sink);
    assert_int_equal(got.len, twin.b.len);
    assert_memory_equal(got.ptr, twin.b.ptr, got.len);
    perfile_sink_close(sink);
    build_clear(&b);
    build_clear(&twin);
}

/* An event that is described behind records of the kernel stays a record of the file, and is read
 * as an event. */
static void a_late_event_is_not_lost(void **state)
{
    (void)state;
    builder b;
    perfile_sink *sink;
    perfile_convert_summary sum;
    capture_make(&b, CAPTURE_PIPE, false, N);
    build_attr_plan plan = capture_plan(0);
    size_t start = build_begin(&b, PERFILE_RECORD_HEADER_ATTR, 0);
    build_attr(&b, &plan);
    build_u64(&b, 99);
    build_end(&b, start);
    perfile_convert_options how = {.size = sizeof how, .form = PERFILE_FORM_FILE};
    assert_int_equal(convert(built(&b), &how, &sink, &sum, NULL), PERFILE_OK);
    assert_int_equal(sum.copied.events, 2);
    perfile_stream *s = open_stream(perfile_sink_bytes(sink));
    const perfile_record *r;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        continue;
    const perfile_session *session = perfile_stream_session(s);
    assert_int_equal(perfile_session_n_events(session), 3);
    assert_int_equal(perfile_session_event_by_id(session, 99)->index, 2);
    perfile_stream_close(s);
    perfile_sink_close(sink);
    build_clear(&b);
}

/* Options that go every way. */
static const struct {
    unsigned form;
    perfile_convert_options how;
} ways[] = {
    {CAPTURE_FILE, {.size = 0}},
    {CAPTURE_FILE, {.byte_order = PERFILE_BYTE_ORDER_BIG}},
    {CAPTURE_SPLIT, {.byte_order = PERFILE_BYTE_ORDER_BIG}},
    {CAPTURE_SPLIT, {.byte_order = PERFILE_BYTE_ORDER_BIG, .form = PERFILE_FORM_PIPE}},
    {CAPTURE_FILE, {.form = PERFILE_FORM_PIPE}},
    {CAPTURE_PIPE, {.form = PERFILE_FORM_FILE, .byte_order = PERFILE_BYTE_ORDER_BIG}},
    {CAPTURE_PIPE, {.form = PERFILE_FORM_FILE, .flags = PERFILE_CONVERT_COMPRESS}},
    {CAPTURE_FILE_ZSTD, {.flags = PERFILE_CONVERT_DECOMPRESS}},
};
enum { N_WAYS = sizeof ways / sizeof ways[0] };

static void note_text(void *user, const perfile_note *note)
{
    if (note->kind == PERFILE_NOTE_EVENT_BROKEN)
        snprintf(user, 128, "%s", note->message);
}

/* An event type whose name fills its 64 bytes, as only damaged files of old have it, and one with a
 * short name: as a record it has the whole place of a name, as versions of perf want it that pass
 * over shorter ones. */
static void names_of_event_types_have_an_end_and_room(void **state)
{
    enum { FULL = 64, SHORT = 6, WHOLE = 80 };
    static const unsigned forms[] = {PERFILE_FORM_FILE, PERFILE_FORM_PIPE};
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        const int letters = i < 2 ? FULL : SHORT;
        BUILDER b = {0};
        char text[128] = "";
        perfile_source *source;
        perfile_sink *sink;
        perfile_stream *s;
        perfile_writer *w;
        perfile_bytes out;
        const perfile_record *r;
        perfile_writer_options how = {.size = sizeof how, .as_stored = true, .form = forms[i % 2]};
        perfile_copy_options copying = {.size = sizeof copying, .note = note_text, .user = text};
        capture_make(&b, CAPTURE_FILE, false, 3);
        build_u64_at(&b, 56, b.b.len);
        build_u64_at(&b, 64, 72);
        build_u64(&b, 7);
        for (int k = 0; k < FULL; k++)
            build_u8(&b, k < letters ? 'n' : 0);
        assert_int_equal(perfile_source_memory(built(&b), "capture", &source, NULL), PERFILE_OK);
        assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
        assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
        assert_int_equal(perfile_writer_open(sink, &how, &w, NULL), PERFILE_OK);
        assert_int_equal(perfile_copy(s, w, &copying, NULL, 0, NULL), PERFILE_OK);
        assert_int_equal(strstr(text, "terminating zero") != NULL, letters == FULL);
        perfile_writer_close(w);
        perfile_stream_close(s);
        out = perfile_sink_bytes(sink);
        assert_int_equal(perfile_source_memory(out, "out", &source, NULL), PERFILE_OK);
        assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
        while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
            if (r->type == PERFILE_RECORD_HEADER_EVENT_TYPE)
                assert_int_equal(perfile_record_size(r), WHOLE);
        const perfile_session *session = perfile_stream_session(s);
        assert_int_equal(pf_session_n_event_types(session), 1);
        assert_int_equal(pf_session_event_type(session, 0)->name.len,
                         letters < FULL ? letters : FULL - 1);
        assert_int_equal(pf_session_event_type(session, 0)->event_id, 7);
        perfile_stream_close(s);
        perfile_sink_close(sink);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_WAYS; i++) {
        builder b;
        perfile_sink *sink;
        perfile_convert_summary sum;
        perfile_convert_options how = ways[i].how;
        how.size = sizeof how;
        capture_make(&b, ways[i].form, PF_NATIVE_BIG, N);
        pf_alloc_count = 0;
        assert_int_equal(convert(built(&b), &how, &sink, &sum, NULL), PERFILE_OK);
        uint64_t n = pf_alloc_count;
        perfile_sink_close(sink);
        assert_true(n > 5);
        for (uint64_t k = 1; k <= n; k++) {
            perfile_error err = {0};
            sink = NULL;
            pf_alloc_count = 0;
            pf_alloc_fail_at = k;
            perfile_status st = convert(built(&b), &how, &sink, &sum, &err);
            pf_alloc_fail_at = 0;
            assert_int_equal(st, PERFILE_E_NOMEM);
            perfile_sink_close(sink);
        }
        build_clear(&b);
    }
}

/* More records need no more allocations, but for the memory that holds the output here. */
static void records_allocate_nothing(void **state)
{
    (void)state;
    for (unsigned i = 0; i < N_WAYS; i++) {
        uint64_t n[2];
        for (unsigned k = 0; k < 2; k++) {
            builder b;
            perfile_sink *sink;
            perfile_convert_summary sum;
            perfile_convert_options how = ways[i].how;
            how.size = sizeof how;
            capture_make(&b, ways[i].form, PF_NATIVE_BIG, k ? 20000 : 2000);
            pf_alloc_count = 0;
            assert_int_equal(convert(built(&b), &how, &sink, &sum, NULL), PERFILE_OK);
            n[k] = pf_alloc_count;
            perfile_sink_close(sink);
            build_clear(&b);
        }
        assert_in_range(n[1], n[0], n[0] + 24); /* buffers that double */
    }
}

static void wrong_wishes_are_refused(void **state)
{
    (void)state;
    builder b;
    perfile_sink *sink;
    perfile_convert_summary sum;
    perfile_error err = {0};
    capture_make(&b, CAPTURE_FILE, false, N);
    perfile_convert_options how = {.size = sizeof how,
                                   .flags = PERFILE_CONVERT_COMPRESS | PERFILE_CONVERT_DECOMPRESS};
    assert_int_equal(convert(built(&b), &how, &sink, &sum, &err), PERFILE_E_USAGE);
    assert_string_equal(err.where, "convert.flags");
    perfile_sink_close(sink);
    perfile_stream *s = open_stream(built(&b));
    assert_int_equal(perfile_byteswap(s, 7, NULL, &s, &err), PERFILE_E_USAGE);
    perfile_stream *same = s;
    uint32_t order = perfile_session_byte_order(perfile_stream_session(s));
    assert_int_equal(perfile_byteswap(s, order, NULL, &same, &err), PERFILE_OK);
    assert_ptr_equal(same, s);
    perfile_stream_close(s);
    b.b.len -= 5; /* the last feature is cut */
    how.flags = 0;
    assert_int_equal(convert(built(&b), &how, &sink, &sum, &err), PERFILE_E_CORRUPT);
    assert_int_equal(err.damage, PERFILE_DAMAGE_OUT_OF_BOUNDS);
    perfile_sink_close(sink);
    build_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twins_become_each_other),
        cmocka_unit_test(there_and_back),
        cmocka_unit_test(records_far_behind_the_attrs),
        cmocka_unit_test(the_stage_reads_as_what_was_turned),
        cmocka_unit_test(runs_that_lie_scattered),
        cmocka_unit_test(pieces_are_turned_as_one),
        cmocka_unit_test(large_payloads_pass),
        cmocka_unit_test(a_late_event_is_not_lost),
        cmocka_unit_test(names_of_event_types_have_an_end_and_room),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(records_allocate_nothing),
        cmocka_unit_test(wrong_wishes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

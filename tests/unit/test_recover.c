/* The writer gives what was put into it; recover gives back what is left of damaged captures. */
#include "../testing.h"

#include <stdio.h>
#include <unistd.h>

#include "../captures.h"
#include "schema/rows.h"
#include "perfile/perfile.h"

enum { N = 24 };

typedef struct content {
    uint64_t records, samples, hash, attrs, ids, damages;
    uint32_t events, form;
    bool swapped;
} content;

static void mix(uint64_t *h, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        *h = (*h ^ p[i]) * UINT64_C(0x100000001b3);
}

/* Records by their bytes (what is in envelopes counts, not they themselves), events by theirs. */
static content content_of(perfile_bytes bytes)
{
    content c = {0};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    perfile_stream_summary sum;
    assert_int_equal(perfile_source_memory(bytes, "capture", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        bool piece = r->type == PERFILE_RECORD_SIMPLEPERF_SPLIT ||
                     r->type == PERFILE_RECORD_SIMPLEPERF_SPLIT_END;
        if (r->flags & PERFILE_REC_ENVELOPE && !piece)
            continue;
        c.records++;
        c.samples += r->type == PERFILE_RECORD_SAMPLE;
        mix(&c.hash, r->header, perfile_record_size(r));
        if (r->extra.ptr)
            mix(&c.hash, r->extra.ptr, r->extra.len);
    }
    const perfile_session *session = perfile_stream_session(s);
    c.events = perfile_session_n_events(session);
    for (uint32_t i = 0; i < c.events; i++) {
        const perfile_event *e = perfile_session_event(session, i);
        mix(&c.attrs, (const uint8_t *)&e->attr->sample_type, 8);
        mix(&c.attrs, (const uint8_t *)&e->attr->config, 8);
        mix(&c.ids, e->ids.ptr, 8 * e->ids.n);
    }
    c.form = perfile_stream_container(s)->form;
    c.swapped = perfile_session_swapped(session);
    perfile_stream_get_summary(s, &sum, sizeof sum);
    c.damages = sum.damages;
    perfile_stream_close(s);
    return c;
}

static perfile_status rescue(perfile_bytes bytes, const perfile_assume *assume, perfile_sink **sink,
                             perfile_recover_summary *sum)
{
    perfile_source *source;
    perfile_recover_options how = {.size = sizeof how, .assume = assume};
    assert_int_equal(perfile_source_memory(bytes, "damaged", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("rescued", sink, NULL), PERFILE_OK);
    return closed_unless_ok(source,
                            perfile_recover_capture(source, *sink, &how, sum, sizeof *sum, NULL));
}

static void whole_captures_come_back_whole(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 2 * CAPTURE_FEATURES; form++) {
        builder b;
        perfile_sink *sink;
        perfile_recover_summary sum;
        if (form / 2 == CAPTURE_RECORDS || form / 2 == CAPTURE_KILLED)
            continue; /* a record of every row means nothing together */
        capture_make(&b, form / 2, form % 2, N);
        content before = content_of(built(&b));
        assert_int_equal(rescue(built(&b), NULL, &sink, &sum), PERFILE_OK);
        content after = content_of(perfile_sink_bytes(sink));
        /* The EVENT_DESC of made captures describes other events: it is made anew. */
        assert_int_equal(sum.features_lost, 0);
        assert_int_equal(sum.damaged, sum.form == PERFILE_FORM_FILE);
        assert_int_equal(sum.gaps, 0);
        assert_int_equal(after.damages, 0);
        assert_int_equal(after.records, before.records);
        assert_int_equal(after.hash, before.hash);
        assert_int_equal(after.attrs, before.attrs);
        assert_int_equal(after.ids, before.ids);
        assert_int_equal(after.form, before.form);
        assert_int_equal(after.swapped, before.swapped);
        assert_int_equal(after.samples, before.samples);
        perfile_sink_close(sink);
        build_clear(&b);
    }
}

static perfile_sink *rescue_file(const char *path, uint32_t flags, perfile_recover_summary *sum)
{
    perfile_source *source;
    perfile_sink *sink;
    const perfile_source_options how = {.size = sizeof how, .flags = flags};
    assert_int_equal(perfile_source_path(path, &how, &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("rescued", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_recover_capture(source, sink, NULL, sum, sizeof *sum, NULL),
                     PERFILE_OK);
    return sink;
}

/* Records wait where they were read until the window moves.  Damage of all sizes cuts the rows, so
 * that some are copied and some wait, and the window moves between and in them.  The first damage
 * is near the front or far behind: there recover() asks once more whether the capture is sound,
 * which moves the window, too. */
static void what_waits_in_the_window_is_written(void **state)
{
    static const uint32_t ways[] = {PERFILE_SOURCE_SEQUENTIAL, PERFILE_SOURCE_NO_MAP, 0};
    static const uint8_t zeros[4096];
    (void)state;
    for (unsigned form = 0; form < 4; form++) {
        BUILDER b = {0};
        perfile_sink *expected, *sink;
        perfile_recover_summary want, sum;
        const size_t first = form / 2 ? 2500000 : 200000;
        capture_make(&b, form % 2 ? CAPTURE_PIPE : CAPTURE_FILE, false, 100000);
        for (size_t at = first, n = 8; at + n < b.b.len; at += 170000 + n, n = n * 3 % 4093 + 1)
            memcpy(b.b.ptr + at, zeros, n);
        assert_int_equal(rescue(built(&b), NULL, &expected, &want), PERFILE_OK);
        assert_true(b.b.len > 4 << 20 && want.gaps > 9);
        FILE *f = fopen("windowed", "w");
        assert_non_null(f);
        assert_int_equal(fwrite(b.b.ptr, 1, b.b.len, f), b.b.len);
        assert_int_equal(fclose(f), 0);
        for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
            sink = rescue_file("windowed", ways[i], &sum);
            const perfile_bytes a = perfile_sink_bytes(expected), o = perfile_sink_bytes(sink);
            assert_int_equal(o.len, a.len);
            assert_memory_equal(o.ptr, a.ptr, a.len);
            assert_int_equal(sum.records, want.records);
            assert_int_equal(sum.gaps, want.gaps);
            perfile_sink_close(sink);
        }
        perfile_sink_close(expected);
        assert_int_equal(unlink("windowed"), 0);
    }
}

/* With `put` bytes of text in it at `at`, or without `-put` bytes that stood there. */
static perfile_status rescue_moved(perfile_bytes whole, size_t at, int put, content *after,
                                   perfile_recover_summary *sum)
{
    pf_buffer b = {0};
    perfile_sink *sink;
    size_t behind = put < 0 ? at + (size_t)-put : at;
    assert_true(pf_buffer_append(&b, whole.ptr, at));
    for (int i = 0; i < put; i++)
        assert_true(pf_buffer_append(&b, &"some text "[i % 10], 1));
    assert_true(pf_buffer_append(&b, whole.ptr + behind, whole.len - behind));
    perfile_status st = rescue((perfile_bytes){b.ptr, b.len}, NULL, &sink, sum);
    *after = content_of(perfile_sink_bytes(sink));
    perfile_sink_close(sink);
    pf_buffer_free(&b);
    return st;
}

/* Data that became longer or shorter end elsewhere, and the features stand elsewhere. */
static void what_moved_is_found(void **state)
{
    (void)state;
    for (unsigned swap = 0; swap < 2; swap++) {
        builder b;
        content after;
        perfile_recover_summary same, sum;
        perfile_sink *sink;
        capture_make(&b, CAPTURE_FILE, swap, N);
        content before = content_of(built(&b));
        uint64_t data = pf_load_u64(b.b.ptr + 40, swap);
        pf_frame first = pf_frame_at(b.b.ptr + data, swap);
        assert_int_equal(rescue(built(&b), NULL, &sink, &same), PERFILE_OK);
        perfile_sink_close(sink);

        /* Between two records, … */
        assert_int_equal(rescue_moved(built(&b), data + first.size, 150, &after, &sum), PERFILE_OK);
        assert_int_equal(after.records, before.records);
        assert_int_equal(sum.lost, 150);
        assert_int_equal(sum.features, same.features);
        /* … inside one, and a whole one gone. */
        assert_int_equal(rescue_moved(built(&b), data + first.size + 12, 150, &after, &sum),
                         PERFILE_OK);
        assert_int_equal(after.records, before.records - 1);
        assert_int_equal(sum.features, same.features);
        assert_int_equal(rescue_moved(built(&b), data, -(int)first.size, &after, &sum), PERFILE_OK);
        assert_int_equal(after.records, before.records - 1);
        assert_int_equal(sum.features, same.features);
        build_clear(&b);
    }
}

static void killed_ones_get_their_size(void **state)
{
    (void)state;
    for (unsigned swap = 0; swap < 2; swap++) {
        builder b;
        perfile_sink *sink;
        perfile_recover_summary sum;
        capture_make(&b, CAPTURE_KILLED, swap, N);
        /* The last record is torn. */
        perfile_bytes torn = {b.b.ptr, b.b.len - 20};
        assert_int_equal(rescue(torn, NULL, &sink, &sum), PERFILE_OK);
        content after = content_of(perfile_sink_bytes(sink));
        assert_true(sum.unterminated && sum.damaged && sum.gaps == 2);
        assert_int_equal(after.damages, 0);
        assert_int_equal(after.samples, N);
        assert_int_equal(sum.first_time, 5000);
        assert_int_equal(sum.last_time, 5000 + 10 * (N - 1));
        perfile_sink_close(sink);
        build_clear(&b);
    }
}

/* Bytes [at, at + n) become `value`: all samples come back, and the result is whole. */
static void header_is_guessed(void **state)
{
    (void)state;
    static const struct {
        size_t at, n;
        uint8_t value;
    } damages[] = {
        {0, 8, 0},      /* magic */
        {8, 8, 0xee},   /* header size */
        {0, 16, 0},     /* both */
        {40, 8, 0},     /* data.offset */
        {48, 4, 0x7f},  /* data.size, too large */
        {49, 1, 0xff},  /* data.size, wrong */
        {24, 16, 0xff}, /* attrs */
        {16, 8, 3},     /* attr_size */
        {72, 32, 0xff}, /* bitmap */
        {0, 104, 0},    /* all of it */
    };
    for (size_t i = 0; i < 2 * (sizeof damages / sizeof damages[0]); i++) {
        builder b;
        perfile_sink *sink;
        perfile_recover_summary sum;
        capture_make(&b, CAPTURE_FILE, i % 2, N);
        content before = content_of(built(&b));
        memset(b.b.ptr + damages[i / 2].at, damages[i / 2].value, damages[i / 2].n);
        assert_int_equal(rescue(built(&b), NULL, &sink, &sum), PERFILE_OK);
        content after = content_of(perfile_sink_bytes(sink));
        if (after.hash != before.hash)
            print_message("damage %zu\n", i);
        assert_int_equal(after.damages, 0);
        assert_int_equal(after.samples, N);
        assert_int_equal(after.hash, before.hash);
        assert_int_equal(after.attrs, before.attrs);
        assert_int_equal(after.ids, before.ids);
        assert_int_equal(after.swapped, before.swapped);
        perfile_sink_close(sink);
        build_clear(&b);
    }
}

static void events_may_be_given(void **state)
{
    (void)state;
    builder b, attrs[2] = {{.swap = false}, {.swap = false}};
    perfile_sink *sink;
    perfile_recover_summary sum;
    uint64_t ids[2] = {70, 71};
    perfile_assumed_event events[2];
    capture_make(&b, CAPTURE_KILLED, false, N);
    content before = content_of((perfile_bytes){b.b.ptr, b.b.len});
    memset(b.b.ptr, 0xaa, 104 + 16 + 2 * (136 + 16));
    assert_true(rescue(built(&b), NULL, &sink, &sum) < 0);
    perfile_sink_close(sink);
    for (unsigned i = 0; i < 2; i++) {
        build_attr_plan plan = capture_plan(i);
        build_attr(&attrs[i], &plan);
        events[i] =
            (perfile_assumed_event){.attr = built(&attrs[i]), .ids = {(const uint8_t *)&ids[i], 8}};
    }
    perfile_assume assume = {.size = sizeof assume,
                             .byte_order =
                                 PF_NATIVE_BIG ? PERFILE_BYTE_ORDER_BIG : PERFILE_BYTE_ORDER_LITTLE,
                             .events = events,
                             .n_events = 2};
    assert_int_equal(rescue(built(&b), &assume, &sink, &sum), PERFILE_OK);
    content after = content_of(perfile_sink_bytes(sink));
    assert_int_equal(after.samples, N);
    assert_int_equal(after.hash, before.hash);
    assert_int_equal(after.events, 2);
    perfile_sink_close(sink);
    for (unsigned i = 0; i < 2; i++)
        build_clear(&attrs[i]);
    build_clear(&b);
}

static void events_in_words(void **state)
{
    (void)state;
    perfile_event_text t;
    perfile_attr a;
    for (unsigned big = 0; big < 2; big++) {
        assert_int_equal(
            perfile_event_parse("cpu-clock:sample_type=IP|TID|time,read_format=0x4,id=7,id=8",
                                big ? PERFILE_BYTE_ORDER_BIG : PERFILE_BYTE_ORDER_LITTLE, &t, NULL),
            PERFILE_OK);
        assert_int_equal(perfile_attr_decode((perfile_bytes){t.attr, t.attr_size},
                                             big != (bool)PF_NATIVE_BIG, &a, sizeof a, NULL),
                         PERFILE_OK);
        assert_int_equal(a.type, 1);
        assert_int_equal(a.config, 0);
        assert_int_equal(a.sample_type, 7);
        assert_int_equal(a.read_format, 4);
        assert_int_equal(a.flags, UINT64_C(1) << PERFILE_ATTR_BIT_SAMPLE_ID_ALL);
        assert_int_equal(t.n_ids, 2);
    }
    static const char *const bad[] = {"cycles",
                                      "nothing:sample_type=IP",
                                      "cycles:sample_type=IPP",
                                      "cycles:sample_type",
                                      "cycles:colour=1",
                                      "cycles:sample_type=IP,id=x"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(perfile_event_parse(bad[i], PERFILE_BYTE_ORDER_LITTLE, &t, NULL),
                         PERFILE_E_USAGE);
}

/* Behind a break in a zstd stream records come back with the next frame. */
static void goes_on_with_the_next_frame(void **state)
{
    (void)state;
    builder b = {0}, inner = {0};
    perfile_sink *sink;
    perfile_recover_summary sum;
    capture_pipe_header(&b, 2);
    capture_stream(&inner, N);
    size_t parts[4];
    for (unsigned i = 0; i < 3; i++) {
        parts[i] = b.b.len;
        capture_zstd(&b, PERFILE_RECORD_COMPRESSED, built(&inner), 301);
    }
    build_end(&b, build_begin(&b, PERFILE_RECORD_FINISHED_ROUND, 0));
    assert_int_equal(rescue(built(&b), NULL, &sink, &sum), PERFILE_OK);
    assert_int_equal(sum.samples, 3 * N);
    perfile_sink_close(sink);
    memset(b.b.ptr + parts[1] + 8 + 4, 0xff, 40);
    assert_int_equal(rescue(built(&b), NULL, &sink, &sum), PERFILE_OK);
    content after = content_of(perfile_sink_bytes(sink));
    assert_int_equal(after.damages, 0);
    assert_int_equal(after.samples, 2 * N);
    assert_true(sum.damaged && sum.decompressed);
    perfile_sink_close(sink);
    build_clear(&inner);
    build_clear(&b);
}

static const uint8_t sample[16] = {9, 0, 0, 0, 2, 0, 16, 0, 1, 2, 3, 4, 5, 6, 7, 8};

static const uint8_t tracing[16] = {66, 0, 0, 0, 0, 0, 16, 0, 8, 0, 0, 0, 0, 0, 0, 0};

static perfile_record a_record(void)
{
    return (perfile_record){.header = sample,
                            .body = {sample + 8, 8},
                            .type = PERFILE_RECORD_SAMPLE,
                            .flags = PF_NATIVE_BIG ? PERFILE_REC_SWAPPED : 0};
}

static void writer_refuses(void **state)
{
    (void)state;
    perfile_sink *sink;
    perfile_writer *w;
    perfile_record r = a_record();
    uint8_t attr[64] = {0};
    int ends[2];
    perfile_writer_options how = {.size = sizeof how, .byte_order = PERFILE_BYTE_ORDER_LITTLE};
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(perfile_sink_fd(ends[1], "a pipe", NULL, &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, &how, &w, NULL), PERFILE_E_USAGE);
    how.form = PERFILE_FORM_PIPE;
    assert_int_equal(perfile_writer_open(sink, &how, &w, NULL), PERFILE_OK);
    assert_int_equal(
        perfile_writer_feature(w, PERFILE_FEATURE_AUXTRACE, (perfile_bytes){attr, 8}, NULL),
        PERFILE_E_USAGE);
    perfile_writer_close(w);
    perfile_sink_close(sink);
    close(ends[0]);
    close(ends[1]);

    how.form = PERFILE_FORM_FILE;
    assert_int_equal(perfile_sink_memory("memory", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, &how, &w, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_event(w, (perfile_bytes){attr, 63}, NULL, NULL),
                     PERFILE_E_USAGE);
    assert_int_equal(perfile_writer_event(w, (perfile_bytes){attr, 64}, NULL, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_feature(w, 256, (perfile_bytes){attr, 4}, NULL),
                     PERFILE_E_USAGE);
    r.flags |= PERFILE_REC_PAYLOAD_CUT;
    assert_int_equal(perfile_writer_put(w, &r, NULL), PERFILE_E_USAGE);
    r = a_record();
    r.flags ^= PERFILE_REC_SWAPPED;
    assert_int_equal(perfile_writer_put(w, &r, NULL), PERFILE_E_USAGE);
    r = a_record();
    r.family = PERFILE_FAMILY_DAMAGE;
    assert_int_equal(perfile_writer_put(w, &r, NULL), PERFILE_E_USAGE);
    r = a_record();
    r.extra.len = 8; /* a sample has nothing behind it */
    assert_int_equal(perfile_writer_put(w, &r, NULL), PERFILE_E_USAGE);
    r = (perfile_record){.header = tracing,
                         .body = {tracing + 8, 8},
                         .type = PERFILE_RECORD_HEADER_TRACING_DATA,
                         .flags = a_record().flags};
    assert_int_equal(perfile_writer_put(w, &r, NULL), PERFILE_E_USAGE);
    r.extra.len = 8; /* to come */
    assert_int_equal(perfile_writer_put(w, &r, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_event(w, (perfile_bytes){attr, 64}, NULL, NULL),
                     PERFILE_E_USAGE);
    assert_int_equal(perfile_writer_put(w, &r, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_writer_extra(w, (perfile_bytes){sample, 9}, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_writer_extra(w, (perfile_bytes){sample, 8}, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_bytes(w), 24);
    assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_put(w, &r, NULL), PERFILE_E_USAGE);
    perfile_writer_close(w);
    perfile_sink_close(sink);
    perfile_writer_close(NULL);
}

static void nothing_appears_without_finish(void **state)
{
    (void)state;
    perfile_sink *sink;
    perfile_writer *w;
    perfile_record r = a_record();
    perfile_writer_options how = {.size = sizeof how, .byte_order = PERFILE_BYTE_ORDER_LITTLE};
    assert_int_equal(perfile_sink_path("unfinished.data", NULL, &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, &how, &w, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_put(w, &r, NULL), PERFILE_OK);
    perfile_writer_close(w);
    perfile_sink_close(sink);
    assert_int_not_equal(access("unfinished.data", F_OK), 0);
}

/* Unless it is a capture that is so, events have to be told apart. */
static void events_are_told_apart(void **state)
{
    (void)state;
    for (unsigned as_stored = 0; as_stored < 2; as_stored++) {
        perfile_sink *sink;
        perfile_writer *w;
        perfile_error err = {0};
        perfile_writer_options how = {.size = sizeof how, .as_stored = as_stored};
        uint64_t id = 5;
        perfile_words words = {.ptr = (const uint8_t *)&id, .n = 1, .width = 8};
        builder b = {0};
        build_attr_plan plan = capture_plan(0);
        build_attr(&b, &plan);
        assert_int_equal(perfile_sink_memory("memory", &sink, NULL), PERFILE_OK);
        assert_int_equal(perfile_writer_open(sink, &how, &w, NULL), PERFILE_OK);
        assert_int_equal(perfile_writer_event(w, built(&b), &words, NULL), PERFILE_OK);
        perfile_status without = perfile_writer_event(w, built(&b), NULL, &err);
        assert_int_equal(without, as_stored ? PERFILE_OK : PERFILE_E_USAGE);
        assert_true(as_stored || strstr(err.message, "several events need ids"));
        perfile_status again = perfile_writer_event(w, built(&b), &words, &err);
        assert_int_equal(again, as_stored ? PERFILE_OK : PERFILE_E_USAGE);
        assert_true(as_stored || strstr(err.message, "an id of another event"));
        build_clear(&b);
        perfile_writer_close(w);
        perfile_sink_close(sink);
    }
}

/* perf steps from attr to attr by their sizes: all are as long as the longest. */
static void attrs_get_one_size(void **state)
{
    (void)state;
    perfile_sink *sink;
    perfile_writer *w;
    perfile_writer_options how = {.size = sizeof how, .as_stored = true};
    uint64_t ids[2] = {5, 6};
    perfile_words words = {.ptr = (const uint8_t *)ids, .n = 2, .width = 8};
    assert_int_equal(perfile_sink_memory("memory", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, &how, &w, NULL), PERFILE_OK);
    for (unsigned i = 0; i < 2; i++) {
        builder b = {0};
        build_attr_plan plan = capture_plan(0);
        plan.size = i ? 136 : 72;
        build_attr(&b, &plan);
        assert_int_equal(perfile_writer_event(w, built(&b), i ? NULL : &words, NULL), PERFILE_OK);
        build_clear(&b);
    }
    assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
    perfile_source *source;
    perfile_stream *s;
    assert_int_equal(perfile_source_memory(perfile_sink_bytes(sink), "memory", &source, NULL),
                     PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    const perfile_session *session = perfile_stream_session(s);
    assert_int_equal(perfile_session_n_events(session), 2);
    for (unsigned i = 0; i < 2; i++) {
        const perfile_event *e = perfile_session_event(session, i);
        assert_int_equal(e->damage, 0);
        assert_int_equal(e->attr->size, 136);
        assert_int_equal(e->attr->sample_type, capture_plan(0).sample_type);
        assert_int_equal(e->ids.n, i ? 0 : 2);
    }
    perfile_stream_close(s);
    perfile_writer_close(w);
    perfile_sink_close(sink);
}

/* A record that ends with a name gets the size of itself and the next one: behind the name is room,
 * and no rule calls that an error.  The next one comes back, the other is told as lost. */
static void a_name_with_room_hides_no_record(void **state)
{
    (void)state;
    builder b = {0};
    char path[4096];
    uint8_t block[16384];
    unsigned tried = 0;
    const bool swap = PF_NATIVE_BIG; /* the sample is little-endian */
    snprintf(path, sizeof path, "%s/samples/captures/cpu-clock.data", getenv("PERFILE_SOURCE"));
    FILE *f = fopen(path, "rb");
    assert_non_null(f);
    size_t n = fread(block, 1, sizeof block, f);
    fclose(f);
    assert_true(n > 104 && n < sizeof block);
    build_bytes(&b, block, n);
    const size_t begin = (size_t)pf_load_u64(b.b.ptr + 40, swap);
    const size_t end = begin + (size_t)pf_load_u64(b.b.ptr + 48, swap);
    const uint64_t records = content_of(built(&b)).records;
    for (size_t at = begin; at < end;) {
        uint8_t *p = b.b.ptr + at;
        const pf_frame own = pf_frame_at(p, swap);
        const bool last = at + own.size >= end;
        const bool named = own.type == PERFILE_RECORD_COMM || own.type == PERFILE_RECORD_MMAP2;
        const pf_frame next = pf_frame_at(p + (last ? 0 : own.size), swap);
        /* A header alone is too little to know it by. */
        if (named && !last && next.size > PF_PERF_RECORD_HEADER) {
            perfile_sink *sink;
            perfile_recover_summary sum;
            pf_store_u16(p + 6, (uint16_t)(own.size + next.size), swap);
            assert_int_equal(rescue(built(&b), NULL, &sink, &sum), PERFILE_OK);
            assert_true(sum.damaged);
            assert_int_equal(sum.lost, own.size);
            assert_int_equal(sum.records, records - 1);
            perfile_sink_close(sink);
            pf_store_u16(p + 6, (uint16_t)own.size, swap);
            tried++;
        }
        at += own.size;
    }
    assert_true(tried >= 5);
    build_clear(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_captures_come_back_whole),
        cmocka_unit_test(what_waits_in_the_window_is_written),
        cmocka_unit_test(what_moved_is_found),
        cmocka_unit_test(killed_ones_get_their_size),
        cmocka_unit_test(header_is_guessed),
        cmocka_unit_test(events_may_be_given),
        cmocka_unit_test(events_in_words),
        cmocka_unit_test(goes_on_with_the_next_frame),
        cmocka_unit_test(writer_refuses),
        cmocka_unit_test(nothing_appears_without_finish),
        cmocka_unit_test(events_are_told_apart),
        cmocka_unit_test(attrs_get_one_size),
        cmocka_unit_test(a_name_with_room_hides_no_record),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

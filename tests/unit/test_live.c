/* Sessions that programs make, and streams of what programs have in memory: what they say is what a
 * file says, and what no program should hand over is damage and never read. */
#include "testing.h"

#include <stdio.h>

#include "../captures.h"
#include "base/alloc.h"
#include "fake_ring.h"
#include "perfile/perfile.h"
#include "emit/command.h"

enum { SAMPLES = 40, MOST_SPANS = 64 };

/* The two events of captures.h: the first from its struct, the second as stored. */
static perfile_session *session_made(bool swapped)
{
    const perfile_session_options so = {.size = sizeof so, .byte_order = pf_byte_order_of(swapped)};
    perfile_session *s;
    perfile_error err = {0};
    builder b = {.swap = swapped};
    build_attr_plan plan = capture_plan(1);
    uint64_t ids[2] = {70, 71};
    uint32_t index = 9;
    perfile_attr first = {.size = 136,
                          .type = 1,
                          .is_period = true,
                          .sample_period = 1000,
                          .sample_type = CAPTURE_SAMPLE_TYPE,
                          .read_format = PERFILE_FORMAT_ID,
                          .flags = capture_plan(0).flags};
    char name[] = "first", second[] = "second";
    perfile_new_event e = {.size = sizeof e,
                           .attr = &first,
                           .ids = ids,
                           .n_ids = 1,
                           .name = name,
                           .unit = "J",
                           .scale = 2};
    assert_int_equal(perfile_session_open(&so, &s, &err), PERFILE_OK);
    assert_int_equal(perfile_session_add_event(s, &e, &index, &err), PERFILE_OK);
    assert_int_equal(index, 0);
    build_attr(&b, &plan);
    uint8_t *attr = exact(b.b.ptr, b.b.len);
    perfile_words words = perfile_words_u64(ids + 1, 1);
    assert_int_equal(
        perfile_session_add_attr(s, (perfile_bytes){attr, b.b.len}, &words, second, &index, &err),
        PERFILE_OK);
    assert_int_equal(index, 1);
    /* All of it is copied. */
    memset(attr, 0xff, b.b.len);
    memset(name, 'x', 5);
    memset(second, 'x', 6);
    memset(ids, 0xff, sizeof ids);
    free(attr);
    build_clear(&b);
    return s;
}

/* A sample with a call chain and a COMM with a trailer. */
static void program_session_decodes_records(void **state)
{
    (void)state;
    for (unsigned swapped = 0; swapped < 2; swapped++) {
        builder b = {.swap = swapped};
        perfile_session *s = session_made(swapped);
        capture_sample(&b, 1);
        size_t size = b.b.len;
        const uint8_t flags = swapped ? PERFILE_REC_SWAPPED : 0;
        perfile_record r = {.header = b.b.ptr,
                            .body = {b.b.ptr + 8, size - 8},
                            .type = PERFILE_RECORD_SAMPLE,
                            .flags = flags,
                            .envelope = PERFILE_NO_SEQUENCE,
                            .session = s};
        perfile_sample v;
        assert_int_equal(perfile_sample_decode(&r, &v, sizeof v, NULL), PERFILE_OK);
        assert_int_equal(v.callchain.n, 3);
        assert_true(perfile_word(&v.callchain, 2) == 0x402000);
        assert_true(perfile_record_time(&r) == 5010);
        assert_string_equal(perfile_record_event(&r)->name, "second");
        assert_string_equal(perfile_session_event(s, 0)->name, "first");
        assert_string_equal(perfile_session_event(s, 0)->unit, "J");

        size_t at = build_begin(&b, PERFILE_RECORD_COMM, 0);
        build_u32(&b, 100);
        build_u32(&b, 101);
        build_text(&b, "work");
        capture_trailer(&b, 0);
        build_end(&b, at);
        r.header = b.b.ptr + at;
        r.body = (perfile_bytes){r.header + 8, b.b.len - at - 8};
        r.type = PERFILE_RECORD_COMM;
        perfile_comm comm;
        perfile_sample_id id;
        assert_int_equal(perfile_comm_decode(&r, &comm, sizeof comm, NULL), PERFILE_OK);
        assert_int_equal(comm.tid, 101);
        assert_memory_equal(comm.comm.ptr, "work", 4);
        assert_int_equal(perfile_sample_id_decode(&r, &id, sizeof id, NULL), PERFILE_OK);
        assert_true(perfile_record_time(&r) == 5000);
        assert_int_equal(perfile_record_event(&r)->index, 0);
        perfile_session_close(s);
        build_clear(&b);
    }
}

static void mistakes_of_programs_are_told(void **state)
{
    (void)state;
    perfile_session *s = session_made(false), *none = NULL;
    const uint8_t attr[72] = {0};
    const uint64_t taken = 71;
    perfile_words ids = perfile_words_u64(&taken, 1);
    perfile_error err = {0};
    const perfile_session_options unset = {0};
    assert_int_equal(perfile_session_open(&unset, &none, &err), PERFILE_E_USAGE);
    assert_null(none);
    assert_int_equal(perfile_session_add_attr(s, (perfile_bytes){attr, 63}, NULL, NULL, NULL, &err),
                     PERFILE_E_USAGE);
    assert_int_equal(perfile_session_add_attr(s, (perfile_bytes){attr, 64}, &ids, NULL, NULL, &err),
                     PERFILE_E_USAGE);
    assert_string_equal(err.message, "id 71 is that of event 1");
    const perfile_new_event e = {.size = sizeof e};
    assert_int_equal(perfile_session_add_event(s, &e, NULL, &err), PERFILE_E_USAGE);
    perfile_bytes payload = {attr, 8};
    assert_int_equal(perfile_session_set_feature(s, 3, payload, &err), PERFILE_OK);
    assert_int_equal(perfile_session_set_feature(s, 3, payload, &err), PERFILE_E_USAGE);
    assert_int_equal(perfile_session_set_feature(s, 256, payload, &err), PERFILE_E_USAGE);
    assert_int_equal(perfile_session_n_events(s), 2);
    perfile_stream *stream = NULL;
    perfile_stream_callbacks c = {.size = sizeof c};
    assert_int_equal(perfile_stream_callback(&c, NULL, s, NULL, &stream, &err), PERFILE_E_USAGE);
    assert_null(stream);
    perfile_session_close(s);
    perfile_session_close(NULL);
}

/* Spans, each in a heap block of its own that is gone when the next is asked for. */
typedef struct spans {
    perfile_bytes span[MOST_SPANS];
    unsigned n, at, closed;
    unsigned damage_at; /* in front of this one damage is told; 0: none */
    uint8_t *block;
    perfile_status failure; /* at the end, instead of PERFILE_END */
} spans;

static perfile_status next_span(void *user, perfile_bytes *span, perfile_error *err)
{
    spans *x = user;
    free(x->block);
    x->block = NULL;
    assert_non_null(err);
    if (x->damage_at && x->at == x->damage_at) {
        x->damage_at = 0;
        err->status = PERFILE_E_CORRUPT;
        err->damage = PERFILE_DAMAGE_OVERRUN;
        return PERFILE_E_CORRUPT;
    }
    if (x->at == x->n)
        return x->failure ? x->failure : PERFILE_END;
    x->block = exact(x->span[x->at].ptr, x->span[x->at].len);
    *span = (perfile_bytes){x->block, x->span[x->at].len};
    x->at++;
    return PERFILE_OK;
}

static void close_spans(void *user)
{
    spans *x = user;
    free(x->block);
    x->block = NULL;
    x->closed++;
}

static perfile_stream *streamed_spans(spans *x, bool swapped, const perfile_open_options *options)
{
    const perfile_stream_callbacks c = {
        .size = sizeof c, .user = x, .next = next_span, .close = close_spans};
    perfile_stream *s = NULL;
    perfile_session *session = session_made(swapped);
    assert_int_equal(perfile_stream_callback(&c, "mine", session, options, &s, NULL), PERFILE_OK);
    perfile_session_close(session); /* the stream has its own */
    return s;
}

/* COMM, then samples whose times fall: `each` records in a span. */
static void put_records(builder *b, spans *x, unsigned each)
{
    size_t starts[SAMPLES + 2];
    unsigned n = 0;
    for (unsigned i = 0; i <= SAMPLES; i++) {
        starts[n++] = b->b.len;
        if (i)
            capture_sample(b, SAMPLES - i);
        else {
            size_t at = build_begin(b, PERFILE_RECORD_COMM, 0);
            build_u32(b, 100);
            build_u32(b, 101);
            build_text(b, "work");
            capture_trailer(b, 0);
            build_end(b, at);
        }
    }
    starts[n] = b->b.len;
    for (unsigned i = 0; i < n; i += each) {
        unsigned end = i + each < n ? i + each : n;
        x->span[x->n++] = (perfile_bytes){b->b.ptr + starts[i], starts[end] - starts[i]};
    }
}

/* filter, sort, writer */
static perfile_sink *made_of(perfile_stream *s)
{
    const perfile_filter_term term = {.kind = PERFILE_FILTER_BY_CPU, .text = "1"};
    const perfile_filter_options how = {.size = sizeof how, .n_terms = 1, .terms = &term};
    perfile_filter_state *filter;
    perfile_sink *sink;
    perfile_writer *w;
    const perfile_writer_options wo = {.size = sizeof wo};
    perfile_copy_summary sum = {0};
    perfile_error err = {0};
    assert_int_equal(perfile_filter_open(&how, &filter, &err), PERFILE_OK);
    assert_int_equal(perfile_filter(s, filter, &s, &err), PERFILE_OK);
    assert_int_equal(perfile_sort(s, NULL, &s, &err), PERFILE_OK);
    assert_int_equal(perfile_sink_memory("out", &sink, &err), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, &wo, &w, &err), PERFILE_OK);
    perfile_status st = perfile_copy(s, w, NULL, &sum, sizeof sum, &err);
    if (st != PERFILE_OK)
        print_error("%s\n", err.message);
    assert_int_equal(st, PERFILE_OK);
    assert_int_equal(sum.samples, SAMPLES / 2);
    perfile_writer_close(w);
    perfile_stream_close(s);
    perfile_filter_close(filter);
    assert_int_equal(perfile_sink_finish(sink, &err), PERFILE_OK);
    return sink;
}

/* The same records in a file, which a writer made of the same facts. */
static perfile_sink *file_of(perfile_bytes records, bool swapped)
{
    perfile_session *session = session_made(swapped);
    perfile_sink *sink;
    perfile_writer *w;
    const perfile_writer_options wo = {.size = sizeof wo, .byte_order = pf_byte_order_of(swapped)};
    assert_int_equal(perfile_sink_memory("file", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_writer_open(sink, &wo, &w, NULL), PERFILE_OK);
    for (uint32_t i = 0; i < 2; i++) {
        const perfile_event *e = perfile_session_event(session, i);
        assert_int_equal(perfile_writer_event(w, e->stored, &e->ids, NULL), PERFILE_OK);
        assert_int_equal(perfile_writer_event_name(w, i, e->name, NULL), PERFILE_OK);
    }
    assert_int_equal(perfile_writer_put_spans(w, (perfile_bytes[2]){records, {NULL, 0}}, 0, NULL),
                     PERFILE_OK);
    assert_int_equal(perfile_writer_finish(w, NULL), PERFILE_OK);
    perfile_writer_close(w);
    assert_int_equal(perfile_sink_finish(sink, NULL), PERFILE_OK);
    perfile_session_close(session);
    return sink;
}

static void stages_make_what_they_make_of_a_file(void **state)
{
    (void)state;
    for (unsigned each = 1; each <= SAMPLES + 1; each += 7) {
        builder b = {.swap = false};
        spans x = {.n = 0};
        put_records(&b, &x, each);
        perfile_sink *file = file_of(built(&b), false);
        perfile_sink *live = made_of(streamed_spans(&x, false, NULL));
        assert_int_equal(x.closed, 1);
        perfile_source *source;
        perfile_stream *s;
        assert_int_equal(perfile_source_memory(perfile_sink_bytes(file), "file", &source, NULL),
                         PERFILE_OK);
        assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
        perfile_sink *of_file = made_of(s);
        perfile_bytes p = perfile_sink_bytes(live), q = perfile_sink_bytes(of_file);
        assert_int_equal(p.len, q.len);
        assert_memory_equal(p.ptr, q.ptr, p.len);
        perfile_sink_close(live);
        perfile_sink_close(of_file);
        perfile_sink_close(file);
        build_clear(&b);
    }
}

/* Reads to the end; what the end was. */
static perfile_status counted(perfile_stream *s, perfile_stream_summary *sum, perfile_error *err)
{
    const perfile_record *r;
    perfile_status st;
    uint64_t place = 0;
    while ((st = perfile_stream_next(s, &r, err)) == PERFILE_OK) {
        assert_true(r->offset >= place);
        place = r->offset;
        if (r->type == PERFILE_RECORD_SAMPLE && perfile_record_time(r) != PERFILE_NO_TIME)
            assert_int_equal(perfile_record_event(r)->index, (perfile_record_time(r) / 10) % 2);
    }
    assert_int_equal(perfile_stream_next(s, &r, NULL), st);
    perfile_stream_get_summary(s, sum, sizeof *sum);
    perfile_stream_close(s);
    return st;
}

static void merged_with_a_file(void **state)
{
    (void)state;
    builder b = {.swap = false};
    spans x[2] = {{.n = 0}, {.n = 0}};
    perfile_merge_input in[2] = {{.name = "a", .has_offset = true},
                                 {.name = "b", .has_offset = true}};
    put_records(&b, &x[0], 5);
    x[1] = x[0];
    perfile_error err = {0};
    for (unsigned i = 0; i < 2; i++) {
        perfile_stream *s = streamed_spans(&x[i], false, NULL);
        assert_int_equal(perfile_sort(s, NULL, &in[i].stream, &err), PERFILE_OK);
    }
    perfile_merge_options mo = {.size = sizeof mo};
    perfile_stream *merged = NULL;
    perfile_status st = perfile_merge(in, 2, &mo, &merged, &err);
    if (st != PERFILE_OK)
        print_error("%s\n", err.message);
    assert_int_equal(st, PERFILE_OK);
    const perfile_record *r;
    unsigned samples = 0;
    while ((st = perfile_stream_next(merged, &r, &err)) == PERFILE_OK)
        samples += r->type == PERFILE_RECORD_SAMPLE;
    assert_int_equal(st, PERFILE_END);
    assert_int_equal(samples, 2 * SAMPLES);
    perfile_stream_close(merged);
    assert_int_equal(x[0].closed + x[1].closed, 2);
    build_clear(&b);
}

/* A size that cannot be in each record of each span, under each policy. */
static void hostile_sizes_are_damage(void **state)
{
    static const uint16_t sizes[] = {0, 1, 7, 9, 64000, 65535};
    (void)state;
    for (unsigned policy = PERFILE_ON_DAMAGE_STOP; policy <= PERFILE_ON_DAMAGE_SALVAGE; policy++) {
        for (unsigned k = 0; k < 2 * sizeof sizes / sizeof sizes[0]; k++) {
            builder b = {.swap = k % 2};
            spans x = {.n = 0};
            perfile_stream_summary sum;
            const perfile_open_options o = {
                .size = sizeof o, .on_damage = policy, .deliver = PERFILE_DELIVER_DAMAGE};
            put_records(&b, &x, 6);
            size_t at = (size_t)(x.span[2].ptr - b.b.ptr);
            build_u16_at(&b, at + 6, sizes[k / 2]);
            perfile_status st = counted(streamed_spans(&x, k % 2, &o), &sum, NULL);
            assert_int_equal(st, PERFILE_END);
            assert_true(sum.damages >= 1);
            assert_true(sum.records >= 12);
            if (policy == PERFILE_ON_DAMAGE_STOP)
                assert_int_equal(sum.records, 12 + (sizes[k / 2] == 9)); /* that one is whole */
            else
                assert_true(sum.records >= SAMPLES - 6);
            build_clear(&b);
        }
    }
}

/* With STOP a stream ends at its first damage: what a recorder will write is not waited for. */
static void stop_waits_for_nothing(void **state)
{
    (void)state;
    for (unsigned k = 0; k < 4; k++) {
        builder b = {.swap = false};
        spans x = {.n = 0};
        perfile_stream_summary sum;
        put_records(&b, &x, 6);
        size_t at = (size_t)(x.span[2].ptr - b.b.ptr);
        if (k < 3) /* its first record: too small, or behind the end of the span */
            build_u16_at(&b, at + 6, k == 0 ? 3 : k == 1 ? 0 : 60000);
        else
            x.span[2].len -= 4; /* its last one is cut */
        assert_int_equal(counted(streamed_spans(&x, false, NULL), &sum, NULL), PERFILE_END);
        assert_int_equal(x.at, 3);
        assert_int_equal(sum.damages, 1);
        assert_int_equal(sum.records, k < 3 ? 12 : 17);
        assert_true(sum.lost > 0 && sum.lost <= x.span[2].len);
        assert_int_equal(x.closed, 1);
        build_clear(&b);
    }
}

/* Spans that end anywhere: the rest of a record is never looked for in the next span. */
static void cut_spans_are_damage(void **state)
{
    (void)state;
    builder b = {.swap = false};
    spans all = {.n = 0};
    put_records(&b, &all, 4);
    for (size_t cut = 1; cut < all.span[1].len; cut++) {
        for (unsigned policy = PERFILE_ON_DAMAGE_STOP; policy <= PERFILE_ON_DAMAGE_SALVAGE;
             policy++) {
            const perfile_open_options o = {.size = sizeof o, .on_damage = policy};
            spans x = all;
            perfile_stream_summary sum;
            x.span[1].len -= cut;
            assert_int_equal(counted(streamed_spans(&x, false, &o), &sum, NULL), PERFILE_END);
            assert_true(sum.records >= 4 && sum.records < SAMPLES + 1);
            assert_true(sum.damages || x.span[1].len % 8 == 0);
        }
    }
    build_clear(&b);
}

static void damage_that_is_told_is_damage(void **state)
{
    (void)state;
    builder b = {.swap = false};
    spans all = {.n = 0};
    put_records(&b, &all, 6);
    for (unsigned at = 1; at < all.n; at++) {
        for (unsigned policy = PERFILE_ON_DAMAGE_STOP; policy <= PERFILE_ON_DAMAGE_SALVAGE;
             policy++) {
            const perfile_open_options o = {.size = sizeof o, .on_damage = policy};
            spans x = all;
            perfile_stream_summary sum;
            x.damage_at = at;
            assert_int_equal(counted(streamed_spans(&x, false, &o), &sum, NULL), PERFILE_END);
            assert_int_equal(sum.by_damage[PERFILE_DAMAGE_OVERRUN], 1);
            assert_int_equal(sum.damages, 1);
            assert_int_equal(sum.records, policy == PERFILE_ON_DAMAGE_STOP ? 6 * at : SAMPLES + 1);
        }
    }
    build_clear(&b);
}

static void failures_of_callbacks_are_final(void **state)
{
    static const perfile_status given[] = {PERFILE_E_IO, PERFILE_E_NOMEM, (perfile_status)7};
    static const perfile_status wanted[] = {PERFILE_E_IO, PERFILE_E_NOMEM, PERFILE_E_USAGE};
    (void)state;
    for (unsigned i = 0; i < 3; i++) {
        builder b = {.swap = false};
        spans x = {.failure = given[i]};
        perfile_stream_summary sum;
        perfile_error err = {0};
        put_records(&b, &x, 6);
        assert_int_equal(counted(streamed_spans(&x, false, NULL), &sum, &err), wanted[i]);
        assert_int_equal(err.status, wanted[i]);
        assert_int_equal(sum.records, SAMPLES + 1);
        build_clear(&b);
    }
}

/* Whatever allocation fails: nothing leaks, and the callback's own is not closed. */
static void without_memory(void **state)
{
    (void)state;
    builder b = {.swap = false};
    spans x = {.n = 0};
    put_records(&b, &x, 6);
    perfile_session *session = session_made(false);
    const perfile_stream_callbacks c = {
        .size = sizeof c, .user = &x, .next = next_span, .close = close_spans};
    perfile_status st = PERFILE_E_NOMEM;
    for (uint64_t n = 1; st != PERFILE_OK; n++) {
        perfile_stream *s = NULL;
        pf_alloc_count = 0;
        pf_alloc_fail_at = n;
        st = perfile_stream_callback(&c, "mine", session, NULL, &s, NULL);
        pf_alloc_fail_at = 0;
        assert_true(st == PERFILE_OK || st == PERFILE_E_NOMEM);
        assert_int_equal(x.closed, 0);
        perfile_stream_close(s);
    }
    assert_int_equal(x.closed, 1);
    perfile_session_close(session);
    build_clear(&b);
}

/* Rings. */

static void fake_write(fake_ring *f, const builder *b)
{
    fake_bytes(f, f->head, b->b.ptr, b->b.len);
    f->head += b->b.len;
    fake_set(f, FAKE_HEAD, f->head);
}

static void fake_sample(fake_ring *f, uint32_t n)
{
    builder b = {.swap = false};
    capture_sample(&b, n);
    fake_write(f, &b);
    build_clear(&b);
}

typedef struct waiting {
    fake_ring *f;
    unsigned left;
    uint32_t n;
} waiting;

/* Writes three more samples, a few times. */
static perfile_status wait_for_more(void *user, perfile_error *err)
{
    waiting *w = user;
    (void)err;
    assert_true(fake_get(w->f, FAKE_TAIL) == w->f->head); /* all was released */
    if (!w->left--)
        return PERFILE_END;
    for (unsigned i = 0; i < 3; i++)
        fake_sample(w->f, w->n++);
    return PERFILE_OK;
}

static perfile_stream *ring_streamed(perfile_ring *const *rings, size_t n, waiting *w,
                                     uint32_t on_damage)
{
    const perfile_open_options o = {.size = sizeof o, .on_damage = on_damage};
    const perfile_ring_stream_options ro = {.size = sizeof ro,
                                            .rings = rings,
                                            .n_rings = n,
                                            .options = &o,
                                            .wait = w ? wait_for_more : NULL,
                                            .user = w};
    perfile_stream *s = NULL;
    perfile_error err = {0};
    perfile_status st = perfile_ring_stream(&ro, &s, &err);
    if (st != PERFILE_OK)
        print_error("%s\n", err.message);
    assert_int_equal(st, PERFILE_OK);
    return s;
}

/* Live records: a ring at every place of its buffer, filtered and dumped. */
static void ring_is_filtered_and_dumped(void **state)
{
    enum { ROOM = 1024, IN_RING = 10 };
    (void)state;
    unsigned wrapped = 0;
    for (unsigned mode = PERFILE_RING_FORWARD; mode <= PERFILE_RING_READ_ONLY; mode++) {
        for (uint64_t from = 0; from < ROOM; from += 8) {
            fake_ring f = fake_new(ROOM);
            perfile_session *session = session_made(false);
            perfile_ring_options o = fake_options(&f, mode);
            perfile_ring *ring;
            fake_at(&f, 2 * ROOM + from); /* read-only begins at the head, so far on */
            o.session = session;
            assert_int_equal(perfile_ring_open(&o, &ring, NULL), PERFILE_OK);
            for (uint32_t i = 0; i < IN_RING; i++)
                fake_sample(&f, i);
            const perfile_filter_term term = {.kind = PERFILE_FILTER_BY_EVENT, .text = "second"};
            const perfile_filter_options how = {.size = sizeof how, .n_terms = 1, .terms = &term};
            perfile_stream *s = ring_streamed(&ring, 1, NULL, PERFILE_ON_DAMAGE_STOP);
            perfile_filter_state *filter;
            perfile_sink *sink;
            perfile_emitter *e;
            const perfile_record *r;
            assert_int_equal(perfile_filter_open(&how, &filter, NULL), PERFILE_OK);
            assert_int_equal(perfile_filter(s, filter, &s, NULL), PERFILE_OK);
            assert_int_equal(perfile_sink_memory("out", &sink, NULL), PERFILE_OK);
            assert_int_equal(perfile_emitter_open("jsonl", s, sink, NULL, &e, NULL), PERFILE_OK);
            assert_int_equal(perfile_emitter_begin(e, NULL), PERFILE_OK);
            perfile_error err = {0};
            perfile_status st;
            while ((st = perfile_stream_next(s, &r, &err)) == PERFILE_OK)
                assert_int_equal(perfile_emitter_put(e, r, NULL), PERFILE_OK);
            if (st != PERFILE_END)
                print_error("%s\n", err.message);
            assert_int_equal(st, PERFILE_END);
            assert_int_equal(perfile_emitter_finish(e, NULL), PERFILE_OK);
            assert_int_equal(pf_emitter_outcome(e), PF_EMIT_COMPLETE);
            perfile_bytes out = perfile_sink_bytes(sink);
            char *text = malloc(out.len + 1);
            assert_non_null(text);
            memcpy(text, out.ptr, out.len);
            text[out.len] = 0;
            unsigned lines = 0;
            for (const char *p = text; (p = strstr(p, "\"callchain\"")); p++)
                lines++;
            assert_int_equal(lines, IN_RING / 2);
            if (mode == PERFILE_RING_FORWARD)
                assert_true(fake_get(&f, FAKE_TAIL) == f.head);
            perfile_ring_summary sum;
            perfile_ring_get_summary(ring, &sum, sizeof sum);
            wrapped += (unsigned)sum.wrapped;
            free(text);
            perfile_emitter_close(e);
            perfile_sink_close(sink);
            perfile_stream_close(s);
            perfile_filter_close(filter);
            perfile_ring_close(ring);
            perfile_session_close(session);
            fake_free(&f);
        }
    }
    assert_true(wrapped > 50);
}

/* Two rings, one of which is written to while it is waited for. */
static void rings_go_on(void **state)
{
    (void)state;
    fake_ring f[2] = {fake_new(512), fake_new(256)};
    perfile_ring *rings[2];
    perfile_session *session = session_made(false);
    for (unsigned i = 0; i < 2; i++) {
        perfile_ring_options o = fake_options(&f[i], PERFILE_RING_FORWARD);
        o.session = session;
        assert_int_equal(perfile_ring_open(&o, &rings[i], NULL), PERFILE_OK);
    }
    fake_sample(&f[0], 0);
    fake_sample(&f[1], 1);
    perfile_stream_summary sum;
    assert_int_equal(counted(ring_streamed(rings, 2, NULL, PERFILE_ON_DAMAGE_STOP), &sum, NULL),
                     PERFILE_END);
    assert_int_equal(sum.records, 2);
    fake_sample(&f[1], 2); /* made anew: what came since */
    assert_int_equal(counted(ring_streamed(rings, 2, NULL, PERFILE_ON_DAMAGE_STOP), &sum, NULL),
                     PERFILE_END);
    assert_int_equal(sum.records, 1);
    waiting w = {&f[0], 20, 3};
    assert_int_equal(counted(ring_streamed(rings, 2, &w, PERFILE_ON_DAMAGE_STOP), &sum, NULL),
                     PERFILE_END);
    assert_int_equal(sum.records, 60);
    assert_int_equal(sum.damages, 0);
    for (unsigned i = 0; i < 2; i++) {
        perfile_ring_close(rings[i]);
        fake_free(&f[i]);
    }
    perfile_session_close(session);
}

/* A bad size and an overrun: what was there before is handed out, then damage, then the rest. */
static void damage_of_rings_is_damage_of_the_stream(void **state)
{
    (void)state;
    for (unsigned policy = PERFILE_ON_DAMAGE_STOP; policy <= PERFILE_ON_DAMAGE_RESYNC; policy++) {
        fake_ring f = fake_new(1024);
        perfile_session *session = session_made(false);
        perfile_ring_options o = fake_options(&f, PERFILE_RING_FORWARD);
        perfile_ring *ring;
        perfile_stream_summary sum;
        waiting w = {&f, 1, 4};
        const uint8_t zeros[8] = {0};
        o.session = session;
        assert_int_equal(perfile_ring_open(&o, &ring, NULL), PERFILE_OK);
        fake_sample(&f, 0);
        fake_sample(&f, 1);
        fake_bytes(&f, f.head, zeros, sizeof zeros);
        fake_set(&f, FAKE_HEAD, f.head += 8);
        assert_int_equal(counted(ring_streamed(&ring, 1, &w, policy), &sum, NULL), PERFILE_END);
        assert_int_equal(sum.records, policy == PERFILE_ON_DAMAGE_STOP ? 2 : 5);
        assert_int_equal(sum.by_damage[PERFILE_DAMAGE_BAD_SIZE], 1);
        fake_set(&f, FAKE_HEAD, f.head += 5000 * 8);
        assert_int_equal(counted(ring_streamed(&ring, 1, NULL, policy), &sum, NULL), PERFILE_END);
        assert_int_equal(sum.by_damage[PERFILE_DAMAGE_OVERRUN], 1);
        perfile_ring_close(ring);
        perfile_session_close(session);
        fake_free(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(program_session_decodes_records),
        cmocka_unit_test(mistakes_of_programs_are_told),
        cmocka_unit_test(stages_make_what_they_make_of_a_file),
        cmocka_unit_test(merged_with_a_file),
        cmocka_unit_test(hostile_sizes_are_damage),
        cmocka_unit_test(stop_waits_for_nothing),
        cmocka_unit_test(cut_spans_are_damage),
        cmocka_unit_test(damage_that_is_told_is_damage),
        cmocka_unit_test(failures_of_callbacks_are_final),
        cmocka_unit_test(without_memory),
        cmocka_unit_test(ring_is_filtered_and_dumped),
        cmocka_unit_test(rings_go_on),
        cmocka_unit_test(damage_of_rings_is_damage_of_the_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

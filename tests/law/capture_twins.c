/* A capture and its twin of the other byte order say the same, and the twin of the twin is the
 * capture, byte for byte. */
#include "testing.h"

#include "captures.h"
#include "core/swap.h"
#include "recorded.h"
#include "streamed.h"
#include "twin.h"

typedef struct copy {
    builder b;
    bool unfit;   /* holds what has no twin: records in envelopes, bytes of no record */
    bool damaged; /* holds what cannot be decoded */
} copy;

static void reverse_at(copy *c, uint64_t at, size_t n)
{
    twin_reverse(c->b.b.ptr + at, n);
}

/* u64 words from `at` on. */
static void reverse_words(copy *c, uint64_t at, uint64_t bytes)
{
    for (uint64_t i = 0; i + 8 <= bytes; i += 8)
        reverse_at(c, at + i, 8);
}

/* What cannot be read is turned as far as it can be, and says nothing about values. */
static void turn_feature(copy *c, const perfile_feature *f, uint64_t at)
{
    if (f->damage)
        c->unfit = true;
    else if (pf_swap_feature(f, c->b.b.ptr + at, NULL) < 0)
        c->damaged = true;
}

static void turn_record(copy *c, const perfile_record *r)
{
    if (r->flags & (PERFILE_REC_ENVELOPE | PERFILE_REC_INNER | PERFILE_REC_PAYLOAD_CUT))
        c->unfit = true;
    else if (pf_swap_record(r, c->b.b.ptr + r->offset, NULL) < 0)
        c->damaged = true;
}

/* Header, attrs, ids and feature table of the file form. */
static void turn_sections(copy *c, const perfile_stream *s)
{
    const perfile_container *k = perfile_stream_container(s);
    const perfile_session *session = perfile_stream_session(s);
    enum { EVENT_TYPE = 72, FIRST = 16 };
    if (k->n_damages) {
        c->unfit = true;
        return;
    }
    for (uint64_t at = 0; at + EVENT_TYPE <= k->event_types.size; at += EVENT_TYPE)
        reverse_at(c, k->event_types.offset + at, 8);
    for (uint32_t i = 0; i < perfile_session_n_events(session); i++) {
        const perfile_event *e = perfile_session_event(session, i);
        bool swapped = perfile_session_swapped(session);
        uint64_t where = e->offset + k->attr_size - 16;
        if (pf_swap_attr(e->stored, swapped, c->b.b.ptr + e->offset, NULL) != PERFILE_OK)
            c->unfit = true;
        if (e->ids.n)
            reverse_words(c, pf_load_u64(c->b.b.ptr + where, swapped), 8 * e->ids.n);
        reverse_words(c, where, 16);
    }
    uint64_t table = k->data.offset + k->data.size;
    for (uint32_t i = 0; i < perfile_session_n_features(session); i++) {
        const perfile_feature *f = perfile_session_feature_at(session, i);
        if (f->origin != PERFILE_ORIGIN_CONTAINER)
            continue;
        turn_feature(c, f, f->offset);
        reverse_words(c, table, 16);
        table += 16;
    }
    reverse_words(c, FIRST, k->header_size - FIRST);
}

/* The twin of `bytes`; false when it has none. */
static bool make_twin(perfile_bytes bytes, copy *c)
{
    perfile_source *source;
    perfile_stream *s;
    perfile_open_options options = {
        .size = sizeof options, .as_stored = true, .deliver = PERFILE_DELIVER_DAMAGE};
    const perfile_record *r;
    *c = (copy){.unfit = false};
    build_bytes(&c->b, bytes.ptr, bytes.len);
    assert_int_equal(perfile_source_memory(bytes, "one", &source, NULL), PERFILE_OK);
    if (perfile_open(source, &options, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return false;
    }
    while (!c->unfit && perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        if (r->family != PERFILE_FAMILY_PERF)
            c->unfit = true;
        else
            turn_record(c, r);
    }
    if (!c->unfit && perfile_stream_container(s)->form == PERFILE_FORM_FILE)
        turn_sections(c, s);
    if (perfile_stream_container(s)->version == 2)
        reverse_at(c, 0, 8);
    reverse_at(c, 8, 8);
    perfile_stream_close(s);
    return !c->unfit;
}

/* Fields, events, times of all records: everything but bytes as they are stored. */
static void tell(const char *whose, perfile_bytes bytes, transcript *t)
{
    perfile_source *source;
    perfile_stream *s;
    perfile_open_options options = {.size = sizeof options, .as_stored = true};
    const perfile_record *r;
    uint32_t pid, tid;
    assert_int_equal(perfile_source_memory(bytes, "one", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &options, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        tell_number(t, "type", r->type);
        tell_number(t, "misc", r->misc);
        tell_number(t, "offset", r->offset);
        tell_number(t, "size", r->body.len);
        tell_number(t, "time", perfile_record_time(r));
        if (perfile_record_task(r, &pid, &tid))
            tell_number(t, "task", (uint64_t)pid << 32 | tid);
        const perfile_event *e = perfile_record_event(r);
        tell_number(t, "event", e ? e->index : UINT64_MAX);
        if (r->type != PERFILE_RECORD_HEADER_FEATURE)
            assert_int_equal(perfile_record_walk(r, 0, &transcript_visitor, t, NULL), PERFILE_OK);
        assert_true(perfile_record_walk_trailer(r, 0, &transcript_visitor, t, NULL) >= 0);
    }
    const perfile_session *session = perfile_stream_session(s);
    for (uint32_t i = 0; i < perfile_session_n_events(session); i++) {
        const perfile_event *e = perfile_session_event(session, i);
        streamed_text(t, "name", e->name);
        tell_words(t, "ids", e->ids);
        assert_int_equal(perfile_attr_walk(e->stored, perfile_session_swapped(session), 0,
                                           &transcript_visitor, t, NULL),
                         PERFILE_OK);
    }
    for (uint32_t i = 0; i < perfile_session_n_features(session); i++) {
        const perfile_feature *f = perfile_session_feature_at(session, i);
        tell_number(t, "feature", f->number);
        tell_number(t, "at", f->offset);
        /* What is inside TRACING_DATA need not be whole: it is the same bytes in either order. */
        perfile_status st = perfile_feature_walk(f, 0, &transcript_visitor, t, NULL);
        if (st != PERFILE_OK && f->number != PERFILE_FEATURE_TRACING_DATA)
            fail_msg("%s: feature %u: %d", whose, f->number, st);
    }
    for (unsigned i = 0; i < PERFILE_N_FACTS; i++)
        streamed_text(t, "fact", perfile_session_fact(session, i));
    perfile_stream_close(s);
}

static bool compare(const char *name, perfile_bytes bytes)
{
    copy c;
    bool fit = make_twin(bytes, &c);
    if (fit) {
        transcript one = {.with_text = true}, other = {.with_text = true};
        if (!c.damaged) {
            tell(name, bytes, &one);
            tell(name, built(&c.b), &other);
        }
        if (one.hash != other.hash) {
            size_t i = 0;
            while (one.text[i] == other.text[i])
                i++;
            i = i < 200 ? 0 : i - 200;
            print_error("%s\n--- one\n%.500s\n--- its twin\n%.500s\n", name, one.text + i,
                        other.text + i);
            fail();
        }
        transcript_clear(&one);
        transcript_clear(&other);
        copy back;
        assert_true(make_twin(built(&c.b), &back));
        assert_int_equal(back.b.b.len, bytes.len);
        for (size_t i = 0; i < bytes.len; i++)
            if (back.b.b.ptr[i] != bytes.ptr[i])
                fail_msg("%s: the twin of its twin is another one from byte %zu on", name, i);
        build_clear(&back.b);
    }
    build_clear(&c.b);
    return fit;
}

static void generated(void **state)
{
    (void)state;
    unsigned n = 0;
    for (unsigned form = 0; form < 2 * CAPTURE_FORMS; form++) {
        builder b;
        capture_make(&b, form / 2, form % 2, 10);
        n += compare(capture_names[form / 2], built(&b));
        build_clear(&b);
    }
    assert_true(n >= 2);
}

static unsigned n_twins, n_compressed, n_big;

static void one_capture(const char *path, perfile_stream *s)
{
    const perfile_record *r;
    bool compressed = false;
    perfile_stream_summary sum;
    if (perfile_stream_container(s)->family != PERFILE_FAMILY_PERF)
        return; /* of one byte order on every machine */
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        compressed |= (r->flags & PERFILE_REC_ENVELOPE) != 0;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    n_compressed += compressed;
    FILE *f = fopen(path, "rb");
    struct stat st;
    assert_non_null(f);
    assert_int_equal(stat(path, &st), 0);
    uint8_t *block = malloc((size_t)st.st_size);
    assert_non_null(block);
    assert_int_equal(fread(block, 1, (size_t)st.st_size, f), st.st_size);
    fclose(f);
    bool fit = compare(path, (perfile_bytes){block, (size_t)st.st_size});
    n_twins += fit;
    n_big += fit && perfile_session_byte_order(perfile_stream_session(s)) == PERFILE_BYTE_ORDER_BIG;
    if (!fit && !compressed)
        print_message("no twin: %s (%llu damages)\n", path, (unsigned long long)sum.damages);
    free(block);
}

static void recorded(void **state)
{
    (void)state;
    unsigned n = recorded_each(one_capture);
    print_message("%u of %u captures have twins, %u of them are big-endian; %u hold compressed "
                  "records or pieces of records\n",
                  n_twins, n, n_big, n_compressed);
    assert_true(n_twins >= 15 && n_big >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated),
        cmocka_unit_test(recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Encoding what was decoded: the same values always, the same bytes where they were canonical.  The
 * encoders prove for themselves that what they make is read back; here it is compared in another
 * way, by transcripts, and with the bytes of real captures. */
#include "testing.h"

#include "decoded.h"
#include "encoded.h"
#include "instances.h"
#include "recorded.h"

enum {
    INSTANCES = 120, /* of each row */
    ROOM = 1 << 20,
    N_CPUS = 2,
    REASONS = 160
};

static uint8_t once[ROOM], twice[ROOM];

/* Why bytes are not those that an encoder makes, with a count of each. */
static struct {
    const char *what, *why;
    unsigned n;
} reasons[REASONS];
static unsigned n_reasons, n_canonical, n_other, n_undecoded, n_refused;

static void count_reason(const char *what, const char *why)
{
    unsigned i = 0;
    n_other++;
    while (i < n_reasons && (strcmp(reasons[i].what, what) != 0 || reasons[i].why != why))
        i++;
    assert_true(i < REASONS);
    reasons[i].what = what;
    reasons[i].why = why;
    reasons[i].n++;
    n_reasons += i == n_reasons;
}

static void print_reasons(const char *of)
{
    print_message("%s: %u canonical, %u not, %u refused, %u not decoded\n", of, n_canonical,
                  n_other, n_refused, n_undecoded);
    for (unsigned i = 0; i < n_reasons; i++)
        print_message("  %s: %s: %u\n", reasons[i].what, reasons[i].why, reasons[i].n);
    memset(reasons, 0, sizeof reasons);
    n_reasons = n_canonical = n_other = n_refused = n_undecoded = 0;
}

/* Whether what is encoded was generated. */
static bool at_random;

/* What is at a place that differs. */
typedef struct spot {
    uint64_t at;
    const char *why;
} spot;

static void spot_value(void *user, const perfile_field *f, const perfile_value *v)
{
    spot *s = user;
    if (f->flags & PERFILE_FIELD_CALC || s->at < v->offset || s->at >= v->offset + v->width)
        return;
    if (f->flags & PERFILE_FIELD_PAD)
        s->why = "padding is not zero";
    else if (f->type == PERFILE_STORED_TEXT || f->type == PERFILE_STORED_STRINGS)
        s->why = "bytes after the NUL of text";
    else if (f->type == PERFILE_STORED_BLOB)
        s->why = "bytes of a blob";
    else if (f->kind == PERFILE_KIND_COUNT || f->kind == PERFILE_KIND_SIZE)
        s->why = "a count";
    else
        s->why = "a number";
}

static void spot_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void spot_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

static const perfile_visitor spot_visitor = {sizeof spot_visitor, spot_value, spot_begin, spot_end};

static size_t first_difference(const uint8_t *a, const uint8_t *b, size_t n)
{
    size_t i = 0;
    while (i < n && a[i] == b[i])
        i++;
    return i;
}

/* Numbers and blobs have one form: only padding, text and counts may come out otherwise. */
static void compare_bytes(const char *what, spot *s, perfile_bytes stored, size_t made,
                          size_t differs)
{
    if (stored.len == made && differs == made) {
        n_canonical++;
        return;
    }
    if (stored.len != made)
        s->why = stored.len > made ? "more padding" : "less padding";
    if (!s->why || strcmp(s->why, "a number") == 0 || strcmp(s->why, "bytes of a blob") == 0)
        fail_msg("%s: other bytes at %zu of %zu: %s", what, differs, made, s->why ? s->why : "?");
    count_reason(what, s->why);
}

/* The record that lies in `bytes`, with the facts of `like`. */
static perfile_record record_at(const perfile_record *like, uint8_t *bytes, size_t len, bool swap,
                                const perfile_session *s)
{
    perfile_record r = *like;
    r.header = bytes;
    r.body = (perfile_bytes){bytes + 8, len - 8};
    r.flags = (uint8_t)((r.flags & ~PERFILE_REC_SWAPPED) | (swap ? PERFILE_REC_SWAPPED : 0));
    r.session = s;
    return r;
}

static void same_values(const char *what, const perfile_record *a, const perfile_record *b,
                        bool trailer)
{
    transcript one = {.no_zeros = true, .with_text = true};
    transcript other = {.no_zeros = true, .with_text = true};
    assert_int_equal(decoded_record(&one, a, NULL), PERFILE_OK);
    assert_int_equal(decoded_record(&other, b, NULL), PERFILE_OK);
    if (trailer) {
        assert_int_equal(decoded_trailer(&one, a, NULL), PERFILE_OK);
        assert_int_equal(decoded_trailer(&other, b, NULL), PERFILE_OK);
    }
    if (one.hash != other.hash)
        fail_msg("%s: other values\n--- given\n%.2000s\n--- made\n%.2000s", what, one.text,
                 other.text);
    transcript_clear(&one);
    transcript_clear(&other);
}

/* Bytes made at random say things that no encoder would: a chain that is there and is nothing. Real
 * ones do not. */
static bool refused(const char *what, perfile_status st, const perfile_error *err)
{
    if (st == PERFILE_OK)
        return false;
    if (!at_random || st != PERFILE_E_USAGE)
        fail_msg("%s: %d at %s: %s", what, st, err->where, err->message);
    count_reason(err->where, "refused");
    n_other--;
    n_refused++;
    return true;
}

/* In its own order, and in the other one when a session of that order is given. */
static void one_record(const char *what, const perfile_record *r, const perfile_session *other)
{
    perfile_sample_id id;
    perfile_error err = {0};
    size_t n, again;
    bool swap = r->flags & PERFILE_REC_SWAPPED;
    perfile_encode_options how = encoded_how(r, &id, pf_byte_order_of(swap));
    perfile_status st = encoded_record(r, &how, once, ROOM, &n, &err);
    if (st == PERFILE_END) {
        n_undecoded++;
        return;
    }
    if (refused(what, st, &err))
        return;
    perfile_record made = record_at(r, once, n, swap, r->session);
    same_values(what, r, &made, how.sample_id != NULL);

    size_t whole = 8 + r->body.len;
    size_t differs = first_difference(once, r->header, n < whole ? n : whole);
    spot s = {.at = differs};
    perfile_record_walk(r, PERFILE_WALK_PADDING, &spot_visitor, &s, NULL);
    compare_bytes(what, &s, (perfile_bytes){r->header, whole}, n, differs);

    assert_int_equal(encoded_record(&made, &how, twice, ROOM, &again, &err), PERFILE_OK);
    assert_int_equal(n, again);
    assert_memory_equal(once, twice, n);

    /* Counting alone comes to the same, and a byte less is too little. */
    assert_int_equal(encoded_record(r, &how, NULL, 0, &again, &err), PERFILE_OK);
    assert_true(again >= n && again - n < 8);
    if (again == n)
        assert_int_equal(encoded_record(r, &how, twice, n - 1, &again, &err), PERFILE_E_USAGE);

    how.byte_order = PERFILE_BYTE_ORDER_LITTLE + PERFILE_BYTE_ORDER_BIG - how.byte_order;
    assert_int_equal(encoded_record(r, &how, twice, ROOM, &again, &err), PERFILE_OK);
    assert_int_equal(n, again);
    if (other) {
        made = record_at(r, twice, n, !swap, other);
        same_values(what, r, &made, how.sample_id != NULL);
    }
}

static void generated_record(const pf_row *row, dice *d)
{
    build_attr_plan plan = roll_plan(d);
    bool swap = roll(d, 2);
    perfile_session *s = roll_session(&plan, swap, 0);
    perfile_session *other = roll_session(&plan, !swap, 0);
    builder b = {.swap = swap};
    uint16_t misc;
    if (roll_record(d, row, s, &misc, &b)) {
        builder whole = {.swap = swap};
        if (row->number >= PERFILE_RECORD_SIMPLEPERF)
            misc = 0;
        build_record(&whole, row->number, misc, built(&b));
        perfile_record r = record_of(s, row->number, misc, (perfile_bytes){0});
        r = record_at(&r, whole.b.ptr, whole.b.len, swap, s);
        one_record(row->name, &r, other);
        build_clear(&whole);
    }
    build_clear(&b);
    pf_session_free(s);
    pf_session_free(other);
}

static void records(void **state)
{
    (void)state;
    size_t n;
    const pf_row *rows = pf_record_rows(&n);
    for (size_t i = 0; i < n; i++) {
        dice d = {i + 1};
        unsigned times = rows[i].number == PERFILE_RECORD_SAMPLE ? 10 * INSTANCES : INSTANCES;
        for (unsigned k = 0; k < times; k++)
            generated_record(&rows[i], &d);
    }
    print_reasons("generated records");
}

static void one_feature(const char *what, const perfile_feature *f, const perfile_session *other)
{
    perfile_error err = {0};
    size_t n, again;
    bool swap = f->flags & PERFILE_REC_SWAPPED;
    perfile_encode_options how = {.size = sizeof how, .byte_order = pf_byte_order_of(swap)};
    how.n_cpus = perfile_session_n_cpus(f->session);
    perfile_status st = encoded_feature(f, &how, once, ROOM, &n, &err);
    if (st == PERFILE_END) {
        n_undecoded++;
        return;
    }
    if (refused(what, st, &err))
        return;
    for (unsigned turn = 0; turn < 2 && (turn == 0 || other); turn++) {
        transcript one = {.no_zeros = true, .with_text = true};
        transcript made = {.no_zeros = true, .with_text = true};
        perfile_feature g = *f;
        how.byte_order = pf_byte_order_of(swap ^ turn);
        assert_int_equal(encoded_feature(f, &how, twice, ROOM, &again, &err), PERFILE_OK);
        g.payload = (perfile_bytes){twice, again};
        g.flags = (uint16_t)(swap ^ turn ? PERFILE_REC_SWAPPED : 0);
        if (turn)
            g.session = other;
        assert_int_equal(decoded_feature(&one, f, NULL), PERFILE_OK);
        assert_int_equal(decoded_feature(&made, &g, NULL), PERFILE_OK);
        if (one.hash != made.hash)
            fail_msg("%s: other values\n--- given\n%.2000s\n--- made\n%.2000s", what, one.text,
                     made.text);
        transcript_clear(&one);
        transcript_clear(&made);
    }
    size_t whole = f->payload.len;
    size_t differs = first_difference(once, f->payload.ptr, n < whole ? n : whole);
    spot s = {.at = differs};
    perfile_feature_walk(f, PERFILE_WALK_PADDING, &spot_visitor, &s, NULL);
    compare_bytes(what, &s, f->payload, n, differs);
}

static void generated_feature(const pf_row *row, dice *d)
{
    build_attr_plan plan = {.size = 64};
    bool swap = roll(d, 2);
    uint32_t cpus = roll(d, 4) ? N_CPUS : 0;
    perfile_session *s = roll_session(&plan, swap, cpus);
    perfile_session *other = roll_session(&plan, !swap, cpus);
    builder b = {.swap = swap};
    assert_true(roll_feature(d, row, s, &b));
    perfile_feature f = feature_of_bytes(s, row->number, built(&b));
    one_feature(row->name, &f, other);
    build_clear(&b);
    pf_session_free(s);
    pf_session_free(other);
}

static void features(void **state)
{
    (void)state;
    size_t n;
    const pf_row *rows = pf_feature_rows(&n);
    for (size_t i = 0; i < n; i++) {
        dice d = {1000 + i};
        for (unsigned k = 0; k < INSTANCES; k++)
            generated_feature(&rows[i], &d);
    }
    print_reasons("generated features");
}

/* Real ones. */
static void one_attr(const perfile_event *e, bool swapped)
{
    size_t n;
    perfile_error err = {0};
    perfile_attr attr;
    const perfile_encode_options how = {.size = sizeof how,
                                        .byte_order = pf_byte_order_of(swapped)};
    if (e->damage ||
        perfile_attr_decode(e->stored, swapped, &attr, sizeof attr, NULL) != PERFILE_OK) {
        n_undecoded++;
        return;
    }
    perfile_status st = perfile_attr_encode(&attr, sizeof attr, &how, once, ROOM, &n, &err);
    if (st != PERFILE_OK)
        fail_msg("attr of %u bytes: %s", attr.size, err.message);
    assert_true(n <= e->stored.len);
    assert_memory_equal(once, e->stored.ptr, n);
    n_canonical++;
}

static void one_capture(const char *path, perfile_stream *s)
{
    const perfile_record *r;
    const perfile_session *session = perfile_stream_session(s);
    (void)path;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        if (r->family == PERFILE_FAMILY_PERF && perfile_record_type_name(r->type))
            one_record(perfile_record_type_name(r->type), r, NULL);
        else
            n_undecoded++;
    }
    for (uint32_t i = 0; i < perfile_session_n_features(session); i++) {
        const perfile_feature *f = perfile_session_feature_at(session, i);
        const char *name = perfile_feature_name(f->number);
        if (name && f->payload.len <= ROOM / 4)
            one_feature(name, f, NULL);
        else
            n_undecoded++;
    }
    for (uint32_t i = 0; i < perfile_session_n_events(session); i++)
        one_attr(perfile_session_event(session, i), perfile_session_swapped(session));
}

static void captures(void **state)
{
    (void)state;
    at_random = false;
    unsigned n = recorded_each(one_capture);
    assert_true(n >= 20);
    print_message("%u captures\n", n);
    unsigned total = n_canonical, leftovers = 0, other = n_other;
    for (unsigned i = 0; i < n_reasons; i++)
        if (strcmp(reasons[i].why, "bytes after the NUL of text") == 0)
            leftovers += reasons[i].n;
    print_reasons("recorded ones");
    /* Tools leave other text behind the NUL of names; of the rest few have another form. */
    assert_true(total > 1000 && 20 * (other - leftovers) < total);
}

int main(void)
{
    decoded_settled = at_random = true;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records),
        cmocka_unit_test(features),
        cmocka_unit_test(captures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A capture that validates without errors is whole, however odd its records are: recover gives back
 * every record of it, byte for byte, and says that nothing is lost.  Tried on random records of
 * every type, in every form, and on the captures that were recorded. */
#include "testing.h"

#include <stdio.h>

#include "captures.h"
#include "recorded.h"
#include "schema/rows.h"

enum { ROUNDS = 16, MOST_RECORDS = 400, MOST_TYPES = 256, SEEDS = 600 };

/* Random records one behind the other, and which of them are in the capture. */
typedef struct material {
    builder bytes;
    size_t at[MOST_RECORDS + 1];
    bool out[MOST_RECORDS];
    size_t n;
    size_t first; /* records of the capture in front of them */
    bool useless; /* something else in it breaks a rule */
    unsigned errors;
} material;

static unsigned n_tried, n_compressed, n_kept[MOST_TYPES];

static void on_finding(void *user, const perfile_finding *f)
{
    material *m = user;
    if (f->severity != PERFILE_SEVERITY_ERROR)
        return;
    m->errors++;
    size_t seen = m->first;
    for (size_t i = 0; f->sequence != PERFILE_NO_SEQUENCE && i < m->n; i++)
        if (!m->out[i] && seen++ == f->sequence) {
            m->out[i] = true;
            return;
        }
    m->useless = true;
}

/* Counts errors of validation in m->errors and takes the records out that they are of. */
static void validate(perfile_stream *s, material *m)
{
    const perfile_record *r;
    perfile_stream_summary sum;
    perfile_check_options how = {.size = sizeof how, .finding = on_finding, .user = m};
    m->errors = 0;
    assert_int_equal(perfile_check(s, &how, &s, NULL), PERFILE_OK);
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK)
        continue;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    m->errors += (unsigned)sum.damages;
    perfile_stream_close(s);
}

static perfile_stream *open_bytes(perfile_bytes bytes)
{
    perfile_source *source;
    perfile_stream *s;
    assert_int_equal(perfile_source_memory(bytes, "capture", &source, NULL), PERFILE_OK);
    if (perfile_open(source, NULL, &s, NULL) == PERFILE_OK)
        return s;
    perfile_source_close(source);
    return NULL;
}

/* The bytes of all records but compressed ones, and of what follows them. */
static void records_of(perfile_stream *s, pf_buffer *out)
{
    const perfile_record *r;
    perfile_bytes piece;
    while (perfile_stream_next(s, &r, NULL) == PERFILE_OK) {
        if (r->type == PERFILE_RECORD_COMPRESSED || r->type == PERFILE_RECORD_COMPRESSED2)
            continue;
        assert_true(pf_buffer_append(out, r->header, 8));
        assert_true(pf_buffer_append(out, r->body.ptr, r->body.len));
        if (r->extra.ptr)
            assert_true(pf_buffer_append(out, r->extra.ptr, r->extra.len));
        else
            while (r->extra.len && perfile_stream_extra(s, r, &piece, NULL) == PERFILE_OK)
                assert_true(pf_buffer_append(out, piece.ptr, piece.len));
    }
    perfile_stream_close(s);
}

static void tell_gap(void *user, const perfile_gap *gap, const char *part)
{
    (void)part;
    fprintf(stderr, "%s: offset %llu: %s %s, %llu bytes, between type %u and type %u\n",
            (const char *)user, (unsigned long long)gap->offset, perfile_damage_text(gap->damage),
            gap->rule ? gap->rule : "", (unsigned long long)gap->bytes, gap->before.type,
            gap->after.type);
}

/* `s` is of the capture on `source`, which validates without errors. */
static void expect_whole(const char *name, perfile_stream *s, perfile_source *source)
{
    pf_buffer before = {0}, after = {0};
    perfile_sink *sink;
    perfile_recover_summary sum;
    perfile_error err = {0};
    perfile_recover_options how = {
        .size = sizeof how, .gap = tell_gap, .user = (void *)(uintptr_t)name};
    records_of(s, &before);
    assert_int_equal(perfile_sink_memory("recovered", &sink, NULL), PERFILE_OK);
    perfile_status st = perfile_recover_capture(source, sink, &how, &sum, sizeof sum, &err);
    if (st != PERFILE_OK)
        fprintf(stderr, "%s: %s\n", name, err.message);
    assert_int_equal(st, PERFILE_OK);
    s = open_bytes(perfile_sink_bytes(sink));
    assert_non_null(s);
    records_of(s, &after);
    if (before.len != after.len || sum.gaps)
        fprintf(stderr, "%s: %zu bytes of records, recovered %zu\n", name, before.len, after.len);
    assert_int_equal(sum.gaps, 0);
    assert_int_equal(sum.lost, 0);
    assert_int_equal(before.len, after.len);
    assert_true(before.len == 0 || memcmp(before.ptr, after.ptr, before.len) == 0);
    perfile_sink_close(sink);
    pf_buffer_free(&before);
    pf_buffer_free(&after);
}

/* Records that begin others or carry them are not made of random bytes. */
static bool stands_alone(uint32_t type)
{
    return type != PERFILE_RECORD_SIMPLEPERF_SPLIT && type != PERFILE_RECORD_SIMPLEPERF_SPLIT_END &&
           type != PERFILE_RECORD_AUXTRACE && type != PERFILE_RECORD_HEADER_TRACING_DATA &&
           type != PERFILE_RECORD_HEADER_ATTR && type != PERFILE_RECORD_COMPRESSED &&
           type != PERFILE_RECORD_COMPRESSED2;
}

static void roll_records(dice *d, const build_attr_plan *plan, material *m)
{
    size_t n;
    const pf_row *rows = pf_record_rows(&n);
    perfile_session *s = roll_session(plan, m->bytes.swap, 0);
    const unsigned times = 1 + roll(d, 3);
    const bool simpleperf = roll(d, 4) == 0;
    for (size_t i = 0; i < n * times && m->n < MOST_RECORDS; i++) {
        const pf_row *row = roll(d, 3) ? &rows[i % n] : pf_record_row(1 + roll(d, 10));
        builder body = {.swap = m->bytes.swap};
        uint16_t misc;
        if (row->number >= PERFILE_RECORD_SIMPLEPERF && !simpleperf)
            continue;
        if (stands_alone(row->number) && roll_record(d, row, s, &misc, &body)) {
            if (row->number < PERFILE_RECORD_USER && roll(d, 8))
                build_zeros(&body, (8 - body.b.len % 8) % 8);
            m->at[m->n++] = m->bytes.b.len;
            build_record(&m->bytes, row->number, misc, built(&body));
        }
        build_clear(&body);
    }
    m->at[m->n] = m->bytes.b.len;
    pf_session_free(s);
}

/* What the capture around the records is like. */
typedef struct shape {
    bool pipe, compressed;
    unsigned events; /* of one layout */
} shape;

static void put_attr(builder *b, const build_attr_plan *plan, unsigned event)
{
    build_attr_plan one = *plan;
    one.config = event;
    build_attr(b, &one);
}

static void put_head(const shape *how, const build_attr_plan *plan, builder *b)
{
    b->b.len = 0;
    build_bytes(b, b->swap != (bool)PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
    if (how->pipe) {
        build_u64(b, 16);
        for (unsigned i = 0; i < how->events; i++) {
            size_t start = build_begin(b, PERFILE_RECORD_HEADER_ATTR, 0);
            put_attr(b, plan, i);
            build_u64(b, 70 + i);
            build_end(b, start);
        }
        return;
    }
    build_u64(b, 104);
    build_u64(b, plan->size + 16);
    build_u64(b, 104 + 8 * how->events);
    build_u64(b, (plan->size + 16) * how->events);
    build_zeros(b, 104 - b->b.len);
    for (unsigned i = 0; i < how->events; i++)
        build_u64(b, 70 + i);
    for (unsigned i = 0; i < how->events; i++) {
        put_attr(b, plan, i);
        build_u64(b, 104 + 8 * i);
        build_u64(b, 8);
    }
    build_u64_at(b, 40, b->b.len);
}

/* A capture with those records that are not out. */
static void put_capture(const material *m, const shape *how, const build_attr_plan *plan,
                        builder *b)
{
    builder records = {.swap = b->swap};
    put_head(how, plan, b);
    for (size_t i = 0; i < m->n; i++)
        if (!m->out[i])
            build_bytes(&records, m->bytes.b.ptr + m->at[i], m->at[i + 1] - m->at[i]);
    if (how->compressed)
        capture_zstd(b, how->pipe ? PERFILE_RECORD_COMPRESSED2 : PERFILE_RECORD_COMPRESSED,
                     built(&records), 700);
    else
        build_bytes(b, records.b.ptr, records.b.len);
    if (!how->pipe)
        build_u64_at(b, 48, b->b.len - pf_load_u64(b->b.ptr + 40, b->swap));
    build_clear(&records);
}

static void count_kept(const material *m)
{
    size_t n;
    const pf_row *rows = pf_record_rows(&n);
    for (size_t i = 0; i < m->n; i++) {
        uint32_t type = pf_load_u32(m->bytes.b.ptr + m->at[i], m->bytes.swap);
        for (size_t k = 0; k < n && k < MOST_TYPES; k++)
            n_kept[k] += rows[k].number == type && !m->out[i];
    }
}

/* Makes `b` a capture that validates without errors, if what is left of the records is one. */
static bool settle(material *m, shape *how, const build_attr_plan *plan, builder *b)
{
    const bool compressed = how->compressed;
    how->compressed = false;
    m->first = how->pipe ? how->events : 0;
    m->errors = 1;
    for (unsigned round = 0; round < ROUNDS && m->errors && !m->useless; round++) {
        put_capture(m, how, plan, b);
        perfile_stream *s = open_bytes(built(b));
        m->useless |= !s;
        if (s)
            validate(s, m);
    }
    if (m->useless || m->errors || !compressed)
        return !m->useless && !m->errors;
    how->compressed = true;
    put_capture(m, how, plan, b);
    validate(open_bytes(built(b)), m);
    return !m->errors;
}

static void try_seed(unsigned seed)
{
    dice d = {seed};
    char name[32];
    shape how = {.pipe = roll(&d, 2), .compressed = roll(&d, 4) == 0, .events = 1 + roll(&d, 2)};
    /* The same bytes on every machine.  (With other bytes after its last field, which no kernel
     * writes, a record can look as if it hid records of another capture; then it is lost.) */
    const bool swap = (roll(&d, 2) != 0) != (bool)PF_NATIVE_BIG;
    material m = {.bytes = {.swap = swap}};
    builder b = {.swap = swap};
    build_attr_plan plan = roll_plan(&d);
    plan.size = roll(&d, 4) ? 136 : plan.size;
    plan.type = roll(&d, 6);
    plan.period = 1000;
    plan.sample_type |= PERFILE_SAMPLE_IP;
    if (how.events > 1)
        plan.sample_type |= PERFILE_SAMPLE_IDENTIFIER;
    roll_records(&d, &plan, &m);
    if (settle(&m, &how, &plan, &b)) {
        perfile_source *source;
        snprintf(name, sizeof name, "seed %u", seed);
        assert_int_equal(perfile_source_memory(built(&b), name, &source, NULL), PERFILE_OK);
        expect_whole(name, open_bytes(built(&b)), source);
        count_kept(&m);
        n_tried++;
        n_compressed += how.compressed;
    }
    build_clear(&b);
    build_clear(&m.bytes);
}

static void random_records_stay(void **state)
{
    (void)state;
    size_t n, types = 0, all = 0;
    const pf_row *rows = pf_record_rows(&n);
    for (unsigned seed = 1; seed <= SEEDS; seed++)
        try_seed(seed);
    for (size_t i = 0; i < n; i++) {
        if (!stands_alone(rows[i].number))
            continue;
        all++;
        types += n_kept[i] != 0;
        if (!n_kept[i])
            fprintf(stderr, "none of type %u\n", rows[i].number);
    }
    fprintf(stderr,
            "%u of %u captures validate without errors, %u of them compressed, with %zu of %zu "
            "types\n",
            n_tried, SEEDS, n_compressed, types, all);
    assert_true(n_tried >= SEEDS / 8 && n_compressed > 0);
    assert_true(types >= all * 3 / 4);
}

static unsigned n_whole;

static void use_recorded(const char *path, perfile_stream *s)
{
    perfile_open_options how = {.size = sizeof how};
    material m = {.n = 0};
    perfile_stream *again, *records;
    perfile_source *source;
    (void)s;
    assert_int_equal(perfile_open_path(path, &how, &again, NULL), PERFILE_OK);
    validate(again, &m);
    if (m.errors)
        return;
    assert_int_equal(perfile_open_path(path, &how, &records, NULL), PERFILE_OK);
    assert_int_equal(perfile_source_path(path, NULL, &source, NULL), PERFILE_OK);
    expect_whole(path, records, source);
    n_whole++;
}

static void recorded_ones_stay(void **state)
{
    (void)state;
    unsigned n = recorded_each(use_recorded);
    fprintf(stderr, "%u of %u captures validate without errors\n", n_whole, n);
    assert_true(n_whole > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_records_stay),
        cmocka_unit_test(recorded_ones_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

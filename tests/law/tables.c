/* Laws that hold for every row of the tables, without naming one: instances are random bytes that
 * decode.  They prove consistency, not truth: that is for vectors and real captures. */
#include "testing.h"

#include "decoded.h"
#include "instances.h"
#include "places.h"
#include "twin.h"
#include "core/names.h"
#include "schema/types.h"
#include "schema/rows.h"
#include "core/command.h"
#include "schema/command.h"

enum {
    INSTANCES = 120, /* of each row */
    EVERY_CUT = 96,  /* of longer bodies one cut in seven is tried from there on */
    N_CPUS = 2
};

/* Whose row a law is about, for its messages. */
static const char *what;

static void fail_about(const char *law, const transcript *a, const transcript *b)
{
    print_error("%s: %s\n", what, law);
    print_error("--- one\n%.8000s", a->text ? a->text : "");
    print_error("--- other\n%.8000s", b->text ? b->text : "");
    fail();
}

static void same(const char *law, transcript *a, transcript *b)
{
    if (a->hash != b->hash)
        fail_about(law, a, b);
}

/* The walk and the decoder over one record: the same verdict, the same values, places that ascend
 * without gaps.  *p and *err are those of the walk. */
static perfile_status both_ways(const perfile_record *r, places *p, perfile_error *err)
{
    perfile_error decoded_err = {0};
    transcript decoded = {.no_zeros = true, .with_text = true};
    memset(err, 0, sizeof *err);
    *p = (places){.t = {.no_zeros = true, .with_text = true},
                  .at = 8,
                  .end = 8 + r->body.len,
                  .gapless = true};
    perfile_status walked = perfile_record_walk(r, PERFILE_WALK_PADDING, &places_visitor, p, err);
    perfile_status st = decoded_record(&decoded, r, &decoded_err);
    if (st != walked || err->damage != decoded_err.damage)
        fail_msg("%s: walk %d (%s), decoder %d (%s)", what, walked,
                 perfile_damage_name(err->damage), st, perfile_damage_name(decoded_err.damage));
    if (p->wrong)
        fail_msg("%s: a field out of its place\n%s", what, p->t.text);
    if (walked == PERFILE_OK)
        same("walk and decoder", &p->t, &decoded);
    assert_int_equal(decoded_unread, 0);
    transcript_clear(&decoded);
    return walked;
}

/* A cut is reported, as such, where it takes bytes of the fixed part; elsewhere it is either that
 * or a shorter record; in any case nothing behind it is read. */
static void cuts(const pf_row *row, const perfile_record *r)
{
    for (size_t n = 0; n < r->body.len; n += n < EVERY_CUT ? 1 : 7) {
        perfile_record cut = *r;
        uint8_t *block = exact(r->body.ptr, n);
        cut.body = (perfile_bytes){block, n};
        places p;
        perfile_error err;
        perfile_status st = both_ways(&cut, &p, &err);
        transcript_clear(&p.t);
        if (st == PERFILE_OK ? n < row->fixed
                             : st != PERFILE_E_TRUNCATED || err.damage != PERFILE_DAMAGE_SHORT_BODY)
            fail_msg("%s cut to %zu bytes: %d, %s", what, n, st, perfile_damage_name(err.damage));
        free(block);
    }
}

/* The same record, stored in the other byte order, holds the same at the same places. */
static void twins(const perfile_record *r, const places *p, const perfile_session *other)
{
    perfile_record swapped = *r;
    uint8_t *block = exact(r->header, 8 + r->body.len);
    twin t = {block, r->header, r->flags & PERFILE_REC_SWAPPED};
    assert_int_equal(perfile_record_walk(r, 0, &twin_visitor, &t, NULL), PERFILE_OK);
    const perfile_layout *l = pf_record_layout(r, NULL);
    perfile_sample_id id;
    transcript mine = {0}, its = {0};
    bool has_trailer = perfile_sample_id_decode(r, &id, sizeof id, NULL) == PERFILE_OK;
    if (has_trailer) {
        assert_int_equal(perfile_record_walk_trailer(r, 0, &twin_visitor, &t, NULL), PERFILE_OK);
        assert_true(l && l->trailer_size);
    }
    swapped.header = block;
    swapped.body.ptr = block + 8;
    swapped.flags ^= PERFILE_REC_SWAPPED;
    swapped.session = other;
    places q;
    perfile_error err;
    assert_int_equal(both_ways(&swapped, &q, &err), PERFILE_OK);
    transcript a = p->t;
    same("twin in the other byte order", &a, &q.t);
    assert_true(p->where == q.where);
    assert_int_equal(has_trailer, decoded_trailer(&its, &swapped, NULL) == PERFILE_OK);
    if (has_trailer)
        decoded_trailer(&mine, r, NULL);
    same("trailer of the twin", &mine, &its);
    assert_true(perfile_record_time(r) == perfile_record_time(&swapped));
    for (unsigned bit = 0; bit < 25; bit++) {
        uint64_t one = 0, two = 0;
        assert_int_equal(perfile_sample_field(r, (uint32_t)1 << bit, &one),
                         perfile_sample_field(&swapped, (uint32_t)1 << bit, &two));
        assert_true(one == two);
    }
    transcript_clear(&q.t);
    free(block);
}

static void one_record(const pf_row *row, dice *d)
{
    build_attr_plan plan = roll_plan(d);
    bool swap = roll(d, 2);
    perfile_session *s = roll_session(&plan, swap, 0);
    perfile_session *other = roll_session(&plan, !swap, 0);
    builder b = {.swap = swap};
    uint16_t misc;
    if (!roll_record(d, row, s, &misc, &b)) {
        /* Some layouts of samples need more than chance gives. */
        assert_int_equal(row->number, PERFILE_RECORD_SAMPLE);
    } else {
        builder whole = {.swap = swap};
        build_record(&whole, row->number, misc, built(&b));
        uint8_t *block = exact(whole.b.ptr, whole.b.len);
        perfile_record r = record_of(s, row->number, misc, (perfile_bytes){block + 8, b.b.len});
        r.header = block;
        places p;
        perfile_error err;
        assert_int_equal(both_ways(&r, &p, &err), PERFILE_OK);
        twins(&r, &p, other);
        cuts(row, &r);
        transcript_clear(&p.t);
        build_clear(&whole);
        free(block);
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
    assert_true(n >= 50);
    for (size_t i = 0; i < n; i++) {
        dice d = {i + 1};
        what = rows[i].name;
        unsigned times = rows[i].number == PERFILE_RECORD_SAMPLE ? 10 * INSTANCES : INSTANCES;
        for (unsigned k = 0; k < times; k++)
            one_record(&rows[i], &d);
    }
}

/* As both_ways(), of a feature. */
static perfile_status feature_both_ways(const perfile_feature *f, places *p, perfile_error *err)
{
    bool flat = decoded_is_flat(f->number);
    perfile_error decoded_err = {0};
    transcript decoded = {.no_zeros = true, .with_text = true};
    memset(err, 0, sizeof *err);
    *p = (places){
        .t = {.no_zeros = true, .with_text = true}, .end = f->payload.len, .inside_only = flat};
    perfile_status walked = perfile_feature_walk(f, PERFILE_WALK_PADDING, &places_visitor, p, err);
    perfile_status st = decoded_feature(&decoded, f, &decoded_err);
    if (p->wrong)
        fail_msg("%s: a field out of its place\n%s", what, p->t.text);
    if (!flat && (st != walked || err->damage != decoded_err.damage))
        fail_msg("%s: walk %d (%s), decoder %d (%s)", what, walked,
                 perfile_damage_name(err->damage), st, perfile_damage_name(decoded_err.damage));
    if (!flat && st == PERFILE_OK)
        same("walk and decoder", &p->t, &decoded);
    assert_int_equal(decoded_unread, 0);
    transcript_clear(&decoded);
    return st;
}

static void feature_cuts(const perfile_feature *f)
{
    for (size_t n = 0; n < f->payload.len; n += n < EVERY_CUT ? 1 : 7) {
        perfile_feature cut = *f;
        uint8_t *block = exact(f->payload.ptr, n);
        cut.payload = (perfile_bytes){block, n};
        places p;
        perfile_error err;
        feature_both_ways(&cut, &p, &err);
        transcript_clear(&p.t);
        free(block);
    }
}

static void feature_twins(const perfile_feature *f, const places *p, const perfile_session *other)
{
    perfile_feature swapped = *f;
    uint8_t *block = exact(f->payload.ptr, f->payload.len);
    twin t = {block, f->payload.ptr, f->flags & PERFILE_REC_SWAPPED};
    assert_int_equal(perfile_feature_walk(f, 0, &twin_visitor, &t, NULL), PERFILE_OK);
    swapped.payload.ptr = block;
    swapped.flags ^= PERFILE_REC_SWAPPED;
    swapped.session = other;
    places q;
    perfile_error err;
    perfile_status st = feature_both_ways(&swapped, &q, &err);
    transcript a = p->t;
    same("twin in the other byte order", &a, &q.t);
    assert_int_equal(st, PERFILE_OK);
    assert_true(p->where == q.where);
    transcript_clear(&q.t);
    free(block);
}

static void one_feature(const pf_row *row, dice *d)
{
    build_attr_plan plan = {.size = 64};
    bool swap = roll(d, 2);
    uint32_t cpus = roll(d, 4) ? N_CPUS : 0;
    perfile_session *s = roll_session(&plan, swap, cpus);
    perfile_session *other = roll_session(&plan, !swap, cpus);
    builder b = {.swap = swap};
    if (!roll_feature(d, row, s, &b))
        fail_msg("%s: no bytes that decode were found", what);
    uint8_t *block = exact(b.b.ptr, b.b.len);
    perfile_feature f = feature_of_bytes(s, row->number, (perfile_bytes){block, b.b.len});
    places p;
    perfile_error err;
    assert_int_equal(feature_both_ways(&f, &p, &err), PERFILE_OK);
    if (!decoded_is_flat(row->number))
        feature_twins(&f, &p, other);
    feature_cuts(&f);
    transcript_clear(&p.t);
    free(block);
    build_clear(&b);
    pf_session_free(s);
    pf_session_free(other);
}

static void features(void **state)
{
    (void)state;
    size_t n;
    const pf_row *rows = pf_feature_rows(&n);
    assert_true(n >= 40);
    for (size_t i = 0; i < n; i++) {
        dice d = {1000 + i};
        what = rows[i].name;
        for (unsigned k = 0; k < INSTANCES; k++)
            one_feature(&rows[i], &d);
    }
}

/* The laws above say nothing about members that they never saw. */
static void every_member_was_told(void **state)
{
    (void)state;
    unsigned n = 0;
    for (unsigned i = 0; i < DECODED_N; i++)
        /* The formats of tracepoints are walked only; families.c is about perfmon buffers. */
        if (!decoded_told[i] && strncmp(decoded_names[i], "tracing_f", 9) != 0 &&
            strncmp(decoded_names[i], "tracing_s", 9) != 0 &&
            strncmp(decoded_names[i], "perfmon_", 8) != 0) {
            print_error("%s was never decoded\n", decoded_names[i]);
            n++;
        }
    assert_int_equal(n, 0);
}

/* Types and features without a row are one BLOB: all their bytes, and nothing is wrong with them.
 */
static void unknown_ones_pass(void **state)
{
    (void)state;
    build_attr_plan plan = {.size = 64, .sample_type = 3};
    perfile_session *s = roll_session(&plan, false, 0);
    uint8_t *block = exact("0123456789abcdef", 13);
    perfile_bytes bytes = {block, 13};
    unsigned n = 0;
    transcript all = {0};
    tell_bytes(&all, "data", bytes);
    for (uint32_t type = 0; type < 70000; type++) {
        if (pf_record_row(type))
            continue;
        perfile_record r = record_of(s, type, 0, bytes);
        places p = {.at = 8, .end = 21, .gapless = true};
        assert_int_equal(perfile_record_walk(&r, PERFILE_WALK_PADDING, &places_visitor, &p, NULL),
                         PERFILE_OK);
        assert_true(p.t.hash == all.hash && p.at == 21 && !p.wrong);
        n++;
    }
    assert_true(n > 69000);
    for (uint32_t number = 0; number < 300; number++) {
        if (pf_feature_row(number))
            continue;
        perfile_feature f = feature_of_bytes(s, number, bytes);
        places p = {.end = 13};
        assert_int_equal(perfile_feature_walk(&f, 0, &places_visitor, &p, NULL), PERFILE_OK);
        assert_true(p.t.hash == all.hash && p.at == 13 && !p.wrong);
    }
    free(block);
    pf_session_free(s);
}

/* Numbers that headers write out are those of the tables. */
static void written_out_is_as_in_tables(void **state)
{
    (void)state;
    static const char *const modes[PERFILE_MISC_CPUMODE_KNOWN] = {
        [PERFILE_MISC_CPUMODE_UNKNOWN] = "unknown",
        [PERFILE_MISC_CPUMODE_KERNEL] = "kernel",
        [PERFILE_MISC_CPUMODE_USER] = "user",
        [PERFILE_MISC_CPUMODE_HYPERVISOR] = "hypervisor",
        [PERFILE_MISC_CPUMODE_GUEST_KERNEL] = "guest_kernel",
        [PERFILE_MISC_CPUMODE_GUEST_USER] = "guest_user"};
    for (unsigned i = 0; i < PERFILE_MISC_CPUMODE_KNOWN; i++)
        assert_string_equal(perfile_vocabulary_word(pf_vocabulary_find("cpumode"), i), modes[i]);
    assert_null(perfile_vocabulary_word(pf_vocabulary_find("cpumode"), PERFILE_MISC_CPUMODE_KNOWN));
    assert_int_equal(pf_releases[PF_N_RELEASES - 1].attr_size, PF_ATTR_OURS);
    for (size_t i = 0; i < PF_N_RELEASES; i++)
        assert_true(pf_attr_size_is_known(pf_releases[i].attr_size));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records),
        cmocka_unit_test(features),
        cmocka_unit_test(every_member_was_told),
        cmocka_unit_test(unknown_ones_pass),
        cmocka_unit_test(written_out_is_as_in_tables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

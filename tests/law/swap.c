/* Rewriting in the other byte order: the same bytes as the twin that is made by the field walk, and
 * the first bytes again when it is done twice. */
#include "testing.h"

#include "core/swap.h"
#include "decoded.h"
#include "instances.h"
#include "recorded.h"
#include "schema/rows.h"
#include "twin.h"

enum { INSTANCES = 120, ROOM = 1 << 20, N_CPUS = 2 };

static uint8_t once[ROOM], twice[ROOM], wanted[ROOM];
static unsigned n_swapped, n_left, n_twins;

static const perfile_visitor any_visitor = {sizeof any_visitor, twin_on_begin, twin_on_begin,
                                            twin_on_end};

/* The twin that the walk makes, as far as it comes. */
static void twin_of_record(const perfile_record *r)
{
    twin t = {wanted, r->header, r->flags & PERFILE_REC_SWAPPED};
    memcpy(wanted, r->header, perfile_record_size(r));
    twin_reverse(wanted, 4);
    twin_reverse(wanted + 4, 2);
    twin_reverse(wanted + 6, 2);
    perfile_record_walk(r, 0, &twin_visitor, &t, NULL);
    perfile_record_walk_trailer(r, 0, &twin_visitor, &t, NULL);
}

/* The record in the other byte order, of the session of that order if there is one. */
static perfile_record turned(const perfile_record *r, uint8_t *bytes, const perfile_session *other)
{
    perfile_record t = *r;
    t.header = bytes;
    t.body.ptr = bytes + 8;
    t.flags ^= PERFILE_REC_SWAPPED;
    t.session = other;
    return t;
}

/* A feature in a record makes no twin by the walk over the record. */
static bool carries_feature(const perfile_record *r)
{
    perfile_feature f;
    return r->type == PERFILE_RECORD_HEADER_FEATURE &&
           perfile_record_feature(r, &f, NULL) == PERFILE_OK && f.payload.len;
}

static void check_record(const char *what, const perfile_record *r, const perfile_session *other)
{
    size_t n = perfile_record_size(r);
    perfile_error err = {0};
    bool walks = perfile_record_walk(r, 0, &any_visitor, NULL, NULL) == PERFILE_OK;
    assert_true(n <= ROOM);
    perfile_status st = pf_swap_record(r, once, &err);
    if (st != PERFILE_OK) {
        assert_true(!walks || carries_feature(r) || !perfile_record_type_name(r->type));
        assert_true(err.where && err.message[0]);
    } else if (!walks) {
        fail_msg("%s: turned what cannot be walked", what);
    }
    n_swapped += st == PERFILE_OK;
    n_left += st != PERFILE_OK;
    /* The walk shows nothing of an attr whose bounds are bad. */
    if (!carries_feature(r) && (walks || r->type != PERFILE_RECORD_HEADER_ATTR)) {
        twin_of_record(r);
        if (memcmp(once, wanted, n) != 0)
            fail_msg("%s: not the twin", what);
        n_twins++;
    }
    if (other) {
        perfile_record back = turned(r, once, other);
        const perfile_status again = pf_swap_record(&back, twice, &err);
        if (carries_feature(
                r)) /* left as stored: in the other byte order other bytes are wrong first */
            assert_int_equal(again == PERFILE_OK, st == PERFILE_OK);
        else
            assert_int_equal(again, st);
        assert_memory_equal(twice, r->header, n);
        assert_true(perfile_record_time(r) == perfile_record_time(&back));
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
        build_record(&whole, row->number, misc, built(&b));
        perfile_record r = record_of(s, row->number, misc, (perfile_bytes){NULL, 0});
        r.header = whole.b.ptr;
        r.body = (perfile_bytes){whole.b.ptr + 8, whole.b.len - 8};
        check_record(row->name, &r, other);
        /* Cuts are turned as far as they can be read. */
        for (size_t n = 0; n < r.body.len; n += 1 + n / 8) {
            perfile_record cut = r;
            uint8_t *block = exact(r.header, 8 + n);
            cut.header = block;
            cut.body = (perfile_bytes){block + 8, n};
            check_record(row->name, &cut, other);
            free(block);
        }
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
    n_swapped = n_left = n_twins = 0;
    for (size_t i = 0; i < n; i++) {
        dice d = {i + 1};
        unsigned times = rows[i].number == PERFILE_RECORD_SAMPLE ? 10 * INSTANCES : INSTANCES;
        unsigned before = n_swapped;
        for (unsigned k = 0; k < times; k++)
            generated_record(&rows[i], &d);
        assert_true(n_swapped > before || rows[i].number == PERFILE_RECORD_HEADER_FEATURE);
    }
    assert_true(n_twins > n * INSTANCES && n_left > n * INSTANCES);
}

static void unknown_ones_stay(void **state)
{
    (void)state;
    static uint8_t bytes[24] = {77, 77, 0, 0, 1, 2, 24, 0, 1, 2, 3, 4, 5, 6};
    const uint8_t header[8] = {0, 0, 77, 77, 2, 1, 0, 24};
    const perfile_record r = {.header = bytes, .body = {bytes + 8, 16}, .type = 77 * 257};
    perfile_error err;
    assert_int_equal(pf_swap_record(&r, once, &err), PERFILE_E_UNSUPPORTED);
    assert_memory_equal(once, header, 8);
    assert_memory_equal(once + 8, bytes + 8, 16);
    assert_string_equal(err.where, "record.type");
    const perfile_feature f = {.number = 250, .payload = {bytes, 24}};
    assert_int_equal(pf_swap_feature(&f, once, &err), PERFILE_E_UNSUPPORTED);
    assert_memory_equal(once, bytes, 24);
    const perfile_record damage = {.header = bytes, .family = PERFILE_FAMILY_DAMAGE};
    assert_int_equal(pf_swap_record(&damage, once, &err), PERFILE_E_USAGE);
}

static void check_feature(const char *what, const perfile_feature *f, const perfile_session *other)
{
    perfile_error err = {0};
    transcript values = {0};
    perfile_status decoded = decoded_feature(&values, f, NULL);
    assert_true(f->payload.len <= ROOM);
    perfile_status st = pf_swap_feature(f, once, &err);
    if (decoded == PERFILE_E_USAGE)
        assert_int_equal(st, PERFILE_E_UNSUPPORTED);
    else if (st != decoded && f->number != PERFILE_FEATURE_INIT_MAP)
        fail_msg("%s: decoded %d, turned %d", what, decoded, st);
    n_swapped += st == PERFILE_OK;
    n_left += st != PERFILE_OK;
    if (!decoded_is_flat(f->number) || f->number == PERFILE_FEATURE_INIT_MAP) {
        twin t = {wanted, f->payload.ptr, f->flags & PERFILE_REC_SWAPPED};
        if (f->payload.len)
            memcpy(wanted, f->payload.ptr, f->payload.len);
        perfile_feature_walk(f, 0, &twin_visitor, &t, NULL);
        if (st == PERFILE_OK && f->payload.len && memcmp(once, wanted, f->payload.len) != 0)
            fail_msg("%s: not the twin", what);
        n_twins++;
    }
    perfile_feature back = *f;
    if (f->payload.len)
        back.payload.ptr = once;
    back.flags ^= PERFILE_REC_SWAPPED;
    if (other)
        back.session = other;
    assert_true((pf_swap_feature(&back, twice, &err) < 0) == (st < 0));
    if (f->payload.len)
        assert_memory_equal(twice, f->payload.ptr, f->payload.len);
    if (f->number == PERFILE_FEATURE_TRACING_DATA)
        assert_memory_equal(once, f->payload.ptr, f->payload.len);
}

static void features(void **state)
{
    (void)state;
    size_t n;
    const pf_row *rows = pf_feature_rows(&n);
    n_swapped = n_left = n_twins = 0;
    for (size_t i = 0; i < n; i++) {
        dice d = {1000 + i};
        unsigned before = n_swapped;
        for (unsigned k = 0; k < INSTANCES; k++) {
            build_attr_plan plan = {.size = 64};
            bool swap = roll(&d, 2);
            uint32_t cpus = roll(&d, 4) ? N_CPUS : 0;
            perfile_session *s = roll_session(&plan, swap, cpus);
            perfile_session *other = roll_session(&plan, !swap, cpus);
            builder b = {.swap = swap};
            assert_true(roll_feature(&d, &rows[i], s, &b));
            perfile_feature f = feature_of_bytes(s, rows[i].number, built(&b));
            check_feature(rows[i].name, &f, other);
            for (size_t cut = 0; cut < b.b.len; cut += 1 + cut / 8) {
                f.payload.len = cut;
                check_feature(rows[i].name, &f, other);
            }
            build_clear(&b);
            pf_session_free(s);
            pf_session_free(other);
        }
        if (n_swapped == before)
            fail_msg("%s: none was turned", rows[i].name);
    }
    assert_true(n_twins > n * INSTANCES / 2);
}

/* Attrs of every size, with bits in all flags: mirrored, not reversed. */
static void attrs(void **state)
{
    (void)state;
    dice d = {5};
    for (unsigned i = 0; i < 2000; i++) {
        build_attr_plan plan = roll_plan(&d);
        plan.flags = roll_u64(&d);
        builder b = {.swap = i % 2}, other = {.swap = !(i % 2)};
        build_attr(&b, &plan);
        build_attr(&other, &plan);
        assert_int_equal(pf_swap_attr(built(&b), b.swap, once, NULL), PERFILE_OK);
        assert_memory_equal(once, other.b.ptr, b.b.len);
        assert_int_equal(pf_swap_attr(built(&other), other.swap, once, NULL), PERFILE_OK);
        assert_memory_equal(once, b.b.ptr, b.b.len);
        assert_true(pf_swap_attr((perfile_bytes){b.b.ptr, 60}, b.swap, once, NULL) < 0);
        assert_true(pf_swap_attr((perfile_bytes){once, 60}, !b.swap, twice, NULL) < 0);
        assert_memory_equal(twice, b.b.ptr, 60);
        build_clear(&b);
        build_clear(&other);
    }
}

/* Code that was made for a sample type does what the table does: for every body and every length.
 */
static void usual_is_ordinary(void **state)
{
    (void)state;
    const uint64_t base = PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME;
    unsigned n_types = 0, n_good = 0, n_bad = 0;
    dice d = {9};
    for (uint64_t type = base; type < UINT64_C(1) << 17; type++) {
        pf_usual_swap_fn *usual = pf_usual_swap(type);
        if (!usual)
            continue;
        n_types++;
        const pf_context k = {.sample_type = type};
        for (size_t n = 0; n <= 160; n++) {
            builder b = {.swap = roll(&d, 2)};
            while (b.b.len < n)
                roll_word(&d, &b);
            memset(once, 0, 160);
            memcpy(twice, b.b.ptr ? b.b.ptr : once, n);
            memcpy(once, twice, n);
            uint8_t *block = exact(twice, n);
            pf_cursor c = pf_cur((perfile_bytes){block, n}, b.swap);
            pf_byteswap_sample(&k, &c, once);
            bool good = usual((perfile_bytes){block, n}, b.swap, twice);
            assert_true(good == !c.bad);
            if (good)
                assert_memory_equal(once, twice, n);
            n_good += good;
            n_bad += !good;
            free(block);
            build_clear(&b);
        }
    }
    assert_int_equal(n_types, 48);
    assert_true(n_good > 500 && n_bad > 500);
}

/* Real ones: records as their stream gives them, one by one and by the run. */
static void one_capture(const char *path, perfile_stream *s)
{
    const perfile_session *session = perfile_stream_session(s);
    const perfile_record *r;
    size_t n;
    (void)path;
    while (perfile_stream_next_run(s, &r, &n, NULL) == PERFILE_OK) {
        for (size_t i = 0; i < n; i++)
            if (r[i].family == PERFILE_FAMILY_PERF && perfile_record_size(&r[i]) <= ROOM)
                check_record("a recorded one", &r[i], NULL);
        if (r->family != PERFILE_FAMILY_PERF)
            continue;
        size_t room = (size_t)(r[n - 1].header - r->header) + perfile_record_size(&r[n - 1]);
        uint8_t *run = malloc(room);
        assert_non_null(run);
        size_t done = pf_swap_run(r, n, run, NULL);
        for (size_t i = 0; i < done; i++) {
            assert_int_equal(pf_swap_record(&r[i], once, NULL), PERFILE_OK);
            assert_memory_equal(run + (r[i].header - r->header), once, perfile_record_size(&r[i]));
        }
        if (done < n)
            assert_true(pf_swap_record(&r[done], once, NULL) < 0);
        free(run);
    }
    for (uint32_t i = 0; i < perfile_session_n_features(session); i++) {
        const perfile_feature *f = perfile_session_feature_at(session, i);
        if (f->payload.len <= ROOM)
            check_feature("a recorded one", f, NULL);
    }
}

static void captures(void **state)
{
    (void)state;
    n_swapped = n_left = n_twins = 0;
    unsigned n = recorded_each(one_capture);
    print_message("%u captures: %u turned, %u left as they are\n", n, n_swapped, n_left);
    /* Of our captures one in four is damaged, of the corpus one in twenty. */
    assert_true(n >= 20 && n_twins > 1000 && n_left < n_swapped / (recorded_corpus() ? 100 : 50));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(records),           cmocka_unit_test(features),
        cmocka_unit_test(unknown_ones_stay), cmocka_unit_test(attrs),
        cmocka_unit_test(usual_is_ordinary), cmocka_unit_test(captures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

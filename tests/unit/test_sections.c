/* Sections of a file that share bytes: those of one kind are of the first that claims them, so that
 * a file cannot say its bytes again and again. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include "../builder.h"
#include "../captures.h"
#include "perfile/perfile.h"

enum { MOST = 8, IDS_AT = 104, IDS = 64, ATTR_ENTRY = 80, FEATURES_OF = 3 };

typedef struct plan {
    perfile_section ids[MOST];
    uint32_t n_attrs;
    perfile_section features[MOST]; /* of the numbers 3, 4 …; places from the end of the table on */
    uint32_t n_features;
} plan;

static perfile_bytes file_of(builder *b, const plan *p)
{
    uint64_t attrs = IDS_AT + IDS * 8, data = attrs + (uint64_t)p->n_attrs * ATTR_ENTRY;
    build_clear(b);
    build_bytes(b, PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
    build_u64(b, 104);
    build_u64(b, ATTR_ENTRY);
    build_u64(b, attrs);
    build_u64(b, data - attrs);
    build_u64(b, data);
    build_u64(b, 0);
    build_u64(b, 0);
    build_u64(b, 0);
    build_u64(b, ((UINT64_C(1) << p->n_features) - 1) << FEATURES_OF);
    build_zeros(b, 24);
    for (uint64_t i = 0; i < IDS; i++)
        build_u64(b, 1000 + i);
    for (uint32_t i = 0; i < p->n_attrs; i++) {
        build_attr(b,
                   &(build_attr_plan){.type = 1, .size = 64, .period = 1, .sample_type = 0x10003});
        build_u64(b, IDS_AT + 8 * p->ids[i].offset);
        build_u64(b, 8 * p->ids[i].size);
    }
    uint64_t behind = data + 16 * (uint64_t)p->n_features;
    for (uint32_t i = 0; i < p->n_features; i++) {
        build_u64(b, behind + p->features[i].offset);
        build_u64(b, p->features[i].size);
    }
    build_zeros(b, 4096);
    return built(b);
}

static perfile_stream *open_plan(builder *b, const plan *p, bool as_stored)
{
    const perfile_open_options how = {.size = sizeof how, .as_stored = as_stored};
    perfile_source *source;
    perfile_stream *s;
    assert_int_equal(perfile_source_memory(file_of(b, p), "made", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, &how, &s, NULL), PERFILE_OK);
    return s;
}

static void assert_ids(const plan *p, const size_t want[MOST])
{
    for (unsigned as_stored = 0; as_stored < 2; as_stored++) {
        builder b = {0};
        perfile_stream_summary sum;
        uint64_t damaged = 0;
        perfile_stream *s = open_plan(&b, p, as_stored);
        const perfile_session *session = perfile_stream_session(s);
        assert_int_equal(perfile_session_n_events(session), p->n_attrs);
        for (uint32_t i = 0; i < p->n_attrs; i++) {
            const perfile_event *e = perfile_session_event(session, i);
            bool lost = p->ids[i].size && !want[i];
            assert_int_equal(e->ids.n, want[i]);
            assert_int_equal(e->ids_damage, lost ? PERFILE_DAMAGE_BAD_IDS : 0);
            damaged += lost;
        }
        perfile_stream_get_summary(s, &sum, sizeof sum);
        assert_int_equal(sum.by_damage[PERFILE_DAMAGE_BAD_IDS], damaged);
        perfile_stream_close(s);
        build_clear(&b);
    }
}

static void ids(void **state)
{
    (void)state;
    assert_ids(&(plan){.ids = {{0, 4}, {4, 4}, {8, 0}, {8, 8}, {8, 0}}, .n_attrs = 5},
               (const size_t[MOST]){4, 4, 0, 8, 0});
    /* Equal ones, one in the middle, one that ends behind. */
    assert_ids(&(plan){.ids = {{0, 4}, {0, 4}, {1, 1}, {3, 4}, {7, 1}}, .n_attrs = 5},
               (const size_t[MOST]){4, 0, 0, 0, 1});
    /* The order of the attrs decides, not that of the places. */
    assert_ids(&(plan){.ids = {{10, 4}, {0, 20}, {20, 5}, {14, 2}}, .n_attrs = 4},
               (const size_t[MOST]){4, 0, 5, 2});
}

static void assert_features(const plan *p, const bool lost[MOST])
{
    for (unsigned as_stored = 0; as_stored < 2; as_stored++) {
        builder b = {0};
        perfile_stream *s = open_plan(&b, p, as_stored);
        const perfile_session *session = perfile_stream_session(s);
        for (uint32_t i = 0; i < p->n_features; i++) {
            const perfile_feature *f = perfile_session_feature(session, FEATURES_OF + i);
            assert_non_null(f);
            assert_int_equal(f->damage, lost[i] ? PERFILE_DAMAGE_OVERLAP : 0);
            assert_int_equal(f->payload.len, lost[i] ? 0 : p->features[i].size);
        }
        perfile_stream_close(s);
        build_clear(&b);
    }
}

static void features(void **state)
{
    (void)state;
    assert_features(&(plan){.features = {{0, 64}, {64, 8}, {64, 0}, {72, 100}}, .n_features = 4},
                    (const bool[MOST]){false, false, false, false});
    assert_features(
        &(plan){.features = {{0, 64}, {0, 64}, {32, 8}, {63, 9}, {72, 8}}, .n_features = 5},
        (const bool[MOST]){false, true, true, true, false});
    assert_features(&(plan){.features = {{100, 64}, {0, 1000}, {164, 8}}, .n_features = 3},
                    (const bool[MOST]){false, true, false});
}

/* As many attrs as fit, all with all ids: what is kept is no more than the file. */
static void many(void **state)
{
    (void)state;
    enum { N = 20000, ENTRIES = 20000 };
    builder b = {0};
    perfile_source *source;
    perfile_stream *s;
    uint64_t attrs = 104 + 8 * (uint64_t)ENTRIES, data = attrs + (uint64_t)N * ATTR_ENTRY;
    build_bytes(&b, PF_NATIVE_BIG ? "2ELIFREP" : "PERFILE2", 8);
    const uint64_t words[] = {104, ATTR_ENTRY, attrs, data - attrs, data, 0, 0, 0, 0, 0, 0, 0};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        build_u64(&b, words[i]);
    for (uint64_t i = 0; i < ENTRIES; i++)
        build_u64(&b, 1000 + i);
    for (uint32_t i = 0; i < N; i++) {
        build_attr(&b,
                   &(build_attr_plan){.type = 1, .size = 64, .period = 1, .sample_type = 0x10003});
        build_u64(&b, 104);
        build_u64(&b, 8 * (uint64_t)ENTRIES);
    }
    assert_int_equal(perfile_source_memory(built(&b), "made", &source, NULL), PERFILE_OK);
    assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
    const perfile_session *session = perfile_stream_session(s);
    size_t sum = 0;
    for (uint32_t i = 0; i < perfile_session_n_events(session); i++)
        sum += perfile_session_event(session, i)->ids.n;
    assert_int_equal(sum, ENTRIES);
    perfile_stream_close(s);
    build_clear(&b);
}

/* Records and features stay when the header gives the attrs an impossible length: a section outside
 * the file was never written, so that nothing is under it. */
static void attrs_outside_the_file(void **state)
{
    (void)state;
    enum { ATTRS_SIZE_AT = 32, SAMPLES = 20 };
    for (unsigned form = 0; form < 2; form++) {
        uint64_t records[2] = {0};
        builder b;
        capture_make(&b, 0, form, SAMPLES);
        for (unsigned broken = 0; broken < 2; broken++) {
            perfile_source *source;
            perfile_stream *s;
            perfile_stream_summary sum;
            const perfile_record *r;
            perfile_status st;
            if (broken)
                build_u64_at(&b, ATTRS_SIZE_AT,
                             pf_load_u64(b.b.ptr + ATTRS_SIZE_AT, b.swap) | UINT64_C(1) << 40);
            assert_int_equal(perfile_source_memory(built(&b), "made", &source, NULL), PERFILE_OK);
            assert_int_equal(perfile_open(source, NULL, &s, NULL), PERFILE_OK);
            while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
                records[broken] += r->family == PERFILE_FAMILY_PERF;
            assert_int_equal(st, PERFILE_END);
            perfile_stream_get_summary(s, &sum, sizeof sum);
            assert_int_equal(sum.damages, broken);
            assert_int_equal(sum.lost, 0);
            perfile_stream_close(s);
        }
        assert_true(records[0] > SAMPLES);
        assert_int_equal(records[1], records[0]);
        build_clear(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(ids), cmocka_unit_test(features),
                                       cmocka_unit_test(many),
                                       cmocka_unit_test(attrs_outside_the_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

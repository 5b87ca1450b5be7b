/* Sessions made of sessions: a view shows what the other one knows by now, but for features of its
 * own; a copy has all that was known. */
#include "../testing.h"

#include <string.h>

#include "base/alloc.h"
#include "builder.h"
#include "core/session.h"
#include "core/command.h"

static perfile_session *session_of(bool swap)
{
    perfile_session *s;
    assert_int_equal(pf_session_open(swap, NULL, &s, NULL), PERFILE_OK);
    return s;
}

static void add_event(perfile_session *s, uint64_t id)
{
    BUILDER b = {.swap = perfile_session_swapped(s)}, ids = {.swap = b.swap};
    build_attr_plan plan = {.size = 112, .sample_type = PERFILE_SAMPLE_ID};
    build_attr(&b, &plan);
    build_u64(&ids, id);
    const pf_attr_fact fact = {.attr = built(&b), .ids = built(&ids)};
    assert_int_equal(pf_session_add_attr(s, &fact, NULL), PERFILE_OK);
    assert_int_equal(pf_session_resolve(s, NULL), PERFILE_OK);
}

static void add_feature(perfile_session *s, uint32_t number, perfile_bytes payload, uint32_t damage)
{
    const perfile_feature f = {.number = number,
                               .size = payload.len,
                               .payload = payload,
                               .damage = damage,
                               .flags = perfile_session_swapped(s) ? PERFILE_REC_SWAPPED : 0};
    assert_int_equal(pf_session_add_feature(s, &f, false, NULL), PERFILE_OK);
}

/* An entry of feature BUILD_ID: a file whose build id is all `byte`. */
static void put_build_id(builder *b, uint8_t byte, const char *name)
{
    size_t start = build_begin(b, 0, 2);
    build_u32(b, UINT32_MAX);
    for (unsigned i = 0; i < 20; i++)
        build_bytes(b, &byte, 1);
    build_zeros(b, 4);
    build_text(b, name);
    build_end(b, start);
}

static perfile_status learn_build_id(perfile_session *s, uint8_t byte, const char *name)
{
    BUILDER b = {.swap = perfile_session_swapped(s)};
    put_build_id(&b, byte, name);
    const perfile_record r = {.type = PERFILE_RECORD_HEADER_BUILD_ID,
                              .misc = 2,
                              .header = b.b.ptr,
                              .body = {b.b.ptr + 8, b.b.len - 8},
                              .flags = b.swap ? PERFILE_REC_SWAPPED : 0,
                              .session = s};
    return pf_session_collect(s, &r, NULL);
}

static void has_build_ids(const perfile_session *s, const uint8_t *bytes, uint32_t n)
{
    assert_int_equal(perfile_session_n_build_ids(s), n);
    for (uint32_t i = 0; i < n; i++)
        assert_int_equal(perfile_session_build_id(s, i)->id.ptr[0], bytes[i]);
}

static perfile_bytes times(void)
{
    static const uint8_t two[16] = {1, [8] = 2};
    return (perfile_bytes){two, sizeof two};
}

static void a_view_has_features_of_its_own(void **state)
{
    (void)state;
    for (unsigned swap = 0; swap < 2; swap++) {
        perfile_session *s = session_of(swap);
        pf_session_view *view;
        BUILDER ids = {.swap = swap}, less = {.swap = swap};
        put_build_id(&ids, 1, "/bin/one");
        put_build_id(&ids, 2, "/bin/two");
        put_build_id(&less, 2, "/bin/two");
        add_event(s, 7);
        add_feature(s, PERFILE_FEATURE_SAMPLE_TIME, times(), 0);
        add_feature(s, PERFILE_FEATURE_BUILD_ID, built(&ids), 0);
        const uint64_t generation = perfile_session_generation(s);

        assert_int_equal(pf_session_view_new(s, &view, NULL), PERFILE_OK);
        const perfile_session *shown = pf_session_view_shown(view);
        assert_int_equal(perfile_session_generation(shown), generation);
        has_build_ids(shown, (const uint8_t[]){1, 2}, 2);
        assert_ptr_equal(perfile_session_event_by_id(shown, 7), perfile_session_event(s, 0));

        /* What is its own, and that nothing of it is below. */
        const perfile_bytes none = {NULL, 0};
        assert_int_equal(pf_session_view_replace(view, PERFILE_FEATURE_SAMPLE_TIME, none, NULL),
                         PERFILE_OK);
        assert_int_equal(
            pf_session_view_replace(view, PERFILE_FEATURE_BUILD_ID, built(&less), NULL),
            PERFILE_OK);
        assert_true(perfile_session_generation(shown) > generation);
        assert_int_equal(perfile_session_generation(s), generation);
        const perfile_feature *f = perfile_session_feature(shown, PERFILE_FEATURE_SAMPLE_TIME);
        assert_int_equal(f->payload.len, 0);
        assert_ptr_equal(f->session, shown);
        assert_ptr_equal(perfile_session_feature_at(shown, 1), f);
        f = perfile_session_feature(s, PERFILE_FEATURE_SAMPLE_TIME);
        assert_int_equal(f->payload.len, 16);
        assert_ptr_equal(f->session, s);
        has_build_ids(shown, (const uint8_t[]){2}, 1);
        has_build_ids(s, (const uint8_t[]){1, 2}, 2);

        /* What is learned below. */
        add_event(s, 8);
        add_feature(s, PERFILE_FEATURE_NRCPUS, times(), 0);
        assert_int_equal(learn_build_id(s, 3, "/bin/three"), PERFILE_OK);
        assert_int_equal(perfile_session_n_events(shown), 1);
        assert_int_equal(pf_session_view_refresh(view, NULL), PERFILE_OK);
        assert_int_equal(perfile_session_n_events(shown), 2);
        assert_non_null(perfile_session_event_by_id(shown, 8));
        assert_non_null(perfile_session_feature(shown, PERFILE_FEATURE_NRCPUS));
        assert_int_equal(perfile_session_feature(shown, PERFILE_FEATURE_SAMPLE_TIME)->payload.len,
                         0);
        has_build_ids(shown, (const uint8_t[]){2, 3}, 2);
        has_build_ids(s, (const uint8_t[]){1, 2, 3}, 3);

        /* A view of a view, which is there before that has features of its own. */
        pf_session_view *upper, *lower;
        assert_int_equal(pf_session_view_new(s, &lower, NULL), PERFILE_OK);
        assert_int_equal(pf_session_view_new(pf_session_view_shown(lower), &upper, NULL),
                         PERFILE_OK);
        assert_int_equal(
            pf_session_view_replace(lower, PERFILE_FEATURE_BUILD_ID, built(&less), NULL),
            PERFILE_OK);
        assert_int_equal(pf_session_view_refresh(upper, NULL), PERFILE_OK);
        has_build_ids(pf_session_view_shown(upper), (const uint8_t[]){2, 3}, 2);
        f = perfile_session_feature(pf_session_view_shown(upper), PERFILE_FEATURE_BUILD_ID);
        assert_int_equal(f->payload.len, less.b.len);
        pf_session_view_free(upper);
        pf_session_view_free(lower);
        pf_session_view_free(view);
        pf_session_free(s);
    }
}

/* A feature that is not there, or that records have told, stays what it is. */
static void only_features_of_the_container_change(void **state)
{
    perfile_session *s = session_of(false);
    pf_session_view *view;
    (void)state;
    const perfile_feature f = {.number = PERFILE_FEATURE_SAMPLE_TIME,
                               .origin = PERFILE_ORIGIN_STREAM,
                               .size = 16,
                               .payload = times()};
    assert_int_equal(pf_session_add_feature(s, &f, true, NULL), PERFILE_OK);
    assert_int_equal(pf_session_view_new(s, &view, NULL), PERFILE_OK);
    const perfile_session *shown = pf_session_view_shown(view);
    const perfile_bytes none = {NULL, 0};
    static const uint32_t numbers[] = {PERFILE_FEATURE_SAMPLE_TIME, PERFILE_FEATURE_BUILD_ID};
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(pf_session_view_replace(view, numbers[i], none, NULL), PERFILE_OK);
    assert_int_equal(perfile_session_feature(shown, numbers[0])->payload.len, 16);
    assert_null(perfile_session_feature(shown, numbers[1]));
    pf_session_view_free(view);
    pf_session_free(s);
}

static void a_copy_has_instances_and_what_is_damaged(void **state)
{
    (void)state;
    for (unsigned swap = 0; swap < 2; swap++) {
        perfile_session *s = session_of(swap), *copy;
        BUILDER b = {.swap = swap};
        build_zeros(&b, 8);
        build_u64(&b, 2);
        for (uint64_t id = 40; id < 42; id++) {
            build_u64(&b, id);
            build_u64(&b, 3);
            build_u64(&b, id % 2);
            build_u64(&b, 77);
        }
        const perfile_record r = {.type = PERFILE_RECORD_ID_INDEX,
                                  .header = b.b.ptr,
                                  .body = {b.b.ptr + 8, b.b.len - 8},
                                  .flags = swap ? PERFILE_REC_SWAPPED : 0,
                                  .session = s};
        add_event(s, 40);
        add_event(s, 41);
        assert_int_equal(pf_session_collect(s, &r, NULL), PERFILE_OK);
        add_feature(s, PERFILE_FEATURE_NRCPUS, times(), PERFILE_DAMAGE_TRUNCATED_FEATURE_TABLE);
        assert_int_equal(pf_session_copy(s, NULL, &copy, NULL), PERFILE_OK);
        pf_session_free(s);

        for (uint64_t id = 40; id < 42; id++) {
            pf_instance one;
            assert_true(pf_session_instance(copy, id, &one, sizeof one));
            assert_int_equal(one.cpu, id % 2);
            assert_int_equal(one.tid, 77);
            assert_int_equal(perfile_session_event_by_id(copy, id)->index, id - 40);
        }
        const perfile_feature *f = perfile_session_feature(copy, PERFILE_FEATURE_NRCPUS);
        assert_non_null(f);
        assert_int_equal(f->damage, PERFILE_DAMAGE_TRUNCATED_FEATURE_TABLE);
        assert_int_equal(f->size, 16);
        assert_int_equal(f->payload.len, 16);
        assert_ptr_equal(f->session, copy);
        pf_session_free(copy);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_view_has_features_of_its_own),
        cmocka_unit_test(only_features_of_the_container_change),
        cmocka_unit_test(a_copy_has_instances_and_what_is_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Features of merged captures that are about events: their names, their groups. */
#include "merging.h"
#include "core/command.h"

static void test_event_desc(bool swap)
{
    begin(2, swap);
    event(0, PERFILE_TYPE_HARDWARE, 0, 1, 0);
    event(1, PERFILE_TYPE_HARDWARE, 1, 1, 1);
    event(1, PERFILE_TYPE_HARDWARE, 0, 2, 0); /* joined */
    describe(1, "work", 1);
    join();
    assert_string_equal(called(0), "cycles");
    assert_string_equal(called(1), "work");
    OUT(EVENT_DESC, event_desc);
    assert_int_equal(v.nr_events, 2);
    assert_int_equal(v.attr_size, ATTR);
    perfile_event_desc_entry e;
    assert_int_equal(perfile_event_desc_entry_next(&v.events, &e, sizeof e), PERFILE_OK);
    is_text(e.name, "cycles");
    assert_int_equal(perfile_event_desc_entry_next(&v.events, &e, sizeof e), PERFILE_OK);
    is_text(e.name, "work");
    assert_int_equal(e.attr.config, 1);
    assert_int_equal(e.ids.n, 1);
    assert_int_equal(perfile_word(&e.ids, 0), 101);
    end();

    /* Nobody has one, and nobody needs one. */
    begin(2, swap);
    event(0, PERFILE_TYPE_HARDWARE, 0, 1, 0);
    event(1, PERFILE_TYPE_HARDWARE, 1, 1, 1);
    join();
    assert_int_equal(perfile_session_n_features(m.x.base.session), 0);
    assert_string_equal(called(1), "instructions");
    end();
}

static void add_type(uint32_t k, uint64_t config, const char *name)
{
    assert_int_equal(pf_session_add_event_type(session_of(k), config, text(name), false, NULL),
                     PERFILE_OK);
}

/* One for each event of the output, at its position, then what is left. */
static void test_event_types(bool swap)
{
    begin(3, swap);
    event(0, PERFILE_TYPE_TRACEPOINT, 7, 1, 0);
    event(0, PERFILE_TYPE_HARDWARE, 1, 2, 1);
    add_type(0, 7, "seven");
    add_type(0, 1, "instr");
    event(1, PERFILE_TYPE_HARDWARE, 0, 1, 2); /* has none */
    event(2, PERFILE_TYPE_TRACEPOINT, 7, 1, 3);
    event(2, PERFILE_TYPE_HARDWARE, 1, 1, 1); /* joined */
    add_type(2, 7, "seven");
    add_type(2, 1, "other");
    add_type(2, 9, "nine");
    join();
    static const char *const wanted[] = {"seven", "instr", "cycles", "seven", "other", "nine"};
    static const uint64_t configs[] = {7, 1, 0, 7, 1, 9};
    assert_int_equal(pf_session_n_event_types(m.x.base.session), 6);
    for (uint32_t i = 0; i < 6; i++) {
        const pf_event_type *t = pf_session_event_type(m.x.base.session, i);
        is_text(t->name, wanted[i]);
        assert_int_equal(t->event_id, configs[i]);
    }
    end();
    begin(1, swap);
    event(0, PERFILE_TYPE_TRACEPOINT, 7, 1, 0);
    join();
    assert_int_equal(pf_session_n_event_types(m.x.base.session), 0);
    end();
}

static void group(uint32_t k, const perfile_group_desc_entry *groups, size_t n)
{
    ADD(k, GROUP_DESC, group_desc,
        .groups = perfile_group_desc_entry_list(groups, n, sizeof groups[0]));
}

static void test_groups(bool swap)
{
    const perfile_group_desc_entry pair = {.name = text("pair"), .leader_idx = 0, .nr_members = 2};
    const perfile_group_desc_entry late = {.name = text("late"), .leader_idx = 1, .nr_members = 2};
    const perfile_group_desc_entry far = {.name = text("far"), .leader_idx = 2, .nr_members = 2};
    const perfile_group_desc_entry none = {.name = text("none"), .leader_idx = 0};
    perfile_group_desc_entry e;

    begin(3, swap);
    for (uint32_t i = 0; i < 3; i++)
        event(0, PERFILE_TYPE_HARDWARE, i, 0, i);
    for (uint32_t i = 0; i < 2; i++)
        event(1, PERFILE_TYPE_HARDWARE, i, 0, i); /* a part */
    for (uint32_t i = 0; i < 3; i++)
        event(2, PERFILE_TYPE_SOFTWARE, i, 0, 3 + i);
    group(0, &late, 1);
    group(1, &pair, 1); /* has a member of the other */
    const perfile_group_desc_entry last[] = {late, far, none};
    group(2, last, 3);
    join();
    OUT(GROUP_DESC, group_desc);
    assert_int_equal(v.nr, 2);
    assert_int_equal(perfile_group_desc_entry_next(&v.groups, &e, sizeof e), PERFILE_OK);
    is_text(e.name, "pair");
    assert_int_equal(e.leader_idx, 0);
    assert_int_equal(perfile_group_desc_entry_next(&v.groups, &e, sizeof e), PERFILE_OK);
    is_text(e.name, "late");
    assert_int_equal(e.leader_idx, 4);
    assert_int_equal(e.nr_members, 2);
    assert_int_equal(perfile_session_event(m.x.base.session, 5)->group_leader, 4);
    says("1 17 0 1 feature GROUP_DESC: 1 entry of a.data");
    says("1 17 2 2 feature GROUP_DESC: 2 entries of c.data");
    end();

    /* A group whose members are not side by side; the same group twice. */
    begin(2, swap);
    event(0, PERFILE_TYPE_HARDWARE, 0, 0, 0);
    event(0, PERFILE_TYPE_HARDWARE, 1, 0, 1);
    event(1, PERFILE_TYPE_HARDWARE, 1, 0, 1);
    event(1, PERFILE_TYPE_HARDWARE, 0, 0, 0);
    group(0, &pair, 1);
    group(1, &pair, 1);
    join();
    assert_int_equal(out(PERFILE_FEATURE_GROUP_DESC)->size, 4 + 68 + 8);
    says("1 17 1 1 feature GROUP_DESC: 1 entry of b.data");
    end();
    begin(2, swap);
    for (uint32_t k = 0; k < 2; k++) {
        event(k, PERFILE_TYPE_HARDWARE, 0, 0, 0);
        event(k, PERFILE_TYPE_HARDWARE, 1, 0, 1);
        group(k, &pair, 1);
    }
    join();
    is_as_in(0, PERFILE_FEATURE_GROUP_DESC);
    assert_null(strstr(m.told, "left out"));
    end();
}

IN_BOTH_ORDERS(event_desc)
IN_BOTH_ORDERS(event_types)
IN_BOTH_ORDERS(groups)

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(event_desc),
        cmocka_unit_test(event_types),
        cmocka_unit_test(groups),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

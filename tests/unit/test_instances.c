/* Sessions: where the counters of an event count, in either byte order. */
#include "testing.h"

#include "instances.h"
#include "core/command.h"

static perfile_session *session_of(bool swap, const perfile_open_options *options)
{
    build_attr_plan plan = {.type = 1, .size = 64};
    const uint64_t ids[] = {5, 6};
    perfile_session *s;
    builder b = {.swap = swap}, list = {.swap = swap};
    assert_int_equal(pf_session_open(swap, options, &s, NULL), PERFILE_OK);
    build_attr(&b, &plan);
    for (size_t i = 0; i < 2; i++)
        build_u64(&list, ids[i]);
    pf_attr_fact fact = {.attr = built(&b), .ids = built(&list)};
    assert_int_equal(pf_session_add_attr(s, &fact, NULL), PERFILE_OK);
    assert_int_equal(pf_session_resolve(s, NULL), PERFILE_OK);
    build_clear(&b);
    build_clear(&list);
    return s;
}

/* The bytes are gone afterwards: what the session keeps it has copied. */
static perfile_status learn(perfile_session *s, uint32_t type, builder *b)
{
    perfile_record r = record_of(s, type, 0, built(b));
    perfile_status st = pf_session_collect(s, &r, NULL);
    memset(b->b.ptr, 0xa5, b->b.len);
    build_clear(b);
    return st;
}

static void put_entry(builder *b, uint64_t id, uint64_t buffer, uint64_t cpu, uint64_t tid)
{
    build_u64(b, id);
    build_u64(b, buffer);
    build_u64(b, cpu);
    build_u64(b, tid);
}

static void ids_have_places(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        perfile_session *s = session_of(swap, NULL);
        pf_instance x = {0};
        builder b = {.swap = swap};
        assert_false(pf_session_instance(s, 5, &x, sizeof x));
        build_u64(&b, 3);
        put_entry(&b, 5, 1, 2, 300);
        put_entry(&b, 6, 2, UINT64_MAX, UINT32_MAX);
        put_entry(&b, 5, 9, 9, 9); /* the first word counts */
        uint64_t generation = perfile_session_generation(s);
        assert_int_equal(learn(s, PERFILE_RECORD_ID_INDEX, &b), PERFILE_OK);
        assert_true(perfile_session_generation(s) > generation);
        assert_true(pf_session_instance(s, 5, &x, sizeof x));
        assert_true(x.id == 5 && x.buffer == 1 && x.cpu == 2 && x.tid == 300);
        assert_true(x.machine_pid == 0 && x.vcpu == 0);
        assert_true(pf_session_instance(s, 6, &x, sizeof x));
        assert_true(x.cpu == UINT64_MAX && x.tid == UINT64_MAX);
        assert_false(pf_session_instance(s, 7, &x, sizeof x));
        /* An older caller has a shorter struct. */
        memset(&x, 0x55, sizeof x);
        assert_true(pf_session_instance(s, 5, &x, 3 * sizeof(uint64_t)));
        assert_true(x.cpu == 2 && x.tid == UINT64_C(0x5555555555555555));
        /* A virtual machine's; more records than one. */
        b.swap = swap;
        build_u64(&b, 1);
        put_entry(&b, 7, 3, 1, 301);
        build_u64(&b, 77);
        build_u64(&b, 1);
        assert_int_equal(learn(s, PERFILE_RECORD_ID_INDEX, &b), PERFILE_OK);
        assert_true(pf_session_instance(s, 7, &x, sizeof x));
        assert_true(x.machine_pid == 77 && x.vcpu == 1 && x.cpu == 1);
        assert_true(pf_session_instance(s, 6, &x, sizeof x));
        pf_session_free(s);
    }
}

/* They count in the limit of the session; what was there stays. */
static void places_are_bounded(void **state)
{
    (void)state;
    perfile_limits limits = {.size = sizeof limits, .session_bytes = 64 << 10};
    perfile_open_options options = {.size = sizeof options, .limits = &limits};
    perfile_session *s = session_of(false, &options);
    perfile_status st = PERFILE_OK;
    pf_instance x;
    uint64_t n = 0;
    for (; st == PERFILE_OK && n < 100000; n++) {
        builder b = {0};
        build_u64(&b, 1);
        put_entry(&b, 1000 + n, 0, n, 0);
        st = learn(s, PERFILE_RECORD_ID_INDEX, &b);
    }
    assert_int_equal(st, PERFILE_E_LIMIT);
    assert_true(n > 100 && n * sizeof x <= 64 << 10);
    for (uint64_t i = 0; i + 1 < n; i++) {
        assert_true(pf_session_instance(s, 1000 + i, &x, sizeof x));
        assert_true(x.id == 1000 + i && x.cpu == i);
    }
    assert_false(pf_session_instance(s, 1000 + n - 1, &x, sizeof x));
    pf_session_free(s);
}

static void put_cpus(builder *b, uint64_t id, const uint16_t *cpus, uint16_t n)
{
    build_u64(b, 3);
    build_u64(b, id);
    build_u16(b, 0);
    build_u16(b, n);
    for (uint16_t i = 0; i < n; i++)
        build_u16(b, cpus[i]);
    build_zeros(b, (8 - b->b.len % 8) % 8);
}

static void events_have_processors(void **state)
{
    (void)state;
    for (int swap = 0; swap < 2; swap++) {
        perfile_limits limits = {.size = sizeof limits, .session_bytes = 64 << 10};
        perfile_open_options options = {.size = sizeof options, .limits = &limits};
        perfile_session *s = session_of(swap, &options);
        const perfile_event *e = perfile_session_event(s, 0);
        assert_null(e->cpus);
        /* Again and again: kept once, or the limit would be passed. */
        for (int i = 0; i < 5000; i++) {
            builder b = {.swap = swap};
            put_cpus(&b, 6, (const uint16_t[]){0, 4, 5}, 3);
            assert_int_equal(learn(s, PERFILE_RECORD_EVENT_UPDATE, &b), PERFILE_OK);
        }
        assert_non_null(e->cpus);
        assert_true(e->cpus->is_list && e->cpus->cpu.n == 3);
        assert_int_equal(perfile_word(&e->cpus->cpu, 0), 0);
        assert_int_equal(perfile_word(&e->cpus->cpu, 2), 5);
        builder b = {.swap = swap};
        put_cpus(&b, 5, (const uint16_t[]){7}, 1);
        assert_int_equal(learn(s, PERFILE_RECORD_EVENT_UPDATE, &b), PERFILE_OK);
        assert_int_equal(e->cpus->cpu.n, 1);
        assert_int_equal(perfile_word(&e->cpus->cpu, 0), 7);
        pf_session_free(s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ids_have_places),
        cmocka_unit_test(places_are_bounded),
        cmocka_unit_test(events_have_processors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

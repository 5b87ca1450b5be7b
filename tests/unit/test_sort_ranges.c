/* What sorting notes of a mapped capture: ranges in order, however many records there are. */
#include "../testing.h"

#include "base/byte_order.h"
#include "core/session.h"
#include "sort/sort.h"

enum { RANGES = 64, SIZE = 56, MANY = 100000 };

/* Samples that step back at every `every`-th are a range for each step, up to the capacity. */
static void a_range_for_each_step_back(void **state)
{
    static const uint32_t steps[] = {MANY, MANY / 10, MANY / RANGES + 1, 1000};
    (void)state;
    perfile_session *session;
    uint8_t *bytes = calloc(MANY, SIZE);
    assert_non_null(bytes);
    assert_int_equal(pf_session_open(false, NULL, &session, NULL), PERFILE_OK);
    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        const pf_time_clock before = {0};
        const uint32_t every = steps[i], wanted = (MANY + every - 1) / every;
        pf_sort_ranges b;
        uint64_t left = 0, taken = 0;
        assert_int_equal(pf_sort_ranges_open(&b, RANGES, session, NULL), PERFILE_OK);
        for (uint64_t k = 0; k < MANY; k++) {
            uint8_t *at = bytes + k * SIZE;
            pf_store_u16(at + 6, SIZE, false);
            const perfile_record r = {.header = at,
                                      .body = {at + 8, SIZE - 8},
                                      .type = PERFILE_RECORD_SAMPLE,
                                      .flags = PERFILE_REC_STABLE,
                                      .offset = k * SIZE,
                                      .session = session};
            const uint64_t key = 1 + k % every;
            taken += pf_sort_ranges_add(&b, &r, SIZE, key, key, &before);
        }
        assert_int_equal(b.full, wanted > RANGES);
        assert_int_equal(b.n, wanted > RANGES ? RANGES : wanted);
        for (uint32_t k = 0; k < b.n; k++) {
            assert_int_equal(b.list[k].offset, left);
            left += b.list[k].bytes;
            assert_int_equal(b.list[k].key, b.list[k].bytes / SIZE);
        }
        assert_int_equal(left, taken * SIZE);
        assert_true(b.full || taken == MANY);
        pf_sort_ranges_close(&b);
    }
    pf_session_free(session);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_range_for_each_step_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

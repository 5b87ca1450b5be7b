/* What sorting notes of a mapped capture: blocks of records, however many records there are. */
#include "../testing.h"

#include "base/byte_order.h"
#include "core/session.h"
#include "sort/sort.h"

enum { BLOCKS = 64, MANY = 20 << 20 };

/* A capture of nothing but samples of `size` bytes one behind the other, in order: all of it goes
 * into a few blocks, which become larger instead of more. */
static void blocks_are_never_too_many(void **state)
{
    static const uint16_t sizes[] = {8, 56, 64, 104, 4096, 65528};
    (void)state;
    perfile_session *session;
    uint8_t *bytes = calloc(1, MANY);
    assert_non_null(bytes);
    assert_int_equal(pf_session_new(false, NULL, &session, NULL), PERFILE_OK);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        const pf_time_clock before = {0};
        pf_sort_blocks b;
        uint64_t n = MANY / sizes[i], left = 0, records = 0;
        assert_int_equal(pf_sort_blocks_open(&b, BLOCKS, session, NULL), PERFILE_OK);
        for (uint64_t k = 0; k < n; k++) {
            uint8_t *at = bytes + k * sizes[i];
            pf_store_u16(at + 6, sizes[i], false);
            const perfile_record r = {.header = at,
                                      .body = {at + 8, sizes[i] - (size_t)8},
                                      .type = PERFILE_RECORD_SAMPLE,
                                      .flags = PERFILE_REC_STABLE,
                                      .offset = k * sizes[i],
                                      .session = session};
            assert_true(pf_sort_blocks_add(&b, &r, 1 + k, &before));
        }
        assert_false(b.full);
        assert_true(b.n <= BLOCKS);
        for (uint32_t k = 0; k < b.n; k++) {
            assert_int_equal(b.list[k].offset, left);
            assert_int_equal(b.list[k].min, 1 + records);
            left += b.list[k].bytes;
            records += b.list[k].records;
            assert_int_equal(b.list[k].max, records);
        }
        assert_int_equal(records, n);
        assert_int_equal(left, n * sizes[i]);

        /* In order: what is held at once is a few blocks, not all of it. */
        pf_sort_need need = {0};
        pf_sort_blocks_set_floors(&b);
        assert_int_equal(pf_sort_window_need(&b, 0, b.n, 64 << 10, &need, NULL), PERFILE_OK);
        assert_true(need.mapped > 0 && need.mapped < MANY / 8);
        assert_true(need.memory > 0 && need.memory < 64 * n / 8 + (1 << 20));
        pf_sort_blocks_close(&b);
    }
    pf_session_free(session);
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(blocks_are_never_too_many)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

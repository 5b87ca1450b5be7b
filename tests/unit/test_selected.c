/* The bits of the records that a filter selected (src/filter/selected.c), against a list of them.
 */
#include "testing.h"

#include <string.h>

#include "filter/filter.h"

enum { RECORDS = 2000, AROUND = 200 };

/* Which of the records around those are selected; index 0 is record `base`. */
typedef struct listed {
    uint64_t base;
    bool is[RECORDS];
} listed;

static bool is_listed(const listed *l, uint64_t sequence)
{
    return sequence >= l->base && sequence < l->base + RECORDS && l->is[sequence - l->base];
}

static void equals(const pf_selected *x, const listed *l)
{
    perfile_record records[64] = {0};
    for (uint64_t from = l->base - AROUND; from < l->base + RECORDS; from += 13) {
        uint64_t n = 0, word = 0;
        for (uint64_t i = 0; i < 150; i++)
            n += is_listed(l, from + i);
        assert_int_equal(pf_selected_count(x, from, 150), n);
        for (uint64_t i = 0; i < 64; i++) {
            records[i].sequence = from + i;
            word |= (uint64_t)is_listed(l, from + i) << i;
        }
        pf_run run = {.first = records, .n = 64, .all = UINT64_MAX, .consecutive = true};
        assert_int_equal(pf_selected_of(x, &run), word);
        run.consecutive = false;
        assert_int_equal(pf_selected_of(x, &run), word);
    }
}

/* Runs of 64 and single ones, wherever the first one is. */
static void it_has_what_was_set(void **state)
{
    (void)state;
    for (uint64_t base = 1000; base < 1070; base += 23) {
        pf_selected x = {0};
        listed l = {.base = base};
        perfile_record records[64] = {0};
        equals(&x, &l);
        for (uint64_t at = 5; at + 64 < RECORDS / 2; at += 64 + at % 7) {
            const uint64_t word = at % 3 ? UINT64_C(0x8000f00d00000101) << at % 5 : UINT64_MAX;
            for (uint64_t i = 0; i < 64; i++) {
                records[i].sequence = base + at + i;
                l.is[at + i] = word >> i & 1;
            }
            const pf_run run = {
                .first = records, .n = 64, .all = UINT64_MAX, .consecutive = at % 2 == 0};
            assert_true(pf_selected_set(&x, &run, word));
        }
        assert_true(pf_selected_set_range(&x, base + 1200, 300));
        memset(l.is + 1200, true, 300);
        equals(&x, &l);
        assert_false(x.incomplete);
        pf_selected_free(&x);
    }
}

/* Memory is for what lies between the first and the last, wherever in the capture that is. */
static void those_in_front_cost_nothing(void **state)
{
    (void)state;
    const uint64_t far = UINT64_C(1) << 40;
    pf_selected x = {0};
    listed l = {.base = far};
    assert_true(pf_selected_set_range(&x, far + 7, 1));
    l.is[7] = true;
    equals(&x, &l);
    assert_true(x.bits.len < 64);
    /* Nor does it cost anything to ask for more than there are. */
    assert_int_equal(pf_selected_count(&x, 0, UINT64_MAX), 1);
    assert_int_equal(pf_selected_count(&x, far, UINT64_MAX), 1);
    assert_int_equal(pf_selected_count(&x, far + 8, UINT64_MAX), 0);
    assert_int_equal(pf_selected_count(&x, 0, far), 0);
    pf_selected_free(&x);
}

/* What does not fit, or is in front of the first one, makes it incomplete and changes nothing. */
static void it_says_when_it_is_incomplete(void **state)
{
    (void)state;
    for (int back = 0; back < 2; back++) {
        pf_selected x = {0};
        listed l = {.base = 1000};
        assert_true(pf_selected_set_range(&x, 1003, 2));
        l.is[3] = l.is[4] = true;
        assert_true(pf_selected_set_range(&x, back ? 1002 : UINT64_C(1) << 40, 1));
        assert_true(x.incomplete);
        assert_true(pf_selected_set_range(&x, 1010, 5));
        equals(&x, &l);
        pf_selected_free(&x);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_has_what_was_set),
        cmocka_unit_test(those_in_front_cost_nothing),
        cmocka_unit_test(it_says_when_it_is_incomplete),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

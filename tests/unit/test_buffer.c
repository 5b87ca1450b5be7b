/* Growing bytes on large pages. */
#include "testing.h"

#include "base/alloc.h"
#include "base/buffer.h"

enum { LARGE_PAGE = 2 << 20, SOME = 1000 };

static void fill(pf_buffer *b, size_t n)
{
    for (size_t i = 0; i < n; i++)
        b->ptr[b->len++] = (uint8_t)(i * 7 ^ i >> 8);
}

static void assert_filled(const pf_buffer *b, size_t from, size_t n)
{
    for (size_t i = 0; i < n; i++)
        assert_int_equal(b->ptr[i], (uint8_t)((from + i) * 7 ^ (from + i) >> 8));
}

/* A small page at the front would make all of a large one small. */
static void large_memory_begins_at_a_large_page(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 3 * (size_t)LARGE_PAGE; n = 3 * n + 1) {
        uint8_t *p = pf_alloc_large(n);
        assert_non_null(p);
        assert_int_equal((uintptr_t)p % LARGE_PAGE, 0);
        memset(p, 1, n);
        pf_free(p);
    }
    assert_null(pf_alloc_large(SIZE_MAX));
    assert_null(pf_alloc_large(PTRDIFF_MAX));
}

static void growing_keeps_what_is_there(void **state)
{
    (void)state;
    pf_buffer b = {0};
    assert_true(pf_buffer_reserve_large(&b, SOME));
    fill(&b, SOME);
    pf_buffer_consume_front(&b, SOME / 2);
    assert_true(pf_buffer_reserve_large(&b, LARGE_PAGE));
    assert_true(b.cap - b.len >= LARGE_PAGE);
    assert_int_equal(b.len, SOME - SOME / 2);
    assert_filled(&b, SOME / 2, b.len);
    const size_t cap = b.cap;
    assert_true(pf_buffer_reserve_large(&b, cap - b.len + 1));
    assert_true(b.cap >= 2 * cap); /* so that a byte is copied a few times only */
    assert_filled(&b, SOME / 2, b.len);
    pf_buffer_free(&b);
}

static void what_cannot_be_had_changes_nothing(void **state)
{
    (void)state;
    pf_buffer b = {0};
    assert_true(pf_buffer_reserve_large(&b, SOME));
    fill(&b, SOME);
    const pf_buffer before = b;
    pf_alloc_fail_at = pf_alloc_count + 1;
    assert_false(pf_buffer_reserve_large(&b, LARGE_PAGE));
    pf_alloc_fail_at = 0;
    assert_false(pf_buffer_reserve_large(&b, SIZE_MAX));
    assert_false(pf_buffer_reserve_large(&b, PTRDIFF_MAX));
    assert_memory_equal(&b, &before, sizeof b);
    assert_filled(&b, 0, SOME);
    pf_buffer_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(large_memory_begins_at_a_large_page),
        cmocka_unit_test(growing_keeps_what_is_there),
        cmocka_unit_test(what_cannot_be_had_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

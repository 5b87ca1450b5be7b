/* Samples that are decoded by code for their sample type alone come out as the ordinary decoder has
 * them; both are made from the rows of format/sample.def. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "schema/rows.h"

enum { LONGEST = 160 };

static uint32_t random32(void)
{
    static uint64_t state = 88172645463325252;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

/* Small numbers, so that counts and sizes often fit. */
static void fill(uint8_t *body, size_t n)
{
    for (size_t i = 0; i < n; i++)
        body[i] = i % 4 ? 0 : (uint8_t)(random32() % 16);
}

/* Decodes `n` bytes in a block of their own, so that an overread is caught.  True when both give
 * the same sample. */
static bool same(uint64_t type, const uint8_t *bytes, size_t n)
{
    uint8_t *own = malloc(n ? n : 1);
    assert_non_null(own);
    memcpy(own, bytes, n);
    perfile_bytes body = {own, n};
    perfile_sample a, b;
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    pf_context k = {.sample_type = type};
    pf_cursor c = pf_cur(body, false);
    pf_decode_sample(&k, &c, &a);
    bool good = pf_usual_sample(type)(body, &b);
    assert_int_equal(good, c.bad == 0);
    if (good) {
        assert_memory_equal(&a, &b, sizeof a);
        assert_int_equal(a.present, type);
    }
    free(own);
    return good;
}

static void usual_is_ordinary(void **state)
{
    (void)state;
    uint8_t bytes[LONGEST];
    unsigned n_types = 0, n_good = 0, n_bad = 0;
    for (uint64_t type = 0; type <= PERFILE_SAMPLE_KNOWN; type++) {
        if (type >> 12 & ~UINT64_C(0x10) ||
            !pf_usual_sample(type)) /* none of them but IDENTIFIER */
            continue;
        n_types++;
        for (size_t n = 0; n <= LONGEST; n++) {
            fill(bytes, n);
            if (same(type, bytes, n))
                n_good++;
            else
                n_bad++;
        }
    }
    assert_int_equal(n_types, 48);
    assert_true(n_good > 1000 && n_bad > 1000);
}

static void others_are_left_alone(void **state)
{
    (void)state;
    static const uint64_t others[] = {
        0,
        PERFILE_SAMPLE_IP,
        PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_READ,
        PERFILE_SAMPLE_IP | PERFILE_SAMPLE_TID | PERFILE_SAMPLE_TIME | UINT64_C(1) << 40,
        UINT64_MAX,
    };
    for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
        assert_null(pf_usual_sample(others[i]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_is_ordinary),
        cmocka_unit_test(others_are_left_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

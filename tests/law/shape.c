/* What the counts of a sample say of its size is what the decoder finds. */
#include "../testing.h"

#include "core/layout.h"
#include "schema/rows.h"

enum { LONGEST = 160, TURNS = 4 };

static uint32_t random32(void)
{
    static uint64_t state = 88172645463325252;
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 16);
}

/* Small numbers, so that counts and sizes often fit; some with a high bit. */
static void fill(uint8_t *body, size_t n, bool swap)
{
    for (size_t i = 0; i < n; i++)
        body[i] = i % 4 == (swap ? 3 : 0) ? (uint8_t)(random32() % 16) : 0;
    if (n && random32() % 8 == 0)
        body[random32() % n] = 0x80;
}

static bool decoded(uint64_t type, perfile_bytes body, bool swap, perfile_sample *s)
{
    pf_context k = {.sample_type = type};
    pf_cursor c = pf_cur(body, swap);
    memset(s, 0, sizeof *s);
    pf_decode_sample(&k, &c, s);
    return !c.bad && s->extra.len < 8;
}

/* `n` bytes in a block of their own, so that an overread is caught. */
static bool same(uint64_t type, const uint8_t *bytes, size_t n, bool swap)
{
    uint8_t *own = exact(bytes, n);
    perfile_sample s;
    perfile_bytes raw = {NULL, 0};
    pf_sample_shape shape = pf_sample_shape_of(type);
    bool good = decoded(type, (perfile_bytes){own, n}, swap, &s);
    assert_int_equal(pf_sample_shape_fits(&shape, own, n, swap, &raw), good);
    if (good) {
        assert_int_equal(raw.len, s.raw.len);
        assert_true(raw.len == 0 || raw.ptr == s.raw.ptr);
    }
    free(own);
    return good;
}

static void fits_is_what_decodes(void **state)
{
    (void)state;
    uint8_t bytes[LONGEST];
    unsigned n_types = 0, n_good = 0, n_bad = 0;
    for (uint64_t type = 0; type <= PERFILE_SAMPLE_KNOWN; type++) {
        if (!pf_sample_shape_of(type).known)
            continue;
        n_types++;
        for (unsigned turn = 0; turn < TURNS * LONGEST; turn++) {
            size_t n = turn % (LONGEST + 1);
            bool swap = turn % 2;
            fill(bytes, n, swap);
            if (same(type, bytes, n, swap))
                n_good++;
            else
                n_bad++;
        }
    }
    assert_int_equal(n_types, (1 << 11) - 1); /* nine words, the chain, raw data */
    assert_true(n_good > 10000 && n_bad > 10000);
}

static void others_are_not_known(void **state)
{
    (void)state;
    uint64_t known = PF_SHAPE_WORDS | PERFILE_SAMPLE_CALLCHAIN | PERFILE_SAMPLE_RAW;
    assert_false(pf_sample_shape_of(0).known);
    for (unsigned bit = 0; bit < 64; bit++)
        assert_int_equal(pf_sample_shape_of(UINT64_C(1) << bit | PERFILE_SAMPLE_IP).known,
                         known >> bit & 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fits_is_what_decodes),
        cmocka_unit_test(others_are_not_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

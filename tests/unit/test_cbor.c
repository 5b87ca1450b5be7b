/* The reader of CBOR: indefinite lengths, where they are allowed, and what is refused all the same.
 */
#include "testing.h"

#include "base/cbor.h"

/* Reads one item of whatever kind; `bytes` is released.  Returns how many bytes it had, 0: refused.
 */
static size_t skip_item(perfile_bytes bytes, bool any, bool *cut)
{
    pf_cbor c = any ? pf_cbor_begin_any(bytes) : pf_cbor_begin(bytes);
    pf_cbor_skip(&c);
    const size_t n = c.why ? 0 : (size_t)(c.pos - bytes.ptr);
    *cut = c.cut;
    free((void *)(uintptr_t)bytes.ptr);
    return n;
}

/* Items of RFC 8949, appendix A, of indefinite length, each with a byte behind it. */
static void test_indefinite(void **state)
{
    (void)state;
    static const char *const good[] = {"5f42010243030405ff",
                                       "5fff",
                                       "7f657374726561646d696e67ff",
                                       "9fff",
                                       "9f018202039f0405ffff",
                                       "83018202039f0405ff",
                                       "bf61610161629f0203ffff",
                                       "826161bf61626163ff",
                                       "bfff"};
    bool cut;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const perfile_bytes bytes = hex(good[i]);
        const size_t len = bytes.len;
        assert_int_equal(skip_item(bytes, true, &cut), len);
        assert_int_equal(skip_item(hex(good[i]), false, &cut), 0);
        assert_false(cut);
        for (size_t n = 0; n < len; n++) {
            const perfile_bytes all = hex(good[i]);
            const perfile_bytes some = {exact(all.ptr, n), n};
            free((void *)(uintptr_t)all.ptr);
            assert_int_equal(skip_item(some, true, &cut), 0);
            assert_true(cut); /* more bytes would help */
        }
    }
}

static void test_refused(void **state)
{
    (void)state;
    /* An end that nothing opened, in an array that has a length, behind a key; a piece of another
     * kind, or in pieces itself; a tag; a byte that begins nothing. */
    static const char *const bad[] = {"ff",       "82ff00",       "bf6161ff", "5f6161ff",
                                      "7f4161ff", "5f5f4101ffff", "9fc101ff", "1c"};
    bool cut;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(skip_item(hex(bad[i]), true, &cut), 0);
        assert_false(cut);
    }
    /* More items than an input can have, also where their number is that of PF_CBOR_OPEN. */
    static const char *const claims[] = {"9bffffffffffffffff00", "bbffffffffffffffff00",
                                         "9b000000010000000000", "5bffffffffffffffff00"};
    for (size_t i = 0; i < sizeof claims / sizeof claims[0]; i++) {
        assert_int_equal(skip_item(hex(claims[i]), true, &cut), 0);
        assert_true(cut);
    }
}

static void test_depth(void **state)
{
    (void)state;
    uint8_t deep[2 * PF_CBOR_DEPTH + 2];
    for (unsigned depth = PF_CBOR_DEPTH; depth <= PF_CBOR_DEPTH + 1; depth++) {
        memset(deep, 0x9f, depth);
        memset(deep + depth, 0xff, depth);
        pf_cbor c = pf_cbor_begin_any((perfile_bytes){deep, 2 * (size_t)depth});
        pf_cbor_skip(&c);
        assert_int_equal(c.why == NULL, depth == PF_CBOR_DEPTH);
        assert_false(c.cut);
    }
}

/* pf_cbor_more() walks through arrays and maps of either kind, whatever is in them. */
static void test_more(void **state)
{
    (void)state;
    static const char *const lists[] = {"83018102820304", "9f018102820304ff",
                                        "9f019f02ff9f0304ffff"};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
        const perfile_bytes bytes = hex(lists[i]);
        pf_cbor c = pf_cbor_begin_any(bytes);
        assert_int_equal(pf_cbor_next(&c).kind, PF_CBOR_ARRAY);
        const unsigned depth = c.depth;
        unsigned n = 0;
        for (; pf_cbor_more(&c, depth); n++)
            pf_cbor_skip(&c);
        assert_int_equal(n, 3);
        assert_null(c.why);
        assert_ptr_equal(c.pos, bytes.ptr + bytes.len);
        free((void *)(uintptr_t)bytes.ptr);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indefinite),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_depth),
        cmocka_unit_test(test_more),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

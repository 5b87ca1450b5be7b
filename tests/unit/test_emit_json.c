/* The lowest floor of the emitters: digits, UTF-8, JSON values. */
#include "testing.h"

#include <inttypes.h>
#include <stdio.h>

#include "emit/emitter.h"

static perfile_bytes text(const char *s)
{
    return (perfile_bytes){(const uint8_t *)s, strlen(s)};
}

static void same_digits(uint64_t v)
{
    char wanted[40];
    uint8_t got[40];
    int n = snprintf(wanted, sizeof wanted, "%" PRIu64, v);
    assert_int_equal(pf_put_dec(got, v) - got, n);
    assert_memory_equal(got, wanted, (size_t)n);
    n = snprintf(wanted, sizeof wanted, "0x%" PRIx64, v);
    assert_int_equal(pf_put_0x(got, v) - got, n);
    assert_memory_equal(got, wanted, (size_t)n);
}

static void digits_are_those_of_printf(void **state)
{
    (void)state;
    for (uint64_t v = 70000; v < 100000000; v += 9973)
        same_digits(v);
    for (uint64_t v = 0; v < 70000; v++)
        same_digits(v);
    for (uint64_t v = 1; v <= UINT64_MAX / 10; v *= 10) {
        same_digits(v - 1);
        same_digits(v);
        same_digits(v * 10 - 1);
    }
    for (int shift = 0; shift < 64; shift++) {
        same_digits((UINT64_C(1) << shift) - 1);
        same_digits(UINT64_C(1) << shift);
        same_digits(UINT64_C(0x123456789abcdef0) >> shift);
    }
    same_digits(UINT64_MAX);
}

static void digits_of_fixed_width(void **state)
{
    uint8_t got[16];
    (void)state;
    assert_int_equal(pf_put_dec_fixed(got, 42, 9) - got, 9);
    assert_memory_equal(got, "000000042", 9);
    assert_int_equal(pf_put_hex_fixed(got, 0xbeef, 8) - got, 8);
    assert_memory_equal(got, "0000beef", 8);
    const uint8_t bytes[] = {0, 0x0f, 0xa0, 0xff};
    assert_int_equal(pf_put_bytes(got, (perfile_bytes){bytes, sizeof bytes}) - got, 8);
    assert_memory_equal(got, "000fa0ff", 8);
}

static bool valid(const char *digits)
{
    perfile_bytes b = hex(digits);
    uint8_t *own = exact(b.ptr, b.len);
    bool is = pf_utf8_valid((perfile_bytes){own, b.len});
    free(own);
    free((void *)(uintptr_t)b.ptr);
    return is;
}

/* The corners of RFC 3629. */
static void utf8_is_strict(void **state)
{
    (void)state;
    static const char *const good[] = {
        "",         "00",       "7f",
        "c280",     "dfbf",     "e0a080",
        "ed9fbf",   "ee8080",   "efbfbf",
        "f0908080", "f48fbfbf", "6161616161616161c3a9",
        "f09f9880", "61c3a961", "6161616161616161",
    };
    static const char *const bad[] = {
        "80",
        "bf",
        "c0af",
        "c1bf",
        "c2",
        "c27f",
        "e08080",
        "e09fbf",
        "eda080",
        "edbfbf",
        "e282",
        "f0808080",
        "f08fbfbf",
        "f4908080",
        "f5808080",
        "ff",
        "f09f98",
        "6161616161616161c3",
        "61616161616161ff",
        "e28241",
        "c3a9a9",
    };
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_true(valid(good[i]));
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(valid(bad[i]));
}

/* What `e` has, which is then empty. */
static void holds(perfile_emitter *e, const char *wanted)
{
    assert_int_equal(e->out.len, strlen(wanted));
    assert_memory_equal(e->out.ptr, wanted, e->out.len);
    assert_false(e->no_memory);
    pf_buffer_clear(&e->out);
}

static void values_are_json(void **state)
{
    perfile_emitter e = {0};
    (void)state;
    pf_json_text(&e, text("a\"b\\c\n\x01\x1f\x7f\xc3\xa9/\b\t\r\f\v"));
    holds(&e, "\"a\\\"b\\\\c\\n\\u0001\\u001f\x7f\xc3\xa9/\\b\\t\\r\\f\\u000b\",");
    pf_json_text(&e, text("a\xff"));
    holds(&e, "{\"hex\":\"61ff\"},");
    pf_json_text(&e, text(""));
    holds(&e, "\"\",");
    pf_json_signed(&e, -1);
    pf_json_signed(&e, INT64_MIN);
    pf_json_signed(&e, 5);
    holds(&e, "-1,-9223372036854775808,5,");
    pf_json_dec(&e, UINT64_MAX);
    pf_json_hex(&e, UINT64_MAX);
    pf_json_hex(&e, 0);
    pf_json_crc(&e, 0xab);
    pf_json_null(&e);
    holds(&e, "\"18446744073709551615\",\"0xffffffffffffffff\",\"0x0\",\"000000ab\",null,");
    pf_buffer_free(&e.out);
}

static void commas_stand_between(void **state)
{
    perfile_emitter e = {0};
    (void)state;
    pf_json_object(&e);
    pf_json_line_end(&e);
    holds(&e, "{}\n");

    pf_json_object(&e);
    pf_json_name(&e, "a", 1);
    pf_json_array(&e);
    pf_json_array_end(&e);
    pf_json_name(&e, "b", 1);
    pf_json_array(&e);
    pf_json_number(&e, 1);
    size_t mark = e.out.len;
    pf_json_object(&e);
    pf_json_name(&e, "lost", 4);
    e.out.len = mark; /* what was begun did not work out */
    pf_json_object(&e);
    pf_json_object_end(&e);
    pf_json_array_end(&e);
    pf_json_line_end(&e);
    holds(&e, "{\"a\":[],\"b\":[1,{}]}\n");
    pf_buffer_free(&e.out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(digits_are_those_of_printf),
        cmocka_unit_test(digits_of_fixed_width),
        cmocka_unit_test(utf8_is_strict),
        cmocka_unit_test(values_are_json),
        cmocka_unit_test(commas_stand_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

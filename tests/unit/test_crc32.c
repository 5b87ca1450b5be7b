/* CRC-32: known values, and the bytewise definition at every length and alignment. */
#include "testing.h"

#include "base/crc32.h"

static uint32_t slow(uint32_t crc, const uint8_t *p, size_t n)
{
    crc = ~crc;
    for (size_t i = 0; i < n; i++) {
        crc ^= p[i];
        for (int bit = 0; bit < 8; bit++)
            crc = crc & 1 ? crc >> 1 ^ 0xedb88320U : crc >> 1;
    }
    return ~crc;
}

static uint32_t of_text(const char *text)
{
    return pf_crc32(0, (perfile_bytes){(const uint8_t *)text, strlen(text)});
}

/* Of zlib's crc32(). */
static void known_values(void **state)
{
    (void)state;
    assert_int_equal(pf_crc32(0, (perfile_bytes){NULL, 0}), 0);
    assert_int_equal(of_text("123456789"), 0xcbf43926);
    assert_int_equal(of_text("The quick brown fox jumps over the lazy dog"), 0x414fa339);
}

static void agrees_with_the_definition(void **state)
{
    uint8_t bytes[64];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 151 + 7);
    for (size_t from = 0; from < 9; from++) {
        for (size_t n = 0; n + from <= sizeof bytes; n++) {
            uint8_t *copy = exact(bytes + from, n);
            assert_int_equal(pf_crc32(0, (perfile_bytes){copy, n}), slow(0, copy, n));
            free(copy);
        }
    }
}

static void goes_on(void **state)
{
    uint8_t bytes[40];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i);
    uint32_t whole = pf_crc32(0, (perfile_bytes){bytes, sizeof bytes});
    for (size_t n = 0; n <= sizeof bytes; n++) {
        uint32_t first = pf_crc32(0, (perfile_bytes){bytes, n});
        assert_int_equal(pf_crc32(first, (perfile_bytes){bytes + n, sizeof bytes - n}), whole);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(known_values),
        cmocka_unit_test(agrees_with_the_definition),
        cmocka_unit_test(goes_on),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

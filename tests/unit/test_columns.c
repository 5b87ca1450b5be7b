/* The codec COLUMNS: payloads made by hand, each encoding, and everything that is refused. */
#include "testing.h"

#include "archive/columns.h"
#include "columns_built.h"
#include "random.h"

static pf_columns_decoder *decoder;

static int setup(void **state)
{
    (void)state;
    decoder = pf_columns_decoder_new();
    return decoder ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    pf_columns_decoder_free(decoder);
    return 0;
}

/* Decodes what was built, out of and into blocks of exact size.  The result is released by free().
 */
static uint8_t *decoded(built_columns *b, bool big, size_t raw_len, perfile_status want)
{
    perfile_error err = {0};
    size_t len;
    uint8_t *payload = built_payload(b, &len), *out = exact("", 0);
    out = realloc(out, raw_len ? raw_len : 1);
    const perfile_status st =
        pf_columns_decode(decoder, (perfile_bytes){payload, len}, big, out, raw_len, &err);
    if (st != want)
        print_message("%s\n", err.message);
    assert_int_equal(st, want);
    free(payload);
    built_clear(b);
    return out;
}

static const char example_little[] = /* type, misc, size; words */
    "09000000 0200 3000 90ffffffffffffff e803000000000000 0200000000000000 80ffffffffffffff "
    "90ffffffffffffff"
    "03000000 0000 2000 2a00000000000000 ea03000000000000 6763630000000000"
    "09000000 0200 3000 90ffffffffffffff ed03000000000000 0200000000000000 80ffffffffffffff "
    "90ffffffffffffff"
    "09000000 0200 3000 a0ffffffffffffff ec03000000000000 0200000000000000 80ffffffffffffff "
    "a0ffffffffffffff";

/* Blobs, and what refers to them, are bytes: their order stays. */
static const char example_big[] =
    "00000009 0002 0030 90ffffffffffffff 00000000000003e8 0000000000000002 80ffffffffffffff "
    "90ffffffffffffff"
    "00000003 0000 0020 000000000000002a 00000000000003ea 6763630000000000"
    "00000009 0002 0030 90ffffffffffffff 00000000000003ed 0000000000000002 80ffffffffffffff "
    "90ffffffffffffff"
    "00000009 0002 0030 a0ffffffffffffff 00000000000003ec 0000000000000002 80ffffffffffffff "
    "a0ffffffffffffff";

static void test_example(void **state)
{
    (void)state;
    for (unsigned how = 0; how < 6; how++) {
        built_columns b = {.own = how % 3 > 0, .frames_packed = how % 3 == 2};
        built_example(&b);
        const perfile_bytes want = hex(how < 3 ? example_little : example_big);
        assert_int_equal(want.len, BUILT_EXAMPLE);
        uint8_t *out = decoded(&b, how >= 3, BUILT_EXAMPLE, PERFILE_OK);
        assert_memory_equal(out, want.ptr, want.len);
        free(out);
        free((void *)(uintptr_t)want.ptr);
    }
}

static void test_empty(void **state)
{
    (void)state;
    built_columns b = {0};
    built_v(&b, 0); /* records */
    built_v(&b, 0); /* classes */
    built_u8(&b, PF_NUMBERS_CONST);
    built_v(&b, 0);
    built_v(&b, 0); /* columns */
    free(decoded(&b, false, 0, PERFILE_OK));
}

/* Any change of a byte, and any cut, decodes to something else or is refused, inside its bounds. */
static void test_damage(void **state)
{
    (void)state;
    built_columns b = {0};
    size_t len, refused = 0;
    built_example(&b);
    uint8_t *payload = built_payload(&b, &len), out[BUILT_EXAMPLE];
    for (size_t n = 0; n < len; n++) {
        uint8_t *cut = exact(payload, n);
        assert_int_equal(
            pf_columns_decode(decoder, (perfile_bytes){cut, n}, false, out, sizeof out, NULL),
            PERFILE_E_CORRUPT);
        free(cut);
    }
    for (unsigned i = 0; i < 100000; i++) {
        uint8_t *copy = exact(payload, len), *to = malloc(sizeof out);
        for (unsigned k = 0; k <= i % 3; k++)
            copy[random_below((uint32_t)len)] = (uint8_t)random_below(256);
        const perfile_status st =
            pf_columns_decode(decoder, (perfile_bytes){copy, len}, i & 1, to, sizeof out, NULL);
        assert_true(st == PERFILE_OK || st == PERFILE_E_CORRUPT);
        refused += st != PERFILE_OK;
        free(to);
        free(copy);
    }
    assert_true(refused > 50000);
    free(payload);
    built_clear(&b);
}

/* One class of one word, four records. */
static void begin_words(built_columns *b, unsigned width, unsigned declared)
{
    built_v(b, 4);
    built_v(b, 1);
    built_v(b, 70);
    built_v(b, 0);
    built_v(b, 1);
    built_word(b, width, 0);
    built_u8(b, PF_NUMBERS_CONST);
    built_v(b, 0);
    built_v(b, 1);
    built_u8(b, width);
    built_v(b, declared);
}

static void check_words(built_columns *b, unsigned width, const uint64_t *want,
                        perfile_status status)
{
    const size_t size = 8 + width;
    uint8_t *out = decoded(b, false, 4 * size, status);
    for (unsigned i = 0; i < 4 && status == PERFILE_OK; i++) {
        uint64_t v = 0;
        for (unsigned k = 0; k < width; k++)
            v |= (uint64_t)out[i * size + 8 + k] << 8 * k;
        assert_int_equal(v, want[i]);
    }
    free(out);
}

static void test_numbers(void **state)
{
    (void)state;
    static const uint8_t widths[] = {1, 2, 4, 8};
    for (unsigned i = 0; i < 4; i++) {
        const unsigned w = widths[i];
        built_columns b = {0};
        begin_words(&b, w, 4);
        built_u8(&b, PF_NUMBERS_CONST);
        built_v(&b, 77);
        check_words(&b, w, (const uint64_t[]){77, 77, 77, 77}, PERFILE_OK);
        begin_words(&b, w, 4);
        built_u8(&b, PF_NUMBERS_PLAIN);
        uint8_t plain[32] = {0};
        for (unsigned k = 0; k < 4; k++)
            plain[k * w] = (uint8_t)(k + 1);
        built_stream(&b, plain, 4 * (size_t)w);
        check_words(&b, w, (const uint64_t[]){1, 2, 3, 4}, PERFILE_OK);
        for (unsigned planes = 0; planes <= w; planes++) {
            begin_words(&b, w, 4);
            built_u8(&b, PF_NUMBERS_PLANES);
            built_u8(&b, planes);
            uint64_t want[4] = {0};
            for (unsigned k = 0; k < planes; k++) {
                built_stream(&b, "\1\2\3\4", 4);
                for (unsigned n = 0; n < 4; n++)
                    want[n] |= (uint64_t)(n + 1) << 8 * k;
            }
            check_words(&b, w, want, PERFILE_OK);
        }
        begin_words(&b, w, 4);
        built_u8(&b, PF_NUMBERS_DELTA);
        built_u8(&b, 1);
        built_v(&b, 5);
        built_stream(&b, "\0\1\2\5", 4); /* 0, -1, +1, -3 */
        check_words(&b, w, (const uint64_t[]){5, 4, 5, 2}, PERFILE_OK);
        begin_words(&b, w, 4);
        built_u8(&b, PF_NUMBERS_VINT);
        built_v(&b, 5);
        built_stream(&b, "\0\1\2\5", 4);
        check_words(&b, w, (const uint64_t[]){5, 4, 5, 2}, PERFILE_OK);
        for (unsigned packed = 0; packed < 2; packed++) {
            begin_words(&b, w, 4);
            built_u8(&b, PF_NUMBERS_DICT);
            built_v(&b, 3);
            built_u8(&b, packed ? 16 | 2 : 2);
            built_stream(&b, "\7\2\11", 3); /* 7, 9, 18 */
            if (packed) {
                built_stream(&b, "\2\0\0\0\1\0\2\0", 8);
            } else {
                built_stream(&b, "\2\0\1\2", 4);
                built_stream(&b, "\0\0\0\0", 4);
            }
            check_words(&b, w, (const uint64_t[]){18, 7, 9, 18}, PERFILE_OK);
        }
    }
}

/* What a decoder has to refuse. */
static void test_refused(void **state)
{
    (void)state;
    built_columns b = {0};
    const uint64_t *none = NULL;
    begin_words(&b, 8, 5); /* more values than fit */
    built_u8(&b, PF_NUMBERS_CONST);
    built_v(&b, 0);
    check_words(&b, 8, none, PERFILE_E_CORRUPT);
    begin_words(&b, 8, 3); /* fewer than records */
    built_u8(&b, PF_NUMBERS_CONST);
    built_v(&b, 0);
    check_words(&b, 8, none, PERFILE_E_CORRUPT);
    begin_words(&b, 4, 4); /* an encoding that is not known */
    built_u8(&b, 6);
    check_words(&b, 4, none, PERFILE_E_CORRUPT);
    begin_words(&b, 4, 4); /* more planes than bytes */
    built_u8(&b, PF_NUMBERS_PLANES);
    built_u8(&b, 5);
    for (unsigned i = 0; i < 5; i++)
        built_stream(&b, "\0\0\0\0", 4);
    check_words(&b, 4, none, PERFILE_E_CORRUPT);
    begin_words(&b, 4, 4); /* an index behind the end */
    built_u8(&b, PF_NUMBERS_DICT);
    built_v(&b, 2);
    built_u8(&b, 1);
    built_stream(&b, "\1\1", 2);
    built_stream(&b, "\0\1\2\0", 4);
    check_words(&b, 4, none, PERFILE_E_CORRUPT);
    begin_words(&b, 4, 4); /* a stream that is too long */
    built_u8(&b, PF_NUMBERS_VINT);
    built_v(&b, 0);
    built_stream(&b, "\0\0\0\0\0", 5);
    check_words(&b, 4, none, PERFILE_E_CORRUPT);
    begin_words(&b, 4, 4); /* bytes behind the last column */
    built_u8(&b, PF_NUMBERS_CONST);
    built_v(&b, 0);
    built_u8(&b, 0);
    check_words(&b, 4, none, PERFILE_E_CORRUPT);
    begin_words(&b, 4, 4); /* a small stream that nothing reads */
    built_u8(&b, PF_NUMBERS_CONST);
    built_v(&b, 0);
    if (!pf_buffer_append(&b.small, "", 1))
        fail();
    check_words(&b, 4, none, PERFILE_E_CORRUPT);
}

/* Blobs: `type` of encoding, id or length of each, and prefixes. */
static void one_blob(built_columns *b, unsigned prefix, unsigned unit, unsigned extra, unsigned len)
{
    built_v(b, 1);
    built_v(b, 1);
    built_v(b, 70);
    built_v(b, 0);
    built_v(b, 1);
    built_blob(b, prefix, unit, extra, 0);
    built_u8(b, PF_NUMBERS_CONST);
    built_v(b, 0);
    built_v(b, 1);
    built_u8(b, 0);
    built_v(b, 1);
    built_u8(b, PF_BLOBS_PLAIN);
    built_u8(b, PF_NUMBERS_CONST);
    built_v(b, len);
    uint8_t *zeros = calloc(1, len + 1);
    built_stream(b, zeros, len);
    free(zeros);
}

static void test_prefixes(void **state)
{
    (void)state;
    static const struct {
        unsigned prefix, unit, extra, len;
        perfile_status status;
    } cases[] = {
        {0, 1, 0, 5, PERFILE_OK},         {2, 1, 0, 5, PERFILE_OK},
        {4, 8, 4, 20, PERFILE_OK},        {8, 24, 8, 56, PERFILE_OK},
        {4, 8, 4, 21, PERFILE_E_CORRUPT}, {4, 8, 24, 20, PERFILE_E_CORRUPT},
        {1, 1, 0, 5, PERFILE_E_CORRUPT},  {2, 0, 0, 5, PERFILE_E_CORRUPT},
        {2, 1, 0, 65525, PERFILE_OK},     {2, 1, 0, 65526, PERFILE_E_CORRUPT},
        {0, 1, 0, 0, PERFILE_OK},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        built_columns b = {0};
        one_blob(&b, cases[i].prefix, cases[i].unit, cases[i].extra, cases[i].len);
        const size_t raw = 8 + cases[i].prefix + cases[i].len;
        uint8_t *out = decoded(&b, false, raw, cases[i].status);
        if (cases[i].status == PERFILE_OK && cases[i].prefix)
            assert_int_equal(out[8] | out[9] << 8, (cases[i].len - cases[i].extra) / cases[i].unit);
        free(out);
    }
}

/* A payload of few bytes that says it is of many costs no more than these. */
static void test_claims(void **state)
{
    (void)state;
    enum { RAW = 64 << 20 };
    uint8_t *out = malloc(RAW);
    for (unsigned how = 0; how < 3; how++) {
        built_columns b = {0};
        size_t len;
        built_v(&b, how == 0 ? RAW : 1);
        built_v(&b, 1);
        built_v(&b, 70);
        built_v(&b, 0);
        built_v(&b, 1);
        built_blob(&b, 0, 1, 0, 0);
        built_u8(&b, PF_NUMBERS_CONST);
        built_v(&b, 0);
        built_v(&b, how == 1 ? PF_COLUMNS_MOST_COLUMNS + 1 : 1);
        built_u8(&b, 0);
        built_v(&b, how == 2 ? RAW / PF_COLUMNS_BLOB_BYTES + 1 : 1);
        built_u8(&b, PF_BLOBS_PLAIN);
        built_u8(&b, PF_NUMBERS_CONST);
        built_v(&b, 0);
        built_stream(&b, "", 0);
        uint8_t *payload = built_payload(&b, &len);
        assert_int_equal(
            pf_columns_decode(decoder, (perfile_bytes){payload, len}, false, out, RAW, NULL),
            PERFILE_E_CORRUPT);
        free(payload);
        built_clear(&b);
    }
    free(out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_example), cmocka_unit_test(test_empty),
        cmocka_unit_test(test_damage),  cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_refused), cmocka_unit_test(test_prefixes),
        cmocka_unit_test(test_claims),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

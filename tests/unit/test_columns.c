/* The codec COLUMNS: payloads made by hand, each encoding, and everything that is refused. */
#include "testing.h"

#include "columns/columns.h"
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

/* Each byte of a payload is under a checksum; with right checksums, any change of a byte decodes to
 * something else or is refused, inside its bounds. */
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
        payload[n] ^= 1;
        assert_int_equal(
            pf_columns_decode(decoder, (perfile_bytes){payload, len}, false, out, sizeof out, NULL),
            PERFILE_E_CORRUPT);
        payload[n] ^= 1;
    }
    for (unsigned i = 0; i < 100000; i++) {
        uint8_t *copy = exact(payload, len), *to = malloc(sizeof out);
        for (unsigned k = 0; k <= i % 3; k++)
            copy[random_below((uint32_t)len)] = (uint8_t)random_below(256);
        if (memcmp(copy, payload, 4) == 0 && memcmp(copy + 12, payload + 12, 4) == 0)
            built_seal(copy);
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
    built_class(b, false, 70, 0, 1);
    built_word(b, width, 0);
    built_u8(b, PF_NUMBERS_CONST);
    built_v(b, 0);
    built_v(b, 1);
    built_u8(b, width);
    built_v(b, declared);
}

static void check_numbers(built_columns *b, unsigned width, const uint64_t *want,
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
        check_numbers(&b, w, (const uint64_t[]){77, 77, 77, 77}, PERFILE_OK);
        begin_words(&b, w, 4);
        built_u8(&b, PF_NUMBERS_PLAIN);
        uint8_t plain[32] = {0};
        for (unsigned k = 0; k < 4; k++)
            plain[k * w] = (uint8_t)(k + 1);
        built_stream(&b, plain, 4 * (size_t)w);
        check_numbers(&b, w, (const uint64_t[]){1, 2, 3, 4}, PERFILE_OK);
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
            check_numbers(&b, w, want, PERFILE_OK);
        }
        begin_words(&b, w, 4);
        built_u8(&b, PF_NUMBERS_DELTA);
        built_v(&b, 5);
        built_u8(&b, PF_NUMBERS_PLANES);
        built_u8(&b, 1);
        built_stream(&b, "\0\1\2\5", 4); /* 0, -1, +1, -3 */
        check_numbers(&b, w, (const uint64_t[]){5, 4, 5, 2}, PERFILE_OK);
        begin_words(&b, w, 4);
        built_u8(&b, PF_NUMBERS_VINT);
        built_v(&b, 5);
        built_stream(&b, "\0\1\2\5", 4);
        check_numbers(&b, w, (const uint64_t[]){5, 4, 5, 2}, PERFILE_OK);
        for (unsigned how = 0; how < (w > 1 ? 4 : 2); how++) {
            const bool packed = how & 1, two = how & 2;
            begin_words(&b, w, 4);
            built_u8(&b, PF_NUMBERS_DICT);
            built_v(&b, 3);
            built_u8(&b, (packed ? 16 : 0) + 1U + two);
            built_stream(&b, "\7\2\11", 3); /* 7, 9, 18 */
            if (packed && two)
                built_stream(&b, "\2\0\0\0\1\0\2\0", 8);
            else
                built_stream(&b, "\2\0\1\2", 4);
            if (!packed && two)
                built_stream(&b, "\0\0\0\0", 4);
            check_numbers(&b, w, (const uint64_t[]){18, 7, 9, 18}, PERFILE_OK);
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
    check_numbers(&b, 8, none, PERFILE_E_CORRUPT);
    begin_words(&b, 8, 3); /* fewer than records */
    built_u8(&b, PF_NUMBERS_CONST);
    built_v(&b, 0);
    check_numbers(&b, 8, none, PERFILE_E_CORRUPT);
    begin_words(&b, 4, 4); /* an encoding that is not known */
    built_u8(&b, 6);
    check_numbers(&b, 4, none, PERFILE_E_CORRUPT);
    begin_words(&b, 4, 4); /* more planes than bytes */
    built_u8(&b, PF_NUMBERS_PLANES);
    built_u8(&b, 5);
    for (unsigned i = 0; i < 5; i++)
        built_stream(&b, "\0\0\0\0", 4);
    check_numbers(&b, 4, none, PERFILE_E_CORRUPT);
    begin_words(&b, 4, 4); /* an index behind the end */
    built_u8(&b, PF_NUMBERS_DICT);
    built_v(&b, 2);
    built_u8(&b, 1);
    built_stream(&b, "\1\1", 2);
    built_stream(&b, "\0\1\2\0", 4);
    check_numbers(&b, 4, none, PERFILE_E_CORRUPT);
    begin_words(&b, 4, 4); /* a stream that is too long */
    built_u8(&b, PF_NUMBERS_VINT);
    built_v(&b, 0);
    built_stream(&b, "\0\0\0\0\0", 5);
    check_numbers(&b, 4, none, PERFILE_E_CORRUPT);
    for (unsigned how = PF_NUMBERS_DELTA; how <= PF_NUMBERS_VINT; how += 2) {
        begin_words(&b, 4, 4); /* differences of differences */
        built_u8(&b, PF_NUMBERS_DELTA);
        built_v(&b, 0);
        built_u8(&b, how);
        built_v(&b, 0);
        built_stream(&b, "\0\0\0\0", 4);
        check_numbers(&b, 4, none, PERFILE_E_CORRUPT);
    }
    begin_words(&b, 1, 4); /* a stream that is longer than numbers of one byte need */
    built_u8(&b, PF_NUMBERS_VINT);
    built_v(&b, 0);
    built_stream(&b, "\200\200\0\200\200\0\200\200\0", 9);
    check_numbers(&b, 1, none, PERFILE_E_CORRUPT);
    for (unsigned i = 0; i < 3; i++) { /* no entry, more entries than numbers, a long index */
        begin_words(&b, 1, 4);
        built_u8(&b, PF_NUMBERS_DICT);
        built_v(&b, i == 0 ? 0 : i == 1 ? 5 : 2);
        built_u8(&b, i == 2 ? 2 : 1);
        built_stream(&b, "\1\1\1\1\1", i == 0 ? 0 : i == 1 ? 5 : 2);
        for (unsigned k = 0; k < (i == 2 ? 2 : 1); k++)
            built_stream(&b, "\0\0\0\0", 4);
        check_numbers(&b, 1, none, PERFILE_E_CORRUPT);
    }
    begin_words(&b, 4, 4); /* bytes behind the last column */
    built_u8(&b, PF_NUMBERS_CONST);
    built_v(&b, 0);
    built_u8(&b, 0);
    check_numbers(&b, 4, none, PERFILE_E_CORRUPT);
    begin_words(&b, 4, 4); /* a small stream that nothing reads */
    built_u8(&b, PF_NUMBERS_CONST);
    built_v(&b, 0);
    if (!pf_buffer_append(&b.small, "", 1))
        fail();
    check_numbers(&b, 4, none, PERFILE_E_CORRUPT);
}

/* A record with a blob of 8 bytes and a word, and behind it one that is apart with a word of column
 * 1 or, of both classes, 2. */
static void begin_apart(built_columns *b, unsigned apart, unsigned gap, unsigned column)
{
    built_v(b, 2);
    built_v(b, 2);
    built_class(b, false, 9, 0, 2);
    built_blob(b, 0, 1, 0, 0);
    built_word(b, 8, 2);
    built_u8(b, apart);
    built_v(b, 3);
    built_v(b, 0);
    built_v(b, 1);
    built_word(b, 8, column);
    built_u8(b, PF_NUMBERS_PLANES);
    built_u8(b, 1);
    built_stream(b, "\0\1", 2);
    built_u8(b, PF_NUMBERS_CONST);
    built_v(b, gap);
    built_v(b, 3);
    built_u8(b, 0);
    built_v(b, 1);
    built_u8(b, PF_BLOBS_PLAIN);
    built_u8(b, PF_NUMBERS_CONST);
    built_v(b, 8);
    built_stream(b, "abcdefgh", 8);
    for (unsigned i = 1; i < 3; i++) {
        built_u8(b, 8);
        built_v(b, column == i ? i : i - 1);
        built_u8(b, PF_NUMBERS_CONST);
        built_v(b, 5);
    }
}

static void test_apart(void **state)
{
    (void)state;
    static const struct {
        unsigned apart, gap, column;
        perfile_status status;
    } cases[] = {
        {1, 24, 1, PERFILE_OK},        {2, 24, 1, PERFILE_E_CORRUPT}, {1, 23, 1, PERFILE_E_CORRUPT},
        {1, 25, 1, PERFILE_E_CORRUPT}, {1, 24, 2, PERFILE_E_CORRUPT}, {0, 24, 1, PERFILE_E_CORRUPT},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++) {
        built_columns b = {0};
        begin_apart(&b, cases[i].apart, cases[i].gap, cases[i].column);
        free(decoded(&b, false, 40, cases[i].status));
    }
}

/* Blobs: `type` of encoding, id or length of each, and prefixes. */
static void one_blob(built_columns *b, unsigned prefix, unsigned unit, unsigned extra, unsigned len)
{
    built_v(b, 1);
    built_v(b, 1);
    built_class(b, false, 70, 0, 1);
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

/* `n` records, put together one by one or many at once: a word of the blob, and the blob. */
static void many_blobs(built_columns *b, unsigned n, unsigned offset, unsigned len, size_t heap_len)
{
    built_v(b, n);
    built_v(b, 1);
    built_class(b, false, 70, 0, 2);
    built_ref(b, 0, offset);
    built_blob(b, 2, 1, 0, 0);
    built_u8(b, PF_NUMBERS_CONST);
    built_v(b, 0);
    built_v(b, 1);
    built_u8(b, 0);
    built_v(b, n);
    built_u8(b, PF_BLOBS_PLAIN);
    built_u8(b, PF_NUMBERS_CONST);
    built_v(b, len);
    uint8_t *zeros = calloc(1, heap_len + 1);
    built_stream(b, zeros, heap_len);
    free(zeros);
}

static void test_many(void **state)
{
    (void)state;
    static const struct {
        unsigned offset, len, less;
        perfile_status status;
    } cases[] = {
        {8, 16, 0, PERFILE_OK},           {9, 16, 0, PERFILE_E_CORRUPT},
        {8, 16, 1, PERFILE_E_CORRUPT},    {0, 7, 0, PERFILE_E_CORRUPT},
        {0, 65517, 0, PERFILE_OK},        {0, 65518, 0, PERFILE_E_CORRUPT},
        {0, 80000, 0, PERFILE_E_CORRUPT},
    };
    for (unsigned i = 0; i < sizeof cases / sizeof *cases; i++)
        for (unsigned n = 1; n < 300; n = n < 5 ? n + 1 : 4 * n) {
            built_columns b = {.own = n & 1};
            const size_t len = cases[i].len;
            many_blobs(&b, n, cases[i].offset, cases[i].len, n * len - cases[i].less);
            free(decoded(&b, false, n * (18 + len), cases[i].status));
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
        built_class(&b, false, 70, 0, 1);
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
        cmocka_unit_test(test_claims),  cmocka_unit_test(test_apart),
        cmocka_unit_test(test_many),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

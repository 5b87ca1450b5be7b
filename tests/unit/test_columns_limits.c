/* Every limit of a payload of columns at its edge: the value itself is accepted, one more is
 * refused as corrupt (format/columns.md). */
#include "testing.h"

#include <stdlib.h>

#include "columns_built.h"

/* Decodes a payload to `raw_len` bytes. */
static perfile_status decode(built_columns *b, size_t raw_len)
{
    pf_columns_decoder *d = pf_columns_decoder_new();
    size_t len;
    uint8_t *payload = built_payload(b, &len), *out = malloc(raw_len + 1);
    assert_true(d && out);
    const perfile_status st =
        pf_columns_decode(d, (perfile_bytes){payload, len}, false, out, raw_len, NULL);
    pf_columns_decoder_free(d);
    free(payload);
    free(out);
    built_clear(b);
    *b = (built_columns){0};
    return st;
}

/* All are equal to 0. */
static void put_const(built_columns *b)
{
    built_u8(b, PF_NUMBERS_CONST);
    built_v(b, 0);
}

static void put_column(built_columns *b, unsigned width, size_t n)
{
    built_u8(b, width);
    built_v(b, n);
}

/* Classes, operations, columns and records: as many as there may be, and one more of one of them.
 */
static void columns_of_a_chunk(void **state)
{
    (void)state;
    built_columns b = {0};
    for (unsigned more = 0; more < 2; more++) { /* classes, each without operations; one record */
        const unsigned n = PF_COLUMNS_MOST_CLASSES + more;
        built_v(&b, 1);
        built_v(&b, n);
        for (unsigned i = 0; i < n; i++)
            built_class(&b, false, i, 0, 0);
        put_const(&b);
        built_v(&b, 0);
        assert_int_equal(decode(&b, 8), more ? PERFILE_E_CORRUPT : PERFILE_OK);
    }
    for (unsigned more = 0; more < 2; more++) { /* operations: words of one column */
        const unsigned n = PF_COLUMNS_MOST_OPS + more;
        built_v(&b, 1);
        built_v(&b, 1);
        built_class(&b, false, 9, 0, n);
        for (unsigned i = 0; i < n; i++)
            built_word(&b, 1, 0);
        put_const(&b);
        built_v(&b, 1);
        put_column(&b, 1, n);
        put_const(&b);
        assert_int_equal(decode(&b, 8 + n), more ? PERFILE_E_CORRUPT : PERFILE_OK);
    }
    for (unsigned more = 0; more < 2; more++) { /* columns that nothing uses */
        const unsigned n = PF_COLUMNS_MOST_COLUMNS + more;
        built_v(&b, 1);
        built_v(&b, 1);
        built_class(&b, false, 9, 0, 0);
        put_const(&b);
        built_v(&b, n);
        for (unsigned i = 0; i < n; i++) {
            put_column(&b, 4, 0);
            put_const(&b);
        }
        assert_int_equal(decode(&b, 8), more ? PERFILE_E_CORRUPT : PERFILE_OK);
    }
    for (unsigned more = 0; more < 2; more++) { /* records */
        built_v(&b, 100 + more);
        built_v(&b, 1);
        built_class(&b, false, 9, 0, 0);
        put_const(&b);
        built_v(&b, 0);
        assert_int_equal(decode(&b, 800), more ? PERFILE_E_CORRUPT : PERFILE_OK);
    }
}

/* A record with `n` blobs of no bytes: 4 decoded bytes are needed for each. */
static void blobs_of_a_chunk(void **state)
{
    (void)state;
    built_columns b = {0};
    for (unsigned more = 0; more < 2; more++) {
        const unsigned n = 50 + more; /* of 200 bytes: 192 are words */
        built_v(&b, 1);
        built_v(&b, 1);
        built_class(&b, false, 9, 0, n + 24);
        for (unsigned i = 0; i < n; i++)
            built_blob(&b, 0, 1, 0, 0);
        for (unsigned i = 0; i < 24; i++)
            built_word(&b, 8, 1);
        put_const(&b);
        built_v(&b, 2);
        put_column(&b, 0, n);
        built_u8(&b, PF_BLOBS_PLAIN);
        put_const(&b);
        built_stream(&b, "", 0);
        put_column(&b, 8, 24);
        put_const(&b);
        assert_int_equal(decode(&b, 200), more ? PERFILE_E_CORRUPT : PERFILE_OK);
    }
}

/* `n` records of one word. */
static void begin_words(built_columns *b, unsigned width, size_t n)
{
    built_v(b, n);
    built_v(b, 1);
    built_class(b, false, 9, 0, 1);
    built_word(b, width, 0);
    put_const(b);
    built_v(b, 1);
    put_column(b, width, n);
}

/* A stream of `n` bytes that are all 0. */
static void put_bytes(built_columns *b, size_t n)
{
    uint8_t *bytes = calloc(n + 1, 1);
    assert_non_null(bytes);
    built_stream(b, bytes, n);
    free(bytes);
}

/* Entries of dictionaries, and bytes of streams of numbers of any length. */
static void streams_of_a_column(void **state)
{
    (void)state;
    built_columns b = {0};
    for (unsigned more = 0; more < 2; more++) {
        const size_t m = PF_COLUMNS_MOST_ENTRIES + more, n = m + 1;
        begin_words(&b, 4, n);
        built_u8(&b, PF_NUMBERS_DICT);
        built_v(&b, m);
        built_u8(&b, 3);
        b.own = true;
        for (unsigned i = 0; i < 4; i++) /* differences of entries, and three planes of indexes */
            put_bytes(&b, i ? n : m);
        assert_int_equal(decode(&b, n * 12), more ? PERFILE_E_CORRUPT : PERFILE_OK);
    }
    for (unsigned more = 0; more < 2; more++) { /* as many as an index of one byte can tell */
        const size_t m = 256 + more, n = 300;
        begin_words(&b, 4, n);
        built_u8(&b, PF_NUMBERS_DICT);
        built_v(&b, m);
        built_u8(&b, 1);
        put_bytes(&b, m);
        put_bytes(&b, n);
        assert_int_equal(decode(&b, n * 12), more ? PERFILE_E_CORRUPT : PERFILE_OK);
    }
    /* The longest form of a number has 10 bytes; one more cannot be used, and one less can. */
    for (unsigned width = 1; width <= 8; width *= 2)
        for (unsigned more = 0; more < 2; more++) {
            static const unsigned most[] = {[1] = 2, [2] = 3, [4] = 5, [8] = 10};
            uint8_t stream[11 * 4] = {0};
            const size_t each = most[width] + more;
            for (size_t i = 0; i < 4; i++) {
                memset(stream + i * each, 0x80, each - 1);
                stream[i * each + each - 1] = 0;
            }
            begin_words(&b, width, 4);
            built_u8(&b, PF_NUMBERS_VINT);
            built_v(&b, 0);
            built_stream(&b, stream, 4 * each);
            assert_int_equal(decode(&b, 4 * (8 + width)), more ? PERFILE_E_CORRUPT : PERFILE_OK);
        }
}

/* Frame 0: 2^20 bytes, and 4 for each decoded byte.  Small streams that nobody reads are refused in
 * any case, for another reason. */
static void the_size_of_the_head(void **state)
{
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        built_columns b = {0};
        pf_columns_decoder *d = pf_columns_decoder_new();
        perfile_error err;
        uint8_t out[8];
        size_t len;
        built_v(&b, 1);
        built_v(&b, 1);
        built_class(&b, false, 9, 0, 0);
        put_const(&b);
        built_v(&b, 0);
        const size_t n = PF_COLUMNS_HEAD_BYTES + 8 * PF_COLUMNS_HEAD_RATIO + more - b.head.len;
        uint8_t *zeros = calloc(n, 1);
        assert_non_null(zeros);
        assert_true(pf_buffer_append(&b.small, zeros, n));
        free(zeros);
        uint8_t *payload = built_payload(&b, &len);
        assert_int_equal(
            pf_columns_decode(d, (perfile_bytes){payload, len}, false, out, sizeof out, &err),
            PERFILE_E_CORRUPT);
        assert_true((strstr(err.message, "sizes do not add up") != NULL) == more);
        pf_columns_decoder_free(d);
        free(payload);
        built_clear(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(columns_of_a_chunk),
        cmocka_unit_test(blobs_of_a_chunk),
        cmocka_unit_test(streams_of_a_column),
        cmocka_unit_test(the_size_of_the_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

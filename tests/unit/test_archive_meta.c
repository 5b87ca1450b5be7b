/* Metadata of archives: the reader of CBOR, and the maps of META chunks. */
#include "testing.h"

#include "archive/meta.h"
#include "base/alloc.h"
#include "perfile/source.h"
#include "io/command.h"

/* CBOR. */

/* Reads one item of whatever kind; `bytes` is released. */
static perfile_status skip_all(perfile_bytes bytes)
{
    perfile_error err = {0};
    pf_cbor c = pf_cbor_begin(bytes);
    pf_cbor_skip(&c);
    const perfile_status st = pf_cbor_finish(&c, "test", &err);
    assert_true(st == PERFILE_OK || (st == PERFILE_E_CORRUPT && err.message[0]));
    free((void *)(uintptr_t)bytes.ptr);
    return st;
}

/* Items of RFC 8949, appendix A, and what an archive refuses. */
static void test_items(void **state)
{
    (void)state;
    static const char *const good[] = {"00",
                                       "17",
                                       "1818",
                                       "1903e8",
                                       "1a000f4240",
                                       "1bffffffffffffffff",
                                       "20",
                                       "3bffffffffffffffff",
                                       "40",
                                       "4401020304",
                                       "60",
                                       "6449455446",
                                       "80",
                                       "83010203",
                                       "8301820203820405",
                                       "a0",
                                       "a26161016162820203",
                                       "f4",
                                       "f5",
                                       "f6",
                                       "f7",
                                       "f90000",
                                       "fa47c35000",
                                       "fb3ff199999999999a",
                                       "a0",
                                       "80",
                                       "1800" /* not the shortest form of 0: readers take it */};
    static const char *const bad[] = {"",
                                      "18",
                                      "1a0000",
                                      "44010203",
                                      "62 61",
                                      "82 01",
                                      "a1 01",
                                      "a2 01 02 03",
                                      "0000",
                                      "9f01ff",
                                      "bf0102ff",
                                      "5f4101ff",
                                      "7f6161ff",
                                      "ff",
                                      "81ff", /* indefinite lengths */
                                      "c074323031332d30332d32315432303a30343a30305a",
                                      "d9d9f780",
                                      "c100", /* tags */
                                      "9bffffffffffffffff",
                                      "bbffffffffffffffff",
                                      "bb800000000000000000",
                                      "9a00000005 01020304",
                                      "a3 01 02 03 04 05",
                                      "5bffffffffffffffff",
                                      "7bfffffffffffffff7",
                                      "1c",
                                      "1f",
                                      "3d",
                                      "f8"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++)
        assert_int_equal(skip_all(hex(good[i])), PERFILE_OK);
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(skip_all(hex(bad[i])), PERFILE_E_CORRUPT);
}

/* Arrays and maps in one another: 16 are read, 17 refused; very many cost no stack. */
static void test_nesting(void **state)
{
    (void)state;
    uint8_t *deep = malloc(1 << 20);
    assert_non_null(deep);
    memset(deep, 0x81, 1 << 20);
    for (unsigned n = 1; n < 20; n++) {
        uint8_t *b = exact(deep, n + 1);
        b[n] = 0;
        assert_int_equal(skip_all((perfile_bytes){b, n + 1}),
                         n <= 16 ? PERFILE_OK : PERFILE_E_CORRUPT);
    }
    assert_int_equal(skip_all((perfile_bytes){deep, 1 << 20}), PERFILE_E_CORRUPT);
}

/* After a skipped value the reader is at the next key. */
static void test_skip(void **state)
{
    (void)state;
    /* { 1: [[], {2: [3]}, "a"], 4: 5 } */
    perfile_bytes b = hex("a2 01 83 80 a1 02 81 03 61 61 04 05");
    pf_cbor c = pf_cbor_begin(b);
    assert_int_equal(pf_cbor_map(&c), 2);
    assert_int_equal(pf_cbor_uint(&c), 1);
    pf_cbor_skip(&c);
    assert_int_equal(pf_cbor_uint(&c), 4);
    assert_int_equal(pf_cbor_u32(&c), 5);
    assert_int_equal(pf_cbor_finish(&c, "test", NULL), PERFILE_OK);
    assert_int_equal(pf_cbor_next(&c).kind, PF_CBOR_BAD);
    /* What was not read to its end, and items of other kinds. */
    c = pf_cbor_begin(b);
    assert_int_equal(pf_cbor_map(&c), 2);
    assert_int_equal(pf_cbor_finish(&c, "test", NULL), PERFILE_E_CORRUPT);
    c = pf_cbor_begin(b);
    assert_int_equal(pf_cbor_array(&c), 0);
    assert_int_equal(pf_cbor_map(&c), 0); /* a failed reader reads nothing more */
    free((void *)(uintptr_t)b.ptr);
}

/* META. */

static pf_meta_part example_parts[] = {
    {.number = 0, .format = "perf.data", .form = "file", .has_size = true, .size = 300},
    {.number = 7,
     .format = "opaque",
     .name = "map",
     .has_crc32c = true,
     .crc32c = 1,
     .has_mode = true,
     .mode = 0600}};
static const char *example_lossy[] = {"filtered"};

/* { "creator": "me", "created": 1, "host": "h", "name": "c", "modified": 2, "parts": { 0: {
 * "format": "perf.data", "form": "file", "size": 300 }, 7: { "format": "opaque", "name": "map",
 * "crc32c": 1, "mode": 384 } }, "events": [{ "name": "cycles", "attr": h'0102' }, { "name": "x" }],
 * "lossy": ["filtered"] } */
#define META                                                                                       \
    "a8 6763726561746f72 626d65 6763726561746564 01 64686f7374 6168 "                              \
    "646e616d65 6163 686d6f646966696564 02 "                                                       \
    "657061727473 a2 00 a3 66666f726d6174 69706572662e64617461 64666f726d 6466696c65 "             \
    "6473697a65 19012c 07 a4 66666f726d6174 666f7061717565 646e616d65 636d6170 "                   \
    "66637263333263 01 646d6f6465 190180 "                                                         \
    "666576656e7473 82 a2 646e616d65 666379636c6573 6461747472 420102 a1 646e616d65 6178 "         \
    "656c6f737379 81 6866696c7465726564"

static pf_meta example_meta(void)
{
    static pf_meta_event events[] = {{"cycles", {(const uint8_t *)"\1\2", 2}}, {"x", {NULL, 0}}};
    return (pf_meta){.creator = "me",
                     .host = "h",
                     .name = "c",
                     .has_modified = true,
                     .modified = 2,
                     .has_created = true,
                     .created = 1,
                     .has_events = true,
                     .events = events,
                     .n_events = 2,
                     .parts = example_parts,
                     .n_parts = 2,
                     .has_lossy = true,
                     .lossy = example_lossy,
                     .n_lossy = 1};
}

static perfile_status decode_hex(const char *digits, pf_meta *m)
{
    perfile_error err = {0};
    const perfile_bytes b = hex(digits);
    uint8_t *copy = exact(b.ptr, b.len);
    const perfile_status st = pf_meta_decode((perfile_bytes){copy, b.len}, m, &err);
    assert_true(st == PERFILE_OK || err.message[0]);
    free(copy);
    free((void *)(uintptr_t)b.ptr);
    return st;
}

static void encodes_as(const pf_meta *m, const char *digits)
{
    pf_buffer out = {0};
    const perfile_bytes want = hex(digits);
    assert_int_equal(pf_meta_encode(m, &out, NULL), PERFILE_OK);
    assert_int_equal(out.len, want.len);
    assert_memory_equal(out.ptr, want.ptr, want.len);
    free((void *)(uintptr_t)want.ptr);
    pf_buffer_free(&out);
}

static void test_meta_bytes(void **state)
{
    (void)state;
    const pf_meta example = example_meta(), nothing = {0};
    pf_meta m = {0};
    encodes_as(&example, META);
    encodes_as(&nothing, "a0");
    assert_int_equal(decode_hex(META, &m), PERFILE_OK);
    encodes_as(&m, META);
    assert_string_equal(pf_meta_part_of(&m, 7)->name, "map");
    assert_null(pf_meta_part_of(&m, 0)->name);
    assert_null(pf_meta_part_of(&m, 1));
    assert_null(pf_meta_part_of(&m, 70000));
    assert_int_equal(m.events[0].attr.len, 2);
    pf_meta_clear(&m);
}

/* A later map replaces what it has, and leaves the rest; a refused one changes nothing. */
static void test_meta_later(void **state)
{
    (void)state;
    pf_meta m = {0};
    assert_int_equal(decode_hex(META, &m), PERFILE_OK);
    /* { "parts": { 7: { "size": 5, "crc32c": 2 }, 300: { "form": "pipe" } }, "lossy": [] } */
    assert_int_equal(decode_hex("a2 657061727473 a2 07 a2 6473697a65 05 66637263333263 02 "
                                "19012c a1 64666f726d 6470697065 656c6f737379 80",
                                &m),
                     PERFILE_OK);
    assert_int_equal(m.n_parts, 3);
    const pf_meta_part *p = pf_meta_part_of(&m, 7);
    assert_true(p->has_size && p->size == 5 && p->crc32c == 2 && p->mode == 0600);
    assert_string_equal(p->name, "map");
    assert_string_equal(pf_meta_part_of(&m, 300)->form, "pipe");
    assert_null(pf_meta_part_of(&m, 300)->format);
    assert_int_equal(pf_meta_part_of(&m, 0)->size, 300);
    assert_true(m.has_lossy && m.n_lossy == 0);
    assert_int_equal(m.n_events, 2);
    /* { "host": "i", "name": "a/b" } */
    assert_int_equal(decode_hex("a2 64686f7374 6169 646e616d65 63612f62", &m), PERFILE_E_CORRUPT);
    /* { "host": "i", "creator": 1 } */
    assert_int_equal(decode_hex("a2 64686f7374 6169 6763726561746f72 01", &m), PERFILE_E_CORRUPT);
    assert_string_equal(m.host, "h");
    assert_int_equal(decode_hex("a1 64686f7374 6169", &m), PERFILE_OK);
    assert_string_equal(m.host, "i");
    assert_string_equal(m.creator, "me");
    pf_meta_clear(&m);
    assert_int_equal(m.n_parts, 0);
}

/* Unknown keys on all levels, text as byte strings, and what is refused. */
static void test_meta_keys(void **state)
{
    (void)state;
    static const char *const good[] = {"a0",
                                       "a1 6178 a1 00 81 f6",
                                       "a1 657061727473 a1 00 a1 6178 81 80",
                                       "a1 666576656e7473 81 a2 6178 01 646e616d65 60",
                                       "a1 64686f7374 41ff",
                                       "a1 657061727473 a0",
                                       "a1 666576656e7473 80",
                                       "a1 657061727473 a1 19ffff a0"};
    static const char *const bad[] = {"",
                                      "80",
                                      "a1",
                                      "a1 01 02",
                                      "a1 64686f7374 01",
                                      "a1 64686f7374 626100",
                                      "a1 6763726561746564 20",
                                      "a2 64686f7374 6161 64686f7374 6161",
                                      "a0 00",
                                      "a1 657061727473 a1 1a00010000 a0",
                                      "a1 657061727473 a1 20 a0",
                                      "a1 657061727473 81 00",
                                      "a1 657061727473 a1 00 a1 66637263333263 1b0000000100000000",
                                      "a1 666576656e7473 81 a0",
                                      "a1 666576656e7473 81 a2 646e616d65 61 78 646e616d65 6178",
                                      "a1 666576656e7473 81 a2 646e616d65 6178 6461747472 6178",
                                      "a2 657061727473 a0 657061727473 a0",
                                      "a1 656c6f737379 81 01",
                                      "a1 4461747472 00"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        pf_meta m = {0};
        assert_int_equal(decode_hex(good[i], &m), PERFILE_OK);
        pf_meta_clear(&m);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        pf_meta m = {0};
        assert_int_equal(decode_hex(bad[i], &m), PERFILE_E_CORRUPT);
        pf_meta_clear(&m);
    }
    /* A text that is no UTF-8 goes through as it is. */
    pf_meta m = {.host = "\xff\xfe"};
    encodes_as(&m, "a1 64686f7374 42fffe");
}

/* Decodes a map whose only part has this name. */
static perfile_status decode_part(perfile_bytes name)
{
    pf_buffer b = {0};
    pf_meta m = {0};
    /* { "parts": { 0: { "name": … } } } */
    assert_true(pf_cbor_put_map(&b, 1) && pf_cbor_put_text(&b, "parts") && pf_cbor_put_map(&b, 1) &&
                pf_cbor_put_uint(&b, 0) && pf_cbor_put_map(&b, 1) && pf_cbor_put_text(&b, "name") &&
                pf_cbor_put_bytes(&b, name));
    const perfile_status st = pf_meta_decode((perfile_bytes){b.ptr, b.len}, &m, NULL);
    pf_meta_clear(&m);
    pf_buffer_free(&b);
    return st;
}

/* Names lead nowhere else than into the folder. */
static void test_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        size_t len;
        bool safe;
    } names[] = {{"data", 4, true},  {"...", 3, true}, {".a", 2, true},    {"a.", 2, true},
                 {"..a", 3, true},   {" ", 1, true},   {"", 0, false},     {".", 1, false},
                 {"..", 2, false},   {"/", 1, false},  {"a/b", 3, false},  {"/etc", 4, false},
                 {"../x", 4, false}, {"a/", 2, false}, {"a\0b", 3, false}, {"\0", 1, false}};
    static char longest[PF_META_MOST_NAME + 2];
    pf_buffer b = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const perfile_bytes name = {(const uint8_t *)names[i].name, names[i].len};
        assert_int_equal(pf_meta_name_is_safe(name), names[i].safe);
        assert_int_equal(decode_part(name), names[i].safe ? PERFILE_OK : PERFILE_E_CORRUPT);
    }
    memset(longest, 'x', sizeof longest - 1);
    assert_true(!pf_meta_name_is_safe((perfile_bytes){(const uint8_t *)longest, 256}));
    assert_true(pf_meta_name_is_safe((perfile_bytes){(const uint8_t *)longest, 255}));
    pf_buffer_free(&b);
}

/* A part may also be called as a file of kcore_dir; the capture itself, and other paths, may not.
 */
static void test_companion_names(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        bool safe;
    } names[] = {{"kcore_dir/kallsyms", true},    {"kcore_dir__42/kcore", true},
                 {"kcore_dir/modules", true},     {"kcore_dir/other", false},
                 {"kcore_dir/../kcore", false},   {"kcore_dir__/kcore", false},
                 {"../kcore_dir/kcore", false},   {"/kcore_dir/kcore", false},
                 {"kcore_dir/kcore/", false},     {"kcore_dir//kcore", false},
                 {"kcore_dir__4x2/kcore", false}, {"kcore_dir/", false},
                 {"kcore_dir/kallsyms/x", false}, {"x/kallsyms", false}};
    pf_buffer b = {0};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        const perfile_bytes name = {(const uint8_t *)names[i].name, strlen(names[i].name)};
        assert_false(pf_meta_name_is_safe(name));
        assert_int_equal(pf_is_companion_file(names[i].name), names[i].safe);
        assert_int_equal(decode_part(name), names[i].safe ? PERFILE_OK : PERFILE_E_CORRUPT);
    }
    pf_buffer_free(&b);
}

static void test_meta_cut(void **state)
{
    (void)state;
    const perfile_bytes whole = hex(META);
    pf_meta m = {0};
    for (size_t n = 0; n < whole.len; n++) {
        uint8_t *cut = exact(whole.ptr, n);
        assert_int_equal(pf_meta_decode((perfile_bytes){cut, n}, &m, NULL), PERFILE_E_CORRUPT);
        assert_true(!m.creator && !m.n_parts && !m.has_events && !m.has_lossy);
        free(cut);
    }
    pf_meta_clear(&m);
    free((void *)(uintptr_t)whole.ptr);
}

/* All parts that there can be, and lists beyond PF_META_MOST_BYTES. */
static void test_meta_limits(void **state)
{
    (void)state;
    enum { EVENTS = 3 << 20 };
    pf_meta m = {0};
    pf_buffer b = {0};
    bool ok = pf_cbor_put_map(&b, 1) && pf_cbor_put_text(&b, "parts") &&
              pf_cbor_put_map(&b, PF_META_MOST_PARTS);
    for (uint32_t i = PF_META_MOST_PARTS; i-- > 0 && ok;)
        ok = pf_cbor_put_uint(&b, i) && pf_cbor_put_map(&b, 0);
    assert_true(ok);
    assert_int_equal(pf_meta_decode((perfile_bytes){b.ptr, b.len}, &m, NULL), PERFILE_OK);
    assert_int_equal(m.n_parts, PF_META_MOST_PARTS);
    assert_int_equal(pf_meta_part_of(&m, 65535)->number, 65535);
    pf_meta_clear(&m);
    pf_buffer_clear(&b);
    ok = pf_cbor_put_map(&b, 1) && pf_cbor_put_text(&b, "events") && pf_cbor_put_array(&b, EVENTS);
    for (uint32_t i = 0; i < EVENTS && ok; i++)
        ok = pf_cbor_put_map(&b, 0);
    assert_true(ok);
    assert_int_equal(pf_meta_decode((perfile_bytes){b.ptr, b.len}, &m, NULL), PERFILE_E_LIMIT);
    pf_meta_clear(&m);
    pf_buffer_free(&b);
}

/* Encodes and decodes. */
static perfile_status both_ways(void)
{
    const pf_meta example = example_meta();
    pf_meta m = {0};
    pf_buffer out = {0};
    perfile_error err = {0};
    perfile_status st = pf_meta_encode(&example, &out, &err);
    if (st == PERFILE_OK)
        st = pf_meta_decode((perfile_bytes){out.ptr, out.len}, &m, &err);
    pf_meta_clear(&m);
    pf_buffer_free(&out);
    return st;
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    pf_alloc_count = 0;
    assert_int_equal(both_ways(), PERFILE_OK);
    const uint64_t n = pf_alloc_count;
    assert_true(n > 5);
    for (uint64_t i = 1; i <= n; i++) {
        pf_alloc_count = 0;
        pf_alloc_fail_at = i;
        const perfile_status st = both_ways();
        pf_alloc_fail_at = 0;
        assert_int_equal(st, PERFILE_E_NOMEM);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_items),
        cmocka_unit_test(test_nesting),
        cmocka_unit_test(test_skip),
        cmocka_unit_test(test_meta_bytes),
        cmocka_unit_test(test_meta_later),
        cmocka_unit_test(test_meta_keys),
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_companion_names),
        cmocka_unit_test(test_meta_cut),
        cmocka_unit_test(test_meta_limits),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

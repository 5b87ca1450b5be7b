/* perfile_split_capture(): what is in which part; names; failures. */
#include "../testing.h"

#include <stdio.h>

#include "../captures.h"
#include "../dripping.h"
#include "../splitting.h"
#include "base/alloc.h"
#include "filter/split.h"
#include "filter/command.h"

enum { N = 48 }; /* samples of a capture: times 5000, 5010 …, processors 0 and 1, process 100 */

enum { MEMORY, PIPE, CALLBACK }; /* where the capture is read from */

static perfile_status split_bytes(perfile_bytes in, unsigned from, const perfile_split_options *how,
                                  split_parts *parts, perfile_split_summary *sum,
                                  perfile_error *err)
{
    perfile_source *source;
    dripping d = {.bytes = in, .most = 100, .state = 7};
    perfile_split_capture_options writing = {
        .size = sizeof writing, .open = split_open_part, .done = split_part_done, .user = parts};
    perfile_status st = from ? dripping_open(&d, from == CALLBACK, NULL, &source, err)
                             : perfile_source_memory(in, "capture", &source, err);
    if (st != PERFILE_OK)
        return st;
    return closed_unless_ok(source,
                            perfile_split_capture(source, how, &writing, sum, sizeof *sum, err));
}

/* Splits captures of every form, in both byte orders, from memory and from a pipe, with and without
 * state; how many parts there are. */
static uint64_t parts_of(uint32_t by, uint64_t amount, uint64_t *first_has)
{
    uint64_t n_parts = 0;
    for (unsigned i = 0; i < 16; i++) {
        static const unsigned forms[] = {CAPTURE_FILE, CAPTURE_PIPE, CAPTURE_FILE_ZSTD,
                                         CAPTURE_PIPE_ZSTD};
        builder b;
        split_parts parts = {0};
        perfile_split_summary sum = {0};
        perfile_error err = {0};
        perfile_split_options how = {.size = sizeof how,
                                     .by = by,
                                     .amount = amount,
                                     .flags = i & 8 ? PERFILE_SPLIT_NO_SIDEBAND : 0};
        capture_make(&b, forms[i / 2 % 4], i % 2, N);
        perfile_bytes in = {b.b.ptr, b.b.len};
        perfile_status st = split_bytes(in, i % 3, &how, &parts, &sum, &err);
        if (st != PERFILE_OK)
            print_error("%s\n", err.message);
        assert_int_equal(st, PERFILE_OK);
        assert_int_equal(sum.samples, N);
        assert_int_equal(sum.parts, parts.n);
        assert_int_equal(parts.done, parts.n);
        assert_true(split_holds(in, &parts, !(how.flags & PERFILE_SPLIT_NO_SIDEBAND), NULL));
        if (i)
            assert_int_equal(n_parts, parts.n);
        n_parts = parts.n;
        *first_has = parts.told[0].samples;
        split_parts_clear(&parts);
        build_clear(&b);
    }
    return n_parts;
}

static void parts_are_what_was_asked_for(void **state)
{
    uint64_t first;
    (void)state;
    assert_int_equal(parts_of(PERFILE_SPLIT_EVERY, 100, &first), 5);
    assert_int_equal(first, 10);
    assert_int_equal(parts_of(PERFILE_SPLIT_EVERY, UINT64_MAX, &first), 1);
    assert_int_equal(parts_of(PERFILE_SPLIT_EVERY, 1, &first), N); /* windows without data */
    assert_int_equal(first, 1);
    assert_int_equal(parts_of(PERFILE_SPLIT_PID, 0, &first), 1);
    assert_int_equal(parts_of(PERFILE_SPLIT_TID, 0, &first), 1);
    assert_int_equal(parts_of(PERFILE_SPLIT_CPU, 0, &first), 2);
    assert_int_equal(first, N / 2);
    assert_int_equal(parts_of(PERFILE_SPLIT_EVENT, 0, &first), 2);
    assert_int_equal(first, N / 2);
    assert_int_equal(parts_of(PERFILE_SPLIT_COMM, 0, &first), 1);
    assert_int_equal(parts_of(PERFILE_SPLIT_SIZE, UINT64_MAX, &first), 1);
    assert_int_equal(first, N);
}

/* Every kind of record and feature, pieces of simpleperf, AUX data that is not in memory: the laws
 * hold, and the parts are the same wherever the capture comes from. */
static void odd_captures_hold_the_laws(void **state)
{
    static const unsigned forms[] = {CAPTURE_RECORDS, CAPTURE_SPLIT, CAPTURE_FEATURES,
                                     CAPTURE_KILLED};
    static const uint64_t amounts[] = {
        [PERFILE_SPLIT_EVERY] = 50, [PERFILE_SPLIT_SIZE] = 9000, [PERFILE_SPLIT_RECORDS] = 7};
    size_t n_parts = 0, same = 0;
    (void)state;
    for (unsigned i = 0; i < 4 * 2 * 3 * PERFILE_SPLIT_COMM; i++) {
        uint32_t by = PERFILE_SPLIT_EVERY + i / 24;
        perfile_split_options how = {.size = sizeof how,
                                     .by = by,
                                     .amount = by <= PERFILE_SPLIT_RECORDS ? amounts[by] : 0,
                                     .flags = i / 8 % 3};
        split_parts parts[3] = {{0}};
        perfile_split_summary sum;
        perfile_error err = {0};
        builder b;
        capture_make(&b, forms[i % 4], i / 4 % 2, N);
        perfile_bytes in = {b.b.ptr, b.b.len};
        for (unsigned from = MEMORY; from <= CALLBACK; from++) {
            perfile_status st = split_bytes(in, from, &how, &parts[from], &sum, &err);
            if (st != PERFILE_OK)
                print_error("%u: %s\n", i, err.message);
            assert_int_equal(st, PERFILE_OK);
            assert_int_equal(parts[from].n, parts[0].n);
            for (size_t k = 0; k < parts[0].n && from; k++) {
                perfile_bytes one = perfile_sink_bytes(parts[0].sinks[k]);
                perfile_bytes other = perfile_sink_bytes(parts[from].sinks[k]);
                assert_int_equal(one.len, other.len);
                assert_memory_equal(one.ptr, other.ptr, one.len);
                same++;
            }
        }
        assert_true(split_holds(in, &parts[0], !(how.flags & PERFILE_SPLIT_NO_SIDEBAND), NULL));
        n_parts += parts[0].n;
        for (unsigned from = MEMORY; from <= CALLBACK; from++)
            split_parts_clear(&parts[from]);
        build_clear(&b);
    }
    assert_true(n_parts > 500 && same > 1000);
}

static void numbers_are_of_data(void **state)
{
    builder b;
    (void)state;
    capture_make(&b, CAPTURE_FILE, false, 300);
    perfile_bytes in = {b.b.ptr, b.b.len};
    for (uint64_t amount = 1; amount < 400; amount += 7) {
        split_parts parts = {0};
        perfile_split_summary sum;
        perfile_split_options how = {
            .size = sizeof how, .by = PERFILE_SPLIT_RECORDS, .amount = amount};
        assert_int_equal(split_bytes(in, MEMORY, &how, &parts, &sum, NULL), PERFILE_OK);
        assert_true(split_holds(in, &parts, true, NULL));
        for (size_t i = 0; i + 1 < parts.n; i++)
            assert_int_equal(parts.told[i].records, amount);
        assert_in_range(parts.told[parts.n - 1].records, 1, amount);
        split_parts_clear(&parts);
    }
    build_clear(&b);
}

/* No part is larger, unless there is an eighth of data in it. */
static void sizes_are_those_of_files(void **state)
{
    static const unsigned forms[] = {CAPTURE_FILE, CAPTURE_PIPE, CAPTURE_RECORDS};
    size_t within = 0;
    (void)state;
    for (size_t form = 0; form < 3; form++) {
        builder b;
        capture_make(&b, forms[form], false, 2000);
        perfile_bytes in = {b.b.ptr, b.b.len};
        for (uint64_t limit = 2000; limit < 60000; limit += 3777) {
            split_parts parts = {0};
            perfile_split_summary sum;
            perfile_split_options how = {
                .size = sizeof how, .by = PERFILE_SPLIT_SIZE, .amount = limit};
            assert_int_equal(split_bytes(in, MEMORY, &how, &parts, &sum, NULL), PERFILE_OK);
            assert_true(split_holds(in, &parts, true, NULL));
            for (size_t i = 0; i < parts.n; i++) {
                assert_int_equal(parts.told[i].bytes, perfile_sink_bytes(parts.sinks[i]).len);
                if (forms[form] != CAPTURE_RECORDS && limit > 4000)
                    assert_in_range(parts.told[i].bytes, limit / 3 * (i + 1 < parts.n), limit);
                within += parts.told[i].bytes <= limit;
            }
            split_parts_clear(&parts);
        }
        build_clear(&b);
    }
    assert_true(within > 200);
}

static void names_follow_the_pattern(void **state)
{
    static const struct {
        const char *pattern;
        uint32_t number;
        const char *key, *name;
    } good[] = {
        {"a-%d", 7, "k", "a-7"},
        {"a-%04d.b", 7, "k", "a-0007.b"},
        {"%3d", 7, "k", "  7"},
        {"100%%/%d%%", 7, "k", "100%/7%"},
        {"%02d", 12345, "k", "12345"},
        {"x/%s.data", 0, "a/b c", "x/a_b_c.data"},
        {"x/%s", 0, "..", "x/_."},
        {"%s", 0, "-rf", "_rf"},
        {"t-%s", 0, "", "t-_"},
        {"t-%s", 0, "-.x", "t--.x"},
        {"%s.d", 0, "\xc3\xa4\n", "___.d"},
    };
    static const char *const bad[] = {"",     "a",   "%",    "%d%d", "%s%d", "%x",    "%5s",
                                      "%-4d", "%%d", "%d/a", "%ld",  "a%",   "%999d", "%d/%%/a"};
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        pf_split_names names = {0};
        const char *name;
        assert_int_equal(pf_split_pattern(good[i].pattern, PERFILE_SPLIT_PID, NULL), PERFILE_OK);
        assert_int_equal(
            pf_split_name(&names, good[i].pattern, good[i].number, good[i].key, &name, NULL),
            PERFILE_OK);
        assert_string_equal(name, good[i].name);
        pf_split_names_free(&names);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        perfile_error err = {0};
        assert_int_equal(pf_split_pattern(bad[i], PERFILE_SPLIT_PID, &err), PERFILE_E_USAGE);
        assert_true(err.message[0] != '\0');
    }
    assert_int_equal(pf_split_pattern("%s", PERFILE_SPLIT_EVERY, NULL), PERFILE_E_USAGE);
}

static void equal_names_are_numbered(void **state)
{
    static const char *const keys[] = {"a", "a b", "a-2", "a/b", "a", "a", "a?b"};
    static const char *const wanted[] = {"a.d",   "a_b.d", "a-2.d",  "a_b-2.d",
                                         "a-3.d", "a-4.d", "a_b-3.d"};
    pf_split_names names = {0};
    const char *name;
    (void)state;
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++) {
        assert_int_equal(pf_split_name(&names, "%s.d", 0, keys[i], &name, NULL), PERFILE_OK);
        assert_string_equal(name, wanted[i]);
    }
    for (size_t i = 0; i < 50000; i++) /* not by trying all numbers each time */
        assert_int_equal(pf_split_name(&names, "%s.d", 0, "a", &name, NULL), PERFILE_OK);
    assert_string_equal(name, "a-50004.d");
    pf_split_names_free(&names);
}

static void what_is_asked_in_a_wrong_way(void **state)
{
    const perfile_split_options wrong[] = {
        {.size = sizeof wrong[0]},
        {.size = sizeof wrong[0], .by = 99},
        {.size = sizeof wrong[0], .by = PERFILE_SPLIT_EVERY},
        {.size = sizeof wrong[0], .by = PERFILE_SPLIT_PID, .flags = 3},
        {.size = sizeof wrong[0], .by = PERFILE_SPLIT_PID, .pattern = "x"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        perfile_error err = {0};
        assert_int_equal(pf_split_check(&wrong[i], &err), PERFILE_E_USAGE);
        assert_true(err.message[0] != '\0');
    }
}

static void too_many_parts_are_refused(void **state)
{
    builder b;
    split_parts parts = {0};
    perfile_split_summary sum;
    perfile_error err;
    perfile_split_options how = {.size = sizeof how, .by = PERFILE_SPLIT_RECORDS, .amount = 1};
    (void)state;
    capture_make(&b, CAPTURE_FILE, false, PERFILE_SPLIT_MOST_PARTS + 10);
    assert_int_equal(
        split_bytes((perfile_bytes){b.b.ptr, b.b.len}, MEMORY, &how, &parts, &sum, &err),
        PERFILE_E_LIMIT);
    assert_non_null(strstr(err.message, "100000 parts"));
    assert_int_equal(parts.n, 0);
    build_clear(&b);
}

static void every_allocation_may_fail(void **state)
{
    static const uint32_t ways[] = {PERFILE_SPLIT_EVERY, PERFILE_SPLIT_SIZE, PERFILE_SPLIT_CPU,
                                    PERFILE_SPLIT_COMM};
    static const unsigned forms[] = {CAPTURE_FILE, CAPTURE_RECORDS, CAPTURE_SPLIT, CAPTURE_PIPE};
    (void)state;
    for (size_t i = 0; i < 16; i += 3) { /* each way and each form */
        perfile_split_options how = {.size = sizeof how,
                                     .by = ways[i / 4],
                                     .amount = 2000,
                                     .flags = i % 2 ? PERFILE_SPLIT_COMPACT_SIDEBAND : 0};
        builder b;
        capture_make(&b, forms[i % 4], false, N);
        perfile_status st = PERFILE_E_NOMEM;
        uint64_t n = 1;
        for (; st == PERFILE_E_NOMEM && n < 3000; n++) {
            split_parts parts = {0};
            perfile_split_summary sum;
            perfile_error err = {0};
            pf_alloc_count = 0;
            pf_alloc_fail_at = n;
            st = split_bytes((perfile_bytes){b.b.ptr, b.b.len}, i % 4 == 3 ? PIPE : MEMORY, &how,
                             &parts, &sum, &err);
            pf_alloc_fail_at = 0;
            split_parts_clear(&parts);
        }
        assert_int_equal(st, PERFILE_OK);
        assert_true(n > 30);
        build_clear(&b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_are_what_was_asked_for),
        cmocka_unit_test(odd_captures_hold_the_laws),
        cmocka_unit_test(numbers_are_of_data),
        cmocka_unit_test(sizes_are_those_of_files),
        cmocka_unit_test(names_follow_the_pattern),
        cmocka_unit_test(equal_names_are_numbered),
        cmocka_unit_test(what_is_asked_in_a_wrong_way),
        cmocka_unit_test(too_many_parts_are_refused),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

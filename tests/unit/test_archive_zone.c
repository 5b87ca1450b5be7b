/* Zones as they are stored: exact bytes, what is refused, sets and their limits. */
#include "testing.h"

#include "archive/meta.h"
#include "base/alloc.h"

static pf_zone decoded_zone(perfile_bytes cbor)
{
    perfile_error err;
    pf_zone z = {0};
    uint8_t *copy = exact(cbor.ptr, cbor.len);
    assert_int_equal(pf_zone_decode((perfile_bytes){copy, cbor.len}, &z, &err), PERFILE_OK);
    free(copy);
    return z;
}

static void example_zone(pf_zone *z)
{
    pf_zone_clear(z);
    z->records = 3;
    z->first = z->data_first = 5;
    z->last = z->data_last = 9;
    z->untimed = z->apart = 1;
    assert_true(pf_zone_counts_add(&z->types, PERFILE_RECORD_SAMPLE, 2, 80));
    assert_true(pf_zone_counts_add(&z->types, PERFILE_RECORD_COMM, 1, 40));
    assert_true(pf_zone_counts_add(&z->events, 0, 2, 0));
    assert_true(pf_zone_set_add(&z->tids, 9) && pf_zone_set_add(&z->tids, 7));
    assert_true(pf_zone_set_add(&z->pids, 7) && pf_zone_set_add(&z->pids, 7));
    assert_true(pf_zone_set_add(&z->cpus, 0) && pf_zone_set_add(&z->cpus, 0));
}

/* Records 3, times 5 to 9, a COMM of 40 bytes, 2 samples of 80 bytes of event 0, threads 7 and 9,
 * process 7, processor 0, nothing lost, 1 record without time, 1 apart, data from 5 to 9. */
#define EXAMPLE                                                                                    \
    "ae 0103 0205 0309 04a203010902 05a10002 06820702 078107 088100 0900 0a01 "                    \
    "0ba2031828091850 0c01 0d05 0e09"

static void test_zone_bytes(void **state)
{
    (void)state;
    const perfile_bytes want = hex(EXAMPLE);
    pf_buffer out = {0};
    pf_zone z = {0}, unknown = {.records = 3};
    example_zone(&z);
    assert_int_equal(pf_zone_encode(&z, &out, NULL), PERFILE_OK);
    assert_int_equal(out.len, want.len);
    assert_memory_equal(out.ptr, want.ptr, want.len);
    pf_zone again = decoded_zone(want);
    assert_true(again.has_times && again.has_data_times && again.types.has_bytes);
    assert_int_equal(again.types.at[0].bytes, 40);
    assert_int_equal(again.types.at[1].records, 2);
    assert_true(pf_zone_has_type(&again, 9) && !pf_zone_has_type(&again, 4));
    assert_true(pf_zone_has_event(&again, 0) && !pf_zone_has_event(&again, 1));
    assert_true(pf_zone_set_has(&again.tids, 9) && !pf_zone_set_has(&again.tids, 8));
    assert_true(pf_zone_set_meets(&again.tids, 8, 9) && !pf_zone_set_meets(&again.tids, 8, 8));
    assert_true(!pf_zone_set_meets(&again.tids, 10, UINT32_MAX));
    assert_true(pf_zone_meets_times(&again, 9, 20) && !pf_zone_meets_times(&again, 10, 20));
    assert_true(!pf_zone_meets_times(&again, 0, 4));
    pf_buffer_clear(&out);
    assert_int_equal(pf_zone_encode(&again, &out, NULL), PERFILE_OK);
    assert_int_equal(out.len, want.len);
    assert_memory_equal(out.ptr, want.ptr, want.len);
    /* Of which nothing is known: everything may be there. */
    pf_buffer_clear(&out);
    assert_int_equal(pf_zone_encode(&unknown, &out, NULL), PERFILE_OK);
    assert_int_equal(out.len, 3);
    assert_memory_equal(out.ptr, "\xa1\x01\x03", 3);
    assert_true(pf_zone_set_has(&unknown.pids, 1) && pf_zone_has_type(&unknown, 1) &&
                pf_zone_has_event(&unknown, 0) && pf_zone_meets_times(&unknown, 0, 0));
    pf_zone_free(&again);
    pf_zone_free(&z);
    pf_buffer_free(&out);
    free((void *)(uintptr_t)want.ptr);
}

/* Each length of the example but the whole is refused, and a refused zone knows nothing. */
static void test_zone_cut(void **state)
{
    (void)state;
    const perfile_bytes whole = hex(EXAMPLE);
    pf_zone z = {0};
    for (size_t n = 0; n < whole.len; n++) {
        uint8_t *cut = exact(whole.ptr, n);
        perfile_error err = {0};
        assert_int_equal(pf_zone_decode((perfile_bytes){cut, n}, &z, &err), PERFILE_E_CORRUPT);
        assert_true(!z.records && !z.tids.known && !z.types.known && !z.has_times && !z.has_apart);
        free(cut);
    }
    pf_zone_free(&z);
    free((void *)(uintptr_t)whole.ptr);
}

static void test_zone_keys(void **state)
{
    (void)state;
    /* Any order; unknown keys with values of all kinds; without bytes of types; times alone. */
    static const char *const good[] = {"a1 01 00",
                                       "a2 0c 01 01 03",
                                       "a5 0f 81a10180 20 f6 19ffff 6161 00 01 01 03",
                                       "a2 04 a2 09010301 01 05" /* types that descend */,
                                       "a2 02 05 01 02",
                                       "a2 0b a10901 01 05",
                                       "a2 06 81 1affffffff 01 00",
                                       "a2 06 80 01 00",
                                       "a2 04 a0 01 00"};
    static const char *const bad[] = {"",
                                      "00",
                                      "80",
                                      "a0",
                                      "a1 02 05",
                                      "a1 01 20",
                                      "a1 01 6131",
                                      "a2 01 01 01 01",
                                      "a1 6131 01",
                                      "a2 80 00 01 00",
                                      "a3 01 01 02 05 03 04",
                                      "a2 01 01 0a 02",
                                      "a2 01 01 0c 02",
                                      "a2 01 02 04 a2 09010901",
                                      "a2 01 01 06 82 05 00",
                                      "a2 01 01 06 82 1affffffff 01",
                                      "a2 01 01 06 81 1b0000000100000000",
                                      "a2 01 01 06 a0",
                                      "a2 01 01 04 80",
                                      "a3 01 01 04 a10901 0b a10308",
                                      "a3 01 01 04 a10901 0b a0",
                                      "a1 01 01 00",
                                      "a2 01 01 06 9a00010001"};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        const perfile_bytes b = hex(good[i]);
        pf_zone z = decoded_zone(b);
        pf_zone_free(&z);
        free((void *)(uintptr_t)b.ptr);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const perfile_bytes b = hex(bad[i]);
        pf_zone z = {0};
        assert_int_equal(pf_zone_decode(b, &z, NULL), PERFILE_E_CORRUPT);
        pf_zone_free(&z);
        free((void *)(uintptr_t)b.ptr);
    }
}

/* Sets of random values, also 0 and all ones, at the limit and above. */
static void test_sets(void **state)
{
    (void)state;
    static const uint32_t sizes[] = {1, 31, 32, 33, 1000, 65535, 65536, 65537};
    pf_zone z = {0};
    pf_buffer out = {0};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        pf_zone_clear(&z);
        z.tids.seed = k * 77777;
        for (uint32_t i = 0; i < sizes[k]; i++) /* an odd factor: all of them differ */
            for (unsigned twice = 0; twice < 2; twice++)
                assert_true(pf_zone_set_add(&z.tids, i == 1 ? UINT32_MAX : i * 2654435761U));
        const bool known = sizes[k] <= PF_ZONE_MOST_MEMBERS;
        assert_int_equal(z.tids.known, known);
        pf_buffer_clear(&out);
        assert_int_equal(pf_zone_encode(&z, &out, NULL), PERFILE_OK);
        pf_zone again = decoded_zone((perfile_bytes){out.ptr, out.len});
        assert_int_equal(again.tids.known, known);
        assert_int_equal(again.tids.n, known ? sizes[k] : 0);
        for (uint32_t i = 0; i < sizes[k]; i += 1 + i / 100) {
            const uint32_t v = i == 1 ? UINT32_MAX : i * 2654435761U;
            assert_true(pf_zone_set_has(&again.tids, v) && pf_zone_set_has(&z.tids, v));
            assert_true(pf_zone_set_meets(&again.tids, v - (v > 0), v));
        }
        assert_int_equal(pf_zone_set_has(&again.tids, 2654435761U), !known); /* i == 1 */
        pf_zone_free(&again);
    }
    for (uint64_t i = 0; i <= PF_ZONE_MOST_COUNTS; i++) {
        assert_true(z.types.known);
        assert_true(pf_zone_counts_add(&z.types, i * 7919 % 4099, 1, 1));
    }
    assert_true(!z.types.known);
    pf_zone_free(&z);
    pf_buffer_free(&out);
}

/* Collects, encodes and decodes. */
static perfile_status both_ways(void)
{
    pf_zone z = {0}, again = {0};
    pf_buffer out = {0};
    perfile_error err = {0};
    perfile_status st = PERFILE_OK;
    pf_zone_clear(&z);
    for (uint32_t i = 0; i < 200 && st == PERFILE_OK; i++)
        if (!pf_zone_set_add(&z.pids, i) || !pf_zone_counts_add(&z.types, i, 1, 1))
            st = PERFILE_E_NOMEM;
    if (st == PERFILE_OK)
        st = pf_zone_encode(&z, &out, &err);
    if (st == PERFILE_OK)
        st = pf_zone_decode((perfile_bytes){out.ptr, out.len}, &again, &err);
    pf_zone_free(&z);
    pf_zone_free(&again);
    pf_buffer_free(&out);
    return st;
}

static void test_every_allocation_may_fail(void **state)
{
    (void)state;
    pf_alloc_count = 0;
    assert_int_equal(both_ways(), PERFILE_OK);
    const uint64_t n = pf_alloc_count;
    assert_true(n > 10);
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
        cmocka_unit_test(test_zone_bytes),
        cmocka_unit_test(test_zone_cut),
        cmocka_unit_test(test_zone_keys),
        cmocka_unit_test(test_sets),
        cmocka_unit_test(test_every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

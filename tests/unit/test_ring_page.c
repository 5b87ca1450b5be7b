/* The numbers of the control page: read at one moment, and turned into time and counts.  Expected
 * values are worked out by hand, or with 128-bit arithmetic by the definition and not by the
 * formula. */
#include "testing.h"

#include "fake_ring.h"
#include "random.h"

__extension__ typedef unsigned __int128 u128;

static uint64_t random_u64(void)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < 4; i++)
        v = v << 16 | random_below(1 << 16);
    return v;
}

/* time = zero + floor(cycles * mult / 2^shift) */
static const struct {
    uint64_t shift, mult, zero, cycles, time;
} by_hand[] = {
    {0, 1, 0, 12345, 12345},
    {10, 1024, 7, 12345, 12352},
    {1, 1, 0, 5, 2},
    {1, 3, 100, 5, 107},                              /* 7.5 */
    {31, 0x80000000, 0, UINT64_MAX, UINT64_MAX},      /* factor 1 */
    {31, 0x40000000, 0, UINT64_MAX, INT64_MAX},       /* 1/2 */
    {21, 699051, 0, 3000000, 1000000},                /* 3 GHz: 1000000.47 */
    {21, 699051, 1000000000, 3000000000, 2000000476}, /* … 1000000476.8 */
    {0, 4294967295, 0, 4294967297, UINT64_MAX},       /* (2^32 - 1)(2^32 + 1) */
    {0, 4294967295, 2, 4294967297, 1},                /* passes 2^64 */
    {31, 4294967295, 0, 2147483647, 4294967293},      /* 2^32 - 3 + 2^-31 */
    {31, 1, UINT64_MAX, 2147483648, 0},               /* zero is negative */
    {10, 0, 42, 999, 42},                             /* a factor of 0 stands still */
};

static void time_by_hand(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) {
        perfile_clock c = {.has_conversion = true,
                           .shift = by_hand[i].shift,
                           .mult = by_hand[i].mult,
                           .zero = by_hand[i].zero};
        uint64_t time = 1;
        assert_int_equal(perfile_clock_time(&c, by_hand[i].cycles, &time, NULL), PERFILE_OK);
        assert_true(time == by_hand[i].time);
    }
}

static void time_by_definition(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 200000; i++) {
        perfile_clock c = {.has_conversion = true,
                           .shift = random_below(32),
                           .mult = random_u64() >> (32 + random_below(32)),
                           .zero = random_u64()};
        uint64_t x = random_u64() >> random_below(64), y;
        assert_int_equal(perfile_clock_time(&c, x, &y, NULL), PERFILE_OK);
        assert_true(y == c.zero + (uint64_t)((u128)x * c.mult >> c.shift));
        y = 77;
        perfile_status st = perfile_clock_cycles(&c, c.zero + x, &y, NULL);
        assert_int_equal(st, c.mult ? PERFILE_OK : PERFILE_E_CORRUPT);
        assert_true(y == (c.mult ? (uint64_t)(((u128)x << c.shift) / c.mult) : 77));
    }
}

/* The hardware clock has 48 bits; it was at time_cycles when the kernel looked. */
static void short_clock(void **state)
{
    static const struct {
        uint64_t cycles, wanted;
    } rows[] = {
        {0xfffffffffff0, 0x1fffffffffff0}, /* the moment itself */
        {0xffffffffffff, 0x1ffffffffffff},
        {0x000000000000, 0x2000000000000}, /* the counter went round since */
        {0x000000000005, 0x2000000000005},
        {0xffffffffffef, 0x2ffffffffffef}, /* nothing is ever before the moment */
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        perfile_clock c = {.has_conversion = true,
                           .mult = 1,
                           .is_short = true,
                           .cycles = 0x1fffffffffff0,
                           .mask = 0xffffffffffff};
        uint64_t time;
        assert_int_equal(perfile_clock_time(&c, rows[i].cycles, &time, NULL), PERFILE_OK);
        assert_true(time == rows[i].wanted);
        c.is_short = false;
        assert_int_equal(perfile_clock_time(&c, rows[i].cycles, &time, NULL), PERFILE_OK);
        assert_true(time == rows[i].cycles);
    }
}

static void impossible_clocks(void **state)
{
    static const struct {
        bool has;
        uint64_t shift, mult;
        perfile_status time, cycles;
    } rows[] = {
        {false, 0, 1, PERFILE_E_UNSUPPORTED, PERFILE_E_UNSUPPORTED},
        {true, 33, 1, PERFILE_E_CORRUPT, PERFILE_E_CORRUPT},
        {true, 65535, 1, PERFILE_E_CORRUPT, PERFILE_E_CORRUPT},
        {true, UINT64_MAX, 1, PERFILE_E_CORRUPT, PERFILE_E_CORRUPT},
        {true, 0, UINT64_C(1) << 32, PERFILE_E_CORRUPT, PERFILE_E_CORRUPT},
        {true, 31, 0, PERFILE_OK, PERFILE_E_CORRUPT},
        {true, 32, 1, PERFILE_OK, PERFILE_OK},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        perfile_clock c = {
            .has_conversion = rows[i].has, .shift = rows[i].shift, .mult = rows[i].mult};
        uint64_t out = 77;
        assert_int_equal(perfile_clock_time(&c, 1, &out, NULL), rows[i].time);
        assert_int_equal(perfile_clock_cycles(&c, 1, &out, NULL), rows[i].cycles);
    }
}

/* Fields at the offsets of linux/perf_event.h. */
static uint8_t *make_page(uint64_t capabilities)
{
    static const uint64_t words[][2] = {{16, UINT64_C(0) - 5}, {24, 3000},   {32, 1000}, {56, 900},
                                        {64, 70000},           {80, 0x1000}, {88, 0xfff}};
    uint8_t *page = calloc(1, PERFILE_RING_PAGE_BYTES);
    assert_non_null(page);
    uint32_t version = 1, compat = 2, lock = 8, index = 3, mult = 3;
    uint16_t width = 48, shift = 1;
    memcpy(page, &version, 4);
    memcpy(page + 4, &compat, 4);
    memcpy(page + 8, &lock, 4);
    memcpy(page + 12, &index, 4);
    memcpy(page + 40, &capabilities, 8);
    memcpy(page + 48, &width, 2);
    memcpy(page + 50, &shift, 2);
    memcpy(page + 52, &mult, 4);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        memcpy(page + words[i][0], &words[i][1], 8);
    return page;
}

/* The lock: odd while the kernel writes. */
static void put_lock(uint8_t *page, uint32_t lock)
{
    memcpy(page + 8, &lock, sizeof lock);
}

static void page_is_read(void **state)
{
    (void)state;
    uint8_t *page = make_page(0x3e);
    perfile_ring_page p;
    assert_int_equal(perfile_ring_page_read(page, PERFILE_RING_PAGE_BYTES, &p, sizeof p, NULL),
                     PERFILE_OK);
    assert_true(p.version == 1 && p.compat_version == 2 && p.lock == 8 && p.index == 3);
    assert_true(p.offset == UINT64_C(0) - 5 && p.time_enabled == 3000 && p.time_running == 1000);
    assert_true(p.capabilities == 0x3e && p.pmc_width == 48 && p.time_shift == 1);
    assert_true(p.time_mult == 3 && p.time_offset == 900 && p.time_zero == 70000);
    assert_true(p.time_cycles == 0x1000 && p.time_mask == 0xfff);
    assert_true(perfile_ring_page_unchanged(page, &p));
    put_lock(page, 10);
    assert_false(perfile_ring_page_unchanged(page, &p));

    /* A caller with less room. */
    perfile_ring_page less;
    memset(&less, 0xee, sizeof less);
    assert_int_equal(perfile_ring_page_read(page, PERFILE_RING_PAGE_BYTES, &less, 8, NULL),
                     PERFILE_OK);
    assert_true(less.lock == 10 && less.version == 1 && less.compat_version == 0xeeeeeeee);

    perfile_error err = {0};
    put_lock(page, 11); /* being written, for ever */
    assert_int_equal(perfile_ring_page_read(page, PERFILE_RING_PAGE_BYTES, &p, sizeof p, &err),
                     PERFILE_E_CORRUPT);
    assert_string_equal(err.where, "ring.lock");
    assert_int_equal(perfile_ring_page_read(NULL, 4096, &p, sizeof p, NULL), PERFILE_E_USAGE);
    assert_int_equal(perfile_ring_page_read(page, 1087, &p, sizeof p, NULL), PERFILE_E_USAGE);
    free(page);
}

/* Every combination of the capability bits. */
static void capabilities_decide(void **state)
{
    (void)state;
    for (uint64_t caps = 0; caps < 64; caps++) {
        bool has_time = caps & 8, has_zero = caps & 16, is_short = caps & 32;
        uint8_t *page = make_page(caps);
        perfile_ring_page p;
        perfile_clock clock;
        uint64_t value;
        assert_int_equal(perfile_ring_page_read(page, PERFILE_RING_PAGE_BYTES, &p, sizeof p, NULL),
                         PERFILE_OK);
        perfile_status st = perfile_ring_page_clock(&p, &clock, NULL);
        assert_int_equal(st, has_time && has_zero ? PERFILE_OK : PERFILE_E_UNSUPPORTED);
        if (st == PERFILE_OK) {
            assert_int_equal(perfile_clock_time(&clock, 5, &value, NULL), PERFILE_OK);
            /* 5 * 3 / 2, or (0x1000 + ((5 - 0x1000) & 0xfff)) * 3 / 2 = 0x1005 * 3 / 2 */
            assert_int_equal(value, 70000 + (is_short ? 6151 : 7));
            assert_int_equal(perfile_clock_cycles(&clock, 70009, &value, NULL), PERFILE_OK);
            assert_int_equal(value, 6);
        }
        st = perfile_ring_page_delta(&p, 5, &value, NULL);
        assert_int_equal(st, has_time ? PERFILE_OK : PERFILE_E_UNSUPPORTED);
        if (st == PERFILE_OK)
            assert_int_equal(value, 900 + (is_short ? 6151 : 7));
        st = perfile_ring_page_count(&p, 1005, &value, NULL);
        assert_int_equal(st, caps & 4 ? PERFILE_OK : PERFILE_E_UNSUPPORTED);
        if (st == PERFILE_OK)
            assert_int_equal(value, 1000);
        free(page);
    }
}

static void counts(void **state)
{
    static const struct {
        uint64_t offset, pmc, count;
        uint16_t width;
    } rows[] = {
        {0, 5, 5, 48},
        {100, 0x800000000000, 100 - UINT64_C(0x800000000000), 48},
        {UINT64_C(1) << 47, 0x800000000003, 3, 48},
        {100, 0xffffffffffff, 99, 48},
        {100, UINT64_MAX, 99, 64},
        {100, UINT64_C(1) << 63, 100 + (UINT64_C(1) << 63), 64},
        {0, 0xffff0000000000ff, 0xff, 32}, /* what is above the width does not count */
        {10, 1, 9, 1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        perfile_ring_page p = {.capabilities = PERFILE_RING_USER_RDPMC,
                               .index = 1,
                               .offset = rows[i].offset,
                               .pmc_width = rows[i].width};
        uint64_t count;
        assert_int_equal(perfile_ring_page_count(&p, rows[i].pmc, &count, NULL), PERFILE_OK);
        assert_true(count == rows[i].count);
    }
    perfile_ring_page p = {.offset = 44};
    uint64_t count;
    assert_int_equal(perfile_ring_page_count(&p, 1, &count, NULL), PERFILE_OK);
    assert_int_equal(count, 44);
    p = (perfile_ring_page){.capabilities = PERFILE_RING_USER_RDPMC, .index = 1};
    assert_int_equal(perfile_ring_page_count(&p, 1, &count, NULL), PERFILE_E_CORRUPT);
    p.pmc_width = 65;
    assert_int_equal(perfile_ring_page_count(&p, 1, &count, NULL), PERFILE_E_CORRUPT);
}

static void scaling(void **state)
{
    (void)state;
    uint64_t scaled = 5;
    assert_false(perfile_ring_scale(1, 2, 0, &scaled));
    assert_int_equal(scaled, 5);
    assert_true(perfile_ring_scale(1000, 3, 2, &scaled) && scaled == 1500);
    assert_true(perfile_ring_scale(7, 3, 2, &scaled) && scaled == 10);
    /* Times of hours: the product of remainder and time does not fit 64 bits. */
    assert_true(perfile_ring_scale(35999999999999, 72000000000000, 36000000000000, &scaled));
    assert_true(scaled == 71999999999998);
    for (unsigned i = 0; i < 50000; i++) {
        uint64_t count = random_u64() >> random_below(64);
        uint64_t enabled = random_u64() >> random_below(64);
        uint64_t running = random_u64() >> random_below(64);
        if (running == 0)
            continue;
        assert_true(perfile_ring_scale(count, enabled, running, &scaled));
        assert_true(scaled == (uint64_t)((u128)count * enabled / running));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_by_hand), cmocka_unit_test(time_by_definition),
        cmocka_unit_test(short_clock),  cmocka_unit_test(impossible_clocks),
        cmocka_unit_test(page_is_read), cmocka_unit_test(capabilities_decide),
        cmocka_unit_test(counts),       cmocka_unit_test(scaling),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

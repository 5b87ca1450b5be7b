/* libperfile-fuzz: the same input and seed give the same bytes, here and on each other machine;
 * nothing outside of the room is written; most results can still be opened; what the repair and the
 * cross-over make is readable. */
#include "testing.h"

#include <perfile-fuzz.h>

#include "base/crc32.h"
#include "file_bytes.h"
#include "perfile/perfile.h"

enum { MORE = 512, GUARD = 64, GUARD_BYTE = 0xa5 };

static const char *const captures[] = {"cpu-clock.data", "big-endian.data", "pipe.data",
                                       "callgraph.data", "stat.data",       "zstd.data",
                                       "killed.data",    "tracepoints.data"};
enum { N_CAPTURES = sizeof captures / sizeof captures[0] };

static perfile_bytes sample(const char *name)
{
    char path[4096];
    const char *root = getenv("PERFILE_SOURCE");
    snprintf(path, sizeof path, "%s/samples/captures/%s", root ? root : ".", name);
    return file_bytes(path);
}

/* A capture with room after it, and bytes on both sides that nothing may change. */
typedef struct guarded {
    uint8_t *block;
    uint8_t *bytes;
    size_t room;
} guarded;

static guarded guard(perfile_bytes in, size_t room)
{
    guarded g = {malloc(room + 2 * GUARD), NULL, room};
    assert_non_null(g.block);
    memset(g.block, GUARD_BYTE, room + 2 * GUARD);
    g.bytes = g.block + GUARD;
    if (in.len && room)
        memcpy(g.bytes, in.ptr, in.len < room ? in.len : room);
    return g;
}

/* Releases it after a look at the bytes on both sides. */
static void unguard(guarded g)
{
    for (size_t i = 0; i < GUARD; i++) {
        assert_int_equal(g.block[i], GUARD_BYTE);
        assert_int_equal(g.bytes[g.room + i], GUARD_BYTE);
    }
    free(g.block);
}

static bool opens(const uint8_t *bytes, size_t size, uint64_t *records)
{
    const perfile_open_options options = {.size = sizeof options,
                                          .on_damage = PERFILE_ON_DAMAGE_RESYNC};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    assert_int_equal(perfile_source_memory((perfile_bytes){bytes, size}, "capture", &source, NULL),
                     PERFILE_OK);
    if (perfile_open(source, &options, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return false;
    }
    for (*records = 0; perfile_stream_next(s, &r, NULL) == PERFILE_OK;)
        ++*records;
    perfile_stream_close(s);
    return true;
}

static uint32_t mutated_sum(perfile_bytes in, size_t room, unsigned seed)
{
    guarded g = guard(in, room);
    size_t n = perfile_fuzz_mutate(g.bytes, in.len, room, seed);
    assert_true(n <= room);
    uint32_t sum = pf_crc32(0, (perfile_bytes){g.bytes, n});
    unguard(g);
    return sum;
}

/* Two calls with the same seed, and bounds, for each capture and for its first bytes. */
static void is_repeatable_and_bounded(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CAPTURES; i++) {
        perfile_bytes whole = sample(captures[i]);
        for (unsigned seed = 0; seed < 300; seed++) {
            const size_t rooms[] = {whole.len + MORE, whole.len, whole.len / 2, seed % 20, 0};
            perfile_bytes in = {whole.ptr, seed % 3 ? whole.len : seed * 7 % whole.len};
            for (size_t k = 0; k < sizeof rooms / sizeof rooms[0]; k++)
                assert_int_equal(mutated_sum(in, rooms[k], seed), mutated_sum(in, rooms[k], seed));
        }
        free((void *)(uintptr_t)whole.ptr);
    }
}

/* CRC-32 of 100 results in a row, for three first seeds: another machine has the same.  They
 * change with the tables of format/ and with the operations: then copy what the test prints. */
static void gives_the_same_on_each_machine(void **state)
{
    static const struct {
        const char *name;
        unsigned seed;
        uint32_t sum;
    } golden[] = {{"cpu-clock.data", 1, 0x9a49ab1b},
                  {"big-endian.data", 1000, 0x1b24159c},
                  {"pipe.data", 77777, 0xe9d588f6}};
    (void)state;
    uint32_t sums[3];
    for (size_t i = 0; i < 3; i++) {
        perfile_bytes in = sample(golden[i].name);
        sums[i] = 0;
        for (unsigned k = 0; k < 100; k++) {
            uint8_t number[4];
            uint32_t one = mutated_sum(in, in.len + MORE, golden[i].seed + k);
            for (unsigned j = 0; j < 4; j++)
                number[j] = (uint8_t)(one >> 8 * j);
            sums[i] = pf_crc32(sums[i], (perfile_bytes){number, 4});
        }
        printf("%s, seed %u: 0x%08x\n", golden[i].name, golden[i].seed, sums[i]);
        free((void *)(uintptr_t)in.ptr);
    }
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(sums[i], golden[i].sum);
}

/* Of 1000 results how many open, how many have at least half of the records, and how many are
 * distinct from the input. */
static void most_results_open(void **state)
{
    unsigned n = 0, opened = 0, whole = 0, changed = 0;
    (void)state;
    for (size_t i = 0; i < N_CAPTURES; i++) {
        perfile_bytes in = sample(captures[i]);
        uint64_t before = 0, after = 0;
        assert_true(opens(in.ptr, in.len, &before));
        for (unsigned seed = 0; seed < 1000 / N_CAPTURES; seed++, n++) {
            guarded g = guard(in, in.len + MORE);
            size_t size = perfile_fuzz_mutate(g.bytes, in.len, g.room, seed);
            bool ok = opens(g.bytes, size, &after);
            opened += ok;
            whole += ok && after >= before / 2;
            changed += size != in.len || memcmp(g.bytes, in.ptr, size) != 0;
            unguard(g);
        }
        free((void *)(uintptr_t)in.ptr);
    }
    printf("of %u mutations %u changed something, %u results open, %u with half of the records\n",
           n, changed, opened, whole);
    assert_true(2 * opened >= n);
    assert_true(2 * whole >= n);
    assert_true(10 * changed >= 9 * n);
}

/* The records of both are there, in all pairs of forms and byte orders. */
static void crosses_over(void **state)
{
    unsigned n = 0, opened = 0, more = 0;
    (void)state;
    for (size_t i = 0; i < N_CAPTURES; i++) {
        for (size_t k = 0; k < N_CAPTURES; k++) {
            perfile_bytes a = sample(captures[i]), b = sample(captures[k]);
            uint64_t before = 0, after = 0;
            assert_true(opens(a.ptr, a.len, &before));
            for (unsigned seed = 0; seed < 16; seed++, n++) {
                const size_t room = seed % 4 ? a.len + b.len : a.len / (seed + 1);
                guarded g = guard((perfile_bytes){NULL, 0}, room),
                        again = guard((perfile_bytes){NULL, 0}, room);
                size_t size =
                    perfile_fuzz_cross_over(a.ptr, a.len, b.ptr, b.len, g.bytes, room, seed);
                assert_true(size <= room);
                assert_int_equal(
                    perfile_fuzz_cross_over(a.ptr, a.len, b.ptr, b.len, again.bytes, room, seed),
                    size);
                assert_memory_equal(g.bytes, again.bytes, size);
                bool ok = opens(g.bytes, size, &after);
                opened += ok;
                more += ok && after > before;
                unguard(again);
                unguard(g);
            }
            free((void *)(uintptr_t)a.ptr);
            free((void *)(uintptr_t)b.ptr);
        }
    }
    printf("of %u cross-overs %u open, %u with more records than before\n", n, opened, more);
    assert_true(2 * opened >= n);
    assert_true(4 * more >= n);
}

/* A repaired capture is as before if it was whole; cut anywhere, or without its magic, it opens. */
static void repairs(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_CAPTURES; i++) {
        perfile_bytes in = sample(captures[i]);
        for (size_t cut = in.len; cut > 200; cut -= cut > 400 ? 97 : 1) {
            guarded g = guard(in, cut);
            uint64_t records;
            size_t n = perfile_fuzz_repair(g.bytes, cut, cut);
            assert_int_equal(n, cut);
            if (cut == in.len)
                assert_memory_equal(g.bytes, in.ptr, n);
            assert_true(opens(g.bytes, n, &records));
            memset(g.bytes, 0, 8); /* the magic comes back */
            assert_int_equal(perfile_fuzz_repair(g.bytes, n, n), n);
            assert_true(opens(g.bytes, n, &records));
            unguard(g);
        }
        free((void *)(uintptr_t)in.ptr);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(is_repeatable_and_bounded),
        cmocka_unit_test(gives_the_same_on_each_machine),
        cmocka_unit_test(most_results_open),
        cmocka_unit_test(crosses_over),
        cmocka_unit_test(repairs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* A file that threads write is the one that is written without, byte for byte; what cannot be
 * written is told, at the latest when the file is finished, and nothing appears. */
#include "testing.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/out.h"
#include "perfile/perfile.h"
#include "random.h"

enum { MOST = 6 << 20, ROUNDS = 40 };
#define PLACE "behind.out"

static uint8_t *expected, *lasting;

static int setup(void **state)
{
    (void)state;
    expected = malloc(MOST);
    lasting = malloc(MOST);
    return expected && lasting && signal(SIGXFSZ, SIG_IGN) != SIG_ERR ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    free(expected);
    free(lasting);
    return 0;
}

static perfile_sink *open_sink(uint32_t threads)
{
    const perfile_sink_options how = {
        .size = sizeof how, .flags = PERFILE_SINK_REPLACE, .threads = threads};
    perfile_sink *s = NULL;
    assert_int_equal(perfile_sink_path(PLACE, &how, &s, NULL), PERFILE_OK);
    return s;
}

/* Pieces of all sizes, the large ones out of memory that is written over at once; others
 * stay; now and then bytes are replaced, or handed on. */
static perfile_status write_all(perfile_sink *s, size_t n, perfile_error *err)
{
    static uint8_t piece[1 << 20];
    perfile_status st = PERFILE_OK;
    for (size_t at = 0; at < n && st == PERFILE_OK;) {
        size_t some = 1 + random_below(random_below(3) ? 400 << 10 : sizeof piece);
        some = some < n - at ? some : n - at;
        memset(piece, (int)random_below(256), some);
        memcpy(expected + at, piece, some);
        memcpy(lasting + at, piece, some);
        if (random_below(2))
            st = pf_sink_write_stable(s, (perfile_bytes){lasting + at, some}, err);
        else
            st = perfile_sink_write(s, (perfile_bytes){piece, some}, err);
        memset(piece, 0xee, some);
        at += some;
        if (st == PERFILE_OK && random_below(8) == 0) {
            const size_t place = random_below((uint32_t)at - 7);
            memset(expected + place, 0x55, 7);
            st = pf_sink_patch(s, place, (perfile_bytes){expected + place, 7}, err);
        }
        if (st == PERFILE_OK && random_below(16) == 0)
            st = perfile_sink_flush(s, err);
    }
    return st == PERFILE_OK ? perfile_sink_finish(s, err) : st;
}

static void check_file(size_t n)
{
    uint8_t *got = malloc(MOST + 1);
    FILE *f = fopen(PLACE, "rb");
    assert_non_null(got);
    assert_non_null(f);
    assert_int_equal(fread(got, 1, MOST + 1, f), n);
    assert_memory_equal(got, expected, n);
    fclose(f);
    free(got);
}

static void threads_write_the_same(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        const size_t n = 8 + random_below(MOST - 8);
        perfile_error err = {0};
        perfile_sink *s = open_sink(i % 5);
        if (write_all(s, n, &err) != PERFILE_OK)
            fail_msg("%s", err.message);
        perfile_sink_close(s);
        check_file(n);
    }
    assert_int_equal(unlink(PLACE), 0);
}

static void a_full_disk_is_told(void **state)
{
    (void)state;
    struct rlimit was, now;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &was), 0);
    for (unsigned i = 0; i < ROUNDS; i++) {
        const size_t n = 2 + random_below(MOST - 2);
        perfile_error err = {0};
        now = was;
        now.rlim_cur = random_below((uint32_t)n - 1);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
        perfile_sink *s = open_sink(1 + i % 4);
        const perfile_status st = write_all(s, n < 8 ? 8 : n, &err);
        perfile_sink_close(s);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &was), 0);
        assert_int_equal(st, PERFILE_E_IO);
        assert_int_equal(err.sys, EFBIG);
        assert_int_equal(access(PLACE, F_OK), -1);
    }
}

/* Closed without being finished, while threads write. */
static void what_is_not_finished_is_not_there(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        perfile_sink *s = open_sink(2 + i % 3);
        for (unsigned k = random_below(9); k; k--)
            assert_int_equal(perfile_sink_write(s, (perfile_bytes){expected, 256 << 10}, NULL),
                             PERFILE_OK);
        perfile_sink_close(s);
        assert_int_equal(access(PLACE, F_OK), -1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_write_the_same),
        cmocka_unit_test(a_full_disk_is_told),
        cmocka_unit_test(what_is_not_finished_is_not_there),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

/* The zstd reader: a stream in any pieces, limits, padding, damage. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "base/alloc.h"
#include "io/zstd.h"
#include "random.h"

#define N 700000u

static uint8_t *plain;

/* Half of it compresses well, half does not: raw, run-length and compressed blocks. */
static int setup(void **state)
{
    (void)state;
    plain = malloc(N);
    if (!plain)
        return -1;
    for (size_t i = 0; i < N; i++)
        plain[i] = i % 100000 < 30000   ? (uint8_t)random_below(256)
                   : i % 100000 < 60000 ? 0
                                        : (uint8_t)(i / 8 % 64);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    free(plain);
    return 0;
}

/* What a recorder writes: one frame, flushed after each piece of `step` bytes and, with `end`,
 * ended after it.  ends[i] is where piece i ends in `out`. */
static size_t record(pf_buffer *out, size_t n, size_t step, bool end, size_t *ends)
{
    ZSTD_CCtx *c = ZSTD_createCCtx();
    size_t pieces = 0;
    for (size_t at = 0; at < n; at += step) {
        ZSTD_inBuffer in = {plain + at, n - at < step ? n - at : step, 0};
        size_t left;
        do {
            assert_true(pf_buffer_reserve(out, 1000));
            ZSTD_outBuffer to = {out->ptr + out->len, 1000, 0};
            left = ZSTD_compressStream2(c, &to, &in, end ? ZSTD_e_end : ZSTD_e_flush);
            assert_false(ZSTD_isError(left));
            out->len += to.pos;
        } while (left);
        ends[pieces++] = out->len;
    }
    ZSTD_freeCCtx(c);
    return pieces;
}

static perfile_bytes part(const pf_buffer *b, size_t from, size_t to)
{
    return (perfile_bytes){b->ptr + from, to - from};
}

static void any_pieces_give_the_stream(void **state)
{
    (void)state;
    static size_t ends[N / 500 + 1];
    for (int end = 0; end < 2; end++) {
        pf_buffer packed = {0};
        (void)record(&packed, N, 70000, end, ends);
        for (uint32_t most = 1; most < 2000000; most *= 30) {
            pf_inflate *z = pf_inflate_new(27);
            pf_buffer out = {0};
            for (size_t at = 0; at < packed.len;) {
                size_t n = 1 + random_below(most);
                if (n > packed.len - at)
                    n = packed.len - at;
                perfile_error err;
                if (pf_inflate_feed(z, part(&packed, at, at + n), &out, N, &err) != PERFILE_OK)
                    fail_msg("%s", err.message);
                at += n;
            }
            assert_int_equal(out.len, N);
            assert_memory_equal(out.ptr, plain, N);
            pf_buffer_free(&out);
            pf_inflate_free(z);
        }
        pf_buffer_free(&packed);
    }
}

/* A flushed piece comes out whole: nothing waits for the next one. */
static void each_record_gives_all_it_has(void **state)
{
    (void)state;
    static size_t ends[N / 500 + 1];
    static const size_t steps[] = {500, 3000, 200000};
    for (size_t k = 0; k < 3; k++) {
        pf_buffer packed = {0}, out = {0};
        size_t pieces = record(&packed, N, steps[k], false, ends);
        pf_inflate *z = pf_inflate_new(27);
        size_t from = 0, done = 0;
        for (size_t i = 0; i < pieces; from = ends[i++]) {
            size_t want = N - done < steps[k] ? N - done : steps[k];
            /* exactly the limit is allowed */
            assert_int_equal(pf_inflate_feed(z, part(&packed, from, ends[i]), &out, want, NULL),
                             PERFILE_OK);
            assert_int_equal(out.len, want);
            assert_memory_equal(out.ptr, plain + done, want);
            pf_buffer_consume_front(&out, want);
            done += want;
        }
        assert_int_equal(done, N);
        assert_int_equal(pf_inflate_feed(z, (perfile_bytes){NULL, 0}, &out, 0, NULL), PERFILE_OK);
        pf_inflate_free(z);
        pf_buffer_free(&out);
        pf_buffer_free(&packed);
    }
}

static void output_has_a_limit(void **state)
{
    (void)state;
    size_t ends[1];
    pf_buffer packed = {0}, out = {0};
    (void)record(&packed, N, N, false, ends);
    static const uint64_t limits[] = {0, 1, 131071, 131072, 131073, 500000, N - 1};
    pf_inflate *z = pf_inflate_new(27);
    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++) {
        perfile_error err;
        pf_buffer_clear(&out);
        assert_true(pf_buffer_append(&out, "abc", 3)); /* what was there does not count */
        assert_int_equal(pf_inflate_feed(z, part(&packed, 0, packed.len), &out, limits[i], &err),
                         PERFILE_E_LIMIT);
        assert_string_equal(err.where, "inflate_bytes");
        assert_int_equal(out.len, limits[i] + 3);
        assert_memory_equal(out.ptr, "abc", 3);
        assert_memory_equal(out.ptr + 3, plain, limits[i]);
    }
    pf_buffer_clear(&out); /* the stream was reset: it can be read from its beginning */
    assert_int_equal(pf_inflate_feed(z, part(&packed, 0, packed.len), &out, UINT64_MAX, NULL),
                     PERFILE_OK);
    assert_int_equal(out.len, N);
    pf_inflate_free(z);
    pf_buffer_free(&out);
    pf_buffer_free(&packed);
}

/* A gigabyte of zeros in a few kilobytes stops at the limit, without memory for all of it. */
static void a_bomb_stops_at_the_limit(void **state)
{
    (void)state;
    ZSTD_CCtx *c = ZSTD_createCCtx();
    static const uint8_t zeros[1 << 16];
    static uint8_t packed[1 << 18];
    ZSTD_outBuffer to = {packed, sizeof packed, 0};
    for (int i = 0; i < 1 << 14; i++) {
        ZSTD_inBuffer in = {zeros, sizeof zeros, 0};
        assert_false(ZSTD_isError(ZSTD_compressStream2(c, &to, &in, ZSTD_e_continue)));
    }
    ZSTD_inBuffer none = {NULL, 0, 0};
    assert_int_equal(ZSTD_compressStream2(c, &to, &none, ZSTD_e_flush), 0);
    ZSTD_freeCCtx(c);
    pf_inflate *z = pf_inflate_new(27);
    pf_buffer out = {0};
    assert_int_equal(pf_inflate_feed(z, (perfile_bytes){packed, to.pos}, &out, 1 << 20, NULL),
                     PERFILE_E_LIMIT);
    assert_int_equal(out.len, 1 << 20);
    assert_true(out.cap <= 4 << 20);
    pf_buffer_free(&out);
    pf_inflate_free(z);
}

static void a_larger_window_is_refused(void **state)
{
    (void)state;
    ZSTD_CCtx *c = ZSTD_createCCtx();
    assert_false(ZSTD_isError(ZSTD_CCtx_setParameter(c, ZSTD_c_windowLog, 20)));
    static uint8_t packed[N + 4096];
    ZSTD_inBuffer in = {plain, N, 0};
    ZSTD_outBuffer to = {packed, sizeof packed, 0};
    assert_int_equal(ZSTD_compressStream2(c, &to, &in, ZSTD_e_flush), 0);
    ZSTD_freeCCtx(c);
    pf_buffer out = {0};
    perfile_error err;
    pf_inflate *z = pf_inflate_new(19);
    assert_int_equal(pf_inflate_feed(z, (perfile_bytes){packed, to.pos}, &out, N, &err),
                     PERFILE_E_LIMIT);
    assert_string_equal(err.where, "zstd_window");
    pf_inflate_free(z);
    z = pf_inflate_new(0); /* brought into zstd's range */
    assert_int_equal(pf_inflate_feed(z, (perfile_bytes){packed, to.pos}, &out, N, &err),
                     PERFILE_E_LIMIT);
    pf_inflate_free(z);
    z = pf_inflate_new(UINT32_MAX);
    assert_int_equal(pf_inflate_feed(z, (perfile_bytes){packed, to.pos}, &out, N, &err),
                     PERFILE_OK);
    assert_int_equal(out.len, N);
    pf_inflate_free(z);
    pf_buffer_free(&out);
}

static void damage_is_told_in_the_words_of_zstd(void **state)
{
    (void)state;
    static size_t ends[N / 500 + 1];
    pf_buffer packed = {0}, out = {0};
    (void)record(&packed, N, 70000, false, ends);
    pf_inflate *z = pf_inflate_new(27);
    perfile_error err;
    assert_int_equal(
        pf_inflate_feed(z, (perfile_bytes){(const uint8_t *)"no zstd at all", 14}, &out, N, &err),
        PERFILE_E_CORRUPT);
    assert_string_equal(err.message, "zstd: Unknown frame descriptor");
    int corrupt = 0;
    for (int i = 0; i < 400; i++) {
        uint8_t *at = packed.ptr + random_below(i < 200 ? 9 : (uint32_t)packed.len);
        uint8_t bit = (uint8_t)(1u << random_below(8));
        *at ^= bit;
        pf_buffer_clear(&out);
        perfile_status st = pf_inflate_feed(z, part(&packed, 0, packed.len), &out, 2 * N, &err);
        assert_true(st == PERFILE_OK || st == PERFILE_E_CORRUPT || st == PERFILE_E_LIMIT);
        corrupt += st == PERFILE_E_CORRUPT;
        *at ^= bit;
        pf_inflate_reset(z);
    }
    assert_true(corrupt > 10);
    pf_buffer_clear(&out);
    assert_int_equal(pf_inflate_feed(z, part(&packed, 0, packed.len), &out, N, &err), PERFILE_OK);
    assert_int_equal(out.len, N);
    pf_inflate_free(z);
    pf_buffer_free(&out);
    pf_buffer_free(&packed);
}

/* Records padded with 0 to 7 zero bytes (and once with many), inside one frame and between frames.
 * Without the padding being dropped, what follows is misread. */
static void padding_is_dropped(void **state)
{
    (void)state;
    static size_t ends[N / 500 + 1];
    static const size_t steps[] = {500, 5000, 200000};
    int plain_feed_fails = 0;
    for (size_t k = 0; k < 6; k++) {
        bool end = k & 1;
        size_t step = steps[k / 2];
        pf_buffer packed = {0}, out = {0}, padded = {0}, wrong = {0};
        size_t pieces = record(&packed, N, step, end, ends);
        pf_inflate *z = pf_inflate_new(27), *y = pf_inflate_new(27);
        size_t from = 0;
        for (size_t i = 0; i < pieces; from = ends[i++]) {
            static const uint8_t zeros[500];
            pf_buffer_clear(&padded);
            assert_true(pf_buffer_append(&padded, packed.ptr + from, ends[i] - from));
            assert_true(pf_buffer_append(&padded, zeros, i == 3 ? 500 : random_below(8)));
            perfile_error err;
            size_t before = out.len, want = N - before < step ? N - before : step;
            if (pf_inflate_feed_padded(z, part(&padded, 0, padded.len), &out, step, &err))
                fail_msg("step %zu, piece %zu: %s", step, i, err.message);
            assert_int_equal(out.len - before, want);
            plain_feed_fails +=
                pf_inflate_feed(y, part(&padded, 0, padded.len), &wrong, N, NULL) != PERFILE_OK;
        }
        assert_int_equal(out.len, N);
        assert_memory_equal(out.ptr, plain, N);
        pf_inflate_free(z);
        pf_inflate_free(y);
        pf_buffer_free(&out);
        pf_buffer_free(&wrong);
        pf_buffer_free(&packed);
        pf_buffer_free(&padded);
    }
    assert_true(plain_feed_fails > 0);
}

/* Zeros that belong to the data are no padding, wherever a piece is cut. */
static void zeros_of_the_data_are_kept(void **state)
{
    (void)state;
    static uint8_t packed[70000], text[60000];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = i % 7 && i % 1000 < 600 ? (uint8_t)random_below(256) : 0;
    ZSTD_CCtx *c = ZSTD_createCCtx();
    ZSTD_inBuffer in = {text, sizeof text, 0};
    ZSTD_outBuffer to = {packed, sizeof packed, 0};
    assert_int_equal(ZSTD_compressStream2(c, &to, &in, ZSTD_e_flush), 0);
    ZSTD_freeCCtx(c);
    pf_inflate *z = pf_inflate_new(27);
    pf_buffer out = {0};
    for (size_t cut = 20; cut < to.pos; cut += 1 + random_below(60)) {
        pf_buffer_clear(&out);
        assert_int_equal(pf_inflate_feed_padded(z, (perfile_bytes){packed, cut}, &out, N, NULL),
                         PERFILE_OK);
        assert_int_equal(
            pf_inflate_feed_padded(z, (perfile_bytes){packed + cut, to.pos - cut}, &out, N, NULL),
            PERFILE_OK);
        assert_int_equal(out.len, sizeof text);
        assert_memory_equal(out.ptr, text, sizeof text);
        pf_inflate_reset(z);
    }
    pf_buffer_clear(&out);
    static const uint8_t zeros[8];
    assert_int_equal(pf_inflate_feed_padded(z, (perfile_bytes){zeros, 8}, &out, N, NULL),
                     PERFILE_E_CORRUPT); /* nothing was before them */
    assert_int_equal(pf_inflate_feed_padded(z, (perfile_bytes){NULL, 0}, &out, N, NULL),
                     PERFILE_OK);
    pf_inflate_free(z);
    pf_buffer_free(&out);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    size_t ends[1];
    pf_buffer packed = {0};
    (void)record(&packed, N, N, false, ends);
    for (uint64_t i = 1;; i++) {
        pf_buffer out = {0};
        pf_alloc_fail_at = pf_alloc_count + i;
        pf_inflate *z = pf_inflate_new(27);
        perfile_status st = PERFILE_E_NOMEM;
        if (z)
            st = pf_inflate_feed(z, part(&packed, 0, packed.len), &out, N, NULL);
        bool reached = pf_alloc_count >= pf_alloc_fail_at;
        pf_alloc_fail_at = 0;
        assert_int_equal(st, reached ? PERFILE_E_NOMEM : PERFILE_OK);
        pf_inflate_free(z);
        pf_buffer_free(&out);
        if (!reached) {
            assert_true(i > 3);
            break;
        }
    }
    pf_inflate_free(NULL);
    pf_buffer_free(&packed);
}

static void buffers_append_and_consume(void **state)
{
    (void)state;
    pf_buffer b = {0};
    size_t in = 0, out = 0;
    for (int i = 0; i < 20000; i++) {
        size_t n = random_below(300);
        assert_true(pf_buffer_append(&b, plain + in, n));
        in += n;
        if (in < N && random_below(2))
            assert_true(pf_buffer_append_u8(&b, plain[in++]));
        n = random_below(3) ? random_below(300) : 0;
        if (n > b.len)
            n = b.len;
        assert_true(n == 0 || memcmp(b.ptr, plain + out, n) == 0);
        pf_buffer_consume_front(&b, n);
        out += n;
        assert_int_equal(b.len, in - out);
        if (in > N - 1000)
            break;
    }
    assert_memory_equal(b.ptr, plain + out, in - out);
    assert_false(pf_buffer_reserve(&b, SIZE_MAX));
    assert_false(pf_buffer_reserve(&b, PTRDIFF_MAX));
    assert_memory_equal(b.ptr, plain + out, in - out);
    pf_buffer_free(&b);

    /* A queue of steady length stops growing. */
    for (int i = 0; i < 100000; i++) {
        assert_true(pf_buffer_append(&b, plain, 100));
        if (i > 10)
            pf_buffer_consume_front(&b, 100);
    }
    assert_true(b.head + b.cap <= 8192);
    pf_buffer_free(&b);
    pf_buffer_free(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_pieces_give_the_stream),
        cmocka_unit_test(each_record_gives_all_it_has),
        cmocka_unit_test(output_has_a_limit),
        cmocka_unit_test(a_bomb_stops_at_the_limit),
        cmocka_unit_test(a_larger_window_is_refused),
        cmocka_unit_test(damage_is_told_in_the_words_of_zstd),
        cmocka_unit_test(padding_is_dropped),
        cmocka_unit_test(zeros_of_the_data_are_kept),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(buffers_append_and_consume),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

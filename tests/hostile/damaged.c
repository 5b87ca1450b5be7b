/* Every prefix and every damaged byte of small captures of every form, through everything that
 * reads: no crash, no hang, memory in proportion, and what is said adds up. */
#include "testing.h"

#include <dirent.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>

#include "base/alloc.h"
#include "captures.h"
#include "streamed.h"
#include "check/command.h"

enum {
    CAPTURE_BYTES = 8192, /* recorded captures above that are left out */
    RECORDED_STEP = 11,   /* of recorded ones, one byte in so many */
    ALLOCATIONS = 5000,   /* a capture of a few KB needs far fewer */
    CHECK_STEP = 3,       /* one in so many is checked too */
#if defined(__SANITIZE_ADDRESS__)
    STEP = 15,      /* one damage in so many, and other ones each time */
    EMIT_STEP = 61, /* large blocks, such as the buffer of a sink, take long there */
#else
    STEP = 1,
    EMIT_STEP = 7, /* one in so many is emitted too */
#endif
    SECONDS = 2,            /* of processor time, one reading; it takes far less */
    ADDRESS_SPACE_MB = 1024 /* without sanitizers */
};

static uint64_t n_readings, n_damages; /* damages: with a seed, those of $PERFILE_SEED again */

static int64_t swallow(void *user, const void *bytes, size_t len)
{
    (void)bytes;
    *(uint64_t *)user += len;
    return (int64_t)len;
}

/* One after the other through every form that a capture can be emitted in. */
static void emit_damaged(perfile_bytes bytes, uint32_t on_damage)
{
    const char *format = perfile_emit_format(n_readings % 3);
    uint64_t written = 0;
    perfile_source *source;
    perfile_stream *s;
    perfile_sink *sink;
    perfile_emitter *e;
    const perfile_record *r;
    perfile_sink_callbacks callbacks = {
        .size = sizeof callbacks, .user = &written, .write = swallow};
    perfile_emit_options how = {.size = sizeof how, .flags = n_readings % 2 ? PERFILE_EMIT_HEX : 0};
    perfile_open_options options = {.size = sizeof options,
                                    .deliver = PERFILE_DELIVER_DAMAGE,
                                    .on_damage = on_damage,
                                    .as_stored = n_readings % 5 < 2};
    assert_int_equal(perfile_source_memory(bytes, "damaged", &source, NULL), PERFILE_OK);
    if (perfile_open(source, &options, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return;
    }
    assert_int_equal(perfile_sink_callback(&callbacks, "nowhere", &sink, NULL), PERFILE_OK);
    assert_int_equal(perfile_emitter_open(format, s, sink, &how, &e, NULL), PERFILE_OK);
    perfile_status st = perfile_emitter_begin(e, NULL);
    while (st == PERFILE_OK && (st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
        st = perfile_emitter_put(e, r, NULL);
    assert_int_equal(st, PERFILE_END);
    assert_int_equal(perfile_emitter_finish(e, NULL), PERFILE_OK);
    assert_int_equal(perfile_sink_finish(sink, NULL), PERFILE_OK);
    assert_true(written > 0 && written < (uint64_t)200 << 20);
    perfile_emitter_close(e);
    perfile_sink_close(sink);
    perfile_stream_close(s);
}

/* Opens, walks, looks at every field; what is said has to add up. */
/* Through the stage that checks: every rule looks at it. */
static void check_damaged(perfile_bytes bytes, uint32_t on_damage)
{
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    perfile_error err;
    perfile_open_options options = {
        .size = sizeof options, .deliver = PERFILE_DELIVER_DAMAGE, .on_damage = on_damage};
    perfile_status st = perfile_source_memory(bytes, "damaged", &source, NULL);
    assert_int_equal(st, PERFILE_OK);
    if (perfile_open(source, &options, &s, &err) != PERFILE_OK) {
        assert_true(pf_check_refused(&err, NULL));
        perfile_source_close(source);
        return;
    }
    assert_int_equal(perfile_check(s, NULL, &s, NULL), PERFILE_OK);
    while ((st = perfile_stream_next(s, &r, &err)) == PERFILE_OK)
        ;
    assert_true(st == PERFILE_END || st == PERFILE_E_LIMIT);
    perfile_stream_close(s);
}

static void read_damaged(perfile_bytes bytes, uint32_t on_damage)
{
    perfile_source *source;
    perfile_stream *s;
    perfile_error err = {0};
    perfile_limits limits = {.size = sizeof limits, .inflate_bytes = 1 << 20, .zstd_window = 20};
    perfile_open_options options = {.size = sizeof options,
                                    .deliver = PERFILE_DELIVER_DAMAGE,
                                    .on_damage = on_damage,
                                    .limits = &limits};
    if (++n_damages % STEP)
        return;
    uint64_t before = pf_alloc_count;
    clock_t start = clock();
    n_readings++;
    assert_int_equal(perfile_source_memory(bytes, "damaged", &source, NULL), PERFILE_OK);
    perfile_status st = perfile_open(source, &options, &s, &err);
    if (st != PERFILE_OK) {
        assert_true(st < 0 && err.where && err.message[0]);
        perfile_source_close(source);
        return;
    }
    const perfile_record *r;
    transcript t = {0};
    uint64_t records = 0, lost = 0;
    while ((st = perfile_stream_next(s, &r, &err)) == PERFILE_OK) {
        if (r->family == PERFILE_FAMILY_DAMAGE)
            lost += r->body.len;
        else
            records++;
        streamed_record(&t, s, r, STREAMED_FIELDS);
    }
    assert_true(st == PERFILE_END || st == PERFILE_E_LIMIT);
    streamed_session(&t, perfile_stream_session(s), STREAMED_FIELDS);
    perfile_stream_summary sum;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    assert_true(sum.records == records && sum.lost == lost);
    assert_true(sum.damages || !lost);
    perfile_stream_close(s);
    assert_true(pf_alloc_count - before < ALLOCATIONS);
    if (n_readings % CHECK_STEP == 0)
        check_damaged(bytes, on_damage);
    if (n_readings % EMIT_STEP == 0)
        emit_damaged(bytes, on_damage);
    assert_true(clock() - start < (clock_t)SECONDS * CLOCKS_PER_SEC);
}

static void prefixes(perfile_bytes whole, size_t step)
{
    for (size_t n = 0; n < whole.len; n += step) {
        uint8_t *block = exact(whole.ptr, n);
        read_damaged((perfile_bytes){block, n},
                     n % 2 ? PERFILE_ON_DAMAGE_RESYNC : PERFILE_ON_DAMAGE_STOP);
        free(block);
    }
}

static void bytes(perfile_bytes whole, size_t step)
{
    uint8_t *block = exact(whole.ptr, whole.len);
    for (size_t at = 0; at < whole.len; at += step) {
        const uint8_t good = block[at];
        const uint8_t bad[] = {0, 0xff, good ^ 1, good ^ 0x80};
        for (size_t i = 0; i < sizeof bad; i++) {
            block[at] = bad[i];
            if (bad[i] != good)
                read_damaged((perfile_bytes){block, whole.len},
                             (at + i) % 2 ? PERFILE_ON_DAMAGE_RESYNC : PERFILE_ON_DAMAGE_STOP);
        }
        block[at] = good;
    }
    free(block);
}

static void generated(void **state)
{
    (void)state;
    for (unsigned form = 0; form < 2 * CAPTURE_FORMS; form++) {
        /* The two byte orders share the work. */
        bool swap = form % 2;
        builder b;
        capture_make(&b, form / 2, swap, 4);
        assert_true(b.b.len < CAPTURE_BYTES);
        prefixes(built(&b), 1);
        if (form / 2 < CAPTURE_RECORDS || !swap)
            bytes(built(&b), 1);
        build_clear(&b);
    }
}

/* Captures that were recorded, as far as they are small; the steps are odd, and begin anew. */
static void recorded(void **state)
{
    (void)state;
    const char *home = getenv("PERFILE_SOURCE");
    char path[4096];
    unsigned n = 0;
    if (!home)
        skip();
    snprintf(path, sizeof path, "%s/samples/captures", home);
    DIR *dir = opendir(path);
    if (!dir)
        skip();
    const struct dirent *entry;
    while ((entry = readdir(dir)) != NULL) {
        struct stat st;
        snprintf(path, sizeof path, "%s/samples/captures/%s", home, entry->d_name);
        const char *dot = strrchr(entry->d_name, '.');
        if (!dot || strcmp(dot, ".data") != 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode) ||
            st.st_size > CAPTURE_BYTES || st.st_size == 0)
            continue;
        FILE *f = fopen(path, "rb");
        assert_non_null(f);
        uint8_t *block = malloc((size_t)st.st_size);
        assert_non_null(block);
        assert_int_equal(fread(block, 1, (size_t)st.st_size, f), st.st_size);
        fclose(f);
        prefixes((perfile_bytes){block, (size_t)st.st_size}, RECORDED_STEP);
        bytes((perfile_bytes){block, (size_t)st.st_size}, RECORDED_STEP);
        free(block);
        n++;
    }
    closedir(dir);
    assert_true(n > 0);
}

static void enough_was_read(void **state)
{
    (void)state;
    print_message("%llu readings\n", (unsigned long long)n_readings);
    assert_true(n_readings > 50000 / STEP);
}

int main(void)
{
#if !defined(__SANITIZE_ADDRESS__)
    struct rlimit space = {(rlim_t)ADDRESS_SPACE_MB << 20, (rlim_t)ADDRESS_SPACE_MB << 20};
    setrlimit(RLIMIT_AS, &space);
#endif
    const char *seed = getenv("PERFILE_SEED");
    n_damages = (seed ? strtoull(seed, NULL, 10) : (uint64_t)time(NULL)) % STEP;
    if (STEP > 1)
        print_message("one damage in %d, PERFILE_SEED=%" PRIu64 "\n", STEP, n_damages);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(generated),
        cmocka_unit_test(recorded),
        cmocka_unit_test(enough_was_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

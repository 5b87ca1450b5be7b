/* Archives with a flipped bit, and archives that end anywhere: what one bit costs is one chunk and
 * never goes unnoticed, what a cut leaves complete is read, and nothing fails but by a status.
 *
 * The archives hold the captures of samples/captures, one of them also as a directory, noise (which
 * is stored as it is), and a capture of several chunks of records.  Their tables of chunks, taken
 * while they are whole, say what damage may cost. */
#include "testing.h"

#include <inttypes.h>
#include <stdio.h>
#include <time.h>

#include "archive/table.h"
#include "base/alloc.h"
#include "captures.h"
#include "perfile/archive.h"
#include "random.h"
#include "recorded.h"
#include "archive/command.h"

enum {
    MOST_ARCHIVES = 80,
    MOST_PARTS = 8,
    NOISE = 20000,
    LARGE_SAMPLES = 140000, /* three chunks of records */
    LARGE_STEP = 100,       /* one turn in so many is about the large archive, which takes long */
    USE_STEP = 8,           /* one turn in so many is read by a stream, and converted, too */
#if defined(__SANITIZE_ADDRESS__)
    TURNS = 2000
#else
    TURNS = 20000
#endif
};

/* An archive that is whole, and what it was made of. */
typedef struct whole {
    char name[40];
    uint8_t *bytes;
    size_t len;
    perfile_source *source;
    pf_archive table;
    bool directory;
    pf_buffer parts[MOST_PARTS];
    uint32_t n_parts;
} whole;

static whole archives[MOST_ARCHIVES], large = {.name = "the large one"};
static unsigned n_archives;
static bool codecs[3];

static bool holds_data(const pf_chunk *c)
{
    return c->kind == PF_CHUNK_RECORDS || c->kind == PF_CHUNK_BYTES;
}

static perfile_source *source_of(perfile_bytes bytes, bool no_index)
{
    perfile_source *s;
    assert_int_equal(perfile_source_memory(bytes, "damaged", &s, NULL), PERFILE_OK);
    s->options.flags |= no_index ? PERFILE_SOURCE_NO_INDEX : 0;
    return s;
}

/* Reads an image from front to back. */
static void read_image(perfile_source *image, pf_buffer *out)
{
    perfile_error err;
    perfile_bytes run;
    pf_buffer_clear(out);
    do {
        assert_int_equal(pf_source_run(image, out->len, 1, &run, &err), PERFILE_OK);
        assert_true(run.len <= image->size - out->len);
        assert_true(pf_buffer_append(out, run.ptr, run.len));
    } while (run.len);
    assert_int_equal(out->len, image->size);
}

/* The source of one part of a capture; NULL: it is not there.  Of a file it is `capture`. */
static perfile_source *open_part(perfile_source *capture, uint32_t part)
{
    char name[24] = "data";
    perfile_source *image = NULL;
    if (!pf_source_has_entries(capture))
        return part ? NULL : capture;
    if (part)
        snprintf(name, sizeof name, "data.%u", part - 1);
    perfile_status st = pf_source_entry(capture, name, &image, NULL);
    assert_true(st == PERFILE_OK || st == PERFILE_E_IO);
    return image;
}

static void close_part(perfile_source *image, const perfile_source *capture)
{
    if (image != capture)
        perfile_source_close(image);
}

/* Packs the capture on `source`; without one `bytes`, about which nothing is known. */
static void pack(whole *w, bool directory, perfile_source *source, perfile_bytes bytes)
{
    const perfile_archive_options options = {.size = sizeof options,
                                             .flags = directory ? PERFILE_ARCHIVE_DIRECTORY : 0};
    const perfile_convert_options how = {.size = sizeof how, .flags = PERFILE_CONVERT_FORCE};
    perfile_sink *below, *sink;
    perfile_error err;
    perfile_status st;
    void *taken;
    assert_int_equal(perfile_sink_memory("packed", &below, NULL), PERFILE_OK);
    assert_int_equal(perfile_archive_sink(below, &options, &sink, NULL), PERFILE_OK);
    if (source) {
        st = perfile_convert_capture(source, sink, &how, NULL, 0, &err);
    } else {
        st = perfile_sink_write(sink, bytes, &err);
        if (st == PERFILE_OK)
            st = perfile_sink_finish(sink, &err);
    }
    if (st != PERFILE_OK)
        fail_msg("%s: not packed: %s", w->name, err.message);
    assert_int_equal(sink_copy(below, &taken, &w->len), PERFILE_OK);
    perfile_sink_close(sink);
    w->bytes = exact(taken, w->len);
    w->directory = directory;
    free(taken);
}

/* Reads the table and the parts of an archive that was just packed. */
static void learn(whole *w)
{
    w->source = source_of((perfile_bytes){w->bytes, w->len}, false);
    assert_int_equal(pf_archive_read(w->source, 0, &w->table, NULL), PERFILE_OK);
    assert_true(w->table.from_index && w->table.finished && !w->table.n_gaps);
    for (uint32_t i = 0; i < w->table.n_chunks; i++)
        if (holds_data(&w->table.chunks[i]))
            codecs[w->table.chunks[i].codec] = true;
    perfile_source *capture = source_of((perfile_bytes){w->bytes, w->len}, false);
    perfile_source *below = capture;
    assert_int_equal(pf_archive_source(&capture, NULL), PERFILE_OK);
    assert_ptr_not_equal(capture, below);
    assert_int_equal(pf_source_has_entries(capture), w->directory);
    for (perfile_source *image; (image = open_part(capture, w->n_parts)) != NULL; w->n_parts++) {
        assert_true(w->n_parts < MOST_PARTS);
        read_image(image, &w->parts[w->n_parts]);
        close_part(image, capture);
    }
    assert_true(w->n_parts > 0);
    assert_int_equal(capture->origin->lost.places, 0);
    perfile_source_close(capture);
}

/* Packs a capture of these bytes, or bytes that are none; what is restored are these bytes. */
static void add_file(whole *w, bool is_capture, perfile_bytes bytes)
{
    pack(w, false, is_capture ? source_of(bytes, false) : NULL, bytes);
    learn(w);
    assert_int_equal(w->parts[0].len, bytes.len);
    assert_memory_equal(w->parts[0].ptr, bytes.ptr, bytes.len);
}

static whole *next_archive(const char *name)
{
    assert_true(n_archives < MOST_ARCHIVES);
    whole *w = &archives[n_archives++];
    snprintf(w->name, sizeof w->name, "%s", name);
    return w;
}

static void add_recorded(const char *path, perfile_stream *s)
{
    (void)s;
    if (!strstr(path, "/samples/captures/"))
        return; /* those of others are in corpus.archive */
    perfile_bytes bytes = recorded_file(path);
    assert_non_null(bytes.ptr);
    add_file(next_archive(strrchr(path, '/') + 1), true, bytes);
    free((void *)(uintptr_t)bytes.ptr);
}

static void add_directory(void)
{
    char path[4096];
    perfile_source *source;
    whole *w = next_archive("a directory");
    snprintf(path, sizeof path, "%s/samples/captures/threads.data", getenv("PERFILE_SOURCE"));
    assert_int_equal(perfile_source_path(path, NULL, &source, NULL), PERFILE_OK);
    pack(w, true, source, (perfile_bytes){NULL, 0});
    learn(w);
    assert_int_equal(w->n_parts, 3);
}

static int make_archives(void **state)
{
    static uint8_t noise[NOISE];
    builder b;
    (void)state;
    (void)recorded_each(add_recorded);
    add_directory();
    for (size_t i = 0; i < NOISE; i++)
        noise[i] = (uint8_t)random_below(256);
    add_file(next_archive("noise"), false, (perfile_bytes){noise, NOISE});
    capture_make(&b, CAPTURE_PIPE, false, LARGE_SAMPLES);
    add_file(&large, true, built(&b));
    build_clear(&b);
    assert_true(n_archives > 20 && large.table.n_chunks >= 5);
    assert_true(codecs[PF_CODEC_RAW] && codecs[PF_CODEC_ZSTD] && codecs[PF_CODEC_COLUMNS]);
    return 0;
}

static void forget(whole *w)
{
    for (uint32_t i = 0; i < w->n_parts; i++)
        pf_buffer_free(&w->parts[i]);
    pf_archive_clear(&w->table);
    perfile_source_close(w->source);
    free(w->bytes);
}

static int forget_archives(void **state)
{
    (void)state;
    for (unsigned i = 0; i < n_archives; i++)
        forget(&archives[i]);
    forget(&large);
    return 0;
}

static const whole *choose(unsigned turn)
{
    return turn % LARGE_STEP ? &archives[random_below(n_archives)] : &large;
}

/* The chunk that is missing in `got`, which has zeros in its place; NULL: none is. */
static const pf_chunk *missing_chunk(const whole *w, uint32_t part, const pf_buffer *got)
{
    const pf_buffer *want = &w->parts[part];
    size_t first = 0, end = want->len;
    assert_int_equal(got->len, want->len);
    if (end == 0 || memcmp(got->ptr, want->ptr, end) == 0)
        return NULL;
    while (got->ptr[first] == want->ptr[first])
        first++;
    while (got->ptr[end - 1] == want->ptr[end - 1])
        end--;
    for (uint32_t i = 0; i < w->table.n_chunks; i++) {
        const pf_chunk *c = &w->table.chunks[i];
        if (!holds_data(c) || c->part != part || c->raw_off > first ||
            c->raw_off + c->raw_len < end)
            continue;
        for (size_t k = 0; k < c->raw_len; k++)
            assert_int_equal(got->ptr[c->raw_off + k], 0);
        return c;
    }
    fail_msg("%s: bytes %zu to %zu of part %u differ: not all of one chunk", w->name, first, end,
             part);
    return NULL;
}

/* By a stream: it ends, or says why not.  Returns whether damage was told; *records is how many
 * were read, UINT64_MAX if it did not end. */
static bool stream_tells(perfile_bytes bytes, bool no_index, uint32_t on_damage, uint64_t *records)
{
    perfile_source *source = source_of(bytes, no_index);
    const perfile_open_options options = {
        .size = sizeof options, .deliver = PERFILE_DELIVER_DAMAGE, .on_damage = on_damage};
    perfile_error err = {0};
    perfile_stream *s;
    const perfile_record *first;
    size_t n;
    *records = UINT64_MAX;
    perfile_status st = perfile_open(source, &options, &s, &err);
    if (st != PERFILE_OK) {
        assert_true(st < 0 && err.message[0]);
        perfile_source_close(source);
        return true;
    }
    while ((st = perfile_stream_next_run(s, &first, &n, &err)) == PERFILE_OK)
        assert_true(n > 0);
    assert_true(st == PERFILE_END || (st < 0 && err.message[0]));
    perfile_stream_summary sum;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    perfile_stream_close(s);
    *records = st < 0 ? UINT64_MAX : sum.records;
    return st < 0 || sum.damages > 0;
}

static unsigned n_lost, n_equal, n_told, n_others;

/* How many records a chunk of them holds. */
static uint64_t count_records(const whole *w, const pf_chunk *c)
{
    const uint8_t *at = w->parts[c->part].ptr + c->raw_off, *end = at + c->raw_len;
    uint64_t n = 0;
    for (; at < end; n++)
        at += pf_load_u16(at + 6, false);
    assert_ptr_equal(at, end);
    return n;
}

/* Whatever is to be done about damage, of a lost chunk only its records are missing. */
static void check_others_are_read(const whole *w, perfile_bytes bytes, bool no_index,
                                  const pf_chunk *lost)
{
    static const uint32_t policies[] = {PERFILE_ON_DAMAGE_STOP, PERFILE_ON_DAMAGE_RESYNC,
                                        PERFILE_ON_DAMAGE_SALVAGE};
    uint64_t all, some;
    n_others++;
    assert_false(stream_tells((perfile_bytes){w->bytes, w->len}, false, policies[0], &all));
    for (size_t i = 0; i < sizeof policies / sizeof policies[0]; i++) {
        assert_true(stream_tells(bytes, no_index, policies[i], &some));
        /* Without attrs, which were in it, records cannot be trusted. */
        if (policies[i] != PERFILE_ON_DAMAGE_SALVAGE || lost->raw_off > 1 << 16)
            assert_int_equal(some, all - count_records(w, lost));
    }
}

/* By a conversion that goes on behind damage: it has the same bytes as the image.  Returns whether
 * damage was told. */
static bool conversion_tells(perfile_bytes bytes, bool no_index, const pf_buffer *got)
{
    const perfile_convert_options options = {.size = sizeof options,
                                             .on_damage = PERFILE_ON_DAMAGE_COPY};
    perfile_convert_summary sum = {0};
    perfile_error err = {0};
    perfile_sink *sink;
    assert_int_equal(perfile_sink_memory("restored", &sink, NULL), PERFILE_OK);
    perfile_source *source = source_of(bytes, no_index);
    perfile_status st = closed_unless_ok(
        source, perfile_convert_capture(source, sink, &options, &sum, sizeof sum, &err));
    assert_true(st == PERFILE_OK || (st < 0 && err.message[0]));
    const perfile_bytes out = perfile_sink_bytes(sink);
    if (st == PERFILE_OK) {
        assert_int_equal(out.len, got->len);
        assert_memory_equal(out.ptr, got->ptr, got->len);
    }
    perfile_sink_close(sink);
    return st < 0 || sum.damaged;
}

/* Reads an archive with one flipped bit. */
static void check_flipped(const whole *w, perfile_bytes bytes, unsigned turn)
{
    const bool no_index = turn % 2;
    const pf_chunk *lost = NULL;
    perfile_error err;
    pf_buffer got = {0};
    perfile_source *capture = source_of(bytes, no_index), *below = capture;
    perfile_status st = pf_archive_source(&capture, &err);
    if (st != PERFILE_OK)
        fail_msg("%s: cannot be read: %s", w->name, err.message);
    assert_ptr_not_equal(capture, below);
    for (uint32_t part = 0; part < w->n_parts; part++) {
        perfile_source *image = open_part(capture, part);
        assert_non_null(image);
        read_image(image, &got);
        close_part(image, capture);
        const pf_chunk *missing = missing_chunk(w, part, &got);
        assert_true(!missing || !lost);
        lost = missing ? missing : lost;
    }
    if (lost) {
        assert_int_equal(capture->origin->lost.places, 1);
        assert_int_equal(capture->origin->lost.bytes, lost->raw_len);
        assert_int_equal(capture->origin->lost.offset, lost->raw_off);
        assert_int_equal(capture->origin->lost.part, lost->part);
    }
    perfile_source_close(capture);
    n_lost += lost != NULL;
    n_equal += !lost;
    if (turn / 2 % USE_STEP == 0) {
        uint64_t records;
        const bool told = stream_tells(bytes, no_index, PERFILE_ON_DAMAGE_RESYNC, &records);
        if (w == &large && lost && lost->kind == PF_CHUNK_RECORDS)
            check_others_are_read(w, bytes, no_index, lost);
        assert_true(told || !lost || lost->kind != PF_CHUNK_RECORDS);
        n_told += told;
        if (!w->directory)
            assert_true(conversion_tells(bytes, no_index, &got) || !lost);
    }
    pf_buffer_free(&got);
}

static void flipped_bits(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        const whole *w = choose(turn);
        const size_t at = random_below((uint32_t)w->len);
        uint8_t *copy = exact(w->bytes, w->len);
        copy[at] ^= (uint8_t)(1 << random_below(8));
        check_flipped(w, (perfile_bytes){copy, w->len}, turn);
        free(copy);
    }
    print_message("%u flips lost a chunk, %u nothing; of %u all other records were read\n", n_lost,
                  n_equal, n_others);
    assert_true(n_others > 0);
    assert_true(n_lost > TURNS / 5 && n_equal > TURNS / 50 && n_told > TURNS / USE_STEP / 10);
}

/* What the complete chunks of the first `n` bytes of an archive hold of a part. */
static bool expect_part(const whole *w, size_t n, uint32_t part, pf_buffer *want)
{
    bool any = false;
    pf_buffer_clear(want);
    for (uint32_t i = 0; i < w->table.n_chunks; i++) {
        const pf_chunk *c = &w->table.chunks[i];
        if (!holds_data(c) || c->part != part || c->offset + pf_chunk_bytes(c) > n)
            continue;
        const size_t end = (size_t)c->raw_off + c->raw_len;
        any = true;
        if (end > want->len) {
            assert_true(pf_buffer_reserve(want, end - want->len + 1));
            memset(want->ptr + want->len, 0, end - want->len);
            want->len = end;
        }
        memcpy(want->ptr + c->raw_off, w->parts[part].ptr + c->raw_off, c->raw_len);
    }
    return any;
}

static unsigned n_cut_parts, n_refused;

static void check_cut(const whole *w, perfile_bytes bytes, unsigned turn)
{
    enum { MAGIC = 8 };
    perfile_error err = {0};
    pf_buffer got = {0}, want = {0};
    perfile_source *capture = source_of(bytes, false), *below = capture;
    perfile_status st = pf_archive_source(&capture, &err);
    if (bytes.len < PF_ARCHIVE_HEADER) {
        assert_ptr_equal(capture, below);
        assert_true(bytes.len < MAGIC ? st == PERFILE_OK : st < 0 && err.message[0]);
        n_refused++;
    } else {
        if (st != PERFILE_OK)
            fail_msg("%s: the first %zu bytes cannot be read: %s", w->name, bytes.len, err.message);
        assert_ptr_not_equal(capture, below);
        for (uint32_t part = 0; part < w->n_parts; part++) {
            if (!expect_part(w, bytes.len, part, &want))
                continue;
            perfile_source *image = open_part(capture, part);
            assert_non_null(image);
            read_image(image, &got);
            close_part(image, capture);
            assert_int_equal(got.len, want.len);
            if (got.len)
                assert_memory_equal(got.ptr, want.ptr, want.len);
            n_cut_parts++;
        }
    }
    perfile_source_close(capture);
    uint64_t records;
    if (turn % USE_STEP == 0)
        (void)stream_tells(bytes, false, PERFILE_ON_DAMAGE_RESYNC, &records);
    pf_buffer_free(&got);
    pf_buffer_free(&want);
}

static void cut_anywhere(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < TURNS; turn++) {
        const whole *w = choose(turn);
        const size_t n =
            turn % 50 == 1 ? random_below(2 * PF_ARCHIVE_HEADER) : random_below((uint32_t)w->len);
        uint8_t *copy = exact(w->bytes, n);
        check_cut(w, (perfile_bytes){copy, n}, turn);
        free(copy);
    }
    print_message("%u parts were read up to a cut, %u headers were cut\n", n_cut_parts, n_refused);
    assert_true(n_cut_parts > TURNS / 5 && n_refused > TURNS / 200);
}

/* The comparison sees what is not the archive's: of a whole one with another byte in it. */
static void comparison_can_fail(void **state)
{
    (void)state;
    pf_buffer got = {0};
    assert_true(pf_buffer_append(&got, large.parts[0].ptr, large.parts[0].len));
    assert_null(missing_chunk(&large, 0, &got));
    const pf_chunk *c = &large.table.chunks[1];
    while (c->kind != PF_CHUNK_RECORDS)
        c++;
    memset(got.ptr + c->raw_off, 0, c->raw_len);
    assert_ptr_equal(missing_chunk(&large, 0, &got), c);
    pf_buffer_free(&got);
}

int main(void)
{
    const char *seed = getenv("PERFILE_SEED");
#if defined(__SANITIZE_ADDRESS__)
    random_state = seed ? (uint32_t)strtoul(seed, NULL, 10) : (uint32_t)time(NULL) % 10000;
    print_message("one case of ten, PERFILE_SEED=%" PRIu32 "\n", random_state);
#else
    random_state = seed ? (uint32_t)strtoul(seed, NULL, 10) : 1;
#endif
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(comparison_can_fail),
    };
    return cmocka_run_group_tests(tests, make_archives, forget_archives);
}

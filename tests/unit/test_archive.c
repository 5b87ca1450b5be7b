/* Archives: headers, chunks, the index, what damage costs, limits, images. */
#include "testing.h"

#include "archive/header.h"
#include "archive/table.h"
#include "archive/pack.h"
#include "base/crc32.h"
#include "columns_built.h"
#include "random.h"

enum { ID = 0x1234567, N = 100000, HEADER = PF_ARCHIVE_HEADER };

static uint8_t plain[N];

/* A third of it is random, a third words that repeat, a third zeros. */
static int setup(void **state)
{
    (void)state;
    for (size_t i = 0; i < N; i++)
        plain[i] = i % 3000 < 1000   ? (uint8_t)random_below(256)
                   : i % 3000 < 2000 ? (uint8_t)(i / 8)
                                     : 0;
    return 0;
}

static perfile_sink *memory_sink(void)
{
    perfile_sink *sink;
    assert_int_equal(perfile_sink_memory(NULL, &sink, NULL), PERFILE_OK);
    return sink;
}

static perfile_source *source_of(perfile_bytes bytes)
{
    perfile_source *s;
    assert_int_equal(perfile_source_memory(bytes, "archive", &s, NULL), PERFILE_OK);
    return s;
}

static void put(pf_pack *p, uint8_t kind, uint16_t source, uint16_t part, uint64_t at, size_t n)
{
    perfile_error err;
    const pf_pack_chunk c = {.kind = kind,
                             .source = source,
                             .part = part,
                             .raw_off = at,
                             .raw = {plain + at, n},
                             .meta = {plain, (size_t)(at % 13)}};
    assert_int_equal(pf_pack_put(p, &c, &err), PERFILE_OK);
}

/* An archive of the first `n` bytes in chunks of `step`. */
static perfile_bytes packed(perfile_sink **sink, size_t n, size_t step, bool finish)
{
    const pf_pack_options options = {.id = ID};
    pf_pack *p;
    *sink = memory_sink();
    assert_int_equal(pf_pack_new(*sink, &options, &p, NULL), PERFILE_OK);
    for (size_t at = 0; at < n; at += step)
        put(p, at ? PF_CHUNK_RECORDS : PF_CHUNK_BYTES, 0, 0, at, n - at < step ? n - at : step);
    if (finish)
        assert_int_equal(pf_pack_finish(p, NULL), PERFILE_OK);
    pf_pack_close(p);
    return perfile_sink_bytes(*sink);
}

/* Compares what can be read with `plain`; returns how many chunks were read completely. */
static unsigned read_all(pf_archive *a)
{
    unsigned good = 0;
    pf_buffer out = {0}, meta = {0};
    for (uint32_t i = 0; i < a->n_chunks; i++) {
        const pf_chunk *c = &a->chunks[i];
        pf_buffer_clear(&out);
        pf_buffer_clear(&meta);
        if (pf_archive_payload(a, c, &out, NULL) != PERFILE_OK) {
            assert_int_equal(out.len, 0);
            continue;
        }
        assert_int_equal(out.len, c->raw_len);
        assert_true(c->raw_off <= N && c->raw_len <= N - c->raw_off);
        if (out.len)
            assert_memory_equal(out.ptr, plain + c->raw_off, out.len);
        if (pf_archive_meta(a, c, &meta, NULL) != PERFILE_OK)
            continue;
        if (meta.len)
            assert_memory_equal(meta.ptr, plain, meta.len);
        good++;
    }
    pf_buffer_free(&out);
    pf_buffer_free(&meta);
    return good;
}

static void test_crc(void **state)
{
    (void)state;
    const perfile_bytes digits = {(const uint8_t *)"123456789", 9};
    assert_int_equal(pf_crc32c(0, digits), 0xe3069283U);
    assert_int_equal(pf_crc32c_by_tables(0, digits), 0xe3069283U);
    assert_int_equal(pf_crc32c(0, (perfile_bytes){NULL, 0}), 0);
    for (unsigned i = 0; i < 1000; i++) {
        const size_t at = random_below(N), n = random_below((uint32_t)(N - at));
        const size_t cut = n ? random_below((uint32_t)n) : 0;
        const uint32_t whole = pf_crc32c(0, (perfile_bytes){plain + at, n});
        assert_int_equal(pf_crc32c_by_tables(0, (perfile_bytes){plain + at, n}), whole);
        const uint32_t front = pf_crc32c(0, (perfile_bytes){plain + at, cut});
        assert_int_equal(pf_crc32c(front, (perfile_bytes){plain + at + cut, n - cut}), whole);
    }
}

/* The first bytes as the specification has them. */
static void test_header(void **state)
{
    (void)state;
    perfile_sink *sink;
    perfile_bytes b = packed(&sink, 0, 1, false);
    perfile_bytes want = hex("895046430d0a1a0a 0100 0000 40000000 0000000000000000 0000000000000000"
                             "6745230100000000");
    pf_archive_head h;
    perfile_error err;
    uint8_t copy[HEADER];
    assert_int_equal(b.len, HEADER);
    assert_memory_equal(b.ptr, want.ptr, want.len);
    assert_int_equal(pf_archive_head_decode(b, &h, &err), PERFILE_OK);
    assert_int_equal(h.id, ID);
    for (unsigned bit = 0; bit < 8 * HEADER; bit++) {
        memcpy(copy, b.ptr, HEADER);
        copy[bit / 8] ^= (uint8_t)(1 << bit % 8);
        assert_int_equal(pf_archive_head_decode((perfile_bytes){copy, HEADER}, &h, &err),
                         PERFILE_E_CORRUPT);
    }
    assert_int_equal(pf_archive_head_decode((perfile_bytes){b.ptr, HEADER - 1}, &h, &err),
                     PERFILE_E_TRUNCATED);
    h = (pf_archive_head){.major = 2, .length = HEADER, .id = ID};
    pf_archive_head_encode(&h, copy);
    assert_int_equal(pf_archive_head_decode((perfile_bytes){copy, HEADER}, &h, &err),
                     PERFILE_E_UNSUPPORTED);
    h = (pf_archive_head){.major = 1, .length = HEADER, .needs = 4, .id = ID};
    pf_archive_head_encode(&h, copy);
    assert_int_equal(pf_archive_head_decode((perfile_bytes){copy, HEADER}, &h, &err),
                     PERFILE_E_UNSUPPORTED);
    free((void *)(uintptr_t)want.ptr);
    perfile_sink_close(sink);
}

/* Sizes at the edge of their limits, and places that are not the chunk's own. */
static void test_chunk_header(void **state)
{
    (void)state;
    uint8_t b[HEADER];
    pf_chunk c = {.kind = PF_CHUNK_BYTES, .codec = PF_CODEC_ZSTD, .offset = 640, .id = ID}, d;
    pf_chunk_encode(&c, b);
    assert_true(pf_chunk_decode(b, 640, ID, &d));
    assert_true(pf_chunk_decode(b, 640, 0, &d));
    assert_false(pf_chunk_decode(b, 704, ID, &d));
    assert_false(pf_chunk_decode(b, 640, ID + 1, &d));
#define EDGE(member, most)                                                                         \
    do {                                                                                           \
        pf_chunk e = c;                                                                            \
        e.member = most;                                                                           \
        pf_chunk_encode(&e, b);                                                                    \
        assert_true(pf_chunk_decode(b, 640, ID, &d));                                              \
        assert_int_equal(d.member, most);                                                          \
        e.member++;                                                                                \
        pf_chunk_encode(&e, b);                                                                    \
        assert_false(pf_chunk_decode(b, 640, ID, &d));                                             \
    } while (0)
    EDGE(raw_len, PF_ARCHIVE_MOST_RAW_LEN);
    EDGE(meta_len, PF_ARCHIVE_MOST_META_LEN);
    EDGE(payload_len, PF_ARCHIVE_MOST_PAYLOAD_LEN);
    EDGE(raw_off, (uint64_t)INT64_MAX);
    c.codec = PF_CODEC_RAW;
    c.raw_len = 1;
    pf_chunk_encode(&c, b);
    assert_false(pf_chunk_decode(b, 640, ID, &d)); /* a raw payload has as many bytes stored */
}

/* With and without the index the table is the same, and all is read. */
static void test_round_trip(void **state)
{
    (void)state;
    static const size_t sizes[] = {0, 1, 63, 64, 65, 5000, N};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (unsigned how = 0; how < 3; how++) {
            perfile_sink *sink;
            perfile_bytes b = packed(&sink, sizes[i], 7000, how < 2);
            perfile_source *s = source_of(b);
            pf_archive a = {0};
            const size_t chunks = (sizes[i] + 6999) / 7000;
            assert_int_equal(pf_archive_read(s, how ? PF_ARCHIVE_NO_INDEX : 0, &a, NULL),
                             PERFILE_OK);
            assert_int_equal(a.from_index, how == 0);
            assert_int_equal(a.finished, how < 2);
            assert_int_equal(a.n_gaps, 0);
            assert_int_equal(a.n_chunks, chunks);
            assert_int_equal(read_all(&a), chunks);
            pf_archive_clear(&a);
            perfile_source_close(s);
            perfile_sink_close(sink);
        }
}

/* Reads an archive with or without its index.  Returns how many chunks are intact; *sound: nothing
 * was found wrong. */
static unsigned read_archive(perfile_bytes bytes, unsigned flags, bool *sound)
{
    perfile_source *s = source_of(bytes);
    pf_archive a = {0};
    assert_int_equal(pf_archive_read(s, flags, &a, NULL), PERFILE_OK);
    const unsigned good = read_all(&a);
    *sound = good == a.n_chunks && !a.n_gaps && !a.head_damaged && a.finished &&
             (a.from_index || flags & PF_ARCHIVE_NO_INDEX);
    pf_archive_clear(&a);
    perfile_source_close(s);
    return good;
}

/* Each flipped bit costs one chunk at most, and is noticed in one of the two ways: a damaged header
 * of a chunk costs nothing where the index is read, a damaged index nothing where it is not. */
static void test_bit_flips(void **state)
{
    (void)state;
    perfile_sink *sink;
    const perfile_bytes b = packed(&sink, N, 3000, true);
    const unsigned chunks = (N + 2999) / 3000;
    uint8_t *copy = exact(b.ptr, b.len);
    bool sound, walked;
    assert_int_equal(read_archive(b, 0, &sound), chunks);
    assert_true(sound);
    for (unsigned i = 0; i < 20000; i++) {
        const size_t at = random_below((uint32_t)b.len);
        const uint8_t bit = (uint8_t)(1 << random_below(8));
        copy[at] ^= bit;
        const unsigned most = read_archive((perfile_bytes){copy, b.len}, 0, &sound);
        const unsigned found =
            read_archive((perfile_bytes){copy, b.len}, PF_ARCHIVE_NO_INDEX, &walked);
        assert_true(most >= chunks - 1 && found >= chunks - 1);
        assert_false(sound && walked);
        copy[at] ^= bit;
    }
    free(copy);
    perfile_sink_close(sink);
}

/* What a cut leaves complete is read. */
static void test_cuts(void **state)
{
    (void)state;
    perfile_sink *sink;
    const perfile_bytes b = packed(&sink, N, 3000, true);
    perfile_source *s = source_of(b);
    pf_archive whole = {0};
    assert_int_equal(pf_archive_read(s, 0, &whole, NULL), PERFILE_OK);
    for (unsigned i = 0; i < 20000; i++) {
        const size_t n = HEADER + random_below((uint32_t)(b.len - HEADER));
        unsigned chunks = 0;
        while (chunks < whole.n_chunks &&
               whole.chunks[chunks].offset + pf_chunk_bytes(&whole.chunks[chunks]) <= n)
            chunks++;
        uint8_t *copy = exact(b.ptr, n);
        perfile_source *cut = source_of((perfile_bytes){copy, n});
        pf_archive a = {0};
        assert_int_equal(pf_archive_read(cut, 0, &a, NULL), PERFILE_OK);
        assert_int_equal(a.n_chunks, chunks);
        assert_int_equal(read_all(&a), chunks);
        assert_false(a.from_index);
        pf_archive_clear(&a);
        perfile_source_close(cut);
        free(copy);
    }
    pf_archive_clear(&whole);
    perfile_source_close(s);
    perfile_sink_close(sink);
}

/* An archive in a raw chunk of another is bytes: its headers stand elsewhere and have another id.
 */
static void test_nested(void **state)
{
    (void)state;
    perfile_sink *inner, *sink = memory_sink();
    const perfile_bytes b = packed(&inner, 5000, 1000, true);
    const pf_pack_options options = {.id = ID + 1};
    const pf_pack_chunk c = {.kind = PF_CHUNK_BYTES, .raw = b, .columns = b};
    pf_pack *p;
    assert_int_equal(pf_pack_new(sink, &options, &p, NULL), PERFILE_OK);
    assert_int_equal(pf_pack_put(p, &c, NULL), PERFILE_OK);
    pf_pack_close(p);
    const perfile_bytes outer = perfile_sink_bytes(sink);
    uint8_t *copy = exact(outer.ptr, outer.len);
    copy[HEADER] ^= 1; /* the chunk header: all behind it is searched */
    perfile_source *s = source_of((perfile_bytes){copy, outer.len});
    pf_archive a = {0};
    assert_int_equal(pf_archive_read(s, 0, &a, NULL), PERFILE_OK);
    assert_int_equal(a.n_chunks, 0);
    assert_int_equal(a.n_gaps, 1);
    pf_archive_clear(&a);
    perfile_source_close(s);
    free(copy);
    perfile_sink_close(sink);
    perfile_sink_close(inner);
}

/* A header that says other sizes than its frame: checksums right, and refused all the same. */
static void test_wrong_frame(void **state)
{
    (void)state;
    perfile_sink *sink;
    const perfile_bytes b = packed(&sink, 5000, 5000, false);
    uint8_t *copy = exact(b.ptr, b.len);
    pf_chunk c;
    pf_buffer out = {0};
    pf_archive a = {0};
    perfile_error err;
    assert_true(pf_chunk_decode(copy + HEADER, HEADER, ID, &c));
    assert_int_equal(c.codec, PF_CODEC_ZSTD);
    static const int32_t by[] = {-1, 1, PF_ARCHIVE_MOST_RAW_LEN - 5000};
    for (unsigned i = 0; i < 3; i++) {
        pf_chunk d = c;
        d.raw_len = (uint32_t)((int32_t)d.raw_len + by[i]);
        pf_chunk_encode(&d, copy + HEADER);
        perfile_source *s = source_of((perfile_bytes){copy, b.len});
        assert_int_equal(pf_archive_read(s, 0, &a, &err), PERFILE_OK);
        assert_int_equal(a.n_chunks, 1);
        assert_int_equal(pf_archive_payload(&a, a.chunks, &out, &err), PERFILE_E_CORRUPT);
        assert_int_equal(err.offset, HEADER);
        assert_int_equal(out.len, 0);
        pf_archive_clear(&a);
        perfile_source_close(s);
    }
    pf_buffer_free(&out);
    free(copy);
    perfile_sink_close(sink);
}

static void test_limits(void **state)
{
    (void)state;
    perfile_sink *sink = memory_sink();
    const pf_pack_options none = {.level = PF_PACK_LEVEL_MOST + 1}, options = {.id = ID};
    pf_pack *p;
    assert_int_equal(pf_pack_new(sink, &none, &p, NULL), PERFILE_E_USAGE);
    assert_int_equal(pf_pack_new(sink, &options, &p, NULL), PERFILE_OK);
    pf_pack_chunk c = {.kind = PF_CHUNK_BYTES, .raw = {plain, (size_t)PF_ARCHIVE_MOST_RAW_LEN + 1}};
    assert_int_equal(pf_pack_put(p, &c, NULL), PERFILE_E_LIMIT);
    c = (pf_pack_chunk){.kind = PF_CHUNK_BYTES,
                        .meta = {plain, (size_t)PF_ARCHIVE_MOST_META_LEN + 1}};
    assert_int_equal(pf_pack_put(p, &c, NULL), PERFILE_E_LIMIT);
    c = (pf_pack_chunk){.kind = PF_CHUNK_BYTES, .raw = {plain, 1}, .raw_off = INT64_MAX};
    assert_int_equal(pf_pack_put(p, &c, NULL), PERFILE_E_LIMIT);
    pf_pack_close(p);
    perfile_sink_close(sink);
}

/* Parts of two sources, their chunks mixed and out of order; spans across chunks. */
static void test_images(void **state)
{
    (void)state;
    const pf_pack_options options = {.id = ID, .needs = PF_ARCHIVE_NEEDS_SOURCES};
    perfile_sink *sink = memory_sink();
    pf_pack *p;
    assert_int_equal(pf_pack_new(sink, &options, &p, NULL), PERFILE_OK);
    put(p, PF_CHUNK_RECORDS, 0, 0, 4000, 3000);
    put(p, PF_CHUNK_BYTES, 1, 0, 0, 500);
    put(p, PF_CHUNK_BYTES, 0, 1, 0, 0);
    put(p, PF_CHUNK_BYTES, 0, 0, 0, 4000);
    put(p, PF_CHUNK_BYTES, 1, 0, 600, 100);
    assert_int_equal(pf_pack_finish(p, NULL), PERFILE_OK);
    pf_pack_close(p);
    perfile_source *s = source_of(perfile_sink_bytes(sink)), *image;
    const perfile_source_options how = {.size = sizeof how};
    pf_archive a = {0};
    perfile_bytes run;
    perfile_error err;
    assert_int_equal(pf_archive_read(s, 0, &a, NULL), PERFILE_OK);

    assert_int_equal(pf_archive_image(&a, 0, 0, 0, NULL, &how, &image, &err), PERFILE_OK);
    assert_int_equal(image->size, 7000);
    for (unsigned i = 0; i < 2000; i++) {
        const size_t at = random_below(7000), need = random_below(3000);
        assert_int_equal(pf_source_run(image, at, need, &run, &err), PERFILE_OK);
        assert_true(run.len >= (need < 7000 - at ? need : 7000 - at) && run.len <= 7000 - at);
        assert_memory_equal(run.ptr, plain + at, run.len);
    }
    assert_int_equal(pf_source_run(image, 7000, 1, &run, &err), PERFILE_OK);
    assert_int_equal(run.len, 0);
    perfile_source_close(image);

    assert_int_equal(pf_archive_image(&a, 0, 1, 0, NULL, &how, &image, &err), PERFILE_OK);
    assert_int_equal(image->size, 0);
    perfile_source_close(image);

    assert_int_equal(pf_archive_image(&a, 1, 0, 0, NULL, &how, &image, &err), PERFILE_OK);
    assert_int_equal(image->size, 700);
    assert_int_equal(pf_source_run(image, 550, 1, &run, &err), PERFILE_E_CORRUPT);
    assert_int_equal(err.offset, 550);
    assert_int_equal(pf_source_run(image, 499, 2, &run, &err), PERFILE_E_CORRUPT);
    assert_int_equal(pf_source_run(image, 499, 1, &run, &err), PERFILE_OK);
    assert_int_equal(pf_source_run(image, 600, 100, &run, &err), PERFILE_OK);
    assert_memory_equal(run.ptr, plain + 600, 100);
    perfile_source_close(image);

    pf_archive_clear(&a);
    perfile_source_close(s);
    perfile_sink_close(sink);
}

/* A chunk in columns is read as any other, and refused if the columns are of other bytes. */
static void test_columns(void **state)
{
    (void)state;
    const pf_pack_options options = {.id = ID, .needs = PF_ARCHIVE_NEEDS_COLUMNS};
    uint8_t raw[BUILT_EXAMPLE];
    pf_columns_decoder *d = pf_columns_decoder_new();
    perfile_sink *sink = memory_sink();
    pf_buffer out = {0};
    pf_archive a = {0};
    perfile_error err;
    pf_pack *p;
    built_columns b = {0};
    size_t len;
    built_example(&b);
    uint8_t *payload = built_payload(&b, &len);
    assert_int_equal(
        pf_columns_decode(d, (perfile_bytes){payload, len}, true, raw, sizeof raw, NULL),
        PERFILE_OK);
    pf_pack_chunk c = {.kind = PF_CHUNK_RECORDS,
                       .flags = PF_CHUNK_FLAG_BIG_ENDIAN,
                       .raw = {raw, sizeof raw},
                       .columns = {payload, len}};
    assert_int_equal(pf_pack_new(sink, &options, &p, NULL), PERFILE_OK);
    assert_int_equal(pf_pack_put(p, &c, NULL), PERFILE_OK);
    c.flags = 0; /* another byte order: the checksum of the decoded bytes is wrong */
    c.raw_off = sizeof raw;
    assert_int_equal(pf_pack_put(p, &c, NULL), PERFILE_OK);
    assert_int_equal(pf_pack_finish(p, NULL), PERFILE_OK);
    perfile_source *s = source_of(perfile_sink_bytes(sink));
    assert_int_equal(pf_archive_read(s, 0, &a, NULL), PERFILE_OK);
    assert_int_equal(a.n_chunks, 2);
    assert_int_equal(pf_archive_payload(&a, &a.chunks[0], &out, &err), PERFILE_OK);
    assert_int_equal(out.len, sizeof raw);
    assert_memory_equal(out.ptr, raw, sizeof raw);
    assert_int_equal(pf_archive_payload(&a, &a.chunks[1], &out, &err), PERFILE_E_CORRUPT);
    assert_int_equal(err.offset, a.chunks[1].offset);
    pf_buffer_free(&out);
    pf_archive_clear(&a);
    pf_pack_close(p);
    perfile_source_close(s);
    perfile_sink_close(sink);
    pf_columns_decoder_free(d);
    free(payload);
    built_clear(&b);
}

/* Two chunks with the same bytes: there is no telling which are right. */
static void test_overlap(void **state)
{
    (void)state;
    const pf_pack_options options = {.id = ID};
    const perfile_source_options how = {.size = sizeof how};
    perfile_sink *sink = memory_sink();
    perfile_source *image;
    pf_archive a = {0};
    perfile_error err;
    pf_pack *p;
    assert_int_equal(pf_pack_new(sink, &options, &p, NULL), PERFILE_OK);
    put(p, PF_CHUNK_BYTES, 0, 0, 0, 100);
    put(p, PF_CHUNK_BYTES, 0, 0, 99, 100);
    pf_pack_close(p);
    perfile_source *s = source_of(perfile_sink_bytes(sink));
    assert_int_equal(pf_archive_read(s, 0, &a, NULL), PERFILE_OK);
    assert_int_equal(pf_archive_image(&a, 0, 0, 0, NULL, &how, &image, &err), PERFILE_E_CORRUPT);
    pf_archive_clear(&a);
    perfile_source_close(s);
    perfile_sink_close(sink);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_crc),          cmocka_unit_test(test_header),
        cmocka_unit_test(test_chunk_header), cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_bit_flips),    cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_nested),       cmocka_unit_test(test_wrong_frame),
        cmocka_unit_test(test_limits),       cmocka_unit_test(test_images),
        cmocka_unit_test(test_overlap),      cmocka_unit_test(test_columns),
    };
    return cmocka_run_group_tests(tests, setup, NULL);
}

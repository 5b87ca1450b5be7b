/* Every limit of an archive at its edge: the value itself is accepted, one more is refused with the
 * error that it should be (format/archive.md, archive/meta.h, core/zone.h).  Sizes in headers
 * of chunks are in test_archive.c, names of parts in test_archive_meta.c, payloads of columns in
 * test_columns_limits.c. */
#include "testing.h"

#include <zstd.h>

#include "archive/meta.h"
#include "archive/table.h"
#include "archive/pack.h"
#include "columns_built.h"
#include "io/out.h"
#include "io/source.h"
#include "perfile/perfile.h"
#include "archive/command.h"

enum { ID = 0x7654321, HEADER = PF_ARCHIVE_HEADER };

static int64_t drop(void *user, const void *bytes, size_t n)
{
    (void)user, (void)bytes;
    return (int64_t)n;
}

/* A sink that keeps nothing: for bytes that only have to be accepted. */
static perfile_sink *dropping(void)
{
    const perfile_sink_callbacks how = {.size = sizeof how, .write = drop};
    perfile_sink *sink;
    assert_int_equal(perfile_sink_callback(&how, "dropped", &sink, NULL), PERFILE_OK);
    return sink;
}

static perfile_sink *memory_sink(void)
{
    perfile_sink *sink;
    assert_int_equal(perfile_sink_memory("archive", &sink, NULL), PERFILE_OK);
    return sink;
}

static pf_pack *new_pack(perfile_sink *sink)
{
    const pf_pack_options options = {
        .id = ID, .level = 1, .needs = PF_ARCHIVE_NEEDS_COLUMNS | PF_ARCHIVE_NEEDS_SOURCES};
    pf_pack *p;
    assert_int_equal(pf_pack_new(sink, &options, &p, NULL), PERFILE_OK);
    return p;
}

static perfile_source *source_of(perfile_bytes bytes)
{
    perfile_source *s;
    assert_int_equal(perfile_source_memory(bytes, "archive", &s, NULL), PERFILE_OK);
    return s;
}

/* Memory of zeros that is never touched costs nothing. */
static const uint8_t *zeros(size_t n)
{
    static uint8_t *all;
    if (!all)
        all = calloc(1, (128U << 20) + 1);
    assert_non_null(all);
    assert_true(n <= (128U << 20) + 1);
    return all;
}

/* A chunk with as many decoded bytes and as much metadata as there may be is written and read. */
static void the_largest_chunks(void **state)
{
    (void)state;
    perfile_sink *sink = memory_sink();
    pf_pack *p = new_pack(sink);
    const pf_pack_chunk c = {.kind = PF_CHUNK_BYTES,
                             .raw = {zeros(PF_ARCHIVE_MOST_RAW_LEN), PF_ARCHIVE_MOST_RAW_LEN},
                             .raw_off = (uint64_t)INT64_MAX - PF_ARCHIVE_MOST_RAW_LEN,
                             .meta = {zeros(PF_ARCHIVE_MOST_META_LEN), PF_ARCHIVE_MOST_META_LEN}};
    assert_int_equal(pf_pack_put(p, &c, NULL), PERFILE_OK);
    assert_int_equal(pf_pack_finish(p, NULL), PERFILE_OK);
    pf_pack_close(p);
    perfile_source *s = source_of(perfile_sink_bytes(sink));
    pf_archive a = {0};
    pf_buffer out = {0};
    assert_int_equal(pf_archive_read(s, 0, &a, NULL), PERFILE_OK);
    assert_true(a.from_index && a.n_chunks == 1);
    assert_int_equal(pf_archive_payload(&a, a.chunks, &out, NULL), PERFILE_OK);
    assert_int_equal(out.len, PF_ARCHIVE_MOST_RAW_LEN);
    pf_buffer_clear(&out);
    assert_int_equal(pf_archive_meta(&a, a.chunks, &out, NULL), PERFILE_OK);
    assert_int_equal(out.len, PF_ARCHIVE_MOST_META_LEN);
    pf_buffer_free(&out);
    pf_archive_clear(&a);
    perfile_source_close(s);
    perfile_sink_close(sink);
}

static void the_largest_payload(void **state)
{
    (void)state;
    perfile_sink *sink = dropping();
    pf_pack *p = new_pack(sink);
    const pf_pack_chunk c = {.kind = PF_CHUNK_RECORDS};
    pf_pack_payload payload = {
        .codec = PF_CODEC_COLUMNS,
        .raw_len = 8,
        .bytes = {zeros(PF_ARCHIVE_MOST_PAYLOAD_LEN), PF_ARCHIVE_MOST_PAYLOAD_LEN}};
    assert_int_equal(pf_pack_put_stored(p, &c, &payload, NULL), PERFILE_OK);
    payload.bytes.len++;
    assert_int_equal(pf_pack_put_stored(p, &c, &payload, NULL), PERFILE_E_LIMIT);
    pf_pack_close(p);
    perfile_sink_close(sink);
}

/* An archive of one chunk with that payload. */
static perfile_sink *with_payload(const pf_pack_chunk *c, const pf_pack_payload *payload)
{
    perfile_sink *sink = memory_sink();
    pf_pack *p = new_pack(sink);
    assert_int_equal(pf_pack_put_stored(p, c, payload, NULL), PERFILE_OK);
    assert_int_equal(pf_pack_finish(p, NULL), PERFILE_OK);
    pf_pack_close(p);
    return sink;
}

/* A frame of 4 bytes as they are, with a window that is said. */
static void windows_of_frames(void **state)
{
    (void)state;
    static const uint8_t raw[4] = {1, 2, 3, 4};
    for (unsigned more = 0; more < 2; more++) {
        const uint8_t window =
            (uint8_t)(((PF_ARCHIVE_MOST_WINDOW_LOG - 10) << 3) + more); /* and an eighth */
        const uint8_t frame[] = {0x28, 0xb5,       0x2f, 0xfd, 0x80, window, 4, 0, 0,
                                 0,    4 << 3 | 1, 0,    0,    1,    2,      3, 4};
        const pf_pack_payload payload = {.codec = PF_CODEC_ZSTD,
                                         .raw_len = sizeof raw,
                                         .raw_crc = pf_crc32c(0, (perfile_bytes){raw, 4}),
                                         .bytes = {frame, sizeof frame}};
        perfile_sink *sink = with_payload(&(pf_pack_chunk){.kind = PF_CHUNK_BYTES}, &payload);
        perfile_source *s = source_of(perfile_sink_bytes(sink));
        pf_archive a = {0};
        pf_buffer out = {0};
        assert_int_equal(pf_archive_read(s, 0, &a, NULL), PERFILE_OK);
        assert_int_equal(pf_archive_payload(&a, a.chunks, &out, NULL),
                         more ? PERFILE_E_CORRUPT : PERFILE_OK);
        pf_buffer_free(&out);
        pf_archive_clear(&a);
        perfile_source_close(s);
        perfile_sink_close(sink);
    }
}

static void an_id_is_not_zero(void **state)
{
    (void)state;
    uint8_t b[HEADER];
    pf_archive_head h = {.major = 1, .length = HEADER, .id = 1};
    pf_archive_head_encode(&h, b);
    assert_int_equal(pf_archive_head_decode((perfile_bytes){b, HEADER}, &h, NULL), PERFILE_OK);
    h.id = 0;
    pf_archive_head_encode(&h, b);
    assert_int_equal(pf_archive_head_decode((perfile_bytes){b, HEADER}, &h, NULL),
                     PERFILE_E_CORRUPT);
}

/* What all chunks hold, against limits.inflate_bytes and limits.inflate_ratio. */
static void bytes_for_each_byte(void **state)
{
    (void)state;
    perfile_source *s = source_of((perfile_bytes){zeros(1000), 1000});
    pf_archive a = {.source = s};
    perfile_error err;
    const uint64_t most = s->limits.inflate_bytes + 1000 * s->limits.inflate_ratio;
    assert_int_equal(pf_archive_check_ratio(&a, most, &err), PERFILE_OK);
    assert_int_equal(pf_archive_check_ratio(&a, most + 1, &err), PERFILE_E_LIMIT);
    assert_string_equal(err.where, "inflate_ratio");
    s->limits.inflate_ratio = UINT64_MAX;
    assert_int_equal(pf_archive_check_ratio(&a, UINT64_MAX, &err), PERFILE_OK);
    perfile_source_close(s);
}

/* An archive of `n` chunks of zeros of `each` bytes, of that kind. */
static perfile_sink *of_zeros(uint8_t kind, unsigned n, size_t each)
{
    perfile_sink *sink = memory_sink();
    pf_pack *p = new_pack(sink);
    for (unsigned i = 0; i < n; i++) {
        const pf_pack_chunk c = {
            .kind = kind, .raw_off = i * (uint64_t)each, .raw = {zeros(each), each}};
        assert_int_equal(pf_pack_put(p, &c, NULL), PERFILE_OK);
    }
    assert_int_equal(pf_pack_finish(p, NULL), PERFILE_OK);
    pf_pack_close(p);
    return sink;
}

static void count(void *user, const perfile_archive_finding *f)
{
    (void)f;
    ++*(unsigned *)user;
}

/* A bomb is refused before it is decoded, by readers of the capture and by the check; what does not
 * decode works. */
static void bombs_are_refused(void **state)
{
    (void)state;
    perfile_sink *sink = of_zeros(PF_CHUNK_BYTES, 3, 100U << 20);
    const perfile_bytes bytes = perfile_sink_bytes(sink);
    perfile_source *s = source_of(bytes);
    perfile_archive *a;
    perfile_error err;
    pf_archive_summary sum;
    perfile_archive_repaired repaired;
    unsigned n = 0;
    assert_true(bytes.len < 40000);
    assert_int_equal(pf_archive_source(&s, &err), PERFILE_E_LIMIT);
    assert_string_equal(err.where, "inflate_ratio");
    assert_int_equal(perfile_archive_open(s, &a, &err), PERFILE_OK);
    pf_archive_get_summary(a, &sum, sizeof sum);
    assert_int_equal(sum.decoded, 300U << 20);
    assert_int_equal(pf_archive_verify(a, count, &n, &err), PERFILE_E_LIMIT);
    assert_int_equal(n, 0);
    assert_int_equal(pf_archive_repair(a, NULL, NULL, NULL, &repaired, sizeof repaired, &err),
                     PERFILE_OK);
    perfile_archive_close(a);
    perfile_sink_close(sink);
}

/* 16 MiB of maps are read, of one byte more those behind are not. */
static void maps_of_captures(void **state)
{
    (void)state;
    for (unsigned more = 0; more < 2; more++) {
        perfile_sink *sink = of_zeros(PF_CHUNK_META, 4, 4U << 20);
        const perfile_bytes bytes = perfile_sink_bytes(sink);
        perfile_source *s = source_of(bytes);
        pf_archive a = {0};
        perfile_error err;
        assert_int_equal(pf_archive_read(s, 0, &a, NULL), PERFILE_OK);
        a.chunks[3].raw_len += (uint32_t)(64 * bytes.len) + more;
        free(a.order);
        a.order = NULL;
        assert_int_equal(pf_archive_sort(&a, NULL), PERFILE_OK);
        for (unsigned i = 0; i < 4; i++)
            assert_int_equal(pf_archive_map_fits(&a, &a.chunks[i], &err),
                             more && i == 3 ? PERFILE_E_LIMIT : PERFILE_OK);
        pf_archive_clear(&a);
        perfile_source_close(s);
        perfile_sink_close(sink);
    }
}

/* An index that claims more than what lies in front of it is not decoded. */
static void the_size_of_an_index(void **state)
{
    (void)state;
    perfile_sink *sink = of_zeros(PF_CHUNK_BYTES, 1, 5);
    const perfile_bytes b = perfile_sink_bytes(sink);
    uint8_t *copy = exact(b.ptr, b.len);
    pf_chunk index;
    const uint64_t at = b.len - HEADER - 2 * HEADER; /* header and one entry, then the END */
    assert_true(pf_chunk_decode(copy + at, at, ID, &index));
    assert_int_equal(index.kind, PF_CHUNK_INDEX);
    for (unsigned more = 0; more < 2; more++) {
        pf_archive a = {0};
        index.codec = more ? PF_CODEC_ZSTD : index.codec;
        index.raw_len = more ? (uint32_t)at + 1 : index.raw_len;
        pf_chunk_encode(&index, copy + at);
        perfile_source *s = source_of((perfile_bytes){copy, b.len});
        assert_int_equal(pf_archive_read(s, 0, &a, NULL), PERFILE_OK);
        assert_int_equal(a.from_index, !more);
        assert_int_equal(a.n_chunks, 1);
        pf_archive_clear(&a);
        perfile_source_close(s);
    }
    free(copy);
    perfile_sink_close(sink);
}

/* 65536 captures, copied from a small one. */
static void captures_of_an_archive(void **state)
{
    (void)state;
    perfile_sink *one = of_zeros(PF_CHUNK_BYTES, 1, 5), *many = memory_sink();
    perfile_source *s = source_of(perfile_sink_bytes(one));
    perfile_archive *a, *b;
    pf_archive_writer *w;
    pf_archive_summary sum;
    perfile_error err;
    assert_int_equal(perfile_archive_open(s, &a, NULL), PERFILE_OK);
    assert_int_equal(pf_archive_writer_new(many, NULL, NULL, &w, NULL), PERFILE_OK);
    for (unsigned i = 0; i < 65536; i++)
        assert_int_equal(pf_archive_writer_copy(w, a, 1, NULL), PERFILE_OK);
    assert_int_equal(pf_archive_writer_copy(w, a, 1, &err), PERFILE_E_LIMIT);
    assert_string_equal(err.where, "archive.captures");
    assert_int_equal(pf_archive_writer_finish(w, NULL), PERFILE_OK);
    s = source_of(perfile_sink_bytes(many));
    assert_int_equal(perfile_archive_open(s, &b, NULL), PERFILE_OK);
    pf_archive_get_summary(b, &sum, sizeof sum);
    assert_int_equal(sum.captures, 65536);
    perfile_archive_close(b);
    pf_archive_writer_close(w);
    perfile_archive_close(a);
    perfile_sink_close(one);
}

static void files_of_a_directory(void **state)
{
    (void)state;
    const perfile_archive_options how = {.size = sizeof how, .flags = PERFILE_ARCHIVE_DIRECTORY};
    perfile_sink *sink, *part;
    perfile_error err;
    assert_int_equal(perfile_archive_sink(dropping(), &how, &sink, NULL), PERFILE_OK);
    assert_int_equal(pf_sink_part(sink, 65533, &part, NULL), PERFILE_OK);
    assert_int_equal(pf_sink_part(sink, 65534, &part, &err), PERFILE_E_LIMIT);
    perfile_sink_close(sink);
    perfile_sink *below = dropping();
    pf_pack *p = new_pack(below);
    pf_packer *packer;
    assert_int_equal(pf_packer_new(p, 0, &how, &packer, NULL), PERFILE_OK);
    for (unsigned i = 0; i < 65535; i++)
        assert_int_equal(pf_packer_part(packer, "data", NULL), PERFILE_OK);
    assert_int_equal(pf_packer_part(packer, "data", NULL), PERFILE_E_LIMIT);
    pf_packer_close(packer);
    pf_pack_close(p);
    perfile_sink_close(below);
}

/* Numbers of parts, and bytes of texts. */
static void maps(void **state)
{
    (void)state;
    pf_buffer b = {0};
    for (unsigned more = 0; more < 2; more++) {
        pf_meta m = {0};
        pf_buffer_clear(&b);
        assert_true(pf_cbor_put_map(&b, 1) && pf_cbor_put_text(&b, "parts") &&
                    pf_cbor_put_map(&b, 1) && pf_cbor_put_uint(&b, PF_META_MOST_PARTS - 1 + more) &&
                    pf_cbor_put_map(&b, 0));
        assert_int_equal(pf_meta_decode((perfile_bytes){b.ptr, b.len}, &m, NULL),
                         more ? PERFILE_E_CORRUPT : PERFILE_OK);
        pf_meta_clear(&m);
        /* A text has a NUL behind it. */
        pf_buffer_clear(&b);
        const size_t n = (size_t)PF_META_MOST_BYTES - 1 + more;
        assert_true(pf_cbor_put_map(&b, 1) && pf_cbor_put_text(&b, "host"));
        assert_true(pf_buffer_append(&b, "\x5a", 1)); /* bytes, with a length of 32 bits */
        for (unsigned i = 4; i-- > 0;)
            assert_true(pf_buffer_append_u8(&b, (uint8_t)(n >> 8 * i)));
        assert_true(pf_buffer_reserve(&b, n));
        memset(b.ptr + b.len, 'x', n);
        b.len += n;
        assert_int_equal(pf_meta_decode((perfile_bytes){b.ptr, b.len}, &m, NULL),
                         more ? PERFILE_E_LIMIT : PERFILE_OK);
        pf_meta_clear(&m);
    }
    pf_buffer_free(&b);
}

/* Members of a set, and counts by type, as a reader sees them. */
static void zones(void **state)
{
    (void)state;
    pf_buffer b = {0};
    pf_zone z = {0};
    for (unsigned more = 0; more < 2; more++) {
        pf_buffer_clear(&b);
        const uint32_t n = PF_ZONE_MOST_COUNTS + more;
        bool ok = pf_cbor_put_map(&b, 2) && pf_cbor_put_uint(&b, 1) && pf_cbor_put_uint(&b, n) &&
                  pf_cbor_put_uint(&b, 4) && pf_cbor_put_map(&b, n);
        for (uint32_t i = 0; i < n && ok; i++)
            ok = pf_cbor_put_uint(&b, i) && pf_cbor_put_uint(&b, 1);
        assert_true(ok);
        assert_int_equal(pf_zone_decode((perfile_bytes){b.ptr, b.len}, &z, NULL),
                         more ? PERFILE_E_CORRUPT : PERFILE_OK);
        assert_int_equal(z.types.known ? z.types.n : 0, more ? 0 : n);
    }
    /* The key of a set of threads is found by encoding one. */
    pf_zone_clear(&z);
    assert_true(pf_zone_set_add(&z.tids, 5));
    z.pids.known = z.cpus.known = false;
    z.records = 1;
    pf_zone_seal(&z);
    pf_buffer_clear(&b);
    assert_int_equal(pf_zone_encode(&z, &b, NULL), PERFILE_OK);
    uint8_t key = 0;
    for (size_t i = 0; i + 2 < b.len && !key; i++)
        if (b.ptr[i + 1] == 0x81 && b.ptr[i + 2] == 5)
            key = b.ptr[i];
    assert_true(key);
    for (unsigned more = 0; more < 2; more++) {
        pf_buffer_clear(&b);
        const uint32_t n = PF_ZONE_MOST_MEMBERS + more;
        bool ok = pf_cbor_put_map(&b, 2) && pf_cbor_put_uint(&b, 1) && pf_cbor_put_uint(&b, n) &&
                  pf_cbor_put_uint(&b, key) && pf_cbor_put_array(&b, n);
        for (uint32_t i = 0; i < n && ok; i++)
            ok = pf_cbor_put_uint(&b, 1);
        assert_true(ok);
        assert_int_equal(pf_zone_decode((perfile_bytes){b.ptr, b.len}, &z, NULL),
                         more ? PERFILE_E_CORRUPT : PERFILE_OK);
        assert_int_equal(z.tids.known ? z.tids.n : 0, more ? 0 : n);
    }
    pf_zone_free(&z);
    pf_buffer_free(&b);
}

static void nested_maps(void **state)
{
    (void)state;
    for (unsigned depth = PF_CBOR_DEPTH; depth <= PF_CBOR_DEPTH + 1; depth++) {
        uint8_t b[PF_CBOR_DEPTH + 2];
        memset(b, 0x81, depth);
        b[depth] = 0;
        pf_cbor c = pf_cbor_begin((perfile_bytes){b, depth + 1});
        pf_cbor_skip(&c);
        assert_int_equal(pf_cbor_finish(&c, "map", NULL),
                         depth > PF_CBOR_DEPTH ? PERFILE_E_CORRUPT : PERFILE_OK);
    }
}

/* The status of `n` reads of 8 bytes for facts, by turns in the `n_chunks` chunks of a file. */
static perfile_status reads_by_turns(unsigned n, unsigned n_chunks, size_t chunk)
{
    perfile_sink *sink = memory_sink();
    pf_pack *p = new_pack(sink);
    for (unsigned i = 0; i < n_chunks; i++) {
        const pf_pack_chunk c = {
            .kind = PF_CHUNK_BYTES, .raw = {zeros(chunk), chunk}, .raw_off = i * (uint64_t)chunk};
        assert_int_equal(pf_pack_put(p, &c, NULL), PERFILE_OK);
    }
    assert_int_equal(pf_pack_finish(p, NULL), PERFILE_OK);
    pf_pack_close(p);
    perfile_source *s = source_of(perfile_sink_bytes(sink)), *image;
    pf_archive a = {0};
    assert_int_equal(pf_archive_read(s, 0, &a, NULL), PERFILE_OK);
    assert_int_equal(pf_archive_image(&a, 0, 0, 0, NULL, NULL, &image, NULL), PERFILE_OK);
    perfile_status st = PERFILE_OK;
    perfile_error err;
    for (unsigned i = 0; i < n && st == PERFILE_OK; i++) {
        perfile_bytes bytes;
        st = pf_source_view(image, i % n_chunks * (uint64_t)chunk + 8 * (i / n_chunks), 8, &bytes,
                            &err);
        assert_true(st != PERFILE_OK || bytes.len >= 8);
    }
    if (st != PERFILE_OK)
        assert_string_equal(err.where, "archive.facts");
    perfile_source_close(image);
    pf_archive_clear(&a);
    perfile_source_close(s);
    perfile_sink_close(sink);
    return st;
}

/* A capture chooses where its attrs, ids and features are: what is decoded for them is bounded by
 * its size, and two chunks as our writer makes them are not decoded again for each of them. */
static void facts_in_many_chunks(void **state)
{
    (void)state;
    assert_int_equal(reads_by_turns(16, 2, 8 << 20), PERFILE_OK);
    assert_int_equal(reads_by_turns(2000, 2, 1 << 20), PERFILE_OK);
    assert_int_equal(reads_by_turns(100, 2, 32 << 20), PERFILE_E_LIMIT);
    assert_int_equal(reads_by_turns(400, 5, 1 << 20), PERFILE_E_LIMIT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_largest_chunks),
        cmocka_unit_test(the_largest_payload),
        cmocka_unit_test(windows_of_frames),
        cmocka_unit_test(an_id_is_not_zero),
        cmocka_unit_test(bytes_for_each_byte),
        cmocka_unit_test(bombs_are_refused),
        cmocka_unit_test(maps_of_captures),
        cmocka_unit_test(the_size_of_an_index),
        cmocka_unit_test(captures_of_an_archive),
        cmocka_unit_test(facts_in_many_chunks),
        cmocka_unit_test(files_of_a_directory),
        cmocka_unit_test(maps),
        cmocka_unit_test(zones),
        cmocka_unit_test(nested_maps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

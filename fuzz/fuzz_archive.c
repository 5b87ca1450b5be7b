/* Any bytes as an archive.  With and without its index no chunk is read twice; chunks and gaps fill
 * the archive; payloads have the length in their headers, and the image shows them.  Then the same
 * bytes are cut into chunks and packed: the archive must return them. */
#include "archive_seal.h"

#include "archive/table.h"
#include "archive/pack.h"
#include "base/checked.h"

enum { MOST_DECODED = 1 << 20 /* per input: larger chunks cost time and find nothing new */ };

static perfile_source *source_of(perfile_bytes bytes)
{
    perfile_source *s;
    ENSURE(perfile_source_memory(bytes, "input", &s, NULL) == PERFILE_OK);
    return s;
}

/* Decodes all chunks.  Returns how many bytes the intact ones of part 0 of source 0 have, or
 * UINT64_MAX if it stopped because there are too many. */
static uint64_t check_chunks(pf_archive *a)
{
    pf_buffer out = {0};
    uint64_t decoded = 0, of_part = 0;
    uint32_t i = 0;
    for (; i < a->n_chunks && decoded < MOST_DECODED; i++) {
        const pf_chunk *c = &a->chunks[i];
        perfile_error err = {0};
        ENSURE(i == 0 || c->offset >= c[-1].offset + pf_chunk_bytes(&c[-1]));
        ENSURE(pf_within(c->offset, pf_chunk_bytes(c), a->source->size));
        pf_buffer_clear(&out);
        const perfile_status st = pf_archive_payload(a, c, &out, &err);
        ENSURE(st == PERFILE_OK || st == PERFILE_E_CORRUPT || st == PERFILE_E_UNSUPPORTED);
        ENSURE(out.len == (st == PERFILE_OK ? c->raw_len : 0));
        decoded += c->raw_len;
        if (st == PERFILE_OK && !c->source && !c->part &&
            (c->kind == PF_CHUNK_BYTES || c->kind == PF_CHUNK_RECORDS))
            of_part += c->raw_len;
        const perfile_status meta = pf_archive_meta(a, c, &out, &err);
        ENSURE(meta == PERFILE_OK || meta == PERFILE_E_CORRUPT);
    }
    pf_buffer_free(&out);
    return i < a->n_chunks ? UINT64_MAX : of_part;
}

static void check_gaps(const pf_archive *a)
{
    for (uint32_t i = 0; i < a->n_gaps; i++) {
        ENSURE(a->gaps[i].bytes && pf_within(a->gaps[i].offset, a->gaps[i].bytes, a->source->size));
        ENSURE(i == 0 || a->gaps[i].offset > a->gaps[i - 1].offset + a->gaps[i - 1].bytes);
    }
}

/* Reads the image from its beginning as far as possible; returns the number of bytes. */
static uint64_t check_image(pf_archive *a, perfile_bytes *shown)
{
    const perfile_source_options options = {.size = sizeof options};
    perfile_source *image;
    uint64_t at = 0;
    if (pf_archive_image(a, 0, 0, 0, NULL, &options, &image, NULL) != PERFILE_OK)
        return 0;
    while (at < MOST_DECODED) {
        perfile_bytes run;
        if (pf_source_run(image, at, 1, &run, NULL) != PERFILE_OK || run.len == 0)
            break;
        ENSURE(run.len <= image->size - at);
        if (shown) {
            ENSURE(run.len <= shown->len && memcmp(run.ptr, shown->ptr, run.len) == 0);
            shown->ptr += run.len;
            shown->len -= run.len;
        }
        at += run.len;
    }
    perfile_source_close(image);
    return at;
}

static void check(perfile_bytes bytes, unsigned flags)
{
    perfile_source *s = source_of(bytes);
    pf_archive a = {0};
    if (pf_archive_read(s, flags, &a, NULL) == PERFILE_OK) {
        const uint64_t most = check_chunks(&a);
        check_gaps(&a);
        const uint64_t shown = check_image(&a, NULL);
        ENSURE(shown <= most);
    }
    pf_archive_clear(&a);
    perfile_source_close(s);
}

/* Packs the bytes in chunks of `step` and reads them again. */
static void check_round_trip(perfile_bytes bytes, size_t step, bool finish)
{
    const pf_pack_options options = {.id = 1, .level = 1};
    perfile_sink *sink;
    pf_pack *p;
    ENSURE(perfile_sink_memory("packed", &sink, NULL) == PERFILE_OK);
    ENSURE(pf_pack_new(sink, &options, &p, NULL) == PERFILE_OK);
    for (size_t at = 0; at < bytes.len; at += step) {
        const size_t n = bytes.len - at < step ? bytes.len - at : step;
        const pf_pack_chunk c = {.kind = PF_CHUNK_BYTES,
                                 .raw_off = at,
                                 .raw = {bytes.ptr + at, n},
                                 .meta = {bytes.ptr, n % 32}};
        ENSURE(pf_pack_put(p, &c, NULL) == PERFILE_OK);
    }
    ENSURE(!finish || pf_pack_finish(p, NULL) == PERFILE_OK);
    pf_pack_close(p);
    perfile_source *s = source_of(perfile_sink_bytes(sink));
    pf_archive a = {0};
    ENSURE(pf_archive_read(s, 0, &a, NULL) == PERFILE_OK);
    ENSURE(a.from_index == finish && a.n_gaps == 0);
    ENSURE(check_chunks(&a) == bytes.len);
    perfile_bytes left = bytes;
    ENSURE(check_image(&a, &left) == bytes.len);
    pf_archive_clear(&a);
    perfile_source_close(s);
    perfile_sink_close(sink);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    choices c = {data, size};
    const size_t step = 1 + (size_t)choose(&c, 1) * 16;
    const perfile_bytes bytes = {data, c.left};
    if (size > MOST_DECODED)
        return 0;
    check(bytes, 0);
    check(bytes, PF_ARCHIVE_NO_INDEX);
    uint8_t *sealed = archive_sealed(bytes);
    check((perfile_bytes){sealed, bytes.len}, 0);
    check((perfile_bytes){sealed, bytes.len}, PF_ARCHIVE_NO_INDEX);
    free(sealed);
    if (step / 16 % 4 == 0 &&
        bytes.len / step < 256) /* not always: it is slower than everything above */
        check_round_trip(bytes, step, bytes.len & 1);
    return 0;
}

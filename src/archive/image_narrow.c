/* Reading the records that are apart of a chunk, by its zone and the partial decoder.
 *
 * A chunk of which more is needed, or that says nothing of itself, or whose parts cannot be
 * decoded, is read completely: by not narrowing it nothing can be lost. */
#include "archive/image_narrow.h"

#include <string.h>

#include "archive/zone.h"
#include "base/alloc.h"

enum { NOT_KNOWN = 0, ALL, APART, WORDS };

void pf_image_narrow_begin(pf_image_narrow *x, pf_archive *a, const pf_chunk *const *chunks,
                           uint32_t n, const pf_narrow *how)
{
    pf_free(x->needs);
    x->needs = how && !how->needs ? NULL : pf_alloc(n, sizeof *x->needs);
    x->on = x->needs != NULL;
    x->how = how;
    x->archive = a;
    x->chunks = chunks;
    x->n_chunks = n;
    x->decoded = UINT32_MAX;
}

void pf_image_narrow_free(pf_image_narrow *x)
{
    pf_free(x->needs);
    pf_buffer_free(&x->bytes);
    pf_buffer_free(&x->ranges);
    pf_buffer_free(&x->meta);
    pf_zone_free(&x->zone);
}

/* Asks what is needed of a chunk. */
static uint8_t decide(pf_image_narrow *x, const pf_chunk *c)
{
    pf_buffer_clear(&x->meta);
    if (c->kind != PF_CHUNK_RECORDS || !c->meta_len ||
        pf_archive_meta(x->archive, c, &x->meta, NULL) != PERFILE_OK ||
        pf_zone_decode((perfile_bytes){x->meta.ptr, x->meta.len}, &x->zone, NULL) != PERFILE_OK ||
        !x->zone.has_apart || (c->codec != PF_CODEC_COLUMNS && x->zone.apart))
        return ALL;
    if (!x->how)
        return pf_zone_only_samples(&x->zone) ? APART : ALL;
    switch (x->how->needs(x->how->user, &x->zone)) {
    case PF_NEED_APART:
        return APART;
    case PF_NEED_WORDS:
        x->words = x->how->words;
        return c->codec == PF_CODEC_COLUMNS ? WORDS : ALL;
    default:
        return ALL;
    }
}

/* Decodes the records of chunk `i` that are apart; false: it cannot be. */
static bool decode_apart(pf_image_narrow *x, uint32_t i)
{
    const pf_chunk *c = x->chunks[i];
    pf_buffer_clear(&x->ranges);
    pf_buffer_clear(&x->bytes);
    x->decoded = UINT32_MAX;
    x->cursor = 0;
    if (x->zone.apart) {
        if (pf_archive_apart(x->archive, c, &x->bytes, &x->ranges, &x->n_records, NULL) !=
            PERFILE_OK)
            return false;
    } else {
        x->n_records = x->zone.records;
    }
    x->decoded = i;
    return true;
}

/* True if only records that are apart are shown of chunk `i`, which is decoded then. */
static bool is_apart(pf_image_narrow *x, uint32_t i, uint64_t offset)
{
    if (!x->on || i >= x->n_chunks || offset < x->chunks[i]->raw_off)
        return false;
    if (x->needs[i] == NOT_KNOWN) {
        x->needs[i] = decide(x, x->chunks[i]);
        if (x->needs[i] == APART && !decode_apart(x, i))
            x->needs[i] = ALL;
    }
    return x->needs[i] == APART && x->decoded == i;
}

/* Moves to the first range that ends behind `at`; readers go forward. */
static const pf_columns_range *find_range(pf_image_narrow *x, uint64_t at)
{
    const pf_columns_range *r = (const pf_columns_range *)(const void *)x->ranges.ptr;
    const size_t n = x->ranges.len / sizeof *r;
    if (x->cursor && (uint64_t)r[x->cursor - 1].offset + r[x->cursor - 1].bytes > at)
        x->cursor = 0;
    while (x->cursor < n && (uint64_t)r[x->cursor].offset + r[x->cursor].bytes <= at)
        x->cursor++;
    return x->cursor < n ? &r[x->cursor] : NULL;
}

bool pf_image_absent(pf_image_narrow *x, uint32_t i, uint64_t offset, pf_absent *out)
{
    if (!is_apart(x, i, offset))
        return false;
    const uint64_t at = offset - x->chunks[i]->raw_off;
    const pf_columns_range *r = find_range(x, at);
    const pf_columns_range none = {0};
    const pf_columns_range *all = (const pf_columns_range *)(const void *)x->ranges.ptr;
    const pf_columns_range *before = x->cursor ? &all[x->cursor - 1] : &none;
    const uint64_t begin = (uint64_t)before->offset + before->bytes;
    const uint64_t first = (uint64_t)before->first + before->records;
    const uint64_t end = r ? r->offset : x->chunks[i]->raw_len;
    const uint64_t last = r ? r->first : x->n_records;
    if (at != begin || at >= end)
        return false; /* among records that are shown, or at no record */
    *out = (pf_absent){end - at, last - first};
    return true;
}

bool pf_image_words(const pf_image_narrow *x, uint32_t i, uint64_t *words)
{
    *words = x->words;
    return x->on && x->needs[i] == WORDS;
}

bool pf_image_shows(pf_image_narrow *x, uint32_t i, uint64_t offset, perfile_bytes *run)
{
    if (!x->on || i >= x->n_chunks || offset < x->chunks[i]->raw_off)
        return false;
    const uint64_t at = offset - x->chunks[i]->raw_off;
    const pf_columns_range *r = x->needs[i] == APART && x->decoded == i ? find_range(x, at) : NULL;
    if (!r || r->offset > at) {
        if (x->needs[i] != WORDS)
            x->needs[i] = ALL;
        return false;
    }
    *run = (perfile_bytes){x->bytes.ptr + at, (size_t)(r->offset + (uint64_t)r->bytes - at)};
    return true;
}

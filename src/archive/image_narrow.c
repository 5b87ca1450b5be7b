/* Reading the records of a chunk that are apart, by its zone and the partial decoder.
 *
 * A chunk of which more is needed, or that says nothing of itself, or whose parts cannot be
 * decoded, is read completely: by not narrowing it nothing can be lost. */
#include "archive/image.h"

#include <string.h>

#include "archive/zone.h"
#include "base/alloc.h"

enum { NOT_KNOWN = 0, ALL, NOTHING, APART, STORED, STORED_APART };

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

/* True if the payload is what was stored, by its checksum.  Nothing is decoded. */
static bool is_sound(pf_image_narrow *x, const pf_chunk *c)
{
    perfile_bytes stored;
    return pf_archive_stored(x->archive, c, &stored, NULL) == PERFILE_OK;
}

/* True if the chunk can be copied to another archive as it is: it holds what its zone says, and
 * nothing that this library does not know. */
static bool can_be_moved(pf_image_narrow *x, const pf_chunk *c)
{
    return x->zone.types.has_bytes && pf_zone_bytes(&x->zone) == c->raw_len &&
           pf_zone_plain_samples(&x->zone) && !x->archive->head.may &&
           pf_chunk_codec_name(c->codec) && is_sound(x, c);
}

/* Asks the reader what is needed of the chunk that `zone` is of. */
static uint8_t ask(pf_image_narrow *x, const pf_chunk *c, uint64_t sequence)
{
    switch (x->how->needs(x->how->user, &x->zone, sequence)) {
    case PF_NEED_NOTHING:
        return NOTHING;
    case PF_NEED_APART:
        return APART;
    case PF_NEED_COUNTED:
        return is_sound(x, c) ? APART : ALL;
    case PF_NEED_STORED:
        return can_be_moved(x, c) ? STORED : ALL;
    case PF_NEED_STORED_APART:
        return can_be_moved(x, c) ? STORED_APART : ALL;
    default:
        return ALL;
    }
}

/* Finds out what is needed of a chunk, at whose first byte the reader is. */
static uint8_t decide(pf_image_narrow *x, const pf_chunk *c, uint64_t sequence)
{
    pf_buffer_clear(&x->meta);
    if (c->kind != PF_CHUNK_RECORDS || !c->meta_len ||
        pf_archive_zone(x->archive, c, &x->meta, NULL) != PERFILE_OK ||
        pf_zone_decode((perfile_bytes){x->meta.ptr, x->meta.len}, &x->zone, NULL) != PERFILE_OK ||
        !x->zone.has_apart || (c->codec != PF_CODEC_COLUMNS && x->zone.apart))
        return ALL;
    if (!x->how)
        return pf_zone_only_samples(&x->zone) ? APART : ALL;
    return ask(x, c, sequence);
}

/* Decodes the records of chunk `i` that are needed, if any are; false: it cannot be. */
static bool decode_needed(pf_image_narrow *x, uint32_t i)
{
    const pf_chunk *c = x->chunks[i];
    perfile_status st = PERFILE_OK;
    pf_buffer_clear(&x->ranges);
    pf_buffer_clear(&x->bytes);
    x->decoded = UINT32_MAX;
    x->cursor = 0;
    x->n_records = x->zone.records;
    if (x->zone.apart && x->needs[i] != NOTHING)
        st = pf_archive_apart(x->archive, c, &x->bytes, &x->ranges, &x->n_records, NULL);
    if (st == PERFILE_OK)
        x->decoded = i;
    return st == PERFILE_OK;
}

/* True if of chunk `i` only some records are shown, which are decoded then, or none. */
static bool is_narrow(pf_image_narrow *x, uint32_t i, uint64_t offset, uint64_t sequence)
{
    if (!x->on || i >= x->n_chunks || offset < x->chunks[i]->raw_off)
        return false;
    if (x->needs[i] == NOT_KNOWN) {
        /* Who enters a chunk in its middle needs it: the reader is asked of whole ranges. */
        const bool begins = !x->how || offset == x->chunks[i]->raw_off;
        x->decoded = UINT32_MAX;
        x->needs[i] = begins ? decide(x, x->chunks[i], sequence) : ALL;
        const uint8_t need = x->needs[i];
        if (need != ALL && need != STORED && !decode_needed(x, i))
            x->needs[i] = ALL;
        if (x->needs[i] == STORED)
            x->decoded = i;
    }
    const uint8_t need = x->needs[i];
    return need != ALL && x->decoded == i;
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

bool pf_image_absent(pf_image_narrow *x, uint32_t i, uint64_t offset, uint64_t sequence,
                     pf_absent *out)
{
    if (!is_narrow(x, i, offset, sequence))
        return false;
    const pf_chunk *c = x->chunks[i];
    const uint64_t at = offset - c->raw_off;
    if (x->needs[i] == STORED || x->needs[i] == STORED_APART) {
        const bool all = x->needs[i] == STORED;
        *out = (pf_absent){.bytes = all ? c->raw_len : 0,
                           .records = all ? x->zone.records : 0,
                           .zone = &x->zone,
                           .archive = x->archive,
                           .chunk = c};
        if (!all)
            x->needs[i] = APART; /* it is given once */
        return at == 0;
    }
    const pf_columns_range *r = find_range(x, at);
    const pf_columns_range none = {0};
    const pf_columns_range *all = (const pf_columns_range *)(const void *)x->ranges.ptr;
    const pf_columns_range *before = x->cursor ? &all[x->cursor - 1] : &none;
    const uint64_t begin = (uint64_t)before->offset + before->bytes;
    const uint64_t first = (uint64_t)before->first + before->records;
    const uint64_t end = r ? r->offset : c->raw_len;
    const uint64_t last = r ? r->first : x->n_records;
    if (at != begin || at >= end)
        return false; /* among records that are shown, or at no record */
    *out = (pf_absent){.bytes = end - at, .records = last - first, .zone = &x->zone};
    return true;
}

bool pf_image_shows(pf_image_narrow *x, uint32_t i, uint64_t offset, perfile_bytes *run)
{
    if (!x->on || i >= x->n_chunks || offset < x->chunks[i]->raw_off)
        return false;
    const uint64_t at = offset - x->chunks[i]->raw_off;
    const bool some = x->needs[i] == APART && x->decoded == i;
    const pf_columns_range *r = some ? find_range(x, at) : NULL;
    if (!r || r->offset > at) {
        x->needs[i] = ALL;
        return false;
    }
    const size_t within = (size_t)(at - r->offset);
    *run = (perfile_bytes){x->bytes.ptr + r->at + within, r->bytes - within};
    return true;
}

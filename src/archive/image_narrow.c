/* Reading some records of a chunk, such as those that are apart, by its zone and the partial
 * decoder.
 *
 * A chunk of which more is needed, or that says nothing of itself, or whose parts cannot be
 * decoded, is read completely: by not narrowing it nothing can be lost. */
#include "archive/image_narrow.h"

#include <string.h>

#include "archive/zone.h"
#include "base/alloc.h"

_Static_assert((int)PF_NARROW_ROW_WORDS == (int)PF_COLUMNS_ROW_WORDS &&
                   (int)PERFILE_RUN_RECORDS == (int)PF_COLUMNS_MOST_ROWS,
               "rows are passed on as they come");

enum { NOT_KNOWN = 0, ALL, NOTHING, APART, SOME, WORDS, STORED, STORED_APART };

void pf_image_narrow_begin(pf_image_narrow *x, pf_archive *a, const pf_chunk *const *chunks,
                           uint32_t n, const pf_narrow *how, pf_buffer *whole)
{
    pf_free(x->needs);
    x->needs = how && !how->needs ? NULL : pf_alloc(n, sizeof *x->needs);
    x->on = x->needs != NULL;
    x->how = how;
    x->archive = a;
    x->whole = whole;
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

/* Rows on their way to the reader. */
typedef struct rows_out {
    const pf_narrow *how;
    uint64_t sequence; /* of the first record of the chunk */
} rows_out;

static void show_rows(void *user, size_t first, size_t n, const uint64_t *rows)
{
    const rows_out *x = user;
    x->how->rows(x->how->user, x->sequence + first, n, rows);
}

/* Gives the reader rows of the chunk; returns what else is needed, `then` if it has them. */
static uint8_t give_rows(pf_image_narrow *x, const pf_chunk *c, uint64_t sequence, uint8_t then)
{
    rows_out out = {x->how, sequence};
    const pf_columns_rows want = {
        .words = x->how->row.words, .least = x->how->row.least, .show = show_rows, .user = &out};
    x->words = x->how->words;
    if (c->codec != PF_CODEC_COLUMNS || !is_sound(x, c))
        return ALL;
    const perfile_status st = pf_archive_rows(x->archive, c, &want, NULL);
    return st == PERFILE_OK ? then : st == PERFILE_E_UNSUPPORTED ? WORDS : ALL;
}

/* Asks the reader what is needed of the chunk that `zone` is of. */
static uint8_t ask(pf_image_narrow *x, const pf_chunk *c, uint64_t sequence)
{
    switch (x->how->needs(x->how->user, &x->zone, sequence)) {
    case PF_NEED_NOTHING:
        return NOTHING;
    case PF_NEED_APART:
        return APART;
    case PF_NEED_WORDS:
        x->words = x->how->words;
        return c->codec == PF_CODEC_COLUMNS ? WORDS : ALL;
    case PF_NEED_SOME:
        x->span = x->how->span;
        return c->codec == PF_CODEC_COLUMNS && x->span.end && is_sound(x, c) ? SOME : ALL;
    case PF_NEED_ROWS:
        return give_rows(x, c, sequence, NOTHING);
    case PF_NEED_ROWS_APART:
        return give_rows(x, c, sequence, APART);
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

void pf_image_narrow_forget(pf_image_narrow *x)
{
    if (x->on && x->decoded < x->n_chunks && x->needs[x->decoded] == SOME)
        x->decoded = UINT32_MAX;
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
    if (x->needs[i] == SOME) {
        pf_buffer_clear(x->whole);
        st = pf_archive_some(x->archive, c, &x->span, x->whole, &x->ranges, &x->n_records, NULL);
        pf_buffer_clear(x->whole); /* the image has nothing there; the bytes stay */
    } else if (x->zone.apart && x->needs[i] != NOTHING) {
        st = pf_archive_apart(x->archive, c, &x->bytes, &x->ranges, &x->n_records, NULL);
    }
    x->shown = x->needs[i] == SOME ? x->whole->ptr : x->bytes.ptr;
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
        if (need != ALL && need != WORDS && need != STORED && !decode_needed(x, i))
            x->needs[i] = ALL;
        if (x->needs[i] == STORED)
            x->decoded = i;
    }
    const uint8_t need = x->needs[i];
    return need != ALL && need != WORDS && x->decoded == i;
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
    const bool some = x->needs[i] == APART || x->needs[i] == SOME;
    const pf_columns_range *r = some && x->decoded == i ? find_range(x, at) : NULL;
    if (!r || r->offset > at) {
        if (x->needs[i] != WORDS)
            x->needs[i] = ALL;
        return false;
    }
    const size_t within = (size_t)(at - r->offset);
    *run = (perfile_bytes){x->shown + r->at + within, r->bytes - within};
    return true;
}

/* The chunks of an archive by capture and part, and how much they may hold.
 *
 * Chunks lie in the archive in any order.  Who wants those of a capture, or of a part, must not
 * look through all of them for each: an archive can have 65536 captures of 65536 parts.  So they
 * are sorted once, when the table is read.
 *
 * What a chunk holds costs time, whatever it needs in the archive.  Maps are parsed, which is the
 * slowest of all: what they may hold together is bounded by the bytes of the archive. */
#include <stdlib.h>

#include "archive/table.h"
#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"

enum {
    MAPS_LEAST = 16 << 20, /* bytes of maps that any archive may have … */
    MAPS_RATIO = 64        /* … and for each of its bytes */
};

enum { RANK_META, RANK_PART, RANK_OTHER, RANKS };

static int rank_of(const pf_chunk *c)
{
    if (c->kind == PF_CHUNK_META)
        return RANK_META;
    return c->kind == PF_CHUNK_RECORDS || c->kind == PF_CHUNK_BYTES ? RANK_PART : RANK_OTHER;
}

/* qsort() order: by capture, rank, part, place, offset; META only by capture and offset. */
static int compare(const void *a, const void *b)
{
    const pf_chunk *x = *(const pf_chunk *const *)a, *y = *(const pf_chunk *const *)b;
    const int rank = rank_of(x);
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (rank != rank_of(y))
        return rank < rank_of(y) ? -1 : 1;
    if (rank != RANK_META && x->part != y->part)
        return x->part < y->part ? -1 : 1;
    if (rank != RANK_META && x->raw_off != y->raw_off)
        return x->raw_off < y->raw_off ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

perfile_status pf_archive_sort(pf_archive *a, perfile_error *err)
{
    uint64_t most, maps = 0;
    a->order = pf_alloc(a->n_chunks, sizeof *a->order);
    if (!a->order)
        return pf_fail_nomem(err, "archive");
    if (__builtin_mul_overflow(a->source->size, MAPS_RATIO, &most) ||
        pf_add_u64(most, MAPS_LEAST, &most))
        most = UINT64_MAX;
    a->maps_end = UINT64_MAX;
    for (uint32_t i = 0; i < a->n_chunks; i++) {
        const pf_chunk *c = &a->chunks[i];
        a->order[i] = c;
        maps += c->kind == PF_CHUNK_META ? c->raw_len : 0;
        if (maps > most && a->maps_end == UINT64_MAX)
            a->maps_end = c->offset;
    }
    if (a->n_chunks)
        qsort(a->order, a->n_chunks, sizeof *a->order, compare);
    return PERFILE_OK;
}

/* The first chunk that is not in front of (source, rank, part); `rank` RANKS: behind the capture.
 */
static uint32_t first_of(const pf_archive *a, uint16_t source, int rank, uint16_t part)
{
    uint32_t low = 0, high = a->n_chunks;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        const pf_chunk *c = a->order[middle];
        const int r = rank_of(c);
        const bool in_front = c->source != source ? c->source < source
                              : r != rank         ? r < rank
                                                  : r != RANK_META && c->part < part;
        if (in_front)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static pf_archive_span span(const pf_archive *a, uint32_t first, uint32_t end)
{
    return (pf_archive_span){a->order + first, end - first};
}

pf_archive_span pf_archive_of_capture(const pf_archive *a, uint16_t source)
{
    return span(a, first_of(a, source, RANK_META, 0), first_of(a, source, RANKS, 0));
}

pf_archive_span pf_archive_metas(const pf_archive *a, uint16_t source)
{
    return span(a, first_of(a, source, RANK_META, 0), first_of(a, source, RANK_PART, 0));
}

pf_archive_span pf_archive_of_parts(const pf_archive *a, uint16_t source)
{
    return span(a, first_of(a, source, RANK_PART, 0), first_of(a, source, RANKS, 0));
}

pf_archive_span pf_archive_of_part(const pf_archive *a, uint16_t source, uint16_t part)
{
    const uint32_t end = part < UINT16_MAX ? first_of(a, source, RANK_PART, (uint16_t)(part + 1))
                                           : first_of(a, source, RANK_OTHER, 0);
    return span(a, first_of(a, source, RANK_PART, part), end);
}

uint32_t pf_archive_find_capture(const pf_archive *a, uint32_t wanted, uint16_t *source)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < a->n_chunks && n < wanted; i = first_of(a, *source, RANKS, 0)) {
        *source = a->order[i]->source;
        n++;
    }
    return n;
}

perfile_status pf_archive_check_ratio(const pf_archive *a, uint64_t decoded, perfile_error *err)
{
    const perfile_limits *l = &a->source->limits;
    uint64_t most;
    if (l->inflate_ratio == UINT64_MAX ||
        __builtin_mul_overflow(a->source->size, l->inflate_ratio, &most) ||
        pf_add_u64(most, l->inflate_bytes, &most) || decoded <= most)
        return PERFILE_OK;
    return pf_fail(err, PERFILE_E_LIMIT, "inflate_ratio",
                   "%llu bytes of archive hold %llu: more than %llu for each, beyond %llu",
                   (unsigned long long)a->source->size, (unsigned long long)decoded,
                   (unsigned long long)l->inflate_ratio, (unsigned long long)l->inflate_bytes);
}

perfile_status pf_archive_map_fits(const pf_archive *a, const pf_chunk *c, perfile_error *err)
{
    if (c->offset < a->maps_end)
        return PERFILE_OK;
    perfile_status st = pf_fail(err, PERFILE_E_LIMIT, "archive.maps",
                                "what the archive says of its captures has more than %d bytes, and "
                                "%d for each of its own",
                                MAPS_LEAST, MAPS_RATIO);
    pf_error_at(err, c->offset);
    return st;
}

perfile_status pf_archive_map(pf_archive *a, const pf_chunk *c, pf_buffer *out, perfile_error *err)
{
    perfile_status st = pf_archive_map_fits(a, c, err);
    return st == PERFILE_OK ? pf_archive_payload(a, c, out, err) : st;
}

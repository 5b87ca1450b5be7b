/* Chunks are sorted by capture, part and place in it; then neighbours are compared. */
#include "archive/list.h"

#include <stdlib.h>

#include "base/alloc.h"
#include "base/error.h"

typedef struct sorted {
    const pf_chunk **at; /* RECORDS and BYTES that are not empty */
    uint32_t n;
} sorted;

static uint64_t end_of(const pf_chunk *c)
{
    return c->raw_off + c->raw_len;
}

static bool same_part(const pf_chunk *a, const pf_chunk *b)
{
    return a->source == b->source && a->part == b->part;
}

/* qsort() order: by capture, part, place; of the same place the one in front first. */
static int compare(const void *a, const void *b)
{
    const pf_chunk *x = *(const pf_chunk *const *)a, *y = *(const pf_chunk *const *)b;
    if (x->source != y->source)
        return x->source < y->source ? -1 : 1;
    if (x->part != y->part)
        return x->part < y->part ? -1 : 1;
    if (x->raw_off != y->raw_off)
        return x->raw_off < y->raw_off ? -1 : 1;
    return (x->offset > y->offset) - (x->offset < y->offset);
}

static perfile_status sort_chunks(const perfile_archive *a, const bool *leave_out, sorted *s,
                                  perfile_error *err)
{
    const pf_archive *t = &a->table;
    *s = (sorted){.at = pf_alloc(t->n_chunks, sizeof *s->at)};
    if (!s->at)
        return pf_fail_nomem(err, "archive");
    for (uint32_t i = 0; i < t->n_chunks; i++) {
        const pf_chunk *c = &t->chunks[i];
        if ((c->kind == PF_CHUNK_RECORDS || c->kind == PF_CHUNK_BYTES) && c->raw_len &&
            !(leave_out && leave_out[i]))
            s->at[s->n++] = c;
    }
    if (s->n)
        qsort(s->at, s->n, sizeof *s->at, compare);
    return PERFILE_OK;
}

perfile_status pf_cover_twice(const perfile_archive *a, bool *leave_out, pf_cover_fn *twice,
                              void *user, perfile_error *err)
{
    const pf_chunk *first = a->table.chunks, *kept = NULL;
    sorted s;
    perfile_status st = sort_chunks(a, leave_out, &s, err);
    for (uint32_t i = 0; i < s.n; i++) {
        const pf_chunk *c = s.at[i];
        if (!kept || !same_part(kept, c) || c->raw_off >= end_of(kept)) {
            kept = c;
            continue;
        }
        const uint64_t end = end_of(c) < end_of(kept) ? end_of(c) : end_of(kept);
        const pf_chunk *front = c < kept ? c : kept, *behind = c < kept ? kept : c;
        const pf_cover_range range = {.source = c->source,
                                      .part = c->part,
                                      .offset = c->raw_off,
                                      .bytes = end - c->raw_off,
                                      .chunk = (uint32_t)(behind - first),
                                      .other = (uint32_t)(front - first)};
        leave_out[range.chunk] = true;
        twice(user, &range);
        kept = front;
    }
    pf_free(s.at);
    return st;
}

static void tell_hole(uint16_t source, uint16_t part, uint64_t from, uint64_t to, pf_cover_fn *hole,
                      void *user)
{
    const pf_cover_range range = {.source = source,
                                  .part = part,
                                  .offset = from,
                                  .bytes = to - from,
                                  .chunk = UINT32_MAX,
                                  .other = UINT32_MAX};
    if (to > from)
        hole(user, &range);
}

/* The size of a part that the metadata say, or `end`. */
static uint64_t size_of(const pf_meta *m, uint16_t part, uint64_t end)
{
    const pf_meta_part *p = pf_meta_part_of(m, part);
    return p && p->has_size ? p->size : end;
}

/* True if one of `n` chunks, which are sorted by part, is of this part. */
static bool has_part(const pf_chunk *const *at, uint32_t n, uint16_t part)
{
    uint32_t low = 0, high = n;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (at[middle]->part < part)
            low = middle + 1;
        else
            high = middle;
    }
    return low < n && at[low]->part == part;
}

/* The holes of one capture, whose chunks are s->at[*i] and following. */
static void holes_of(const sorted *s, uint32_t *i, uint16_t source, const pf_meta *m,
                     pf_cover_fn *hole, void *user)
{
    uint32_t k = *i;
    while (k < s->n && s->at[k]->source == source) {
        const uint16_t part = s->at[k]->part;
        uint64_t end = 0;
        for (; k < s->n && s->at[k]->source == source && s->at[k]->part == part; k++) {
            tell_hole(source, part, end, s->at[k]->raw_off, hole, user);
            end = end_of(s->at[k]) > end ? end_of(s->at[k]) : end;
        }
        tell_hole(source, part, end, size_of(m, part, end), hole, user);
    }
    for (uint32_t p = 0; p < m->n_parts; p++) {
        const uint16_t part = (uint16_t)m->parts[p].number;
        if (!has_part(&s->at[*i], k - *i, part))
            tell_hole(source, part, 0, size_of(m, part, 0), hole, user);
    }
    *i = k;
}

perfile_status pf_cover_holes(perfile_archive *a, const bool *leave_out, pf_cover_fn *hole,
                              void *user, perfile_error *err)
{
    sorted s;
    uint32_t i = 0;
    perfile_status st = sort_chunks(a, leave_out, &s, err);
    for (uint32_t k = 0; k < a->n_captures && st == PERFILE_OK; k++) {
        pf_meta m = {0};
        st = pf_archive_read_meta(a, a->numbers[k], &m, err);
        if (st == PERFILE_OK)
            holes_of(&s, &i, a->numbers[k], &m, hole, user);
        pf_meta_clear(&m);
    }
    pf_free(s.at);
    return st;
}

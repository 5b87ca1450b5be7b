/* Checking an INDEX against the chunks in front of it, which were found one by one, and an END
 * against the INDEX. */
#include <string.h>

#include "archive/list.h"
#include "base/byte_order.h"

enum { OFFSET_AT = 8 /* of its own offset in the header of a chunk */ };

static void tell(pf_verify *v, const pf_chunk *index, const char *what, uint64_t offset)
{
    pf_verify_tell(v, PERFILE_RULE_V_709, PERFILE_SEVERITY_ERROR, index, false, "%s %llu", what,
                   (unsigned long long)offset);
}

/* True if there is no chunk at `offset` because its header is damaged. */
static bool in_gap(const pf_archive *w, uint64_t offset)
{
    uint32_t low = 0, high = w->n_gaps; /* the last gap that begins at or in front of it */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (w->gaps[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low && offset - w->gaps[low - 1].offset < w->gaps[low - 1].bytes;
}

/* True if the entry is header and metadata of the chunk; metadata that are damaged where the chunk
 * stands are not compared. */
static perfile_status compare_entry(pf_verify *v, const pf_chunk *c, const uint8_t *entry,
                                    bool *same, perfile_error *err)
{
    uint8_t header[PF_ARCHIVE_HEADER];
    pf_chunk_encode(c, header);
    *same = memcmp(header, entry, sizeof header) == 0;
    pf_buffer_clear(&v->meta);
    perfile_status st = pf_archive_meta(&v->walked, c, &v->meta, err);
    if (st == PERFILE_E_CORRUPT)
        return PERFILE_OK;
    if (st == PERFILE_OK && *same && c->meta_len)
        *same = memcmp(v->meta.ptr, entry + PF_ARCHIVE_HEADER, c->meta_len) == 0;
    return st;
}

/* One entry; *n are its bytes, 0 if it is none. */
static perfile_status check_entry(pf_verify *v, const pf_chunk *index, perfile_bytes entry,
                                  size_t *n, perfile_error *err)
{
    const pf_archive *w = &v->walked;
    pf_chunk c;
    bool same = true;
    *n = 0;
    if (entry.len < PF_ARCHIVE_HEADER)
        return PERFILE_OK;
    const uint64_t offset = pf_load_u64(entry.ptr + OFFSET_AT, PF_NATIVE_BIG);
    if (!pf_chunk_decode(entry.ptr, offset, w->head.id, &c) ||
        entry.len - PF_ARCHIVE_HEADER < pf_chunk_meta_bytes(&c))
        return PERFILE_OK;
    *n = PF_ARCHIVE_HEADER + (size_t)pf_chunk_meta_bytes(&c);
    for (; v->named < w->n_chunks && w->chunks[v->named].offset < offset &&
           w->chunks[v->named].offset < index->offset;
         v->named++)
        tell(v, index, "the index does not name the chunk at", w->chunks[v->named].offset);
    if (v->named == w->n_chunks || w->chunks[v->named].offset != offset) {
        if (!in_gap(w, offset))
            tell(v, index, "the index names a chunk that is not there, at", offset);
        return PERFILE_OK;
    }
    perfile_status st = compare_entry(v, &w->chunks[v->named++], entry.ptr, &same, err);
    if (st == PERFILE_OK && !same)
        tell(v, index, "the index has another header or other metadata than the chunk at", offset);
    return st;
}

perfile_status pf_verify_index(pf_verify *v, const pf_chunk *c, perfile_error *err)
{
    perfile_bytes left = {v->payload.ptr, v->payload.len};
    perfile_status st = PERFILE_OK;
    if (c->raw_off != v->last_index)
        tell(v, c, "the index names another one in front of it than that at", v->last_index);
    while (left.len && st == PERFILE_OK) {
        size_t n;
        st = check_entry(v, c, left, &n, err);
        if (st == PERFILE_OK && n == 0) {
            tell(v, c, "what the index has is no header, at its byte", v->payload.len - left.len);
            return PERFILE_OK;
        }
        left.ptr += n;
        left.len -= n;
    }
    for (; st == PERFILE_OK && v->named < v->walked.n_chunks &&
           v->walked.chunks[v->named].offset < c->offset;
         v->named++)
        tell(v, c, "the index does not name the chunk at", v->walked.chunks[v->named].offset);
    return st;
}

void pf_verify_end(pf_verify *v, const pf_chunk *c)
{
    if (c->raw_off != v->last_index)
        tell(v, c, "the end names another index than that at", v->last_index);
}

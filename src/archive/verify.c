/* pf_archive_verify(): compares everything that an archive says about itself with its content.
 *
 * Headers are found by scanning, even if the archive was opened by its index.  So each header is
 * read, and bytes that belong to no chunk are found.  The chunks that are checked are those of the
 * handle.  Chunks, gaps and indexes are checked in the order of the archive. */
#include "archive/table.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/byte_order.h"
#include "base/checked.h"
#include "schema/rows.h"
#include "archive/command.h"

enum { TEXT = 512 };

static uint32_t position_of(const perfile_archive *a, const pf_chunk *c)
{
    uint32_t low = 0, high = a->table.n_chunks;
    while (c && low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (a->table.chunks[middle].offset < c->offset)
            low = middle + 1;
        else
            high = middle;
    }
    return c && low < a->table.n_chunks && a->table.chunks[low].offset == c->offset ? low
                                                                                    : UINT32_MAX;
}

static bool is_of_part(const pf_chunk *c)
{
    return c->kind == PF_CHUNK_RECORDS || c->kind == PF_CHUNK_BYTES;
}

void pf_verify_tell(pf_verify *v, unsigned rule, unsigned severity, const pf_chunk *c, bool is_lost,
                    const char *format, ...)
{
    char text[TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    perfile_archive_finding f = {.rule = rule,
                                 .severity = (uint8_t)severity,
                                 .offset = c ? c->offset : PERFILE_NO_OFFSET,
                                 .chunk = position_of(v->a, c),
                                 .message = text};
    if (c && is_of_part(c)) {
        f.is_lost = is_lost;
        f.capture = pf_archive_capture_of(v->a, c->source);
        f.part = c->part;
        f.part_offset = c->raw_off;
        f.part_bytes = c->raw_len;
    }
    v->finding(v->user, &f);
}

/* Reports a failure of a chunk (corrupt or unsupported).  Returns all other errors. */
static perfile_status tell_failure(pf_verify *v, const pf_chunk *c, perfile_status st,
                                   const perfile_error *why, perfile_error *err)
{
    const bool stored = st == PERFILE_E_CORRUPT && strcmp(why->where, "archive.payload_crc") == 0;
    if (st == PERFILE_E_CORRUPT)
        pf_verify_tell(v, stored ? PERFILE_RULE_V_704 : PERFILE_RULE_V_705, PERFILE_SEVERITY_ERROR,
                       c, true, "%s", why->message);
    else if (st == PERFILE_E_UNSUPPORTED)
        pf_verify_tell(v, PERFILE_RULE_V_711, PERFILE_SEVERITY_ERROR, c, true, "%s", why->message);
    else if (st != PERFILE_OK && err)
        *err = *why;
    return st == PERFILE_E_CORRUPT || st == PERFILE_E_UNSUPPORTED ? PERFILE_OK : st;
}

/* Decodes a chunk to v->payload.  *good is false if this fails; the failure is reported. */
static perfile_status decode(pf_verify *v, const pf_chunk *c, bool *good, perfile_error *err)
{
    perfile_error why;
    pf_buffer_clear(&v->payload);
    const perfile_status st = pf_archive_payload(&v->a->table, c, &v->payload, &why);
    *good = st == PERFILE_OK;
    return tell_failure(v, c, st, &why, err);
}

/* Reads the metadata of a chunk to v->meta.  *good as above. */
static perfile_status read_meta(pf_verify *v, const pf_chunk *c, bool *good, perfile_error *err)
{
    perfile_error why;
    pf_buffer_clear(&v->meta);
    const perfile_status st = pf_archive_meta(&v->a->table, c, &v->meta, &why);
    *good = st == PERFILE_OK;
    if (st == PERFILE_E_CORRUPT)
        pf_verify_tell(v, PERFILE_RULE_V_703, PERFILE_SEVERITY_ERROR, c, false, "%s", why.message);
    else if (st != PERFILE_OK && err)
        *err = why;
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

/* Checks the map of a META chunk, decoded in v->payload. */
static perfile_status check_map(pf_verify *v, const pf_chunk *c, perfile_error *err)
{
    perfile_error why;
    pf_meta m = {0};
    perfile_status st = pf_archive_map_fits(&v->a->table, c, &why);
    if (st == PERFILE_OK)
        st = pf_meta_decode((perfile_bytes){v->payload.ptr, v->payload.len}, &m, &why);
    pf_meta_clear(&m);
    if (st == PERFILE_E_CORRUPT || st == PERFILE_E_LIMIT)
        pf_verify_tell(v, PERFILE_RULE_V_703, PERFILE_SEVERITY_ERROR, c, false,
                       "its metadata about the capture cannot be read: %s", why.message);
    else if (st != PERFILE_OK && err)
        *err = why;
    return st == PERFILE_E_CORRUPT || st == PERFILE_E_LIMIT ? PERFILE_OK : st;
}

static perfile_status check_chunk(pf_verify *v, const pf_chunk *c, perfile_error *err)
{
    bool has_meta, good;
    perfile_status st = read_meta(v, c, &has_meta, err);
    if (st == PERFILE_OK)
        st = decode(v, c, &good, err);
    if (st != PERFILE_OK)
        return st;
    if (!pf_chunk_kind_name(c->kind))
        pf_verify_tell(v, PERFILE_RULE_V_711, PERFILE_SEVERITY_WARNING, c, false,
                       "a chunk of the kind %u, which this library does not know", c->kind);
    if (!good)
        return PERFILE_OK;
    if (c->kind == PF_CHUNK_META)
        return check_map(v, c, err);
    return c->kind == PF_CHUNK_RECORDS ? pf_verify_records(v, c, has_meta, err) : PERFILE_OK;
}

static perfile_status check_book(pf_verify *v, const pf_chunk *c, perfile_error *err)
{
    bool good;
    if (c->kind == PF_CHUNK_END) {
        pf_verify_end(v, c);
        return PERFILE_OK;
    }
    perfile_status st = decode(v, c, &good, err);
    if (st == PERFILE_OK && good)
        st = pf_verify_index(v, c, err);
    v->last_index = c->offset;
    while (v->named < v->walked.n_chunks && v->walked.chunks[v->named].offset < c->offset)
        v->named++; /* even if the index could not be read */
    return st;
}

static void tell_gap(pf_verify *v, const pf_archive_gap *gap)
{
    pf_chunk at = {.offset = gap->offset}, cut;
    const bool known = position_of(v->a, &at) != UINT32_MAX;
    const bool is_cut = pf_archive_cut_chunk(&v->walked, gap, &cut);
    if (is_cut)
        at = cut;
    pf_verify_tell(v, PERFILE_RULE_V_702, PERFILE_SEVERITY_ERROR, &at, is_cut,
                   "%llu bytes belong to no chunk%s", (unsigned long long)gap->bytes,
                   known    ? ": its header is damaged, and is read from the index"
                   : is_cut ? ": the rest of it is missing"
                            : "");
}

/* Collects the INDEX and END chunks: they are between the chunks and gaps that were found. */
static perfile_status list_books(pf_verify *v, perfile_error *err)
{
    const pf_archive *w = &v->walked;
    uint32_t i = 0, g = 0;
    for (uint64_t at = PF_ARCHIVE_HEADER; at < w->source->size;) {
        perfile_bytes run;
        pf_chunk c;
        if (i < w->n_chunks && w->chunks[i].offset == at) {
            at += pf_chunk_bytes(&w->chunks[i++]);
            continue;
        }
        if (g < w->n_gaps && w->gaps[g].offset == at) {
            at += w->gaps[g++].bytes;
            continue;
        }
        perfile_status st = pf_source_run(w->source, at, PF_ARCHIVE_HEADER, &run, err);
        if (st != PERFILE_OK)
            return st;
        if (run.len < PF_ARCHIVE_HEADER || !pf_chunk_decode(run.ptr, at, w->head.id, &c))
            return pf_fail(err, PERFILE_E_CORRUPT, "archive", "it was changed while it was read");
        if (!pf_buffer_append(&v->books, &c, sizeof c))
            return pf_fail_nomem(err, "archive");
        at += pf_chunk_bytes(&c);
    }
    return PERFILE_OK;
}

/* Checks the total size of all chunks that will be decoded. */
static perfile_status check_ratio(const pf_verify *v, perfile_error *err)
{
    uint64_t decoded = 0;
    for (uint32_t i = 0; i < v->a->table.n_chunks; i++)
        decoded += v->a->table.chunks[i].raw_len;
    for (size_t i = 0; i < v->books.len / sizeof(pf_chunk); i++) {
        pf_chunk c;
        memcpy(&c, v->books.ptr + i * sizeof c, sizeof c);
        decoded += c.raw_len;
    }
    return pf_archive_check_ratio(&v->a->table, decoded, err);
}

/* Checks gaps, chunks and indexes in the order of the archive. */
static perfile_status check_all(pf_verify *v, perfile_error *err)
{
    const pf_archive *t = &v->a->table, *w = &v->walked;
    const size_t n_books = v->books.len / sizeof(pf_chunk);
    perfile_status st = PERFILE_OK;
    uint32_t i = 0, g = 0;
    size_t b = 0;
    while (st == PERFILE_OK && (i < t->n_chunks || g < w->n_gaps || b < n_books)) {
        pf_chunk book = {.offset = UINT64_MAX};
        if (b < n_books)
            memcpy(&book, v->books.ptr + b * sizeof book, sizeof book);
        const uint64_t chunk = i < t->n_chunks ? t->chunks[i].offset : UINT64_MAX;
        const uint64_t gap = g < w->n_gaps ? w->gaps[g].offset : UINT64_MAX;
        if (gap <= chunk && gap <= book.offset) {
            tell_gap(v, &w->gaps[g++]);
        } else if (chunk <= book.offset) {
            st = check_chunk(v, &t->chunks[i++], err);
        } else {
            st = check_book(v, &book, err);
            b++;
        }
    }
    if (st == PERFILE_OK && !w->finished)
        pf_verify_tell(v, PERFILE_RULE_V_710, PERFILE_SEVERITY_WARNING, NULL, false,
                       "there is no end at the end of the archive");
    return st;
}

/* The parts of captures. */

static void tell_range(pf_verify *v, const pf_cover_range *r, bool is_lost, const char *text)
{
    const bool about = r->chunk != UINT32_MAX;
    const perfile_archive_finding f = {.rule = PERFILE_RULE_V_708,
                                       .severity = PERFILE_SEVERITY_ERROR,
                                       .is_lost = is_lost,
                                       .offset = about ? v->a->table.chunks[r->chunk].offset
                                                       : PERFILE_NO_OFFSET,
                                       .chunk = r->chunk,
                                       .capture = pf_archive_capture_of(v->a, r->source),
                                       .part = r->part,
                                       .part_offset = r->offset,
                                       .part_bytes = r->bytes,
                                       .message = text};
    v->finding(v->user, &f);
}

static void on_twice(void *user, const pf_cover_range *r)
{
    pf_verify *v = user;
    char text[TEXT];
    snprintf(text, sizeof text, "%llu bytes at %llu of part %u are in the chunk at %llu, too",
             (unsigned long long)r->bytes, (unsigned long long)r->offset, r->part,
             (unsigned long long)v->a->table.chunks[r->other].offset);
    tell_range(v, r, false, text);
}

static void on_hole(void *user, const pf_cover_range *r)
{
    char text[TEXT];
    snprintf(text, sizeof text, "%llu bytes at %llu of part %u are in no chunk",
             (unsigned long long)r->bytes, (unsigned long long)r->offset, r->part);
    tell_range(user, r, true, text);
}

static perfile_status check_parts(pf_verify *v, perfile_error *err)
{
    bool *passed = pf_alloc(v->a->table.n_chunks, sizeof *passed);
    if (!passed)
        return pf_fail_nomem(err, "archive");
    perfile_status st = pf_cover_twice(v->a, passed, on_twice, v, err);
    pf_free(passed);
    return st == PERFILE_OK ? pf_cover_holes(v->a, NULL, on_hole, v, err) : st;
}

perfile_status pf_archive_verify(perfile_archive *a,
                                 void (*finding)(void *user, const perfile_archive_finding *f),
                                 void *user, perfile_error *err)
{
    pf_verify v = {.a = a, .finding = finding, .user = user};
    const pf_chunk head = {.offset = 0};
    perfile_status st = pf_archive_read(a->table.source, PF_ARCHIVE_NO_INDEX, &v.walked, err);
    if (st == PERFILE_OK)
        st = list_books(&v, err);
    if (st == PERFILE_OK)
        st = check_ratio(&v, err);
    if (st == PERFILE_OK && a->table.head_damaged)
        pf_verify_tell(&v, PERFILE_RULE_V_701, PERFILE_SEVERITY_ERROR, &head, false,
                       "the header of the archive is damaged");
    if (st == PERFILE_OK)
        st = check_all(&v, err);
    if (st == PERFILE_OK)
        st = check_parts(&v, err);
    pf_archive_clear(&v.walked);
    pf_buffer_free(&v.books);
    pf_buffer_free(&v.payload);
    pf_buffer_free(&v.meta);
    pf_zone_free(&v.zone);
    pf_zone_counts_free(&v.counts);
    return st;
}

/* Compares an INDEX with the chunks before it, which were found by scanning, and an END with the
 * last INDEX. */

enum { OFFSET_AT = 8 /* of the field `offset` in a chunk header */ };

static void tell(pf_verify *v, const pf_chunk *index, const char *what, uint64_t offset)
{
    pf_verify_tell(v, PERFILE_RULE_V_709, PERFILE_SEVERITY_ERROR, index, false, "%s %llu", what,
                   (unsigned long long)offset);
}

/* Returns true if `offset` is in a gap: a chunk there has a damaged header. */
static bool in_gap(const pf_archive *w, uint64_t offset)
{
    uint32_t low = 0, high = w->n_gaps; /* the number of gaps up to `offset` */
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (w->gaps[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    return low && offset - w->gaps[low - 1].offset < w->gaps[low - 1].bytes;
}

/* *same: the entry equals header and metadata of the chunk.  If the metadata in the chunk are
 * damaged, only the headers are compared. */
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

/* Checks one entry.  *n is its size; 0: the bytes are not an entry. */
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
        tell(v, c, "the index names another index before it than the one at", v->last_index);
    while (left.len && st == PERFILE_OK) {
        size_t n;
        st = check_entry(v, c, left, &n, err);
        if (st == PERFILE_OK && n == 0) {
            tell(v, c, "the index has bytes that are not a header, at its byte",
                 v->payload.len - left.len);
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
        tell(v, c, "the end names another index than the one at", v->last_index);
}

/* Checks the records of a chunk: that they are complete, and that flags and zone are correct.
 *
 * Only the headers of records are read.  They suffice to count records, types, side-band records
 * and losses.  Times, events and sets would need the events of the capture. */

/* Counts made from the headers of the records. */
typedef struct recount {
    uint64_t records, apart, samples, lost;
    bool aligned;
    size_t end; /* of the last complete record */
    bool swap;
} recount;

/* Adds what a LOST or LOST_SAMPLES record counts; see pf_zone_add(). */
static void add_lost(recount *n, const pf_frame *f, const uint8_t *body)
{
    const size_t at = f->type == PERFILE_RECORD_LOST ? 8 : 0;
    const bool counts = f->type == PERFILE_RECORD_LOST || f->type == PERFILE_RECORD_LOST_SAMPLES;
    if (!counts || f->size < PF_PERF_RECORD_HEADER + at + 8)
        return;
    if (pf_add_u64(n->lost, pf_load_u64(body + at, n->swap), &n->lost))
        n->lost = UINT64_MAX;
}

/* Walks from header to header.  Returns false when out of memory. */
static bool count_records(pf_verify *v, const pf_chunk *c, recount *n)
{
    const uint8_t *p = v->payload.ptr;
    const size_t len = v->payload.len;
    const bool big = c->flags & PF_CHUNK_FLAG_BIG_ENDIAN;
    *n = (recount){.aligned = true, .swap = big != (bool)PF_NATIVE_BIG};
    pf_zone_counts_clear(&v->counts, true);
    while (len - n->end >= PF_PERF_RECORD_HEADER) {
        const pf_frame f = pf_frame_at(p + n->end, n->swap);
        if (f.size < PF_PERF_RECORD_HEADER || f.size > len - n->end)
            return true;
        const perfile_record r = {.type = f.type, .misc = f.misc, .family = PERFILE_FAMILY_PERF};
        n->records++;
        n->apart += pf_zone_is_apart(&r);
        n->samples += f.type == PERFILE_RECORD_SAMPLE;
        n->aligned &= f.size % 8 == 0;
        add_lost(n, &f, p + n->end + PF_PERF_RECORD_HEADER);
        if (!pf_zone_counts_add(&v->counts, f.type, 1, f.size))
            return false;
        n->end += f.size;
    }
    return true;
}

static void tell_zone(pf_verify *v, const pf_chunk *c, const char *what, uint64_t said,
                      uint64_t counted)
{
    pf_verify_tell(v, PERFILE_RULE_V_707, PERFILE_SEVERITY_ERROR, c, false,
                   "the zone says %llu %s, but there are %llu", (unsigned long long)said, what,
                   (unsigned long long)counted);
}

/* Compares the types of the zone with those that were counted; both ascend. */
static void compare_types(pf_verify *v, const pf_chunk *c)
{
    const pf_zone_counts *said = &v->zone.types, *counted = &v->counts;
    for (uint32_t i = 0; i < said->n; i++) {
        const pf_zone_count *x = &said->at[i], *y = pf_zone_counts_find(counted, x->key);
        char what[64];
        if (!y || y->records != x->records) {
            snprintf(what, sizeof what, "records of type %llu", (unsigned long long)x->key);
            tell_zone(v, c, what, x->records, y ? y->records : 0);
        } else if (said->has_bytes && y->bytes != x->bytes) {
            snprintf(what, sizeof what, "bytes of type %llu", (unsigned long long)x->key);
            tell_zone(v, c, what, x->bytes, y->bytes);
        }
    }
    for (uint32_t i = 0; i < counted->n; i++)
        if (!pf_zone_counts_find(said, counted->at[i].key)) {
            char what[64];
            snprintf(what, sizeof what, "records of type %llu",
                     (unsigned long long)counted->at[i].key);
            tell_zone(v, c, what, 0, counted->at[i].records);
        }
}

static void compare_zone(pf_verify *v, const pf_chunk *c, const recount *n)
{
    const pf_zone *z = &v->zone;
    uint64_t events = 0;
    if (z->records != n->records)
        tell_zone(v, c, "records", z->records, n->records);
    if (z->has_apart && z->apart != n->apart)
        tell_zone(v, c, "records that are apart", z->apart, n->apart);
    if (z->has_lost && z->lost != n->lost)
        tell_zone(v, c, "lost records and samples", z->lost, n->lost);
    for (uint32_t i = 0; i < z->events.n; i++)
        events += z->events.at[i].records;
    if (events > n->samples)
        tell_zone(v, c, "samples of events", events, n->samples);
    if (z->types.known && v->counts.known)
        compare_types(v, c);
}

perfile_status pf_verify_records(pf_verify *v, const pf_chunk *c, bool has_meta, perfile_error *err)
{
    perfile_error why;
    recount n;
    if (!count_records(v, c, &n))
        return pf_fail_nomem(err, "archive");
    if (n.end != v->payload.len) {
        pf_verify_tell(v, PERFILE_RULE_V_706, PERFILE_SEVERITY_ERROR, c, false,
                       "no complete record is at byte %zu of %zu", n.end, v->payload.len);
        return PERFILE_OK;
    }
    if (c->flags & PF_CHUNK_FLAG_ALIGNED && !n.aligned)
        pf_verify_tell(
            v, PERFILE_RULE_V_706, PERFILE_SEVERITY_ERROR, c, false,
            "a record has a size that is not a multiple of 8, although the chunk says so");
    if (!has_meta || !v->meta.len)
        return PERFILE_OK;
    perfile_status st = pf_zone_decode((perfile_bytes){v->meta.ptr, v->meta.len}, &v->zone, &why);
    if (st == PERFILE_OK)
        compare_zone(v, c, &n);
    else if (st == PERFILE_E_CORRUPT)
        pf_verify_tell(v, PERFILE_RULE_V_703, PERFILE_SEVERITY_ERROR, c, false,
                       "the zone cannot be read: %s", why.message);
    else if (err)
        *err = why;
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

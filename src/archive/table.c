/* Finds and decodes the chunks of an archive.
 *
 * The index is used only if it leaves nothing out: its chunks, the indexes and the ENDs must fill
 * the archive from the file header to the end, without a gap.  Otherwise every header is scanned
 * for.
 *
 * The scan trusts a header because of its checksum, its own offset and the id of the archive.
 * Where there is no valid header, it continues at the next multiple of 64 that has one: a damaged
 * header costs its own chunk only. */
#include "archive/header.h"
#include "archive/table.h"
#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/checked.h"
#include "base/crc32.h"
#include "base/error.h"
#include "archive/command.h"

#include <stdlib.h>
#include <string.h>
#include <zstd.h>

enum { OFFSET_AT = 8 /* of the field `offset` in a chunk header */ };

/* Reads the 64 bytes at `offset`.  Returns false if there are fewer, or if they cannot be read. */
static bool read_header(const pf_archive *a, uint64_t offset, uint8_t *header)
{
    perfile_bytes run;
    if (pf_source_view(a->source, offset, PF_ARCHIVE_HEADER, &run, NULL) != PERFILE_OK ||
        run.len < PF_ARCHIVE_HEADER)
        return false;
    memcpy(header, run.ptr, PF_ARCHIVE_HEADER);
    return true;
}

/* Returns true if a complete chunk is at `offset`. */
static bool chunk_at(const pf_archive *a, uint64_t offset, pf_chunk *c)
{
    uint8_t header[PF_ARCHIVE_HEADER];
    const uint64_t size = a->source->size;
    return read_header(a, offset, header) && pf_chunk_decode(header, offset, a->head.id, c) &&
           pf_chunk_bytes(c) <= size - offset;
}

/* Finds the next chunk header at a multiple of 64, from `at` on.  *found is the size of the archive
 * if there is none.  Fails if bytes cannot be read. */
static perfile_status next_header(const pf_archive *a, uint64_t at, uint64_t *found,
                                  perfile_error *err)
{
    const uint64_t size = a->source->size;
    pf_chunk c;
    *found = size;
    while (size - at >= PF_ARCHIVE_HEADER) {
        perfile_bytes run;
        perfile_status st = pf_source_run(a->source, at, PF_ARCHIVE_HEADER, &run, err);
        if (st != PERFILE_OK)
            return st;
        if (run.len < PF_ARCHIVE_HEADER)
            return PERFILE_OK;
        for (size_t i = 0; run.len - i >= PF_ARCHIVE_HEADER; i += PF_ARCHIVE_HEADER)
            if (pf_chunk_decode(run.ptr + i, at + i, a->head.id, &c)) {
                *found = at + i;
                return PERFILE_OK;
            }
        at += run.len / PF_ARCHIVE_HEADER * PF_ARCHIVE_HEADER;
    }
    return PERFILE_OK;
}

static bool keep_chunk(pf_archive *a, const pf_chunk *c)
{
    pf_chunk *more = pf_array_more(a->chunks, a->n_chunks, &a->cap_chunks, sizeof *more);
    if (!more)
        return false;
    a->chunks = more;
    a->chunks[a->n_chunks++] = *c;
    return true;
}

/* Adds a gap, or extends the last one if they touch.  They touch if a header between them was
 * rejected because its chunk would exceed the archive. */
static bool keep_gap(pf_archive *a, uint64_t offset, uint64_t bytes)
{
    pf_archive_gap *last = a->n_gaps ? &a->gaps[a->n_gaps - 1] : NULL;
    if (last && last->offset + last->bytes == offset) {
        last->bytes += bytes;
        return true;
    }
    pf_archive_gap *more = pf_array_more(a->gaps, a->n_gaps, &a->cap_gaps, sizeof *more);
    if (!more)
        return false;
    a->gaps = more;
    a->gaps[a->n_gaps++] = (pf_archive_gap){offset, bytes};
    return true;
}

static bool is_bookkeeping(const pf_chunk *c)
{
    return c->kind == PF_CHUNK_INDEX || c->kind == PF_CHUNK_END;
}

/* Walks from header to header, and records gaps. */
static perfile_status walk(pf_archive *a, perfile_error *err)
{
    const uint64_t size = a->source->size;
    uint64_t at = PF_ARCHIVE_HEADER;
    a->finished = false;
    while (at < size) {
        pf_chunk c;
        bool kept = true;
        if (size - at >= PF_ARCHIVE_HEADER && chunk_at(a, at, &c)) {
            kept = is_bookkeeping(&c) || keep_chunk(a, &c);
            a->finished = c.kind == PF_CHUNK_END;
            at += pf_chunk_bytes(&c);
        } else {
            uint64_t next = size;
            perfile_status st = size - at > PF_ARCHIVE_HEADER
                                    ? next_header(a, at + PF_ARCHIVE_HEADER, &next, err)
                                    : PERFILE_OK;
            if (st != PERFILE_OK)
                return st;
            kept = keep_gap(a, at, next - at);
            a->finished = false;
            at = next;
        }
        if (!kept)
            return pf_fail_nomem(err, "archive");
    }
    return PERFILE_OK;
}

/* Stores the metadata of the last chunk, if there is room and all earlier ones were stored.
 * Returns false when out of memory. */
static bool keep_indexed(pf_archive *a, perfile_bytes meta)
{
    const uint32_t at = (uint32_t)a->indexed.len;
    if (a->n_indexed + 1 != a->n_chunks || meta.len > PF_ARCHIVE_MOST_INDEXED - at)
        return true;
    a->n_indexed++;
    return pf_buffer_append(&a->indexed, meta.ptr, meta.len) &&
           pf_buffer_append(&a->indexed_at, &at, sizeof at);
}

/* Adds the chunks named by an index, which must begin at *at and be contiguous. */
static bool add_entries(pf_archive *a, perfile_bytes entries, uint64_t *at)
{
    while (entries.len >= PF_ARCHIVE_HEADER) {
        pf_chunk c;
        const uint64_t offset = pf_load_u64(entries.ptr + OFFSET_AT, PF_NATIVE_BIG);
        if (offset != *at || !pf_chunk_decode(entries.ptr, offset, a->head.id, &c) ||
            is_bookkeeping(&c) || pf_chunk_bytes(&c) > a->source->size - offset)
            return false;
        const size_t bytes = PF_ARCHIVE_HEADER + (size_t)pf_chunk_meta_bytes(&c);
        const perfile_bytes meta = {entries.ptr + PF_ARCHIVE_HEADER, bytes - PF_ARCHIVE_HEADER};
        if (entries.len < bytes || !keep_chunk(a, &c) || !keep_indexed(a, meta))
            return false;
        entries.ptr += bytes;
        entries.len -= bytes;
        *at += pf_chunk_bytes(&c);
    }
    return entries.len == 0;
}

/* Adds the chunks named by the index at `offset`, then skips this index and an END after it.  An
 * index repeats bytes that are before it, so one that claims to be larger than these is not
 * decoded. */
static bool add_index(pf_archive *a, uint64_t offset, uint64_t *at)
{
    pf_chunk index, end;
    pf_buffer entries = {0};
    bool good = chunk_at(a, offset, &index) && index.kind == PF_CHUNK_INDEX &&
                index.raw_len <= offset &&
                pf_archive_payload(a, &index, &entries, NULL) == PERFILE_OK &&
                add_entries(a, (perfile_bytes){entries.ptr, entries.len}, at) && *at == offset;
    pf_buffer_free(&entries);
    if (!good)
        return false;
    *at += pf_chunk_bytes(&index);
    if (*at < a->source->size && chunk_at(a, *at, &end) && end.kind == PF_CHUNK_END)
        *at += pf_chunk_bytes(&end);
    return true;
}

/* Collects the offsets of all indexes, the last one first.  Each must be before the index that
 * refers to it, so the chain ends. */
static bool list_indexes(const pf_archive *a, uint64_t offset, pf_buffer *list)
{
    pf_chunk c;
    for (uint64_t before = a->source->size; offset; before = offset, offset = c.raw_off)
        if (offset >= before || !chunk_at(a, offset, &c) || c.kind != PF_CHUNK_INDEX ||
            !pf_buffer_append(list, &offset, sizeof offset))
            return false;
    return true;
}

/* Reads the table from the indexes.  Returns false if there are none, or if they do not name
 * everything. */
static bool read_indexes(pf_archive *a)
{
    const uint64_t size = a->source->size;
    pf_chunk end;
    pf_buffer list = {0};
    if (size < 2 * PF_ARCHIVE_HEADER || !chunk_at(a, size - PF_ARCHIVE_HEADER, &end) ||
        end.kind != PF_CHUNK_END || !end.raw_off)
        return false;
    uint64_t at = PF_ARCHIVE_HEADER;
    bool good = list_indexes(a, end.raw_off, &list);
    for (size_t n = list.len / sizeof at; n-- > 0 && good;) {
        uint64_t offset;
        memcpy(&offset, list.ptr + n * sizeof offset, sizeof offset);
        good = add_index(a, offset, &at);
    }
    pf_buffer_free(&list);
    a->last_index = end.raw_off;
    return good && at == size;
}

/* Finds the id of an archive with a damaged header: from an END at its end, or else from the first
 * bytes that are a valid chunk header of any archive. */
static perfile_status find_id(pf_archive *a, perfile_error *err)
{
    const uint64_t size = a->source->size;
    pf_chunk c;
    uint64_t at;
    a->head = (pf_archive_head){0};
    if (size >= PF_ARCHIVE_HEADER && chunk_at(a, size - PF_ARCHIVE_HEADER, &c) &&
        c.kind == PF_CHUNK_END) {
        a->head.id = c.id;
        return PERFILE_OK;
    }
    perfile_status st = next_header(a, 0, &at, err);
    if (st != PERFILE_OK)
        return st;
    if (at < size && chunk_at(a, at, &c))
        a->head.id = c.id;
    return PERFILE_OK;
}

static perfile_status read_head(pf_archive *a, perfile_error *err)
{
    perfile_bytes run;
    perfile_status st = pf_source_run(a->source, 0, PF_ARCHIVE_HEADER, &run, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_archive_head_decode(run, &a->head, err);
    if (st == PERFILE_OK || st == PERFILE_E_UNSUPPORTED)
        return st;
    a->head_damaged = true;
    perfile_status found = find_id(a, err);
    return found != PERFILE_OK ? found : a->head.id ? PERFILE_OK : st;
}

/* Returns true if a chunk header of any archive is at `offset`. */
static bool header_at(perfile_source *s, uint64_t offset)
{
    perfile_bytes run;
    pf_chunk c;
    return pf_source_view(s, offset, PF_ARCHIVE_HEADER, &run, NULL) == PERFILE_OK &&
           run.len >= PF_ARCHIVE_HEADER && pf_chunk_decode(run.ptr, offset, 0, &c);
}

perfile_status pf_archive_recognise(perfile_source *s, bool by_end, bool *is, perfile_error *err)
{
    enum { MAGIC = 8 };
    perfile_bytes run;
    *is = false;
    if (pf_source_has_entries(s))
        return PERFILE_OK;
    perfile_status st = pf_source_run(s, 0, MAGIC, &run, err);
    if (st != PERFILE_OK)
        return st;
    *is = pf_archive_has_magic(run);
    if (!*is && s->seekable && s->size >= 2 * PF_ARCHIVE_HEADER)
        *is = header_at(s, PF_ARCHIVE_HEADER) ||
              (by_end && header_at(s, s->size - PF_ARCHIVE_HEADER));
    return *is ? pf_cbor_needed("archives", err) : PERFILE_OK;
}

perfile_status pf_archive_read(perfile_source *source, unsigned flags, pf_archive *a,
                               perfile_error *err)
{
    a->source = source;
    if (!source->seekable)
        return pf_fail(err, PERFILE_E_USAGE, "archive.source",
                       "the table of an archive is read from a file");
    perfile_status st = read_head(a, err);
    if (st != PERFILE_OK)
        return st;
    if (!(flags & PF_ARCHIVE_NO_INDEX) && !a->head_damaged && read_indexes(a)) {
        a->from_index = a->finished = true;
    } else {
        a->n_chunks = a->n_indexed = 0;
        st = walk(a, err);
    }
    return st == PERFILE_OK ? pf_archive_sort(a, err) : st;
}

/* Chunks by capture and part, and limits for their content.
 *
 * Chunks are in the archive in any order.  A reader that wants those of one capture or part must
 * not scan all of them each time: an archive can have 65536 captures of 65536 parts.  So they are
 * sorted once, when the table is read.
 *
 * The content of a chunk costs time, however small the chunk is.  Maps are parsed, which is the
 * slowest of all, so the size of all maps together is limited by the size of the archive. */

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

/* qsort() order: by capture, rank, part, raw_off, offset.  META: by capture, rank, offset. */
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

/* Returns the position of the first chunk that is not before (source, rank, part).  With RANKS: of
 * the first chunk after the capture. */
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
    perfile_status st =
        pf_fail(err, PERFILE_E_LIMIT, "archive.maps",
                "the metadata about its captures have more than %d bytes, and more than "
                "%d for each byte of the archive",
                MAPS_LEAST, MAPS_RATIO);
    pf_error_at(err, c->offset);
    return st;
}

perfile_status pf_archive_map(pf_archive *a, const pf_chunk *c, pf_buffer *out, perfile_error *err)
{
    perfile_status st = pf_archive_map_fits(a, c, err);
    return st == PERFILE_OK ? pf_archive_payload(a, c, out, err) : st;
}

/* The bytes of one chunk: checked as stored, decoded, and checked again.
 *
 * The cost is bounded before anything is decoded: the sizes in the header are within the limits
 * (pf_chunk_decode()), the zstd frame must announce exactly the size in the header, and zstd writes
 * no more than this. */

static perfile_status fail(const pf_chunk *c, const char *where, const char *what,
                           perfile_error *err)
{
    perfile_status st = pf_fail(err, PERFILE_E_CORRUPT, where, "%s chunk at offset %llu: %s",
                                pf_chunk_kind_name(c->kind) ? pf_chunk_kind_name(c->kind) : "a",
                                (unsigned long long)c->offset, what);
    pf_error_at(err, c->offset);
    return st;
}

/* Yields `n` stored bytes at `offset`: a pointer into the source if it has them in one span, else a
 * copy in a->stored. */
static perfile_status stored_bytes(pf_archive *a, uint64_t offset, size_t n, perfile_bytes *bytes,
                                   perfile_error *err)
{
    pf_buffer_clear(&a->stored);
    if (a->source->lasting) { /* a mapping beside the window: reads only the pages that are used */
        perfile_status st = pf_source_view(a->source, offset, n, bytes, err);
        if (st != PERFILE_OK)
            return st;
        if (bytes->len >= n) {
            bytes->len = n;
            return PERFILE_OK;
        }
    }
    for (bool first = true; a->stored.len < n || first; first = false) {
        perfile_bytes run;
        perfile_status st = pf_source_run(a->source, offset + a->stored.len, n ? 1 : 0, &run, err);
        if (st != PERFILE_OK)
            return st;
        if (first && run.len >= n) {
            *bytes = (perfile_bytes){run.ptr, n};
            return PERFILE_OK;
        }
        if (run.len == 0)
            return pf_fail(err, PERFILE_E_TRUNCATED, "archive.payload",
                           "the archive was cut while it was read");
        if (run.len > n - a->stored.len)
            run.len = n - a->stored.len;
        if (!pf_buffer_append(&a->stored, run.ptr, run.len))
            return pf_fail_nomem(err, "archive");
    }
    *bytes = (perfile_bytes){a->stored.ptr, a->stored.len};
    return PERFILE_OK;
}

/* Returns true if the window of a frame is not larger than the format allows.  The frame is known
 * to be complete.  zstd itself checks this only in streaming mode.  A single-segment frame has no
 * window of its own. */
static bool has_valid_window(perfile_bytes frame)
{
    enum { DESCRIPTOR_AT = 4, SINGLE_SEGMENT = 0x20, LOG_LEAST = 10 };
    if (frame.len < DESCRIPTOR_AT + 2 || frame.ptr[DESCRIPTOR_AT] & SINGLE_SEGMENT)
        return true;
    const unsigned window = frame.ptr[DESCRIPTOR_AT + 1]; /* exponent and eighths */
    return window <= (PF_ARCHIVE_MOST_WINDOW_LOG - LOG_LEAST) << 3;
}

/* Decompresses one frame to `out`, which has room for c->raw_len bytes. */
static perfile_status decompress(pf_archive *a, const pf_chunk *c, perfile_bytes frame,
                                 uint8_t *out, perfile_error *err)
{
    if (!a->zstd)
        a->zstd = ZSTD_createDCtx();
    if (!a->zstd)
        return pf_fail_nomem(err, "archive");
    (void)ZSTD_DCtx_setParameter(a->zstd, ZSTD_d_windowLogMax, PF_ARCHIVE_MOST_WINDOW_LOG);
    if (ZSTD_getFrameContentSize(frame.ptr, frame.len) != c->raw_len ||
        ZSTD_findFrameCompressedSize(frame.ptr, frame.len) != frame.len || !has_valid_window(frame))
        return fail(c, "archive.payload", "it is not a frame of the size in its header", err);
    const size_t n = ZSTD_decompressDCtx(a->zstd, out, c->raw_len, frame.ptr, frame.len);
    if (ZSTD_isError(n) || n != c->raw_len)
        return fail(c, "archive.payload", ZSTD_isError(n) ? ZSTD_getErrorName(n) : "too short",
                    err);
    return PERFILE_OK;
}

/* Passes decoded bytes on to a caller in pieces. */
typedef struct pieces_out {
    uint32_t crc; /* of the bytes so far */
    bool shown;   /* the checksum was computed while decoding */
    pf_archive_piece *piece;
    void *user;
} pieces_out;

static void sum_up(void *user, perfile_bytes bytes)
{
    pieces_out *x = user;
    x->crc = pf_crc32c(x->crc, bytes);
    x->shown = true;
    if (x->piece)
        x->piece(x->user, bytes);
}

/* Decodes a COLUMNS payload to `out`, which has room for c->raw_len bytes. */
static perfile_status join_columns(pf_archive *a, const pf_chunk *c, perfile_bytes columns,
                                   uint8_t *out, pieces_out *pieces, perfile_error *err)
{
    perfile_error why;
    if (!a->columns)
        a->columns = pf_columns_decoder_new();
    if (!a->columns)
        return pf_fail_nomem(err, "archive");
    const bool big = c->flags & PF_CHUNK_FLAG_BIG_ENDIAN;
    const perfile_status st =
        pf_columns_decode_pieces(a->columns, columns, big, out, c->raw_len, sum_up, pieces, &why);
    if (st == PERFILE_E_CORRUPT)
        return fail(c, "archive.columns", why.message, err);
    return st == PERFILE_OK ? st : pf_fail_nomem(err, "archive");
}

/* Decodes a payload to `out`, which has room for c->raw_len bytes. */
static perfile_status decode(pf_archive *a, const pf_chunk *c, perfile_bytes stored, uint8_t *out,
                             pieces_out *pieces, perfile_error *err)
{
    switch (c->codec) {
    case PF_CODEC_RAW:
        if (stored.len)
            memcpy(out, stored.ptr, stored.len);
        return PERFILE_OK;
    case PF_CODEC_ZSTD:
        return decompress(a, c, stored, out, err);
    case PF_CODEC_COLUMNS:
        return join_columns(a, c, stored, out, pieces, err);
    default:
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "archive.codec",
                       "the chunk at offset %llu has codec %u, which this library does not know",
                       (unsigned long long)c->offset, c->codec);
    }
}

perfile_status pf_archive_pieces(pf_archive *a, const pf_chunk *c, pf_buffer *out,
                                 pf_archive_piece *piece, void *user, perfile_error *err)
{
    const uint64_t at = c->offset + PF_ARCHIVE_HEADER + pf_chunk_meta_bytes(c);
    pieces_out pieces = {.piece = piece, .user = user};
    perfile_bytes stored;
    perfile_status st = stored_bytes(a, at, pf_chunk_payload_bytes(c), &stored, err);
    if (st != PERFILE_OK)
        return st;
    if (pf_crc32c(0, stored) != c->payload_crc)
        return fail(c, "archive.payload_crc", "the checksum of the payload is wrong", err);
    stored.len = c->payload_len;
    if (!pf_buffer_reserve_large(out, (size_t)c->raw_len + 1)) /* so that out->ptr is not NULL */
        return pf_fail_nomem(err, "archive");
    uint8_t *raw = out->ptr + out->len;
    st = decode(a, c, stored, raw, &pieces, err);
    if (st != PERFILE_OK)
        return st;
    if (!pieces.shown)
        sum_up(&pieces, (perfile_bytes){raw, c->raw_len});
    if (pieces.crc != c->raw_crc)
        return fail(c, "archive.raw_crc", "the checksum of the decoded bytes is wrong", err);
    out->len += c->raw_len;
    return PERFILE_OK;
}

perfile_status pf_archive_payload(pf_archive *a, const pf_chunk *c, pf_buffer *out,
                                  perfile_error *err)
{
    return pf_archive_pieces(a, c, out, NULL, NULL, err);
}

/* A payload that is read piece by piece. */
typedef struct pieces {
    pf_archive *archive;
    uint64_t at; /* offset of the payload in the archive */
} pieces;

static perfile_status read_piece(void *user, size_t offset, size_t len, perfile_bytes *bytes,
                                 perfile_error *err)
{
    const pieces *p = user;
    return stored_bytes(p->archive, p->at + offset, (uint32_t)len, bytes, err);
}

/* Begins to read the payload of a chunk in pieces.  a->columns is NULL afterwards when out of
 * memory. */
static pf_columns_input open_pieces(pf_archive *a, const pf_chunk *c, pieces *p)
{
    *p = (pieces){a, c->offset + PF_ARCHIVE_HEADER + pf_chunk_meta_bytes(c)};
    if (!a->columns)
        a->columns = pf_columns_decoder_new();
    return (pf_columns_input){
        .read = read_piece, .user = p, .len = c->payload_len, .stays = a->source->lasting};
}

perfile_status pf_archive_apart(pf_archive *a, const pf_chunk *c, pf_buffer *out, pf_buffer *ranges,
                                uint64_t *n_records, perfile_error *err)
{
    pieces p;
    const pf_columns_input input = open_pieces(a, c, &p);
    /* The side-band is small: most pages of this buffer are never touched. */
    if (!a->columns || !pf_buffer_reserve(out, (size_t)c->raw_len + 1))
        return pf_fail_nomem(err, "archive");
    const bool big = c->flags & PF_CHUNK_FLAG_BIG_ENDIAN;
    perfile_status st = pf_columns_decode_apart(a->columns, &input, big, out->ptr + out->len,
                                                c->raw_len, ranges, n_records, err);
    const pf_columns_range *all = (const pf_columns_range *)(const void *)ranges->ptr;
    const size_t n = ranges->len / sizeof *all;
    if (st == PERFILE_OK)
        out->len += n ? all[n - 1].at + all[n - 1].bytes : 0;
    return st;
}

perfile_status pf_archive_stored(pf_archive *a, const pf_chunk *c, perfile_bytes *stored,
                                 perfile_error *err)
{
    const uint64_t at = c->offset + PF_ARCHIVE_HEADER + pf_chunk_meta_bytes(c);
    perfile_status st = stored_bytes(a, at, pf_chunk_payload_bytes(c), stored, err);
    if (st != PERFILE_OK)
        return st;
    if (pf_crc32c(0, *stored) != c->payload_crc)
        return fail(c, "archive.payload_crc", "the checksum of the payload is wrong", err);
    stored->len = c->payload_len;
    return PERFILE_OK;
}

/* Returns the metadata of a chunk from the index; empty if the index has none, or none that match
 * the checksum in the header. */
static perfile_bytes indexed_meta(const pf_archive *a, const pf_chunk *c)
{
    const uint32_t i = (uint32_t)(c - a->chunks);
    if (i >= a->n_indexed)
        return (perfile_bytes){NULL, 0};
    const uint32_t *at = (const uint32_t *)(const void *)a->indexed_at.ptr;
    const perfile_bytes meta = {a->indexed.ptr + at[i], pf_chunk_meta_bytes(c)};
    return pf_crc32c(0, meta) == c->meta_crc ? meta : (perfile_bytes){NULL, 0};
}

perfile_status pf_archive_zone(pf_archive *a, const pf_chunk *c, pf_buffer *out, perfile_error *err)
{
    const perfile_bytes meta = indexed_meta(a, c);
    if (!meta.len)
        return pf_archive_meta(a, c, out, err);
    return pf_buffer_append(out, meta.ptr, c->meta_len) ? PERFILE_OK
                                                        : pf_fail_nomem(err, "archive");
}

perfile_status pf_archive_meta(pf_archive *a, const pf_chunk *c, pf_buffer *out, perfile_error *err)
{
    perfile_bytes stored;
    perfile_status st =
        stored_bytes(a, c->offset + PF_ARCHIVE_HEADER, pf_chunk_meta_bytes(c), &stored, err);
    if (st != PERFILE_OK)
        return st;
    if (pf_crc32c(0, stored) != c->meta_crc)
        return fail(c, "archive.meta_crc", "the checksum of the metadata is wrong", err);
    return pf_buffer_append(out, stored.ptr, c->meta_len) ? PERFILE_OK
                                                          : pf_fail_nomem(err, "archive");
}

void pf_archive_borrow(const pf_archive *from, perfile_source *source, pf_archive *a)
{
    *a = *from;
    a->source = source;
    a->borrowed = true; /* includes `indexed` and `indexed_at` */
    a->zstd = NULL;
    a->columns = NULL;
    a->stored = (pf_buffer){0};
}

void pf_archive_clear(pf_archive *a)
{
    ZSTD_freeDCtx(a->zstd);
    pf_columns_decoder_free(a->columns);
    if (!a->borrowed) {
        pf_free(a->chunks);
        pf_free(a->order);
        pf_free(a->gaps);
        pf_buffer_free(&a->indexed);
        pf_buffer_free(&a->indexed_at);
    }
    pf_buffer_free(&a->stored);
    *a = (pf_archive){0};
}

/* The chunks of an archive: where each lies, what it holds, and which bytes of the archive are
 * none.
 *
 * There are two ways to find them.  The index of a finished archive names all; else, and behind
 * damage, headers are recognised wherever they stand (pf_chunk_decode()), so that what is lost is
 * what was damaged, and known exactly. */
#ifndef PF_ARCHIVE_TABLE_H
#define PF_ARCHIVE_TABLE_H

#include "archive/header.h"
#include "archive/meta.h"
#include "base/buffer.h"
#include "columns/columns.h"
#include "core/zone.h"
#include "io/source.h"
#include "perfile/archive.h"
#include "perfile/check.h"
#include "perfile/sink.h"

/* Bytes of the archive that are no chunk. */
typedef struct pf_archive_gap {
    uint64_t offset, bytes;
} pf_archive_gap;

typedef struct pf_archive {
    perfile_source *source; /* borrowed */
    pf_archive_head head;   /* `id` is known even if the header is damaged */
    bool head_damaged;
    bool finished;       /* an END stands at its end */
    bool from_index;     /* the chunks were read from the index, not found one by one */
    uint64_t last_index; /* with `from_index`: offset of the last index */
    pf_chunk *chunks;    /* META, RECORDS, BYTES and kinds that are not known, by offset */
    uint32_t n_chunks, cap_chunks;
    const pf_chunk **order; /* n_chunks: by capture and part; see pf_archive_metas() */
    uint64_t maps_end;      /* offset of the first META chunk that is too much */
    pf_archive_gap *gaps;   /* by offset; none with `from_index` */
    uint32_t n_gaps, cap_gaps;
    /* Metadata of the first n_indexed chunks as the index has them, up to PF_ARCHIVE_MOST_INDEXED
     * bytes, and where those of each are: readers that pass over chunks touch no byte of them. */
    pf_buffer indexed, indexed_at; /* uint8_t; uint32_t */
    uint32_t n_indexed;
    bool borrowed;               /* chunks, order and gaps are those of another table */
    void *zstd;                  /* ZSTD_DCtx; NULL: not needed yet */
    pf_columns_decoder *columns; /* NULL: not needed yet */
    pf_buffer stored; /* a chunk as stored, of a source that does not show all of it at once */
} pf_archive;

enum { PF_ARCHIVE_MOST_INDEXED = 1 << 20 };

enum { PF_ARCHIVE_NO_INDEX = 1 << 0 /* find the chunks one by one, although there is an index */ };

/* Says whether the bytes are an archive, also one whose first bytes are damaged: then a chunk
 * stands behind the header or, with `by_end`, an END at the end, which is not looked at else: every
 * capture that is opened would be read there.  A directory is none. */
perfile_status pf_archive_recognise(perfile_source *source, bool by_end, bool *is,
                                    perfile_error *err);

/* Reads the table of an archive from a source that is seekable.  *a is all zeros before, and
 * cleared by the caller with pf_archive_clear(), also after a failure.  Fails if no id is found, or
 * the header is intact and of a version that cannot be read; damage behind it is no failure. */
perfile_status pf_archive_read(perfile_source *source, unsigned flags, pf_archive *a,
                               perfile_error *err);

/* Makes a table that reads from `source` what `from` found there, and borrows its chunks: `from`
 * must outlive it.  Each decodes for itself. */
void pf_archive_borrow(const pf_archive *from, perfile_source *source, pf_archive *a);

void pf_archive_clear(pf_archive *a);

/* Some of the chunks. */
typedef struct pf_archive_span {
    const pf_chunk *const *at;
    uint32_t n;
} pf_archive_span;

/* Chunks of the capture with the number `source` in the headers: all of them, in no order; its META
 * chunks, by offset; all others, by part; RECORDS and BYTES of one part, by place in it, of the
 * same place the one in front first. */
pf_archive_span pf_archive_of_capture(const pf_archive *a, uint16_t source);
pf_archive_span pf_archive_metas(const pf_archive *a, uint16_t source);
pf_archive_span pf_archive_of_parts(const pf_archive *a, uint16_t source);
pf_archive_span pf_archive_of_part(const pf_archive *a, uint16_t source, uint16_t part);

/* How many captures there are up to capture `wanted` (from 1 on), whose number in the headers is
 * put into *source.  Costs as much as there are captures, not chunks. */
uint32_t pf_archive_find_capture(const pf_archive *a, uint32_t wanted, uint16_t *source);

/* Makes a->order and a->maps_end of the chunks.  PERFILE_E_NOMEM. */
perfile_status pf_archive_sort(pf_archive *a, perfile_error *err);

/* Fails with PERFILE_E_LIMIT if an archive whose chunks hold `decoded` bytes is refused: a few
 * bytes of zstd can stand for any number of bytes. */
perfile_status pf_archive_check_ratio(const pf_archive *a, uint64_t decoded, perfile_error *err);

/* Fails with PERFILE_E_LIMIT if the META chunks up to this one hold too much for the archive. */
perfile_status pf_archive_map_fits(const pf_archive *a, const pf_chunk *c, perfile_error *err);

/* Appends the map of a META chunk that fits to `out`: else like pf_archive_payload(). */
perfile_status pf_archive_map(pf_archive *a, const pf_chunk *c, pf_buffer *out, perfile_error *err);

/* Appends the decoded bytes of a chunk to `out`, after all its checks.  PERFILE_E_CORRUPT: one of
 * them failed; nothing is appended then.  PERFILE_E_UNSUPPORTED: the codec is not known. */
perfile_status pf_archive_payload(pf_archive *a, const pf_chunk *c, pf_buffer *out,
                                  perfile_error *err);

/* Gets decoded bytes of a chunk. */
typedef void pf_archive_piece(void *user, perfile_bytes bytes);

/* The same, and shows the bytes in pieces as they are decoded, which are in the cache then: what is
 * stored has passed its check, what is decoded is checked at the end.  On a failure some pieces may
 * have been shown. */
perfile_status pf_archive_pieces(pf_archive *a, const pf_chunk *c, pf_buffer *out,
                                 pf_archive_piece *piece, void *user, perfile_error *err);

/* Decodes the records of a chunk with the codec COLUMNS that are apart (columns/columns.h), one
 * behind the other, to the empty buffer `out`; where they belong and where they are is appended to
 * `ranges`, pf_columns_range each.  Checks what it reads.  Errors as
 * of pf_archive_payload(). */
perfile_status pf_archive_apart(pf_archive *a, const pf_chunk *c, pf_buffer *out, pf_buffer *ranges,
                                uint64_t *n_records, perfile_error *err);

/* Shows the payload of a chunk as it is stored, without padding, until the next call on `a`.
 * PERFILE_E_CORRUPT: its checksum is wrong. */
perfile_status pf_archive_stored(pf_archive *a, const pf_chunk *c, perfile_bytes *stored,
                                 perfile_error *err);

/* Appends the metadata of a chunk to `out`.  PERFILE_E_CORRUPT: its checksum is wrong. */
perfile_status pf_archive_meta(pf_archive *a, const pf_chunk *c, pf_buffer *out,
                               perfile_error *err);

/* The same by the index, if it has the metadata of the chunk `c` of a->chunks. */
perfile_status pf_archive_zone(pf_archive *a, const pf_chunk *c, pf_buffer *out,
                               perfile_error *err);

/* The handle of an archive that is looked at as an archive.  For list.c,
 * verify.c, repair.c and source.c only. */

struct perfile_archive {
    pf_archive table;       /* its source is that of the handle, or the copy of a pipe */
    perfile_source *source; /* owned */
    perfile_source *copy;   /* of a pipe, owned; NULL: none */
    uint16_t *numbers;      /* of the captures in the headers of chunks, ascending */
    uint32_t n_captures;
    uint64_t decoded; /* bytes that RECORDS and BYTES chunks hold */
    pf_zone zone;     /* of the chunk that was shown last */
    pf_buffer bytes;  /* metadata or payload of a chunk */
    pf_buffer counts;
    pf_meta meta; /* of the capture that was shown last */
    pf_buffer parts;
    pf_buffer columns, names, listed; /* of the chunk whose columns were shown last */
};

/* The capture, from 1 on, that the number `source` in chunk headers stands for; 0: none. */
uint32_t pf_archive_capture_of(const perfile_archive *a, uint16_t source);

/* True if the header of a chunk stands at the beginning of the gap: then *c is the chunk, of which
 * the end is missing. */
bool pf_archive_cut_chunk(const pf_archive *a, const pf_archive_gap *gap, pf_chunk *c);

/* Puts together the metadata of the capture with the number `source` in chunk headers, those that
 * can be read. */
perfile_status pf_archive_read_meta(perfile_archive *a, uint16_t source, pf_meta *meta,
                                    perfile_error *err);

/* Which bytes of the parts of captures the chunks of an archive hold: holes, and bytes that are
 * there twice. */

/* Bytes of a part. */
typedef struct pf_cover_range {
    uint16_t source, part;
    uint64_t offset, bytes;
    uint32_t chunk; /* bytes that are there twice: the chunk that stands behind in the archive … */
    uint32_t other; /* … and the one in front */
} pf_cover_range;

typedef void pf_cover_fn(void *user, const pf_cover_range *range);

/* Calls `twice` for chunks that hold bytes of another one.  leave_out[] has an item for each chunk
 * of a->table: chunks with true are passed over, and those that were told become true. */
perfile_status pf_cover_twice(const perfile_archive *a, bool *leave_out, pf_cover_fn *twice,
                              void *user, perfile_error *err);

/* Calls `hole` for bytes that no chunk holds, up to the size of the part if the metadata say it;
 * chunks with leave_out[] (may be NULL) do not count. */
perfile_status pf_cover_holes(perfile_archive *a, const bool *leave_out, pf_cover_fn *hole,
                              void *user, perfile_error *err);

/* The check of an archive.  For verify.c only. */

typedef struct pf_verify {
    perfile_archive *a;
    void (*finding)(void *user, const perfile_archive_finding *finding);
    void *user;
    pf_archive walked;   /* the same archive, its chunks found one by one */
    pf_buffer books;     /* INDEX and END chunks of it, pf_chunk each, by offset */
    uint64_t last_index; /* offset of the last INDEX; 0: there was none */
    uint32_t named;      /* chunks of `walked` that are in front of it */
    pf_buffer payload, meta;
    pf_zone zone;          /* of a chunk, as it says */
    pf_zone_counts counts; /* of the same, counted */
} pf_verify;

/* Tells a finding about the chunk `c`, of the table of the archive or not; NULL: about none.
 * `is_lost`: what the chunk holds cannot be read. */
void pf_verify_tell(pf_verify *v, unsigned rule, unsigned severity, const pf_chunk *c, bool is_lost,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Checks the records of a chunk, decoded in v->payload, and what v->meta say about them if
 * `has_meta`.  PERFILE_E_NOMEM. */
perfile_status pf_verify_records(pf_verify *v, const pf_chunk *c, bool has_meta,
                                 perfile_error *err);

/* Checks an INDEX, decoded in v->payload, against the chunks in front of it; and an END. */
perfile_status pf_verify_index(pf_verify *v, const pf_chunk *c, perfile_error *err);
void pf_verify_end(pf_verify *v, const pf_chunk *c);

/* The bytes of one part of a capture in an archive, as a source: readers of captures find in it
 * what they would find in the file that was packed. */

/* perfile_archive_source() inside the library. */

/* Closes a source that perfile_archive_source() has put in the place of another one, which is the
 * caller's again.  No stream or entry of it may be open. */
void pf_archive_source_undo(perfile_source *image);

/* Makes another source of the directory in an archive that `source` is; either may be closed
 * first. */
perfile_status pf_archive_source_again(const perfile_source *source, perfile_source **again,
                                       perfile_error *err);

/* Chunks of which only the records that are apart are decoded, or nothing.  For image.c only. */

/* All zeros: everything is needed. */
typedef struct pf_image_narrow {
    bool on;
    bool
        facts_lost; /* zones are not believed: what they count by event or process cannot be read */
    const pf_narrow *how; /* NULL: samples are only counted */
    pf_archive *archive;
    const pf_chunk *const *chunks; /* of the part */
    uint32_t n_chunks;
    uint8_t *needs;     /* of each chunk: not known yet, or what is needed of it */
    uint32_t decoded;   /* the chunk that `zone`, `bytes` and `ranges` are of; UINT32_MAX: none */
    uint64_t n_records; /* of that chunk */
    pf_buffer bytes;    /* its records that are apart, one after the other */
    pf_buffer ranges;   /* pf_columns_range: where they are */
    size_t cursor;      /* the range that is looked at */
    pf_zone zone;
    pf_buffer meta;
} pf_image_narrow;

void pf_image_narrow_begin(pf_image_narrow *x, pf_archive *a, const pf_chunk *const *chunks,
                           uint32_t n, const pf_narrow *how);
void pf_image_narrow_free(pf_image_narrow *x);

/* See pf_source_ops.absent; `i` is the first chunk that ends behind `offset`. */
bool pf_image_absent(pf_image_narrow *x, uint32_t i, uint64_t offset, uint64_t sequence,
                     pf_absent *out);

/* Shows records that are needed, from `offset` on.  False: all of the chunk is needed, which it is
 * from then on. */
bool pf_image_shows(pf_image_narrow *x, uint32_t i, uint64_t offset, perfile_bytes *run);

/* Makes a source of part `part` of source `number`, of the archive `a`, which is borrowed and must
 * outlive it.  Its size is the end of the last chunk, or `size` if that is more.
 *
 * Bytes that no chunk holds, and chunks that are damaged: with `lost` they are zeros, and are added
 * to *lost, the latter when they are read.  Without, reading them is an error: PERFILE_E_CORRUPT,
 * with the place in the archive or, of missing bytes, in the part.
 *
 * PERFILE_E_CORRUPT: two chunks hold the same bytes.  PERFILE_E_LIMIT: more bytes are missing than
 * an archive of this size can have lost. */
perfile_status pf_archive_image(pf_archive *a, uint16_t number, uint16_t part, uint64_t size,
                                pf_source_lost *lost, const perfile_source_options *options,
                                perfile_source **image, perfile_error *err);

/* Copies all bytes of an image to a sink.  What is lost is added to *lost as usual, as zeros;
 * PERFILE_E_CORRUPT: a chunk that was checked decodes to other bytes than it should.
 * PERFILE_E_USAGE: `source` is no image. */
perfile_status pf_archive_image_copy(perfile_source *source, perfile_sink *sink,
                                     perfile_error *err);

#endif

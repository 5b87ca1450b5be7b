/* The table of an archive: which chunks it has, where they are, and which bytes belong to no chunk.
 * Also the parts that are built on it: images, the check, the handle of list.c.
 *
 * Chunks are found in two ways.  The index of a finished archive names all of them.  Without an
 * intact index, chunk headers are recognized wherever they are (pf_chunk_decode()).  So damage
 * costs only the damaged chunks, and the lost range is known exactly. */
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
#include "archive/command.h"

typedef struct pf_archive {
    perfile_source *source; /* borrowed */
    pf_archive_head head;   /* `id` is known even if the header is damaged */
    bool head_damaged;
    bool finished;       /* the archive ends with an END */
    bool from_index;     /* the table was read from the index, not by scanning headers */
    uint64_t last_index; /* offset of the last index, if `from_index` */
    pf_chunk *chunks;    /* META, RECORDS, BYTES and unknown kinds, by offset */
    uint32_t n_chunks, cap_chunks;
    const pf_chunk **order; /* n_chunks, by capture and part; see pf_archive_metas() */
    uint64_t maps_end;      /* offset of the first META chunk beyond the limit */
    pf_archive_gap *gaps;   /* by offset; none if `from_index` */
    uint32_t n_gaps, cap_gaps;
    /* Metadata of the first n_indexed chunks, copied from the index (at most
     * PF_ARCHIVE_MOST_INDEXED bytes), and the offset of each.  So a reader that skips a chunk reads
     * none of its bytes. */
    pf_buffer indexed, indexed_at; /* uint8_t; uint32_t */
    uint32_t n_indexed;
    bool borrowed;               /* chunks, order, gaps and indexed belong to another table */
    void *zstd;                  /* ZSTD_DCtx; NULL until it is needed */
    pf_columns_decoder *columns; /* NULL until it is needed */
    pf_buffer stored; /* stored bytes, copied if the source does not show them in one span */
} pf_archive;

enum { PF_ARCHIVE_MOST_INDEXED = 1 << 20 };

enum { PF_ARCHIVE_NO_INDEX = 1 << 0 /* scan for chunks although there is an index */ };

/* Sets *is if the bytes are an archive, even if its first bytes are damaged: then a chunk header
 * follows the file header or, with `by_end`, an END is at the end.  Without `by_end` the end is not
 * read, because this function is called for every capture that is opened.  A directory is not an
 * archive. */
perfile_status pf_archive_recognise(perfile_source *source, bool by_end, bool *is,
                                    perfile_error *err);

/* Reads the table of an archive from a seekable source.  *a must be all zeros; the caller clears it
 * with pf_archive_clear(), even after a failure.  Fails if no id is found, or if the header is
 * intact and of an unsupported version.  Damage after the header is not an error. */
perfile_status pf_archive_read(perfile_source *source, unsigned flags, pf_archive *a,
                               perfile_error *err);

/* Makes a table that borrows the chunks of `from` and reads from `source`, another source of the
 * same archive.  `from` must outlive *a.  Each has decoders of its own. */
void pf_archive_borrow(const pf_archive *from, perfile_source *source, pf_archive *a);

void pf_archive_clear(pf_archive *a);

/* Some of the chunks. */
typedef struct pf_archive_span {
    const pf_chunk *const *at;
    uint32_t n;
} pf_archive_span;

/* Return chunks of the capture with the number `source` in chunk headers: all in no particular
 * order; its META chunks by offset; all others, by part; RECORDS and BYTES chunks of one part by
 * raw_off, then by offset in the archive. */
pf_archive_span pf_archive_of_capture(const pf_archive *a, uint16_t source);
pf_archive_span pf_archive_metas(const pf_archive *a, uint16_t source);
pf_archive_span pf_archive_of_parts(const pf_archive *a, uint16_t source);
pf_archive_span pf_archive_of_part(const pf_archive *a, uint16_t source, uint16_t part);

/* Counts captures up to number `wanted` (from 1), and stores its number in chunk headers in
 * *source.  The result is less than `wanted` if there are fewer.  The cost depends on the number of
 * captures, not of chunks. */
uint32_t pf_archive_find_capture(const pf_archive *a, uint32_t wanted, uint16_t *source);

/* Sets a->order and a->maps_end from the chunks.  Fails with PERFILE_E_NOMEM only. */
perfile_status pf_archive_sort(pf_archive *a, perfile_error *err);

/* Fails with PERFILE_E_LIMIT if an archive of this size may not have `decoded` bytes in its chunks:
 * a few bytes of zstd can decode to any number of bytes. */
perfile_status pf_archive_check_ratio(const pf_archive *a, uint64_t decoded, perfile_error *err);

/* Fails with PERFILE_E_LIMIT if the META chunks up to and including this one are too large for the
 * archive. */
perfile_status pf_archive_map_fits(const pf_archive *a, const pf_chunk *c, perfile_error *err);

/* Like pf_archive_payload() for a META chunk, after pf_archive_map_fits(). */
perfile_status pf_archive_map(pf_archive *a, const pf_chunk *c, pf_buffer *out, perfile_error *err);

/* Appends the decoded bytes of a chunk to `out`, after all its checks.  PERFILE_E_CORRUPT: a check
 * failed, nothing was appended.  PERFILE_E_UNSUPPORTED: unknown codec. */
perfile_status pf_archive_payload(pf_archive *a, const pf_chunk *c, pf_buffer *out,
                                  perfile_error *err);

/* Receives decoded bytes of a chunk. */
typedef void pf_archive_piece(void *user, perfile_bytes bytes);

/* The same, and calls `piece` with the bytes while they are decoded, when they are in the cache.
 * The checksum of the stored bytes has been checked before, the one of the decoded bytes is checked
 * at the end.  So after a failure some pieces may have been delivered. */
perfile_status pf_archive_pieces(pf_archive *a, const pf_chunk *c, pf_buffer *out,
                                 pf_archive_piece *piece, void *user, perfile_error *err);

/* Decodes only the side-band records (pf_zone_is_apart()) of a COLUMNS chunk, one after the other,
 * to the empty buffer `out`.  Appends to `ranges` where they are in the chunk and in `out`
 * (pf_columns_range).  Only the bytes that are read are checked.  Errors as in
 * pf_archive_payload(). */
perfile_status pf_archive_apart(pf_archive *a, const pf_chunk *c, pf_buffer *out, pf_buffer *ranges,
                                uint64_t *n_records, perfile_error *err);

/* Yields the stored payload of a chunk, without padding; valid until the next call on `a`.
 * PERFILE_E_CORRUPT: its checksum is wrong. */
perfile_status pf_archive_stored(pf_archive *a, const pf_chunk *c, perfile_bytes *stored,
                                 perfile_error *err);

/* Appends the metadata of a chunk to `out`.  PERFILE_E_CORRUPT: its checksum is wrong. */
perfile_status pf_archive_meta(pf_archive *a, const pf_chunk *c, pf_buffer *out,
                               perfile_error *err);

/* The same, but takes the metadata from the index if it has them.  `c` must be one of a->chunks. */
perfile_status pf_archive_zone(pf_archive *a, const pf_chunk *c, pf_buffer *out,
                               perfile_error *err);

/* The public handle: an archive itself, not a capture in it.  For list.c, verify.c, repair.c and
 * source.c only. */

struct perfile_archive {
    pf_archive table;       /* reads from `source` or, for a pipe, from `copy` */
    perfile_source *source; /* owned */
    perfile_source *copy;   /* copy of a pipe, owned; NULL: `source` is no pipe */
    uint16_t *numbers;      /* capture numbers in chunk headers, ascending */
    uint32_t n_captures;
    uint64_t decoded; /* decoded bytes of all RECORDS and BYTES chunks */
    pf_zone zone;     /* of the chunk that was returned last */
    pf_buffer bytes;  /* metadata or payload of a chunk */
    pf_buffer counts;
    pf_meta meta; /* of the capture that was returned last */
    pf_buffer parts;
    pf_buffer columns, names, listed; /* columns of the chunk that were returned last */
};

/* Returns the number of a capture, from 1, for its number `source` in chunk headers; 0: there is
 * none. */
uint32_t pf_archive_capture_of(const perfile_archive *a, uint16_t source);

/* Returns true, and fills *c, if the gap begins with a chunk header: the end of the chunk is
 * missing. */
bool pf_archive_cut_chunk(const pf_archive *a, const pf_archive_gap *gap, pf_chunk *c);

/* Merges the readable META chunks of the capture with the number `source` in chunk headers. */
perfile_status pf_archive_read_meta(perfile_archive *a, uint16_t source, pf_meta *meta,
                                    perfile_error *err);

/* Coverage: which bytes of the parts are in no chunk of the archive, and which are in two. */

/* A range of a part. */
typedef struct pf_cover_range {
    uint16_t source, part;
    uint64_t offset, bytes;
    uint32_t chunk; /* if the bytes are in two chunks: the later one in the archive … */
    uint32_t other; /* … and the earlier one */
} pf_cover_range;

typedef void pf_cover_fn(void *user, const pf_cover_range *range);

/* Calls `twice` for each chunk that holds bytes of another one.  leave_out[] has an item for each
 * chunk of a->table: chunks with true are skipped, and it is set to true for the reported ones. */
perfile_status pf_cover_twice(const perfile_archive *a, bool *leave_out, pf_cover_fn *twice,
                              void *user, perfile_error *err);

/* Calls `hole` for each range of a part that is in no chunk, up to the size of the part if the
 * metadata have it.  Chunks with leave_out[] (may be NULL) are ignored. */
perfile_status pf_cover_holes(perfile_archive *a, const bool *leave_out, pf_cover_fn *hole,
                              void *user, perfile_error *err);

/* The check of an archive.  For verify.c only. */

typedef struct pf_verify {
    perfile_archive *a;
    void (*finding)(void *user, const perfile_archive_finding *finding);
    void *user;
    pf_archive walked;   /* the same archive, its chunks found by scanning */
    pf_buffer books;     /* its INDEX and END chunks (pf_chunk), by offset */
    uint64_t last_index; /* offset of the last INDEX; 0: there is none yet */
    uint32_t named;      /* chunks of `walked` before that INDEX */
    pf_buffer payload, meta;
    pf_zone zone;          /* of a chunk, as stored */
    pf_zone_counts counts; /* of the same chunk, counted from its records */
} pf_verify;

/* Reports a finding about the chunk `c`, which need not be in the table; NULL: about no chunk.
 * `is_lost`: the content of the chunk cannot be read. */
void pf_verify_tell(pf_verify *v, unsigned rule, unsigned severity, const pf_chunk *c, bool is_lost,
                    const char *format, ...) __attribute__((format(printf, 6, 7)));

/* Checks the records of a chunk, decoded in v->payload; and if `has_meta`, compares them with its
 * metadata in v->meta.  PERFILE_E_NOMEM. */
perfile_status pf_verify_records(pf_verify *v, const pf_chunk *c, bool has_meta,
                                 perfile_error *err);

/* Check an INDEX, decoded in v->payload, against the chunks before it; and an END. */
perfile_status pf_verify_index(pf_verify *v, const pf_chunk *c, perfile_error *err);
void pf_verify_end(pf_verify *v, const pf_chunk *c);

/* Images: one part of a capture in an archive, as a source.  A driver reads it like the file that
 * was packed. */

/* The parts of pf_archive_source() that the library uses itself. */

/* Closes a source made by pf_archive_source().  The source below is the caller's again.  No
 * stream or entry of `image` may be open. */
void pf_archive_source_undo(perfile_source *image);

/* Makes another source of the directory in an archive that `source` shows.  Either may be closed
 * first. */
perfile_status pf_archive_source_again(const perfile_source *source, perfile_source **again,
                                       perfile_error *err);

/* Partial decoding of an image: of some chunks only the side-band records are decoded, or nothing.
 * For image.c only. */

/* All zeros: every chunk is decoded completely. */
typedef struct pf_image_narrow {
    bool on;
    bool facts_lost;      /* a lost range may have had facts: trust no zone */
    const pf_narrow *how; /* the reader's request; NULL: samples are only counted */
    pf_archive *archive;
    const pf_chunk *const *chunks; /* of the part */
    uint32_t n_chunks;
    uint8_t *needs;     /* for each chunk: unknown, or what the reader needs */
    uint32_t decoded;   /* chunk of `zone`, `bytes` and `ranges`; UINT32_MAX: none */
    uint64_t n_records; /* of that chunk */
    pf_buffer bytes;    /* its side-band records, one after the other */
    pf_buffer ranges;   /* pf_columns_range: where they are in the chunk */
    size_t cursor;      /* index of the current range */
    pf_zone zone;
    pf_buffer meta;
} pf_image_narrow;

void pf_image_narrow_begin(pf_image_narrow *x, pf_archive *a, const pf_chunk *const *chunks,
                           uint32_t n, const pf_narrow *how);
void pf_image_narrow_free(pf_image_narrow *x);

/* See pf_source_ops.absent.  `i` is the first chunk that ends after `offset`. */
bool pf_image_absent(pf_image_narrow *x, uint32_t i, uint64_t offset, uint64_t sequence,
                     pf_absent *out);

/* Yields decoded side-band records from `offset` on.  Returns false if the chunk must be decoded
 * completely; this holds until narrowing begins anew. */
bool pf_image_shows(pf_image_narrow *x, uint32_t i, uint64_t offset, perfile_bytes *run);

/* Makes a source of the part `part` of the capture with the number `number` in chunk headers.  `a`
 * is borrowed and must outlive it.  The size is the end of the last chunk, or `size` if that is
 * more.
 *
 * Missing bytes and damaged chunks are read as zeros and added to *lost: missing bytes now, chunks
 * when they are read.  If `lost` is NULL, reading them fails with PERFILE_E_CORRUPT, with the
 * offset in the archive or, for missing bytes, in the part.
 *
 * PERFILE_E_CORRUPT: two chunks hold the same bytes.  PERFILE_E_LIMIT: more bytes are missing than
 * an archive of this size can have lost. */
perfile_status pf_archive_image(pf_archive *a, uint16_t number, uint16_t part, uint64_t size,
                                pf_source_lost *lost, const perfile_source_options *options,
                                perfile_source **image, perfile_error *err);

/* Copies all bytes of an image to a sink.  Lost bytes become zeros and are added to *lost, as when
 * they are read.  PERFILE_E_CORRUPT: a chunk with a correct checksum decodes to wrong bytes, some
 * of which were written already.  PERFILE_E_USAGE: `source` is not an image. */
perfile_status pf_archive_image_copy(perfile_source *source, perfile_sink *sink,
                                     perfile_error *err);

#endif

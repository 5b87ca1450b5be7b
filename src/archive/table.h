/* The chunks of an archive: where each lies, what it holds, and which bytes of the archive are
 * none.
 *
 * There are two ways to find them.  The index of a finished archive names all; else, and behind
 * damage, headers are recognised wherever they stand (pf_chunk_decode()), so that what is lost is
 * what was damaged, and known exactly. */
#ifndef PF_ARCHIVE_TABLE_H
#define PF_ARCHIVE_TABLE_H

#include "archive/columns.h"
#include "archive/header.h"
#include "base/buffer.h"
#include "core/narrow.h"
#include "io/source.h"

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

/* Decodes the records of a chunk with the codec COLUMNS that are apart (archive/columns.h), one
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

#endif

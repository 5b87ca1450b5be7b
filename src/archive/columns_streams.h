/* The streams of a payload of the codec COLUMNS: what the numbers and blobs of its columns are read
 * from.  For the decoder's files only. */
#ifndef PF_ARCHIVE_COLUMNS_STREAMS_H
#define PF_ARCHIVE_COLUMNS_STREAMS_H

#include <zstd.h>

#include "archive/columns.h"
#include "archive/columns_pool.h"

/* A payload that is being read.  The head and small streams are in frame 0, large streams have a
 * frame each.  After the first failure `bad` says what was wrong, and every read yields zeros. */
typedef struct pf_streams {
    ZSTD_DCtx *zstd;
    pf_pool pool; /* of everything that is decoded of this payload */
    const pf_columns_input *input;
    perfile_error *err;
    const char *bad;                  /* NULL: nothing was wrong */
    perfile_status status;            /* with `bad`: of which kind it was */
    size_t raw_len;                   /* decoded bytes of the chunk: the bound of every count */
    const uint8_t *head, *head_end;   /* the head, from the next byte on */
    const uint8_t *small, *small_end; /* small streams, from the next one on */
    const uint8_t *table;             /* sizes and checksums of the frames */
    uint32_t n_frames, frame;         /* all but frame 0, and the next of them */
    size_t offset;                    /* of the next frame in the payload */
} pf_streams;

/* Begins a payload: reads its table and its frame 0.  A failure is in s->bad. */
void pf_streams_open(pf_streams *s, const pf_columns_input *input, size_t raw_len,
                     perfile_error *err);

/* Sets `bad` unless it is set; the status is PERFILE_E_CORRUPT. */
void pf_streams_fail(pf_streams *s, const char *why);

/* Memory of the pool.  NULL: there is none, and `bad` is set. */
void *pf_streams_memory(pf_streams *s, size_t n);

/* A byte, and an unsigned LEB128 number of at most 64 bits, of the head. */
uint8_t pf_streams_u8(pf_streams *s);
uint64_t pf_streams_v(pf_streams *s);

/* A LEB128 number of a stream.  False: it runs past the end, or has more than 64 bits. */
bool pf_leb128(const uint8_t **at, const uint8_t *end, uint64_t *v);

/* The next stream, of `least` to `most` bytes; they stay until the next payload.  If it is not
 * `wanted`, it is passed by without being read, whatever its size is: `len` is that, and `ptr`
 * NULL.  Empty after a failure. */
perfile_bytes pf_streams_next(pf_streams *s, size_t least, size_t most, bool wanted);

/* True if all of the head, the small streams and the frames was read or passed by. */
bool pf_streams_at_end(const pf_streams *s);

#endif

/* Chunks of which only some records are decoded, such as those that are apart, or nothing.  For
 * image.c only. */
#ifndef PF_ARCHIVE_IMAGE_NARROW_H
#define PF_ARCHIVE_IMAGE_NARROW_H

#include "archive/table.h"
#include "core/narrow.h"

/* All zeros: everything is needed. */
typedef struct pf_image_narrow {
    bool on;
    const pf_narrow *how; /* NULL: samples are only counted */
    pf_archive *archive;
    const pf_chunk *const *chunks; /* of the part */
    uint32_t n_chunks;
    uint8_t *needs;       /* of each chunk: not known yet, or what is needed of it */
    uint64_t words;       /* of one of which words are */
    pf_narrow_span span;  /* of one of which some records are */
    uint32_t decoded;     /* the chunk that `zone`, `bytes` and `ranges` are of; UINT32_MAX: none */
    uint64_t n_records;   /* of that chunk */
    pf_buffer bytes;      /* its records that are apart, one behind the other */
    pf_buffer *whole;     /* where the image decodes whole chunks */
    const uint8_t *shown; /* the records that are shown: in `bytes`, or `whole` */
    pf_buffer ranges;     /* pf_columns_range: where they are */
    size_t cursor;        /* the range that is looked at */
    pf_zone zone;
    pf_buffer meta;
} pf_image_narrow;

/* `whole`: where the image decodes whole chunks.  Some records of a chunk go there as well, for the
 * first touch of other memory would cost as much as decoding: `whole` is empty then. */
void pf_image_narrow_begin(pf_image_narrow *x, pf_archive *a, const pf_chunk *const *chunks,
                           uint32_t n, const pf_narrow *how, pf_buffer *whole);
void pf_image_narrow_free(pf_image_narrow *x);

/* See pf_source_ops.absent; `i` is the first chunk that ends behind `offset`. */
bool pf_image_absent(pf_image_narrow *x, uint32_t i, uint64_t offset, uint64_t sequence,
                     pf_absent *out);

/* To be called before something is put into `whole`. */
void pf_image_narrow_forget(pf_image_narrow *x);

/* True if only some words of the data of chunk `i` are needed: which is in *words. */
bool pf_image_words(const pf_image_narrow *x, uint32_t i, uint64_t *words);

/* Shows records that are needed, from `offset` on.  False: all of the chunk is needed, which it is
 * from then on. */
bool pf_image_shows(pf_image_narrow *x, uint32_t i, uint64_t offset, perfile_bytes *run);

#endif

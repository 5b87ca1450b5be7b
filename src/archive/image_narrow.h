/* Chunks of which only the records that are apart are decoded, or nothing.  For image.c only. */
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
    uint8_t *needs;     /* of each chunk: not known yet, or what is needed of it */
    uint32_t decoded;   /* the chunk that `zone`, `bytes` and `ranges` are of; UINT32_MAX: none */
    uint64_t n_records; /* of that chunk */
    pf_buffer bytes;    /* its records that are apart, one behind the other */
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

#endif

/* Converting without moving a byte: what convert_image.c, which copies, and convert_swap.c, which
 * swaps bytes on the way, have in common. */
#ifndef PF_LIB_CONVERT_IMAGE_H
#define PF_LIB_CONVERT_IMAGE_H

#include "base/buffer.h"
#include "io/out.h"
#include "lib/convert.h"

typedef struct pf_image {
    pf_convert *x;
    pf_tee tee;             /* copies bytes of a source that is not mapped when they are read */
    perfile_source **bytes; /* sources of the files; owned if the input is a directory */
    uint32_t n_files;
    perfile_stream *stream;
    perfile_sink *sink; /* for the file that is being copied */
    uint32_t part;      /* index of that file */
    uint64_t copied;    /* bytes of that file that are in the output */
    pf_buffer swapped;  /* a run of records in the other byte order */
    /* perfile_section: where in the output the bodies of simpleperf's fragments are that wait for
     * the record joined from them. */
    pf_buffer fragments;
    uint64_t done;     /* bytes of the files before `part` */
    uint64_t total;    /* bytes of all files */
    uint64_t reported; /* position at the last call of the progress callback */
} pf_image;

/* Copies the bytes of the current file from m->copied up to offset `end`, or to the end of the file
 * if that comes first. */
perfile_status pf_image_copy_below(pf_image *m, uint64_t end, perfile_error *err);

/* convert_swap.c.  Before the first record: writes the swapped header of a pipe. */
perfile_status pf_image_swap_head(pf_image *m, perfile_error *err);

/* Writes a run of records in the other byte order. */
perfile_status pf_image_swap(pf_image *m, const perfile_record *first, size_t n,
                             perfile_error *err);

/* `r` is damage: if it is a header with a bad size, the header is swapped; all else will be copied
 * as it is. */
perfile_status pf_image_swap_damaged(pf_image *m, const perfile_record *r, perfile_error *err);

/* At the end: overwrites header, sections and features of a file with their swapped bytes. */
perfile_status pf_image_swap_facts(const pf_image *m, perfile_error *err);

#endif

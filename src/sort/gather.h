/* Copies samples of several strands into one buffer, by time. */
#ifndef PF_SORT_GATHER_H
#define PF_SORT_GATHER_H

#include "sort/strands.h"

/* Where a record lies in the input. */
typedef struct pf_sort_place {
    uint64_t offset;
    uint32_t part;
} pf_sort_place;

typedef struct pf_sort_gathered {
    uint8_t *to;  /* buffer of the caller */
    size_t bytes; /* in it */
    uint64_t n;   /* samples in it */
    /* Places of the first samples, as many as a run of records needs if the reader then asks for
     * records instead of bytes. */
    pf_sort_place from[PERFILE_RUN_RECORDS];
} pf_sort_gathered;

/* Appends samples with keys below `bound` to g->to, and advances the strands behind them.  Ends
 * when there are `bytes` bytes or `most` samples, or when the next record is no usual sample below
 * `bound`. g->to has room for `bytes` and one record of 65,535 bytes more. */
void pf_sort_gather(pf_sort_gathered *g, pf_sort_strands *s, uint64_t bound, uint64_t bytes,
                    uint64_t most, perfile_stream *stream);

#endif

/* Samples of several strands, copied one behind the other by time. */
#ifndef PF_SORT_GATHER_H
#define PF_SORT_GATHER_H

#include "sort/strands.h"

/* Where a record stood. */
typedef struct pf_sort_place {
    uint64_t offset;
    uint32_t part;
} pf_sort_place;

typedef struct pf_sort_gathered {
    uint8_t *to;
    size_t bytes;
    uint64_t n;
    pf_sort_place from[PERFILE_RUN_RECORDS]; /* of the first */
} pf_sort_gathered;

/* Copies samples with keys below `bound` behind what is there, until there are `bytes` or `most` of
 * them, or something else is next.  `to` has room for `bytes` and one record more. */
void pf_sort_gather(pf_sort_gathered *g, pf_sort_strands *s, uint64_t bound, uint64_t bytes,
                    uint64_t most, perfile_stream *stream);

#endif

/* A run of records, looked at once for all that is asked of it. */
#ifndef PF_STAGE_RUN_H
#define PF_STAGE_RUN_H

#include "base/byte_order.h"
#include "core/stream.h"
#include "perfile/event.h"
#include "perfile/record.h"

typedef struct pf_run {
    const perfile_record *first; /* of those that were peeked at there is no other */
    size_t n;
    uint64_t all;     /* a bit for each */
    uint64_t samples; /* which of them are samples */
    /* All are samples that have what this layout has a place for, in this machine's order; NULL:
     * each has to be looked at. */
    const perfile_layout *even;
    size_t stride; /* from one record to the next, where that is the same for all; else 0 */
    bool in_a_row; /* each has the sequence behind that of the one before */
} pf_run;

/* A bit for each of 1 to 64. */
static inline uint64_t pf_run_bits(size_t n)
{
    return UINT64_MAX >> (64 - n);
}

/* Of other families than perf's own, which have no samples: what was measured. */
uint64_t pf_run_data(const pf_run *run);

/* Which are counted as samples. */
static inline uint64_t pf_run_counted(const pf_run *run)
{
    return run->first->family == PERFILE_FAMILY_PERF ? run->samples : pf_run_data(run);
}

/* Of the 1 to 64 records that came in one run of `s`: of the same family and byte order, of one
 * session. */
pf_run pf_run_look(const perfile_stream *s, const perfile_record *first, size_t n);
/* Of samples that `s` has not made records yet; false when too few come next that are even. */
bool pf_run_peek(perfile_stream *s, pf_peeked *peeked, pf_run *run);
/* Of any 1 to 64 records. */
pf_run pf_run_look_at_any(const perfile_record *first, size_t n);

/* Of an even run: the word of record `i` in that slot. */
static inline uint64_t pf_run_word(const pf_run *run, size_t i, size_t slot)
{
    const uint8_t *body =
        run->stride ? run->first->body.ptr + i * run->stride : run->first[i].body.ptr;
    return pf_load_u64(body + 8 * slot, false);
}

#endif

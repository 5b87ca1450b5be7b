/* A run of records and their common properties, which are found in one pass over the headers.
 *
 * The fast paths of filter, sort and expressions begin here.  If all records of a run are samples
 * of one layout (an "even" run), pf_run_word() reads a field of fixed position from each body
 * without examining the records one by one.  Sets of records are bit masks with one bit per record
 * of the run. */
#ifndef PF_STAGE_RUN_H
#define PF_STAGE_RUN_H

#include "base/byte_order.h"
#include "core/stream.h"
#include "perfile/event.h"
#include "perfile/record.h"

typedef struct pf_run {
    const perfile_record *first;
    size_t n;         /* 1 to 64 */
    uint64_t all;     /* the low n bits */
    uint64_t samples; /* bit mask of the samples of perf's own family */
    /* If all records are samples in this machine's byte order, and long enough for all fixed fields
     * of the layout that all events have, this is that layout.  NULL: records must be examined one
     * by one. */
    const perfile_layout *even;
    size_t stride;    /* bytes from one record to the next if constant; otherwise 0 */
    bool consecutive; /* sequences increase by 1 */
} pf_run;

/* Returns a mask of the low `n` bits; n is 1 to 64. */
static inline uint64_t pf_run_bits(size_t n)
{
    return UINT64_MAX >> (64 - n);
}

/* Returns the bits of the records that are data by their role.  For families other than perf's own,
 * which have no samples. */
uint64_t pf_run_data(const pf_run *run);

/* Returns the bits of the records that count as samples in summaries. */
static inline uint64_t pf_run_counted(const pf_run *run)
{
    return run->first->family == PERFILE_FAMILY_PERF ? run->samples : pf_run_data(run);
}

/* Examines 1 to 64 records of one run of `s`; they have the same family, byte order and session. */
pf_run pf_run_examine(const perfile_stream *s, const perfile_record *first, size_t n);
/* Returns the minimum size of a sample with all fixed fields of the layout. */
size_t pf_run_least_bytes(const perfile_layout *layout);
/* Examines any 1 to 64 records, which may differ in family, byte order and session. */
pf_run pf_run_examine_any(const perfile_record *first, size_t n);

/* Returns the 64-bit word in `slot` of record `i`; the run must be even. */
static inline uint64_t pf_run_word(const pf_run *run, size_t i, size_t slot)
{
    const uint8_t *body =
        run->stride ? run->first->body.ptr + i * run->stride : run->first[i].body.ptr;
    return pf_load_u64(body + 8 * slot, false);
}

#endif

/* Which records can be trusted: those in chains that fit the events, less what stands out where a
 * chain breaks. */
#ifndef PF_PERF_SALVAGE_H
#define PF_PERF_SALVAGE_H

#include "perf/record_fit.h"
#include "schema/rows.h"
#include "schema/family.h"

/* What a look ahead found. */
typedef struct pf_salvage_result {
    size_t trusted;  /* so many bytes are records that can be handed out */
    bool broken;     /* behind them something is no record: */
    unsigned damage; /* why, … */
    size_t resume;   /* … and where records go on; the length of the bytes when nowhere in them */
} pf_salvage_result;

/* Looks at `bytes`, which begin with a record; `last`: the part ends where they do.  `island`: what
 * stands before them is no record.  Without `broken`, no more than was looked at can be said. */
pf_salvage_result pf_perf_look_ahead(pf_record_fit *v, perfile_bytes bytes, bool last, bool island);

/* Whether the header of a record may be at `at`.  Costs next to nothing: most places end here. */
static inline bool pf_perf_header_plausible(const uint8_t *at, size_t left, bool swap)
{
    if (left < PF_PERF_RECORD_HEADER ||
        pf_load_u32(at, swap) - 1 >= PERFILE_RECORD_SIMPLEPERF_END - 1)
        return false;
    pf_frame f = pf_frame_at(at, swap);
    if (f.size < PF_PERF_RECORD_HEADER || f.size > left)
        return false;
    const pf_row *row = pf_record_row(f.type);
    return row && f.size >= (uint32_t)PF_PERF_RECORD_HEADER + row->fixed;
}

/* Whether a chain of records that look right begins `bytes` and goes on behind the first `upto` of
 * them; of fewer than four up to the end of the bytes, but of `least`. */
bool pf_perf_is_chain(pf_record_fit *v, perfile_bytes bytes, size_t upto, unsigned least);

/* Whether records that look right stand in a row inside the bytes of one, four at least or up to
 * its end: then its size is wrong, and it has swallowed them. */
bool pf_perf_swallows(pf_record_fit *v, perfile_bytes record);

/* The first place in `bytes` at `from` or behind it where such a chain begins; bytes.len when there
 * is none. */
size_t pf_perf_resync(pf_record_fit *v, perfile_bytes bytes, size_t from);

#endif

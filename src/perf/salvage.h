/* Salvage: which records of damaged bytes can be trusted.  Those in chains that fit the events,
 * except for those next to a break that do not fit their surroundings.
 *
 * A chain is four plausible records in a row, or fewer that reach the end of the bytes.  All
 * functions work on bytes in memory; what the walk does with the result is in walk_damage.c. */
#ifndef PF_PERF_SALVAGE_H
#define PF_PERF_SALVAGE_H

#include "perf/record_fit.h"
#include "schema/rows.h"
#include "schema/family.h"

/* Evidence that records between two gaps belong to the capture.  That they fit its events is not
 * enough: a remnant of another capture with the same events would fit as well. */

/* What the chain of records behind a break shows: its times and its first processes. */
typedef struct pf_after_break {
    pf_record_fit times;
    uint32_t pids[16]; /* the first that differ, without the kernel's */
    unsigned n_pids;
} pf_after_break;

/* Adds a record of the chain; `time` is its time. */
void pf_after_break_note(pf_after_break *b, const perfile_record *r, uint64_t time);

/* True if the record `r` between two gaps is proven to belong to the capture: `time` is near the
 * times of other records or the range that SAMPLE_TIME declares.  A record without a time must be
 * of a process that also occurs behind the break `b`; an envelope needs the feature COMPRESSED. */
bool pf_record_belongs(const pf_record_fit *fit, const perfile_record *r, uint64_t time,
                       const pf_after_break *b);

/* What a look ahead found. */
typedef struct pf_salvage_result {
    size_t trusted;  /* bytes at the front that are records and can be delivered */
    bool broken;     /* behind them are bytes that are no records; only then: */
    unsigned damage; /* PERFILE_DAMAGE_… */
    size_t resume;   /* index where records go on; the length of the bytes if nowhere in them */
} pf_salvage_result;

/* Examines `bytes`, which begin with a record.  `last`: the part ends where they end.  `island`: a
 * gap lies directly in front of them.  *fit holds what earlier records have shown, and is updated
 * with the times of the records that are trusted.  Without `broken` the bytes behind `trusted` have
 * not been judged yet. */
pf_salvage_result pf_perf_look_ahead(pf_record_fit *fit, perfile_bytes bytes, bool last,
                                     bool island);

/* True if the 8 bytes at `at` could be the header of a complete record of a known type.  Cheap: a
 * search calls it for every byte, and nearly all of them fail here. */
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

/* True if `bytes` begin with a chain of plausible records: at least four, and reaching beyond the
 * first `upto` bytes; or fewer that end exactly where the bytes end, but at least `least`.  Records
 * are examined closely only if fit->session is set; each costs fit->budget. */
bool pf_perf_is_chain(pf_record_fit *fit, perfile_bytes bytes, size_t upto, unsigned least);

/* True if a type that is not known may be one of a newer kernel, perf or simpleperf: these count up
 * from theirs, and their records have sizes that are multiples of 8.  Others are bytes that were
 * overwritten. */
bool pf_perf_may_be_newer(uint32_t type, size_t size);

/* True if `record` contains other records, at least four in a row or up to its end: then its size
 * is damaged and has swallowed them. */
bool pf_perf_swallows(pf_record_fit *fit, perfile_bytes record);

/* Returns the first index in `bytes`, `from` or later, where a chain begins; bytes.len if none. */
size_t pf_perf_resync(pf_record_fit *fit, perfile_bytes bytes, size_t from);

#endif

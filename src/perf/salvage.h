/* Salvage: decides which records of damaged bytes can be trusted: those in chains that fit the
 * events, except for records next to a break that do not fit their neighbors.
 *
 * A chain is four plausible records in a row, or fewer if they end at the end of the bytes.  All
 * functions work on bytes in memory; walk.c uses the results. */
#ifndef PF_PERF_SALVAGE_H
#define PF_PERF_SALVAGE_H

#include "core/driver.h"
#include "perf/header.h"
#include "perfile/session.h"
#include "schema/rows.h"

/* How well a record fits its capture.  Salvage and repair ask this about bytes that may not be
 * records.  The answer is a set of PF_ODD_… bits; 0 means that nothing is odd.
 *
 * There are two degrees of strictness. pf_record_fit_record() finds what is impossible; it is used
 * inside a chain of good records. pf_record_fit_closely() also finds what is very unlikely; it is
 * used next to gaps and in searches, where the bytes must prove that they are records. */

/* Reasons why a record is odd. */
enum {
    PF_ODD_TYPE = 1 << 0,  /* unknown type: no row in format/ */
    PF_ODD_SIZE = 1 << 1,  /* a size that its type cannot have */
    PF_ODD_BODY = 1 << 2,  /* its fields do not fill the body, or do not fit into it */
    PF_ODD_ID = 1 << 3,    /* its id belongs to no event */
    PF_ODD_TIME = 1 << 4,  /* a time far from those around it */
    PF_ODD_MISC = 1 << 5,  /* misc bits that no kernel sets */
    PF_ODD_VALUE = 1 << 6, /* pids or names that no system has */
    PF_ODD_SLACK = 1 << 7, /* bytes after its last field, which may be other records */
    PF_ODD_HARD = PF_ODD_TYPE | PF_ODD_SIZE | PF_ODD_BODY | PF_ODD_ID
};

/* What earlier records have shown about the capture.  Times are those of trusted records. */
typedef struct pf_record_fit {
    const perfile_session *session;
    bool swap;
    bool begun;      /* there was a record with a time, which may be 0 */
    bool timed;      /* there was a record with a time other than 0: oldest and newest are valid */
    uint64_t oldest; /* least and greatest time */
    uint64_t newest;
    bool zeros; /* time 0 occurs after other times: this capture has late synthesized records */
    int64_t
        budget; /* work left for close examination; a search stops at 0 (see pf_perf_resync()) */
} pf_record_fit;

/* Sets *r to the record at `p` with the frame `f`.  The caller has checked that it is complete. */
static inline void pf_record_fit_fill(const pf_record_fit *fit, const uint8_t *p, const pf_frame *f,
                                      perfile_record *r)
{
    *r = (perfile_record){.header = p,
                          .body = {p + PF_PERF_RECORD_HEADER, f->size - PF_PERF_RECORD_HEADER},
                          .type = f->type,
                          .misc = f->misc,
                          .flags = fit->swap ? PERFILE_REC_SWAPPED : 0,
                          .session = fit->session};
}

/* Returns which oddities make `r` impossible: bits of PF_ODD_HARD, and PF_ODD_SLACK. */
uint32_t pf_record_fit_record(const perfile_record *r);

/* Returns true if a SAMPLE can be attributed to a known event and its fields fill it. */
bool pf_record_fit_sample(const perfile_record *r);

/* Returns everything that is odd about `r`: the strict test, for bytes that may not be a record. */
uint32_t pf_record_fit_closely(const pf_record_fit *fit, const perfile_record *r);

/* Returns true if `time` is near the range of the times in `seen`: no farther away than one second
 * plus a multiple of the length of the range.  The order of the records says nothing: perf writes
 * the ring buffers of the CPUs one after the other, so time goes back to the beginning of the
 * capture once for each buffer. */
bool pf_record_fit_near(const pf_record_fit *seen, uint64_t time);

/* Returns true if `time` is possible after the times in `seen`: it is near them, or later by no
 * more than the time a recording may be idle. */
bool pf_record_fit_time(const pf_record_fit *seen, uint64_t time);

/* Adds the time of a trusted record; PERFILE_NO_TIME is ignored. */
static inline void pf_record_fit_note_time(pf_record_fit *fit, uint64_t time)
{
    if (time == PERFILE_NO_TIME)
        return;
    fit->begun = true;
    if (time == 0) {
        fit->zeros |= fit->timed;
        return;
    }
    if (!fit->timed) {
        fit->timed = true;
        fit->oldest = fit->newest = time;
    } else if (time > fit->newest) {
        fit->newest = time;
    } else if (time < fit->oldest) {
        fit->oldest = time;
    }
}

/* Evidence that records between two gaps belong to the capture.  It is not enough that they fit its
 * events: a remnant of another capture with the same events would fit as well. */

/* What the chain of records after a break shows: its times and its first processes. */
typedef struct pf_after_break {
    pf_record_fit times;
    uint32_t pids[16]; /* the first distinct ones, without the kernel's */
    unsigned n_pids;
} pf_after_break;

/* Adds a record of the chain, with its time. */
void pf_after_break_note(pf_after_break *b, const perfile_record *r, uint64_t time);

/* Returns true if the record `r` between two gaps is proven to belong to the capture: `time` is
 * near the times of other records or near the range that SAMPLE_TIME declares.  A record without a
 * time must be of a process that also occurs after the break `b`.  An envelope needs the feature
 * COMPRESSED. */
bool pf_record_belongs(const pf_record_fit *fit, const perfile_record *r, uint64_t time,
                       const pf_after_break *b);

/* The result of pf_perf_look_ahead(). */
typedef struct pf_salvage_result {
    size_t trusted;  /* bytes at the beginning that are records and can be delivered */
    bool broken;     /* bytes that are not records follow them, described by the next members */
    unsigned damage; /* PERFILE_DAMAGE_… */
    size_t resume;   /* index where records go on; the length of the bytes if they do not */
} pf_salvage_result;

/* Examines `bytes`, which begin with a record.  `last`: they end where the part ends.  `island`:
 * there is a gap directly before them.  *fit holds what earlier records have shown; the times of
 * the trusted records are added to it.  If the result is not `broken`, the bytes after `trusted`
 * have not been judged yet. */
pf_salvage_result pf_perf_look_ahead(pf_record_fit *fit, perfile_bytes bytes, bool last,
                                     bool island);

/* Returns true if the 8 bytes at `at` could be the header of a complete record of a known type.  It
 * is cheap: a search calls it for every byte, and nearly all of them fail here. */
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

/* Returns true if `bytes` begin with a chain of plausible records: at least four records that reach
 * beyond the first `upto` bytes, or fewer that end exactly at the end of the bytes, but at least
 * `least`.  Records are examined closely only if fit->session is set; each examination costs
 * fit->budget. */
bool pf_perf_is_chain(pf_record_fit *fit, perfile_bytes bytes, size_t upto, unsigned least);

/* Returns true if an unknown type may be that of a newer kernel, perf or simpleperf: new types
 * follow the known ones, and sizes are multiples of 8.  Other types are overwritten bytes. */
bool pf_perf_may_be_newer(uint32_t type, size_t size);

/* Returns true if `record` contains other records, at least four in a row or up to its end.  Its
 * size is then damaged and has swallowed them. */
bool pf_perf_swallows(pf_record_fit *fit, perfile_bytes record);

/* Returns the first index in `bytes`, at or after `from`, where a chain begins; bytes.len if there
 * is none. */
size_t pf_perf_resync(pf_record_fit *fit, perfile_bytes bytes, size_t from);

/* Repair: guesses what the damaged header and sections of a capture no longer say.
 *
 * The result is a perfile_assume: values that the driver uses instead of those in the file.  The
 * file itself is not changed.  Records are not repaired here: salvage selects them when the file is
 * then opened with these values. */

/* Examines the seekable `source` and fills `r`, which must be all zero and is released by
 * pf_repair_free().  `given` is what the caller knows; it is not guessed again.  May be NULL.
 * Facts that look fine are not replaced; r->guessed says which were. */
perfile_status pf_perf_repair(perfile_source *source, const perfile_assume *given, pf_repair *r,
                              perfile_error *err);

/* perf/repair.c: finds events in bytes by what attrs look like.  Each pf_repair_find_… replaces the
 * events of `r` by those it finds and returns true if it found any. */

/* Returns the size of the attr at the beginning of `b`, 0 if the bytes do not look like an attr
 * that this library knows.  It is strict, for searches in arbitrary bytes. */
size_t pf_attr_plausible_size(perfile_bytes b, bool swap);

/* Returns true if `entry`, found at the offset of the attr section, can be an attr; it may be newer
 * than this library.  It is lenient. */
bool pf_attr_entry_plausible(perfile_bytes entry, bool swap);

/* Searches for the entries of the attr section.  Sets *end to the offset after the last one. */
bool pf_repair_find_attrs(pf_repair *r, perfile_bytes file, bool swap, uint64_t *end);
/* Searches for the feature EVENT_DESC, or for HEADER_ATTR records, from offset `from` on. */
bool pf_repair_find_desc(pf_repair *r, perfile_bytes file, bool swap, uint64_t from);
bool pf_repair_find_header_attrs(pf_repair *r, perfile_bytes file, bool swap, uint64_t from);

/* Fills `r` with the events of `given` and the ids of an ID_INDEX record of the file.  Returns
 * false if no such record has the same number of events. */
bool pf_repair_find_ids(pf_repair *r, perfile_bytes file, bool swap, const perfile_assume *given);

/* Opens `file` with the values of `assume` (NULL: as the file says) and counts how many of its
 * first samples fit its events.  For a file that cannot be opened, both counts are 0.  The only
 * error returned is PERFILE_E_NOMEM. */
perfile_status pf_repair_fit(perfile_bytes file, const perfile_assume *assume, pf_fit *out,
                             perfile_error *err);

#endif

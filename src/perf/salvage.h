/* Salvage: which records of damaged bytes can be trusted.  Those in chains that fit the events,
 * except for those next to a break that do not fit their surroundings.
 *
 * A chain is four plausible records in a row, or fewer that reach the end of the bytes.  All
 * functions work on bytes in memory; what the walk does with the result is in walk.c. */
#ifndef PF_PERF_SALVAGE_H
#define PF_PERF_SALVAGE_H

#include "core/driver.h"
#include "perf/header.h"
#include "perfile/session.h"
#include "schema/rows.h"

/* How well a record fits the capture it stands in: salvage and repair ask this of bytes that may
 * not be records.  The answer is a set of PF_ODD_… bits; 0 is a record with nothing odd.
 *
 * There are two degrees.  pf_record_fit_record() finds what cannot be, and is used inside a chain
 * of good records.  pf_record_fit_closely() also finds what hardly any system writes, and is used
 * next to gaps and in searches, where the bytes have to prove that they are records. */

/* What is odd about a record. */
enum {
    PF_ODD_TYPE = 1 << 0,  /* unknown type: no row in format/ */
    PF_ODD_SIZE = 1 << 1,  /* a size that its type cannot have */
    PF_ODD_BODY = 1 << 2,  /* its fields do not fill the body, or do not fit into it */
    PF_ODD_ID = 1 << 3,    /* its id belongs to no event */
    PF_ODD_TIME = 1 << 4,  /* a time far from those around it */
    PF_ODD_MISC = 1 << 5,  /* misc bits that no kernel sets */
    PF_ODD_VALUE = 1 << 6, /* pids or names that no system has */
    PF_ODD_SLACK = 1 << 7, /* bytes behind its last field, which may be other records */
    PF_ODD_HARD = PF_ODD_TYPE | PF_ODD_SIZE | PF_ODD_BODY | PF_ODD_ID
};

/* What the records seen so far show of the capture.  Times are those of trusted records. */
typedef struct pf_record_fit {
    const perfile_session *session;
    bool swap;
    bool begun;      /* there was a record with a time, which may be 0 */
    bool timed;      /* there was one with a time other than 0: oldest and newest are valid */
    uint64_t oldest; /* least and greatest time */
    uint64_t newest;
    bool zeros; /* time 0 occurs behind other times: synthesized records come late here */
    int64_t
        budget; /* work left for close examination; a search stops at 0 (see pf_perf_resync()) */
} pf_record_fit;

/* Makes `r` the record at `p` with the frame `f`; the caller has checked that it is complete. */
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

/* Returns what is impossible for `r`: bits of PF_ODD_HARD, and PF_ODD_SLACK. */
uint32_t pf_record_fit_record(const perfile_record *r);

/* True if a SAMPLE can be attributed to a known event and its fields fill it. */
bool pf_record_fit_sample(const perfile_record *r);

/* Returns everything that is odd about `r`, for bytes that may be no record. */
uint32_t pf_record_fit_closely(const pf_record_fit *fit, const perfile_record *r);

/* True if `time` lies within one second plus a multiple of the range of the times in `seen`.  The
 * order of the records says nothing: perf writes the ring buffers of the processors one after the
 * other, so that time goes back to the beginning of the capture as often as there are buffers. */
bool pf_record_fit_near(const pf_record_fit *seen, uint64_t time);

/* True if nothing speaks against `time` behind the times in `seen`: it is near them, or later by no
 * more than a recording may be idle. */
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

/* Repair: guessing what the damaged header and sections of a capture no longer say.
 *
 * The result is a perfile_assume: values that the driver uses instead of those in the file.  The
 * file itself is not changed.  Records are not repaired here; salvage (perf/salvage.h) selects them
 * when the file is then opened with these values. */

/* Examines the seekable `source` and fills `r`, which must be all zero and is released by
 * pf_repair_free().  `given` (may be NULL) is what the caller knows; it is not guessed again.  What
 * looks fine is not replaced: r->guessed says what was. */
perfile_status pf_perf_repair(perfile_source *source, const perfile_assume *given, pf_repair *r,
                              perfile_error *err);

/* perf/repair.c: finding events in bytes by what attrs look like.  Each pf_repair_find_…
 * replaces the events of `r` by those it finds and returns true if it found any. */

/* Returns the size of the attr at the beginning of `b`, 0 if the bytes do not look like an attr
 * that this library knows.  Strict: for searching in arbitrary bytes. */
size_t pf_attr_plausible_size(perfile_bytes b, bool swap);

/* True if `entry`, found where the header says that attrs are, can be an attr; it may be newer than
 * this library.  Lenient. */
bool pf_attr_entry_plausible(perfile_bytes entry, bool swap);

/* Searches the entries of the attr section; *end is the offset behind the last. */
bool pf_repair_find_attrs(pf_repair *r, perfile_bytes file, bool swap, uint64_t *end);
/* Searches a feature EVENT_DESC, or HEADER_ATTR records, from offset `from` on. */
bool pf_repair_find_desc(pf_repair *r, perfile_bytes file, bool swap, uint64_t from);
bool pf_repair_find_header_attrs(pf_repair *r, perfile_bytes file, bool swap, uint64_t from);

/* Fills `r` with the events of `given` and the ids of an ID_INDEX record of the file; false if
 * there is none whose number of events is the same. */
bool pf_repair_find_ids(pf_repair *r, perfile_bytes file, bool swap, const perfile_assume *given);

/* Opens `file` with the values of `assume` (NULL: as the file says) and counts how many of its
 * first samples its events fit.  A file that cannot be opened has 0 of 0; errors other than
 * PERFILE_E_NOMEM are not returned. */
perfile_status pf_repair_fit(perfile_bytes file, const perfile_assume *assume, pf_fit *out,
                             perfile_error *err);

#endif

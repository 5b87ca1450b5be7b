/* How well a record fits the capture it stands in: salvage and repair ask this of bytes that may
 * not be records.  The answer is a set of PF_ODD_… bits; 0 is a record with nothing odd.
 *
 * There are two degrees.  pf_record_fit_record() finds what cannot be, and is used inside a chain
 * of good records.  pf_record_fit_closely() also finds what hardly any system writes, and is used
 * next to gaps and in searches, where the bytes have to prove that they are records. */
#ifndef PF_PERF_RECORD_FIT_H
#define PF_PERF_RECORD_FIT_H

#include "schema/frame.h"
#include "perfile/session.h"

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
    bool zeros;     /* time 0 occurs behind other times: synthesized records come late here */
    int64_t budget; /* work left for close examination; a search stops at 0 (see resync.c) */
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

#endif

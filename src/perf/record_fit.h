/* How much a record looks like one of the capture it stands in. */
#ifndef PF_PERF_RECORD_FIT_H
#define PF_PERF_RECORD_FIT_H

#include "schema/frame.h"
#include "perfile/session.h"

/* What is odd about a record. */
enum {
    PF_ODD_TYPE = 1 << 0, /* no row in format/ */
    PF_ODD_SIZE = 1 << 1, /* none that its type can have */
    PF_ODD_BODY = 1 << 2, /* its fields do not fill it */
    PF_ODD_ID = 1 << 3,   /* of no event */
    PF_ODD_TIME = 1 << 4, /* far from those around it */
    PF_ODD_MISC = 1 << 5, /* bits that nobody sets */
    PF_ODD_VALUE = 1 << 6, /* numbers and names that no system has */
    PF_ODD_SLACK = 1 << 7, /* bytes behind the string at its end, in which others may lie */
    PF_ODD_HARD = PF_ODD_TYPE | PF_ODD_SIZE | PF_ODD_BODY | PF_ODD_ID
};

/* What was seen of the capture so far. */
typedef struct pf_record_fit {
    const perfile_session *session;
    bool swap;
    bool begun;      /* there were records with a time, be it 0 */
    bool timed;      /* the times below are there */
    uint64_t oldest; /* of trusted records */
    uint64_t newest;
    bool zeros;     /* what existed before the recording (time 0) is told late in this capture */
    uint64_t back;  /* the greatest step back in time among them */
    int64_t budget; /* how long records may still be looked at closely */
} pf_record_fit;

/* Fills `r` with the record at `p`, whose frame `f` lies inside the bytes that are there. */
static inline void pf_record_fit_fill(const pf_record_fit *v, const uint8_t *p, const pf_frame *f,
                                      perfile_record *r)
{
    *r = (perfile_record){.header = p,
                          .body = {p + PF_PERF_RECORD_HEADER, f->size - PF_PERF_RECORD_HEADER},
                          .type = f->type,
                          .misc = f->misc,
                          .flags = v->swap ? PERFILE_REC_SWAPPED : 0,
                          .session = v->session};
}

/* What is hard to believe of `r`: PF_ODD_HARD, and PF_ODD_SLACK. */
uint32_t pf_record_fit_record(const perfile_record *r);

/* Whether a SAMPLE is of an event that is known, and fits it. */
bool pf_record_fit_sample(const perfile_record *r);

/* All that is odd, for places where it is not sure that there are records. */
uint32_t pf_record_fit_closely(const pf_record_fit *v, const perfile_record *r);

/* Whether a time fits between those of trusted records and `after` (PERFILE_NO_TIME: not known). */
bool pf_record_fit_time(const pf_record_fit *v, uint64_t time, uint64_t after);

/* Remembers the time of a trusted record. */
static inline void pf_record_fit_note_time(pf_record_fit *v, uint64_t time)
{
    if (time == PERFILE_NO_TIME)
        return;
    v->begun = true;
    if (time == 0) {
        v->zeros |= v->timed;
        return;
    }
    if (!v->timed) {
        v->timed = true;
        v->oldest = v->newest = time;
    } else if (time > v->newest) {
        v->newest = time;
    } else {
        if (v->newest - time > v->back)
            v->back = v->newest - time;
        if (time < v->oldest)
            v->oldest = time;
    }
}

#endif

/* The time that decides where a record goes. */
#ifndef PF_STAGE_SORT_KEY_H
#define PF_STAGE_SORT_KEY_H

#include "perfile/abi.h"
#include "perfile/record.h"

/* What the records of a part have said so far. */
typedef struct pf_sort_clock {
    uint64_t near; /* the last time that was not 0 */
    uint64_t top;  /* the latest */
} pf_sort_clock;

/* Says something of the capture as a whole: readers want it in front of what it is about. */
bool pf_sort_is_fact(uint32_t type);

/* A record of the kernel without a time lies in the buffer of the one in front of it.  What tools
 * wrote stays behind all it stood behind, so that its order is kept among its own kind. */
static inline uint64_t pf_sort_key(pf_sort_clock *c, const perfile_record *r)
{
    uint64_t time = perfile_record_time(r);
    if (time == PERFILE_NO_TIME)
        return r->type < PERFILE_RECORD_USER ? c->near : pf_sort_is_fact(r->type) ? 0 : c->top;
    if (time) {
        c->near = time;
        c->top = time > c->top ? time : c->top;
    }
    return time;
}

#endif

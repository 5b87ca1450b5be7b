/* The time that decides where a record goes. */
#ifndef PF_STAGE_TIME_KEY_H
#define PF_STAGE_TIME_KEY_H

#include "base/byte_order.h"
#include "core/layout.h"
#include "core/session.h"
#include "perfile/abi.h"
#include "perfile/record.h"
#include "schema/family.h"

/* What the records of a part have said so far. */
typedef struct pf_time_clock {
    uint64_t near; /* the last time that was not 0 */
    uint64_t top;  /* the latest */
} pf_time_clock;

/* A record of the kernel without a time lies in the buffer of the one in front of it.  What tools
 * wrote stays behind all it stood behind, so that its order is kept among its own kind, unless it
 * says something of the capture as a whole. */
static inline uint64_t pf_time_key_of(pf_time_clock *c, const perfile_record *r, uint64_t time)
{
    if (time == PERFILE_NO_TIME && !pf_is_of_tool(r))
        return c->near;
    if (time == PERFILE_NO_TIME)
        return pf_marks_of(r) & PF_ROW_FIRST ? 0 : c->top;
    if (time) {
        c->near = time;
        c->top = time > c->top ? time : c->top;
    }
    return time;
}

static inline uint64_t pf_time_key(pf_time_clock *c, const perfile_record *r)
{
    return pf_time_key_of(c, r, perfile_record_time(r));
}

/* Where the time is in samples, as long as that is the same place for all events. */
typedef struct pf_time_place {
    size_t at;   /* in the body */
    size_t need; /* bytes of a body that has it; SIZE_MAX: nobody knows */
} pf_time_place;

static inline pf_time_place pf_time_place_of(const perfile_session *s)
{
    const perfile_layout *all = pf_session_layout(s);
    int slot = all ? all->sample_slot[PF_SLOT_TIME] : -1;
    return slot < 0 ? (pf_time_place){0, SIZE_MAX}
                    : (pf_time_place){8 * (size_t)slot, 8 * (size_t)slot + 8};
}

#endif

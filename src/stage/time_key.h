/* The sort key of a record: its time, or a stand-in for records without one.  sort/ computes it in
 * both of its passes, so it must depend on nothing but the records in front of it in its part. */
#ifndef PF_STAGE_TIME_KEY_H
#define PF_STAGE_TIME_KEY_H

#include "base/byte_order.h"
#include "core/layout.h"
#include "core/session.h"
#include "perfile/abi.h"
#include "perfile/record.h"
#include "schema/rows.h"

/* The times seen so far in one part of the capture, from which records without a time get their
 * key.  All zeros: none yet. */
typedef struct pf_time_clock {
    uint64_t last_time; /* ns: time of the last record whose time is not 0 */
    uint64_t max_time;  /* ns: greatest time so far */
} pf_time_clock;

/* The key of `r`, whose time is `time` (PERFILE_NO_TIME: none); advances the clock.
 *
 * A kernel record without a time came from the same ring buffer as the record before it, and gets
 * the key of that one.  A tool record without a time must stay behind every record that it stood
 * behind, and gets the greatest time so far.  Tool records that describe the whole capture (mark
 * PF_ROW_FIRST: attrs, features, build ids) get 0 and go to the front.  A time of 0 (synthesized
 * side-band) is a key of its own and does not advance the clock. */
static inline uint64_t pf_time_key_of(pf_time_clock *c, const perfile_record *r, uint64_t time)
{
    if (time == PERFILE_NO_TIME && !pf_is_of_tool(r))
        return c->last_time;
    if (time == PERFILE_NO_TIME)
        return pf_marks_of(r) & PF_ROW_FIRST ? 0 : c->max_time;
    if (time) {
        c->last_time = time;
        c->max_time = time > c->max_time ? time : c->max_time;
    }
    return time;
}

/* The same, with the time taken from the record. */
static inline uint64_t pf_time_key(pf_time_clock *c, const perfile_record *r)
{
    return pf_time_key_of(c, r, pf_record_order(r));
}

/* The offset of the time in samples, where it is the same for all events. */
typedef struct pf_time_place {
    size_t at;   /* offset in the body */
    size_t need; /* least body size that contains the time; SIZE_MAX: the offset differs by event */
} pf_time_place;

/* The place for the events that `s` has now; it may change when the session learns more. */

static inline pf_time_place pf_time_place_of(const perfile_session *s)
{
    const perfile_layout *all = pf_session_layout(s);
    int slot = all ? all->sample_slot[PF_SLOT_TIME] : -1;
    return slot < 0 ? (pf_time_place){0, SIZE_MAX}
                    : (pf_time_place){8 * (size_t)slot, 8 * (size_t)slot + 8};
}

#endif

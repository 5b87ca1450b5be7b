/* Where the fields of fixed size are, worked out once per event. */
#ifndef PF_CORE_LAYOUT_H
#define PF_CORE_LAYOUT_H

#include "perfile/event.h"

/* Positions in sample_slot and trailer_slot. */
enum {
    PF_SLOT_IP = 0,
    PF_SLOT_TID = 1,
    PF_SLOT_TIME = 2,
    PF_SLOT_ADDR = 3,
    PF_SLOT_ID = 6,
    PF_SLOT_CPU = 7,
    PF_SLOT_PERIOD = 8,
    PF_SLOT_STREAM_ID = 9,
    PF_SLOT_IDENTIFIER = 16
};

void pf_layout_make(perfile_layout *layout, const perfile_attr *attr);

/* Whether records of both are decoded alike. */
bool pf_layout_equal(const perfile_layout *a, const perfile_layout *b);

/* Where the id of a SAMPLE (word in the body) and of other records (word from the end) is; -1 when
 * there is none. */
static inline int pf_layout_sample_id(const perfile_layout *l)
{
    return l->sample_slot[PF_SLOT_IDENTIFIER] >= 0 ? l->sample_slot[PF_SLOT_IDENTIFIER]
                                                   : l->sample_slot[PF_SLOT_ID];
}

static inline int pf_layout_trailer_id(const perfile_layout *l)
{
    return l->trailer_slot[PF_SLOT_IDENTIFIER] >= 0 ? l->trailer_slot[PF_SLOT_IDENTIFIER]
                                                    : l->trailer_slot[PF_SLOT_ID];
}

#endif

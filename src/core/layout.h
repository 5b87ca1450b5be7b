/* Where the fields of fixed size are, worked out once per event. */
#ifndef PF_CORE_LAYOUT_H
#define PF_CORE_LAYOUT_H

#include "perfile/event.h"

/* Positions in sample_slot and trailer_slot. */
enum {
    PF_SLOT_IP = __builtin_ctz(PERFILE_SAMPLE_IP),
    PF_SLOT_TID = __builtin_ctz(PERFILE_SAMPLE_TID),
    PF_SLOT_TIME = __builtin_ctz(PERFILE_SAMPLE_TIME),
    PF_SLOT_ADDR = __builtin_ctz(PERFILE_SAMPLE_ADDR),
    PF_SLOT_ID = __builtin_ctz(PERFILE_SAMPLE_ID),
    PF_SLOT_CPU = __builtin_ctz(PERFILE_SAMPLE_CPU),
    PF_SLOT_PERIOD = __builtin_ctz(PERFILE_SAMPLE_PERIOD),
    PF_SLOT_STREAM_ID = __builtin_ctz(PERFILE_SAMPLE_STREAM_ID),
    PF_SLOT_IDENTIFIER = __builtin_ctz(PERFILE_SAMPLE_IDENTIFIER)
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

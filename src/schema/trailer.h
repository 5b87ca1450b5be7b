/* Where the body of a kernel record ends and its trailer (sample_id) begins: decided here alone. */
#ifndef PF_SCHEMA_TRAILER_H
#define PF_SCHEMA_TRAILER_H

#include "perfile/event.h"

/* Bytes of the fixed part of a kernel record and 1; 0 for types that have no row. */
extern const uint8_t pf_record_fixed_plus_one[PERFILE_RECORD_USER];

static inline bool pf_record_known(uint32_t type)
{
    return type < PERFILE_RECORD_USER && pf_record_fixed_plus_one[type] != 0;
}

/* pf_record_split() for records that are no samples. */
bool pf_record_split_trailer(const perfile_record *r, const perfile_layout *l, bool as_stored,
                             perfile_bytes *body, perfile_bytes *trailer);

/* Splits the body of `r`, whose layout is `l` (NULL: none).  False when it has no trailer: then
 * *body is all of it.  `as_stored`: no second thoughts about records of tools that left the trailer
 * out. */
static inline bool pf_record_split(const perfile_record *r, const perfile_layout *l, bool as_stored,
                                   perfile_bytes *body, perfile_bytes *trailer)
{
    *body = r->body;
    *trailer = (perfile_bytes){NULL, 0};
    if (!l || !l->trailer_size || r->type == PERFILE_RECORD_SAMPLE)
        return false;
    return pf_record_split_trailer(r, l, as_stored, body, trailer);
}

#endif

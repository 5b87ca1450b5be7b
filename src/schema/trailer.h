/* Where the body of a kernel record ends and its trailer (sample_id) begins.  No other code decides
 * that. */
#ifndef PF_SCHEMA_TRAILER_H
#define PF_SCHEMA_TRAILER_H

#include "perfile/event.h"

/* By type: size of the fixed part of a kernel record plus 1; 0 for types without a row. */
extern const uint8_t pf_record_fixed_plus_one[PERFILE_RECORD_USER];

static inline bool pf_record_known(uint32_t type)
{
    return type < PERFILE_RECORD_USER && pf_record_fixed_plus_one[type] != 0;
}

/* True for types of the kernel, also of kernels to come. */
static inline bool pf_record_of_kernel(uint32_t type)
{
    return type - 1 < PERFILE_RECORD_USER - 1;
}

/* The part of pf_record_split() that is not inlined.  The record is no sample and its layout has a
 * trailer. */
bool pf_record_split_trailer(const perfile_record *r, const perfile_layout *l, bool as_stored,
                             perfile_bytes *body, perfile_bytes *trailer);

/* Splits r->body into *body and *trailer.  `l` is the record's layout (NULL: none).  Returns false
 * if the record has no trailer: then *body is all of r->body.  With `as_stored` a trailer is
 * assumed wherever the layout has one, even where the record looks as if a tool had left it out. */
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

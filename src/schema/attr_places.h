/* The sizes of a perf_event_attr, and the offsets of its members that decide the layout of records.
 */
#ifndef PF_SCHEMA_ATTR_PLACES_H
#define PF_SCHEMA_ATTR_PLACES_H

#include <stdbool.h>
#include <stdint.h>

#include "perfile/abi.h"

enum {
    PF_ATTR_SIZE_AT = 4,         /* u32, its own size; 0 is that of the first version */
    PF_ATTR_SAMPLE_TYPE_AT = 24, /* u64, as the next two */
    PF_ATTR_READ_FORMAT_AT = 32,
    PF_ATTR_FLAGS_AT = 40, /* of bit fields */
    PF_ATTR_BRANCH_TYPE_AT = 72,
    PF_ATTR_LEAST = 64,               /* the first version: PERF_ATTR_SIZE_VER0 */
    PF_ATTR_OURS = PERFILE_ATTR_SIZE, /* the last that format/structs.def has the members of */
    PF_ATTR_MOST = 4096               /* more is none: the kernel takes no more than a page */
};

/* PERF_ATTR_SIZE_VER0 and later ones.  88 was never one. */
static inline bool pf_attr_size_is_known(uint64_t size)
{
    return size == PF_ATTR_LEAST || size == 72 || size == 80 ||
           (size >= 96 && size <= PF_ATTR_OURS && size % 8 == 0);
}

#endif

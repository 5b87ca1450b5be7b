/* The places of fields that have a fixed place in all samples and trailers of an event, computed
 * once per event.  Only the 64-bit words at the front of a sample, and all of a trailer, qualify.
 */
#ifndef PF_CORE_LAYOUT_H
#define PF_CORE_LAYOUT_H

#include <stdint.h>

#include "perfile/event.h"

/* Markers in call chains: entries at or above PF_CONTEXT_LEAST are no addresses, but say which kind
 * of code the addresses behind them are of.  PERF_CONTEXT_… of uapi/linux/perf_event.h. */

#define PF_CONTEXT_HYPERVISOR ((uint64_t)-32)
#define PF_CONTEXT_KERNEL     ((uint64_t)-128)
#define PF_CONTEXT_USER       ((uint64_t)-512)
/* A cookie follows, in place of user addresses that a CALLCHAIN_DEFERRED record has. */
#define PF_CONTEXT_DEFERRED     ((uint64_t)-640)
#define PF_CONTEXT_GUEST        ((uint64_t)-2048)
#define PF_CONTEXT_GUEST_KERNEL ((uint64_t)-2176)
#define PF_CONTEXT_GUEST_USER   ((uint64_t)-2560)
#define PF_CONTEXT_LEAST        ((uint64_t)-4095)

/* Indices into sample_slot and trailer_slot: bit numbers of sample_type. */
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

/* Fills *layout from an attr. */
void pf_layout_make(perfile_layout *layout, const perfile_attr *attr);

/* True if records of both layouts are decoded in the same way. */
bool pf_layout_equal(const perfile_layout *a, const perfile_layout *b);

/* The place of the id: in samples the word of the body, in trailers the word from the end; -1 if
 * there is none. IDENTIFIER wins over ID, because it stands at a place that does not depend on
 * other fields. */
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

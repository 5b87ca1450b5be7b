/* Adding samples to a zone: the fast path of pf_zone_add(). */
#ifndef PF_CORE_ZONE_SAMPLES_H
#define PF_CORE_ZONE_SAMPLES_H

#include "core/zone.h"

/* What samples had lately.  A new one mostly has the same, which is then known to be in the sets
 * and needs no further work. */
typedef struct pf_zone_recent pf_zone_recent;

/* Forgets all of it. */
void pf_zone_recent_clear(pf_zone_recent *recent);

/* Adds the samples that have not been counted by event yet to z->events; z->recent is not NULL. */
void pf_zone_recent_count(pf_zone *z);

static inline bool pf_zone_is_sample(const perfile_record *r)
{
    return r->type == PERFILE_RECORD_SAMPLE && r->family == PERFILE_FAMILY_PERF && r->session;
}

/* Adds the samples that `first` begins with, at least one; *done is how many.  False: no memory. */
bool pf_zone_add_samples(pf_zone *z, const perfile_record *first, size_t n, size_t *done);

static inline void pf_zone_widen(uint64_t *first, uint64_t *last, uint64_t time)
{
    *first = time < *first ? time : *first;
    *last = time > *last ? time : *last;
}

#endif

/* Order of time, checked once for each record that has a time.  Inline: it runs for every sample.
 */
#ifndef PF_CHECK_TIMES_H
#define PF_CHECK_TIMES_H

#include "check/check.h"

/* The findings, out of line because they are rare: V-212, the time of a processor stepped back by
 * `before` ns; V-515, the record is older than the last round but one allows. */
void pf_check_time_went_back(pf_check *c, const perfile_record *r, uint64_t before, uint32_t cpu);
void pf_check_older_than_round(pf_check *c, const perfile_record *r, uint64_t time);

/* `cpu`: UINT32_MAX when not known. */
static inline void pf_check_time(pf_check *c, const perfile_record *r, uint64_t time, uint32_t cpu)
{
    /* Synthesized records have time 0. */
    if (time == 0 || time == PERFILE_NO_TIME)
        return;
    c->timed_records++;
    if (time < c->floor_time)
        pf_check_older_than_round(c, r, time);
    if (time >= c->max_time)
        c->max_time = time;
    else
        c->unsorted++;
    if (c->after_round++ == 0) { /* V-516 reports the first after the last round */
        c->after_round_offset = r->offset;
    }
    if (cpu < PF_CHECK_CPUS) {
        uint64_t before = c->cpu_time[cpu];
        if (time < before)
            pf_check_time_went_back(c, r, before - time, cpu);
        else
            c->cpu_time[cpu] = time;
    }
}

#endif

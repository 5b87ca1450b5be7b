/* Time, once for each record that has one. */
#ifndef PF_CHECK_TIMES_H
#define PF_CHECK_TIMES_H

#include "check/ahead.h"

/* What is rare. */
void pf_check_back_in_time(pf_check *c, const perfile_record *r, uint64_t before, uint32_t cpu);
void pf_check_before_round(pf_check *c, const perfile_record *r, uint64_t time);

/* `cpu`: UINT32_MAX when not known. */
static inline void pf_check_time(pf_check *c, const perfile_record *r, uint64_t time, uint32_t cpu)
{
    /* What existed before the recording, and records that have none. */
    if (time == 0 || time == PERFILE_NO_TIME)
        return;
    if (c->block) {
        c->block->timed = true;
        c->block->time = time;
        c->block->cpu = cpu;
        return;
    }
    c->timed_records++;
    if (time < c->floor_time)
        pf_check_before_round(c, r, time);
    if (time >= c->max_time)
        c->max_time = time;
    else
        c->unsorted++;
    if (c->after_round++ == 0) {
        c->after_round_offset = r->offset;
    }
    if (cpu < PF_CHECK_CPUS) {
        uint64_t before = c->cpu_time[cpu];
        if (time < before)
            pf_check_back_in_time(c, r, before - time, cpu);
        else
            c->cpu_time[cpu] = time;
    }
}

#endif

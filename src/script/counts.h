/* The lines of captures of `perf stat record`: for each round those of all counters. */
#ifndef PF_SCRIPT_COUNTS_H
#define PF_SCRIPT_COUNTS_H

#include "profile/profile.h"

/* All of it is charged to the budget of the profile, and is of one capture. */
typedef struct pf_script_counts {
    pf_intern cells;   /* pf_script_cell */
    pf_buffer updated; /* uint32_t: numbers of the cells that have a STAT since the last round */
    pf_buffer cpus; /* int32_t: processors of CPU_MAP, then those of events that have their own */
    pf_buffer threads; /* int32_t: of THREAD_MAP */
    pf_buffer events;  /* pf_script_span: by index of the event, its part of `cpus` */
    size_t n_cpus;     /* of CPU_MAP */
    bool has_cpus, has_threads;
    bool planned;    /* `events` is made: maps that come later do not count */
    bool by_counter; /* counts are not added up for all processors and threads: … */
    bool scaled;     /* … they are extrapolated */
    uint64_t spare;  /* lines of cells without a STAT that may still be printed */
} pf_script_counts;

struct pf_script;

void pf_script_counts_begin(struct pf_script *x);
void pf_script_counts_free(struct pf_script *x);

/* Takes a STAT, STAT_ROUND, STAT_CONFIG, THREAD_MAP or CPU_MAP.  Appends the lines of a round to
 * x->line, which is empty else. */
perfile_status pf_script_put_counts(struct pf_script *x, const perfile_record *r,
                                    perfile_error *err);

#endif

/* The lines of captures of `perf stat record`: all counters after each round. */
#ifndef PF_SCRIPT_COUNTS_H
#define PF_SCRIPT_COUNTS_H

#include "profile/profile.h"

/* State for one capture, charged to the budget of the profile. */
typedef struct pf_script_counts {
    pf_intern cells;   /* pf_script_cell */
    pf_buffer updated; /* uint32_t: cells with a STAT since the last round */
    pf_buffer cpus;    /* int32_t: CPUs of CPU_MAP, then those of events with their own */
    pf_buffer threads; /* int32_t: of THREAD_MAP */
    pf_buffer events;  /* pf_script_span: range in `cpus`, by index of the event */
    size_t n_cpus;     /* of CPU_MAP */
    bool has_cpus, has_threads;
    bool planned;    /* `events` is complete; later maps are ignored */
    bool by_counter; /* counts are not summed over all CPUs and threads */
    bool scaled;     /* counts are extrapolated; only with by_counter */
    uint64_t spare;  /* lines of cells without a STAT that may still be printed */
} pf_script_counts;

struct pf_script;

void pf_script_counts_begin(struct pf_script *x);
void pf_script_counts_free(struct pf_script *x);

/* Handles a STAT, STAT_ROUND, STAT_CONFIG, THREAD_MAP or CPU_MAP.  Clears x->line, and makes the
 * lines of a round in it. */
perfile_status pf_script_put_counts(struct pf_script *x, const perfile_record *r,
                                    perfile_error *err);

#endif

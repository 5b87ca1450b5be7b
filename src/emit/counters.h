/* Counter values over time: of READ records, of samples with READ values, and of STAT records. */
#ifndef PF_EMIT_COUNTERS_H
#define PF_EMIT_COUNTERS_H

#include "emit/export.h"

/* A value of a counter. */
typedef struct pf_counter {
    uint64_t time; /* PERFILE_NO_TIME: not known */
    uint64_t value, sequence;
    const char *name; /* "cycles", "cycles cpu 3", "cycles tid 12": of the profile's texts */
    uint32_t pid;     /* PERFILE_NO_PID: not known */
    bool since_start; /* `time` counts from the start of the recording */
} pf_counter;

/* Charged to perfile_limits.profile_bytes. */
typedef struct pf_counters {
    pf_counter *at;
    size_t n, cap;
    size_t n_timed; /* values of STAT records from here on wait for a STAT_ROUND, with the time */
    uint64_t round; /* the time of the last one */
    pf_buffer name;
} pf_counters;

/* Adds what a sample, READ, STAT or STAT_ROUND record says; nothing of others, and of those that
 * cannot be read.  False if there is no memory or the limit is exceeded. */
bool pf_counters_add(pf_counters *c, pf_profile *p, const pf_profiled *about);

/* Sorts them by time. */
void pf_counters_sort(pf_counters *c);
void pf_counters_free(pf_counters *c);

#endif

/* The values of `perf stat record`: the count of each event in each interval. */
#ifndef PF_PROFILE_COUNTERS_H
#define PF_PROFILE_COUNTERS_H

#include "profile/profile.h"

/* A counter.  Its key is everything before `value`. */
typedef struct pf_counted {
    uint32_t event; /* its index; UINT32_MAX: unknown */
    uint32_t cpu;
    uint32_t thread;                  /* index in the THREAD_MAP */
    uint32_t zero;                    /* padding, part of the key */
    uint64_t value, enabled, running; /* as of the last STAT */
} pf_counted;

/* The difference between a STAT and the previous one of the same counter. */
typedef struct pf_counter_step {
    uint32_t counter;
    uint64_t value, enabled, running;
} pf_counter_step;

/* The unit of an event.  Its key is `event`. */
typedef struct pf_counter_unit {
    uint64_t event;   /* the address of its name, a text of the profile */
    const char *unit; /* a text of the profile; NULL: none */
    double scale;
} pf_counter_unit;

typedef struct pf_counter_thread {
    uint32_t tid;     /* PERFILE_NO_PID: any */
    const char *comm; /* in the profile's texts; NULL: unknown */
} pf_counter_thread;

/* State of counting.  All memory is charged to the profile's budget. */
typedef struct pf_counting {
    pf_profile *profile;
    const perfile_session *session;
    pf_intern counters, units;
    pf_counter_step *steps; /* since the last STAT_ROUND */
    size_t n_steps, steps_cap;
    pf_counter_thread *threads;
    size_t n_threads;
    bool by_comm, by_tid, by_cpu, by_time;
    uint64_t time_step; /* 0: each interval */
    bool unscaled;      /* STAT_CONFIG: counts are not extrapolated */
} pf_counting;

/* Begins the first or another capture.  `per` has the keys PERFILE_PER_COMM, …_TID, …_CPU, …_EVENT
 * and …_TIME, zero-terminated. */
void pf_counting_begin(pf_counting *c, pf_profile *p, const perfile_session *session,
                       const uint8_t *per, uint64_t time_step);
void pf_counting_free(pf_counting *c);

/* Handles a STAT, STAT_ROUND, STAT_CONFIG or THREAD_MAP record; other and unreadable records are
 * skipped.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_counting_put(pf_counting *c, const perfile_record *r, perfile_error *err);

/* Ends the capture.  Counts without a STAT_ROUND have no time.  If some events have counts, the
 * others get rows without values. */
perfile_status pf_counting_end(pf_counting *c, perfile_error *err);

/* Returns the index of an event's unit in `units`, PF_INTERN_NONE when out of memory. */
uint32_t pf_counting_unit(pf_counting *c, const char *event);

#endif

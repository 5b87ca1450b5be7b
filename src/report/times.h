/* How long threads were on CPUs and off them, for PF_PROFILE_TIMES. */
#ifndef PF_REPORT_TIMES_H
#define PF_REPORT_TIMES_H

#include "profile/profile.h"
#include "profile/switches.h"

/* The totals of threads with one label; see pf_profile_times.  The key is the label. */
typedef struct pf_times_row {
    pf_label label;
    uint64_t on, off, waiting, longest, idle;
    uint64_t switches, preempted;
    const char *by; /* set by pf_times_finish() */
    uint64_t by_times;
} pf_times_row;

/* State of adding up times.  All memory is charged to the profile's budget. */
typedef struct pf_times {
    pf_profile *profile; /* NULL: times are not requested */
    const perfile_model *model;
    perfile_tracepoints *all;
    pf_switch_reader reader;
    pf_intern threads;     /* timed_thread */
    pf_intern processors;  /* `processor`: the thread that is on a CPU */
    pf_intern rows;        /* pf_times_row */
    pf_intern preemptions; /* preemption: by row and name */
    uint64_t idle;         /* ns, of all CPUs */
    bool by_comm, by_pid, by_tid, by_cpu;
} pf_times;

/* Begins the first or another capture.  `per` has the keys PERFILE_PER_COMM, …_PID, …_TID and
 * …_CPU, zero-terminated. */
perfile_status pf_times_begin(pf_times *t, pf_profile *p, const perfile_session *session,
                              const perfile_model *model, const uint8_t *per, perfile_error *err);

/* Handles a record; those without a switch are skipped.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_times_put(pf_times *t, const perfile_record *r, perfile_error *err);

/* Ends the capture. */
void pf_times_end(pf_times *t);

/* Finds for each row the thread name that preempted it most often. */
void pf_times_finish(pf_times *t);

void pf_times_free(pf_times *t);

#endif

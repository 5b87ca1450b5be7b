/* How long threads were on processors and off them, for PERFILE_PROFILE_TIMES. */
#ifndef PF_REPORT_TIMES_H
#define PF_REPORT_TIMES_H

#include "profile/profile.h"
#include "profile/switches.h"

/* What threads of a label add up to; see perfile_profile_times.  The key is the label. */
typedef struct pf_times_row {
    pf_label label;
    uint64_t on, off, waiting, longest, idle;
    uint64_t switches, preempted;
    const char *by; /* set by pf_times_finish() */
    uint64_t by_times;
} pf_times_row;

/* All of it is charged to the budget of the profile. */
typedef struct pf_times {
    pf_profile *profile; /* NULL: no times are asked for */
    const perfile_model *model;
    perfile_tracepoints *all;
    pf_switch_reader reader;
    pf_intern threads;     /* timed_thread */
    pf_intern processors;  /* processor: the thread that is on it */
    pf_intern rows;        /* pf_times_row */
    pf_intern preemptions; /* preemption: by row and name */
    uint64_t idle;         /* ns, of all processors */
    bool by_comm, by_pid, by_tid, by_cpu;
} pf_times;

/* Begins a capture, the first or another one.  `per`: PERFILE_PER_…, ended by 0, of COMM, PID, TID
 * and CPU. */
perfile_status pf_times_begin(pf_times *t, pf_profile *p, const perfile_session *session,
                              const perfile_model *model, const uint8_t *per, perfile_error *err);

/* Takes a record; those that say nothing of switches are skipped.  PERFILE_E_NOMEM,
 * PERFILE_E_LIMIT. */
perfile_status pf_times_put(pf_times *t, const perfile_record *r, perfile_error *err);

/* The capture ends. */
void pf_times_end(pf_times *t);

/* Finds for each row who preempted it most often. */
void pf_times_finish(pf_times *t);

void pf_times_free(pf_times *t);

#endif

/* The tracepoint sched:sched_switch: which thread made way for which on a processor. */
#ifndef PF_EMIT_SCHED_SWITCH_H
#define PF_EMIT_SCHED_SWITCH_H

#include "perfile/event.h"

/* One thread, as the tracepoint has it. */
typedef struct pf_switched {
    char comm[17];
    uint32_t tid;
    int32_t prio;
} pf_switched;

typedef struct pf_sched_switch {
    pf_switched prev, next;
    int64_t prev_state;
} pf_sched_switch;

/* True if `event` is sched:sched_switch. */
bool pf_is_sched_switch(const perfile_event *event);

/* True if `event` has a sample for each time that it happens: a period of 1.  Where it is sampled,
 * it does not say how long a thread was on its processor. */
bool pf_takes_all_switches(const perfile_event *event);

/* Reads the data of a sample of it, which is of the thread `tid`.  False if it has none, or none
 * that is laid out as is usual. */
bool pf_sched_switch_read(const perfile_record *sample, uint32_t tid, pf_sched_switch *out);

#endif

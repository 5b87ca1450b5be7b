/* When threads were on CPUs and off them: from SWITCH and SWITCH_CPU_WIDE records, and from samples
 * of sched:sched_switch, sched:sched_waking and sched:sched_wakeup.
 *
 * pf_switches_read() extracts from a record which thread left its CPU, came to one, or was woken.
 * pf_turns_step() updates the state of that thread and returns the interval on or off a CPU that
 * has just ended.  Reports, exports and timelines all use these two. */
#ifndef PF_PROFILE_SWITCHES_H
#define PF_PROFILE_SWITCHES_H

#include "perfile/tracepoint.h"
#include "profile/resolve.h"

/* Scheduling events of a thread. */
enum {
    PF_SWITCH_OUT = 0,   /* left its CPU to wait for something */
    PF_SWITCH_PREEMPTED, /* left its CPU although it could continue */
    PF_SWITCH_IN,        /* came to a CPU */
    PF_SWITCH_NEXT, /* likewise, from a record of another thread; later events of this thread may
                       not be recorded */
    PF_SWITCH_WOKEN /* became ready: it waits for a CPU */
};

/* Bits: the sources of switches in a capture. */
enum {
    PF_SWITCHES_WIDE = 1 << 0,   /* SWITCH_CPU_WIDE records: all switches of a CPU */
    PF_SWITCHES_TRACED = 1 << 1, /* samples of sched:sched_switch, one for each switch */
    PF_SWITCHES_IDLE = 1 << 2,   /* one of these is of the idle thread, so they cover whole CPUs */
    PF_SWITCHES_TASK = 1 << 3    /* SWITCH records, only for the recorded tasks */
};

/* An event of one thread. */
typedef struct pf_switched {
    uint32_t pid, tid; /* PERFILE_NO_PID: unknown */
    uint32_t cpu;      /* for a switch; PF_NO_LABEL: unknown */
    int32_t prio;      /* valid with PF_SWITCHES_TRACED, like `state` and `comm` */
    int64_t state;     /* prev_state of a thread that left; 0: it could continue */
    char comm[17];     /* its name at the time; "": not in the record */
    uint8_t what;      /* PF_SWITCH_… */
} pf_switched;

/* The switch in a record: who left, and then who came, as far as the record has it. */
typedef struct pf_switch {
    uint64_t time;
    uint8_t source; /* one PF_SWITCHES_…; 0: a wake-up, or a sampled tracepoint, which does not tell
                       how long a thread was on its CPU */
    uint8_t n;      /* entries of `of`; 0: not a switch */
    pf_switched of[2];
    pf_switched next; /* if n is 1 and a thread left: pid and tid of the thread that came next.
                         Another record has the time. */
} pf_switch;

/* Reads records of a capture.  Ready if all zeros except the first two members; nothing has to be
 * freed. */
typedef struct pf_switch_reader {
    const perfile_session *session;
    perfile_tracepoints *all; /* borrowed */
    struct pf_switch_format {
        const perfile_tracepoint *of;
        uint8_t kind;
        int at[7];   /* indices of its fields */
    } known[4];      /* formats seen so far; an empty one ends them */
    bool waking;     /* sched:sched_waking exists, which is more exact than sched_wakeup … */
    size_t n_events; /* … among this many events */
} pf_switch_reader;

/* Fills in *about if the record may contain a switch.  Returns false if it does not, after little
 * work. */
bool pf_switches_about(const perfile_record *r, pf_profiled *about);

/* Extracts the switch of a record.  *about has its event, time, thread and CPU.  Returns false when
 * out of memory. */
bool pf_switches_read(pf_switch_reader *x, const pf_profiled *about, pf_switch *out);

/* Returns true for samples that are taken when their thread leaves its CPU: those of
 * sched:sched_switch, even without payload, and of context-switches, which have no other
 * information. */
bool pf_switches_leaves(const pf_profiled *about, const pf_switch *said);

/* Returns true if `event` has a sample for each occurrence: a period of 1. */
bool pf_event_takes_all(const perfile_event *event);

/* The state of a thread between two of its switches.  All zeros: unknown. */
typedef struct pf_turns {
    uint64_t since;    /* when it came to its CPU, or left it */
    uint64_t woken;    /* if off the CPU: since when it is ready; valid with `waits` */
    uint32_t cpu;      /* its current or last CPU */
    uint8_t is;        /* PF_TURN_… */
    uint8_t source;    /* of the record that set this state */
    uint8_t waits;     /* `woken` is valid */
    uint8_t by_itself; /* if on the CPU: set by a record of its own */
} pf_turns;

enum { PF_TURN_UNKNOWN = 0, PF_TURN_ON, PF_TURN_OFF };

/* Updates the state of a thread.  Returns the kind of interval that ended at `time`, PF_TURN_ON or
 * PF_TURN_OFF, with its state in *before.  Returns PF_TURN_UNKNOWN if the state was unknown before,
 * and < 0 if the state did not change.  If several sources report the same switch, the first one
 * counts. */
int pf_turns_step(pf_turns *t, const pf_switched *s, uint64_t time, unsigned source,
                  pf_turns *before);

#endif

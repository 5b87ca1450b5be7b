/* When threads were on processors and when they were off them: from SWITCH and SWITCH_CPU_WIDE
 * records, and from samples of sched:sched_switch, sched:sched_waking and sched:sched_wakeup.
 *
 * pf_switches_read() extracts from a record which thread left its processor, came to one, or was
 * woken.  pf_turns_step() updates the state of that thread and returns the stretch on or off a
 * processor that has just ended.  Reports, exports and timelines all use these two. */
#ifndef PF_PROFILE_SWITCHES_H
#define PF_PROFILE_SWITCHES_H

#include "perfile/tracepoint.h"
#include "profile/resolve.h"

/* What a thread did. */
enum {
    PF_SWITCH_OUT = 0,   /* it left its processor, because it waits for something */
    PF_SWITCH_PREEMPTED, /* it left its processor, but could go on */
    PF_SWITCH_IN,        /* it came to it */
    PF_SWITCH_NEXT,      /* likewise, as a record of another thread says: what it does later may be
                          * of no interest to the recording */
    PF_SWITCH_WOKEN      /* what it waited for is there: it waits for a processor */
};

/* Where that is from: bits. */
enum {
    PF_SWITCHES_WIDE = 1 << 0,   /* SWITCH_CPU_WIDE records: all switches of a processor */
    PF_SWITCHES_TRACED = 1 << 1, /* samples of sched:sched_switch, one for each switch */
    PF_SWITCHES_IDLE = 1 << 2,   /* and one of them is of idle, so that they are of a processor */
    PF_SWITCHES_TASK = 1 << 3    /* SWITCH records, of the recorded tasks only */
};

/* What one thread did. */
typedef struct pf_switched {
    uint32_t pid, tid; /* PERFILE_NO_PID: not known */
    uint32_t cpu;      /* of a switch; PF_NO_LABEL: not known */
    int32_t prio;      /* with PF_SWITCHES_TRACED, as `state` and `comm` */
    int64_t state;     /* of one that left: prev_state; 0: it could go on */
    char comm[17];     /* its name at the time; "": the record does not say it */
    uint8_t what;      /* PF_SWITCH_… */
} pf_switched;

/* What a record says: who left, and then who came, as far as it says that. */
typedef struct pf_switch {
    uint64_t time;
    uint8_t source; /* one PF_SWITCHES_…; 0: it is a wake-up, or of a tracepoint that is sampled,
                     * which does not say how long a thread was on its processor */
    uint8_t n;      /* of `of`; 0: it says nothing of switches */
    pf_switched of[2];
    pf_switched next; /* with n = 1, of one that left: who came then, of which only pid and tid are
                       * valid.  Another record says when. */
} pf_switch;

/* Reads records of a capture.  All zeros with the first two is ready; nothing is to be freed. */
typedef struct pf_switch_reader {
    const perfile_session *session;
    perfile_tracepoints *all; /* borrowed */
    struct pf_switch_format {
        const perfile_tracepoint *of;
        uint8_t kind;
        int at[7];   /* positions of its fields */
    } known[4];      /* those that were seen; an empty one ends them */
    bool waking;     /* there is sched:sched_waking, which says more than sched_wakeup … */
    size_t n_events; /* … among so many events */
} pf_switch_reader;

/* What is looked up of a record, in *about, if it may say something of switches; false: it does
 * not, and little was looked up. */
bool pf_switches_about(const perfile_record *r, pf_profiled *about);

/* What a record says of switches, with its event, time, thread and processor in *about.  False if
 * there is no memory. */
bool pf_switches_read(pf_switch_reader *x, const pf_profiled *about, pf_switch *out);

/* True if the record is a sample that was taken when its thread left its processor: of
 * sched:sched_switch, also without its payload, or of context-switches, which say nothing else. */
bool pf_switches_leaves(const pf_profiled *about, const pf_switch *said);

/* True if `event` has a sample for each time that it happens: a period of 1. */
bool pf_event_takes_all(const perfile_event *event);

/* A thread between two of its switches.  All zeros: nothing is known of it. */
typedef struct pf_turns {
    uint64_t since;    /* when it came to its processor, or left it */
    uint64_t woken;    /* of one that is off: since when it waits for a processor; 0: it does not */
    uint32_t cpu;      /* on which it is, or was last */
    uint8_t is;        /* PF_TURN_… */
    uint8_t source;    /* of the record that said so */
    uint8_t waits;     /* `woken` is valid */
    uint8_t by_itself; /* of one that is on: a record of its own says so */
} pf_turns;

enum { PF_TURN_UNKNOWN = 0, PF_TURN_ON, PF_TURN_OFF };

/* Updates the state of a thread.  Returns which stretch ended at `time`, PF_TURN_ON or PF_TURN_OFF,
 * with its state in *before; PF_TURN_UNKNOWN if nothing was known of the thread until now; < 0 if
 * the state did not change.  If several sources report the same switch, the first one counts. */
int pf_turns_step(pf_turns *t, const pf_switched *s, uint64_t time, unsigned source,
                  pf_turns *before);

#endif

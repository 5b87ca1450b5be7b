/* Tracks: for each label samples, other records, and when a thread was on a processor, in order of
 * time.  For forms that show what threads did.
 *
 * What is no sample has a label without an event; it is shown on the first track of samples of the
 * same thread (with `by_thread` whatever its name and processor are at the time, so that stretches
 * on a processor of one thread never overlap).  Thread 0 is idle, of which each processor has one:
 * each of these has a track of its own.  Everything is charged to perfile_limits.profile_bytes: 32
 * bytes for each sample, mark and switch, and what marks say, once. */
#ifndef PF_EMIT_TRACKS_H
#define PF_EMIT_TRACKS_H

#include "emit/export.h"
#include "perfile/event.h"

/* What a thread did. */
enum {
    PF_SWITCH_OUT = 0,   /* it left its processor, because it waits for something */
    PF_SWITCH_PREEMPTED, /* it left its processor, but could go on */
    PF_SWITCH_IN,        /* it came to it */
    PF_SWITCH_NEXT       /* likewise, as a record of another thread says: what it does later may be
                          * of no interest to the recording */
};

/* Where switches are from: bits.  Only switches of one kind are shown of each capture, see
 * pf_tracks_source(). */
enum {
    PF_SWITCHES_WIDE = 1 << 0,   /* SWITCH_CPU_WIDE records: all switches of a processor */
    PF_SWITCHES_TRACED = 1 << 1, /* samples of sched:sched_switch, one for each switch */
    PF_SWITCHES_IDLE = 1 << 2,   /* and one of them is of idle, so that they are of a processor */
    PF_SWITCHES_TASK = 1 << 3    /* SWITCH records, of the recorded tasks only */
};

/* What is known of a label. */
typedef struct pf_track {
    const char *comm;      /* the last name of its thread, of the profile's texts, or NULL */
    uint64_t named;        /* time of `comm` */
    uint64_t first, last;  /* of its samples, marks and switches; first > last: none has a time */
    uint64_t began, ended; /* FORK and EXIT of its thread; PERFILE_NO_TIME: not seen */
    uint32_t shown;        /* label of the track it is shown on, complete behind sorting */
    bool sampled;          /* there are samples */
    bool used;             /* behind sorting: there is something on it */
} pf_track;

typedef struct pf_tracks {
    pf_timeline samples;
    pf_timeline marks;    /* `stack`: number in `said` */
    pf_timeline switches; /* `weight`: PF_SWITCH_…, and before sorting the source and the capture;
                           * `stack`: processor, PF_NO_LABEL: not known */
    uint8_t *sources;     /* PF_SWITCHES_… of each capture, by pf_exporter.n_inputs */
    size_t n_sources;
    pf_marks said;
    pf_track *at; /* by label */
    size_t n, cap;
    uint64_t first, last; /* of all that have a time; first > last: none has */
    bool by_thread;       /* to be set before sorting */
    bool only_tasks;      /* likewise: switches of whole processors are shown by other means */
} pf_tracks;

/* A thread was on a processor. */
typedef struct pf_slice {
    uint64_t begin, end;
    uint32_t cpu;   /* PF_NO_LABEL: not known */
    bool preempted; /* it could have gone on */
} pf_slice;

void pf_tracks_init(pf_tracks *t, pf_profile *p);
void pf_tracks_free(pf_tracks *t);

/* A sample, and another record.  False if there is no memory or the limit is exceeded. */
bool pf_tracks_take(pf_tracks *t, pf_exporter *x, const pf_profiled *sample, uint32_t label);
/* A record that is shown by other means, so that its thread is known. */
bool pf_tracks_touch(pf_tracks *t, pf_exporter *x, const pf_profiled *about, uint32_t label);
bool pf_tracks_note(pf_tracks *t, pf_exporter *x, const pf_profiled *about);
/* The same for a record SWITCH or SWITCH_CPU_WIDE alone. */
bool pf_tracks_switch(pf_tracks *t, pf_exporter *x, const pf_profiled *about);

/* The switches of a capture (pf_exporter.n_inputs) that say most: those of all processors by
 * SWITCH_CPU_WIDE or else by sched:sched_switch (PF_SWITCHES_WIDE, PF_SWITCHES_TRACED, in *whole),
 * else those of tasks by SWITCH or else by sched:sched_switch.  0: there are none. */
unsigned pf_tracks_source(const pf_tracks *t, size_t input, bool *whole);

/* Sorts all by the label that it is shown with, then time.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_tracks_sort(pf_tracks *t, pf_profile *p, perfile_error *err);

/* The next stretch on a processor of a label, `*at` being 0 at first; false behind the last.  They
 * do not overlap.  One without an end is over when the capture or the thread ends; if it is known
 * by PF_SWITCH_NEXT only, it is left out, as is what began before the capture. */
bool pf_tracks_slice(const pf_tracks *t, uint32_t label, size_t *at, pf_slice *out);

/* ns from the first time to `time`.  What has no time comes behind all others, in the order in
 * which it came, 1 ms apart: *untimed counts it. */
uint64_t pf_tracks_time(const pf_tracks *t, uint64_t time, uint64_t *untimed);

/* The threads of all labels, each once, with its last name.  Idle is one thread for each processor.
 */

/* A thread.  The key is its numbers. */
typedef struct pf_named_thread {
    uint32_t pid, tid;
    uint32_t cpu; /* of idle; PF_NO_LABEL: of another thread, or not known */
    uint32_t zero;
    const char *comm; /* of the profile's texts; NULL: it is not known */
    uint64_t named;   /* when it was called so */
} pf_named_thread;

/* Adds them to *threads, which is empty, in the order of the labels; to be freed in any case.
 * Labels without both numbers are left out.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_name_threads(const pf_tracks *t, pf_profile *p, pf_intern *threads,
                               perfile_error *err);

/* The tracepoint sched:sched_switch: which thread made way for which on a processor. */

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

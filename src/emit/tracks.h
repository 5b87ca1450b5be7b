/* Tracks: for each label samples, other records, and when a thread was on a processor, in order of
 * time.  For forms that show what threads did.
 *
 * What is no sample has a label without an event; it is shown on the first track of samples of the
 * same thread (with `by_thread` whatever its name and processor are at the time, so that stretches
 * on a processor of one thread never overlap).  Everything is charged to
 * perfile_limits.profile_bytes: 32 bytes for each sample, mark and switch, and what marks say,
 * once. */
#ifndef PF_EMIT_TRACKS_H
#define PF_EMIT_TRACKS_H

#include "emit/marks.h"
#include "emit/timeline.h"

/* What a thread did. */
enum {
    PF_SWITCH_OUT = 0, /* it left its processor */
    PF_SWITCH_IN,      /* it came to it */
    PF_SWITCH_NEXT /* likewise, as a record of another thread says: what it does later may be of no
                    * interest to the recording */
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
    pf_timeline switches; /* `weight`: PF_SWITCH_…; `stack`: processor, PF_NO_LABEL: not known */
    pf_marks said;
    pf_track *at; /* by label */
    size_t n, cap;
    uint64_t first, last; /* of all that have a time; first > last: none has */
    bool by_thread;       /* to be set in front of sorting */
} pf_tracks;

/* A thread was on a processor. */
typedef struct pf_slice {
    uint64_t begin, end;
    uint32_t cpu; /* PF_NO_LABEL: not known */
} pf_slice;

void pf_tracks_init(pf_tracks *t, pf_profile *p);
void pf_tracks_free(pf_tracks *t);

/* A sample, and another record.  False if there is no memory or the limit is exceeded. */
bool pf_tracks_take(pf_tracks *t, pf_exporter *x, const pf_profiled *sample, uint32_t label);
/* A sample, of which the tracepoint sched:sched_switch is no switch. */
bool pf_tracks_add(pf_tracks *t, pf_exporter *x, const pf_profiled *sample, uint32_t label);
/* A record that is shown by other means, so that its thread is known. */
bool pf_tracks_touch(pf_tracks *t, pf_exporter *x, const pf_profiled *about, uint32_t label);
bool pf_tracks_note(pf_tracks *t, pf_exporter *x, const pf_profiled *about);

/* Sorts all by the label that it is shown with, then time.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_tracks_sort(pf_tracks *t, pf_profile *p, perfile_error *err);

/* The next stretch on a processor of a label, `*at` being 0 at first; false behind the last.  They
 * do not overlap.  One without an end is over when the capture or the thread ends; if it is known
 * by PF_SWITCH_NEXT only, it is left out, as is what began before the capture. */
bool pf_tracks_slice(const pf_tracks *t, uint32_t label, size_t *at, pf_slice *out);

/* ns from the first time to `time`.  What has no time comes behind all others, in the order in
 * which it came, 1 ms apart: *untimed counts it. */
uint64_t pf_tracks_time(const pf_tracks *t, uint64_t time, uint64_t *untimed);

#endif

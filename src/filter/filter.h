/* The inside of perfile_filter(): what its files share. */
#ifndef PF_FILTER_FILTER_H
#define PF_FILTER_FILTER_H

#include "base/buffer.h"
#include "core/stream.h"
#include "model/index.h"
#include "perfile/expr.h"
#include "perfile/filter.h"
#include "perfile/model.h"
#include "filter/ancestors.h"
#include "filter/ranges.h"
#include "filter/observed.h"
#include "stage/pids.h"
#include "stage/run.h"
#include "filter/stretches.h"
#include "schema/family.h"

/* One end of a range of time, before the capture is known. */
typedef struct pf_moment {
    enum { PF_OPEN, PF_CLOCK, PF_AFTER_FIRST, PF_SHARE, PF_WALL } kind;
    uint64_t ns; /* of a share: billionths */
} pf_moment;

typedef struct pf_period {
    pf_moment from, to;
} pf_period;

typedef struct pf_pattern {
    char *text;
    size_t len;
    uint32_t of; /* position of the pattern that this is a part of, between commas; else its own */
    bool found;  /* of events: one has such a name */
} pf_pattern;

/* Patterns for one name of a record; what became of a name is kept by its address. */
typedef struct pf_patterns {
    pf_pattern *at;
    uint32_t n;
    pf_index known; /* address of a name -> 1 it fits, 0 it does not */
} pf_patterns;

struct perfile_filter_state {
    perfile_filter_options options;
    uint32_t given;   /* kinds that have terms, by bit */
    bool tests_state; /* TYPE or WHERE can select state */
    bool no_state, invert, compact;
    bool only; /* nothing is handed on that is not selected, and every record is asked */

    pf_ranges pids, tids, cpus, types, ips, times;
    pf_period *periods;
    uint32_t n_periods;
    pf_patterns events, comms, dsos, cgroups;
    perfile_expr **wheres;
    uint32_t n_wheres;
    bool where_asks; /* an expression asks for comm, dso or cgroup */

    /* What the capture says. */
    const perfile_session *session; /* of the stream that is being read */
    uint64_t generation;
    bool resolved;       /* times are known, and events as far as they came */
    uint8_t *event_fits; /* by index of the event */
    uint32_t n_events, events_cap;
    uint64_t window_end; /* state that is later is not needed */

    /* Passes. */
    bool looked, chosen;
    void (*progress)(void *user, const perfile_record *at); /* of any pass; may be NULL */
    void *progress_user;
    uint64_t first_time, last_time; /* of all samples */
    perfile_model *model;
    pf_texts texts;     /* paths of cgroups */
    pf_index cgroup_of; /* id -> position in cgroup_names */
    pf_buffer cgroup_names;
    pf_buffer bits; /* one for each record of the stream, by sequence: it is selected */
    bool bits_full; /* there were too many: the last pass finds out again */
    pf_stretches unwanted;

    /* Processes. */
    pf_pids seen, wanted; /* that have records; that have selected ones */
    pf_pids needed;       /* those and their ancestors */
    bool any_process;     /* something is selected of which nobody knows whose it is */
    pf_ancestors births;
    bool is_part; /* of a split: of processes only those that are wanted are looked for */

    pf_index places; /* with `compact`: where in `lasts` the last state of a place is */
    pf_buffer lasts;
    pf_pids parents; /* of processes that are needed */

    uint64_t countdown;             /* `every` */
    uint64_t counted;               /* `head` */
    bool tells_times;               /* the capture has feature SAMPLE_TIME */
    uint64_t kept_first, kept_last; /* times of kept samples */
    pf_texts kept_files;            /* names of mappings that were kept, … */
    bool lost_files;                /* … and others were not */
    pf_buffer build_ids;            /* feature BUILD_ID of what is kept */
    uint8_t sample_time[16];        /* feature SAMPLE_TIME of what is kept */
    perfile_filter_summary result;
    bool selects_any;           /* a sample, or another record that the terms ask for */
    pf_observed there;          /* what the samples have instead */
    void (*ended)(void *user);  /* when the stage is read to its end; may be NULL */
    void (*closed)(void *user); /* when the stage is closed; may be NULL */
    void *closed_user;          /* of both */
};

typedef perfile_filter_state pf_filter;

/* Tells how far a pass has come. */
static inline void pf_filter_tell(const pf_filter *x, const perfile_record *at)
{
    if (x->progress)
        x->progress(x->progress_user, at);
}

static inline bool pf_filter_has(const pf_filter *x, unsigned kind)
{
    return x->given >> kind & 1;
}

/* filter_terms.c */
perfile_status pf_filter_terms(pf_filter *x, perfile_error *err);
/* The name of a kind that selects no sample, as no event that was read says what it asks for; from
 * kind *next on, which moves behind it.  NULL: no more. */
const char *pf_filter_unsaid(const pf_filter *x, uint32_t *next);
/* filter_time.c: "A..B", "A,B", "10%-20%", "10%/2"; moves *text, which is of `whole`, behind it. */
perfile_status pf_filter_period(const char **text, const char *whole, pf_period *out,
                                perfile_error *err);
/* The ranges in ns, once the capture is known. */
perfile_status pf_filter_times(pf_filter *x, perfile_error *err);

/* filter_test.c: which records of a run are selected; by bit.  Only those of `asked` are looked at.
 */
perfile_status pf_filter_test(pf_filter *x, const pf_run *run, uint64_t asked, uint64_t *selected,
                              perfile_error *err);
/* The event whose record it is, NULL when the record does not say. */
const perfile_event *pf_filter_event(const perfile_record *r);
/* Whether terms that LOSS records obey hold. */
bool pf_filter_test_loss(const pf_filter *x, const perfile_record *r);
/* Tells what the session says anew: before the first record of a run is tested. */
perfile_status pf_filter_resolve(pf_filter *x, const perfile_record *first, perfile_error *err);
/* At the end: events that were asked for and never came. */
perfile_status pf_filter_resolved(const pf_filter *x, perfile_error *err);

/* Whether nothing is asked for: every record goes on. */
bool pf_filter_selects_all(const pf_filter *x);
/* Whether the span of time has to be known beforehand. */
bool pf_filter_is_relative(const pf_filter *x);
/* A pass over `s` begins: what was found out of events and times holds no longer. */
void pf_filter_begin_pass(pf_filter *x, const perfile_stream *s);
/* In the last pass: which records of the run are handed on, by bit. */
perfile_status pf_filter_decide(pf_filter *x, const pf_run *run, uint64_t *keep,
                                perfile_error *err);

/* filter.c: which records of a run are selected, whatever says it. */
perfile_status pf_filter_select(pf_filter *x, const pf_run *run, uint64_t *selected,
                                perfile_error *err);
/* Of the pass that chooses: a run. */
perfile_status pf_filter_choose(pf_filter *x, const pf_run *run, perfile_error *err);
/* Counts a run that is filtered. */
void pf_filter_sum(pf_filter *x, const pf_run *run, uint64_t selected, uint64_t keep);

/* filter_ahead.c: what comes next of a stream, as far as it is samples that say enough where they
 * lie: chooses of them, drops those of which none is selected. */
perfile_status pf_filter_choose_ahead(pf_filter *x, perfile_stream *s, perfile_error *err);
perfile_status pf_filter_drop_ahead(pf_filter *x, perfile_stream *below, perfile_error *err);

/* filter_world.c: what needs processes and mappings. */
bool pf_filter_needs_world(const pf_filter *x);
perfile_status pf_filter_feed(pf_filter *x, const perfile_record *r, perfile_error *err);
const char *pf_filter_comm(const pf_filter *x, const perfile_record *r);
const char *pf_filter_dso(const pf_filter *x, const perfile_record *r);
const char *pf_filter_cgroup(const pf_filter *x, const perfile_record *r);
extern const perfile_expr_provider pf_filter_names;
/* Whether one of the patterns fits; for a path its last part may fit alone. */
bool pf_filter_fits(pf_patterns *p, const char *name, bool path);
bool pf_filter_fits_text(const pf_patterns *p, const char *name, bool path);

/* filter_keep.c */
/* Of class TASK, but of no process: a mapping of the kernel. */
bool pf_filter_is_of_kernel(const perfile_record *r);
/* What the first pass learns of a run of which `selected` are selected. */
perfile_status pf_filter_note(pf_filter *x, const pf_run *run, uint64_t selected,
                              perfile_error *err);
/* The records of the run that were selected in it. */
uint64_t pf_filter_known(const pf_filter *x, const pf_run *run);
/* How many records, `sequence` the first, were all selected: `most` at most. */
uint64_t pf_filter_known_ahead(const pf_filter *x, uint64_t sequence, uint64_t most);
/* Processes of the run, for the result. */
perfile_status pf_filter_count(pf_filter *x, const pf_run *run, uint64_t selected,
                               perfile_error *err);
/* Whether a record that is not selected is kept. */
bool pf_filter_keep(pf_filter *x, const perfile_record *r);
/* The same without remembering what was selected, and without births. */
perfile_status pf_filter_note_others(pf_filter *x, const pf_run *run, uint64_t selected,
                                     perfile_error *err);
/* Ancestors, after the pass. */
perfile_status pf_filter_families(pf_filter *x, const pf_ancestors *births, perfile_error *err);

/* filter_compact.c: of a record of class TASK, in the pass; and whether it is to be kept. */
perfile_status pf_filter_note_state(pf_filter *x, const perfile_record *r, perfile_error *err);
bool pf_filter_is_last(const pf_filter *x, const perfile_record *r);

/* filter_facts.c: features of what was kept, into a session that shows that of the capture. */
/* Whether there may be any that change. */
bool pf_filter_changes_facts(const perfile_session *s);
perfile_status pf_filter_facts(pf_filter *x, pf_session_view *view, perfile_error *err);
/* Remembers the file of a mapping; the same for build ids, at the end. */
perfile_status pf_filter_file(pf_filter *x, const perfile_record *r, bool kept, perfile_error *err);
perfile_status pf_filter_build_ids(pf_filter *x, pf_session_view *view, perfile_error *err);

#endif

/* Internals of perfile_filter(), shared by the files of this folder and with src/lib.
 *
 * A filter keeps two sorts of records: those that its terms *select*, and those that are *kept*
 * because the selected ones need them: side-band of their processes and of the ancestors of these,
 * and facts of the recording.  What is needed is known only after a pass over the capture:
 *
 *   1. collecting pass, only for relative times and for names: time range, process model
 *   2. selecting pass: a bit for each selected record, processes, FORKs
 *   3. last pass, the stage: passes on what is selected or kept
 *
 * The 1st and 2nd are perfile_filter_learn(); the stage works without them where it can, and then
 * keeps all side-band. */
#ifndef PF_FILTER_FILTER_H
#define PF_FILTER_FILTER_H

#include "base/buffer.h"
#include "perfile/record.h"
#include "stage/pids.h"
#include "perfile/base.h"
#include "perfile/filter.h"
#include "stage/run.h"
#include "core/zone.h"
#include "core/stream.h"
#include "model/index.h"
#include "profile/answers.h"
#include "perfile/expr.h"
#include "perfile/model.h"
#include "schema/rows.h"

/* Parents of processes, from FORK records: which processes are the ancestors of others. */

/* All zeros is empty. */
typedef struct pf_ancestors {
    pf_buffer all; /* one entry for each FORK of a process */
    bool full;     /* the limit was reached: ancestors are not known */
} pf_ancestors;

/* Adds a FORK record; forks of threads are ignored.  False: out of memory. */
bool pf_ancestors_note(pf_ancestors *b, const perfile_record *r);
/* Sorts; call it after the last note and before the first search. */
void pf_ancestors_sort(pf_ancestors *b);
/* Adds `child` and all its ancestors to `needed`, without those that are in it, and calls
 * on_added(user, pid) for each process that was added, if `on_added` is not NULL.  FORKs later than
 * `end` do not count.  `waiting` is memory to work in, which the caller keeps between calls. False:
 * out of memory. */
bool pf_ancestors_add_needed(const pf_ancestors *b, uint32_t child, uint64_t end, pf_pids *needed,
                             pf_buffer *waiting, void (*on_added)(void *user, uint32_t pid),
                             void *user);
/* Adds the parents of all processes in `needed` to `parents`. */
bool pf_ancestors_parents(const pf_ancestors *b, uint64_t end, const pf_pids *needed,
                          pf_pids *parents);
void pf_ancestors_free(pf_ancestors *b);

/* What samples have where a filter selects nothing: ranges of times, processes, addresses ..., and
 * the first names. Collected only while nothing is selected yet, and reported when the result is
 * empty. */

/* Kinds of terms whose fields stand at fixed offsets in samples, the cheapest test first. */
enum { PF_PLACE_TIME, PF_PLACE_PID, PF_PLACE_TID, PF_PLACE_CPU, PF_PLACE_IP, PF_PLACES };

/* A field at a fixed offset: of the 64-bit word of sample_type bit `field`, the bits word >> shift
 * & mask. */
typedef struct pf_place {
    uint32_t kind;  /* PERFILE_FILTER_BY_... */
    uint32_t field; /* PERFILE_SAMPLE_..., one bit */
    unsigned shift;
    uint64_t mask;
} pf_place;

extern const pf_place pf_places[PF_PLACES];

static inline uint64_t pf_place_value(const pf_place *p, uint64_t word)
{
    return word >> p->shift & p->mask;
}

/* The kinds of pf_places as bits. */
static inline uint32_t pf_place_kinds(void)
{
    return 1U << PERFILE_FILTER_BY_TIME | 1U << PERFILE_FILTER_BY_PID |
           1U << PERFILE_FILTER_BY_TID | 1U << PERFILE_FILTER_BY_CPU | 1U << PERFILE_FILTER_BY_IP;
}

/* least > most: no sample was seen. */
typedef struct pf_observed_range {
    uint64_t least, most;
} pf_observed_range;

static inline void pf_observed_widen(pf_observed_range *r, uint64_t value)
{
    r->least = value < r->least ? value : r->least;
    r->most = value > r->most ? value : r->most;
}

/* How many names are kept, and bytes of each. */
enum { PF_OBSERVED_MAX_NAMES = 5, PF_OBSERVED_NAME_BYTES = 32 };

/* The first distinct names, cut to PF_OBSERVED_NAME_BYTES - 1 bytes. */
typedef struct pf_observed_names {
    char at[PF_OBSERVED_MAX_NAMES][PF_OBSERVED_NAME_BYTES];
    uint32_t n;
    bool more; /* there were others */
} pf_observed_names;

/* Everything that was collected. */
typedef struct pf_observed {
    bool over;       /* a sample was selected: nothing has to be explained */
    uint32_t looked; /* bit k: ranges[k] was collected */
    pf_observed_range ranges[PF_PLACES];
    pf_observed_names comms, files;
} pf_observed;

/* Makes it empty. */
void pf_observed_begin(pf_observed *t);
/* Returns the range of field k, to be widened by the caller with the samples that it tests: those
 * that fit the terms of the fields before. */
pf_observed_range *pf_observed_place(pf_observed *t, unsigned k);
/* Collects names from the records of a run if the terms (`given`: their kinds as bits) ask for
 * names. If they ask for nothing that is collected, the range of times is. */
void pf_observed_look(pf_observed *t, const pf_run *run, uint32_t given);

/* Sets of numbers, stored as ranges. */

/* Both ends are included. */
typedef struct pf_interval {
    uint64_t first, last;
} pf_interval;

/* All zeros is the empty set. */
typedef struct pf_ranges {
    pf_interval *at;
    uint32_t n, cap;
} pf_ranges;

/* Adds [first, last]. */
perfile_status pf_ranges_add(pf_ranges *r, uint64_t first, uint64_t last, perfile_error *err);
/* Sorts the ranges and joins those that overlap; call it after adding and before searching. */
void pf_ranges_sort(pf_ranges *r);
/* Binary search; pf_ranges_contain() is faster for a single range. */
bool pf_ranges_search(const pf_ranges *r, uint64_t value);
void pf_ranges_free(pf_ranges *r);

/* True if the set has the value. One range is tested with one comparison, modulo 2^64. */
static inline bool pf_ranges_contain(const pf_ranges *r, uint64_t value)
{
    if (r->n == 1)
        return value - r->at[0].first <= r->at[0].last - r->at[0].first;
    return pf_ranges_search(r, value);
}

/* Which records the selecting pass selected: a bit for each, by its sequence. */

/* All zeros is empty. */
typedef struct pf_selected {
    pf_buffer bits;
    uint64_t from;   /* the sequence of the first one */
    bool incomplete; /* not all fit, so the last pass tests again; what is set then is ignored */
} pf_selected;

/* Sets the bits of the records of a run that are in `selected`.  Runs come in the order of their
 * sequences.  False: out of memory. */
bool pf_selected_set(pf_selected *x, const pf_run *run, uint64_t selected);

/* Sets the bits of so many records from `sequence` on.  False: out of memory. */
bool pf_selected_set_range(pf_selected *x, uint64_t sequence, uint64_t records);

/* Returns the records of the run that were selected. */
uint64_t pf_selected_of(const pf_selected *x, const pf_run *run);

/* Returns how many of these records were selected. */
uint64_t pf_selected_count(const pf_selected *x, uint64_t sequence, uint64_t records);

void pf_selected_free(pf_selected *x);

/* One end of a time range as the text has it.  PF_OPEN: none; PF_CLOCK: time of the session clock;
 * PF_AFTER_FIRST: after the first sample; PF_SHARE: share of the time of all samples; PF_WALL:
 * UTC. */
typedef struct pf_moment {
    enum { PF_OPEN, PF_CLOCK, PF_AFTER_FIRST, PF_SHARE, PF_WALL } kind;
    uint64_t ns; /* PF_SHARE: in billionths instead */
} pf_moment;

typedef struct pf_period {
    pf_moment from, to; /* both included */
} pf_period;

/* A name as a user gives it: * and ? are wildcards, a backslash takes the next character as it is.
 * A name that the capture has is that name and no pattern, so that what a report prints selects
 * what it printed. */
typedef struct pf_pattern {
    char *name;  /* as given; owned, ends with NUL */
    char *text;  /* as a pattern for pf_expr_glob(); owned, ends with NUL */
    size_t len;  /* of `text` */
    uint32_t of; /* "a,b" is added as a whole and as its parts: index of the whole, else its own */
    bool found;  /* patterns for events: an event matches */
    bool exact;  /* the capture has a thread, file … of this very name */
} pf_pattern;

/* Patterns for names.  Results are cached by the address of the name, as equal names of a model are
 * equal pointers. */
typedef struct pf_patterns {
    pf_pattern *at;
    uint32_t n;
    bool settled;   /* `exact` is known */
    pf_index known; /* address of a name -> 1 if it matches, else 0 */
} pf_patterns;

/* The terms, parsed, and what follows from them alone. */
typedef struct pf_terms {
    uint32_t given;      /* bit k: there are terms of kind k (PERFILE_FILTER_BY_...) */
    bool tests_sideband; /* side-band is tested, too: no_sideband, or terms of kind TYPE or WHERE */
    bool no_sideband, invert, compact; /* options.flags */
    bool only;  /* PERFILE_FILTER_ONLY: only selected records; every type is tested */
    bool marks; /* PERFILE_FILTER_MARK: likewise, and `only`, but all records are passed on */
    pf_ranges pids, tids, cpus, types, ips;
    pf_ranges times; /* ns of the session clock, from `periods` */
    pf_period *periods;
    uint32_t n_periods;
    pf_patterns events, comms, dsos, cgroups;
    perfile_expr **wheres;
    uint32_t n_wheres;
    bool where_needs_model; /* an expression uses comm, dso or cgroup */
} pf_terms;

/* The pass at hand, and what depends on its session. */
typedef struct pf_filter_pass {
    bool in_stage;                  /* it is the last one */
    const perfile_session *session; /* of the stream that is being read */
    uint64_t generation;            /* of the session when event_fits was computed */
    bool resolved;                  /* terms.times and event_fits are valid in this pass */
    uint8_t *event_fits;            /* by index of the event: it matches the terms */
    uint32_t n_events, events_cap;
    uint64_t window_end; /* end of the last time range: later side-band is not needed */
} pf_filter_pass;

/* Ranges of an archive that are passed over, or taken as they are stored: narrow.c. */
typedef struct pf_filter_ranges {
    pf_narrow narrow;       /* of the pass at hand */
    bool all_selected;      /* the samples of the range that is passed over are all selected … */
    bool counted;           /* … and have been counted */
    bool no_memory;         /* … for which there was no memory */
    const pf_narrow *takes; /* of the stage: who takes ranges as they are stored; NULL: nobody */
    uint64_t given_to;      /* sequence of the end of the last range that was given so */
} pf_filter_ranges;

/* Names of threads, files and cgroups: world.c. */
typedef struct pf_filter_world {
    perfile_model *model;
    pf_texts texts;     /* paths of cgroups */
    pf_index cgroup_of; /* id -> index in `cgroups` */
    pf_buffer cgroups;
    pf_answers answers; /* what WHERE terms ask besides: functions, callers … */
} pf_filter_world;

typedef struct pf_filter_selection {
    bool known;         /* the selecting pass is done … */
    pf_selected bits;   /* … and selected these records */
    bool any;           /* a sample, or another record that the terms ask for, is selected */
    uint64_t countdown; /* options.every: samples to drop before the next is kept */
    uint64_t counted;   /* options.head: samples selected so far */
} pf_filter_selection;

/* Processes, and the side-band that is kept for them: keep.c. */
typedef struct pf_filter_sideband {
    pf_pids seen, wanted;   /* processes with records; with selected records */
    pf_pids needed;         /* `wanted` and their ancestors */
    bool unattributed;      /* a selected record has no process: side-band of all is kept */
    pf_ancestors ancestors; /* FORKs */
    bool is_part;           /* of a split: only processes of selected records are of interest */
    /* PERFILE_FILTER_COMPACT_SIDEBAND */
    pf_index last_of_key; /* key of a piece of side-band -> index in last_records */
    pf_buffer last_records;
    pf_pids forked_parents; /* of the processes in `needed` */
} pf_filter_sideband;

/* What features of the output say about the records that were kept: keep.c. */
typedef struct pf_filter_kept {
    bool needs_times;        /* for the feature SAMPLE_TIME, where samples may be dropped */
    uint64_t first, last;    /* then: times of selected samples */
    pf_texts files;          /* names of mappings that were kept … */
    bool dropped_files;      /* … and some were not */
    pf_buffer build_ids;     /* feature BUILD_ID of the output */
    uint8_t sample_time[16]; /* feature SAMPLE_TIME of the output */
} pf_filter_kept;

struct perfile_filter_state {
    perfile_filter_options options;
    pf_terms terms;
    pf_filter_pass pass;
    pf_filter_ranges ranges;
    bool collected;                 /* the collecting pass is done */
    uint64_t first_time, last_time; /* of all samples; PERFILE_NO_TIME: no sample has a time */
    pf_filter_world names;
    pf_filter_selection selection;
    pf_filter_sideband sideband;
    pf_filter_kept kept;
    bool holds; /* the stage: records before the next one have not been handed out */
    struct {
        bool has_kept, has_dropped; /* there were records that are kept, or dropped */
    } rounds;                       /* since the last FINISHED_ROUND that was kept: stage.c */
    perfile_filter_summary result;
    pf_observed there; /* what samples have, to explain an empty result */
    struct {
        void (*at)(void *user, const perfile_record *at); /* may be NULL */
        void *user;
    } progress; /* of any pass */
    struct {
        void (*call)(void *user); /* may be NULL */
        void *user;
    } ended; /* when the stage is read to its end */
};

typedef perfile_filter_state pf_filter;

/* Reports how far a pass has come. */
static inline void pf_filter_report_progress(const pf_filter *x, const perfile_record *at)
{
    if (x->progress.at)
        x->progress.at(x->progress.user, at);
}

/* True if there are terms of a kind. */
static inline bool pf_filter_has(const pf_filter *x, unsigned kind)
{
    return x->terms.given >> kind & 1;
}

/* terms.c */

/* Parses options.terms. */
perfile_status pf_filter_terms(pf_filter *x, perfile_error *err);
/* Returns the next kind of terms that can select nothing, because no event records the field they
 * test, as perfile_error.where names it ("terms.pid"); NULL: no more.  *next is the kind to begin
 * with, and is moved on. */
const char *pf_filter_next_missing_field(const pf_filter *x, uint32_t *next);
/* The name of the kind alone ("pid"). */
const char *pf_filter_kind_name(const char *member);

/* time.c */

/* Parses one range of time ("A..B", "A,B", "10%-20%", "10%/2") and moves *text behind it.  `whole`
 * is the text of the term, for messages. */
perfile_status pf_filter_period(const char **text, const char *whole, pf_period *out,
                                perfile_error *err);
/* Computes x->terms.times and x->pass.window_end from the periods; needs the clock of the session,
 * and for relative times the collecting pass. */
perfile_status pf_filter_times(pf_filter *x, perfile_error *err);

/* test.c */

/* Tests records of a run against the terms; sets bit i of *selected if record i is selected.  Only
 * the records in `asked` are tested. */
perfile_status pf_filter_test(pf_filter *x, const pf_run *run, uint64_t asked, uint64_t *selected,
                              perfile_error *err);
/* Returns the event of a record, NULL when the record does not identify it. */
const perfile_event *pf_filter_event(const perfile_record *r);
/* True if a LOSS record fits the terms for time and processor, the only ones that apply to it. */
bool pf_filter_test_loss(const pf_filter *x, const perfile_record *r);
/* Brings event_fits and `times` up to date with the session; call it before a run is tested. */
perfile_status pf_filter_resolve(pf_filter *x, const perfile_record *first, perfile_error *err);
/* PERFILE_E_USAGE if a term names an event that the session does not have. */
perfile_status pf_filter_check_events(const pf_filter *x, perfile_error *err);

/* filter.c */

/* True if there are no terms: every record is passed on. */
bool pf_filter_selects_all(const pf_filter *x);
/* True if a time is relative to those of the samples, which the collecting pass finds. */
bool pf_filter_needs_time_range(const pf_filter *x);
/* Begins a pass over `s`: forgets what was computed from the session of the pass before. */
void pf_filter_begin_pass(pf_filter *x, const perfile_stream *s);
/* In the last pass: sets *keep to the records of the run that are passed on. */
perfile_status pf_filter_decide(pf_filter *x, const pf_run *run, uint64_t *keep,
                                perfile_error *err);
/* Sets *selected to the selected records of a run: by the bits of the selecting pass, else by
 * testing. */
perfile_status pf_filter_select(pf_filter *x, const pf_run *run, uint64_t *selected,
                                perfile_error *err);
/* In the selecting pass: selects of a run and remembers the result. */
perfile_status pf_filter_select_run(pf_filter *x, const pf_run *run, perfile_error *err);
/* Counts a run of the last pass in x->result. */
void pf_filter_count_run(pf_filter *x, const pf_run *run, uint64_t selected, uint64_t keep);

/* stage.c */

/* Takes out of *keep the FINISHED_ROUNDs that have only dropped records in front of them, unless
 * they are selected.  To be called for each run of the last pass that may drop records. */
void pf_filter_drop_rounds(pf_filter *x, const pf_run *run, uint64_t selected, uint64_t *keep);
/* True if the run is of a range that was given as it is stored, and its FINISHED_ROUNDs with it:
 * they are noted, and not to be passed on again. */
bool pf_filter_note_given(pf_filter *x, const pf_run *run);
/* Samples from `sequence` on were passed over: dropped, unless they are of a range that was given.
 */
void pf_filter_note_passed(pf_filter *x, uint64_t sequence);
/* True if the next FINISHED_ROUNDs will be dropped as long as no record is kept. */
bool pf_filter_drops_rounds(const pf_filter *x);

/* narrow.c: passes over ranges of a capture in an archive of whose records none or all are
 * selected, in the pass that begins. */
void pf_filter_narrow(pf_filter *x, perfile_stream *s, bool collecting, bool in_stage);
/* PERFILE_OK, or what went wrong while ranges were passed over. */
perfile_status pf_filter_narrow_status(const pf_filter *x, perfile_error *err);
/* Ends that: the next reader of the source needs everything. */
void pf_filter_widen(pf_filter *x, perfile_stream *s);

/* world.c: terms that need names of threads, mapped files or cgroups */

/* True if there are such terms. */
bool pf_filter_needs_model(const pf_filter *x);
/* Feeds side-band to the process model. */
perfile_status pf_filter_feed(pf_filter *x, const perfile_record *r, perfile_error *err);
/* Names for a record, NULL when they are unknown.  They belong to the filter. */
const char *pf_filter_comm(const pf_filter *x, const perfile_record *r);
const char *pf_filter_dso(const pf_filter *x, const perfile_record *r);
const char *pf_filter_cgroup(const pf_filter *x, const perfile_record *r);
/* The same names for expressions; `user` is the filter. */
extern const perfile_expr_provider pf_filter_names;
/* True if a pattern matches the name.  `path`: the part behind the last slash may match, too.  The
 * first function caches by the address of the name, which has to stay valid. */
bool pf_filter_matches(const pf_filter *x, pf_patterns *p, const char *name, bool path);

/* True if the text of `n` bytes is the name, or fits the pattern. */
bool pf_pattern_fits(const pf_pattern *p, const char *text, size_t n);

/* keep.c */

/* True for side-band of class TASK that belongs to no process: mappings of the kernel. */
bool pf_filter_is_kernel_mapping(const perfile_record *r);
/* Remembers in the selecting pass: what is selected, FORKs, and pf_filter_note_others(). */
perfile_status pf_filter_note(pf_filter *x, const pf_run *run, uint64_t selected,
                              perfile_error *err);
/* Adds the processes of a run to `seen` and `wanted`, and times of selected samples to kept_first
 * and kept_last. */
perfile_status pf_filter_count(pf_filter *x, const pf_run *run, uint64_t selected,
                               perfile_error *err);
/* True if a record that is not selected is kept. */
bool pf_filter_keep(pf_filter *x, const perfile_record *r);
/* pf_filter_note() without what is selected and FORKs: processes that records of other types refer
 * to, and the last side-band of each key. */
perfile_status pf_filter_note_others(pf_filter *x, const pf_run *run, uint64_t selected,
                                     perfile_error *err);
/* After the selecting pass: computes `needed` from `wanted` and the FORKs. */
perfile_status pf_filter_find_ancestors(pf_filter *x, const pf_ancestors *ancestors,
                                        perfile_error *err);

/* keep.c: features that describe the samples, made again for those that are kept and put into a
 * view of the capture's session */

/* True if the session has such features. */
bool pf_filter_changes_facts(const perfile_session *s);
/* SAMPLE_TIME */
perfile_status pf_filter_update_sample_time(pf_filter *x, pf_session_view *view,
                                            perfile_error *err);
/* Remembers the file of a mapping that was kept or dropped, for pf_filter_update_build_ids(). */
perfile_status pf_filter_note_file(pf_filter *x, const perfile_record *r, bool kept,
                                   perfile_error *err);
/* BUILD_ID: leaves out files of which no mapping was kept.  Call it at the end. */
perfile_status pf_filter_update_build_ids(pf_filter *x, pf_session_view *view, perfile_error *err);

#endif

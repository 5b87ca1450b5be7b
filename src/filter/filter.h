/* Internals of perfile_filter(), shared by the files of this folder and with src/lib.
 *
 * A filter passes on two kinds of records: those that its terms *select*, and those that are *kept*
 * because the selected ones need them: side-band of their processes and of the ancestors of these,
 * and facts of the recording.  The needed records are known only after a pass over the capture, so
 * there are up to three passes:
 *
 *   1. collecting pass, only for relative times and for names: time range, process model
 *   2. selecting pass: a bit for each selected record, processes, FORKs
 *   3. last pass, the stage: passes on the selected and kept records
 *
 * Passes 1 and 2 are made by perfile_filter_learn().  The stage can work without pass 2, but then
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

/* The parents of processes, from FORK records; used to find the ancestors of a process. */

/* All zeros is empty. */
typedef struct pf_ancestors {
    pf_buffer all; /* array with an entry for each FORK of a process */
    bool full;     /* there were too many FORKs: ancestors are unknown */
} pf_ancestors;

/* Adds a FORK record; forks of threads are ignored.  Returns false when out of memory. */
bool pf_ancestors_note(pf_ancestors *b, const perfile_record *r);
/* Sorts the entries.  Call it after the last pf_ancestors_note() and before the first search. */
void pf_ancestors_sort(pf_ancestors *b);
/* Adds `child` and all its ancestors to `needed`.  Calls on_added(user, pid) for each process that
 * was not in `needed` before, if `on_added` is not NULL.  FORKs later than `end` do not count.
 * `waiting` is scratch memory, which the caller may reuse for further calls.  Returns false when
 * out of memory. */
bool pf_ancestors_add_needed(const pf_ancestors *b, uint32_t child, uint64_t end, pf_pids *needed,
                             pf_buffer *waiting, void (*on_added)(void *user, uint32_t pid),
                             void *user);
/* Adds the parents of all processes in `needed` to `parents`.  Returns false when out of memory. */
bool pf_ancestors_parents(const pf_ancestors *b, uint64_t end, const pf_pids *needed,
                          pf_pids *parents);
void pf_ancestors_free(pf_ancestors *b);

/* What the samples of the capture contain: ranges of times, processes, addresses and so on, and the
 * first names.  It explains an empty result, and so is collected only while nothing is selected. */

/* Kinds of terms with a field at a fixed offset in samples, the cheapest test first. */
enum { PF_PLACE_TIME, PF_PLACE_PID, PF_PLACE_TID, PF_PLACE_CPU, PF_PLACE_IP, PF_PLACES };

/* A field at a fixed offset.  Its value is `word >> shift & mask`, where `word` is the 64-bit word
 * of sample_type bit `field`. */
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

/* Returns the kinds of pf_places as bits. */
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

/* Most names to store, and size of each. */
enum { PF_OBSERVED_MAX_NAMES = 5, PF_OBSERVED_NAME_BYTES = 32 };

/* The first distinct names, cut to PF_OBSERVED_NAME_BYTES - 1 bytes. */
typedef struct pf_observed_names {
    char at[PF_OBSERVED_MAX_NAMES][PF_OBSERVED_NAME_BYTES];
    uint32_t n;
    bool more; /* there were more */
} pf_observed_names;

/* Everything that was collected about samples. */
typedef struct pf_observed {
    bool over;       /* a sample was selected: nothing needs to be explained */
    uint32_t looked; /* bit k: ranges[k] was collected */
    pf_observed_range ranges[PF_PLACES];
    pf_observed_names comms, files;
} pf_observed;

/* Makes *t empty. */
void pf_observed_begin(pf_observed *t);
/* Returns the range of field k.  The caller widens it by the samples that it tests: those that
 * passed the terms for the fields before. */
pf_observed_range *pf_observed_place(pf_observed *t, unsigned k);
/* Collects names from the records of a run if there are terms for names.  `given` has the kinds of
 * all terms as bits.  If nothing would be collected for any term, collects the range of times. */
void pf_observed_look(pf_observed *t, const pf_run *run, uint32_t given);

/* Sets of numbers, stored as ranges. */

/* A range of numbers; both ends are included. */
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
/* Sorts the ranges and joins those that overlap.  Call it after adding and before searching. */
void pf_ranges_sort(pf_ranges *r);
/* Binary search; pf_ranges_contain() is faster for a single range. */
bool pf_ranges_search(const pf_ranges *r, uint64_t value);
void pf_ranges_free(pf_ranges *r);

/* Returns true if the set contains `value`.  A single range is tested with one comparison, modulo
 * 2^64. */
static inline bool pf_ranges_contain(const pf_ranges *r, uint64_t value)
{
    if (r->n == 1)
        return value - r->at[0].first <= r->at[0].last - r->at[0].first;
    return pf_ranges_search(r, value);
}

/* The records that the selecting pass selected: a bit for each, by its sequence. */

/* All zeros is empty. */
typedef struct pf_selected {
    pf_buffer bits;
    uint64_t from;   /* sequence of the record of the first bit */
    bool incomplete; /* there are too many bits: they are not used, the last pass tests again */
} pf_selected;

/* Sets the bits of the records of a run that are in `selected`.  Runs must come in the order of
 * their sequences.  Returns false when out of memory. */
bool pf_selected_set(pf_selected *x, const pf_run *run, uint64_t selected);

/* Sets the bits of `records` records from `sequence` on.  Returns false when out of memory. */
bool pf_selected_set_range(pf_selected *x, uint64_t sequence, uint64_t records);

/* Returns the selected records of the run, as bits. */
uint64_t pf_selected_of(const pf_selected *x, const pf_run *run);

/* Returns how many of the `records` records from `sequence` on were selected. */
uint64_t pf_selected_count(const pf_selected *x, uint64_t sequence, uint64_t records);

void pf_selected_free(pf_selected *x);

/* One end of a time range, as written in the text.  PF_OPEN: no end.  PF_CLOCK: a time of the
 * session clock.  PF_AFTER_FIRST: a time after the first sample.  PF_SHARE: a fraction of the time
 * of all samples.  PF_WALL: UTC. */
typedef struct pf_moment {
    enum { PF_OPEN, PF_CLOCK, PF_AFTER_FIRST, PF_SHARE, PF_WALL } kind;
    uint64_t ns; /* with PF_SHARE in billionths of the whole */
} pf_moment;

typedef struct pf_period {
    pf_moment from, to; /* both ends are included */
} pf_period;

/* A name as the user writes it: * and ? are wildcards, a backslash escapes the next character.  A
 * name that exists in the capture is taken literally, so that names printed in a report can be used
 * to select. */
typedef struct pf_pattern {
    char *name; /* as written; owned, NUL-terminated */
    char *text; /* as a pattern for pf_expr_glob(); owned, NUL-terminated */
    size_t len; /* of `text` */
    /* "a,b" is added as a whole and in parts: index of the whole; for the whole, its own. */
    uint32_t of;
    bool found; /* patterns for events: an event matches */
    bool exact; /* the capture has a thread, file … of exactly this name */
} pf_pattern;

/* Patterns for names.  Results are cached by the address of the name: equal names of a model are
 * equal pointers. */
typedef struct pf_patterns {
    pf_pattern *at;
    uint32_t n;
    bool settled;   /* `exact` is known */
    pf_index known; /* address of a name -> 1 if it matches, else 0 */
} pf_patterns;

/* The parsed terms, and what follows from them alone. */
typedef struct pf_terms {
    uint32_t given; /* bit k: there are terms of kind k (PERFILE_FILTER_BY_...) */
    /* Side-band is tested, too: with no_sideband, or if there are terms of kind TYPE or WHERE. */
    bool tests_sideband;
    bool no_sideband, invert, compact; /* options.flags */
    bool only;  /* PERFILE_FILTER_ONLY: passes on only selected records; every type is tested */
    bool marks; /* PERFILE_FILTER_MARK: as `only`, which is set too, but passes on all records */
    pf_ranges pids, tids, cpus, types, ips;
    pf_ranges times; /* ns of the session clock, from `periods` */
    pf_period *periods;
    uint32_t n_periods;
    pf_patterns events, comms, dsos, cgroups;
    perfile_expr **wheres;
    uint32_t n_wheres;
    bool where_needs_model; /* an expression uses comm, dso or cgroup */
} pf_terms;

/* The current pass, and what depends on its session. */
typedef struct pf_filter_pass {
    bool in_stage;                  /* it is the last one */
    const perfile_session *session; /* session of the stream that is being read */
    uint64_t generation;            /* generation of the session when event_fits was computed */
    bool resolved;                  /* terms.times and event_fits are valid in this pass */
    uint8_t *event_fits;            /* by index of the event: 1 if it matches the terms */
    uint32_t n_events, events_cap;
    uint64_t window_end; /* end of the last time range; later side-band is not needed */
} pf_filter_pass;

/* Ranges of an archive that are skipped, or passed on as they are stored: narrow.c. */
typedef struct pf_filter_ranges {
    pf_narrow narrow;       /* the request to the source in the current pass */
    bool all_selected;      /* all samples of the skipped range are selected … */
    bool counted;           /* … and have been counted */
    bool no_memory;         /* out of memory while ranges were skipped */
    const pf_narrow *takes; /* consumer of ranges as they are stored; NULL: none */
    uint64_t given_to;      /* end sequence of the last range passed on as it is stored */
} pf_filter_ranges;

/* Names of threads, files and cgroups: world.c. */
typedef struct pf_filter_world {
    perfile_model *model;
    pf_texts texts;     /* paths of cgroups */
    pf_index cgroup_of; /* id of a cgroup -> index in `cgroups` */
    pf_buffer cgroups;
    pf_answers answers; /* answers to other questions of WHERE terms: functions, callers … */
} pf_filter_world;

typedef struct pf_filter_selection {
    bool known;         /* the selecting pass is done … */
    pf_selected bits;   /* … and selected these records */
    bool any;           /* a sample, or another record that matches the terms, is selected */
    uint64_t countdown; /* options.every: samples to drop before the next is kept */
    uint64_t counted;   /* options.head: number of samples selected so far */
} pf_filter_selection;

/* Processes, and the side-band that is kept for them: keep.c. */
typedef struct pf_filter_sideband {
    pf_pids seen, wanted; /* processes that have records; that have selected records */
    pf_pids needed;       /* `wanted` and their ancestors */
    bool unattributed;    /* a selected record has no process: side-band of all processes is kept */
    pf_ancestors ancestors; /* FORKs */
    bool is_part; /* the filter is a part of a split: only processes of selected records matter */
    /* PERFILE_FILTER_COMPACT_SIDEBAND */
    pf_index last_of_key; /* key of a piece of side-band -> index in last_records */
    pf_buffer last_records;
    pf_pids forked_parents; /* parents of the processes in `needed` */
} pf_filter_sideband;

/* What features of the output need to know about the kept records: keep.c. */
typedef struct pf_filter_kept {
    bool needs_times; /* times are needed, for the feature SAMPLE_TIME, if samples may be dropped */
    uint64_t first, last;    /* with needs_times: first and last time of selected samples */
    pf_texts files;          /* names of files with kept mappings … */
    bool dropped_files;      /* … and whether some mapping was dropped */
    pf_buffer build_ids;     /* feature BUILD_ID of the output */
    uint8_t sample_time[16]; /* feature SAMPLE_TIME of the output */
} pf_filter_kept;

struct perfile_filter_state {
    perfile_filter_options options;
    pf_terms terms;
    pf_filter_pass pass;
    pf_filter_ranges ranges;
    bool collected;                 /* the collecting pass is done */
    uint64_t first_time, last_time; /* of all samples; PERFILE_NO_TIME: none has a time */
    pf_filter_world names;
    pf_filter_selection selection;
    pf_filter_sideband sideband;
    pf_filter_kept kept;
    bool holds; /* the stage is holding back records before the next one */
    struct {
        bool has_kept, has_dropped; /* records were kept, or dropped, … */
    } rounds;                       /* … since the last kept FINISHED_ROUND: stage.c */
    perfile_filter_summary result;
    pf_observed there; /* what samples contain, to explain an empty result */
    struct {
        void (*at)(void *user, const perfile_record *at); /* may be NULL */
        void *user;
    } progress; /* progress of any pass */
    struct {
        void (*call)(void *user); /* may be NULL */
        void *user;
    } ended; /* called when the stage is read to its end */
};

typedef perfile_filter_state pf_filter;

static inline void pf_filter_report_progress(const pf_filter *x, const perfile_record *at)
{
    if (x->progress.at)
        x->progress.at(x->progress.user, at);
}

/* Returns true if there are terms of a kind. */
static inline bool pf_filter_has(const pf_filter *x, unsigned kind)
{
    return x->terms.given >> kind & 1;
}

/* terms.c */

/* Parses options.terms. */
perfile_status pf_filter_terms(pf_filter *x, perfile_error *err);
/* Finds terms that can select nothing, because no event records the field that they test.  Begins
 * with kind *next, and advances it.  Returns the kind as in perfile_error.where ("terms.pid"), NULL
 * if there are no more. */
const char *pf_filter_next_missing_field(const pf_filter *x, uint32_t *next);
/* Returns the name of the kind alone ("pid"). */
const char *pf_filter_kind_name(const char *member);

/* time.c */

/* Parses one range of time ("A..B", "A,B", "10%-20%", "10%/2") and advances *text past it.  `whole`
 * is the text of the term, for messages. */
perfile_status pf_filter_period(const char **text, const char *whole, pf_period *out,
                                perfile_error *err);
/* Computes x->terms.times and x->pass.window_end from the periods.  Needs the clock of the session,
 * and for relative times the collecting pass. */
perfile_status pf_filter_times(pf_filter *x, perfile_error *err);

/* test.c */

/* Tests the records of a run in `asked` against the terms; sets bit i of *selected if record i is
 * selected. */
perfile_status pf_filter_test(pf_filter *x, const pf_run *run, uint64_t asked, uint64_t *selected,
                              perfile_error *err);
/* Returns the event of a record, NULL if the record does not identify it. */
const perfile_event *pf_filter_event(const perfile_record *r);
/* Returns true if a LOSS record matches the terms for time and CPU, the only ones that apply to it.
 */
bool pf_filter_test_loss(const pf_filter *x, const perfile_record *r);
/* Updates event_fits and `times` from the session.  Call it before a run is tested. */
perfile_status pf_filter_resolve(pf_filter *x, const perfile_record *first, perfile_error *err);
/* Returns PERFILE_E_USAGE if a term names an event that the session does not have. */
perfile_status pf_filter_check_events(const pf_filter *x, perfile_error *err);

/* filter.c */

/* Returns true if there are no terms: then every record is passed on. */
bool pf_filter_selects_all(const pf_filter *x);
/* Returns true if a time is relative to the times of samples, which the collecting pass finds. */
bool pf_filter_needs_time_range(const pf_filter *x);
/* Begins a pass over `s`: drops everything that was computed from the session of the previous pass.
 */
void pf_filter_begin_pass(pf_filter *x, const perfile_stream *s);
/* Sets *keep to the records of the run that are passed on.  For the last pass. */
perfile_status pf_filter_decide(pf_filter *x, const pf_run *run, uint64_t *keep,
                                perfile_error *err);
/* Sets *selected to the selected records of a run, from the bits of the selecting pass or else by
 * testing. */
perfile_status pf_filter_select(pf_filter *x, const pf_run *run, uint64_t *selected,
                                perfile_error *err);
/* Selects records of a run and stores the result.  For the selecting pass. */
perfile_status pf_filter_select_run(pf_filter *x, const pf_run *run, perfile_error *err);
/* Counts a run of the last pass in x->result. */
void pf_filter_count_run(pf_filter *x, const pf_run *run, uint64_t selected, uint64_t keep);

/* stage.c */

/* Removes from *keep each FINISHED_ROUND that closes only dropped records, unless it is selected.
 * Call it for each run of the last pass if records may be dropped. */
void pf_filter_drop_rounds(pf_filter *x, const pf_run *run, uint64_t selected, uint64_t *keep);
/* Returns true if the run belongs to a range that was passed on as it is stored, with its
 * FINISHED_ROUNDs.  Notes these; they must not be passed on again. */
bool pf_filter_note_given(pf_filter *x, const pf_run *run);
/* Notes that samples from `sequence` on were skipped.  They count as dropped, unless their range
 * was passed on as it is stored. */
void pf_filter_note_passed(pf_filter *x, uint64_t sequence);
/* Returns true if the next FINISHED_ROUNDs will be dropped as long as no record is kept. */
bool pf_filter_drops_rounds(const pf_filter *x);

/* narrow.c: for the pass that begins, requests from an archive that it skips ranges in which all
 * records or none are selected. */
void pf_filter_narrow(pf_filter *x, perfile_stream *s, bool collecting, bool in_stage);
/* Returns PERFILE_OK, or the error that occurred while ranges were skipped. */
perfile_status pf_filter_narrow_status(const pf_filter *x, perfile_error *err);
/* Ends the request: the next reader of the source gets everything. */
void pf_filter_widen(pf_filter *x, perfile_stream *s);

/* world.c: names of threads, mapped files and cgroups, for terms */

/* Returns true if there are terms that need such names. */
bool pf_filter_needs_model(const pf_filter *x);
/* Passes side-band to the process model. */
perfile_status pf_filter_feed(pf_filter *x, const perfile_record *r, perfile_error *err);
/* Return a name for a record, NULL if it is unknown.  Names belong to the filter. */
const char *pf_filter_comm(const pf_filter *x, const perfile_record *r);
const char *pf_filter_dso(const pf_filter *x, const perfile_record *r);
const char *pf_filter_cgroup(const pf_filter *x, const perfile_record *r);
/* Provides the same names to expressions; `user` is the filter. */
extern const perfile_expr_provider pf_filter_names;
/* Returns true if a pattern matches the name.  With `path` a pattern may also match only the part
 * after the last slash.  The result is cached by the address of the name, which must stay valid. */
bool pf_filter_matches(const pf_filter *x, pf_patterns *p, const char *name, bool path);

/* Returns true if the text of `n` bytes is the name or matches the pattern. */
bool pf_pattern_fits(const pf_pattern *p, const char *text, size_t n);

/* keep.c */

/* Returns true for side-band of class TASK that belongs to no process: mappings of the kernel. */
bool pf_filter_is_kernel_mapping(const perfile_record *r);
/* Notes a run of the selecting pass: the selected records, FORKs, and the rest as
 * pf_filter_note_others() does. */
perfile_status pf_filter_note(pf_filter *x, const pf_run *run, uint64_t selected,
                              perfile_error *err);
/* Adds the processes of a run to `seen` and `wanted`, and the times of its selected samples to
 * kept.first and kept.last. */
perfile_status pf_filter_count(pf_filter *x, const pf_run *run, uint64_t selected,
                               perfile_error *err);
/* Returns true if a record that is not selected is kept. */
bool pf_filter_keep(pf_filter *x, const perfile_record *r);
/* As pf_filter_note(), but without the selected records and FORKs: notes processes to which records
 * other than samples refer, and the last side-band of each key. */
perfile_status pf_filter_note_others(pf_filter *x, const pf_run *run, uint64_t selected,
                                     perfile_error *err);
/* Computes `needed` from `wanted` and the FORKs.  Call it after the selecting pass. */
perfile_status pf_filter_find_ancestors(pf_filter *x, const pf_ancestors *ancestors,
                                        perfile_error *err);

/* keep.c: features that describe the samples are made again for the kept samples, in a view of the
 * capture's session */

/* Returns true if the session has such features. */
bool pf_filter_changes_facts(const perfile_session *s);
/* Updates the feature SAMPLE_TIME. */
perfile_status pf_filter_update_sample_time(pf_filter *x, pf_session_view *view,
                                            perfile_error *err);
/* Notes the file of a mapping that was kept or dropped, for pf_filter_update_build_ids(). */
perfile_status pf_filter_note_file(pf_filter *x, const perfile_record *r, bool kept,
                                   perfile_error *err);
/* Updates the feature BUILD_ID: leaves out files without a kept mapping.  Call it at the end. */
perfile_status pf_filter_update_build_ids(pf_filter *x, pf_session_view *view, perfile_error *err);

#endif

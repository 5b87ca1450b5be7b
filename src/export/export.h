/* What the forms for viewers share: samples are resolved and added up in a profile (src/profile),
 * and a form writes it at the end.
 *
 * A form that shows samples one by one gives `take` of its own, and writes as they come. */
#ifndef PF_EMIT_EXPORT_H
#define PF_EMIT_EXPORT_H

#include "emit/emitter.h"
#include "perfile/event.h"
#include "perfile/field.h"
#include "profile/lines.h"
#include "profile/reader.h"
#include "profile/switches.h"
#include "profile/tree.h"

#include <stddef.h>

/* Samples at which threads left their processor, which wait until these come back, for
 * PERFILE_EXPORT_OFF_CPU. */
typedef struct pf_off_cpu {
    pf_switch_reader reader;
    perfile_tracepoints *all;
    pf_intern threads; /* away: charged to the profile's budget, as what it holds */
} pf_off_cpu;

/* The emitter of such a form; a form may have a struct that begins with it. */
typedef struct pf_exporter {
    perfile_emitter base;
    pf_profile profile;
    pf_profile_reader reader;
    pf_lines lines;           /* with PERFILE_EXPORT_LINES */
    pf_off_cpu off_cpu;       /* with PERFILE_EXPORT_OFF_CPU */
    bool reading;             /* `reader` is of the present capture */
    uint32_t n_inputs;        /* captures so far, the present one included */
    bool before;              /* it is one that others will be compared with */
    bool compares;            /* there was such a one */
    perfile_symbols *symbols; /* of it; NULL: frames get no names */
    uint32_t n_named;         /* frames of the captures before it */
    const char *hostname;     /* of it, as the session has it … */
    const char *host;         /* … and as a text of the profile */
    pf_index event_index;     /* name of an event (text of the profile) to its position in … */
    pf_buffer events;         /* pf_export_event: those of the captures that ended */
    perfile_export_options options;
    char *title;          /* a copy of options.title; NULL: none was given */
    const char *names[2]; /* of the first captures, without folders; of the profile's texts */
    uint64_t
        wall_time;    /* ns since 1970 of the first sample of the first capture that knows it; 0 */
    uint64_t wall_at; /* the time of that sample by the session clock */
    uint64_t record_bytes; /* of all captures */
    pf_buffer comments;    /* const char *: where captures come from, of the profile's texts */
    bool per_event;        /* options.per had PERFILE_PER_EVENT, not only the form */
    const char *facts[PERFILE_N_FACTS]; /* of these the first of each kind; NULL: none is known */
    perfile_export_summary sum;
} pf_exporter;

/* Functions of pf_emit_ops and pf_export_ops for forms that add up. */
perfile_status pf_export_open(perfile_emitter *e, perfile_error *err);
void pf_export_close(perfile_emitter *e);
perfile_status pf_export_begin(perfile_emitter *e, perfile_error *err);
perfile_status pf_export_put(perfile_emitter *e, const perfile_record *r, perfile_error *err);
perfile_status pf_export_put_run(perfile_emitter *e, const perfile_record *first, size_t n,
                                 perfile_error *err);
perfile_status pf_export_next(perfile_emitter *e, perfile_error *err);
void pf_export_summary(const perfile_emitter *e, perfile_export_summary *out);
extern const pf_export_ops pf_export_adds_up; /* these, per thread name; it can compare */

/* A record: what its thread did, or a sample that waits for it.  PERFILE_E_NOMEM, PERFILE_E_LIMIT.
 */
perfile_status pf_off_cpu_put(pf_exporter *x, const perfile_record *r, perfile_error *err);

/* Begins a capture, and ends it: threads that did not come back are forgotten. */
perfile_status pf_off_cpu_begin(pf_exporter *x, perfile_error *err);
void pf_off_cpu_end(pf_exporter *x);

/* To be called first in finish(): the last capture ends. */
perfile_status pf_export_end_input(pf_exporter *x, perfile_error *err);

/* Finds the label of a sample or other record; without an event if `about->event` is NULL.
 * PF_INTERN_NONE if there is no memory or the limit is exceeded. */
uint32_t pf_export_label(pf_exporter *x, const pf_profiled *about);

/* Appends a JSON string.  `text` is UTF-8 without control characters, as names are; `<` is escaped,
 * so that no name can end the HTML element that it may stand in.  False if there is no memory. */
bool pf_export_quote(pf_buffer *out, const char *text);

/* Write to the output: a JSON string likewise, text as it is, a decimal number. */
void pf_export_put_string(pf_exporter *x, const char *text);
void pf_export_put_text(pf_exporter *x, const char *text);
void pf_export_put_number(pf_exporter *x, uint64_t n);

/* How long names may be in a form that repeats them: `bytes` says how many bytes of names it would
 * write if none were longer than `most`.  They are whole as long as that is in proportion to the
 * records (format/limits.md). */
size_t pf_export_names_most(pf_exporter *x, uint64_t (*bytes)(const void *user, size_t most),
                            const void *user);

/* Writes a name of a capture as a JSON string; `scratch` is the caller's, for its text. */
void pf_export_put_name(pf_exporter *x, pf_buffer *scratch, const char *name);

/* Writes a heading likewise: the title that was given, or the names of the captures. */
void pf_export_put_title(pf_exporter *x, pf_buffer *scratch);

/* Hands the output to the sink if there is enough of it. */
perfile_status pf_export_write_some(pf_exporter *x, perfile_error *err);

/* True if periods of the event are ns: cpu-clock, task-clock, offcpu-time (of perf record
 * --off-cpu, and of PERFILE_EXPORT_OFF_CPU). */
bool pf_export_is_clock(const char *event);

/* What samples of an event say: PF_EVENT_…; NULL: it is not known which one. */
unsigned pf_export_event_says(const perfile_event *event);

/* What is known of an event of this name; all zeros if nothing is. */
pf_export_event pf_export_event_of(const pf_exporter *x, const char *name);

/* The options that decide names and weights. */
pf_tree_options pf_export_tree_options(const pf_exporter *x);

/* Counter values over time: of READ records, of samples with READ values, and of STAT records. */

/* A value of a counter. */
typedef struct pf_counter {
    uint64_t time; /* PERFILE_NO_TIME: not known */
    uint64_t value, sequence;
    const char *name; /* "cycles", "cycles cpu 3", "cycles tid 12": of the profile's texts */
    uint32_t pid;     /* PERFILE_NO_PID: not known */
    bool since_start; /* `time` counts from the start of the recording */
} pf_counter;

/* Charged to perfile_limits.profile_bytes. */
typedef struct pf_counters {
    pf_counter *at;
    size_t n, cap;
    size_t n_timed; /* values of STAT records from here on wait for a STAT_ROUND, with the time */
    uint64_t round; /* the time of the last one */
    pf_buffer name;
} pf_counters;

/* Adds what a sample, READ, STAT or STAT_ROUND record says; nothing of others, and of those that
 * cannot be read.  False if there is no memory or the limit is exceeded. */
bool pf_counters_add(pf_counters *c, pf_profile *p, const pf_profiled *about);

/* Sorts them by time. */
void pf_counters_sort(pf_counters *c);
void pf_counters_free(pf_counters *c);

/* What records other than samples say, as JSON members: for the forms that show them as marks at
 * their time.  Samples of events that only happen may be marks, too.
 *
 * The fields come from a walk, so that a new record type needs nothing here.  Equal texts are kept
 * once; all of it is charged to perfile_limits.profile_bytes. */

/* What kind of mark it is.  The key is all of it. */
typedef struct pf_mark_kind {
    uint64_t type;     /* PERFILE_RECORD_… */
    const char *event; /* of a sample, of the profile's texts; NULL: of another record, not known */
} pf_mark_kind;

/* What a mark says.  The key is all of it. */
typedef struct pf_mark {
    pf_mark_kind kind;
    const char *text; /* `,"addr":"0x1000","filename":"/bin/work"`, of the profile's texts */
} pf_mark;

/* A field that some mark of a kind has.  The key is what it is called in marks of the kind: events
 * of one tracepoint may each have a field of a name. */
typedef struct pf_mark_field {
    pf_mark_kind kind;
    const char *key;            /* of the profile's texts */
    const perfile_field *field; /* its row of the tables, or of a tracepoint; the first */
} pf_mark_field;

typedef struct pf_marks {
    pf_intern said;   /* pf_mark */
    pf_intern kinds;  /* pf_mark_kind: those of all marks */
    pf_intern fields; /* pf_mark_field */
    pf_buffer text, clean;
    /* Of the record that was described last: its own fields `pid` and `tid`, PERFILE_NO_PID
     * without; they are of whom it is about, which the trailer need not be. */
    uint32_t pid, tid;
} pf_marks;

void pf_marks_init(pf_marks *m, pf_profile *p);
void pf_marks_free(pf_marks *m);

/* The number in `said` of what a record says.  PF_INTERN_NONE if there is no memory or the limit is
 * exceeded.  A record that cannot be read says what stands before the damage. */
uint32_t pf_marks_describe(pf_marks *m, pf_profile *p, const perfile_record *r);

/* The number in `said` of what the payload of a sample says, + 1; 0: it has none that is described.
 * PF_INTERN_NONE likewise. */
uint32_t pf_marks_payload(pf_marks *m, pf_profile *p, perfile_tracepoints *all,
                          const perfile_record *r, const char *event);

/* What marks of a kind are called: the event, or the type of the record. */
const char *pf_marks_name(const pf_mark_kind *kind);

/* The number in `said` of a mark for samples of an event, which says `text`, JSON members likewise.
 * PF_INTERN_NONE if there is no memory or the limit is exceeded. */
uint32_t pf_marks_event(pf_marks *m, pf_profile *p, const char *event, const char *text);

/* The key of a field in the text. */
const char *pf_marks_key(const perfile_field *field);

static inline const pf_mark *pf_marks_at(const pf_marks *m, uint32_t number)
{
    return pf_intern_at(&m->said, number);
}

/* Samples in order of time for each label: for forms that show what a thread did one sample after
 * the other.  Each sample takes 32 bytes, charged to perfile_limits.profile_bytes, whatever its
 * stack. */

/* A sample that waits for the end. */
typedef struct pf_moment {
    uint64_t time; /* PERFILE_NO_TIME: it has none, and stands where it came */
    uint64_t weight;
    uint32_t label, stack;
    uint32_t said; /* of a mark: its number in pf_marks.said; of a sample that number + 1, if the
                    * payload of its tracepoint is there, else 0 */
    uint32_t sequence; /* set by pf_timeline_add() */
} pf_moment;

/* Samples, and from which to which of them each label has once they are sorted. */
typedef struct pf_timeline {
    pf_moment *at;
    size_t n, cap;
    size_t *begins; /* of each label, and behind the last: n_labels + 1 */
    size_t n_labels;
} pf_timeline;

/* Adds a sample.  False if there is no memory or the limit of the profile is exceeded. */
bool pf_timeline_add(pf_timeline *t, pf_profile *p, const pf_moment *m);

/* Sorts them by label, then time; equal times as they came. */
perfile_status pf_timeline_sort(pf_timeline *t, pf_profile *p, perfile_error *err);

void pf_timeline_free(pf_timeline *t);

/* Frames as viewers have them that list each function once, and each other name of an object; with
 * lines each line of the source. */

/* A frame of a viewer.  The key is all of it. */
typedef struct pf_shown_name {
    const char *name;  /* of the profile's texts */
    uint32_t object;   /* number; PF_NO_OBJECT */
    uint32_t function; /* number + 1; 0: not known */
    const char *file;  /* of the source; NULL: not known, or lines are not shown */
    uint32_t line, zero;
} pf_shown_name;

typedef struct pf_shown {
    pf_intern names;     /* pf_shown_name; charged to the profile's budget, as all of it */
    uint32_t *positions; /* in `names`, of each frame of the profile; with lines of each key */
    bool by_line;        /* to be set before pf_shown_make() */
} pf_shown;

void pf_shown_init(pf_shown *s, pf_profile *p);
void pf_shown_free(pf_shown *s);

/* Finds the names of all frames.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_shown_make(pf_shown *s, pf_exporter *x, perfile_error *err);

/* The position of the frame with a key (pf_line_key()). */
static inline uint32_t pf_shown_position(const pf_shown *s, uint32_t key)
{
    return s->positions[s->by_line ? key : key / 2];
}

static inline const pf_shown_name *pf_shown_at(const pf_shown *s, uint32_t number)
{
    return pf_intern_at(&s->names, number);
}

/* Tracks: for each label samples, other records, and when a thread was on a processor, in order of
 * time.  For forms that show what threads did.
 *
 * What is no sample has a label without an event; it is shown on the first track of samples of the
 * same thread (with `by_thread` whatever its name and processor are at the time, so that stretches
 * on a processor of one thread never overlap).  Thread 0 is idle, of which each processor has one:
 * each of these has a track of its own.  Everything is charged to perfile_limits.profile_bytes: 32
 * bytes for each sample, mark and switch, and what marks say, once. */

/* What is known of a label. */
typedef struct pf_track {
    const char *comm;      /* the last name of its thread, of the profile's texts, or NULL */
    uint64_t named;        /* time of `comm` */
    uint64_t first, last;  /* of its samples, marks and switches; first > last: none has a time */
    uint64_t began, ended; /* FORK and EXIT of its thread; PERFILE_NO_TIME: not seen */
    uint32_t shown;        /* label of the track it is shown on, complete behind sorting */
    uint32_t thread;       /* likewise: that of the same thread which has its switches */
    bool sampled;          /* there are samples */
    bool used;             /* behind sorting: there is something on it */
} pf_track;

typedef struct pf_tracks {
    pf_timeline samples;  /* `weight`: their periods */
    pf_timeline marks;    /* other records, of which `stack` is empty; samples, likewise */
    pf_timeline switches; /* `weight`: PF_SWITCH_…, and before sorting the source and the capture;
                           * `stack`: processor, PF_NO_LABEL: not known */
    uint8_t *sources;     /* PF_SWITCHES_… of each capture, by pf_exporter.n_inputs */
    size_t n_sources;
    pf_marks said;
    pf_buffer tracepoints;   /* perfile_tracepoints *: of all captures, the present one last … */
    pf_switch_reader reader; /* … which this reads */
    uint32_t n_inputs;       /* pf_exporter.n_inputs when that was opened */
    pf_track *at;            /* by label */
    size_t n, cap;
    uint64_t first, last; /* of all that have a time; first > last: none has */
    bool by_thread;       /* to be set before sorting */
    bool joins_events;    /* likewise: samples of a thread are on one track, whatever their event */
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
/* What a record of the present capture says of switches.  False if there is no memory. */
bool pf_tracks_read_switch(pf_tracks *t, pf_exporter *x, const pf_profiled *about, pf_switch *out);
/* A record that is shown by other means, so that its thread is known. */
bool pf_tracks_note(pf_tracks *t, pf_exporter *x, const pf_profiled *about);
/* The same for records SWITCH and SWITCH_CPU_WIDE, and nothing of others. */
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

#endif

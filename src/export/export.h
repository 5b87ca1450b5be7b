/* Code shared by the viewer formats.  Samples are resolved and added up in a profile (src/profile),
 * which the form writes at the end.
 *
 * A form that shows single samples has its own `take`, and writes them as they come. */
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

/* For PERFILE_EXPORT_OFF_CPU: samples at which threads left their CPU, which wait until the threads
 * return. */
typedef struct pf_off_cpu {
    pf_switch_reader reader;
    perfile_tracepoints *all;
    pf_intern threads; /* threads off CPU; charged to the profile's budget */
} pf_off_cpu;

/* The emitter of such a form.  A form may have a struct that begins with it. */
typedef struct pf_exporter {
    perfile_emitter base;
    pf_profile profile;
    pf_profile_reader reader;
    pf_lines lines;           /* with PERFILE_EXPORT_LINES */
    pf_off_cpu off_cpu;       /* with PERFILE_EXPORT_OFF_CPU */
    bool reading;             /* a capture is open, and `reader` belongs to it */
    uint32_t n_inputs;        /* captures so far, including the current one */
    bool before;              /* others will be compared with the current capture */
    bool compares;            /* captures are compared */
    perfile_symbols *symbols; /* of the current capture; NULL: frames get no names */
    uint32_t n_named;         /* frames of the captures before the current one */
    const char *hostname;     /* of the current capture, as in the session */
    const char *host;         /* the same, as a text of the profile */
    pf_index event_index;     /* name of an event (text of the profile) to its index in `events` */
    pf_buffer events;         /* pf_export_event: the events of finished captures */
    perfile_export_options options;
    char *title;          /* a copy of options.title; NULL if there is none */
    const char *names[2]; /* file names of the first captures, as texts of the profile */
    uint64_t wall_time;   /* ns since 1970 of the first sample of the first capture that knows it */
    uint64_t wall_at;     /* the time of that sample by the session clock */
    uint64_t record_bytes;              /* bytes of the records of all captures */
    pf_buffer comments;                 /* const char *: origin of captures, texts of the profile */
    bool per_event;                     /* options.per had PERFILE_PER_EVENT, not only the form */
    const char *facts[PERFILE_N_FACTS]; /* first known value of each fact; NULL if none */
    perfile_export_summary sum;
} pf_exporter;

/* Functions of pf_emit_ops and pf_export_ops for forms that add up samples. */
perfile_status pf_export_open(perfile_emitter *e, perfile_error *err);
void pf_export_close(perfile_emitter *e);
perfile_status pf_export_begin(perfile_emitter *e, perfile_error *err);
perfile_status pf_export_put(perfile_emitter *e, const perfile_record *r, perfile_error *err);
perfile_status pf_export_put_run(perfile_emitter *e, const perfile_record *first, size_t n,
                                 perfile_error *err);
perfile_status pf_export_next(perfile_emitter *e, perfile_error *err);
void pf_export_summary(const perfile_emitter *e, perfile_export_summary *out);
extern const pf_export_ops pf_export_adds_up; /* the above functions; default key: comm */

/* Handles a record for PERFILE_EXPORT_OFF_CPU: a switch of its thread, or a sample that waits for
 * one.  Fails with PERFILE_E_NOMEM or PERFILE_E_LIMIT. */
perfile_status pf_off_cpu_put(pf_exporter *x, const perfile_record *r, perfile_error *err);

/* Begin and end a capture.  At the end, threads that did not return are dropped. */
perfile_status pf_off_cpu_begin(pf_exporter *x, perfile_error *err);
void pf_off_cpu_end(pf_exporter *x);

/* Ends the last capture.  Must be called first in finish(). */
perfile_status pf_export_end_input(pf_exporter *x, perfile_error *err);

/* Returns the label of a sample or other record, without an event if `about->event` is NULL.
 * Returns PF_INTERN_NONE when out of memory or over the limit. */
uint32_t pf_export_label(pf_exporter *x, const pf_profiled *about);

/* Appends a JSON string.  `text` is UTF-8 without control characters, as names are.  `<` is
 * escaped, so that no name can end an HTML element around it.  Returns false when out of memory. */
bool pf_export_quote(pf_buffer *out, const char *text);

/* Write to the output: a JSON string as above, plain text, a decimal number. */
void pf_export_put_string(pf_exporter *x, const char *text);
void pf_export_put_text(pf_exporter *x, const char *text);
void pf_export_put_number(pf_exporter *x, uint64_t n);

/* Returns the maximum length of names in a form that repeats them.  `bytes` returns how many bytes
 * of names the form would write if none were longer than `most`.  Names are not shortened as long
 * as that is in proportion to the size of the records (format/limits.md). */
size_t pf_export_names_most(pf_exporter *x, uint64_t (*bytes)(const void *user, size_t most),
                            const void *user);

/* Writes a name of a capture as a JSON string.  `scratch` is a buffer of the caller. */
void pf_export_put_name(pf_exporter *x, pf_buffer *scratch, const char *name);

/* Writes a heading as a JSON string: the title from the options, or the names of the captures. */
void pf_export_put_title(pf_exporter *x, pf_buffer *scratch);

/* Writes the output to the sink if there is enough of it. */
perfile_status pf_export_write_some(pf_exporter *x, perfile_error *err);

/* Returns true if periods of the event are ns: cpu-clock, task-clock, and offcpu-time, which perf
 * records and PERFILE_EXPORT_OFF_CPU makes. */
bool pf_export_is_clock(const char *event);

/* Returns what samples of an event say about CPU time: PF_EVENT_…. `event` is NULL if it is not
 * known. */
unsigned pf_export_event_says(const perfile_event *event);

/* Returns the facts about the event of this name; zeros if it is not known. */
pf_export_event pf_export_event_of(const pf_exporter *x, const char *name);

/* Returns the options that decide names and weights. */
pf_tree_options pf_export_tree_options(const pf_exporter *x);

/* Counter values over time: from READ records, samples with READ values, and STAT records. */

/* A value of a counter. */
typedef struct pf_counter {
    uint64_t time; /* PERFILE_NO_TIME if not known */
    uint64_t value, sequence;
    const char *name; /* "cycles", "cycles cpu 3", "cycles tid 12": text of the profile */
    uint32_t pid;     /* PERFILE_NO_PID if not known */
    bool since_start; /* `time` counts from the start of the recording */
} pf_counter;

/* All counter values, charged to perfile_limits.profile_bytes. */
typedef struct pf_counters {
    pf_counter *at;
    size_t n, cap;
    size_t n_timed; /* STAT values from this index on wait for the time of a STAT_ROUND */
    uint64_t round; /* the time of the last STAT_ROUND */
    pf_buffer name;
} pf_counters;

/* Adds the values of a sample, READ, STAT or STAT_ROUND record.  Ignores other records and records
 * that cannot be decoded.  Returns false when out of memory or over the limit. */
bool pf_counters_add(pf_counters *c, pf_profile *p, const pf_profiled *about);

/* Sorts the values by time. */
void pf_counters_sort(pf_counters *c);
void pf_counters_free(pf_counters *c);

/* Marks: the content of records other than samples as JSON members, for forms that show them at
 * their time.  Samples of events that mark single occurrences may be marks, too.
 *
 * The fields come from a walk, so that a new record type needs no change here.  Equal texts are
 * stored once; everything is charged to perfile_limits.profile_bytes. */

/* The kind of a mark.  The whole struct is the key. */
typedef struct pf_mark_kind {
    uint64_t type;     /* PERFILE_RECORD_… */
    const char *event; /* of a sample, text of the profile; NULL: other record, or not known */
} pf_mark_kind;

/* The content of a mark.  The whole struct is the key. */
typedef struct pf_mark {
    pf_mark_kind kind;
    const char *text; /* `,"addr":"0x1000","filename":"/bin/work"`, text of the profile */
} pf_mark;

/* A field that some mark of a kind has.  The key is its name within the kind, because several
 * events of one tracepoint may have fields of the same name. */
typedef struct pf_mark_field {
    pf_mark_kind kind;
    const char *key;            /* text of the profile */
    const perfile_field *field; /* first row of the tables or of a tracepoint with it */
} pf_mark_field;

typedef struct pf_marks {
    pf_intern said;   /* pf_mark: the content of all marks */
    pf_intern kinds;  /* pf_mark_kind: the kinds of all marks */
    pf_intern fields; /* pf_mark_field */
    pf_buffer text, clean;
    /* The fields `pid` and `tid` of the last described record, PERFILE_NO_PID without them.  They
     * are of the task that the record is about, which may differ from the task in the trailer. */
    uint32_t pid, tid;
} pf_marks;

void pf_marks_init(pf_marks *m, pf_profile *p);
void pf_marks_free(pf_marks *m);

/* Returns the index in `said` of the content of a record.  A record that cannot be decoded has the
 * fields before the damage.  Returns PF_INTERN_NONE when out of memory or over the limit. */
uint32_t pf_marks_describe(pf_marks *m, pf_profile *p, const perfile_record *r);

/* Returns the index in `said` of the payload of a sample, plus 1; 0 if it has none that is
 * described.  Returns PF_INTERN_NONE when out of memory or over the limit. */
uint32_t pf_marks_payload(pf_marks *m, pf_profile *p, perfile_tracepoints *all,
                          const perfile_record *r, const char *event);

/* Returns the name for marks of a kind: the event, or the type of the record. */
const char *pf_marks_name(const pf_mark_kind *kind);

/* Returns the index in `said` of a mark for samples of an event, with the JSON members `text`.
 * Returns PF_INTERN_NONE when out of memory or over the limit. */
uint32_t pf_marks_event(pf_marks *m, pf_profile *p, const char *event, const char *text);

/* Returns the key of a field in the text. */
const char *pf_marks_key(const perfile_field *field);

static inline const pf_mark *pf_marks_at(const pf_marks *m, uint32_t number)
{
    return pf_intern_at(&m->said, number);
}

/* Samples of each label in order of time, for forms that show the samples of a thread one after the
 * other.  Each sample takes 32 bytes, charged to perfile_limits.profile_bytes, whatever the size of
 * its stack. */

/* A sample that is stored until the end. */
typedef struct pf_moment {
    uint64_t time; /* PERFILE_NO_TIME: it has none, and stays in stream order */
    uint64_t weight;
    uint32_t label, stack;
    uint32_t said;     /* mark: index in pf_marks.said; sample: index of its payload + 1, or 0 */
    uint32_t sequence; /* set by pf_timeline_add() */
} pf_moment;

/* Samples, and after sorting the range of each label. */
typedef struct pf_timeline {
    pf_moment *at;
    size_t n, cap;
    size_t *begins; /* first sample of each label, and the end: n_labels + 1 */
    size_t n_labels;
} pf_timeline;

/* Adds a sample.  Returns false when out of memory or over the limit of the profile. */
bool pf_timeline_add(pf_timeline *t, pf_profile *p, const pf_moment *m);

/* Sorts the samples by label, then time.  Samples of equal time keep their order. */
perfile_status pf_timeline_sort(pf_timeline *t, pf_profile *p, perfile_error *err);

void pf_timeline_free(pf_timeline *t);

/* Frames for viewers that list each function once, and each unnamed location of an object; with
 * lines, each source line. */

/* A frame of a viewer.  The whole struct is the key. */
typedef struct pf_shown_name {
    const char *name;  /* text of the profile */
    uint32_t object;   /* number, or PF_NO_OBJECT */
    uint32_t function; /* number + 1; 0 if not known */
    const char *file;  /* source file; NULL if not known or if lines are not shown */
    uint32_t line, zero;
} pf_shown_name;

typedef struct pf_shown {
    pf_intern names;     /* pf_shown_name; charged to the profile's budget, as everything here */
    uint32_t *positions; /* index in `names` of each frame; by_line: of each key */
    bool by_line;        /* set this before pf_shown_make() */
} pf_shown;

void pf_shown_init(pf_shown *s, pf_profile *p);
void pf_shown_free(pf_shown *s);

/* Finds the names of all frames.  Fails with PERFILE_E_NOMEM or PERFILE_E_LIMIT. */
perfile_status pf_shown_make(pf_shown *s, pf_exporter *x, perfile_error *err);

/* Returns the index of the frame with a key (pf_line_key()). */
static inline uint32_t pf_shown_position(const pf_shown *s, uint32_t key)
{
    return s->positions[s->by_line ? key : key / 2];
}

static inline const pf_shown_name *pf_shown_at(const pf_shown *s, uint32_t number)
{
    return pf_intern_at(&s->names, number);
}

/* Tracks, for forms that show what threads did: for each label its samples, other records, and when
 * its thread was on a CPU, in order of time.
 *
 * Records other than samples have a label without an event.  They are shown on the first track with
 * samples of the same thread.  With `by_thread`, the name and CPU of the thread at that time do not
 * matter, so that the slices of a thread never overlap.  Thread 0 is idle, which exists once per
 * CPU: each CPU's idle thread has its own track.  Everything is charged to
 * perfile_limits.profile_bytes: 32 bytes for each sample, mark and switch, and the content of
 * marks, once. */

/* The facts about a label. */
typedef struct pf_track {
    const char *comm;      /* last name of its thread, text of the profile, or NULL */
    uint64_t named;        /* time of `comm` */
    uint64_t first, last;  /* of its samples, marks and switches; first > last: no times */
    uint64_t began, ended; /* FORK and EXIT of its thread; PERFILE_NO_TIME: not seen */
    uint32_t shown;        /* label of the track it is shown on; valid after sorting */
    uint32_t thread;       /* label of the same thread that has its switches; valid after sorting */
    bool sampled;          /* it has samples */
    bool used;             /* valid after sorting: the track is not empty */
} pf_track;

typedef struct pf_tracks {
    pf_timeline samples;  /* `weight`: their periods */
    pf_timeline marks;    /* other records, with an empty `stack`; also samples that are marks */
    pf_timeline switches; /* `weight`: PF_SWITCH_… (see tracks.c); `stack`: CPU or PF_NO_LABEL */
    uint8_t *sources;     /* PF_SWITCHES_… of each capture, by pf_exporter.n_inputs */
    size_t n_sources;
    pf_marks said;
    pf_buffer tracepoints;   /* perfile_tracepoints * of all captures, the current one last */
    pf_switch_reader reader; /* uses the last of `tracepoints` */
    uint32_t n_inputs;       /* pf_exporter.n_inputs when the reader was opened */
    pf_track *at;            /* by label */
    size_t n, cap;
    uint64_t first, last; /* of everything that has a time; first > last: nothing has */
    bool by_thread;       /* set this before sorting */
    bool joins_events;    /* set before sorting: one track per thread, not per event */
    bool only_tasks;      /* set before sorting: CPU-wide switches are shown by other means */
} pf_tracks;

/* A range of time in which a thread was on a CPU. */
typedef struct pf_slice {
    uint64_t begin, end;
    uint32_t cpu;   /* PF_NO_LABEL if not known */
    bool preempted; /* it could have continued */
} pf_slice;

void pf_tracks_init(pf_tracks *t, pf_profile *p);
void pf_tracks_free(pf_tracks *t);

/* Add a sample to the tracks.  Return false when out of memory or over the limit. */
bool pf_tracks_take(pf_tracks *t, pf_exporter *x, const pf_profiled *sample, uint32_t label);
/* Reads the switch in a record of the current capture.  Returns false when out of memory. */
bool pf_tracks_read_switch(pf_tracks *t, pf_exporter *x, const pf_profiled *about, pf_switch *out);
/* Notes the thread of a record that is shown by other means. */
bool pf_tracks_note(pf_tracks *t, pf_exporter *x, const pf_profiled *about);
/* Adds the switch in a SWITCH or SWITCH_CPU_WIDE record; ignores other records. */
bool pf_tracks_switch(pf_tracks *t, pf_exporter *x, const pf_profiled *about);

/* Returns the most complete source of switches of a capture (pf_exporter.n_inputs).  Switches of
 * all CPUs come first: by SWITCH_CPU_WIDE or else by sched:sched_switch (PF_SWITCHES_WIDE,
 * PF_SWITCHES_TRACED, in *whole).  Then switches of tasks: by SWITCH or else by sched:sched_switch.
 * Returns 0 if there are none. */
unsigned pf_tracks_source(const pf_tracks *t, size_t input, bool *whole);

/* Sorts everything by the label that it is shown with, then time.  Fails with PERFILE_E_NOMEM or
 * PERFILE_E_LIMIT. */
perfile_status pf_tracks_sort(pf_tracks *t, pf_profile *p, perfile_error *err);

/* Returns the next slice of a label; *at is 0 at first.  Returns false after the last.  Slices do
 * not overlap.  A slice without an end is over when the capture or the thread ends.  It is left out
 * if only PF_SWITCH_NEXT shows it, and so is a slice that began before the capture. */
bool pf_tracks_slice(const pf_tracks *t, uint32_t label, size_t *at, pf_slice *out);

/* Returns the ns from the first time to `time`.  Items without a time come after all others, in
 * stream order, 1 ms apart; *untimed counts them. */
uint64_t pf_tracks_time(const pf_tracks *t, uint64_t time, uint64_t *untimed);

/* The threads of all labels, each once, with its last name.  Idle is one thread per CPU. */

/* A thread.  Its numbers are the key. */
typedef struct pf_named_thread {
    uint32_t pid, tid;
    uint32_t cpu; /* of idle; PF_NO_LABEL for other threads or if not known */
    uint32_t zero;
    const char *comm; /* text of the profile; NULL if not known */
    uint64_t named;   /* when it got this name */
} pf_named_thread;

/* Adds the threads to *threads, which must be empty, in the order of the labels.  Leaves out labels
 * without both numbers.  The caller must free *threads even on failure.  Fails with PERFILE_E_NOMEM
 * or PERFILE_E_LIMIT. */
perfile_status pf_name_threads(const pf_tracks *t, pf_profile *p, pf_intern *threads,
                               perfile_error *err);

#endif

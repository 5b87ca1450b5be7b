/* What the forms for viewers share: samples are resolved and added up in a profile (src/profile),
 * and a form writes it at the end.
 *
 * A form that shows samples one by one gives `take` of its own, and writes as they come. */
#ifndef PF_EMIT_EXPORT_H
#define PF_EMIT_EXPORT_H

#include <stddef.h>

#include "emit/emitter.h"
#include "profile/reader.h"
#include "profile/tree.h"
#include "perfile/field.h"

/* The page that shows a flame graph: lines of HTML with style and script, from behind the title to
 * the end, ended by NULL. */

extern const char *const pf_flamegraph_page[];

struct pf_exporter;

/* What such forms have in addition to pf_emit_ops. */
typedef struct pf_export_ops {
    perfile_status (*put_run)(perfile_emitter *e, const perfile_record *first, size_t n,
                              perfile_error *err);
    /* A capture ends, and another begins, unless base.stream is NULL: then stream, session and
     * model of the emitter are those of it.  NULL: the form shows one only. */
    perfile_status (*next)(perfile_emitter *e, perfile_error *err);
    void (*summary)(const perfile_emitter *e, perfile_export_summary *out);
    /* Gets each sample and its label; false if there is no memory or the limit of the profile is
     * exceeded.  NULL: they are added up. */
    bool (*take)(struct pf_exporter *x, const pf_profiled *sample, uint32_t label);
    /* Gets each other record of perf's own family, with what it says of time, task and processor
     * (`period` and `stack` mean nothing), as it comes; its event is that of its id, if it has one.
     * False likewise.  NULL: they are not of interest. */
    bool (*note)(struct pf_exporter *x, const pf_profiled *about);
    uint8_t per[8]; /* the keys that are taken if none are asked for */
    bool all_keys;  /* all keys are taken, whatever is asked for */
    bool per_event; /* PERFILE_PER_EVENT is always among them */
    bool per_host;  /* labels say the host, too */
    bool compares;  /* it can show samples of captures before beside those of others */
    bool joins;     /* frames without a name are one for each object by default */
    bool binary;    /* the output is not for terminals */
    bool directory; /* it is several files */
} pf_export_ops;

/* The emitter of such a form; a form may have a struct that begins with it. */
typedef struct pf_exporter {
    perfile_emitter base;
    pf_profile profile;
    pf_profile_reader reader;
    bool reading;             /* `reader` is of the present capture */
    uint32_t n_inputs;        /* captures so far, the present one included */
    bool before;              /* it is one that others will be compared with */
    bool compares;            /* there was such a one */
    perfile_symbols *symbols; /* of it; NULL: frames get no names */
    uint32_t n_named;         /* frames of the captures before it */
    const char *hostname;     /* of it, as the session has it … */
    const char *host;         /* … and as a text of the profile */
    pf_index events;          /* the names of events so far (texts of the profile) */
    perfile_export_options options;
    char *title; /* a copy of options.title; NULL: none was given */
    uint64_t
        wall_time;    /* ns since 1970 of the first sample of the first capture that knows it; 0 */
    uint64_t wall_at; /* the time of that sample by the session clock */
    uint64_t record_bytes; /* of all captures */
    pf_buffer comments;    /* const char *: where captures come from, of the profile's texts */
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

/* Hands the output to the sink if there is enough of it. */
perfile_status pf_export_write_some(pf_exporter *x, perfile_error *err);

/* True if periods of the event are ns: cpu-clock, task-clock. */
bool pf_export_is_clock(const char *event);

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
 * their time.
 *
 * The fields come from a walk, so that a new record type needs nothing here.  Equal texts are kept
 * once; all of it is charged to perfile_limits.profile_bytes. */

/* What a mark says.  The key is all of it. */
typedef struct pf_mark {
    uint64_t type;    /* PERFILE_RECORD_… */
    const char *text; /* `,"addr":"0x1000","filename":"/bin/work"`, of the profile's texts */
} pf_mark;

/* A field that some mark of a type has.  The key is all of it. */
typedef struct pf_mark_field {
    uint64_t type;
    const perfile_field *field; /* its row of the tables */
} pf_mark_field;

typedef struct pf_marks {
    pf_intern said;   /* pf_mark */
    pf_intern types;  /* uint64_t: those of all marks */
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
    uint64_t sequence;
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

/* Frames as viewers have them that list each function once, and each other name of an object. */

/* A frame of a viewer.  The key is all of it. */
typedef struct pf_shown_name {
    const char *name;  /* of the profile's texts */
    uint32_t object;   /* number; PF_NO_OBJECT */
    uint32_t function; /* number + 1; 0: not known */
} pf_shown_name;

typedef struct pf_shown {
    pf_intern names;     /* pf_shown_name; charged to the profile's budget, as all of it */
    uint32_t *positions; /* in `names`, of each frame of the profile */
} pf_shown;

void pf_shown_init(pf_shown *s, pf_profile *p);
void pf_shown_free(pf_shown *s);

/* Finds the names of all frames.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_shown_make(pf_shown *s, pf_exporter *x, perfile_error *err);

static inline const pf_shown_name *pf_shown_at(const pf_shown *s, uint32_t number)
{
    return pf_intern_at(&s->names, number);
}

#endif

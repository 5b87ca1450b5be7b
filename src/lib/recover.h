/* The state of perfile_recover_capture(), shared by the recover_*.c files, and the order in which
 * they work:
 *
 * 1. Repair: before the file is opened, the driver guesses what its header no longer says, into a
 *    perfile_assume (core/driver.h).  recover_facts.c replaces events that break rules,
 *    recover.c decides between events of the caller and of the file.
 * 2. Salvage: the stream is opened with that and PERFILE_ON_DAMAGE_SALVAGE, so that it yields only
 *    records that can be trusted.  A checker stands on it (recover.c).
 * 3. recover_records.c writes the records that break no rule, and reports what lies between them as
 *    gaps; recover_facts.c writes events and features.
 *
 * An odd but valid capture must come out with every record.  So before anything is left out, the
 * capture is once read strictly (recover_records.c); if that finds no error, nothing is left out.
 */
#ifndef PF_LIB_RECOVER_H
#define PF_LIB_RECOVER_H

#include "base/buffer.h"
#include "core/driver.h"
#include "lib/copy.h"
#include "perfile/recover.h"

typedef struct pf_recover {
    const pf_repair_ops *repair; /* of the driver; NULL: it cannot guess */
    perfile_recover_options options;
    perfile_recover_summary result;
    perfile_stream *stream;
    perfile_source *source;       /* for reading once more: that of the stream, or `reopened` */
    perfile_source *reopened;     /* a directory opened a second time, owned; NULL: a file */
    const perfile_assume *assume; /* what the stream was opened with; may be NULL */
    bool sound_known, sound;      /* the result of pf_recover_is_sound(), once it was asked for */
    /* An error in a callback that cannot return one (memory, reading); status PERFILE_OK: none.
     * Decisions made after it are wrong, so perfile_recover_capture() must return it. */
    perfile_error failed;
    const perfile_session *session;
    const perfile_container *container;
    perfile_sink *sink;
    perfile_writer *writer; /* NULL: nothing is written */
    uint32_t guessed;       /* PF_GUESS_… */
    bool no_events;         /* no sample of the input fits the events of the input */
    bool unsound;           /* the events break rules, and no better ones were found */
    bool assumed_events;    /* events are given or guessed: HEADER_ATTR records do not count */
    perfile_assume own;     /* options.assume without its events, if those of the file fit better */

    pf_buffer bad;        /* pf_bad: records of the current run that break a rule */
    pf_buffer bad_events; /* uint64_t: offsets of the attrs of events that break a rule */
    pf_buffer dropped;    /* uint32_t: index of each event that was left out */
    uint64_t bad_features[PERFILE_N_FEATURES / 64]; /* bit n: feature n breaks a rule */
    pf_buffer scratch; /* payload of a feature that recover_facts.c makes, until the next one */
    /* Fragments of a simpleperf record that is not complete yet: their bytes, and where these lie
     * in the file as perfile_section, adjacent ones joined. */
    pf_buffer held;
    pf_buffer fragments;
    pf_buffer gaps; /* perfile_gap: those behind `last`; reported when the next record is known */
    perfile_gap_side last; /* the last record that was kept, … */
    uint32_t last_part;    /* … and its part */
    pf_progress progress;
} pf_recover;

/* For a record of the run that was fetched last: the id of the rule that it breaks, "V-509", or
 * NULL. A record of an event that was left out breaks V-210. */
const char *pf_recover_broken_rule(const pf_recover *x, const perfile_record *r);

/* lib/recover_records.c: reads `source` with `assume` (may be NULL) up to the first error.  Sets
 * *sound to whether it has no damage and breaks no rule of severity error.  Without `strict`, rules
 * about the container and its feature sections do not count. */
perfile_status pf_recover_check_sound(const pf_recover *x, perfile_source *source,
                                      const perfile_assume *assume, bool strict, bool *sound,
                                      perfile_error *err);
/* The same, not strict, for what x->stream reads.  Costs a pass at the first call.  Also false if
 * that pass failed; x->failed is set then. */
bool pf_recover_is_sound(pf_recover *x);
/* Makes the stream call pf_recover_is_sound() before it leaves out anything. */
void pf_recover_ask_before_gaps(pf_recover *x);

/* lib/recover_facts.c: if the events of `file` break rules, puts events into r->assume that break
 * none, or sets r->unsound if there are none to be had. */
perfile_status pf_recover_choose_events(const pf_recover *x, perfile_bytes file, pf_repair *r,
                                        perfile_error *err);
/* lib/recover_records.c: reads x->stream to its end.  Records that are kept are counted in
 * x->result, and written if there is a writer. */
perfile_status pf_recover_records(pf_recover *x, perfile_error *err);

/* lib/recover_facts.c: events (before the records) and features (after them) of a file. */
perfile_status pf_recover_events(pf_recover *x, perfile_error *err);
perfile_status pf_recover_features(pf_recover *x, perfile_error *err);

/* For a record that holds a fact (event, feature): the damage for which it must be left out, or 0
 * if it can be kept, as for all other records. */
uint32_t pf_recover_fact_damage(pf_recover *x, const perfile_record *r);

/* lib/recover.c: writes a new EVENT_DESC of the events that the output has. */
perfile_status pf_recover_write_event_desc(pf_recover *x, perfile_error *err);

/* True if EVENT_DESC describes events, and the session has none. */
bool pf_recover_lacks_events(const pf_recover *x);

/* Calls options.note with a formatted text.  `feature` is UINT32_MAX if it is about none, `damage`
 * 0 likewise. */
void pf_recover_note(pf_recover *x, uint32_t feature, uint32_t damage, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif

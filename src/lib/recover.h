/* The state of perfile_recover_capture(), shared by the recover_*.c files, and the order of its
 * steps:
 *
 * 1. Repair: before the file is opened, the driver guesses what its header no longer says, and
 *    stores the guesses in a perfile_assume (core/driver.h).  recover_facts.c replaces events that
 *    break rules; recover.c decides between events from the caller and events from the file.
 * 2. Salvage: the stream is opened with these guesses and PERFILE_ON_DAMAGE_SALVAGE, so that it
 *    yields only records that can be trusted.  A checker is put on top of it (recover.c).
 * 3. Writing: recover_records.c writes the records that break no rule, and reports the ranges
 *    between them as gaps; recover_facts.c writes events and features.
 *
 * No record of an odd but valid capture may be lost.  So before anything is left out, the capture
 * is read once strictly (recover_records.c).  If that finds no error, nothing is left out. */
#ifndef PF_LIB_RECOVER_H
#define PF_LIB_RECOVER_H

#include "base/buffer.h"
#include "core/driver.h"
#include "lib/copy.h"
#include "perfile/recover.h"

typedef struct pf_recover {
    const pf_repair_ops *repair; /* from the driver; NULL if it cannot guess */
    perfile_recover_options options;
    perfile_recover_summary result;
    perfile_stream *stream;
    perfile_source *source;       /* for reading again: the source of the stream, or `reopened` */
    perfile_source *reopened;     /* a directory that was opened a second time, owned; NULL for a
                                   * file */
    const perfile_assume *assume; /* the assumptions with which the stream was opened; may be
                                   * NULL */
    bool sound_known, sound;      /* the result of pf_recover_is_sound(), once it was called */
    /* An error in a callback that cannot return one (memory, reading); its status is PERFILE_OK if
     * there was none.  Decisions made after it are wrong, so perfile_recover_capture() must return
     * it. */
    perfile_error failed;
    const perfile_session *session;
    const perfile_container *container;
    perfile_sink *sink;
    perfile_writer *writer; /* NULL if nothing is written */
    uint32_t guessed;       /* PF_GUESS_… */
    bool no_events;         /* no sample of the input fits the events of the input */
    bool unsound;           /* the events break rules, and no better ones were found */
    bool assumed_events;    /* the events come from the caller or a guess: HEADER_ATTR records are
                             * ignored */
    perfile_assume own;     /* options.assume without its events, used if the file's own events fit
                             * better */

    pf_buffer bad;        /* pf_bad: records of the current run that break a rule */
    pf_buffer bad_events; /* uint64_t: offsets of the attrs of events that break a rule */
    pf_buffer dropped;    /* uint32_t: index of each event that was left out */
    uint64_t bad_features[PERFILE_N_FEATURES / 64]; /* bit n is set if feature n breaks a rule */
    pf_buffer scratch; /* payload of a feature made by recover_facts.c, until the next one is
                        * made */
    /* Fragments of a simpleperf record that is not complete yet: their bytes, and their ranges in
     * the file as perfile_section, adjacent ones joined. */
    pf_buffer held;
    pf_buffer fragments;
    pf_buffer gaps; /* perfile_gap: the gaps after `last`; reported when the next record is known */
    perfile_gap_side last; /* the last recovered record */
    uint32_t last_part;    /* part of that record */
    pf_progress progress;
} pf_recover;

/* For a record of the run that was fetched last: returns the id of the rule that it breaks, such as
 * "V-509", or NULL.  A record of an event that was left out breaks V-210. */
const char *pf_recover_broken_rule(const pf_recover *x, const perfile_record *r);

/* lib/recover_records.c: reads `source` with `assume` (may be NULL) up to the first error.  Sets
 * *sound if the capture has no damage and breaks no rule of severity error.  Without `strict`,
 * rules about the container and its feature sections do not count. */
perfile_status pf_recover_check_sound(const pf_recover *x, perfile_source *source,
                                      const perfile_assume *assume, bool strict, bool *sound,
                                      perfile_error *err);
/* The same, not strict, for the input of x->stream.  The first call costs a pass.  Also returns
 * false if that pass failed; x->failed is then set. */
bool pf_recover_is_sound(pf_recover *x);
/* Makes the stream call pf_recover_is_sound() before it leaves anything out. */
void pf_recover_ask_before_gaps(pf_recover *x);

/* lib/recover_facts.c: if the events of `file` break rules, puts events that break none into
 * r->assume, or sets r->unsound if there are none. */
perfile_status pf_recover_choose_events(const pf_recover *x, perfile_bytes file, pf_repair *r,
                                        perfile_error *err);
/* lib/recover_records.c: reads x->stream to its end.  Counts the recovered records in x->result,
 * and writes them if there is a writer. */
perfile_status pf_recover_records(pf_recover *x, perfile_error *err);

/* lib/recover_facts.c: writes the events (before the records) and features (after them) of a
 * file. */
perfile_status pf_recover_events(pf_recover *x, perfile_error *err);
perfile_status pf_recover_features(pf_recover *x, perfile_error *err);

/* For a record that contains a fact (event, feature): returns the damage for which it must be left
 * out, or 0.  Returns 0 for all other records. */
uint32_t pf_recover_fact_damage(pf_recover *x, const perfile_record *r);

/* lib/recover.c: writes a new EVENT_DESC of the events in the output. */
perfile_status pf_recover_write_event_desc(pf_recover *x, perfile_error *err);

/* Returns true if EVENT_DESC describes events but the session has none. */
bool pf_recover_lacks_events(const pf_recover *x);

/* Calls options.note with a formatted text.  `feature` is UINT32_MAX if the note is about no
 * feature, `damage` is 0 if it is about no damage. */
void pf_recover_note(pf_recover *x, uint32_t feature, uint32_t damage, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

#endif

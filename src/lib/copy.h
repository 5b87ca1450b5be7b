/* The internals of perfile_copy(): writes the records of a stream, and the facts (events, features,
 * event types) that the stream has outside its records.
 *
 * perfile_copy() copies one stream to one writer.  Operations that feed several writers from one
 * stream (split) or decide about each record (recover) call the steps themselves: pf_copy_start(),
 * pf_copy_check(), pf_copy_begin(), pf_copy_run() for each run, pf_copy_finish(), pf_copy_free().
 *
 * Facts are handled by form; all of this is in copy_facts.c:
 * - File to file: events are written before the first record, features after the last.
 * - Pipe to pipe: facts are records, and stay records.
 * - Pipe to file: records that contain facts become sections.
 * - File to pipe: the writer makes records of them. */
#ifndef PF_LIB_COPY_H
#define PF_LIB_COPY_H

#include <string.h>

#include "perfile/copy.h"
#include "perfile/stream.h"
#include "perfile/target.h"
#include "base/buffer.h"
#include "core/zone.h"
#include "perfile/abi.h"
#include "stage/fragments.h"

/* Notes say where the output differs from the input.  An operation counts them by kind while it
 * runs and reports them at its end, one sentence each ("3 records of type 200 left out"), so that a
 * million equal losses are one line. */

enum { PF_NOTES_MOST = 96 }; /* a hostile input could have any number of types and features */

/* All zeros is empty.  Nothing needs to be freed. */
typedef struct pf_notes {
    perfile_note
        at[PF_NOTES_MOST];        /* one per (kind, number, damage), with the offset of the first */
    char why[PF_NOTES_MOST][112]; /* text of the first, "" if it had none */
    uint32_t n;
} pf_notes;

/* Adds one->count and one->bytes to the entry of the same kind, number and damage.  The first note
 * of an entry also sets its offset, part and text.  If the table is full, the note is counted in
 * the entry of its kind that has no number (UINT32_MAX). */
void pf_notes_add(pf_notes *notes, const perfile_note *one);

/* Adds a note about the record `r`.  `number` is a record type, a feature or UINT32_MAX. */
void pf_notes_record(pf_notes *notes, uint32_t kind, uint32_t number, uint32_t damage,
                     uint64_t bytes, const perfile_record *r);

/* Counts a record `r` that could not be byte-swapped completely; or the feature `f` if `r` is NULL;
 * or an event if both are NULL.  `why` is the error of swapping; PERFILE_E_UNSUPPORTED means that
 * no table describes the layout.  For callbacks of perfile_byteswap_options.kept. */
void pf_notes_kept(pf_notes *notes, const perfile_record *r, const perfile_feature *f,
                   const perfile_error *why);

/* Calls note() for each entry, with n->message set to its sentence, which is valid during the call.
 * note() may be NULL.  Returns how many entries are losses. */
uint64_t pf_notes_report(const pf_notes *notes, void (*note)(void *user, const perfile_note *note),
                         void *user);

/* Returns a note about a loss for an older version of perf; it borrows the sentence. */
static inline perfile_note pf_note_of_loss(const perfile_target_loss *loss)
{
    return (perfile_note){.kind = PERFILE_NOTE_TARGET,
                          .number = UINT32_MAX,
                          .count = loss->count,
                          .offset = loss->first_offset,
                          .message = loss->message};
}

/* Progress of reading a capture, in bytes of its files, for the progress callbacks of the options.
 * Offsets of records start at 0 in each part (file) of a directory; this adds the sizes of the
 * parts before. */

typedef struct pf_progress {
    const perfile_container *container;
    uint32_t part;     /* part of the last record */
    uint64_t behind;   /* sum of the sizes of all parts before `part` */
    uint64_t total;    /* sum of the sizes of all parts; 0 if not known, because the input is a
                        * pipe */
    uint64_t done;     /* bytes up to the last record */
    uint64_t reported; /* value of `done` when pf_progress_at() last returned true */
} pf_progress;

/* Starts counting at 0 for the capture `c`, which must live as long as *p is used. */
void pf_progress_begin(pf_progress *p, const perfile_container *c);

/* Sets p->done to the position of the record `at`.  Returns true if a callback is due: every 8
 * MiB. */
bool pf_progress_at(pf_progress *p, const perfile_record *at);

/* Returns the progress of a capture of `total` bytes that is read `passes` times: `before` passes
 * are complete, and the current one is at byte `done`.  The result is scaled to 0..total, so that
 * each pass adds total / passes.  If the total is unknown (0), returns `done`. */
static inline uint64_t pf_progress_share(uint64_t before, uint64_t passes, uint64_t done,
                                         uint64_t total)
{
    return total ? (before * total + done) / passes : done;
}

typedef struct pf_copy {
    perfile_copy_options options;
    perfile_copy_summary result;
    pf_notes notes; /* losses; the caller reports them at the end */
    perfile_stream *stream;
    const perfile_session *session;
    const perfile_container *container; /* container of the input */
    perfile_writer *writer;
    uint32_t from, to;   /* PERFILE_FORM_… of input and output */
    bool joins_parts;    /* the data.N of a directory are written to one file, one after the
                          * other */
    bool begun;          /* the writer has its events: records can be written */
    uint64_t joined_seq; /* sequence of the last fragment from simpleperf; the record joined from it
                          * has this as its envelope */

    /* Fragments are held until the record joined from them arrives; then they are written instead
     * of it.  Fragments that are never joined are not written. */
    pf_fragments fragments;

    /* From a pipe to a file: records before the first kernel record are held, because in a file all
     * events precede all records. */
    pf_buffer held;      /* bytes of these records, one after the other */
    size_t held_most;    /* maximum of held.len; a record that exceeds it ends the waiting */
    pf_buffer ids;       /* perfile_words: the ids of each event when its HEADER_ATTR was read */
    pf_buffer build_ids; /* HEADER_BUILD_ID records in the layout of the feature BUILD_ID */
    uint64_t taken[PERFILE_N_FEATURES / 64]; /* bit set: the record of this feature became a
                                              * section */

    /* Requests ranges of records that are copied from archive to archive as they are stored. */
    pf_narrow takes;
    perfile_status stored; /* status of the last such range; an error is final */
    perfile_error stored_error;

    pf_progress progress;
} pf_copy;

/* Prepares `x`, which must be all zeros, for writing records of `s` to `w`.  `options` must be
 * complete (of the full size).  `x` borrows the stream and the writer. */
void pf_copy_start(pf_copy *x, perfile_stream *s, perfile_writer *w,
                   const perfile_copy_options *options);
/* Fails with PERFILE_E_UNSUPPORTED if the writer's format has records of another family than the
 * stream. */
perfile_status pf_copy_check(const pf_copy *x, perfile_error *err);
/* Passes the facts that precede the records to the writer.  If the input is a pipe, there are none
 * yet. */
perfile_status pf_copy_begin(pf_copy *x, perfile_error *err);
/* Writes a run of records, or handles it as the options say.  As in all runs of a stream, a record
 * that needs a decision of its own (tool record, envelope, damage) is alone in its run.  If
 * pf_copy_wants_extra() is true afterwards, the caller must pass the bytes after the record to
 * perfile_writer_extra() before the next run. */
perfile_status pf_copy_run(pf_copy *x, const perfile_record *first, size_t n, perfile_error *err);
bool pf_copy_wants_extra(const pf_copy *x);
/* lib/copy.c. pf_copy_wants_stored() returns true if a range of records with this zone, which comes
 * next, can be written as it is stored.  Then pf_copy_stored() writes it instead of
 * pf_copy_run(). */
bool pf_copy_wants_stored(pf_copy *x, const pf_zone *zone);
perfile_status pf_copy_stored(pf_copy *x, const pf_stored *range, perfile_error *err);
/* Passes the facts that follow the records to the writer, and finishes it. */
perfile_status pf_copy_finish(pf_copy *x, perfile_error *err);
void pf_copy_free(pf_copy *x);

/* lib/copy_facts.c: passes the headers that the container has as stored bytes to the writer, if the
 * format writes them again. */
perfile_status pf_copy_headers(perfile_writer *w, const perfile_container *c, perfile_error *err);

/* lib/copy_facts.c: copies the companion files (pf_is_companion_file()) of the capture with
 * this session to `sink`, after its parts with records.  Does nothing if the capture or the sink is
 * not a directory. */
perfile_status pf_companions_copy(const perfile_session *s, perfile_sink *sink, perfile_error *err);

/* Returns options for a writer whose output has the byte order of a stream.  Form and format are
 * also those of the stream if the arguments are 0 and NULL. */
perfile_writer_options pf_copy_writing(const perfile_stream *s, uint32_t form, const char *format);
/* Opens a writer on `sink`, copies all of `s` to it, and closes it. */
perfile_status pf_copy_to(perfile_sink *sink, const perfile_writer_options *writing,
                          perfile_stream *s, const perfile_copy_options *copying,
                          perfile_copy_summary *result, perfile_error *err);

/* Copies a result of `size` bytes to a caller's struct of `room` bytes, which may be of an older
 * version.  `to` is NULL if the caller does not want it. */
static inline void pf_result_out(void *to, size_t room, const void *from, size_t size)
{
    if (to)
        memcpy(to, from, room < size ? room : size);
}

/* Fails with the damage that a stream has counted, at the offset of the first damage.  If there are
 * several kinds, names the one with the lowest number. */
perfile_status pf_damage_refuse(const perfile_stream_summary *sum, const char *where,
                                perfile_error *err);

/* Counts the records and writes them as they are, without the decisions of pf_copy_run(). */
perfile_status pf_copy_put(pf_copy *x, const perfile_record *first, size_t n, perfile_error *err);

/* lib/copy_facts.c, from pipe to file: takes the tool record `r` if it is a fact or must be held.
 * Sets *took if so; otherwise the caller writes it. */
perfile_status pf_copy_take_fact(pf_copy *x, const perfile_record *r, bool *took,
                                 perfile_error *err);
/* lib/copy_facts.c, from pipe to file: no more events come before the records.  Passes the events
 * to the writer, then writes the held records. */
perfile_status pf_copy_release(pf_copy *x, perfile_error *err);

#endif

/* Reads the samples of one capture: stack, thread, event and weight of each.
 *
 * Records are put in as they come.  Samples are passed in the same order to a function of the
 * caller, which adds them up (pf_profile_count()) or writes them.  If the user call chain of a
 * sample comes later, in a CALLCHAIN_DEFERRED record, that sample and all after it wait for it. */
#ifndef PF_PROFILE_READER_H
#define PF_PROFILE_READER_H

#include "profile/queue.h"
#include "transform/deferred.h"
#include "symbol/unwind.h"

/* Counts of samples and of the data that they lack. */
typedef struct pf_profile_counts {
    uint64_t samples;
    uint64_t without_stack;    /* neither a call chain nor an address */
    uint64_t without_period;   /* neither a period of their own nor a fixed one */
    uint64_t unreadable;       /* the call chain was unreadable; only the address counts */
    uint64_t deferred;         /* call chains that were joined … */
    uint64_t deferred_missing; /* … and those without their user part, or with a late one */
} pf_profile_counts;

typedef struct pf_profile_reader {
    pf_profile *profile;
    const perfile_session *session;
    const perfile_model *model;
    pf_resolver resolver;
    struct pf_queue *queue; /* samples that are being resolved */
    /* Receives each sample.  Returns false when out of memory or over the profile's limit. */
    bool (*take)(void *user, const pf_profiled *sample);
    void *user;
    /* Receives the records of pf_profile_reader_note(), in order with the samples; `take` then gets
     * the records of samples, too.  NULL if there is no consumer. */
    bool (*note)(void *user, const pf_profiled *about);
    /* If not NULL, makes text of samples and notes, which then go neither to `take` nor to `note`.
     * Samples have their record if `wants_records`. */
    const pf_queue_text *text;
    bool wants_records;
    /* If not NULL, all samples are counted for this event, with the `time` of their record as the
     * period. */
    const perfile_event *as;
    uint64_t now;       /* time of samples that have none; PERFILE_NO_TIME by default */
    bool branch_chains; /* branch stacks that are calls replace user call chains */
    pf_deferred deferred;
    pf_buffer chain;              /* a chain that was byte-swapped or joined */
    pf_unwinder unwinder;         /* without `symbols`, copied stacks are not unwound */
    pf_buffer unwound;            /* a chain with an unwound user part */
    const perfile_layout *layout; /* of the previous sample, and … */
    size_t fixed_bytes;           /* … the size of its fields at fixed offsets */
    struct pf_thread_slot *threads;
    struct pf_event_text {
        const char *name; /* in the session; changes when the event is renamed */
        const char *text; /* in the profile */
    } * events;           /* by index of the event */
    size_t n_events;
    pf_profile_counts counts;
} pf_profile_reader;

/* Borrows all arguments.  `model` must have seen the whole capture.  If it is NULL, nothing is
 * known to be mapped and threads have no names.  Returns false when out of memory; call
 * pf_profile_reader_free() in any case. */
bool pf_profile_reader_init(pf_profile_reader *x, pf_profile *profile,
                            const perfile_session *session, const perfile_model *model,
                            bool (*take)(void *user, const pf_profiled *sample), void *user);
void pf_profile_reader_free(pf_profile_reader *x);

/* Enables unwinding of copied user stacks with the files that `symbols` finds; it is borrowed.
 * Returns false when out of memory. */
bool pf_profile_reader_unwind(pf_profile_reader *x, perfile_symbols *symbols);

/* Call this after all settings and before the first record.  `threads` resolve samples, including
 * the caller's; only the caller's calls `take`.  With inlined functions (resolver.symbols) there is
 * only one.  PERFILE_E_NOMEM. */
perfile_status pf_profile_reader_start(pf_profile_reader *x, unsigned threads, perfile_error *err);

/* Puts a record in; records other than samples are skipped.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_profile_reader_put(pf_profile_reader *x, const perfile_record *r,
                                     perfile_error *err);

/* Puts a sample in with another event and period, for a counter of its READ values.  It does not
 * wait for its user call chain.  Errors as above. */
perfile_status pf_profile_reader_put_as(pf_profile_reader *x, const perfile_record *r,
                                        const perfile_event *event, uint64_t period,
                                        perfile_error *err);

/* Passes a record that is not a sample to `note`, after the samples that were put in before.  The
 * caller fills in all members that need no resolving.  Errors as above. */
perfile_status pf_profile_reader_note(pf_profile_reader *x, const pf_profiled *about,
                                      perfile_error *err);

/* Ends the capture: passes on the samples that still wait. */
perfile_status pf_profile_reader_end(pf_profile_reader *x, perfile_error *err);

/* Fills in the label of a sample that `take` received, for the keys PERFILE_PER_… in the
 * zero-terminated list `per`.  Keys of code locations are skipped.  A thread without a name is
 * called :TID, as in perf.  Returns false when out of memory or over the limit. */
bool pf_profile_reader_label(pf_profile_reader *x, const uint8_t *per, const pf_profiled *s,
                             pf_label *label);

/* Return texts of the profile: the name of a thread at a time, NULL if unknown; the name of an
 * event.  Set *ok to false when out of memory or over the limit, otherwise leave it unchanged. */
const char *pf_profile_reader_comm(pf_profile_reader *x, uint32_t pid, uint32_t tid, uint64_t time,
                                   bool *ok);
const char *pf_profile_reader_event(pf_profile_reader *x, const perfile_event *e, bool *ok);

#endif

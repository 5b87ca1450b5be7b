/* The samples of one capture: for each its stack, thread, event and weight.
 *
 * Records are put in as they come.  Samples go out one by one, in the order in which they came, to
 * a function of the caller, which adds them up (pf_profile_count()) or writes them.  A sample whose
 * user call chain comes later, in a CALLCHAIN_DEFERRED record, waits for it, and the samples behind
 * it wait, too. */
#ifndef PF_PROFILE_READER_H
#define PF_PROFILE_READER_H

#include "profile/queue.h"
#include "transform/deferred.h"
#include "symbol/unwind.h"

/* What the samples lacked. */
typedef struct pf_profile_counts {
    uint64_t samples;
    uint64_t without_stack;    /* no call chain and no address */
    uint64_t without_period;   /* neither their own nor a fixed one */
    uint64_t unreadable;       /* the call chain could not be read; the address alone counts */
    uint64_t deferred;         /* call chains that were joined … */
    uint64_t deferred_missing; /* … and those whose user part did not come, or too late */
} pf_profile_counts;

typedef struct pf_profile_reader {
    pf_profile *profile;
    const perfile_session *session;
    const perfile_model *model;
    pf_resolver resolver;
    struct pf_queue *queue; /* samples that are being resolved */
    /* Gets each sample; false if there is no memory or the profile's limit is exceeded. */
    bool (*take)(void *user, const pf_profiled *sample);
    void *user;
    /* Gets what pf_profile_reader_note() was given, in between; then `take` gets the records of
     * samples, too.  NULL: nobody is interested. */
    bool (*note)(void *user, const pf_profiled *about);
    /* Makes text of samples and notes, which go neither to `take` nor to `note` then; NULL: nothing
     * does.  Samples have their record if `wants_records`. */
    const pf_queue_text *text;
    bool wants_records;
    /* The event that all samples are put in as, with what `time` of their record says as their
     * period; NULL: they are of their own. */
    const perfile_event *as;
    uint64_t now;       /* the time of samples that have none; PERFILE_NO_TIME by default */
    bool branch_chains; /* branch stacks that are calls take the place of user call chains */
    pf_deferred deferred;
    pf_buffer chain;              /* a chain that had to be byte-swapped or joined */
    pf_unwinder unwinder;         /* without `symbols`: copied stacks are not unwound */
    pf_buffer unwound;            /* a chain with its user part unwound */
    const perfile_layout *layout; /* of the sample before, and … */
    size_t fixed_bytes;           /* … bytes of its fields of fixed place */
    struct pf_thread_slot *threads;
    struct pf_event_text {
        const char *name; /* of the session, to notice a new one */
        const char *text; /* of the profile */
    } * events;           /* by index of the event */
    size_t n_events;
    pf_profile_counts counts;
} pf_profile_reader;

/* Borrows all that it is given.  `model` must have been fed with the whole capture; NULL: nothing
 * is known to be mapped, and no thread has a name.  False if there is no memory; to be freed in any
 * case. */
bool pf_profile_reader_init(pf_profile_reader *x, pf_profile *profile,
                            const perfile_session *session, const perfile_model *model,
                            bool (*take)(void *user, const pf_profiled *sample), void *user);
void pf_profile_reader_free(pf_profile_reader *x);

/* Copies of user stacks are unwound from now on, by the files that `symbols` finds, which is
 * borrowed.  False if there is no memory. */
bool pf_profile_reader_unwind(pf_profile_reader *x, perfile_symbols *symbols);

/* To be called when all settings are made, before the first record.  `threads` resolve samples, the
 * caller's included; only the caller's calls `take`.  For inlined functions (resolver.symbols)
 * there is one.  PERFILE_E_NOMEM. */
perfile_status pf_profile_reader_start(pf_profile_reader *x, unsigned threads, perfile_error *err);

/* Puts a record in; those that are no samples are skipped.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_profile_reader_put(pf_profile_reader *x, const perfile_record *r,
                                     perfile_error *err);

/* Puts a sample in as one of another event and period: a counter of its READ values.  It does not
 * wait for its user call chain.  Errors likewise. */
perfile_status pf_profile_reader_put_as(pf_profile_reader *x, const perfile_record *r,
                                        const perfile_event *event, uint64_t period,
                                        perfile_error *err);

/* Lets `note` get a record that is no sample, after the samples that were put in before: all that
 * does not have to be resolved is filled in.  Errors likewise. */
perfile_status pf_profile_reader_note(pf_profile_reader *x, const pf_profiled *about,
                                      perfile_error *err);

/* The capture ends: hands out the samples that still wait. */
perfile_status pf_profile_reader_end(pf_profile_reader *x, perfile_error *err);

/* Fills in the label of a sample that `take` got: what the keys PERFILE_PER_… of `per`, ended by 0,
 * ask for; keys of places in code are passed over.  A thread without a name is called :TID, as perf
 * does.  False if there is no memory or the limit is exceeded. */
bool pf_profile_reader_label(pf_profile_reader *x, const uint8_t *per, const pf_profiled *s,
                             pf_label *label);

/* Texts of the profile: the name of a thread at a time, NULL if it is not known; that of an event.
 * *ok becomes false if there is no memory or the limit is exceeded, and is left alone else. */
const char *pf_profile_reader_comm(pf_profile_reader *x, uint32_t pid, uint32_t tid, uint64_t time,
                                   bool *ok);
const char *pf_profile_reader_event(pf_profile_reader *x, const perfile_event *e, bool *ok);

#endif

/* The queue between the reader of samples and the form or report that counts them.
 *
 * They are gathered to batches; a batch is resolved (resolve.h), and its samples are given on, in
 * the order in which they came.
 *
 * With several threads batches are resolved at once.  A thread has a resolver and tables of its
 * own, which it keeps for its next batch: it needs no lock but for loading symbols.  Numbers of
 * frames and stacks are then those of its tables.  With a batch it hands over what these have got
 * since its batch before; the caller's thread adds that to the profile and translates the numbers.
 * What is new in a batch gets its numbers in the order in which its samples have it, and batches
 * come back in order: all numbers are those that one thread would have given. */
#ifndef PF_PROFILE_QUEUE_H
#define PF_PROFILE_QUEUE_H

#include "profile/resolve.h"

typedef struct pf_queue pf_queue;

/* For forms that write samples one by one: their text is made where they are resolved, so that no
 * number leaves a thread, and tables need not be kept.  All functions get `user`; those but `write`
 * are called by any thread, one call at a time for each resolver. */
typedef struct pf_queue_text {
    /* What a thread keeps from one sample to the next, beside its resolver; NULL: no memory. */
    void *(*open)(void *user, pf_resolver *resolver);
    void (*close)(void *state);
    /* Appends the text of a sample or note, which is not resolved yet; false if there is no memory
     * or the limit of the profile is exceeded. */
    bool (*put)(void *state, const pf_unresolved *sample, pf_buffer *out);
    /* The resolver has forgotten everything. */
    void (*forget)(void *state);
    /* Gets texts, in the order of the samples. */
    perfile_status (*write)(void *user, perfile_bytes text, perfile_error *err);
    void *user;
} pf_queue_text;

/* `threads`: that resolve, the caller's included.  `resolver`: of the caller's thread, with all its
 * settings; borrowed.  `session`: of the capture, which samples and symbols refer to; before it
 * changes, all samples are given on.  `give` gets them; with `text` (else NULL; borrowed) it gets
 * none. PERFILE_E_NOMEM. */
perfile_status
pf_queue_new(pf_resolver *resolver, const perfile_session *session, unsigned threads,
             perfile_status (*give)(void *user, const pf_unresolved *sample, perfile_error *err),
             void *user, const pf_queue_text *text, pf_queue **out, perfile_error *err);

/* Takes a sample; its call chain is copied, and its record if it has one.  Errors are those of this
 * one and of any before. */
perfile_status pf_queue_put(pf_queue *q, const pf_unresolved *sample, perfile_error *err);

/* Gives all samples on. */
perfile_status pf_queue_finish(pf_queue *q, perfile_error *err);

/* Forgets all frames and stacks, behind pf_queue_finish(): numbers mean nothing from now on; texts
 * of the reader's profile stay.  Not with `text`.  False if there is no memory. */
bool pf_queue_forget(pf_queue *q);

/* Samples that were not given on are dropped.  NULL is fine. */
void pf_queue_free(pf_queue *q);

#endif

/* The queue between the reader of samples and the form or report that counts them.
 *
 * Samples are collected in batches.  A batch is resolved (resolve.h), and then its samples are
 * passed to the consumer in their original order.
 *
 * With several threads, batches are resolved in parallel.  Each thread has its own resolver and
 * tables, which it keeps for its next batch, and needs a lock only for loading symbols.  Frame and
 * stack numbers then refer to the thread's tables.  With each batch a thread hands over the items
 * that are new in its tables.  The caller's thread adds them to the profile and translates the
 * numbers.  New items of a batch are numbered in the order in which its samples use them, and
 * batches are returned in order: all numbers are the same as with one thread. */
#ifndef PF_PROFILE_QUEUE_H
#define PF_PROFILE_QUEUE_H

#include "profile/resolve.h"

typedef struct pf_queue pf_queue;

/* For forms that write samples one by one.  Their text is made by the thread that resolves the
 * samples, so no numbers are translated and tables can be dropped.  All functions get `user`.  All
 * but `write` may be called in any thread, but never concurrently for one resolver. */
typedef struct pf_queue_text {
    /* Makes a thread's state, used with its resolver.  Returns NULL when out of memory. */
    void *(*open)(void *user, pf_resolver *resolver);
    void (*close)(void *state);
    /* Appends the text of a sample, which is not resolved yet, or of a note.  Returns false when
     * out of memory or over the profile's limit. */
    bool (*put)(void *state, const pf_unresolved *sample, pf_buffer *out);
    /* The resolver has dropped all its items. */
    void (*forget)(void *state);
    /* Receives the texts in the order of the samples. */
    perfile_status (*write)(void *user, perfile_bytes text, perfile_error *err);
    void *user;
} pf_queue_text;

/* Makes a queue.  `threads` resolve samples, including the caller's.  `resolver` is the caller's,
 * with all its settings; borrowed.  `session` is the capture's, which samples and symbols refer to;
 * before it changes, all samples are passed on.  `give` receives the samples; with `text`
 * (borrowed, may be NULL) it receives none.  PERFILE_E_NOMEM. */
perfile_status
pf_queue_new(pf_resolver *resolver, const perfile_session *session, unsigned threads,
             perfile_status (*give)(void *user, const pf_unresolved *sample, perfile_error *err),
             void *user, const pf_queue_text *text, pf_queue **out, perfile_error *err);

/* Adds a sample; its call chain and its record, if any, are copied.  Returns errors of this and all
 * previous samples. */
perfile_status pf_queue_put(pf_queue *q, const pf_unresolved *sample, perfile_error *err);

/* Resolves all remaining samples and passes them on. */
perfile_status pf_queue_finish(pf_queue *q, perfile_error *err);

/* Drops all frames and stacks after pf_queue_finish(): all numbers become invalid.  Texts of the
 * reader's profile stay.  Must not be used with `text`.  Returns false when out of memory. */
bool pf_queue_forget(pf_queue *q);

/* Frees the queue and drops the samples in it.  `q` may be NULL. */
void pf_queue_free(pf_queue *q);

#endif

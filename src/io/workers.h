/* A pool of threads that does jobs from a ring of slots; results come back in the order of
 * submission.
 *
 * The caller fills the slot pf_workers_slot(), submits it, and later takes it back with
 * pf_workers_take(), oldest first.  Some thread does the job in between.  While the caller waits
 * for the oldest job it does jobs that no thread has begun: the `threads` count includes the
 * caller.
 *
 * The memory of a job belongs to its slot: to the thread that does it from pf_workers_submit() on,
 * to the caller again from pf_workers_take() on.  So a user needs no locks of its own.
 *
 * Threads start with the first pf_workers_submit().  If none can be started, the caller does all
 * jobs, with the same results. */
#ifndef PF_IO_WORKERS_H
#define PF_IO_WORKERS_H

#include "perfile/base.h"

typedef struct pf_workers pf_workers;

enum { PF_MOST_THREADS = 256 };

/* The number of threads to use when a program asked for `wanted`: at most PF_MOST_THREADS. */
static inline unsigned pf_workers_threads(uint32_t wanted)
{
    return wanted < PF_MOST_THREADS ? wanted : PF_MOST_THREADS;
}

/* Does the job in `slot`; runs in any thread of the pool, for several slots at once.  `thread` says
 * in which: 0 is the caller's, the others have numbers below `threads`.  What is kept for a thread
 * needs no lock, and sees its jobs in the order of submission. */
typedef void pf_work_fn(void *user, unsigned slot, unsigned thread);

/* Makes a pool.  `threads`: 1 to PF_MOST_THREADS, the caller included.  `slots`: at least 1.
 * `user` is passed to `work`.  PERFILE_E_NOMEM. */
perfile_status pf_workers_new(unsigned threads, unsigned slots, pf_work_fn *work, void *user,
                              pf_workers **workers, perfile_error *err);

/* Waits for jobs that a thread has begun, then ends the threads; other jobs are not done.  NULL is
 * fine. */
void pf_workers_free(pf_workers *w);

/* The slot that the next submit uses.  It is free, and the caller's to fill, unless
 * pf_workers_full(). */
unsigned pf_workers_slot(const pf_workers *w);

/* True if every slot holds a job that was not taken back. */
bool pf_workers_full(const pf_workers *w);

/* How many jobs were submitted and not taken back. */
unsigned pf_workers_submitted(const pf_workers *w);

/* Submits the job in pf_workers_slot(), which must be free. */
void pf_workers_submit(pf_workers *w);

/* Like pf_workers_submit(), but starts and wakes no thread for the job: unless a running thread
 * gets to it first, the caller does it when it waits for it. */
void pf_workers_submit_without_wakeup(pf_workers *w);

/* Waits until all submitted jobs are done; none is taken back. */
void pf_workers_wait_all(pf_workers *w);

/* Waits for the oldest job and frees its slot, whose contents the caller reads before it submits
 * again.  Returns false if no job was submitted. */
bool pf_workers_take(pf_workers *w, unsigned *slot);

#endif

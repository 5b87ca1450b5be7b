/* A pool of threads that does jobs from a ring of slots.  Results come back in the order of
 * submission.
 *
 * The caller fills the slot pf_workers_slot(), submits it, and later takes it back with
 * pf_workers_take(), oldest first.  In between, some thread does the job.  While the caller waits
 * for the oldest job, it does jobs that no thread has begun: the `threads` count includes the
 * caller.
 *
 * The memory of a job belongs to its slot.  From pf_workers_submit() on it belongs to the thread
 * that does the job; from pf_workers_take() on it belongs to the caller again.  So a user needs no
 * locks of its own.
 *
 * Threads start with the first pf_workers_submit().  If none can be started, the caller does all
 * jobs, with the same results. */
#ifndef PF_IO_WORKERS_H
#define PF_IO_WORKERS_H

#include "perfile/base.h"

typedef struct pf_workers pf_workers;

enum { PF_MOST_THREADS = 256 };

/* Returns the number of threads to use if a program asks for `wanted`: at most PF_MOST_THREADS. */
static inline unsigned pf_workers_threads(uint32_t wanted)
{
    return wanted < PF_MOST_THREADS ? wanted : PF_MOST_THREADS;
}

/* Does the job in `slot`.  Runs in any thread of the pool, for several slots at once.  `thread`
 * identifies the thread: 0 is the caller, the others have numbers below `threads`.  Data that
 * belongs to one thread number needs no lock, and its jobs come in the order of submission. */
typedef void pf_work_fn(void *user, unsigned slot, unsigned thread);

/* Makes a pool.  `threads` is 1 to PF_MOST_THREADS and includes the caller; `slots` is at least 1.
 * `user` is passed to `work`.  Fails with PERFILE_E_NOMEM. */
perfile_status pf_workers_new(unsigned threads, unsigned slots, pf_work_fn *work, void *user,
                              pf_workers **workers, perfile_error *err);

/* Waits for jobs that a thread has begun, then ends the threads; other jobs are not done.  `w` may
 * be NULL. */
void pf_workers_free(pf_workers *w);

/* Returns the slot that the next submit uses.  Unless pf_workers_full(), it is free, and the caller
 * may fill it. */
unsigned pf_workers_slot(const pf_workers *w);

/* Returns true if every slot has a job that was not taken back. */
bool pf_workers_full(const pf_workers *w);

/* Returns how many jobs were submitted and not taken back. */
unsigned pf_workers_submitted(const pf_workers *w);

/* Submits the job in pf_workers_slot(), which must be free. */
void pf_workers_submit(pf_workers *w);

/* Like pf_workers_submit(), but starts and wakes no thread for the job.  Unless a running thread
 * begins it first, the caller does it when it waits for it. */
void pf_workers_submit_without_wakeup(pf_workers *w);

/* Waits until all submitted jobs are done; none is taken back. */
void pf_workers_wait_all(pf_workers *w);

/* Waits for the oldest job and frees its slot; the caller reads the slot's contents before it
 * submits again.  Returns false if no job was submitted. */
bool pf_workers_take(pf_workers *w, unsigned *slot);

#endif

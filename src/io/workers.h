/* Threads that do the jobs of a ring, so that whoever hands them out sees them in order.
 *
 * The caller fills slots one after the other and submits them; each is done by some thread, and
 * taken back in the order of submission.  While the caller waits for the oldest it does jobs that
 * nobody has begun: `threads` counts it, too.  What a job reads and writes belongs to its slot:
 * from pf_workers_submit() on to the thread that does it, from pf_workers_take() on to the caller
 * again. Threads start with the first job, so that whoever has none pays for none; where none can
 * be started the caller does all the work. */
#ifndef PF_IO_WORKERS_H
#define PF_IO_WORKERS_H

#include "perfile/base.h"

typedef struct pf_workers pf_workers;

enum { PF_MOST_THREADS = 256 };

/* So many of those that a program asked for. */
static inline unsigned pf_workers_threads(uint32_t wanted)
{
    return wanted < PF_MOST_THREADS ? wanted : PF_MOST_THREADS;
}

/* Does the job in `slot`. */
typedef void pf_work_fn(void *user, unsigned slot);

/* threads: 1 to PF_MOST_THREADS; slots: at least 1.  PERFILE_E_NOMEM. */
perfile_status pf_workers_new(unsigned threads, unsigned slots, pf_work_fn *work, void *user,
                              pf_workers **workers, perfile_error *err);

/* From now on the caller does no job while it waits, if there are threads: of jobs that exclude
 * each other, as writes to one file, two at once take longer. */
void pf_workers_wait_only(pf_workers *w);

/* Waits for the jobs that were begun; the others are not done.  NULL is fine. */
void pf_workers_free(pf_workers *w);

/* The slot that is submitted next; it is free unless pf_workers_full(). */
unsigned pf_workers_slot(const pf_workers *w);
bool pf_workers_full(const pf_workers *w);

/* How many jobs were submitted and not taken back. */
unsigned pf_workers_submitted(const pf_workers *w);

/* Hands over the job in pf_workers_slot(), which must be free. */
void pf_workers_submit(pf_workers *w);

/* The same, but no thread is woken up or started for it: the caller does it when it waits for it.
 */
void pf_workers_submit_quietly(pf_workers *w);

/* Waits until all that was submitted is done; nothing is taken back. */
void pf_workers_settle(pf_workers *w);

/* Waits for the oldest job: its slot, which is free from here on.  False when there is none. */
bool pf_workers_take(pf_workers *w, unsigned *slot);

#endif

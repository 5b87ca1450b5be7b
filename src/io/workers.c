/* The pool of threads: one lock and two conditions, `more` (a job can be begun) and `finished` (a
 * job is done).
 *
 * Jobs are numbered from 0; job n uses slot n % n_slots.  At any time taken <= begun <= submitted,
 * and submitted - taken <= n_slots.  Jobs are begun in the order of submission, so that later jobs
 * never overtake the job for which the caller waits. */
#include "io/workers.h"

#include <pthread.h>
#include <signal.h>

#include "base/alloc.h"
#include "base/error.h"

/* A sleeping thread is woken only when a quarter of the slots can be begun.  If it were woken for
 * each job, it would sleep again after each.  If the scheduler then puts it on the caller's CPU,
 * the two alternate there, up to a hundred switches per millisecond.  No job waits forever:
 * pf_workers_take() does the jobs that no thread has begun. */
enum { WAKE_FRACTION = 4 };

struct pf_workers {
    pf_work_fn *work;
    void *user;
    unsigned n_slots, most_threads;
    /* Used by the caller's thread only. */
    unsigned n_threads; /* threads that were started, not counting the caller */
    bool started;       /* start_threads() was called */
    uint64_t taken;     /* number of jobs that were taken back */
    /* Protected by `lock`.  Only the caller's thread writes `submitted`, so it may read it without
     * the lock. */
    pthread_mutex_t lock;
    pthread_cond_t more, finished;
    uint64_t submitted, begun;
    unsigned running;   /* threads that have begun to run */
    unsigned idle;      /* threads that wait for `more` */
    bool caller_waits;  /* the caller waits for `finished` */
    bool ending;        /* pf_workers_free() was called: threads end after their current job */
    bool *done;         /* per slot: its job is done */
    pthread_t *threads; /* n_threads of them, joined by pf_workers_free() */
};

static unsigned slot_of(const pf_workers *w, uint64_t job)
{
    return (unsigned)(job % w->n_slots);
}

/* Does the oldest job that no thread has begun.  Called with the lock held; the lock is released
 * while the job runs. */
static void do_next_job(pf_workers *w, unsigned thread)
{
    unsigned slot = slot_of(w, w->begun++);
    pthread_mutex_unlock(&w->lock);
    w->work(w->user, slot, thread);
    pthread_mutex_lock(&w->lock);
    w->done[slot] = true;
}

/* A thread of the pool: does jobs until the pool ends. */
static void *thread_main(void *user)
{
    pf_workers *w = user;
    pthread_mutex_lock(&w->lock);
    const unsigned thread = ++w->running;
    while (!w->ending) {
        if (w->begun == w->submitted) {
            w->idle++;
            pthread_cond_wait(&w->more, &w->lock);
            w->idle--;
            continue;
        }
        do_next_job(w, thread);
        if (w->caller_waits)
            pthread_cond_signal(&w->finished);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Starts the threads with all signals blocked, except those that a thread itself causes, such as
 * SIGBUS from a mapped file that was truncated.  Other signals are for the program's own threads.
 * Stops at the first thread that cannot be started. */
static void start_threads(pf_workers *w)
{
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t others, before;
    w->started = true;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&others, own[i]);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    while (w->n_threads + 1 < w->most_threads &&
           pthread_create(&w->threads[w->n_threads], NULL, thread_main, w) == 0)
        w->n_threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
}

perfile_status pf_workers_new(unsigned threads, unsigned slots, pf_work_fn *work, void *user,
                              pf_workers **workers, perfile_error *err)
{
    pf_workers *w = pf_alloc(1, sizeof *w);
    if (!w)
        return pf_fail_nomem(err, "workers");
    w->work = work;
    w->user = user;
    w->n_slots = slots;
    w->most_threads = threads;
    w->done = pf_alloc(slots, sizeof *w->done);
    w->threads = pf_alloc(threads, sizeof *w->threads);
    if (!w->done || !w->threads) {
        pf_free(w->done);
        pf_free(w->threads);
        pf_free(w);
        return pf_fail_nomem(err, "workers");
    }
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->more, NULL);
    pthread_cond_init(&w->finished, NULL);
    *workers = w;
    return PERFILE_OK;
}

void pf_workers_free(pf_workers *w)
{
    if (!w)
        return;
    pthread_mutex_lock(&w->lock);
    w->ending = true;
    pthread_cond_broadcast(&w->more);
    pthread_mutex_unlock(&w->lock);
    for (unsigned i = 0; i < w->n_threads; i++)
        pthread_join(w->threads[i], NULL);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->more);
    pthread_cond_destroy(&w->finished);
    pf_free(w->done);
    pf_free(w->threads);
    pf_free(w);
}

unsigned pf_workers_slot(const pf_workers *w)
{
    return slot_of(w, w->submitted);
}

unsigned pf_workers_submitted(const pf_workers *w)
{
    return (unsigned)(w->submitted - w->taken);
}

bool pf_workers_full(const pf_workers *w)
{
    return pf_workers_submitted(w) == w->n_slots;
}

void pf_workers_submit_without_wakeup(pf_workers *w)
{
    pthread_mutex_lock(&w->lock);
    w->done[pf_workers_slot(w)] = false;
    w->submitted++;
    pthread_mutex_unlock(&w->lock);
}

void pf_workers_submit(pf_workers *w)
{
    if (!w->started)
        start_threads(w);
    pf_workers_submit_without_wakeup(w);
    pthread_mutex_lock(&w->lock);
    /* A thread that is awake needs no signal: it checks for jobs, under the lock, before it
     * sleeps. */
    bool wake = w->idle > 0 && w->submitted - w->begun >= w->n_slots / WAKE_FRACTION;
    pthread_mutex_unlock(&w->lock);
    if (wake)
        pthread_cond_signal(&w->more);
}

/* Waits until the submitted job in `slot` is done, and does other jobs in the meantime.  Called
 * with the lock held. */
static void wait_for_job(pf_workers *w, unsigned slot)
{
    while (!w->done[slot]) {
        if (w->begun < w->submitted) {
            do_next_job(w, 0);
            continue;
        }
        w->caller_waits = true;
        pthread_cond_wait(&w->finished, &w->lock);
        w->caller_waits = false;
    }
}

void pf_workers_wait_all(pf_workers *w)
{
    pthread_mutex_lock(&w->lock);
    for (uint64_t job = w->taken; job < w->submitted; job++)
        wait_for_job(w, slot_of(w, job));
    pthread_mutex_unlock(&w->lock);
}

bool pf_workers_take(pf_workers *w, unsigned *slot)
{
    if (w->taken == w->submitted)
        return false;
    *slot = slot_of(w, w->taken);
    pthread_mutex_lock(&w->lock);
    wait_for_job(w, *slot);
    pthread_mutex_unlock(&w->lock);
    w->taken++;
    return true;
}

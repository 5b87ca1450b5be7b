/* One lock, two conditions: work to be begun, and a job that is done.  Jobs are begun in the order
 * of their submission, so that the oldest is never the last that anybody looks at. */
#include "io/workers.h"

#include <pthread.h>
#include <signal.h>

#include "base/alloc.h"
#include "base/error.h"

/* A thread is woken when a quarter of the slots waits to be begun.  Woken for each job, it sleeps
 * again after that one, and where the scheduler puts it on the caller's processor, the two take
 * turns there for long, a hundred switches a millisecond.  Nothing waits for ever: take() does what
 * nobody has begun. */
enum { WAKE_PART = 4 };

struct pf_workers {
    pf_work_fn *work;
    void *user;
    unsigned n_slots, most_threads;
    /* Of the caller's thread alone. */
    unsigned n_threads; /* that were started */
    bool started;
    bool waits_only; /* see pf_workers_wait_only() */
    uint64_t taken;
    /* Under `lock`, as `done`, too.  taken <= begun <= submitted; `submitted` is written by the
     * caller's thread alone, which reads it without the lock. */
    pthread_mutex_t lock;
    pthread_cond_t more, finished;
    uint64_t submitted, begun;
    unsigned idle; /* threads that wait for `more` */
    bool waits;    /* the caller waits for `finished` */
    bool over;
    bool *done; /* of each slot */
    pthread_t *threads;
};

static unsigned slot_of(const pf_workers *w, uint64_t job)
{
    return (unsigned)(job % w->n_slots);
}

/* Does the next job that nobody has begun.  With the lock, which is not held meanwhile. */
static void do_next(pf_workers *w)
{
    unsigned slot = slot_of(w, w->begun++);
    pthread_mutex_unlock(&w->lock);
    w->work(w->user, slot);
    pthread_mutex_lock(&w->lock);
    w->done[slot] = true;
}

static void *run(void *user)
{
    pf_workers *w = user;
    pthread_mutex_lock(&w->lock);
    while (!w->over) {
        if (w->begun == w->submitted) {
            w->idle++;
            pthread_cond_wait(&w->more, &w->lock);
            w->idle--;
            continue;
        }
        do_next(w);
        if (w->waits)
            pthread_cond_signal(&w->finished);
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

/* Signals from outside are for the threads of the program; those that a thread causes itself, as
 * SIGBUS of a mapped file that was cut, are its own. */
static void start(pf_workers *w)
{
    static const int own[] = {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT};
    sigset_t others, before;
    w->started = true;
    sigfillset(&others);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        sigdelset(&others, own[i]);
    pthread_sigmask(SIG_SETMASK, &others, &before);
    while (w->n_threads + 1 < w->most_threads &&
           pthread_create(&w->threads[w->n_threads], NULL, run, w) == 0)
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
    w->over = true;
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

void pf_workers_wait_only(pf_workers *w)
{
    w->waits_only = true;
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

void pf_workers_submit_quietly(pf_workers *w)
{
    pthread_mutex_lock(&w->lock);
    w->done[pf_workers_slot(w)] = false;
    w->submitted++;
    pthread_mutex_unlock(&w->lock);
}

void pf_workers_submit(pf_workers *w)
{
    if (!w->started)
        start(w);
    pf_workers_submit_quietly(w);
    pthread_mutex_lock(&w->lock);
    bool wake = w->idle > 0 && w->submitted - w->begun >= w->n_slots / WAKE_PART;
    pthread_mutex_unlock(&w->lock);
    if (wake)
        pthread_cond_signal(&w->more);
}

/* Up to when the job is done, which was submitted.  With the lock. */
static void wait_for(pf_workers *w, unsigned slot)
{
    while (!w->done[slot]) {
        if (w->begun < w->submitted && !(w->waits_only && w->n_threads)) {
            do_next(w);
            continue;
        }
        w->waits = true;
        pthread_cond_wait(&w->finished, &w->lock);
        w->waits = false;
    }
}

void pf_workers_settle(pf_workers *w)
{
    pthread_mutex_lock(&w->lock);
    for (uint64_t job = w->taken; job < w->submitted; job++)
        wait_for(w, slot_of(w, job));
    pthread_mutex_unlock(&w->lock);
}

bool pf_workers_take(pf_workers *w, unsigned *slot)
{
    if (w->taken == w->submitted)
        return false;
    *slot = slot_of(w, w->taken);
    pthread_mutex_lock(&w->lock);
    wait_for(w, *slot);
    pthread_mutex_unlock(&w->lock);
    w->taken++;
    return true;
}

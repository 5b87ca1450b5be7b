/* Limits of CPU time for library code that cannot be asked to stop, enforced by a timer.  Only one
 * limit is active at a time. */
#include <setjmp.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#include "symbolizer/symbolizer.h"

static sigjmp_buf beyond; /* where pf_clock_within() continues */
static volatile sig_atomic_t has_beyond;
static uint64_t started, bound; /* of the current question, in ns */

static uint64_t now(void)
{
    struct timespec t = {0};
    /* The process clock is coarse while a timer runs; there is only one thread. */
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void ring(int number)
{
    (void)number;
    if (has_beyond)
        siglongjmp(beyond, 1);
    _exit(3);
}

/* Sets the timer; UINT64_MAX: never. */
static void set_timer(uint64_t ns)
{
    const uint64_t us = ns == UINT64_MAX ? 0 : ns / 1000 + 1;
    const struct itimerval t = {
        .it_value = {.tv_sec = (time_t)(us / 1000000), .tv_usec = (suseconds_t)(us % 1000000)}};
    setitimer(ITIMER_PROF, &t, NULL);
}

static uint64_t left(void)
{
    const uint64_t used = pf_clock_used();
    return bound == UINT64_MAX ? bound : bound > used ? bound - used : 0;
}

void pf_clock_start(uint64_t ns)
{
    struct sigaction on_time = {.sa_handler = ring};
    sigemptyset(&on_time.sa_mask);
    sigaction(SIGPROF, &on_time, NULL);
    started = now();
    bound = ns;
    set_timer(ns);
}

uint64_t pf_clock_used(void)
{
    return now() - started;
}

bool pf_clock_within(uint64_t ns, void (*work)(void *), void *user)
{
    const bool in_time = !sigsetjmp(beyond, 1);
    if (in_time) {
        has_beyond = 1;
        set_timer(ns);
        work(user);
    }
    has_beyond = 0;
    set_timer(left());
    return in_time;
}

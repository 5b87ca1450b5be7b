#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

double cpu_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double wall_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

void contest(contender *all, size_t n, const capture *c, unsigned rounds)
{
    enum { PATIENCE = 8 };     /* times as many rounds as asked for, at most */
    const double noise = 0.98; /* what is better by less is the noise of the clock */
    for (size_t i = 0; i < n; i++)
        all[i].best = INFINITY;
    unsigned since = 0; /* the last round in which one was better */
    for (unsigned round = 0; since < rounds && round < PATIENCE * rounds; round++) {
        since++;
        for (size_t i = 0; i < n; i++) {
            captures_ready(c);
            double start = cpu_time();
            all[i].sum = all[i].run(c);
            double took = cpu_time() - start;
            if (took < all[i].best * noise)
                since = 0;
            all[i].best = fmin(took, all[i].best);
        }
    }
    captures_ready(c);
}

#include "bench.h"

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
    for (unsigned round = 0; round < rounds; round++) {
        for (size_t i = 0; i < n; i++) {
            captures_ready(c);
            double start = cpu_time();
            all[i].sum = all[i].run(c);
            double took = cpu_time() - start;
            if (round == 0 || took < all[i].best)
                all[i].best = took;
        }
    }
    captures_ready(c);
}

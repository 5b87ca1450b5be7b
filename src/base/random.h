/* Random numbers from a seed, the same on each machine (splitmix64 of Sebastiano Vigna, which is in
 * the public domain): for captures and damages that can be made again.
 *
 * C does not say which operand of an expression, argument or initializer is evaluated first: an
 * expression calls these functions once at most, except on both sides of && || ?:. */
#ifndef PF_BASE_RANDOM_H
#define PF_BASE_RANDOM_H

#include <stdint.h>

typedef struct pf_random {
    uint64_t state; /* the seed at first */
} pf_random;

static inline uint64_t pf_random_next(pf_random *r)
{
    uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Returns a number below `n`; 0 if `n` is 0. */
static inline uint64_t pf_random_below(pf_random *r, uint64_t n)
{
    uint64_t v = pf_random_next(r);
    return n ? v % n : 0;
}

#endif

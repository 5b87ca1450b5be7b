/* The known words that are nearest to one that is not known. */
#ifndef PF_BASE_NEAREST_H
#define PF_BASE_NEAREST_H

#include "perfile/base.h"

enum { PF_NEAREST_BYTES = 40, PF_NEAREST_MOST = 3 };

/* The best so far, nearest first; begins with pf_nearest_begin(). */
typedef struct pf_nearest {
    const char *wanted;
    size_t n_wanted;
    uint32_t letters; /* a bit for each letter that is in it */
    unsigned worst;   /* distance from which on words do not count */
    struct {
        char name[PF_NEAREST_BYTES + 1];
        unsigned distance;
    } found[PF_NEAREST_MOST];
    size_t n;
} pf_nearest;

void pf_nearest_begin(pf_nearest *near, const char *wanted);

void pf_nearest_offer(pf_nearest *near, const char *name);

/* `name` is offered at the distance of `as`, and `more`. */
void pf_nearest_offer_as(pf_nearest *near, const char *name, const char *as, unsigned more);

/* "a, b or c"; nothing when none is near. */
void pf_nearest_put(const pf_nearest *near, char *out, size_t size);

#endif

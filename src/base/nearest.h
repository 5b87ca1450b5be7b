/* Suggestions for a misspelt word: the known words that are nearest to it.
 *
 * Use: pf_nearest_begin(), pf_nearest_offer() for each known word, pf_nearest_put(). */
#ifndef PF_BASE_NEAREST_H
#define PF_BASE_NEAREST_H

#include "perfile/base.h"

enum {
    PF_NEAREST_BYTES = 40, /* longest word that is compared */
    PF_NEAREST_MOST = 3    /* how many suggestions are kept */
};

/* The best suggestions so far, nearest first.  Initialise with pf_nearest_begin(). */
typedef struct pf_nearest {
    const char *wanted; /* the misspelt word, borrowed */
    size_t n_wanted;
    uint32_t letters; /* a bit for each letter that occurs in it, for a quick rejection */
    unsigned worst;   /* words at this distance or farther are not suggested */
    struct {
        char name[PF_NEAREST_BYTES + 1];
        unsigned distance;
    } found[PF_NEAREST_MOST];
    size_t n;
} pf_nearest;

/* Starts with no suggestions for `wanted`.  Short words allow a smaller distance. */
void pf_nearest_begin(pf_nearest *suggestions, const char *wanted);

/* Offers a known word, which is copied if it is near enough and not among the suggestions yet. */
void pf_nearest_offer(pf_nearest *suggestions, const char *name);

/* Offers `name` at the distance of the word `as` plus `more`: for names that are known by another
 * word. */
void pf_nearest_offer_as(pf_nearest *suggestions, const char *name, const char *as, unsigned more);

/* Writes "a, b or c" to `out`; an empty text if there are no suggestions.  `size` must not be 0. */
void pf_nearest_put(const pf_nearest *suggestions, char *out, size_t size);

#endif

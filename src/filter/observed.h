/* What samples have where a filter selects nothing: ranges of times, processes, addresses ..., and
 * the first names. Collected only while nothing is selected yet, and reported when the result is
 * empty. */
#ifndef PF_FILTER_OBSERVED_H
#define PF_FILTER_OBSERVED_H

#include "perfile/base.h"
#include "perfile/filter.h"
#include "stage/run.h"

/* Kinds of terms whose fields stand at fixed offsets in samples, the cheapest test first. */
enum { PF_PLACE_TIME, PF_PLACE_PID, PF_PLACE_TID, PF_PLACE_CPU, PF_PLACE_IP, PF_PLACES };

/* A field at a fixed offset: of the 64-bit word of sample_type bit `field`, the bits word >> shift
 * & mask. */
typedef struct pf_place {
    uint32_t kind;  /* PERFILE_FILTER_BY_... */
    uint32_t field; /* PERFILE_SAMPLE_..., one bit */
    unsigned shift;
    uint64_t mask;
} pf_place;

extern const pf_place pf_places[PF_PLACES];

static inline uint64_t pf_place_value(const pf_place *p, uint64_t word)
{
    return word >> p->shift & p->mask;
}

/* The kinds of pf_places as bits. */
static inline uint32_t pf_place_kinds(void)
{
    return 1U << PERFILE_FILTER_BY_TIME | 1U << PERFILE_FILTER_BY_PID |
           1U << PERFILE_FILTER_BY_TID | 1U << PERFILE_FILTER_BY_CPU | 1U << PERFILE_FILTER_BY_IP;
}

/* least > most: no sample was seen. */
typedef struct pf_observed_range {
    uint64_t least, most;
} pf_observed_range;

static inline void pf_observed_widen(pf_observed_range *r, uint64_t value)
{
    r->least = value < r->least ? value : r->least;
    r->most = value > r->most ? value : r->most;
}

/* How many names are kept, and bytes of each. */
enum { PF_OBSERVED_MAX_NAMES = 5, PF_OBSERVED_NAME_BYTES = 32 };

/* The first distinct names, cut to PF_OBSERVED_NAME_BYTES - 1 bytes. */
typedef struct pf_observed_names {
    char at[PF_OBSERVED_MAX_NAMES][PF_OBSERVED_NAME_BYTES];
    uint32_t n;
    bool more; /* there were others */
} pf_observed_names;

/* Everything that was collected. */
typedef struct pf_observed {
    bool over;       /* a sample was selected: nothing has to be explained */
    uint32_t looked; /* bit k: ranges[k] was collected */
    pf_observed_range ranges[PF_PLACES];
    pf_observed_names comms, files;
} pf_observed;

/* Makes it empty. */
void pf_observed_begin(pf_observed *t);
/* Returns the range of field k, to be widened by the caller with the samples that it tests: those
 * that fit the terms of the fields before. */
pf_observed_range *pf_observed_place(pf_observed *t, unsigned k);
/* Collects names from the records of a run if the terms (`given`: their kinds as bits) ask for
 * names. If they ask for nothing that is collected, the range of times is. */
void pf_observed_look(pf_observed *t, const pf_run *run, uint32_t given);

#endif

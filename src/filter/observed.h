/* What the samples of a capture have of that which a filter asks for: found while none of them was
 * selected yet, to be told when none is at the end. */
#ifndef PF_FILTER_OBSERVED_H
#define PF_FILTER_OBSERVED_H

#include "perfile/base.h"
#include "perfile/filter.h"
#include "stage/run.h"

/* The kinds of terms whose fields have a fixed place in samples, the cheap ones first. */
enum { PF_PLACE_TIME, PF_PLACE_PID, PF_PLACE_TID, PF_PLACE_CPU, PF_PLACE_IP, PF_PLACES };

/* What is asked for is `mask` of the field's word, moved down by `shift`. */
typedef struct pf_place {
    uint32_t kind, field;
    unsigned shift;
    uint64_t mask;
} pf_place;

extern const pf_place pf_places[PF_PLACES];

static inline uint64_t pf_place_value(const pf_place *p, uint64_t word)
{
    return word >> p->shift & p->mask;
}

/* Those kinds, by bit. */
static inline uint32_t pf_place_kinds(void)
{
    return 1U << PERFILE_FILTER_BY_TIME | 1U << PERFILE_FILTER_BY_PID |
           1U << PERFILE_FILTER_BY_TID | 1U << PERFILE_FILTER_BY_CPU | 1U << PERFILE_FILTER_BY_IP;
}

/* least > most: of no sample. */
typedef struct pf_observed_range {
    uint64_t least, most;
} pf_observed_range;

static inline void pf_observed_widen(pf_observed_range *r, uint64_t value)
{
    r->least = value < r->least ? value : r->least;
    r->most = value > r->most ? value : r->most;
}

enum { PF_THERE_NAMES = 5, PF_THERE_NAME = 32 };

/* The first of them, cut to their beginnings. */
typedef struct pf_observed_names {
    char at[PF_THERE_NAMES][PF_THERE_NAME];
    uint32_t n;
    bool more;
} pf_observed_names;

typedef struct pf_observed {
    bool over;       /* a sample was selected: nobody will ask */
    uint32_t looked; /* at which ranges, by bit */
    pf_observed_range ranges[PF_PLACES];
    pf_observed_names comms, files;
} pf_observed;

void pf_observed_begin(pf_observed *t);
/* The range of place k, for whoever looks at samples there: at those that fit the places before. */
pf_observed_range *pf_observed_place(pf_observed *t, unsigned k);
/* Names in a run, where `given`, the kinds of terms that the filter has, by bit, asks for some;
 * about the times of its samples where nothing is asked that says what there is. */
void pf_observed_look(pf_observed *t, const pf_run *run, uint32_t given);

#endif

/* What of the tables captures have: record types and features, conditions that hold and that do
 * not, and named values. */
#ifndef PF_GENERATE_COVERED_H
#define PF_GENERATE_COVERED_H

#include "generate/members.h"

typedef struct pf_covered pf_covered;

/* Makes a set of everything that the rows of the tables have; nothing is seen.  The caller calls
 * pf_covered_free().  Returns NULL when out of memory. */
pf_covered *pf_covered_new(void);
void pf_covered_free(pf_covered *c);

/* Marks the row, and what a struct of it has, as seen.  `c` may be NULL. */
void pf_covered_see(pf_covered *c, const char *row, const pf_row_shape *shape, unsigned of,
                    const void *given);

void pf_covered_see_row(pf_covered *c, const char *row);

/* Returns how many items there are, and sets *seen to how many of them were seen. */
size_t pf_covered_count(const pf_covered *c, size_t *seen);

/* Yields a text for the next item from *at on that was not seen; false at the end. */
bool pf_covered_missed(const pf_covered *c, size_t *at, char *text, size_t size);

#endif

/* Names of every record, and words for values. */
#ifndef PF_EXPR_WORDS_H
#define PF_EXPR_WORDS_H

#include "expr/program.h"

typedef struct pf_expr_common {
    const char *name;
    const char *doc;
    uint8_t of; /* PF_OF_… */
    uint8_t classes;
    uint8_t kind;
} pf_expr_common;

/* The i-th, NULL behind the last; the one called `name`, or NULL. */
const pf_expr_common *pf_expr_common_at(size_t i);
const pf_expr_common *pf_expr_common_find(const char *name);

/* Case does not count, and _ is as good as -. */
bool pf_expr_same_word(const char *a, const char *b);

/* The number of a word of `v` (may be NULL); of sets of parts: the mask of a part. */
bool pf_expr_word_of(const perfile_vocabulary *v, const char *word, uint64_t *number);

/* The i-th bit of misc that has a name; NULL behind the last. */
const char *pf_expr_misc_word(size_t i);
/* Its mask, and the types (bit by number) that it is about; false: there is none of that name. */
bool pf_expr_misc(const char *word, uint64_t *mask, uint64_t *types);

/* Types above 63 whose misc has names, as a bit of `types`. */
uint64_t pf_expr_type_bit(uint32_t type);

#endif

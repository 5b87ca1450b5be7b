/* Names that exist in every record (type, misc, size …), and words for values (SAMPLE, USER). */
#ifndef PF_EXPR_WORDS_H
#define PF_EXPR_WORDS_H

#include "expr/program.h"

/* A name of every record. */
typedef struct pf_expr_common {
    const char *name;
    const char *doc;
    uint8_t of;      /* PF_OF_… */
    uint8_t classes; /* PERFILE_EXPR_… */
    uint8_t kind;    /* PERFILE_KIND_… */
} pf_expr_common;

/* The i-th, NULL behind the last; the one called `name`, or NULL. */
const pf_expr_common *pf_expr_common_at(size_t i);
const pf_expr_common *pf_expr_common_find(const char *name);

/* Compares two words: case does not count, and - equals _. */
bool pf_expr_same_word(const char *a, const char *b);

/* Sets *number to the value of a word of the vocabulary `v` (may be NULL); for a vocabulary of bit
 * fields to the mask of the field.  False: it has no such word. */
bool pf_expr_word_value(const perfile_vocabulary *v, const char *word, uint64_t *number);

/* The i-th bit of misc that has a name; NULL behind the last. */
const char *pf_expr_misc_word(size_t i);
/* Sets *mask to the bits of misc called `word`, and *types to the record types in which they mean
 * that (bits of pf_expr_type_bit()).  False: there is no such name. */
bool pf_expr_misc(const char *word, uint64_t *mask, uint64_t *types);

/* The bit of a record type in a set of types; 0 for types whose misc has no names. */
uint64_t pf_expr_type_bit(uint32_t type);

#endif

/* The values that are chosen for members. */
#ifndef PF_GENERATE_CHOOSE_H
#define PF_GENERATE_CHOOSE_H

#include "generate/make.h"

/* Stores a value to the member of a step.  Texts and arrays are in the arena.  Counts, and what is
 * computed from other members, stay 0. */
perfile_status pf_choose_value(pf_maker *m, const pf_step *s, perfile_error *err);

/* Returns how many items an array or list has that is a member of the struct `of`. */
size_t pf_choose_count(pf_maker *m, const pf_member *member, unsigned of);

#endif

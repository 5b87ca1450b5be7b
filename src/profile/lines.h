/* Lines of the source for the frames of stacks, as debug information says.
 *
 * A frame that called another one has the line of the call, which is before the address where it
 * goes on; so a frame has two lines, numbered 2 * frame, and + 1 as a caller (pf_line_key()).  What
 * was inlined at an address is at the same line of its caller, whether this was called from or not.
 * A frame has the line in its own function: that of an inlined function is in a frame of its own,
 * if these are asked for. */
#ifndef PF_PROFILE_LINES_H
#define PF_PROFILE_LINES_H

#include "profile/profile.h"

typedef struct pf_line {
    const char *file; /* of the profile's texts; NULL: not known */
    uint32_t line;    /* 0: not known */
    uint32_t asked;   /* it was looked up */
} pf_line;

/* All zeros is empty.  Charged to the profile's budget. */
typedef struct pf_lines {
    pf_line *at; /* by key */
    size_t n;
    uint8_t *sampled; /* of each stack: samples of the present capture end there */
    size_t n_stacks;
} pf_lines;

/* Notes that a sample ends at a stack.  False if there is no memory or the limit is exceeded. */
bool pf_lines_mark(pf_lines *l, pf_profile *p, uint32_t stack);

/* Looks up the line of a key.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_line_find(pf_profile *p, perfile_symbols *symbols, uint32_t key, pf_line *out,
                            perfile_error *err);

/* Looks up what the marked stacks need of the capture of `symbols`, and forgets the marks.
 * PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_lines_find(pf_lines *l, pf_profile *p, perfile_symbols *symbols,
                             perfile_error *err);

void pf_lines_free(pf_lines *l, pf_profile *p);

/* The key of the frame of a stack: of the innermost one, `inner` being PF_EMPTY_STACK, or of the
 * caller of `inner`, a stack on it with the key `of_inner`. */
uint32_t pf_line_key(const pf_profile *p, uint32_t stack, uint32_t inner, uint32_t of_inner);

/* True if the frame of a stack is of a function inlined into that of its caller. */
bool pf_is_inlined(const pf_profile *p, uint32_t stack);

/* The line of a key; without file if it is not known. */
static inline pf_line pf_line_at(const pf_lines *l, uint32_t key)
{
    return key < l->n ? l->at[key] : (pf_line){0};
}

#endif

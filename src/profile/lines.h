/* Source lines for the frames of stacks, from debug information.
 *
 * A frame that called another one has the line of the call, which precedes the return address.  So
 * a frame has two lines: key 2 * frame as the innermost frame, and key 2 * frame + 1 as a caller
 * (pf_line_key()).  An inlined function and its caller are at one address, so the caller is looked
 * up the same way as the inlined function.  The line is in the frame's own function: if inlined
 * functions are requested, they have frames of their own. */
#ifndef PF_PROFILE_LINES_H
#define PF_PROFILE_LINES_H

#include "profile/profile.h"

typedef struct pf_line {
    const char *file; /* in the profile's texts; NULL: unknown */
    uint32_t line;    /* 0: unknown */
    uint32_t asked;   /* nonzero: it was looked up */
} pf_line;

/* All zeros is empty.  The memory is charged to the profile's budget. */
typedef struct pf_lines {
    pf_line *at; /* by key */
    size_t n;
    uint8_t *sampled; /* by stack: nonzero if samples of the current capture end there */
    size_t n_stacks;
} pf_lines;

/* Notes that a sample ends at a stack.  Returns false when out of memory or budget. */
bool pf_lines_mark(pf_lines *l, pf_profile *p, uint32_t stack);

/* Looks up the line of a key.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_line_find(pf_profile *p, perfile_symbols *symbols, uint32_t key, pf_line *out,
                            perfile_error *err);

/* Looks up all lines that the marked stacks need from the capture of `symbols`, and clears the
 * marks.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_lines_find(pf_lines *l, pf_profile *p, perfile_symbols *symbols,
                             perfile_error *err);

void pf_lines_free(pf_lines *l, pf_profile *p);

/* Returns the key of a stack's top frame.  `inner` is PF_EMPTY_STACK if the frame is innermost,
 * otherwise the stack directly above this one, with the key `of_inner`. */
uint32_t pf_line_key(const pf_profile *p, uint32_t stack, uint32_t inner, uint32_t of_inner);

/* Returns true if the top frame of a stack is a function that is inlined into its caller. */
bool pf_is_inlined(const pf_profile *p, uint32_t stack);

/* Returns the line of a key; its file is NULL if it is unknown. */
static inline pf_line pf_line_at(const pf_lines *l, uint32_t key)
{
    return key < l->n ? l->at[key] : (pf_line){0};
}

#endif

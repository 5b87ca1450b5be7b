/* Visits the members of a decoded struct in the order of its table, structs and lists inside it
 * too.  One caller fills the struct while it is visited, another writes it as text. */
#ifndef PF_GENERATE_MEMBERS_H
#define PF_GENERATE_MEMBERS_H

#include "schema/rows.h"

enum { PF_MEMBERS_DEPTH = 8 /* structs and lists inside each other, at most */ };

/* pf_step.what */
enum {
    PF_STEP_CONDITION, /* `at` is the bool of a condition, or `present` with `member->bit` */
    PF_STEP_VALUE,     /* a number, text, bytes, words or strings */
    PF_STEP_LIST,      /* a perfile_list; its items follow */
    PF_STEP_LIST_END,
    PF_STEP_ITEM, /* an item of the list */
    PF_STEP_ITEM_END,
    PF_STEP_STRUCT, /* a struct; its members follow */
    PF_STEP_STRUCT_END,
    PF_STEP_BEYOND /* a dump shows what follows as bytes */
};

typedef struct pf_step {
    unsigned what;           /* PF_STEP_… */
    unsigned of;             /* PF_SHAPE_… of the struct that the step is about or in */
    const pf_member *member; /* of the table; for an item its list */
    uint8_t *at;             /* the member; for items and ends the struct */
    uint8_t *base;           /* the struct that has the member */
} pf_step;

/* A struct or list that was entered. */
typedef struct pf_members_open {
    const pf_member *first, *next;
    const pf_member *owner; /* the member that is this struct or list */
    uint8_t *base;
    size_t items_left; /* of a list, without the current one */
    size_t width;      /* bytes of an item; 0: not a list */
    uint32_t stored;   /* bytes of the numbers so far, for members that depend on a size */
    uint8_t of;
} pf_members_open;

typedef struct pf_members {
    pf_members_open open[PF_MEMBERS_DEPTH];
    unsigned n;
    const pf_member *last; /* what the last step announced: read when the next is asked for */
} pf_members;

/* Begins a visit of the struct `base` of this shape; `of` is its PF_SHAPE_…, or PF_N_SHAPES. */
void pf_members_begin(pf_members *m, const pf_row_shape *shape, unsigned of, void *base);

/* Yields the next step.  A condition, a list and its items are read after the step that announced
 * them, so the caller may set them then.  Returns false at the end. */
bool pf_members_next(pf_members *m, pf_step *step);

#endif

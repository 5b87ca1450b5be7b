/* Fills structs of the tables with values that a capture could have, from a seed. */
#ifndef PF_GENERATE_MAKE_H
#define PF_GENERATE_MAKE_H

#include "base/arena.h"
#include "base/random.h"
#include "generate/given.h"

enum { PF_MADE_IDS = 16, PF_MADE_CONDITIONS = 96 };

/* The conditions of a struct, in the order in which they were first met. */
typedef struct pf_made_condition {
    const char *shape, *member; /* static */
    bool value;                 /* of its last use */
    bool forced;                /* the encoder demanded this value */
} pf_made_condition;

/* What values depend on. */
typedef struct pf_maker {
    pf_random dice;
    pf_arena arena;               /* for arrays and texts of the struct */
    const perfile_layout *layout; /* of the event; NULL: none */
    uint64_t present;             /* bits of sample_type of the sample or trailer */
    uint64_t time;                /* ns; the next value of kind TIME */
    uint64_t ids[PF_MADE_IDS];    /* of the events */
    uint32_t n_ids, n_events, n_cpus;
    uint32_t attr_size; /* bytes of attrs */
    bool has_clock;     /* all events have the same clock, which is: */
    int32_t clock;
    bool empty_groups; /* groups have no counters; otherwise they have some */
    uint32_t turn;     /* enumerated values come in turn */
    pf_made_condition conditions[PF_MADE_CONDITIONS];
    unsigned n_conditions;             /* 0 before the first struct of a kind is made */
    const pf_given *given;             /* values that are not chosen here; NULL: none */
    pf_place place;                    /* its paths begin so */
    uint64_t used[PF_GIVEN_MOST / 64]; /* which of them the struct has */
} pf_maker;

/* Fills *out, a zeroed struct of this shape; `of` is its PF_SHAPE_… or PF_N_SHAPES.  It borrows
 * from the arena. */
perfile_status pf_make(pf_maker *m, const pf_row_shape *shape, unsigned of, void *out,
                       perfile_error *err);

/* Stores the given values once more, after others may have been changed. */
perfile_status pf_make_given(pf_maker *m, const pf_row_shape *shape, unsigned of, void *out,
                             perfile_error *err);

/* Remembers that the condition `where` ("shape.member"), which the encoder rejected, must have the
 * other value when the struct is made again.  Returns false if that is the name of no condition. */
bool pf_make_change(pf_maker *m, const char *where);

#endif

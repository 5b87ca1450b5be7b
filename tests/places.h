/* The places that a walk shows: inside, ascending, not overlapping; and their values. */
#ifndef TESTS_PLACES_H
#define TESTS_PLACES_H

#include "transcript.h"

typedef struct places {
    transcript t;     /* padding is no part of it */
    uint64_t at;      /* where the last one ended; at first: where the first may begin */
    uint64_t end;     /* of what is walked */
    uint64_t where;   /* a hash of offsets and widths */
    bool gapless;     /* with padding shown, each begins where the last one ended */
    bool inside_only; /* parts of what was shown as a whole are shown too */
    bool wrong;
} places;

static inline void places_on_value(void *user, const perfile_field *f, const perfile_value *v)
{
    places *p = user;
    if (!(f->flags & PERFILE_FIELD_CALC)) {
        if (v->offset < p->at && !p->inside_only)
            p->wrong = true;
        if (v->offset != p->at && p->gapless)
            p->wrong = true;
        if (v->offset > p->end || v->width > p->end - v->offset)
            p->wrong = true;
        p->at = v->offset + v->width;
        p->where = (p->where ^ v->offset << 32 ^ v->width) * UINT64_C(0x9e3779b97f4a7c15);
    }
    if (!(f->flags & PERFILE_FIELD_PAD))
        transcript_on_value(&p->t, f, v);
}

static inline void places_on_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    places *p = user;
    if ((v->offset < p->at && !p->inside_only) || v->offset > p->end)
        p->wrong = true;
    transcript_on_begin(&p->t, f, v);
}

static inline void places_on_end(void *user, const perfile_field *f)
{
    transcript_on_end(&((places *)user)->t, f);
}

static const perfile_visitor places_visitor = {sizeof places_visitor, places_on_value,
                                               places_on_begin, places_on_end};

#endif

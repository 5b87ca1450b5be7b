/* Frames as viewers have them that list each function once, and each other name of an object. */
#ifndef PF_EMIT_SHOWN_H
#define PF_EMIT_SHOWN_H

#include "emit/export.h"

/* A frame of a viewer.  The key is all of it. */
typedef struct pf_shown_name {
    const char *name;  /* of the profile's texts */
    uint32_t object;   /* number; PF_NO_OBJECT */
    uint32_t function; /* number + 1; 0: not known */
} pf_shown_name;

typedef struct pf_shown {
    pf_intern names;     /* pf_shown_name; charged to the profile's budget, as all of it */
    uint32_t *positions; /* in `names`, of each frame of the profile */
} pf_shown;

void pf_shown_init(pf_shown *s, pf_profile *p);
void pf_shown_free(pf_shown *s);

/* Finds the names of all frames.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_shown_make(pf_shown *s, pf_exporter *x, perfile_error *err);

static inline const pf_shown_name *pf_shown_at(const pf_shown *s, uint32_t number)
{
    return pf_intern_at(&s->names, number);
}

#endif

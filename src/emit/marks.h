/* What records other than samples say, as JSON members: for the forms that show them as marks at
 * their time.
 *
 * The fields come from a walk, so that a new record type needs nothing here.  Equal texts are kept
 * once; all of it is charged to perfile_limits.profile_bytes. */
#ifndef PF_EMIT_MARKS_H
#define PF_EMIT_MARKS_H

#include "emit/export.h"
#include "perfile/field.h"

/* What a mark says.  The key is all of it. */
typedef struct pf_mark {
    uint64_t type;    /* PERFILE_RECORD_… */
    const char *text; /* `,"addr":"0x1000","filename":"/bin/work"`, of the profile's texts */
} pf_mark;

/* A field that some mark of a type has.  The key is all of it. */
typedef struct pf_mark_field {
    uint64_t type;
    const perfile_field *field; /* its row of the tables */
} pf_mark_field;

typedef struct pf_marks {
    pf_intern said;   /* pf_mark */
    pf_intern types;  /* uint64_t: those of all marks */
    pf_intern fields; /* pf_mark_field */
    pf_buffer text, clean;
    /* Of the record that was described last: its own fields `pid` and `tid`, PERFILE_NO_PID
     * without; they are of whom it is about, which the trailer need not be. */
    uint32_t pid, tid;
} pf_marks;

void pf_marks_init(pf_marks *m, pf_profile *p);
void pf_marks_free(pf_marks *m);

/* The number in `said` of what a record says.  PF_INTERN_NONE if there is no memory or the limit is
 * exceeded.  A record that cannot be read says what stands before the damage. */
uint32_t pf_marks_describe(pf_marks *m, pf_profile *p, const perfile_record *r);

/* The key of a field in the text. */
const char *pf_marks_key(const perfile_field *field);

static inline const pf_mark *pf_marks_at(const pf_marks *m, uint32_t number)
{
    return pf_intern_at(&m->said, number);
}

#endif

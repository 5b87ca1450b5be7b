/* Counts what is not in the output as it was in the input, and says it. */
#ifndef PF_LIB_NOTES_H
#define PF_LIB_NOTES_H

#include "perfile/copy.h"

enum { PF_NOTES_MOST = 96 };

typedef struct pf_notes {
    perfile_note at[PF_NOTES_MOST];
    char why[PF_NOTES_MOST][112]; /* of the first, in words */
    uint32_t n;
} pf_notes;

/* Counts one more of kind, number and damage; beyond the most kinds it counts with those that are
 * of no number. */
void pf_notes_add(pf_notes *notes, const perfile_note *one);

/* Counts what the other byte order could not have as a whole: a record, else a feature, else an
 * event.  For perfile_byteswap_options.kept. */
void pf_notes_kept(pf_notes *notes, const perfile_record *r, const perfile_feature *f,
                   const perfile_error *why);

/* Hands out all, with their sentences; returns how many are losses. */
uint64_t pf_notes_report(const pf_notes *notes, void (*note)(void *user, const perfile_note *note),
                         void *user);

#endif

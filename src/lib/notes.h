/* Notes: what the output does not have as the input had it.  They are counted by kind while an
 * operation runs and reported at its end, each as one sentence ("3 records of type 200 left out"),
 * so that a million equal losses are one line. */
#ifndef PF_LIB_NOTES_H
#define PF_LIB_NOTES_H

#include "perfile/copy.h"

enum { PF_NOTES_MOST = 96 }; /* a hostile input has types and features without end */

/* All zeros is empty.  Nothing to free. */
typedef struct pf_notes {
    perfile_note
        at[PF_NOTES_MOST];        /* one per (kind, number, damage); offset is that of the first */
    char why[PF_NOTES_MOST][112]; /* text of the first, "" if it had none */
    uint32_t n;
} pf_notes;

/* Adds one->count and one->bytes to the entry of the same kind, number and damage; the first one of
 * an entry also gives its offset, part and text.  When the table is full, it is counted in the
 * entry of its kind that has no number (UINT32_MAX). */
void pf_notes_add(pf_notes *notes, const perfile_note *one);

/* Counts what could not be byte-swapped completely: the record `r`, or if that is NULL the feature
 * `f`, or if both are NULL an event.  `why` is the error of swapping it; PERFILE_E_UNSUPPORTED
 * means that no table describes its layout.  For callbacks of perfile_byteswap_options.kept. */
void pf_notes_kept(pf_notes *notes, const perfile_record *r, const perfile_feature *f,
                   const perfile_error *why);

/* Calls note() for each entry, with n->text set to its sentence, valid during the call.  note() may
 * be NULL.  Returns how many entries are losses. */
uint64_t pf_notes_report(const pf_notes *notes, void (*note)(void *user, const perfile_note *note),
                         void *user);

#endif

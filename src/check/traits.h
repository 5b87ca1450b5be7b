/* Traits: properties of a capture at which some versions of perf fail although no rule is broken,
 * or that are narrower than the rule.  The rows TRAIT of format/versions.def have the versions and
 * the verdict. */
#ifndef PF_CHECK_TRAITS_H
#define PF_CHECK_TRAITS_H

#include "check/check.h"
#include "core/releases.h"

/* The form of captures that a row applies to.  A pipe stored in a file is PIPE. */
enum { PF_FORM_ANY, PF_FORM_FILE, PF_FORM_PIPE };

typedef struct pf_trait_row {
    uint16_t rule;    /* the rule it belongs to, for the message */
    uint8_t from, to; /* first and last version, positions in pf_releases[] */
    uint8_t form;     /* PF_FORM_… */
    uint8_t verdict;  /* PERFILE_VERDICT_… */
    /* True if the capture has the trait, for that version.  Only valid when the stream has ended.
     */
    bool (*holds)(const pf_check *c, const pf_release *perf);
    const char *sentence;
} pf_trait_row;

/* Returns the row at a position of the table, NULL behind the last one. */
const pf_trait_row *pf_trait_at(size_t position);

#endif

/* What some captures have that versions of perf mind although no rule speaks of it, or speaks of
 * more: the rows TRAIT of format/versions.def. */
#ifndef PF_CHECK_TRAITS_H
#define PF_CHECK_TRAITS_H

#include "check/check.h"
#include "core/releases.h"

/* The forms of captures that a row of the table is about. */
enum { PF_FORM_ANY, PF_FORM_FILE, PF_FORM_PIPE };

typedef struct pf_trait_row {
    uint16_t rule;
    uint8_t from, to, form, verdict;
    /* Whether the capture has it, to be asked at its end. */
    bool (*holds)(const pf_check *c, const pf_release *perf);
    const char *sentence;
} pf_trait_row;

/* In the order of the table; NULL behind the last. */
const pf_trait_row *pf_trait_at(size_t position);

#endif

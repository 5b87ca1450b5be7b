/* Call frame information: the sections .eh_frame and .debug_frame of an ELF file. */
#ifndef PF_UNWIND_CFI_H
#define PF_UNWIND_CFI_H

#include "symbol/symfile.h"
#include "unwind/rule.h"

/* The code from `start` to `end`, which the entry at `at` of the section describes. */
typedef struct pf_cfi_entry {
    uint64_t start, end;
    uint32_t at;
} pf_cfi_entry;

/* A section, and its entries by address.  All zeros is one without entries. */
typedef struct pf_cfi {
    pf_budget *budget; /* may be NULL */
    pf_piece section;
    uint64_t addr; /* of the section, for relative addresses */
    bool eh;       /* .eh_frame, not .debug_frame */
    bool swap, is64;
    pf_cfi_entry *entries;
    size_t n, cap;
    uint64_t left; /* bytes of programs that may still be executed */
} pf_cfi;

/* Makes the table of entries; all other members are filled in before.  Entries that make no sense
 * are left out.  PERFILE_E_LIMIT, PERFILE_E_NOMEM; pf_cfi_free() in any case. */
perfile_status pf_cfi_index(pf_cfi *cfi);
void pf_cfi_free(pf_cfi *cfi);

/* The rule for the code at `pc`, and the registers that it does not leave the same, at most
 * PF_UNWIND_REGS at `wheres`.  False: the section does not say.  rule->first is left alone. */
bool pf_cfi_rule(pf_cfi *cfi, uint64_t pc, pf_unwind_rule *rule, pf_where *wheres);

#endif

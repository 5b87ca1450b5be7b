/* Entries of call frame information: common ones (CIE), and those of functions (FDE). */
#ifndef PF_UNWIND_CFI_ENTRY_H
#define PF_UNWIND_CFI_ENTRY_H

#include "base/cursor.h"
#include "unwind/cfi.h"

/* What functions have in common. */
typedef struct pf_cie {
    uint64_t code_align;
    int64_t data_align;
    uint64_t return_column;
    uint8_t encoding; /* of addresses, DW_EH_PE_… */
    bool has_length;  /* entries of functions have augmentation data with a length */
    bool is_signal;
    perfile_bytes program;
} pf_cie;

/* A function. */
typedef struct pf_fde {
    pf_cie cie;
    uint64_t start, end;
    perfile_bytes program;
} pf_fde;

/* What pf_cfi_next() found. */
enum { PF_CFI_END, PF_CFI_OTHER, PF_CFI_FDE };

/* The entry at *at, which is moved behind it: PF_CFI_FDE fills in *fde; PF_CFI_OTHER is one of
 * another kind, or damaged; PF_CFI_END if there is none. */
int pf_cfi_next(const pf_cfi *cfi, uint64_t *at, pf_fde *fde);

/* An address in the section, whose bytes `c` reads, as `encoding` says.  *ok becomes false for
 * encodings that have no meaning here. */
uint64_t pf_cfi_address(const pf_cfi *cfi, pf_cursor *c, uint8_t encoding, bool *ok);

#endif

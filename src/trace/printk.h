/* Constant texts of the recorded kernel.  Payloads contain their addresses.  The texts are in the
 * file tracefs/printk_formats, which is a part of feature TRACING_DATA.
 *
 *     0xffffffff8281a591 : "End context switch"
 */
#ifndef PF_TRACE_PRINTK_H
#define PF_TRACE_PRINTK_H

#include "base/arena.h"

typedef struct pf_printk_text {
    uint64_t address;
    const char *text;
} pf_printk_text;

/* All zeros is empty. */
typedef struct pf_printk {
    const pf_printk_text *at; /* sorted by address */
    size_t n;
} pf_printk;

/* Reads the file; lines of any other form are skipped.  Texts are copied to the arena.
 * PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_printk_read(pf_printk *out, perfile_bytes file, pf_arena *arena,
                              perfile_error *err);

/* Returns the text at an address, or NULL.  `p` may be NULL. */
const char *pf_printk_find(const pf_printk *p, uint64_t address);

#endif

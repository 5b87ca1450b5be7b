/* The user part of a sample's call chain, from the user registers and the piece of the user stack
 * that were copied when it was taken (`perf record --call-graph dwarf`).
 *
 * The stack is walked by the call frame information of the mapped files, of x86-64 and aarch64,
 * on a machine of any kind. */
#ifndef PF_UNWIND_UNWIND_H
#define PF_UNWIND_UNWIND_H

#include "model/ask.h"
#include "model/index.h"
#include "perfile/records.h"
#include "perfile/symbol.h"
#include "unwind/cfi.h"
#include "unwind/step.h"

enum { PF_UNWIND_FRAMES = 127 }; /* as many as perf shows if it is not told otherwise */

typedef struct pf_unwinder {
    perfile_symbols *symbols;         /* finds the files, and its budget counts */
    const perfile_model *model;       /* of the capture, completely fed */
    const pf_unwind_machine *machine; /* that recorded; NULL: one that is not supported */
    struct pf_unwind_file *files;
    size_t n_files, files_cap;
    pf_index file_index;   /* object of the symbols to its file */
    pf_unwind_rule *rules; /* the first ones are of addresses without any */
    size_t n_rules, rules_cap;
    pf_where *wheres; /* of all rules */
    size_t n_wheres, wheres_cap;
    struct pf_unwind_slot *slots; /* a cache: addresses of processes to rules */
    uint64_t seed;
    uint64_t addresses[PF_UNWIND_FRAMES]; /* of the chain that was unwound last */
    unsigned n_addresses;
    uint64_t ends[PF_UNWIND_UNSUPPORTED + 1]; /* how many chains ended so, PF_UNWIND_… */
} pf_unwinder;

/* Borrows all that it is given.  False if there is no memory; to be freed in any case.  Without
 * room in the budget of `symbols` nothing is unwound. */
bool pf_unwinder_init(pf_unwinder *x, const perfile_session *session, perfile_symbols *symbols,
                      const perfile_model *model);
void pf_unwinder_free(pf_unwinder *x);

/* Unwinds the user stack of a sample of process `pid`; `swap`: it is of the other byte order.
 * x->addresses are then those of the frames, innermost first: that of the sample, and of each
 * caller the byte in front of its return address, as perf has them; none if nothing was copied.
 * PERFILE_E_NOMEM. */
perfile_status pf_unwind(pf_unwinder *x, uint32_t pid, uint64_t time, bool swap,
                         const perfile_regs_user *regs, const perfile_stack_user *stack);

#endif

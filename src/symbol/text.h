/* Symbols in text files: kallsyms of the kernel, and perf-PID.map of just-in-time compilers.  Lines
 * that are not of the expected form are passed over. */
#ifndef PF_SYMBOL_TEXT_H
#define PF_SYMBOL_TEXT_H

#include "symbol/table.h"

/* Adds the functions and objects of `text`, lines "ADDRESS TYPE NAME" or with "[MODULE]" behind
 * them.  Nothing if all addresses are 0: what the kernel shows to those who may not know.
 * PERFILE_E_LIMIT, PERFILE_E_NOMEM. */
perfile_status pf_kallsyms_add(pf_symtab *table, perfile_bytes text);

/* Adds the functions of `text`, lines "START SIZE NAME" in hexadecimal; the name is the rest of the
 * line.  PERFILE_E_LIMIT, PERFILE_E_NOMEM. */
perfile_status pf_perf_map_add(pf_symtab *table, perfile_bytes text);

#endif

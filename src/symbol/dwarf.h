/* Debug information of one file, by libdw: which functions are at an address, and where in the
 * source. */
#ifndef PF_SYMBOL_DWARF_H
#define PF_SYMBOL_DWARF_H

#include "symbol/files.h"

enum { PF_DWARF_DEPTH = 64 }; /* inlined functions at one address, and nesting of blocks */

typedef struct pf_dwarf pf_dwarf;

/* A place in the source; texts are of the debug information, and live as long as it. */
typedef struct pf_dwarf_place {
    const char *function; /* as stored, mangled if it has such a name; NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
} pf_dwarf_place;

/* True if this build knows libdw, and it is installed. */
bool pf_can_read_dwarf(void);

/* Opens the debug information of an object; *dwarf is NULL if there is none.  PERFILE_E_LIMIT,
 * PERFILE_E_NOMEM. */
perfile_status pf_dwarf_open(perfile_symbols *s, const pf_symbol_object *o, pf_dwarf **dwarf);
void pf_dwarf_close(pf_dwarf *dwarf);

/* The places of an address of the file, innermost first; how many. */
size_t pf_dwarf_find(pf_dwarf *dwarf, uint64_t at, pf_dwarf_place places[PF_DWARF_DEPTH]);

#endif

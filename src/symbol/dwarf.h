/* Debug information of one file, read by perfile-symbolizer: which functions are at an address, and
 * where in the source. */
#ifndef PF_SYMBOL_DWARF_H
#define PF_SYMBOL_DWARF_H

#include "symbol/files.h"

typedef struct pf_dwarf pf_dwarf;

/* A place in the source; texts are valid until the next question. */
typedef struct pf_dwarf_place {
    const char *function; /* NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
} pf_dwarf_place;

/* True if this build reads debug information. */
bool pf_can_read_dwarf(void);

/* Opens the debug information of an object; *dwarf is NULL if there is none.  PERFILE_E_LIMIT,
 * PERFILE_E_NOMEM. */
perfile_status pf_dwarf_open(perfile_symbols *s, const pf_symbol_object *o, pf_dwarf **dwarf);
/* The same of a file. */
perfile_status pf_dwarf_open_file(perfile_symbols *s, const pf_elf_opened *f, pf_dwarf **dwarf);
void pf_dwarf_close(pf_dwarf *dwarf);

/* The places of an address of the file, innermost first; how many.  `demangle`: names of functions
 * are for people, else they are as stored. */
size_t pf_dwarf_find(pf_dwarf *dwarf, uint64_t at, bool demangle,
                     pf_dwarf_place places[PF_PLACES_MOST]);

/* Reads the places of an answer that begins at `at`; false if it is none. */
bool pf_dwarf_take(const uint8_t *at, const pf_answer *a, pf_dwarf_place places[PF_PLACES_MOST]);

#endif

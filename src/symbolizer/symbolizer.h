/* The parts of perfile-symbolizer. */
#ifndef PF_SYMBOLIZER_H
#define PF_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/protocol.h"

/* --- clock.c: processor time ----------------------------------------------------------------- */

/* Begins a question: the process ends when it has used `ns` more of processor time;
 * UINT64_MAX: no bound. */
void pf_clock_start(uint64_t ns);

/* Processor time since pf_clock_start(), ns. */
uint64_t pf_clock_used(void);

/* Runs `work`; false if that took more than `ns`: it was left then where it was, so it must not
 * hold anything, not even memory of its own. */
bool pf_clock_within(uint64_t ns, void (*work)(void *), void *user);

/* --- sandbox.c ------------------------------------------------------------------------------- */

/* Gives up what the process does not need: files, other processes, the network, core dumps. */
void pf_sandbox_enter(void);

/* Bounds the address space: what serves `bytes` of debug information. */
void pf_sandbox_memory(uint64_t bytes);

/* --- demangle.c ------------------------------------------------------------------------------ */

typedef enum pf_demangled { PF_DEMANGLED, PF_NOT_MANGLED, PF_NOT_IN_TIME } pf_demangled;

/* Writes the demangled form of a name to `out`, of PF_DEMANGLED_SIZE bytes: scopes and template
 * arguments, without the parameters of functions, as perf shows it.  `ns`: for how long. */
pf_demangled pf_demangle_name(const char *name, uint64_t ns, char *out);

/* --- dwarf.c, image.c ------------------------------------------------------------------------ */

typedef struct pf_dwarf_file pf_dwarf_file;

/* A place in the source; texts are of the file, and live as long as it. */
typedef struct pf_dwarf_place {
    const char *function; /* as stored, mangled if it has such a name; NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
} pf_dwarf_place;

/* The debug information of an ELF file with at most `bytes` of it; takes `fd`.  NULL: none. */
pf_dwarf_file *pf_dwarf_file_open(int fd, uint64_t bytes);
void pf_dwarf_file_close(pf_dwarf_file *d);

/* The places of an address of the file, innermost first; how many. */
size_t pf_dwarf_file_find(pf_dwarf_file *d, uint64_t at, pf_dwarf_place places[PF_PLACES_MOST]);

/* An ELF file of nothing but the debug sections of another one, at most `bytes` of them, inflated.
 * NULL: it has none, or more.  free(). */
uint8_t *pf_image_make(int fd, uint64_t bytes, size_t *size);

#endif

/* The parts of perfile-symbolizer. */
#ifndef PF_SYMBOLIZER_H
#define PF_SYMBOLIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbol/protocol.h"

/* --- clock.c: CPU time ----------------------------------------------------------------------- */

/* Begins a question: the process ends when it has used `ns` more of CPU time.  UINT64_MAX: no
 * limit. */
void pf_clock_start(uint64_t ns);

/* Returns the CPU time since pf_clock_start() in ns. */
uint64_t pf_clock_used(void);

/* Runs `work`.  Returns false if it took more than `ns` of CPU time.  It was then interrupted at
 * any point, so it must not hold any resource, not even memory. */
bool pf_clock_within(uint64_t ns, void (*work)(void *), void *user);

/* --- sandbox.c ------------------------------------------------------------------------------- */

/* Gives up access to files, other processes and the network, and disables core dumps. */
void pf_sandbox_enter(void);

/* Limits the address space to the amount that `bytes` of debug information need. */
void pf_sandbox_memory(uint64_t bytes);

/* --- demangle.c ------------------------------------------------------------------------------ */

typedef enum pf_demangled { PF_DEMANGLED, PF_NOT_MANGLED, PF_NOT_IN_TIME } pf_demangled;

/* Writes the demangled form of a name to `out`, which has PF_DEMANGLED_SIZE bytes: scopes and
 * template arguments, but no function parameters, as perf shows it.  `ns` limits the CPU time. */
pf_demangled pf_demangle_name(const char *name, uint64_t ns, char *out);

/* --- dwarf.c, image.c ------------------------------------------------------------------------ */

typedef struct pf_dwarf_file pf_dwarf_file;

/* A source location.  Its texts belong to the file and live as long as it. */
typedef struct pf_dwarf_place {
    const char *function; /* as stored, mangled if there is a mangled name; NULL: unknown */
    const char *file;     /* NULL: unknown */
    uint32_t line;        /* 0: unknown */
} pf_dwarf_place;

/* Opens the debug information of an ELF file, if it has at most `bytes`.  Closes `fd`.  Returns
 * NULL if there is none. */
pf_dwarf_file *pf_dwarf_file_open(int fd, uint64_t bytes);
void pf_dwarf_file_close(pf_dwarf_file *d);

/* Finds the source locations of an address of the file, innermost first.  Returns how many. */
size_t pf_dwarf_file_find(pf_dwarf_file *d, uint64_t at, pf_dwarf_place places[PF_PLACES_MOST]);

/* Makes an ELF file with only the debug sections of another one, inflated.  Returns NULL if there
 * are none, or more than `bytes`.  The caller calls free(). */
uint8_t *pf_image_make(int fd, uint64_t bytes, size_t *size);

#endif

/* The files of a process of this machine that still runs: it may have another root directory, and
 * another number for itself (a container). */
#ifndef PF_SYMBOL_PROCESS_H
#define PF_SYMBOL_PROCESS_H

#include "symbol/state.h"

enum { PF_PROCESS_ROOT = 32 }; /* bytes of "/proc/PID/root" */

typedef struct pf_process {
    char root[PF_PROCESS_ROOT]; /* its root directory, for pf_symfile_open_in() */
    uint64_t dev, ino;          /* of that directory */
    uint32_t inner;             /* its number in its own pid namespace */
    uint32_t owner;             /* user that it runs as */
    bool is_apart; /* root directory, mounts or number differ from those that this program sees */
} pf_process;

/* True if files of processes of this machine count: the options allow it, and the capture names no
 * other host. */
bool pf_process_may_be_here(const perfile_symbols *s);

/* Examines process `pid`; false if it does not run, or may not be examined. */
bool pf_process_find(uint32_t pid, pf_process *p);

/* True if something is mapped at `addr` of the process.  A process that got the number of one that
 * ended has other addresses. */
bool pf_process_maps(uint32_t pid, uint64_t addr);

#endif

/* Demangling of C++ and Rust names, by perfile-symbolizer. */
#ifndef PF_SYMBOL_DEMANGLE_H
#define PF_SYMBOL_DEMANGLE_H

#include "symbol/helper.h"

/* True if this build can demangle. */
bool pf_can_demangle(void);

/* True if a name of `len` bytes may be mangled: what pf_demangle() asks about. */
bool pf_is_mangled(const char *name, size_t len);

/* Demangles `n` names, at most PF_DEMANGLE_MOST, in one question: scopes and template arguments,
 * without the parameters of functions, as perf shows them.  shown[i] is valid until the next
 * question; NULL if a name is not mangled, too long or too complicated, or there is no program to
 * ask.
 */
void pf_demangle(pf_helper *h, const perfile_bytes *names, size_t n, const char **shown);

/* The same for one name. */
const char *pf_demangle_one(pf_helper *h, const char *name);

#endif

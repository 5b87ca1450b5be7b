/* Demangling of C++ and Rust names. */
#ifndef PF_SYMBOL_DEMANGLE_H
#define PF_SYMBOL_DEMANGLE_H

#include <stdbool.h>

/* Room for a demangled name with its NUL; longer ones stay mangled. */
enum { PF_DEMANGLED_SIZE = 4096 };

/* True if this build can demangle. */
bool pf_can_demangle(void);

/* Writes the demangled form of `name` to `out`, of PF_DEMANGLED_SIZE bytes: scopes and template
 * arguments, without the parameters of functions, as perf shows it.  False if `name` is not
 * mangled, too long or too complicated. */
bool pf_demangle(const char *name, char *out);

#endif

/* What the command asks of symbols. */
#ifndef PF_SYMBOL_COMMAND_H
#define PF_SYMBOL_COMMAND_H

#include "perfile/symbol.h"

enum { /* Capabilities of this build of the library: pf_symbols_built_in(). */
       PF_SYMBOLS_DEMANGLE = 1 << 0, /* names of C++ and Rust are demangled */
       PF_SYMBOLS_SOURCE = 1 << 1    /* perfile_symbols_source() */
};

/* Returns the optional capabilities (PF_SYMBOLS_DEMANGLE …) that the library was built with
 * and that are installed with perfile-symbolizer.  Symbols of ELF files and of text files are
 * always found. */
uint32_t pf_symbols_built_in(void);

/* Returns the number of names that were not demangled and of files with debug information that was
 * not read, because this took too much CPU time or memory. */
uint64_t pf_symbols_too_costly(const perfile_symbols *symbols);

/* perfile_symbol_reason_text(), perfile_symbol_origin_text(). */
const char *pf_symbol_reason_text(unsigned reason);
const char *pf_symbol_origin_text(unsigned origin);

#endif

/* What the inside of the library asks of perfile_symbols beside perfile/symbol.h. */
#ifndef PF_SYMBOL_FIND_H
#define PF_SYMBOL_FIND_H

#include "perfile/symbol.h"

/* Says that perfile_symbols_find() will be called for `addr` of `mapping`: the names of all
 * addresses that are expected by then are demangled in one question.  More than
 * PF_DEMANGLE_MOST of symbol/protocol.h are forgotten. */
void pf_symbols_expect(perfile_symbols *symbols, const perfile_mapping *mapping, uint64_t addr);

#endif

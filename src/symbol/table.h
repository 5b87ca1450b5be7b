/* A table of symbols: filled from one file or several parts of it, then searched by address.
 *
 * Symbols overlap, share addresses and have no size.  The rules by which one of them names an
 * address are those of perf, so that both tools print the same function: see table.c. */
#ifndef PF_SYMBOL_TABLE_H
#define PF_SYMBOL_TABLE_H

#include "symbol/symfile.h"

enum { PF_BIND_LOCAL, PF_BIND_GLOBAL, PF_BIND_WEAK };

/* A symbol; texts are positions in pf_symtab.names. */
typedef struct pf_sym {
    uint64_t start, end; /* addresses; equal: another symbol of the same place has the size */
    uint32_t name;       /* its name as stored */
    uint32_t module;     /* kernel module that has it; 0: none */
    uint32_t order;      /* position in which it was added */
    uint8_t binding;     /* PF_BIND_… */
    uint8_t origin;      /* PERFILE_SYMBOL_SYMTAB … */
    bool open_end;       /* no size is known; `end` is the farthest that it may reach */
    bool plt;            /* entry of a PLT: its name ends with "@plt" */
} pf_sym;

/* From `start` to the next segment the address belongs to a symbol, or to none. */
typedef struct pf_segment {
    uint64_t start;
    uint32_t sym; /* position in pf_symtab.syms; PF_NO_SYM: none */
} pf_segment;

#define PF_NO_SYM UINT32_MAX

/* All zeros, with a budget, is an empty table. */
typedef struct pf_symtab {
    pf_budget *budget;        /* may be NULL */
    struct pf_helper *helper; /* demangles names; may be NULL */
    pf_sym *syms;
    size_t n, cap;
    uint32_t n_added; /* symbols added so far, those removed since included */
    char *names;      /* texts, each with its NUL; an empty one first */
    size_t names_len, names_cap;
    pf_segment *segments; /* by address; made by pf_symtab_index() */
    size_t n_segments, segments_cap;
    const char **shown; /* demangled names by position, NULL: not asked for yet; symbols.c */
} pf_symtab;

/* By which rules symbols get ends and give way to others: table.c. */
enum { PF_RULES_ELF, PF_RULES_KALLSYMS, PF_RULES_PERF_MAP };

/* Bytes of a name, without its NUL.  What is longer is cut where it enters a table, so that nothing
 * that is done with a name costs more than this, and ends with "...". */
enum { PF_SYMBOL_NAME = 4095 };

/* Appends a name and a NUL to the names; *at is its position.  PERFILE_E_LIMIT, also beyond 4 GiB;
 * PERFILE_E_NOMEM. */
perfile_status pf_symtab_text(pf_symtab *t, perfile_bytes text, uint32_t *at);

/* Appends many names as a file has them, each with its NUL; *at is the position of the first.
 * Bytes without a NUL that are more than a name may have become several names. */
perfile_status pf_symtab_texts(pf_symtab *t, perfile_bytes texts, uint32_t *at);

/* Adds a symbol; `order` is set here.  PERFILE_E_LIMIT, PERFILE_E_NOMEM. */
perfile_status pf_symtab_add(pf_symtab *t, pf_sym sym);

/* Sorts what was added, gives ends to symbols without size, and keeps one of those that begin at
 * the same address.  May be called again after more was added. */
void pf_symtab_settle(pf_symtab *t, int rules);

/* Makes the table searchable; after the last pf_symtab_settle().  PERFILE_E_LIMIT, PERFILE_E_NOMEM.
 */
perfile_status pf_symtab_index(pf_symtab *t);

/* The symbol that names `addr`: of those that cover it, the one that begins last.  NULL: none. */
const pf_sym *pf_symtab_find(const pf_symtab *t, uint64_t addr);

/* The first symbol called `name`, or NULL; looks at all of them. */
const pf_sym *pf_symtab_named(const pf_symtab *t, const char *name);

static inline const char *pf_symtab_name(const pf_symtab *t, const pf_sym *s)
{
    return t->names + s->name;
}

void pf_symtab_free(pf_symtab *t);

/* Symbols in text files: kallsyms of the kernel, and perf-PID.map of just-in-time compilers.  Lines
 * that are not of the expected form are passed over. */

/* Adds the functions and objects of `text`, lines "ADDRESS TYPE NAME" or with "[MODULE]" behind
 * them.  Nothing if all addresses are 0: what the kernel shows to those who may not know.
 * PERFILE_E_LIMIT, PERFILE_E_NOMEM. */
perfile_status pf_kallsyms_add(pf_symtab *table, perfile_bytes text);

/* Adds the functions of `text`, lines "START SIZE NAME" in hexadecimal; the name is the rest of the
 * line.  PERFILE_E_LIMIT, PERFILE_E_NOMEM. */
perfile_status pf_perf_map_add(pf_symtab *table, perfile_bytes text);

#endif

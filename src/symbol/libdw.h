/* The functions of libdw and libelf that dwarf.c calls, loaded when the first is needed.
 *
 * Few runs of a program ask for source lines, and libdw brings five libraries with it, which would
 * cost each start of the command a fifth of its time.  So nothing is linked with it; the types are
 * those of its headers. */
#ifndef PF_SYMBOL_LIBDW_H
#define PF_SYMBOL_LIBDW_H

#ifdef PF_HAVE_LIBDW

#include <elfutils/libdw.h>
#include <libelf.h>

#define PF_LIBDW_FUNCTIONS(F)                                                                      \
    F(elf_version)                                                                                 \
    F(elf_begin)                                                                                   \
    F(elf_end)                                                                                     \
    F(dwarf_attr)                                                                                  \
    F(dwarf_begin_elf)                                                                             \
    F(dwarf_child)                                                                                 \
    F(dwarf_dieoffset)                                                                             \
    F(dwarf_end)                                                                                   \
    F(dwarf_filesrc)                                                                               \
    F(dwarf_formref_die)                                                                           \
    F(dwarf_formstring)                                                                            \
    F(dwarf_formudata)                                                                             \
    F(dwarf_getsrc_die)                                                                            \
    F(dwarf_getsrcfiles)                                                                           \
    F(dwarf_hasattr)                                                                               \
    F(dwarf_haspc)                                                                                 \
    F(dwarf_lineno)                                                                                \
    F(dwarf_linesrc)                                                                               \
    F(dwarf_next_unit)                                                                             \
    F(dwarf_offdie)                                                                                \
    F(dwarf_ranges)                                                                                \
    F(dwarf_siblingof)                                                                             \
    F(dwarf_tag)

#define PF_LIBDW_MEMBER(name) __typeof__(name) *name;
typedef struct pf_libdw {
    PF_LIBDW_FUNCTIONS(PF_LIBDW_MEMBER)
} pf_libdw;
#undef PF_LIBDW_MEMBER

/* NULL: it is not installed, or is too old.  Any thread may call it; what it returns stays. */
const pf_libdw *pf_libdw_load(void);

#endif
#endif

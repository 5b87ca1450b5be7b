/* Files with symbols, tables of symbols, and ELF. */
#ifndef PF_SYMBOL_ELF_H
#define PF_SYMBOL_ELF_H

#include "base/alloc.h"
#include "base/cursor.h"
#include "perfile/base.h"

/* Files with symbols, read piece by piece: with pread() instead of a mapping, so that a file that
 * is cut while it is read cannot end the program. */

/* A regular file, or bytes in memory. */
typedef struct pf_symfile {
    int fd;               /* -1: `memory` */
    perfile_bytes memory; /* borrowed */
    uint64_t size;        /* bytes of the file when it was opened */
    uint64_t ino;         /* of a file */
    uint64_t dev_major, dev_minor;
} pf_symfile;

/* A part of a file that was read; pf_piece_free(). */
typedef struct pf_piece {
    uint8_t *ptr;
    size_t len;
    size_t charged; /* bytes charged to the budget */
} pf_piece;

/* Opens `path` for reading if it is a regular file; false otherwise, whatever the reason.  Devices
 * and FIFOs are never opened: paths come from captures. */
bool pf_symfile_open(pf_symfile *f, const char *path);

/* The same inside of a folder, the first `root` bytes of the path: what follows is resolved as if
 * that were the root directory.  0: no folder. */
bool pf_symfile_open_in(pf_symfile *f, const char *path, size_t root);

/* The same for a file in a folder to which everybody may write: no link, a file of root, of the
 * user who runs this or of `owner`, and writable for no one else.  *refused: there is a file, but
 * it does not count because of this, "others may write it"; NULL otherwise. */
bool pf_symfile_open_own(pf_symfile *f, const char *path, size_t root, uint32_t owner,
                         const char **refused);

/* Bytes as a file. */
pf_symfile pf_symfile_memory(perfile_bytes bytes);
void pf_symfile_close(pf_symfile *f);

/* Reads up to `len` bytes at `offset` and returns how many; fewer at the end of the file or after
 * an error. */
size_t pf_symfile_read_at(const pf_symfile *f, uint8_t *to, size_t len, uint64_t offset);

/* Reads `len` bytes at `offset`; a NUL that `len` does not count is put behind them.
 * PERFILE_E_CORRUPT: they are not in the file.  PERFILE_E_LIMIT, PERFILE_E_NOMEM.  *piece is
 * untouched on failure. */
perfile_status pf_symfile_read(const pf_symfile *f, uint64_t offset, uint64_t len,
                               pf_budget *budget, pf_piece *piece);

/* Reads all that there is, also of files whose size is not known before (/proc, /sys), where the
 * size is 0.  Errors as above. */
perfile_status pf_symfile_read_all(const pf_symfile *f, pf_budget *budget, pf_piece *piece);
void pf_piece_free(pf_piece *piece, pf_budget *budget);

static inline perfile_bytes pf_piece_bytes(const pf_piece *p)
{
    return (perfile_bytes){p->ptr, p->len};
}

/* PERFILE_E_LIMIT if the budget refused memory since the last call, otherwise PERFILE_E_NOMEM. */
perfile_status pf_symbol_no_memory(pf_budget *budget);

/* A table of symbols: filled from one file or several parts of it, then searched by address.
 *
 * Symbols overlap, share addresses and have no size.  The rules by which one of them names an
 * address are those of perf, so that both tools print the same function: see table.c. */

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

/* ELF files: headers, sections, segments, build id and debuglink, of either class and byte order.
 *
 * A reader of our own: symbols need a small part of ELF, and the file is hostile input, which
 * everywhere in this library goes through pf_cursor. */

/* Numbers of the ELF specification and of its supplements for processors. */
enum {
    PF_ET_REL = 1,
    PF_EM_SPARC = 2,
    PF_EM_386 = 3,
    PF_EM_PPC64 = 21,
    PF_EM_ARM = 40,
    PF_EM_SPARCV9 = 43,
    PF_EM_X86_64 = 62,
    PF_EM_AARCH64 = 183,
    PF_EM_RISCV = 243,
    PF_SHT_SYMTAB = 2,
    PF_SHT_RELA = 4,
    PF_SHT_NOTE = 7,
    PF_SHT_NOBITS = 8,
    PF_SHT_DYNSYM = 11,
    PF_PT_LOAD = 1,
    PF_PT_NOTE = 4,
    PF_SEGMENT_EXECUTABLE = 1
};

/* A section header. */
typedef struct pf_elf_section {
    uint32_t name; /* position in pf_elf.names */
    uint32_t type, link, info;
    uint64_t flags; /* SHF_… */
    uint64_t addr, offset, size, entsize;
} pf_elf_section;

/* A program header. */
typedef struct pf_elf_segment {
    uint32_t type, flags; /* PT_…, PF_… of ELF: 1 is executable */
    uint64_t offset, vaddr, filesz, memsz;
} pf_elf_segment;

/* What pf_elf_open() reads; pf_elf_close(). */
typedef struct pf_elf {
    const pf_symfile *file; /* borrowed */
    pf_budget *budget;      /* borrowed, may be NULL */
    bool swap, is64;
    uint16_t type, machine; /* ET_…, EM_… */
    pf_elf_section *sections;
    size_t n_sections;
    pf_elf_segment *segments;
    size_t n_segments;
    pf_piece names; /* of sections */
    uint8_t build_id[20];
    uint8_t build_id_size; /* 0: none */
} pf_elf;

/* PERFILE_E_CORRUPT: no ELF file, or its headers lie outside of it.  PERFILE_E_LIMIT,
 * PERFILE_E_NOMEM.  *elf holds nothing on failure. */
perfile_status pf_elf_open(pf_elf *elf, const pf_symfile *file, pf_budget *budget);
void pf_elf_close(pf_elf *elf);

/* The build id among notes as ELF files and /sys/kernel/notes have them: its size, 0 if there is
 * none. */
uint8_t pf_build_id_of_notes(perfile_bytes notes, bool swap, uint8_t id[20]);

/* The name of a section; never NULL. */
const char *pf_elf_section_name(const pf_elf *elf, const pf_elf_section *section);

/* The first section called `name` that has bytes in the file, or NULL. */
const pf_elf_section *pf_elf_section_named(const pf_elf *elf, const char *name);

/* The first section of a type, or NULL. */
const pf_elf_section *pf_elf_section_of_type(const pf_elf *elf, uint32_t type);

/* The contents of a section, not inflated.  PERFILE_E_CORRUPT: it has none, or they lie outside of
 * the file. */
perfile_status pf_elf_read_section(const pf_elf *elf, const pf_elf_section *section,
                                   pf_piece *piece);

/* The file name and CRC-32 in .gnu_debuglink.  PERFILE_E_CORRUPT: there is none, or no plain file
 * name shorter than `size`.  PERFILE_E_LIMIT, PERFILE_E_NOMEM. */
perfile_status pf_elf_debuglink(const pf_elf *elf, char *name, size_t size, uint32_t *crc);

/* Adds the functions, objects and labels of .symtab or .dynsym (`section`) to `table`, by virtual
 * address; `origin` says where they are from.  PERFILE_E_CORRUPT, PERFILE_E_LIMIT,
 * PERFILE_E_NOMEM. */
perfile_status pf_elf_add_symbols(const pf_elf *elf, const pf_elf_section *section, uint8_t origin,
                                  pf_symtab *table);

/* Adds the entries of the procedure linkage table.  Errors as above. */
perfile_status pf_elf_add_plt(const pf_elf *elf, pf_symtab *table);

/* A number of the class's size of address, in the byte order of the file. */
static inline uint64_t pf_elf_word(const pf_elf *elf, pf_cursor *c)
{
    return elf->is64 ? pf_cur_u64(c) : pf_cur_u32(c);
}

/* Reads a NUL-terminated text at `at` of a string table whose piece ends with a NUL; an empty one
 * if `at` lies outside. */
static inline const char *pf_elf_text(const pf_piece *strings, uint64_t at)
{
    return at < strings->len ? (const char *)strings->ptr + at : "";
}

#endif

/* Reading files that have symbols, tables of symbols, and ELF files. */
#ifndef PF_SYMBOL_ELF_H
#define PF_SYMBOL_ELF_H

#include "base/alloc.h"
#include "base/cursor.h"
#include "perfile/base.h"

/* Files are read in pieces with pread() instead of being mapped: a file that is truncated while it
 * is read cannot crash the program. */

/* A regular file, or bytes in memory. */
typedef struct pf_symfile {
    int fd;               /* -1: `memory` */
    perfile_bytes memory; /* borrowed */
    uint64_t size;        /* size of the file when it was opened */
    uint64_t ino;         /* 0 for `memory` */
    uint64_t dev_major, dev_minor;
} pf_symfile;

/* A part of a file that was read.  Release it with pf_piece_free(). */
typedef struct pf_piece {
    uint8_t *ptr;
    size_t len;
    size_t charged; /* bytes charged to the budget */
} pf_piece;

/* Opens `path` for reading.  Returns false if it is not a readable regular file.  Devices and FIFOs
 * are never opened, because paths come from captures. */
bool pf_symfile_open(pf_symfile *f, const char *path);

/* Like pf_symfile_open(), but the first `root` bytes of the path are a folder, and the rest is
 * resolved as if that folder were the root directory. 0: no folder. */
bool pf_symfile_open_in(pf_symfile *f, const char *path, size_t root);

/* Like pf_symfile_open_in(), for a folder that everybody may write to.  The file must not be a
 * link, must belong to root, to the user who runs this program or to `owner`, and must not be
 * writable for anyone else.  *refused is the reason if a file exists but is refused for this, such
 * as "every user may write it"; otherwise NULL. */
bool pf_symfile_open_own(pf_symfile *f, const char *path, size_t root, uint32_t owner,
                         const char **refused);

/* Makes a pf_symfile from bytes in memory. */
pf_symfile pf_symfile_memory(perfile_bytes bytes);
void pf_symfile_close(pf_symfile *f);

/* Reads up to `len` bytes at `offset`.  Returns how many were read: fewer at the end of the file or
 * after an error. */
size_t pf_symfile_read_at(const pf_symfile *f, uint8_t *to, size_t len, uint64_t offset);

/* Reads `len` bytes at `offset` and appends a NUL, which is not counted.  PERFILE_E_CORRUPT: the
 * range is not in the file.  PERFILE_E_LIMIT, PERFILE_E_NOMEM.  *piece is unchanged on failure. */
perfile_status pf_symfile_read(const pf_symfile *f, uint64_t offset, uint64_t len,
                               pf_budget *budget, pf_piece *piece);

/* Reads the whole file, including files that report a size of 0 (/proc, /sys).  Errors as above. */
perfile_status pf_symfile_read_all(const pf_symfile *f, pf_budget *budget, pf_piece *piece);
void pf_piece_free(pf_piece *piece, pf_budget *budget);

static inline perfile_bytes pf_piece_bytes(const pf_piece *p)
{
    return (perfile_bytes){p->ptr, p->len};
}

/* Returns PERFILE_E_LIMIT if the budget refused memory since the last call, otherwise
 * PERFILE_E_NOMEM. */
perfile_status pf_symbol_no_memory(pf_budget *budget);

/* A table of symbols.  It is filled from one file, or from several parts of it, and then searched
 * by address.
 *
 * Symbols may overlap, share addresses or have no size. table.c picks the symbol that names an
 * address by perf's rules, so that both tools print the same function. */

enum { PF_BIND_LOCAL, PF_BIND_GLOBAL, PF_BIND_WEAK };

/* A symbol.  Texts are offsets in pf_symtab.names. */
typedef struct pf_sym {
    uint64_t start, end; /* equal: no size, and another symbol begins here */
    uint32_t name;       /* as stored */
    uint32_t module;     /* the kernel module that has it; 0: none */
    uint32_t order;      /* the number of symbols that were added before it */
    uint8_t binding;     /* PF_BIND_… */
    uint8_t origin;      /* PERFILE_SYMBOL_SYMTAB … */
    bool open_end;       /* the size is not known; `end` is the upper limit */
    bool plt;            /* an entry of a PLT: its name ends with "@plt" */
} pf_sym;

/* All addresses from `start` to the next segment belong to the same symbol, or to none. */
typedef struct pf_segment {
    uint64_t start;
    uint32_t sym; /* index in pf_symtab.syms; PF_NO_SYM: none */
} pf_segment;

#define PF_NO_SYM UINT32_MAX

/* A table is empty if all members but `budget` are zeros. */
typedef struct pf_symtab {
    pf_budget *budget;        /* may be NULL */
    struct pf_helper *helper; /* demangles names; may be NULL */
    pf_sym *syms;
    size_t n, cap;
    uint32_t n_added; /* symbols added so far, including those removed since */
    char *names;      /* NUL-terminated texts; the first one is empty */
    size_t names_len, names_cap;
    pf_segment *segments; /* by address; filled by pf_symtab_index() */
    size_t n_segments, segments_cap;
    const char **shown; /* demangled names by index, NULL until requested; symbols.c */
} pf_symtab;

/* Rule sets for the ends of symbols and for the choice between symbols at the same address; see
 * table.c. */
enum { PF_RULES_ELF, PF_RULES_KALLSYMS, PF_RULES_PERF_MAP };

/* Longest name in bytes, without its NUL.  A longer name is cut when it is added, and then ends
 * with "...".  So the cost of any operation on a name is bounded. */
enum { PF_SYMBOL_NAME = 4095 };

/* Appends a name and a NUL to the names, and sets *at to its offset.  PERFILE_E_LIMIT, also beyond
 * 4 GiB; PERFILE_E_NOMEM. */
perfile_status pf_symtab_text(pf_symtab *t, perfile_bytes text, uint32_t *at);

/* Appends a file's string table of NUL-terminated names, and sets *at to the offset of the first.
 * A run of bytes without a NUL that is longer than a name may be split into several names. */
perfile_status pf_symtab_texts(pf_symtab *t, perfile_bytes texts, uint32_t *at);

/* Adds a symbol and sets its `order`.  PERFILE_E_LIMIT, PERFILE_E_NOMEM. */
perfile_status pf_symtab_add(pf_symtab *t, pf_sym sym);

/* Sorts the symbols, gives ends to those without size, and keeps one of those that begin at the
 * same address.  May be called again after more symbols were added. */
void pf_symtab_settle(pf_symtab *t, int rules);

/* Makes the table searchable.  Call it after the last pf_symtab_settle().  PERFILE_E_LIMIT,
 * PERFILE_E_NOMEM. */
perfile_status pf_symtab_index(pf_symtab *t);

/* Returns the symbol that covers `addr`; if several do, the one that begins last.  NULL if none
 * does. */
const pf_sym *pf_symtab_find(const pf_symtab *t, uint64_t addr);

/* Returns the first symbol with this name, or NULL.  This is a linear search. */
const pf_sym *pf_symtab_named(const pf_symtab *t, const char *name);

static inline const char *pf_symtab_name(const pf_symtab *t, const pf_sym *s)
{
    return t->names + s->name;
}

void pf_symtab_free(pf_symtab *t);

/* Parsers of text files with symbols: kallsyms of the kernel, and perf-PID.map of just-in-time
 * compilers.  Lines of any other form are skipped. */

/* Adds the functions and objects of `text`, which has lines "ADDRESS TYPE NAME", optionally
 * followed by "[MODULE]".  Adds nothing if all addresses are 0, as the kernel shows them to users
 * without permission.  PERFILE_E_LIMIT, PERFILE_E_NOMEM. */
perfile_status pf_kallsyms_add(pf_symtab *table, perfile_bytes text);

/* Adds the functions of `text`, which has lines "START SIZE NAME" with hexadecimal numbers.  The
 * name is the rest of the line.  PERFILE_E_LIMIT, PERFILE_E_NOMEM. */
perfile_status pf_perf_map_add(pf_symtab *table, perfile_bytes text);

/* ELF files: headers, sections, segments, build id and debuglink, for both classes and byte orders.
 *
 * This project has its own ELF reader because symbols need only a small part of ELF, and the file
 * is hostile input, which this library always reads through pf_cursor. */

/* Numbers from the ELF specification and its processor supplements. */
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
    uint32_t name; /* offset in pf_elf.names */
    uint32_t type, link, info;
    uint64_t flags; /* SHF_… */
    uint64_t addr, offset, size, entsize;
} pf_elf_section;

/* A program header. */
typedef struct pf_elf_segment {
    uint32_t type, flags; /* PT_… and PF_… of ELF; flag 1: executable */
    uint64_t offset, vaddr, filesz, memsz;
} pf_elf_segment;

/* Filled by pf_elf_open().  Release it with pf_elf_close(). */
typedef struct pf_elf {
    const pf_symfile *file; /* borrowed */
    pf_budget *budget;      /* borrowed, may be NULL */
    bool swap, is64;
    uint16_t type, machine; /* ET_…, EM_… */
    pf_elf_section *sections;
    size_t n_sections;
    pf_elf_segment *segments;
    size_t n_segments;
    pf_piece names; /* section names */
    uint8_t build_id[20];
    uint8_t build_id_size; /* 0: none */
} pf_elf;

/* Reads the headers.  PERFILE_E_CORRUPT: not an ELF file, or its headers are not within the file.
 * PERFILE_E_LIMIT, PERFILE_E_NOMEM.  *elf owns nothing on failure. */
perfile_status pf_elf_open(pf_elf *elf, const pf_symfile *file, pf_budget *budget);
void pf_elf_close(pf_elf *elf);

/* Finds the build id in the notes of an ELF file or of /sys/kernel/notes.  Returns its size, 0 if
 * there is none. */
uint8_t pf_build_id_of_notes(perfile_bytes notes, bool swap, uint8_t id[20]);

/* Returns the name of a section, never NULL. */
const char *pf_elf_section_name(const pf_elf *elf, const pf_elf_section *section);

/* Returns the first section with this name that has bytes in the file, or NULL. */
const pf_elf_section *pf_elf_section_named(const pf_elf *elf, const char *name);

/* Returns the first section of a type, or NULL. */
const pf_elf_section *pf_elf_section_of_type(const pf_elf *elf, uint32_t type);

/* Reads the stored bytes of a section; compressed ones are not inflated.  PERFILE_E_CORRUPT: it has
 * no bytes, or they are not within the file. */
perfile_status pf_elf_read_section(const pf_elf *elf, const pf_elf_section *section,
                                   pf_piece *piece);

/* Reads the file name and CRC-32 of .gnu_debuglink.  PERFILE_E_CORRUPT: there is none, or the name
 * contains a slash or does not fit in `size` bytes.  PERFILE_E_LIMIT, PERFILE_E_NOMEM. */
perfile_status pf_elf_debuglink(const pf_elf *elf, char *name, size_t size, uint32_t *crc);

/* Adds the functions, objects and labels of .symtab or .dynsym (`section`) to `table`, with their
 * virtual addresses.  `origin` is stored in each symbol.  PERFILE_E_CORRUPT, PERFILE_E_LIMIT,
 * PERFILE_E_NOMEM. */
perfile_status pf_elf_add_symbols(const pf_elf *elf, const pf_elf_section *section, uint8_t origin,
                                  pf_symtab *table);

/* Adds the entries of the procedure linkage table.  Errors as above. */
perfile_status pf_elf_add_plt(const pf_elf *elf, pf_symtab *table);

/* Reads a word of 4 or 8 bytes, by the class of the file. */
static inline uint64_t pf_elf_word(const pf_elf *elf, pf_cursor *c)
{
    return elf->is64 ? pf_cur_u64(c) : pf_cur_u32(c);
}

/* Returns the NUL-terminated text at offset `at` of a string table.  Returns an empty text if `at`
 * is out of range. */
static inline const char *pf_elf_text(const pf_piece *strings, uint64_t at)
{
    return at < strings->len ? (const char *)strings->ptr + at : "";
}

#endif

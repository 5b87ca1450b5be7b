/* ELF files: headers, sections, segments, build id and debuglink, of either class and byte order.
 *
 * A reader of our own: symbols need a small part of ELF, and the file is hostile input, which
 * everywhere in this library goes through pf_cursor. */
#ifndef PF_SYMBOL_ELF_H
#define PF_SYMBOL_ELF_H

#include "base/cursor.h"
#include "symbol/table.h"

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

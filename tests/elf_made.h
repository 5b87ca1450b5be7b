/* Small ELF files of either class and byte order: .text from ELF_BASE on, a symbol table, a build
 * id, and, if wanted, a procedure linkage table. */
#ifndef TESTS_ELF_MADE_H
#define TESTS_ELF_MADE_H

#include "builder.h"

/* The only segment: this address is offset 0 in the file. */
#define ELF_BASE UINT64_C(0x400000)
enum {
    ELF_SEGMENT = 0x10000,
    ELF_PLT = 0x4000,
    ELF_PLT_SEC = 0x6000,
    ELF_OPD = 0x8000,
    ELF_LOCAL_FUNC = 0x02,
    ELF_GLOBAL_FUNC = 0x12,
    ELF_WEAK_FUNC = 0x22
};

typedef struct elf_symbol {
    const char *name;
    uint64_t value, size; /* value: from ELF_BASE on */
    uint8_t info;         /* binding and type */
} elf_symbol;

typedef struct elf_made {
    bool is64, big;
    bool bare;               /* stripped: no symbol table */
    uint16_t type, machine;  /* 0: EXEC, x86-64 */
    const uint8_t *build_id; /* of 20 bytes; NULL: none */
    const elf_symbol *symbols;
    size_t n;
    /* The symbols of the entries of the PLT, from 1 on; 0: of an IFUNC.  Symbols are dynamic, too.
     */
    const uint32_t *plt;
    size_t n_plt;
    uint64_t plt_head, plt_width; /* bytes before the entries, and of each */
    uint64_t plt_entsize;         /* what the header of the section says */
    bool rel;                     /* .rel.plt instead of .rela.plt */
    bool second;                  /* .plt.sec, too */
    bool undynamic;               /* the relocations refer to .symtab, as in static programs */
    /* Instead of the note: .gnu_debuglink, or .opd at ELF_OPD with all symbols in it; its bytes. */
    bool has_link, has_opd;
    uint8_t own[36];
} elf_made;

static inline void elf_word(builder *b, bool is64, uint64_t v)
{
    if (is64)
        build_u64(b, v);
    else
        build_u32(b, (uint32_t)v);
}

static inline void elf_section(builder *b, bool is64, uint32_t name, uint32_t type, uint64_t addr,
                               uint64_t offset, uint64_t size, uint32_t link, uint64_t entsize)
{
    build_u32(b, name);
    build_u32(b, type);
    elf_word(b, is64, 0);
    elf_word(b, is64, addr);
    elf_word(b, is64, offset);
    elf_word(b, is64, size);
    build_u32(b, link);
    build_u32(b, 0);
    elf_word(b, is64, 1);
    elf_word(b, is64, entsize);
}

static inline void elf_symbols(builder *b, const elf_made *m)
{
    uint32_t name = 1;
    build_zeros(b, m->is64 ? 24 : 16);
    for (size_t i = 0; i < m->n; i++) {
        const elf_symbol *s = &m->symbols[i];
        build_u32(b, name);
        if (!m->is64) {
            build_u32(b, (uint32_t)(ELF_BASE + s->value));
            build_u32(b, (uint32_t)s->size);
        }
        build_u8(b, s->info);
        build_u8(b, 0);
        build_u16(b, m->has_opd ? 5 : 1); /* .opd, .text */
        if (m->is64) {
            build_u64(b, ELF_BASE + s->value);
            build_u64(b, s->size);
        }
        name += (uint32_t)strlen(s->name) + 1;
    }
}

/* Bytes of the relocations of the PLT. */
static inline size_t elf_relocations(const elf_made *m)
{
    return m->n_plt * (m->is64 ? 8 : 4) * (m->rel ? 2 : 3);
}

static inline void elf_relocate(builder *b, const elf_made *m)
{
    for (size_t i = 0; i < m->n_plt; i++) {
        elf_word(b, m->is64, ELF_BASE + 0x8000 + i * 8);
        elf_word(b, m->is64, m->is64 ? (uint64_t)m->plt[i] << 32 | 7 : m->plt[i] << 8 | 7);
        if (!m->rel)
            elf_word(b, m->is64, 0);
    }
}

/* The headers of .dynsym, which are the bytes of .symtab, .plt, .rela.plt and .plt.sec. */
static inline void elf_plt_sections(builder *b, const elf_made *m, size_t symtab, size_t size,
                                    size_t relocations)
{
    const bool w = m->is64;
    const uint64_t plt = m->plt_head + m->n_plt * m->plt_width;
    elf_section(b, w, 1, 11, 0, symtab, size, 3, w ? 24 : 16);
    elf_section(b, w, 29, 1, ELF_BASE + ELF_PLT, ELF_PLT, plt, 0, m->plt_entsize);
    elf_section(b, w, m->rel ? 44 : 34, m->rel ? 9 : 4, 0, relocations, elf_relocations(m),
                m->undynamic ? 2 : 6, 0);
    elf_section(b, w, m->second ? 53 : 1, 1, ELF_BASE + ELF_PLT_SEC, ELF_PLT_SEC,
                m->n_plt * m->plt_width, 0, m->plt_entsize);
}

/* Appends the file to `b`, which is empty. */
static inline void elf_make(builder *b, const elf_made *m)
{
    static const char names[] = "\0.text\0.symtab\0.strtab\0.note\0.plt\0.rela.plt\0.rel.plt\0"
                                ".plt.sec\0.gnu_debuglink\0.opd\0";
    const bool w = m->is64;
    const size_t header = w ? 64 : 52, segment = w ? 56 : 32, sections = m->n_plt ? 9 : 5;
    size_t symtab = header + segment, strings = symtab + (m->n + 1) * (w ? 24 : 16), length = 1;
    for (size_t i = 0; i < m->n; i++)
        length += strlen(m->symbols[i].name) + 1;
    const size_t shstr = strings + length, note = (shstr + sizeof names + 3) & ~(size_t)3;
    const size_t relocations = note + 36, table = relocations + elf_relocations(m);
    b->swap = m->big != (bool)PF_NATIVE_BIG;
    build_bytes(b, "\177ELF", 4);
    build_u8(b, w ? 2 : 1);
    build_u8(b, m->big ? 2 : 1);
    build_u8(b, 1);
    build_zeros(b, 9);
    build_u16(b, m->type ? m->type : 2);
    build_u16(b, m->machine ? m->machine : 62);
    build_u32(b, 1);
    elf_word(b, w, ELF_BASE);
    elf_word(b, w, header);
    elf_word(b, w, table);
    build_u32(b, 0);
    build_u16(b, (uint16_t)header);
    build_u16(b, (uint16_t)segment);
    build_u16(b, 1);
    build_u16(b, w ? 64 : 40);
    build_u16(b, (uint16_t)(sections + 1));
    build_u16(b, 4); /* names of sections */
    build_u32(b, 1); /* PT_LOAD */
    if (w)
        build_u32(b, 5);
    elf_word(b, w, 0);
    elf_word(b, w, ELF_BASE);
    elf_word(b, w, ELF_BASE);
    elf_word(b, w, ELF_SEGMENT);
    elf_word(b, w, ELF_SEGMENT);
    if (!w)
        build_u32(b, 5);
    elf_word(b, w, 0x1000);
    elf_symbols(b, m);
    build_u8(b, 0);
    for (size_t i = 0; i < m->n; i++)
        build_bytes(b, m->symbols[i].name, strlen(m->symbols[i].name) + 1);
    build_bytes(b, names, sizeof names);
    build_zeros(b, note - b->b.len);
    if (m->has_link || m->has_opd) {
        build_bytes(b, m->own, sizeof m->own);
    } else {
        build_u32(b, 4);
        build_u32(b, 20);
        build_u32(b, 3);
        build_bytes(b, "GNU", 4);
        build_bytes(b, m->build_id ? m->build_id : (const uint8_t[20]){0}, 20);
    }
    elf_relocate(b, m);
    elf_section(b, w, 0, 0, 0, 0, 0, 0, 0);
    elf_section(b, w, 1, 1, ELF_BASE, 0, ELF_SEGMENT, 0, 0);
    elf_section(b, w, 7, m->bare ? 1 : 2, 0, symtab, strings - symtab, 3, w ? 24 : 16);
    elf_section(b, w, 15, 3, 0, strings, length, 0, 0);
    elf_section(b, w, 1, 3, 0, shstr, sizeof names, 0, 0);
    elf_section(b, w,
                m->has_link  ? 62
                : m->has_opd ? 77
                             : 23,
                m->build_id ? 7 : 1, m->has_opd ? ELF_BASE + ELF_OPD : 0, note, 36, 0, 0);
    if (m->n_plt)
        elf_plt_sections(b, m, symtab, strings - symtab, relocations);
}

#endif

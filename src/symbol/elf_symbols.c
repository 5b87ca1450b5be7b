/* Symbols of ELF files: which entries of .symtab and .dynsym count, and what PLT entries are
 * called.
 *
 * What counts is what counts for perf (tools/perf/util/symbol-elf.c, 6.1), because a symbol without
 * size reaches to the next one: functions, objects, and labels (entries without a type) in sections
 * whose name has "text" or "data".  Not what is undefined, absolute, hidden (of labels) or, on
 * ARM, aarch64 and RISC-V, marks where code and data begin ($x, $d). */
#include <stdio.h>
#include <string.h>

#include "perfile/symbol.h"
#include "symbol/elf.h"

enum {
    STT_NOTYPE = 0,
    STT_OBJECT = 1,
    STT_FUNC = 2,
    STT_GNU_IFUNC = 10,
    STB_GLOBAL = 1,
    STB_WEAK = 2,
    STV_INTERNAL = 1,
    STV_HIDDEN = 2,
    SHN_UNDEF = 0,
    SHN_ABS = 0xfff1,
    PLT_NAME = 4096,   /* longest name of a PLT entry that is kept */
    SECTION_NAME = 128 /* bytes of a section's name that are looked at */
};

/* An entry of a symbol table. */
typedef struct entry {
    uint32_t name;
    uint8_t type, binding, visibility;
    uint16_t section;
    uint64_t value, size;
} entry;

static size_t entry_width(const pf_elf *e)
{
    return e->is64 ? 24 : 16;
}

static entry read_entry(const pf_elf *e, pf_cursor *c)
{
    entry s;
    s.name = pf_cur_u32(c);
    if (!e->is64) {
        s.value = pf_cur_u32(c);
        s.size = pf_cur_u32(c);
    }
    uint8_t info = pf_cur_u8(c);
    s.type = info & 15;
    s.binding = info >> 4;
    s.visibility = pf_cur_u8(c) & 3;
    s.section = pf_cur_u16(c);
    if (e->is64) {
        s.value = pf_cur_u64(c);
        s.size = pf_cur_u64(c);
    }
    return s;
}

/* $a, $d, $t, $x, alone or with a suffix behind a dot. */
static bool is_mapping_symbol(const pf_elf *e, const char *name)
{
    if (e->machine != PF_EM_ARM && e->machine != PF_EM_AARCH64 && e->machine != PF_EM_RISCV)
        return false;
    return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

/* Labels count in sections of code and data.  Only the beginning of a section's name is looked at:
 * it is hostile, and this is asked for each label. */
static bool has_labels(const pf_elf *e, const pf_elf_section *section)
{
    char name[SECTION_NAME + 1];
    snprintf(name, sizeof name, "%.*s", SECTION_NAME, pf_elf_section_name(e, section));
    return strstr(name, "text") || strstr(name, "data");
}

static bool counts(const pf_elf *e, const entry *s, const char *name)
{
    if (!name[0] || s->section == SHN_UNDEF || s->section == SHN_ABS || is_mapping_symbol(e, name))
        return false;
    if (s->type == STT_FUNC || s->type == STT_GNU_IFUNC || s->type == STT_OBJECT)
        return true;
    if (s->type != STT_NOTYPE || s->visibility == STV_HIDDEN || s->visibility == STV_INTERNAL ||
        s->section >= e->n_sections)
        return false;
    return has_labels(e, &e->sections[s->section]);
}

/* The function descriptors of the first ABI of 64-bit PowerPC: symbols point there, and the first
 * word of a descriptor to the code. */
typedef struct descriptors {
    const pf_elf_section *section; /* NULL: there are none */
    pf_piece bytes;
} descriptors;

static uint64_t code_of(const pf_elf *e, const descriptors *d, const entry *s)
{
    if (!d->section || s->section != (size_t)(d->section - e->sections) ||
        s->value < d->section->addr || s->value - d->section->addr >= d->bytes.len)
        return s->value;
    size_t at = (size_t)(s->value - d->section->addr);
    pf_cursor c = pf_cur((perfile_bytes){d->bytes.ptr + at, d->bytes.len - at}, e->swap);
    uint64_t code = pf_cur_u64(&c);
    return c.bad ? s->value : code;
}

/* The end of the section that a symbol is in. */
static uint64_t section_end(const pf_elf *e, const entry *s, uint64_t addr)
{
    uint64_t end;
    if (s->section >= e->n_sections)
        return UINT64_MAX;
    const pf_elf_section *section = &e->sections[s->section];
    if (addr < section->addr || pf_add_u64(section->addr, section->size, &end) || addr >= end)
        return UINT64_MAX; /* of a function descriptor, or damaged */
    return end;
}

static perfile_status add_entry(const pf_elf *e, const entry *s, const descriptors *d,
                                uint32_t name, uint8_t origin, pf_symtab *table)
{
    pf_sym sym = {.start = code_of(e, d, s), .name = name, .origin = origin};
    if (e->machine == PF_EM_ARM && s->type == STT_FUNC)
        sym.start &= ~UINT64_C(1); /* the lowest bit says Thumb */
    if (pf_add_u64(sym.start, s->size, &sym.end))
        return PERFILE_OK;
    if (!s->size) {
        sym.open_end = true;
        sym.end = section_end(e, s, sym.start);
    }
    sym.binding = s->binding == STB_WEAK     ? PF_BIND_WEAK
                  : s->binding == STB_GLOBAL ? PF_BIND_GLOBAL
                                             : PF_BIND_LOCAL;
    return pf_symtab_add(table, sym);
}

/* The names of the table become names of ours as a whole: most of them are needed. */
static perfile_status add_entries(const pf_elf *e, const pf_piece *entries, const pf_piece *names,
                                  const descriptors *d, uint8_t origin, pf_symtab *table)
{
    uint32_t base;
    size_t width = entry_width(e);
    perfile_status st = pf_symtab_texts(table, pf_piece_bytes(names), &base);
    pf_cursor c = pf_cur(pf_piece_bytes(entries), e->swap);
    while (st == PERFILE_OK && pf_cur_left(&c) >= width) {
        entry s = read_entry(e, &c);
        if (counts(e, &s, pf_elf_text(names, s.name)))
            st = add_entry(e, &s, d, base + s.name, origin, table);
    }
    return st;
}

/* Reads a symbol table and its names. */
static perfile_status read_symbols(const pf_elf *e, const pf_elf_section *s, pf_piece *entries,
                                   pf_piece *names)
{
    if (s->link >= e->n_sections)
        return PERFILE_E_CORRUPT;
    perfile_status st = pf_elf_read_section(e, s, entries);
    if (st == PERFILE_OK)
        st = pf_elf_read_section(e, &e->sections[s->link], names);
    return st;
}

perfile_status pf_elf_add_symbols(const pf_elf *e, const pf_elf_section *section, uint8_t origin,
                                  pf_symtab *table)
{
    pf_piece entries = {0}, names = {0};
    descriptors d = {0};
    perfile_status st = read_symbols(e, section, &entries, &names);
    if (st == PERFILE_OK && e->machine == PF_EM_PPC64 &&
        (d.section = pf_elf_section_named(e, ".opd")) != NULL) {
        st = pf_elf_read_section(e, d.section, &d.bytes);
        if (st == PERFILE_E_CORRUPT) {
            d.section = NULL;
            st = PERFILE_OK;
        }
    }
    if (st == PERFILE_OK)
        st = add_entries(e, &entries, &names, &d, origin, table);
    pf_piece_free(&d.bytes, e->budget);
    pf_piece_free(&names, e->budget);
    pf_piece_free(&entries, e->budget);
    return st;
}

/* How a PLT is laid out: bytes in front of the entries, and of each of them. */
static void plt_layout(const pf_elf *e, const pf_elf_section *plt, uint64_t *head, uint64_t *width)
{
    switch (e->machine) {
    case PF_EM_ARM:
        *head = 20, *width = 12;
        return;
    case PF_EM_AARCH64:
        *head = 32, *width = 16;
        return;
    case PF_EM_SPARC:
        *head = 48, *width = 12;
        return;
    case PF_EM_SPARCV9:
        *head = 128, *width = 32;
        return;
    case PF_EM_386:
    case PF_EM_X86_64:
        *head = *width = 16; /* also where the section says 0 or 4 */
        return;
    default:
        *head = *width = plt->entsize;
    }
}

/* The number of the symbol of the next relocation. */
static uint64_t relocation_symbol(const pf_elf *e, pf_cursor *c, bool addend)
{
    pf_elf_word(e, c); /* r_offset */
    uint64_t info = pf_elf_word(e, c);
    if (addend)
        pf_elf_word(e, c);
    return e->is64 ? info >> 32 : info >> 8;
}

/* `left`: bytes of names that the file can still have. */
static perfile_status add_plt_entry(const char *name, pf_sym sym, size_t *left, pf_symtab *table)
{
    char text[PLT_NAME];
    int n = snprintf(text, sizeof text, "%s@plt", name);
    if (n < 0 || (size_t)n >= sizeof text || (size_t)n > *left)
        return PERFILE_OK;
    *left -= (size_t)n;
    perfile_status st =
        pf_symtab_text(table, (perfile_bytes){(const uint8_t *)text, (size_t)n}, &sym.name);
    return st == PERFILE_OK ? pf_symtab_add(table, sym) : st;
}

/* The relocations of a PLT are in the order of its entries. */
static perfile_status add_plt_entries(const pf_elf *e, const pf_elf_section *plt, uint64_t head,
                                      uint64_t width, perfile_bytes relocations, bool addend,
                                      const pf_piece *entries, const pf_piece *names,
                                      pf_symtab *table)
{
    perfile_status st = PERFILE_OK;
    /* Each relocation has a symbol of its own: together their names are no longer than what the
     * file has of names and relocations. */
    size_t left = names->len + relocations.len;
    pf_cursor c = pf_cur(relocations, e->swap);
    for (uint64_t at = head; st == PERFILE_OK && pf_within(at, width, plt->size); at += width) {
        uint64_t number = relocation_symbol(e, &c, addend);
        uint64_t offset = number * entry_width(e); /* number < 2^32 */
        pf_sym sym = {.origin = PERFILE_SYMBOL_PLT, .binding = PF_BIND_GLOBAL, .plt = true};
        if (c.bad)
            break;
        if (!number || offset >= entries->len || pf_add_u64(plt->addr, at, &sym.start) ||
            pf_add_u64(sym.start, width, &sym.end))
            continue; /* of an IFUNC, which has no name */
        pf_cursor one =
            pf_cur((perfile_bytes){entries->ptr + offset, entries->len - (size_t)offset}, e->swap);
        const char *name = pf_elf_text(names, read_entry(e, &one).name);
        if (one.bad || !name[0])
            continue;
        st = add_plt_entry(name, sym, &left, table);
    }
    return st;
}

perfile_status pf_elf_add_plt(const pf_elf *e, pf_symtab *table)
{
    pf_piece entries = {0}, names = {0}, relocations = {0};
    const pf_elf_section *rel = pf_elf_section_named(e, ".rela.plt");
    rel = rel ? rel : pf_elf_section_named(e, ".rel.plt");
    const pf_elf_section *plt = pf_elf_section_named(e, ".plt");
    /* Of programs for indirect branch tracking: what is called, and no head. */
    const pf_elf_section *second = pf_elf_section_named(e, ".plt.sec");
    if (!rel || !plt || rel->link >= e->n_sections)
        return PERFILE_OK;
    perfile_status st = read_symbols(e, &e->sections[rel->link], &entries, &names);
    if (st == PERFILE_OK)
        st = pf_elf_read_section(e, rel, &relocations);
    uint64_t head, width;
    plt_layout(e, plt, &head, &width);
    bool addend = rel->type == PF_SHT_RELA;
    if (st == PERFILE_OK && width)
        st = add_plt_entries(e, plt, head, width, pf_piece_bytes(&relocations), addend, &entries,
                             &names, table);
    if (st == PERFILE_OK && width && second)
        st = add_plt_entries(e, second, 0, width, pf_piece_bytes(&relocations), addend, &entries,
                             &names, table);
    pf_piece_free(&relocations, e->budget);
    pf_piece_free(&names, e->budget);
    pf_piece_free(&entries, e->budget);
    return st;
}

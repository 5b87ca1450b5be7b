/* Headers of ELF files. */
#include "symbol/elf.h"

#include <string.h>

enum {
    IDENT = 16,      /* bytes of e_ident */
    HEADER = 64,     /* of the larger class */
    XINDEX = 0xffff, /* e_shstrndx: the number is in section 0 */
    NOTES = 1 << 20, /* longest notes that are searched for the build id */
    MOST_HEADERS = 1 << 20,
    NT_GNU_BUILD_ID = 3
};

/* Of the ELF header: where the tables are. */
typedef struct tables {
    uint64_t phoff, shoff;
    uint16_t phentsize, phnum, shentsize, shnum, shstrndx;
} tables;

/* PERFILE_E_CORRUPT: no ELF header. */
static perfile_status read_header(pf_elf *e, tables *t)
{
    pf_piece p;
    uint64_t len = e->file->size < HEADER ? e->file->size : HEADER;
    perfile_status st = pf_symfile_read(e->file, 0, len, e->budget, &p);
    if (st != PERFILE_OK)
        return st;
    pf_cursor c = pf_cur(pf_piece_bytes(&p), false);
    perfile_bytes ident = pf_cur_span(&c, IDENT);
    bool ok = !c.bad && memcmp(ident.ptr, "\177ELF", 4) == 0 && ident.ptr[4] - 1U < 2 &&
              ident.ptr[5] - 1U < 2;
    if (ok) {
        e->is64 = ident.ptr[4] == 2;
        e->swap = c.swap = (ident.ptr[5] == 2) != (bool)PF_NATIVE_BIG;
        e->type = pf_cur_u16(&c);
        e->machine = pf_cur_u16(&c);
        pf_cur_u32(&c);     /* e_version */
        pf_elf_word(e, &c); /* e_entry */
        t->phoff = pf_elf_word(e, &c);
        t->shoff = pf_elf_word(e, &c);
        pf_cur_u32(&c); /* e_flags */
        pf_cur_u16(&c); /* e_ehsize */
        t->phentsize = pf_cur_u16(&c);
        t->phnum = pf_cur_u16(&c);
        t->shentsize = pf_cur_u16(&c);
        t->shnum = pf_cur_u16(&c);
        t->shstrndx = pf_cur_u16(&c);
        ok = !c.bad;
    }
    pf_piece_free(&p, e->budget);
    return ok ? PERFILE_OK : PERFILE_E_CORRUPT;
}

static pf_elf_section section(const pf_elf *e, pf_cursor *c)
{
    pf_elf_section s;
    s.name = pf_cur_u32(c);
    s.type = pf_cur_u32(c);
    s.flags = pf_elf_word(e, c);
    s.addr = pf_elf_word(e, c);
    s.offset = pf_elf_word(e, c);
    s.size = pf_elf_word(e, c);
    s.link = pf_cur_u32(c);
    s.info = pf_cur_u32(c);
    pf_elf_word(e, c); /* sh_addralign */
    s.entsize = pf_elf_word(e, c);
    return s;
}

static pf_elf_segment segment(const pf_elf *e, pf_cursor *c)
{
    pf_elf_segment s;
    s.type = pf_cur_u32(c);
    s.flags = e->is64 ? pf_cur_u32(c) : 0;
    s.offset = pf_elf_word(e, c);
    s.vaddr = pf_elf_word(e, c);
    pf_elf_word(e, c); /* p_paddr */
    s.filesz = pf_elf_word(e, c);
    s.memsz = pf_elf_word(e, c);
    s.flags = e->is64 ? s.flags : pf_cur_u32(c);
    return s;
}

/* Reads a table of `n` headers of `width` bytes. */
static perfile_status read_table(const pf_elf *e, uint64_t offset, uint64_t n, uint16_t width,
                                 pf_piece *p)
{
    return n > MOST_HEADERS ? PERFILE_E_CORRUPT
                            : pf_symfile_read(e->file, offset, n * width, e->budget, p);
}

/* A header may be longer than what is known of it. */
static pf_cursor entry(const pf_elf *e, const pf_piece *p, size_t i, uint16_t width)
{
    return pf_cur((perfile_bytes){p->ptr + i * width, width}, e->swap);
}

static perfile_status read_sections(pf_elf *e, const tables *t)
{
    pf_piece p;
    uint64_t n = t->shnum, strings = t->shstrndx;
    if (!t->shoff)
        return PERFILE_OK;
    if (t->shentsize < (e->is64 ? 64 : 40))
        return PERFILE_E_CORRUPT;
    if (!n || strings == XINDEX) { /* numbers that do not fit are in section 0 */
        perfile_status st = read_table(e, t->shoff, 1, t->shentsize, &p);
        if (st != PERFILE_OK)
            return st;
        pf_cursor c = entry(e, &p, 0, t->shentsize);
        pf_elf_section zero = section(e, &c);
        n = n ? n : zero.size;
        strings = strings == XINDEX ? zero.link : strings;
        pf_piece_free(&p, e->budget);
    }
    perfile_status st = read_table(e, t->shoff, n, t->shentsize, &p);
    if (st != PERFILE_OK)
        return st;
    e->sections = pf_budget_alloc(e->budget, (size_t)n, sizeof *e->sections);
    if (!e->sections)
        st = pf_symbol_no_memory(e->budget);
    for (size_t i = 0; e->sections && i < n; i++) {
        pf_cursor c = entry(e, &p, i, t->shentsize);
        e->sections[i] = section(e, &c);
        e->n_sections = i + 1;
    }
    if (!n && e->sections) {
        pf_free(e->sections);
        e->sections = NULL;
    }
    pf_piece_free(&p, e->budget);
    if (st == PERFILE_OK && strings < e->n_sections)
        st = pf_elf_read_section(e, &e->sections[strings], &e->names);
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st; /* names are not needed for all answers */
}

static perfile_status read_segments(pf_elf *e, const tables *t)
{
    pf_piece p;
    if (!t->phoff || !t->phnum)
        return PERFILE_OK;
    if (t->phentsize < (e->is64 ? 56 : 32))
        return PERFILE_E_CORRUPT;
    perfile_status st = read_table(e, t->phoff, t->phnum, t->phentsize, &p);
    if (st != PERFILE_OK)
        return st;
    e->segments = pf_budget_alloc(e->budget, t->phnum, sizeof *e->segments);
    if (!e->segments)
        st = pf_symbol_no_memory(e->budget);
    for (size_t i = 0; e->segments && i < t->phnum; i++) {
        pf_cursor c = entry(e, &p, i, t->phentsize);
        e->segments[i] = segment(e, &c);
        e->n_segments = i + 1;
    }
    pf_piece_free(&p, e->budget);
    return st;
}

/* Notes: length of the name, length of the content, type, name, content; both are padded to 4
 * bytes.
 */
uint8_t pf_build_id_of_notes(perfile_bytes notes, bool swap, uint8_t id[20])
{
    pf_cursor c = pf_cur(notes, swap);
    while (pf_cur_left(&c)) {
        uint32_t name_size = pf_cur_u32(&c), size = pf_cur_u32(&c), type = pf_cur_u32(&c);
        perfile_bytes name = pf_cur_span(&c, ((uint64_t)name_size + 3) & ~UINT64_C(3));
        perfile_bytes content = pf_cur_span(&c, size);
        if (c.bad)
            return 0;
        if (type == NT_GNU_BUILD_ID && name_size == 4 && memcmp(name.ptr, "GNU", 4) == 0 && size) {
            uint8_t n = size < 20 ? (uint8_t)size : 20;
            memcpy(id, content.ptr, n);
            return n;
        }
        pf_cur_span(&c, -size & 3U);
    }
    return 0;
}

/* Searches the notes of a section or segment; damaged ones have no build id. */
static perfile_status find_build_id(pf_elf *e, uint64_t offset, uint64_t size)
{
    pf_piece p;
    if (size > NOTES || e->build_id_size)
        return PERFILE_OK;
    perfile_status st = pf_symfile_read(e->file, offset, size, e->budget, &p);
    if (st != PERFILE_OK)
        return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
    e->build_id_size = pf_build_id_of_notes(pf_piece_bytes(&p), e->swap, e->build_id);
    pf_piece_free(&p, e->budget);
    return PERFILE_OK;
}

static perfile_status read_build_id(pf_elf *e)
{
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; st == PERFILE_OK && i < e->n_sections; i++)
        if (e->sections[i].type == PF_SHT_NOTE)
            st = find_build_id(e, e->sections[i].offset, e->sections[i].size);
    for (size_t i = 0; st == PERFILE_OK && i < e->n_segments; i++)
        if (e->segments[i].type == PF_PT_NOTE)
            st = find_build_id(e, e->segments[i].offset, e->segments[i].filesz);
    return st;
}

perfile_status pf_elf_open(pf_elf *elf, const pf_symfile *file, pf_budget *budget)
{
    tables t;
    *elf = (pf_elf){.file = file, .budget = budget};
    perfile_status st = read_header(elf, &t);
    if (st == PERFILE_OK)
        st = read_sections(elf, &t);
    if (st == PERFILE_OK)
        st = read_segments(elf, &t);
    if (st == PERFILE_OK)
        st = read_build_id(elf);
    if (st != PERFILE_OK)
        pf_elf_close(elf);
    return st;
}

void pf_elf_close(pf_elf *elf)
{
    pf_budget_free(elf->budget, elf->sections, elf->n_sections, sizeof *elf->sections);
    pf_budget_free(elf->budget, elf->segments, elf->n_segments, sizeof *elf->segments);
    pf_piece_free(&elf->names, elf->budget);
    *elf = (pf_elf){0};
}

const char *pf_elf_section_name(const pf_elf *elf, const pf_elf_section *s)
{
    return pf_elf_text(&elf->names, s->name);
}

const pf_elf_section *pf_elf_section_named(const pf_elf *elf, const char *name)
{
    for (size_t i = 0; i < elf->n_sections; i++)
        if (elf->sections[i].type != PF_SHT_NOBITS &&
            strcmp(pf_elf_section_name(elf, &elf->sections[i]), name) == 0)
            return &elf->sections[i];
    return NULL;
}

const pf_elf_section *pf_elf_section_of_type(const pf_elf *elf, uint32_t type)
{
    for (size_t i = 0; i < elf->n_sections; i++)
        if (elf->sections[i].type == type)
            return &elf->sections[i];
    return NULL;
}

perfile_status pf_elf_read_section(const pf_elf *elf, const pf_elf_section *s, pf_piece *piece)
{
    if (s->type == PF_SHT_NOBITS)
        return PERFILE_E_CORRUPT;
    return pf_symfile_read(elf->file, s->offset, s->size, elf->budget, piece);
}

/* The name with its NUL, padded to 4 bytes, then the CRC. */
perfile_status pf_elf_debuglink(const pf_elf *elf, char *name, size_t size, uint32_t *crc)
{
    pf_piece p;
    const pf_elf_section *s = pf_elf_section_named(elf, ".gnu_debuglink");
    perfile_status st = s ? pf_elf_read_section(elf, s, &p) : PERFILE_E_CORRUPT;
    if (st != PERFILE_OK)
        return st;
    pf_cursor c = pf_cur(pf_piece_bytes(&p), elf->swap);
    perfile_bytes text = pf_cur_cstr(&c);
    pf_cur_span(&c, -text.len & 3U);
    *crc = pf_cur_u32(&c);
    bool ok = !c.bad && text.len > 1 && text.len <= size && !memchr(text.ptr, '/', text.len);
    if (ok)
        memcpy(name, text.ptr, text.len);
    pf_piece_free(&p, elf->budget);
    return ok ? PERFILE_OK : PERFILE_E_CORRUPT;
}

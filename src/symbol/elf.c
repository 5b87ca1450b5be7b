/* ELF files: headers, and loading of their symbols. */
#include "perfile/symbol.h"
#include "symbol/elf.h"
#include "symbol/state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Headers of ELF files. */

enum {
    IDENT = 16,      /* size of e_ident */
    HEADER = 64,     /* header size of the 64-bit class */
    XINDEX = 0xffff, /* in e_shstrndx: the index is in section 0 */
    NOTES = 1 << 20, /* largest notes that are searched for the build id */
    MOST_HEADERS = 1 << 20,
    NT_GNU_BUILD_ID = 3
};

/* From the ELF header: offsets and sizes of the tables. */
typedef struct tables {
    uint64_t phoff, shoff;
    uint16_t phentsize, phnum, shentsize, shnum, shstrndx;
} tables;

/* Reads the ELF header.  PERFILE_E_CORRUPT: there is none. */
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

/* Returns a cursor on header `i`.  A header may be longer than its known fields. */
static pf_cursor header_at(const pf_elf *e, const pf_piece *p, size_t i, uint16_t width)
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
    if (!n || strings == XINDEX) { /* counts that do not fit are stored in section 0 */
        perfile_status st = read_table(e, t->shoff, 1, t->shentsize, &p);
        if (st != PERFILE_OK)
            return st;
        pf_cursor c = header_at(e, &p, 0, t->shentsize);
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
        pf_cursor c = header_at(e, &p, i, t->shentsize);
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
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st; /* names are optional */
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
        pf_cursor c = header_at(e, &p, i, t->phentsize);
        e->segments[i] = segment(e, &c);
        e->n_segments = i + 1;
    }
    pf_piece_free(&p, e->budget);
    return st;
}

/* Notes: name size, content size, type, name, content.  Name and content are padded to 4 bytes. */
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

/* Searches the notes of a section or segment.  Damaged notes are ignored. */
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

/* Content of the section: the name with its NUL, padded to 4 bytes, then the CRC. */
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

/* Loading the symbols of an ELF file and of its debug file.  The mapped file has the segments,
 * which relate file offsets to addresses, and the PLT.  The debug file has the symbols that were
 * stripped. */

typedef struct loading {
    pf_symbol_object *o;
    pf_elf_files *files;
    bool damaged; /* a symbol table is damaged */
} loading;

/* qsort() order: by offset, then by descending length. */
static int compare_segments(const void *x, const void *y)
{
    const pf_elf_segment *a = x, *b = y;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->filesz < b->filesz) - (a->filesz > b->filesz);
}

/* Sorts the segments by offset, for pf_symbol_address().  Of several at one offset only the longest
 * is kept; linkers make no segments that share bytes of the file. */
static void sort_segments(pf_symbol_object *o)
{
    size_t kept = 0;
    if (o->n_segments)
        qsort(o->segments, o->n_segments, sizeof *o->segments, compare_segments);
    for (size_t i = 0; i < o->n_segments; i++)
        if (!kept || o->segments[kept - 1].offset != o->segments[i].offset)
            o->segments[kept++] = o->segments[i];
    o->n_segments = kept;
}

perfile_status pf_keep_segments(pf_symbol_object *o, const pf_elf *elf, bool is_mapped)
{
    size_t n = 0, executable = 0;
    for (size_t i = 0; i < elf->n_segments; i++) {
        n += elf->segments[i].type == PF_PT_LOAD;
        executable +=
            elf->segments[i].type == PF_PT_LOAD && (elf->segments[i].flags & PF_SEGMENT_EXECUTABLE);
    }
    o->how = is_mapped ? PF_BY_SEGMENT : PF_BY_LENGTH;
    if (!n || (!is_mapped && executable != 1))
        return PERFILE_OK;
    n = is_mapped ? n : 1;
    o->segments = pf_budget_alloc(elf->budget, n, sizeof *o->segments);
    if (!o->segments)
        return pf_symbol_no_memory(elf->budget);
    o->segments_cap = n;
    for (size_t i = 0; i < elf->n_segments && o->n_segments < n; i++)
        if (elf->segments[i].type == PF_PT_LOAD &&
            (is_mapped || (elf->segments[i].flags & PF_SEGMENT_EXECUTABLE)))
            o->segments[o->n_segments++] = elf->segments[i];
    sort_segments(o);
    return PERFILE_OK;
}

/* Adds a symbol table if the file has one.  A damaged table is skipped. */
static perfile_status add_table(loading *l, const pf_elf_opened *f, uint32_t type, uint8_t origin)
{
    const pf_elf_section *section = f->is_open ? pf_elf_section_of_type(&f->elf, type) : NULL;
    perfile_status st =
        section ? pf_elf_add_symbols(&f->elf, section, origin, &l->o->own) : PERFILE_OK;
    l->damaged |= st == PERFILE_E_CORRUPT;
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

/* Adds symbols in perf's order: the full table, then the dynamic one, then the PLT. */
static perfile_status add_symbols(loading *l)
{
    pf_symbol_object *o = l->o;
    const pf_elf_opened *mapped = &l->files->mapped;
    perfile_status st =
        l->files->debug.is_open
            ? add_table(l, &l->files->debug, PF_SHT_SYMTAB, PERFILE_SYMBOL_DEBUG_FILE)
            : add_table(l, mapped, PF_SHT_SYMTAB, PERFILE_SYMBOL_SYMTAB);
    pf_symtab_settle(&o->own, PF_RULES_ELF);
    if (st == PERFILE_OK)
        st = add_table(l, mapped, PF_SHT_DYNSYM, PERFILE_SYMBOL_DYNSYM);
    pf_symtab_settle(&o->own, PF_RULES_ELF);
    if (st == PERFILE_OK && mapped->is_open) {
        st = pf_elf_add_plt(&mapped->elf, &o->own);
        l->damaged |= st == PERFILE_E_CORRUPT;
        st = st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
    }
    return st == PERFILE_OK ? pf_symbol_object_complete(o, PF_RULES_ELF) : st;
}

static perfile_status load_files(loading *l)
{
    pf_symbol_object *o = l->o;
    const pf_elf_files *f = l->files;
    if (!f->mapped.is_open && !f->debug.is_open)
        return PERFILE_OK;
    perfile_status st =
        pf_keep_segments(o, f->mapped.is_open ? &f->mapped.elf : &f->debug.elf, f->mapped.is_open);
    if (st == PERFILE_OK)
        st = add_symbols(l);
    if (st != PERFILE_OK)
        return st;
    o->reason = PERFILE_SYMBOL_NO_SYMBOLS;
    o->verified = o->key.build_id_size != 0;
    o->file = pf_symbols_keep(f->s, f->debug.is_open ? f->debug.path : f->mapped.path);
    return o->file ? PERFILE_OK : pf_symbol_no_memory(&f->s->budget);
}

/* Identifies a file before it is opened, by the file at its path and by the mapping. */
static pf_file_key key_of_path(const pf_symbol_object *o, uint64_t dev, uint64_t ino)
{
    pf_file_key k = {{dev, ino}, false};
    const uint64_t said[] = {o->key.ino, (uint64_t)o->key.maj << 32 | o->key.min, o->key.is_guest};
    memcpy(k.words + 2, said, sizeof said);
    memcpy(k.words + 5, o->key.build_id, o->key.build_id_size);
    k.words[8] = (uint64_t)o->key.build_id_size << 1;
    k.is_known = ino || o->key.build_id_size;
    return k;
}

/* Identifies the opened files, wherever they were found: the mapped file and its debug file. */
static pf_file_key key_of_files(const pf_elf_files *f)
{
    pf_file_key k = {{[8] = 1}, false};
    const pf_elf_opened *const all[] = {&f->mapped, &f->debug};
    for (size_t i = 0; i < 2; i++)
        if (all[i]->is_open) {
            k.words[2 * i] = all[i]->file.dev_major << 32 | all[i]->file.dev_minor;
            k.words[2 * i + 1] = all[i]->file.ino;
            k.is_known |= all[i]->file.ino != 0;
        }
    if (f->mapped.is_open && !f->mapped.file.ino) /* [vdso] */
        k.is_known = false;
    return k;
}

static uint64_t hash_of(const perfile_symbols *s, const pf_file_key *k)
{
    return pf_index_hash(s->texts.seed, (const uint8_t *)k->words, sizeof k->words);
}

/* Shares what another object has loaded from the same file, because a capture may name one file by
 * many paths and build ids.  Returns false if the file was not loaded before. */
static bool share(const perfile_symbols *s, pf_symbol_object *o, const pf_file_key *k)
{
    const uint32_t at = k->is_known ? pf_index_get(&s->file_index, hash_of(s, k)) : PF_INDEX_NONE;
    pf_symbol_object *other = at < s->n_objects ? s->objects[at] : NULL;
    if (!other || (memcmp(other->path_key.words, k->words, sizeof k->words) != 0 &&
                   memcmp(other->files_key.words, k->words, sizeof k->words) != 0))
        return false;
    o->same = pf_symbol_object_loaded(other);
    o->table = other->table;
    o->segments = other->segments;
    o->n_segments = other->n_segments;
    o->how = other->how;
    o->reason = other->reason;
    o->verified = other->file && o->key.build_id_size != 0;
    o->file = other->file;
    return true;
}

/* Registers the object, which is about to be appended to the list, as the first with this key.
 * Returns false when out of memory or budget. */
static bool note_first(perfile_symbols *s, const pf_file_key *k)
{
    const uint64_t hash = hash_of(s, k);
    return !k->is_known || pf_index_get(&s->file_index, hash) != PF_INDEX_NONE ||
           pf_index_put(&s->file_index, hash, (uint32_t)s->n_objects);
}

static perfile_status load_opened(loading *l)
{
    pf_symbol_object *o = l->o;
    o->files_key = key_of_files(l->files);
    if (share(l->files->s, o, &o->files_key))
        return PERFILE_OK;
    perfile_status st = load_files(l);
    if (st == PERFILE_OK && (l->damaged || l->files->damaged) && !o->table)
        o->reason = PERFILE_SYMBOL_DAMAGED;
    if (st == PERFILE_OK && l->files->other_build && !o->file)
        o->reason = PERFILE_SYMBOL_OTHER_BUILD;
    return st;
}

perfile_status pf_load_elf(perfile_symbols *s, pf_symbol_object *o)
{
    loading l = {.o = o};
    uint64_t dev = 0, ino = 0;
    (void)pf_elf_path_identity(s, &o->key, &dev, &ino);
    o->path_key = key_of_path(o, dev, ino);
    if (share(s, o, &o->path_key))
        return PERFILE_OK;
    perfile_status st = pf_elf_files_open(s, &o->key, NULL, &l.files);
    if (st != PERFILE_OK)
        return st;
    st = load_opened(&l);
    pf_elf_files_close(l.files);
    if (st == PERFILE_OK && !(note_first(s, &o->path_key) && note_first(s, &o->files_key)))
        st = pf_symbol_no_memory(&s->budget);
    return st;
}

/* Symbols of ELF files: which entries of .symtab and .dynsym count, and how PLT entries are named.
 *
 * The choice is perf's (tools/perf/util/symbol-elf.c, 6.1), because a symbol without size ends at
 * the next one.  Functions, objects and labels count.  A label is an entry without a type in a
 * section with "text" or "data" in its name.  Not counted: undefined and absolute symbols, hidden
 * labels, and the marks of code and data on ARM, aarch64 and RISC-V ($x, $d). */

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
    PLT_NAME = 4096,   /* longest name of a PLT entry with its NUL; others are skipped */
    SECTION_NAME = 128 /* bytes of a section's name that are searched */
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

/* Returns true for $a, $d, $t, $x, alone or followed by a dot and a suffix. */
static bool is_mapping_symbol(const pf_elf *e, const char *name)
{
    if (e->machine != PF_EM_ARM && e->machine != PF_EM_AARCH64 && e->machine != PF_EM_RISCV)
        return false;
    return name[0] == '$' && name[1] && strchr("adtx", name[1]) && (!name[2] || name[2] == '.');
}

/* Returns true if labels in this section count.  Only the beginning of the section's name is
 * searched: the name is hostile, and this runs for each label. */
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

/* Function descriptors of the first 64-bit PowerPC ABI.  Symbols point to a descriptor, and its
 * first word points to the code. */
typedef struct descriptors {
    const pf_elf_section *section; /* NULL: none */
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

/* Returns the end of the section that contains a symbol, UINT64_MAX if unknown. */
static uint64_t section_end(const pf_elf *e, const entry *s, uint64_t addr)
{
    uint64_t end;
    if (s->section >= e->n_sections)
        return UINT64_MAX;
    const pf_elf_section *section = &e->sections[s->section];
    if (addr < section->addr || pf_add_u64(section->addr, section->size, &end) || addr >= end)
        return UINT64_MAX; /* a function descriptor, or damage */
    return end;
}

static perfile_status add_entry(const pf_elf *e, const entry *s, const descriptors *d,
                                uint32_t name, uint8_t origin, pf_symtab *table)
{
    pf_sym sym = {.start = code_of(e, d, s), .name = name, .origin = origin};
    if (e->machine == PF_EM_ARM && s->type == STT_FUNC)
        sym.start &= ~UINT64_C(1); /* the lowest bit marks Thumb code */
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

/* Adds the entries of a table.  All its names are copied at once, as most are needed. */
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

/* Sets the size of the PLT's header and of its entries. */
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
        *head = *width = 16; /* even if the section's entry size is 0 or 4 */
        return;
    default:
        *head = *width = plt->entsize;
    }
}

/* Returns the symbol index of the next relocation. */
static uint64_t relocation_symbol(const pf_elf *e, pf_cursor *c, bool addend)
{
    pf_elf_word(e, c); /* r_offset */
    uint64_t info = pf_elf_word(e, c);
    if (addend)
        pf_elf_word(e, c);
    return e->is64 ? info >> 32 : info >> 8;
}

/* Adds one entry.  `left` limits the total size of names. */
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

/* Adds all entries of a PLT.  Its relocations are in the order of its entries.  A relocation for an
 * IFUNC has symbol 0, which has no name: the entry is then named "@plt", as in perf. */
static perfile_status add_plt_entries(const pf_elf *e, const pf_elf_section *plt, uint64_t head,
                                      uint64_t width, perfile_bytes relocations, bool addend,
                                      const pf_piece *entries, const pf_piece *names,
                                      pf_symtab *table)
{
    perfile_status st = PERFILE_OK;
    /* Each relocation has its own symbol, so the names together cannot be longer than the file's
     * names and relocations. */
    size_t left = names->len + relocations.len;
    pf_cursor c = pf_cur(relocations, e->swap);
    for (uint64_t at = head; st == PERFILE_OK && pf_within(at, width, plt->size); at += width) {
        uint64_t number = relocation_symbol(e, &c, addend);
        uint64_t offset = number * entry_width(e); /* number < 2^32 */
        pf_sym sym = {.origin = PERFILE_SYMBOL_PLT, .binding = PF_BIND_GLOBAL, .plt = true};
        if (c.bad)
            break;
        if (offset >= entries->len || pf_add_u64(plt->addr, at, &sym.start) ||
            pf_add_u64(sym.start, width, &sym.end))
            continue;
        pf_cursor one =
            pf_cur((perfile_bytes){entries->ptr + offset, entries->len - (size_t)offset}, e->swap);
        const char *name = pf_elf_text(names, read_entry(e, &one).name);
        if (!one.bad)
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
    /* Programs with indirect branch tracking call entries of .plt.sec, which has no header. */
    const pf_elf_section *second = pf_elf_section_named(e, ".plt.sec");
    /* The PLT of a static program has another layout and no dynamic symbols. */
    if (!rel || !plt || rel->link >= e->n_sections || e->sections[rel->link].type != PF_SHT_DYNSYM)
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

/* Loading the symbols of an ELF file and of its debug file: what was mapped says where offsets in
 * it lie in memory and has the PLT, the debug file has the symbols that were stripped off. */
#include "symbol/files.h"

#include <string.h>

enum { MOST_SEGMENTS = 256 }; /* that are loaded and count; linkers make about ten */

typedef struct loading {
    pf_symbol_object *o;
    pf_elf_files *files;
    bool damaged; /* a table is */
} loading;

/* Copies the segments that are loaded.  Of a debug file alone the offsets are lost: then only the
 * executable segment is of use, if there is but one. */
static perfile_status keep_segments(pf_symbol_object *o, const pf_elf *elf, bool is_mapped)
{
    size_t n = 0, executable = 0;
    for (size_t i = 0; i < elf->n_segments; i++) {
        n += elf->segments[i].type == PF_PT_LOAD && n < MOST_SEGMENTS;
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
    for (size_t i = 0; i < elf->n_segments && o->n_segments < n; i++)
        if (elf->segments[i].type == PF_PT_LOAD &&
            (is_mapped || (elf->segments[i].flags & PF_SEGMENT_EXECUTABLE)))
            o->segments[o->n_segments++] = elf->segments[i];
    return PERFILE_OK;
}

/* Adds a symbol table if the file has it; a damaged one is as good as none. */
static perfile_status add_table(loading *l, const pf_elf_opened *f, uint32_t type, uint8_t origin)
{
    const pf_elf_section *section = f->is_open ? pf_elf_section_of_type(&f->elf, type) : NULL;
    perfile_status st =
        section ? pf_elf_add_symbols(&f->elf, section, origin, &l->o->own) : PERFILE_OK;
    l->damaged |= st == PERFILE_E_CORRUPT;
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

/* In the order in which perf adds them: the full table, then the dynamic one, then the PLT. */
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
        keep_segments(o, f->mapped.is_open ? &f->mapped.elf : &f->debug.elf, f->mapped.is_open);
    if (st == PERFILE_OK)
        st = add_symbols(l);
    if (st != PERFILE_OK)
        return st;
    o->reason = PERFILE_SYMBOL_NO_SYMBOLS;
    o->verified = o->key.build_id_size != 0;
    o->file = pf_symbols_keep(f->s, f->debug.is_open ? f->debug.path : f->mapped.path);
    return o->file ? PERFILE_OK : pf_symbol_no_memory(&f->s->budget);
}

/* A number of what says that two objects have the same file: the file at the path and the build id.
 * 0: neither is known. */
static uint64_t identity_of(const perfile_symbols *s, const pf_symbol_object *o)
{
    const uint64_t words[2] = {o->file_dev, o->file_ino};
    const uint64_t h = pf_index_hash(s->texts.seed, (const uint8_t *)words, sizeof words);
    if (!o->file_ino && !o->key.build_id_size)
        return 0;
    return pf_index_hash(h, o->key.build_id, o->key.build_id_size);
}

/* True if `a` has the file of `b`.  Without a file at the path it was found by build id. */
static bool same_file(const pf_symbol_object *a, const pf_symbol_object *b)
{
    const pf_symbol_key *x = &a->key, *y = &b->key;
    return a->file_dev == b->file_dev && a->file_ino == b->file_ino && (a->file_ino || b->file) &&
           x->build_id_size == y->build_id_size &&
           memcmp(x->build_id, y->build_id, x->build_id_size) == 0 && x->is_guest == y->is_guest &&
           x->ino == y->ino && x->maj == y->maj && x->min == y->min;
}

/* A capture may name one file by many paths: it is loaded once.  False if it was not loaded yet. */
static bool share(const perfile_symbols *s, pf_symbol_object *o, uint64_t identity)
{
    const uint32_t at = identity ? pf_index_get(&s->file_index, identity) : PF_INDEX_NONE;
    pf_symbol_object *other = at < s->n_objects ? s->objects[at] : NULL;
    if (!other || !same_file(o, other))
        return false;
    o->same = other;
    o->table = other->table;
    o->segments = other->segments;
    o->n_segments = other->n_segments;
    o->how = other->how;
    o->reason = other->reason;
    o->verified = other->verified;
    o->file = other->file;
    return true;
}

perfile_status pf_load_elf(perfile_symbols *s, pf_symbol_object *o)
{
    loading l = {.o = o};
    (void)pf_elf_path_identity(s, &o->key, &o->file_dev, &o->file_ino);
    const uint64_t identity = identity_of(s, o);
    if (share(s, o, identity))
        return PERFILE_OK;
    perfile_status st = pf_elf_files_open(s, &o->key, NULL, &l.files);
    if (st != PERFILE_OK)
        return st;
    st = load_files(&l);
    if (st == PERFILE_OK && (l.damaged || l.files->damaged) && !o->table)
        o->reason = PERFILE_SYMBOL_DAMAGED;
    if (st == PERFILE_OK && l.files->other_build && !o->file)
        o->reason = PERFILE_SYMBOL_OTHER_BUILD;
    pf_elf_files_close(l.files);
    /* The object itself becomes the one that has the file, at the end of the list. */
    if (st == PERFILE_OK && identity && pf_index_get(&s->file_index, identity) == PF_INDEX_NONE &&
        !pf_index_put(&s->file_index, identity, (uint32_t)s->n_objects))
        st = pf_symbol_no_memory(&s->budget);
    return st;
}

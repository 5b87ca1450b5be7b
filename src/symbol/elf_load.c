/* Loading the symbols of an ELF file and of its debug file: what was mapped says where offsets in
 * it lie in memory and has the PLT, the debug file has the symbols that were stripped off. */
#include "symbol/state.h"

#include <stdlib.h>
#include <string.h>

typedef struct loading {
    pf_symbol_object *o;
    pf_elf_files *files;
    bool damaged; /* a table is */
} loading;

/* qsort() order: by offset, the longest of one offset first. */
static int compare_segments(const void *x, const void *y)
{
    const pf_elf_segment *a = x, *b = y;
    if (a->offset != b->offset)
        return a->offset < b->offset ? -1 : 1;
    return (a->filesz < b->filesz) - (a->filesz > b->filesz);
}

/* Sorts the segments by offset, for pf_symbol_address().  Of several with one offset the longest
 * counts; linkers make no segments that share bytes of the file. */
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

/* Identifies a file before it is opened: by the file at its path and what the mapping says. */
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

/* The same once they are: the mapped file and its debug file, wherever they were found. */
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

/* A capture may name one file by many paths and build ids: it is loaded once.  False if it was not
 * loaded yet. */
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

/* The object, which will be at the end of the list, is the first with this key. */
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

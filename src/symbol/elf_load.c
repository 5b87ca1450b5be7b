/* Finding the ELF files of a mapping, and loading their symbols.
 *
 * Two files may be needed: the one that was mapped, which says where offsets in it lie in memory
 * and has the PLT, and a debug file with the symbols that were stripped off.  A file counts only if
 * its build id is that of the mapping; the debug file has the build id of the mapped one, or, where
 * that has none, the checksum of its debuglink. */
#include <stdio.h>
#include <string.h>

#include "base/crc32.h"
#include "symbol/state.h"

enum { CHUNK = 1 << 20 }; /* bytes of a file whose checksum is computed at once */

/* A file that is open. */
typedef struct opened {
    bool is_open;
    pf_symfile file;
    pf_elf elf;
    char path[PF_PATH_SIZE];
} opened;

typedef struct loading {
    perfile_symbols *s;
    pf_symbol_object *o;
    opened mapped, debug;
    bool other_build, damaged; /* some candidate was */
    char id[2 * 20 + 2];       /* "xx/yyyy…"; empty: no build id is known */
} loading;

static void close_file(opened *f)
{
    if (f->is_open) {
        pf_elf_close(&f->elf);
        pf_symfile_close(&f->file);
    }
    f->is_open = false;
}

/* Opens the ELF file f->file.  Something else is no error. */
static perfile_status open_elf(loading *l, opened *f)
{
    perfile_status st = pf_elf_open(&f->elf, &f->file, &l->s->budget);
    f->is_open = st == PERFILE_OK;
    if (st != PERFILE_OK)
        pf_symfile_close(&f->file);
    l->damaged |= st == PERFILE_E_CORRUPT;
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

/* Opens the ELF file f->path; not finding it is no error either. */
static perfile_status open_file(loading *l, opened *f)
{
    return pf_symfile_open(&f->file, f->path) ? open_elf(l, f) : PERFILE_OK;
}

/* True if the file at the path of the mapping may be what was mapped: by build id, else by what is
 * known of it.  Devices are compared where both are real: those of overlays are not. */
static bool is_mapped_file(const loading *l, const opened *f, bool at_path)
{
    const pf_symbol_key *k = &l->o->key;
    if (k->build_id_size)
        return pf_same_build_id(k->build_id, k->build_id_size, f->elf.build_id,
                                f->elf.build_id_size);
    if (!at_path || l->s->symfs[0] || !k->ino)
        return at_path;
    return k->ino == f->file.ino && (!k->maj || !f->file.dev_major ||
                                     (k->maj == f->file.dev_major && k->min == f->file.dev_minor));
}

static perfile_status try_mapped(loading *l, bool at_path)
{
    perfile_status st = open_file(l, &l->mapped);
    if (st == PERFILE_OK && l->mapped.is_open && !is_mapped_file(l, &l->mapped, at_path)) {
        close_file(&l->mapped);
        l->other_build = true;
    }
    return st;
}

/* The [vdso] of this process, if it has the build id of the mapping. */
static perfile_status try_vdso(loading *l)
{
    opened *f = &l->mapped;
    perfile_bytes image;
    perfile_status st = pf_own_vdso(&l->s->budget, &image);
    if (st != PERFILE_OK || !image.len)
        return st;
    f->file = pf_symfile_memory(image);
    strcpy(f->path, "[vdso]");
    st = open_elf(l, f);
    if (f->is_open && !is_mapped_file(l, f, false)) {
        close_file(f);
        l->other_build = true;
    }
    return st;
}

/* At its path, then in caches by build id. */
static perfile_status find_mapped(loading *l)
{
    static const char *const names[] = {"elf", "vdso"};
    const perfile_symbols *s = l->s;
    const char *name = l->o->key.name;
    perfile_status st = PERFILE_OK;
    bool may = s->symfs[0] || (!(s->flags & PERFILE_SYMBOLS_GIVEN_ONLY) &&
                               (!l->o->key.is_guest || l->o->key.build_id_size));
    if (may && name[0] == '/' && pf_path(l->mapped.path, "%s%s", s->symfs, name))
        st = try_mapped(l, true);
    for (size_t i = 0; l->id[0] && i < s->n_debug_dirs * 2; i++)
        if (st == PERFILE_OK && !l->mapped.is_open &&
            pf_path(l->mapped.path, "%s/.build-id/%s/%s", s->debug_dirs[i / 2], l->id,
                    names[i % 2]))
            st = try_mapped(l, false);
    if (st == PERFILE_OK && !l->mapped.is_open && l->o->key.build_id_size && !l->o->key.is_guest &&
        !(s->flags & PERFILE_SYMBOLS_GIVEN_ONLY) && strcmp(name, "[vdso]") == 0)
        st = try_vdso(l);
    return st;
}

/* Compares the checksum of a whole file. */
static perfile_status check_crc(const pf_symfile *f, pf_budget *budget, uint32_t wanted, bool *same)
{
    uint32_t crc = 0;
    for (uint64_t at = 0; at < f->size; at += CHUNK) {
        pf_piece p;
        uint64_t n = f->size - at < CHUNK ? f->size - at : CHUNK;
        perfile_status st = pf_symfile_read(f, at, n, budget, &p);
        if (st != PERFILE_OK)
            return st;
        crc = pf_crc32(crc, pf_piece_bytes(&p));
        pf_piece_free(&p, budget);
    }
    *same = crc == wanted;
    return PERFILE_OK;
}

/* True if `elf` has the build id of the mapped file, or, without that, of the mapping. */
static bool has_same_id(const loading *l, const pf_elf *elf)
{
    const pf_elf *mapped = &l->mapped.elf;
    const pf_symbol_key *k = &l->o->key;
    if (l->mapped.is_open)
        return pf_same_build_id(mapped->build_id, mapped->build_id_size, elf->build_id,
                                elf->build_id_size);
    return pf_same_build_id(k->build_id, k->build_id_size, elf->build_id, elf->build_id_size);
}

/* Opens l->debug.path if it is the debug file.  `crc`: of the debuglink; NULL: found otherwise. */
static perfile_status try_debug(loading *l, const uint32_t *crc)
{
    opened *f = &l->debug;
    if (f->is_open)
        return PERFILE_OK;
    perfile_status st = open_file(l, f);
    if (!f->is_open)
        return st;
    bool same = has_same_id(l, &f->elf);
    if (crc && !l->mapped.elf.build_id_size && !f->elf.build_id_size)
        st = check_crc(&f->file, &l->s->budget, *crc, &same);
    if (st != PERFILE_OK || !same || !pf_elf_section_of_type(&f->elf, PF_SHT_SYMTAB))
        close_file(f);
    l->damaged |= st == PERFILE_E_CORRUPT;
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

/* The debug file that the mapped one names: beside it, in .debug beside it, and in the same folder
 * below the debug directories. */
static perfile_status try_debuglink(loading *l)
{
    char link[256];
    uint32_t crc;
    const perfile_symbols *s = l->s;
    const char *name = l->o->key.name, *slash = name[0] == '/' ? strrchr(name, '/') : NULL;
    perfile_status st = PERFILE_OK;
    if (!l->mapped.is_open || !slash)
        return st;
    st = pf_elf_debuglink(&l->mapped.elf, link, sizeof link, &crc);
    if (st != PERFILE_OK)
        return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
    int folder = (int)(slash - name);
    bool local = s->symfs[0] || !(s->flags & PERFILE_SYMBOLS_GIVEN_ONLY);
    if (local && pf_path(l->debug.path, "%s%.*s/%s", s->symfs, folder, name, link))
        st = try_debug(l, &crc);
    if (local && st == PERFILE_OK && !l->debug.is_open &&
        pf_path(l->debug.path, "%s%.*s/.debug/%s", s->symfs, folder, name, link))
        st = try_debug(l, &crc);
    for (uint32_t i = 0; st == PERFILE_OK && !l->debug.is_open && i < s->n_debug_dirs; i++)
        if (pf_path(l->debug.path, "%s%.*s/%s", s->debug_dirs[i], folder, name, link))
            st = try_debug(l, &crc);
    return st;
}

/* By build id, by debuglink, by path. */
static perfile_status find_debug(loading *l)
{
    static const char *const forms[] = {".debug", "/debug"};
    const perfile_symbols *s = l->s;
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; l->id[0] && i < s->n_debug_dirs * 2; i++)
        if (st == PERFILE_OK && !l->debug.is_open &&
            pf_path(l->debug.path, "%s/.build-id/%s%s", s->debug_dirs[i / 2], l->id, forms[i % 2]))
            st = try_debug(l, NULL);
    if (st == PERFILE_OK && !l->debug.is_open)
        st = try_debuglink(l);
    for (uint32_t i = 0; l->o->key.name[0] == '/' && i < s->n_debug_dirs; i++)
        if (st == PERFILE_OK && !l->debug.is_open &&
            pf_path(l->debug.path, "%s%s.debug", s->debug_dirs[i], l->o->key.name))
            st = try_debug(l, NULL);
    return st;
}

/* Copies the segments that are loaded.  Of a debug file alone the offsets are lost: then only the
 * executable segment is of use, if there is but one. */
static perfile_status keep_segments(pf_symbol_object *o, const pf_elf *elf, bool is_mapped)
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
    for (size_t i = 0; i < elf->n_segments; i++)
        if (elf->segments[i].type == PF_PT_LOAD &&
            (is_mapped || (elf->segments[i].flags & PF_SEGMENT_EXECUTABLE)))
            o->segments[o->n_segments++] = elf->segments[i];
    return PERFILE_OK;
}

/* Adds a symbol table if the file has it; a damaged one is as good as none. */
static perfile_status add_table(loading *l, const opened *f, uint32_t type, uint8_t origin)
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
    const opened *mapped = &l->mapped;
    perfile_status st = l->debug.is_open
                            ? add_table(l, &l->debug, PF_SHT_SYMTAB, PERFILE_SYMBOL_DEBUG_FILE)
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
    perfile_status st = find_mapped(l);
    if (st == PERFILE_OK && !l->id[0] && l->mapped.is_open)
        pf_build_id_path(l->mapped.elf.build_id, l->mapped.elf.build_id_size, l->id, sizeof l->id);
    if (st == PERFILE_OK &&
        (!l->mapped.is_open || !pf_elf_section_of_type(&l->mapped.elf, PF_SHT_SYMTAB)))
        st = find_debug(l);
    if (st != PERFILE_OK || (!l->mapped.is_open && !l->debug.is_open))
        return st;
    st = keep_segments(o, l->mapped.is_open ? &l->mapped.elf : &l->debug.elf, l->mapped.is_open);
    if (st == PERFILE_OK)
        st = add_symbols(l);
    if (st != PERFILE_OK)
        return st;
    o->reason = PERFILE_SYMBOL_NO_SYMBOLS;
    o->verified = o->key.build_id_size != 0;
    o->file = pf_symbols_keep(l->s, l->debug.is_open ? l->debug.path : l->mapped.path);
    return o->file ? PERFILE_OK : pf_symbol_no_memory(&l->s->budget);
}

perfile_status pf_load_elf(perfile_symbols *s, pf_symbol_object *o)
{
    loading *l = pf_alloc(1, sizeof *l);
    if (!l)
        return PERFILE_E_NOMEM;
    l->s = s;
    l->o = o;
    pf_build_id_path(o->key.build_id, o->key.build_id_size, l->id, sizeof l->id);
    perfile_status st = load_files(l);
    if (st == PERFILE_OK && l->damaged && !o->table)
        o->reason = PERFILE_SYMBOL_DAMAGED;
    if (st == PERFILE_OK && l->other_build && !o->file)
        o->reason = PERFILE_SYMBOL_OTHER_BUILD;
    close_file(&l->debug);
    close_file(&l->mapped);
    pf_free(l);
    return st;
}

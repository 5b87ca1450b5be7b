/* Symbols of the kernel.
 *
 * They are read once, from the first of these sources: the kallsyms file of the options; the one
 * that perf copied into the capture's directory (kcore_dir); for the build id of the recorded
 * kernel the kallsyms in perf's cache, or an ELF file (vmlinux) there or among the debug files;
 * /proc/kallsyms if this machine runs that kernel.
 *
 * A kernel may be loaded at another address at each boot.  The kernel's mapping has the recorded
 * address of _text or _stext, which gives the difference to the addresses of the symbols.  Modules
 * have no such mark: their symbols count if kallsyms has a symbol of the same module at the
 * address. */
#include <string.h>
#include <sys/utsname.h>

#include "base/error.h"
#include "core/session.h"
#include "io/source.h"
#include "symbol/state.h"
#include "symbol/elf.h"
#include "io/command.h"
#include "core/command.h"

static uint64_t address_of(const pf_symtab *t, const char *name)
{
    const pf_sym *sym = pf_symtab_named(t, name);
    return sym ? sym->start : 0;
}

/* Completes the table. _text and _stext are looked up first, because other symbols at their
 * addresses may replace them. */
static perfile_status complete(pf_kernel *k, int rules)
{
    k->text = address_of(&k->table, "_text");
    k->stext = address_of(&k->table, "_stext");
    pf_symtab_settle(&k->table, rules);
    return pf_symtab_index(&k->table);
}

/* Fills the table from the text of a kallsyms file.  `file` is its name for messages.  A file
 * without symbols is ignored. */
static perfile_status use_kallsyms(perfile_symbols *s, perfile_bytes text, const char *file)
{
    pf_kernel *k = &s->kernel;
    perfile_status st = pf_kallsyms_add(&k->table, text);
    if (st == PERFILE_OK)
        st = complete(k, PF_RULES_KALLSYMS);
    if (st == PERFILE_OK && k->table.n) {
        k->has_modules = true;
        k->file = pf_symbols_keep(s, file);
        st = k->file ? st : pf_symbol_no_memory(&s->budget);
    }
    return st;
}

static perfile_status read_kallsyms(perfile_symbols *s, const char *path, size_t root)
{
    pf_symfile f;
    pf_piece p = {0};
    if (!pf_symfile_open_in(&f, path, root))
        return PERFILE_OK;
    perfile_status st = pf_symfile_read_all(&f, &s->budget, &p);
    if (st == PERFILE_OK)
        st = use_kallsyms(s, pf_piece_bytes(&p), path);
    pf_piece_free(&p, &s->budget);
    pf_symfile_close(&f);
    return st;
}

/* Drops the symbols, which were not read completely. */
static void give_up(pf_kernel *k, perfile_status why)
{
    pf_symtab_free(&k->table);
    k->file = NULL;
    k->reason = why == PERFILE_E_LIMIT ? PERFILE_SYMBOL_TOO_LARGE : PERFILE_SYMBOL_DAMAGED;
}

/* Reads the whole file `from` of a capture and its symbols. */
static perfile_status read_captured(perfile_symbols *s, perfile_source *from)
{
    if (from->size >= SIZE_MAX)
        return PERFILE_E_LIMIT;
    const size_t n = (size_t)from->size;
    uint8_t *text = pf_budget_realloc(&s->budget, NULL, 0, n + 1, 1);
    if (!text)
        return pf_symbol_no_memory(&s->budget);
    perfile_status st = pf_source_read(from, 0, text, n, NULL);
    if (st == PERFILE_OK)
        st = use_kallsyms(s, (perfile_bytes){text, n}, pf_source_name(from));
    pf_budget_free(&s->budget, text, n + 1, 1);
    return st;
}

perfile_status pf_kernel_captured(perfile_symbols *s)
{
    pf_kernel *k = &s->kernel;
    const perfile_source *directory = pf_session_files(s->session);
    perfile_source *from;
    perfile_status st =
        directory ? pf_source_entry(directory, "kcore_dir/kallsyms", &from, NULL) : PERFILE_E_USAGE;
    if (st != PERFILE_OK)
        return st == PERFILE_E_NOMEM ? st : PERFILE_OK;
    st = read_captured(s, from);
    perfile_source_close(from);
    if (st != PERFILE_OK)
        give_up(k, st);
    k->tried = st == PERFILE_E_LIMIT || k->file;
    k->verified = k->file != NULL;
    return st == PERFILE_E_NOMEM ? st : PERFILE_OK;
}

perfile_status pf_kernel_given(perfile_symbols *s, const char *path, perfile_error *err)
{
    pf_symfile f;
    if (!pf_symfile_open(&f, path))
        return pf_fail_io(err, 0, "symbols.kallsyms", "%s cannot be read as a file", path);
    pf_symfile_close(&f);
    s->kernel.tried = true;
    perfile_status st = read_kallsyms(s, path, 0);
    if (st == PERFILE_E_LIMIT)
        return pf_fail(err, st, "symbol_bytes", "%s has more symbols than the limit allows", path);
    if (st == PERFILE_E_NOMEM)
        return pf_fail_nomem(err, "symbols");
    if (st != PERFILE_OK || !s->kernel.file)
        return pf_fail(err, PERFILE_E_IO, "symbols.kallsyms",
                       "%s has no symbols: needs lines of address, type and name", path);
    return PERFILE_OK;
}

/* Returns the build id of the recorded kernel from the capture's list.  *several: the list has
 * different ones, as after a merge of captures from several machines. */
static perfile_bytes listed_build_id(const perfile_session *session, bool *several)
{
    static const char prefix[] = "[kernel.";
    perfile_bytes id = {NULL, 0};
    uint32_t n = pf_session_n_build_ids(session);
    *several = false;
    for (uint32_t i = 0; i < n; i++) {
        const perfile_build_id *b = perfile_session_build_id(session, i);
        if (b->filename.len < sizeof prefix - 1 ||
            memcmp(b->filename.ptr, prefix, sizeof prefix - 1) != 0 || b->pid != -1)
            continue;
        const size_t len = b->id.len <= 20 ? b->id.len : 20;
        if (id.ptr)
            *several |= !pf_same_build_id(id.ptr, (uint8_t)id.len, b->id.ptr, (uint8_t)len);
        else
            id = (perfile_bytes){b->id.ptr, len};
    }
    return id;
}

/* Reads a vmlinux if it has this build id. */
static perfile_status read_vmlinux(perfile_symbols *s, const char *path, size_t root,
                                   perfile_bytes id)
{
    pf_kernel *k = &s->kernel;
    pf_symfile f;
    pf_elf elf;
    if (!pf_symfile_open_in(&f, path, root))
        return PERFILE_OK;
    perfile_status st = pf_elf_open(&elf, &f, &s->budget);
    if (st == PERFILE_OK) {
        const pf_elf_section *symtab = pf_elf_section_of_type(&elf, PF_SHT_SYMTAB);
        if (symtab && pf_same_build_id(id.ptr, (uint8_t)id.len, elf.build_id, elf.build_id_size)) {
            st = pf_elf_add_symbols(&elf, symtab, PERFILE_SYMBOL_DEBUG_FILE, &k->table);
            if (st == PERFILE_OK)
                st = complete(k, PF_RULES_ELF);
            if (st == PERFILE_OK && k->table.n && !(k->file = pf_symbols_keep(s, path)))
                st = pf_symbol_no_memory(&s->budget);
        }
        pf_elf_close(&elf);
    }
    pf_symfile_close(&f);
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

/* Searches the debug directories for the build id. */
static perfile_status find_by_build_id(perfile_symbols *s, perfile_bytes id)
{
    static const char *const forms[] = {"/kallsyms", "/elf", ".debug", "/debug"};
    enum { FORMS = 4 };
    char path[PF_PATH_SIZE], text[2 * 20 + 2];
    perfile_status st = PERFILE_OK;
    if (!pf_build_id_path(id.ptr, (uint8_t)id.len, text, sizeof text))
        return st;
    for (size_t i = 0; i < (size_t)s->n_debug_dirs * FORMS; i++) {
        const char *form = forms[i % FORMS];
        if (!pf_path(path, "%s/.build-id/%s%s", s->debug_dirs[i / FORMS].path, text, form))
            continue;
        const size_t root = s->debug_dirs[i / FORMS].root;
        st = i % FORMS ? read_vmlinux(s, path, root, id) : read_kallsyms(s, path, root);
        if (st != PERFILE_OK || s->kernel.file)
            break;
    }
    s->kernel.verified = s->kernel.file != NULL;
    return st;
}

/* Compares the build id with the running kernel's. */
static perfile_status check_build(perfile_symbols *s, perfile_bytes id, bool *same)
{
    pf_symfile f;
    pf_piece p;
    uint8_t found[20];
    if (!pf_symfile_open(&f, "/sys/kernel/notes"))
        return PERFILE_OK;
    perfile_status st = pf_symfile_read_all(&f, &s->budget, &p);
    if (st == PERFILE_OK) {
        uint8_t n = pf_build_id_of_notes(pf_piece_bytes(&p), false, found);
        *same = pf_same_build_id(id.ptr, (uint8_t)id.len, found, n);
        pf_piece_free(&p, &s->budget);
    }
    pf_symfile_close(&f);
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

/* Returns true if host and release are this machine's. */
static bool runs_release(const perfile_symbols *s)
{
    struct utsname here;
    const char *release = perfile_session_fact(s->session, PERFILE_FACT_OSRELEASE);
    const char *host = perfile_session_fact(s->session, PERFILE_FACT_HOSTNAME);
    return release && host && uname(&here) == 0 && strcmp(release, here.release) == 0 &&
           strcmp(host, here.nodename) == 0;
}

static perfile_status find_kernel(perfile_symbols *s)
{
    pf_kernel *k = &s->kernel;
    bool several;
    const perfile_bytes id = listed_build_id(s->session, &several);
    if (several) { /* there is only one table, and mappings do not say which kernel they belong to
                    */
        k->reason = PERFILE_SYMBOL_OTHER_BUILD;
        return PERFILE_OK;
    }
    perfile_status st = find_by_build_id(s, id);
    if (st != PERFILE_OK || k->file)
        return st;
    k->reason = PERFILE_SYMBOL_NO_FILE;
    if (s->flags & PERFILE_SYMBOLS_GIVEN_ONLY)
        return st;
    bool runs = false;
    if (id.len)
        st = check_build(s, id, &runs);
    else
        runs = runs_release(s);
    if (st != PERFILE_OK || !runs) {
        k->reason = id.len ? PERFILE_SYMBOL_OTHER_BUILD : PERFILE_SYMBOL_NO_FILE;
        return st;
    }
    k->verified = id.len != 0;
    k->same_boot_only = !k->verified;
    return read_kallsyms(s, "/proc/kallsyms", 0);
}

/* Returns the name of a module: "nfs_ssc" for "[nfs_ssc]" and for ".../nfs-ssc.ko.xz"; "" for the
 * kernel itself. */
static const char *kernel_module(perfile_symbols *s, const char *name)
{
    char module[256];
    size_t n = 0;
    if (strncmp(name, "[kernel", 7) == 0 || strncmp(name, "[guest.kernel", 13) == 0)
        return "";
    const char *slash = strrchr(name, '/');
    const char *from = slash ? slash + 1 : name + (name[0] == '[');
    while (from[n] && from[n] != '.' && from[n] != ']' && n + 1 < sizeof module) {
        module[n] = from[n] == '-' ? '_' : from[n];
        n++;
    }
    module[n] = 0;
    return pf_symbols_keep(s, module);
}

/* Sets the difference between the symbols' addresses and the recorded ones.  Returns false if it is
 * unknown. */
static bool set_shift(const pf_kernel *k, pf_symbol_object *o, uint64_t pgoff)
{
    const char *mark = strchr(o->key.name, ']');
    mark = mark ? mark + 1 : "";
    uint64_t here = strcmp(mark, "_text") == 0    ? k->text
                    : strcmp(mark, "_stext") == 0 ? k->stext
                                                  : 0;
    o->shift = here ? here - pgoff : 0;
    return !o->shift || !k->same_boot_only;
}

perfile_status pf_load_kernel(perfile_symbols *s, pf_symbol_object *o, uint64_t pgoff)
{
    pf_kernel *k = &s->kernel;
    perfile_status st = PERFILE_OK;
    if (!k->tried) {
        st = find_kernel(s);
        if (st != PERFILE_OK)
            give_up(k, st);
        k->tried = st != PERFILE_E_NOMEM;
        st = k->tried ? PERFILE_OK : st;
    }
    o->reason = k->reason ? k->reason : PERFILE_SYMBOL_NO_FILE;
    if (st != PERFILE_OK || !k->file)
        return st;
    o->how = PF_BY_ADDRESS;
    o->kernel_module = kernel_module(s, o->key.name);
    if (!o->kernel_module)
        return pf_symbol_no_memory(&s->budget);
    bool is_module = o->kernel_module[0] != 0;
    if (is_module ? !k->has_modules : !set_shift(k, o, pgoff)) {
        o->reason = is_module ? PERFILE_SYMBOL_NO_FILE : PERFILE_SYMBOL_OTHER_BUILD;
        return st;
    }
    o->table = &k->table;
    o->file = k->file;
    o->verified = k->verified;
    return st;
}

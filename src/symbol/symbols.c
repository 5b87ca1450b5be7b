/* perfile_symbols: objects, lookup of addresses, options, opening and closing. */
#include "base/error.h"
#include "base/options.h"
#include "symbol/helper.h"
#include "symbol/state.h"
#include "symbol/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Objects.  They are found by the properties of mappings and made at the first query. */

enum { CPUMODE_KERNEL = 1, CPUMODE_GUEST_KERNEL = 4, CPUMODE_GUEST_USER = 5 };

/* Releases everything that was loaded. */
static void pf_symbol_object_drop(perfile_symbols *s, pf_symbol_object *o)
{
    pf_symtab_free(&o->own);
    if (!o->same)
        pf_budget_free(&s->budget, o->segments, o->segments_cap, sizeof *o->segments);
    o->same = NULL;
    o->segments = NULL;
    o->n_segments = o->segments_cap = 0;
    o->table = NULL;
    o->file = NULL;
    o->verified = false;
}

perfile_status pf_symbol_object_complete(pf_symbol_object *o, int rules)
{
    pf_symtab_settle(&o->own, rules);
    perfile_status st = pf_symtab_index(&o->own);
    o->table = st == PERFILE_OK && o->own.n ? &o->own : NULL;
    return st;
}

bool pf_is_kernel(const perfile_mapping *m)
{
    return m->pid == PERFILE_NO_PID || m->cpumode == CPUMODE_KERNEL ||
           m->cpumode == CPUMODE_GUEST_KERNEL;
}

bool pf_is_elf(const pf_symbol_object *o)
{
    return !o->key.is_kernel && !o->key.is_anonymous;
}

/* Returns the size of a build id without the zeros that pad ids of 16 bytes (MD5, UUID) or 8 bytes
 * (lld's fast ids) to the size of a SHA-1. */
static uint8_t without_padding(const uint8_t *id, uint8_t size)
{
    uint8_t n = size;
    if (size != 20)
        return size;
    while (n && !id[n - 1])
        n--;
    return n > 16 ? 20 : n > 8 ? 16 : n ? 8 : 0;
}

static pf_symbol_key key_of(const perfile_mapping *m)
{
    pf_symbol_key k = {.name = m->name, .is_kernel = pf_is_kernel(m)};
    k.is_guest = m->cpumode == CPUMODE_GUEST_KERNEL || m->cpumode == CPUMODE_GUEST_USER;
    k.is_anonymous = !k.is_kernel && (m->generated || pf_is_anonymous(m->name));
    if (k.is_anonymous) {
        k.pid = m->pid;
        return k;
    }
    k.process = m->pid;
    if (m->has_inode) {
        k.ino = m->ino;
        k.maj = m->maj;
        k.min = m->min;
    }
    k.build_id_size =
        m->build_id_size <= sizeof k.build_id ? m->build_id_size : (uint8_t)sizeof k.build_id;
    memcpy(k.build_id, m->build_id, k.build_id_size);
    k.build_id_size = without_padding(k.build_id, k.build_id_size);
    return k;
}

static uint64_t hash_of(const perfile_symbols *s, const pf_symbol_key *k)
{
    uint64_t h = pf_index_hash(s->texts.seed, (const uint8_t *)k->name, strlen(k->name));
    h = pf_index_hash(h, k->build_id, k->build_id_size);
    uint64_t rest[3] = {k->ino, (uint64_t)k->maj << 32 | k->min, k->pid};
    return pf_index_hash(h, (const uint8_t *)rest, sizeof rest);
}

static bool same_key(const pf_symbol_key *a, const pf_symbol_key *b)
{
    return a->ino == b->ino && a->maj == b->maj && a->min == b->min && a->pid == b->pid &&
           a->build_id_size == b->build_id_size && a->is_kernel == b->is_kernel &&
           a->is_guest == b->is_guest && a->is_anonymous == b->is_anonymous &&
           (!a->build_id_size || memcmp(a->build_id, b->build_id, a->build_id_size) == 0) &&
           strcmp(a->name, b->name) == 0;
}

/* Returns the name of a mapping without folders.  Pseudo files keep theirs. */
static const char *pf_base_name(const char *name)
{
    const char *slash = name[0] == '/' && name[1] != '/' ? strrchr(name, '/') : NULL;
    return slash && slash[1] ? slash + 1 : name;
}

static bool keep_texts(perfile_symbols *s, pf_symbol_object *o, const perfile_mapping *m)
{
    o->dso = pf_texts_keep(&s->texts, perfile_mapping_dso(m));
    o->key.name = pf_symbols_keep(s, m->name);
    o->module = o->dso ? pf_symbols_keep(s, pf_base_name(o->dso)) : NULL;
    return o->dso && o->key.name && o->module;
}

/* Loads the symbols of an object.  If they are too large, the object stays without symbols. */
static perfile_status load(perfile_symbols *s, pf_symbol_object *o, const perfile_mapping *m)
{
    perfile_status st = PERFILE_OK;
    o->own.budget = &s->budget;
    o->own.helper = &s->helper;
    o->reason = PERFILE_SYMBOL_NO_FILE;
    if (pf_load_captured(s, o))
        ;
    else if (o->key.is_kernel)
        st = o->key.is_guest ? PERFILE_OK : pf_load_kernel(s, o, m->pgoff);
    else if (o->key.is_anonymous)
        st = o->key.is_guest ? PERFILE_OK : pf_load_perf_map(s, o, m->addr);
    else
        st = pf_load_elf(s, o);
    if (st == PERFILE_OK && o->table)
        o->reason = PERFILE_SYMBOL_FOUND;
    if (st == PERFILE_OK)
        return st;
    pf_symbol_object_drop(s, o);
    o->reason = st == PERFILE_E_LIMIT ? PERFILE_SYMBOL_TOO_LARGE : PERFILE_SYMBOL_DAMAGED;
    return st == PERFILE_E_NOMEM ? st : PERFILE_OK;
}

/* Makes the object of a mapping.  If loading fails with PERFILE_E_NOMEM, no object is added, so the
 * next query tries again. */
static perfile_status add_object(perfile_symbols *s, const perfile_mapping *m,
                                 const pf_symbol_key *key, uint64_t hash, uint32_t first,
                                 pf_symbol_object **out)
{
    if (s->n_objects == s->objects_cap) {
        size_t cap = s->objects_cap ? s->objects_cap * 2 : 16;
        pf_symbol_object **more =
            pf_budget_realloc(&s->budget, s->objects, s->objects_cap, cap, sizeof *more);
        if (!more)
            return pf_symbol_no_memory(&s->budget);
        s->objects = more;
        s->objects_cap = cap;
    }
    pf_symbol_object *o = pf_budget_alloc(&s->budget, 1, sizeof *o);
    if (!o)
        return pf_symbol_no_memory(&s->budget);
    o->key = *key;
    perfile_status st = keep_texts(s, o, m) ? load(s, o, m) : pf_symbol_no_memory(&s->budget);
    if (st == PERFILE_OK && first == PF_INDEX_NONE &&
        !pf_index_put(&s->object_index, hash, (uint32_t)s->n_objects))
        st = pf_symbol_no_memory(&s->budget);
    if (st != PERFILE_OK) {
        pf_symbol_object_drop(s, o);
        pf_budget_free(&s->budget, o, 1, sizeof *o);
        return st;
    }
    if (first != PF_INDEX_NONE) {
        o->next = s->objects[first]->next;
        s->objects[first]->next = o;
    }
    s->objects[s->n_objects++] = o;
    *out = o;
    return PERFILE_OK;
}

perfile_status pf_symbol_object_of(perfile_symbols *s, const perfile_mapping *m,
                                   pf_symbol_object **out)
{
    pf_symbol_key key = key_of(m);
    uint64_t hash = hash_of(s, &key);
    uint32_t first = pf_index_get(&s->object_index, hash);
    for (pf_symbol_object *o = first != PF_INDEX_NONE ? s->objects[first] : NULL; o; o = o->next)
        if (same_key(&o->key, &key)) {
            *out = o;
            return PERFILE_OK;
        }
    perfile_status st = pf_captured_read(s);
    if (st == PERFILE_E_NOMEM)
        return st;
    return add_object(s, m, &key, hash, first, out);
}

/* Lookup of addresses. */

/* Returns the segment that contains file offset `offset`, or NULL. */
static const pf_elf_segment *segment_of(const pf_symbol_object *o, uint64_t offset)
{
    size_t low = 0, high = o->n_segments;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (o->segments[middle].offset <= offset)
            low = middle + 1;
        else
            high = middle;
    }
    const pf_elf_segment *segment = low ? &o->segments[low - 1] : NULL;
    return segment && offset - segment->offset < segment->filesz ? segment : NULL;
}

bool pf_symbol_address(const pf_symbol_object *o, const perfile_mapping *m, uint64_t addr,
                       uint64_t *at)
{
    uint64_t distance = addr - m->addr, offset = distance + m->pgoff;
    switch (o->how) {
    case PF_BY_SEGMENT: {
        const pf_elf_segment *segment = segment_of(o, offset);
        if (!segment)
            return false;
        *at = offset - segment->offset + segment->vaddr;
        return true;
    }
    case PF_BY_LENGTH:
        /* The loader maps whole pages, of 4 KiB, 16 KiB or 64 KiB. */
        for (uint64_t page = 1 << 12; page <= 1 << 16; page <<= 2) {
            uint64_t first = o->segments[0].vaddr & ~(page - 1);
            uint64_t end = o->segments[0].vaddr + o->segments[0].memsz + page - 1;
            if ((end & ~(page - 1)) - first == m->len) {
                *at = first + distance;
                return true;
            }
        }
        return false;
    case PF_BY_ADDRESS:
        *at = addr + o->shift;
        return true;
    case PF_BY_OFFSET:
        *at = offset + o->shift;
        return true;
    default:
        *at = distance + o->shift;
        return true;
    }
}

static const char plt[] = "@plt";

/* Returns the part of a name that may be mangled.  The suffix "@plt" is not part of the stored
 * symbol. */
static perfile_bytes mangled_part(const pf_symtab *t, const pf_sym *sym)
{
    const char *name = pf_symtab_name(t, sym);
    const size_t len = strlen(name), own = sym->plt && len >= sizeof plt ? sizeof plt - 1 : 0;
    return (perfile_bytes){(const uint8_t *)name, len - own};
}

/* Returns the name to show for a symbol, or NULL if it is still to be demangled. */
static const char *known_name(const perfile_symbols *s, const pf_symtab *t, const pf_sym *sym)
{
    const perfile_bytes name = mangled_part(t, sym);
    if (s->flags & PERFILE_SYMBOLS_MANGLED || !pf_is_mangled((const char *)name.ptr, name.len))
        return pf_symtab_name(t, sym);
    return t->shown ? t->shown[sym - t->syms] : NULL;
}

/* Stores the name to show for a symbol.  `text` is the demangled name; NULL: use the name as
 * stored.  Returns false when out of memory or budget. */
static bool keep_name(perfile_symbols *s, pf_symtab *t, const pf_sym *sym, const char *text)
{
    char with_plt[PF_DEMANGLED_SIZE + sizeof plt];
    if (text && sym->plt) {
        snprintf(with_plt, sizeof with_plt, "%s%s", text, plt);
        text = with_plt;
    }
    if (!t->shown && !(t->shown = pf_budget_alloc(t->budget, t->n, sizeof *t->shown)))
        return false;
    const char *kept = text ? pf_symbols_keep(s, text) : pf_symtab_name(t, sym);
    t->shown[sym - t->syms] = kept;
    return kept;
}

/* Demangles the expected names.  Returns false when out of memory or budget. */
static bool demangle_expected(perfile_symbols *s)
{
    perfile_bytes names[PF_DEMANGLE_MOST];
    const char *shown[PF_DEMANGLE_MOST];
    bool kept = true;
    for (size_t i = 0; i < s->n_expected; i++) {
        const pf_expected *e = &s->expected[i];
        names[i] = mangled_part(e->table, &e->table->syms[e->sym]);
    }
    pf_demangle(&s->helper, names, s->n_expected, shown);
    for (size_t i = 0; i < s->n_expected && kept; i++) {
        pf_symtab *t = s->expected[i].table;
        kept = keep_name(s, t, &t->syms[s->expected[i].sym], shown[i]);
    }
    s->n_expected = 0;
    return kept;
}

/* Adds a symbol to the list of expected names, once. */
static void expect(perfile_symbols *s, pf_symtab *t, const pf_sym *sym)
{
    const uint32_t i = (uint32_t)(sym - t->syms);
    for (size_t k = 0; k < s->n_expected; k++)
        if (s->expected[k].table == t && s->expected[k].sym == i)
            return;
    s->expected[s->n_expected++] = (pf_expected){t, i};
}

/* Returns the name to show for a symbol, or NULL when out of memory or budget. */
static const char *shown_name(perfile_symbols *s, pf_symtab *t, const pf_sym *sym)
{
    const char *name = known_name(s, t, sym);
    if (name)
        return name;
    expect(s, t, sym);
    return demangle_expected(s) ? known_name(s, t, sym) : NULL;
}

void pf_symbols_expect(perfile_symbols *s, const perfile_mapping *m, uint64_t addr)
{
    pf_symbol_object *o;
    uint64_t at;
    if (m->kind == PERFILE_MAPPING_SYMBOL ||
        s->n_expected == PF_DEMANGLE_MOST - 1 || /* leaves room for one more in shown_name() */
        pf_symbol_object_of(s, m, &o) != PERFILE_OK || !o->table ||
        !pf_symbol_address(o, m, addr, &at))
        return;
    const pf_sym *sym = pf_symtab_find(o->table, at);
    if (sym && !known_name(s, o->table, sym))
        expect(s, o->table, sym);
}

/* Returns the symbol at `addr`, or NULL.  *at is the address in the symbol table. */
static const pf_sym *symbol_at(const pf_symbol_object *o, const perfile_mapping *m, uint64_t addr,
                               uint64_t *at)
{
    const pf_sym *sym = pf_symbol_address(o, m, addr, at) ? pf_symtab_find(o->table, *at) : NULL;
    /* The symbol belongs to another kernel module than the one that was recorded there. */
    const bool other =
        sym && o->kernel_module && strcmp(o->kernel_module, o->table->names + sym->module) != 0;
    return other ? NULL : sym;
}

uint32_t pf_symbol_number(const pf_symbol_object *o, const perfile_mapping *m, uint64_t addr)
{
    uint64_t at;
    const pf_sym *sym = o->table ? symbol_at(o, m, addr, &at) : NULL;
    return sym ? (uint32_t)(sym - o->table->syms) : UINT32_MAX;
}

static perfile_status answer(perfile_symbols *s, pf_symbol_object *o, const perfile_mapping *m,
                             uint64_t addr, perfile_symbol *out)
{
    uint64_t at;
    out->file = o->file;
    out->verified = o->verified;
    out->reason = o->reason;
    if (!o->table)
        return PERFILE_OK;
    const pf_sym *sym = symbol_at(o, m, addr, &at);
    if (!sym) {
        out->reason = PERFILE_SYMBOL_NO_SYMBOL_HERE;
        return PERFILE_OK;
    }
    out->mangled = pf_symtab_name(o->table, sym);
    out->name = shown_name(s, o->table, sym);
    if (!out->name) { /* no room for the demangled name */
        if (pf_symbol_no_memory(&s->budget) == PERFILE_E_NOMEM)
            return PERFILE_E_NOMEM;
        out->name = out->mangled;
    }
    out->start = addr - (at - sym->start);
    out->size = sym->end - sym->start;
    out->origin = sym->origin;
    return PERFILE_OK;
}

/* Answers from a KSYMBOL record, which has the symbol's name, address and length. */
static perfile_status answer_ksymbol(perfile_symbols *s, const perfile_mapping *m,
                                     perfile_symbol *out)
{
    const char *name = pf_symbols_keep(s, m->name);
    if (!name && pf_symbol_no_memory(&s->budget) == PERFILE_E_NOMEM)
        return PERFILE_E_NOMEM;
    out->name = out->mangled = out->module = name ? name : m->name;
    out->start = m->addr;
    out->size = m->len;
    out->origin = PERFILE_SYMBOL_KSYMBOL;
    out->verified = true;
    return PERFILE_OK;
}

perfile_status perfile_symbols_find(perfile_symbols *s, const perfile_mapping *m, uint64_t addr,
                                    uint64_t time, perfile_symbol *symbol, perfile_error *err)
{
    (void)time; /* the mapping was chosen for that time */
    perfile_symbol out = {.module = "[unknown]", .offset = addr};
    perfile_status st = PERFILE_OK;
    if (!m) {
        out.reason = PERFILE_SYMBOL_NO_MAPPING;
        *symbol = out;
        return st;
    }
    out.offset = addr - m->addr;
    if (m->kind == PERFILE_MAPPING_SYMBOL) {
        st = answer_ksymbol(s, m, &out);
    } else {
        pf_symbol_object *o = NULL;
        if (!pf_is_kernel(m))
            out.offset += m->pgoff;
        st = pf_symbol_object_of(s, m, &o);
        if (st == PERFILE_OK) {
            out.module = o->module;
            st = answer(s, o, m, addr, &out);
            o->unnamed += !out.name;
        } else if (st == PERFILE_E_LIMIT) { /* no room even for the object */
            out.module = pf_base_name(m->name);
            out.reason = PERFILE_SYMBOL_TOO_LARGE;
            st = PERFILE_OK;
        }
    }
    if (st != PERFILE_OK)
        return pf_fail_nomem(err, "symbols");
    *symbol = out;
    return PERFILE_OK;
}

size_t perfile_symbol_text(const perfile_symbol *symbol, char *out, size_t size)
{
    int n = symbol->name ? snprintf(out, size, "%s", symbol->name)
                         : snprintf(out, size, "[%s+%#llx]", symbol->module,
                                    (unsigned long long)symbol->offset);
    return n < 0 ? 0 : (size_t)n;
}

const char *pf_symbol_reason_text(unsigned reason)
{
    static const char *const texts[] = {
        [PERFILE_SYMBOL_FOUND] = "found",
        [PERFILE_SYMBOL_NO_MAPPING] = "nothing is known to be mapped there",
        [PERFILE_SYMBOL_NO_FILE] = "no file with symbols was found",
        [PERFILE_SYMBOL_OTHER_BUILD] = "the file is of another build",
        [PERFILE_SYMBOL_NO_SYMBOLS] = "the file has no symbols",
        [PERFILE_SYMBOL_NO_SYMBOL_HERE] = "no symbol covers the address",
        [PERFILE_SYMBOL_DAMAGED] = "the file is damaged",
        [PERFILE_SYMBOL_TOO_LARGE] = "the symbols are more than symbol_bytes",
        [PERFILE_SYMBOL_DISTRUSTED] = "other users may have written the map of the process",
    };
    return reason < sizeof texts / sizeof texts[0] ? texts[reason] : NULL;
}

const char *pf_symbol_origin_text(unsigned origin)
{
    static const char *const texts[] = {
        [PERFILE_SYMBOL_NOTHING] = "nothing",       [PERFILE_SYMBOL_SYMTAB] = "symtab",
        [PERFILE_SYMBOL_DYNSYM] = "dynsym",         [PERFILE_SYMBOL_PLT] = "plt",
        [PERFILE_SYMBOL_DEBUG_FILE] = "debug file", [PERFILE_SYMBOL_PERF_MAP] = "perf map",
        [PERFILE_SYMBOL_KALLSYMS] = "kallsyms",     [PERFILE_SYMBOL_KSYMBOL] = "ksymbol",
        [PERFILE_SYMBOL_CAPTURE] = "capture",
    };
    return origin < sizeof texts / sizeof texts[0] ? texts[origin] : NULL;
}

/* Opening and closing perfile_symbols: options, directories, texts. */

uint32_t pf_symbols_built_in(void)
{
    return (pf_can_demangle() ? PF_SYMBOLS_DEMANGLE : 0U) |
           (pf_can_read_dwarf() ? PF_SYMBOLS_SOURCE : 0U);
}

bool pf_path(char *path, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int n = vsnprintf(path, PF_PATH_SIZE, format, args);
    va_end(args);
    return n > 0 && n < PF_PATH_SIZE;
}

bool pf_build_id_path(const uint8_t *id, uint8_t size, char *out, size_t out_size)
{
    static const char digits[] = "0123456789abcdef";
    if (size < 2 || out_size < (size_t)size * 2 + 2)
        return false;
    for (unsigned i = 0; i < size; i++) {
        *out++ = digits[id[i] >> 4];
        *out++ = digits[id[i] & 15];
        if (i == 0)
            *out++ = '/';
    }
    *out = 0;
    return true;
}

bool pf_same_build_id(const uint8_t *a, uint8_t na, const uint8_t *b, uint8_t nb)
{
    uint8_t n = na < nb ? na : nb;
    for (uint8_t i = n; i < na; i++)
        if (a[i])
            return false;
    for (uint8_t i = n; i < nb; i++)
        if (b[i])
            return false;
    return n && memcmp(a, b, n) == 0;
}

const char *pf_symbols_keep(perfile_symbols *s, const char *text)
{
    return pf_texts_keep(&s->texts, (perfile_bytes){(const uint8_t *)text, strlen(text)});
}

static perfile_status add_debug_dir(perfile_symbols *s, const char *path, size_t root)
{
    const char *kept = pf_symbols_keep(s, path);
    if (!kept)
        return pf_symbol_no_memory(&s->budget);
    s->debug_dirs[s->n_debug_dirs++] = (pf_debug_dir){kept, root};
    return PERFILE_OK;
}

/* Adds the debug directories of the options, then the default ones. */
static perfile_status set_debug_dirs(perfile_symbols *s, const perfile_symbols_options *o)
{
    enum { DEFAULTS = 2 };
    char path[PF_PATH_SIZE];
    const char *home = getenv("HOME");
    perfile_status st = PERFILE_OK;
    s->debug_dirs_cap = (size_t)o->n_debug_dirs + DEFAULTS;
    s->debug_dirs = pf_budget_alloc(&s->budget, s->debug_dirs_cap, sizeof *s->debug_dirs);
    if (!s->debug_dirs)
        return pf_symbol_no_memory(&s->budget);
    for (uint32_t i = 0; st == PERFILE_OK && i < o->n_debug_dirs; i++)
        st = add_debug_dir(s, o->debug_dirs[i], strlen(o->debug_dirs[i]));
    if (st != PERFILE_OK || (s->flags & PERFILE_SYMBOLS_GIVEN_ONLY))
        return st;
    if (home && home[0] && pf_path(path, "%s/.debug", home))
        st = add_debug_dir(s, path, strlen(path));
    if (st == PERFILE_OK && pf_path(path, "%s/usr/lib/debug", s->symfs))
        st = add_debug_dir(s, path, s->symfs[0] ? strlen(s->symfs) : strlen(path));
    return st;
}

static perfile_status set_options(perfile_symbols *s, const perfile_symbols_options *o,
                                  perfile_error *err)
{
    if (o->n_debug_dirs && !o->debug_dirs)
        return pf_fail(err, PERFILE_E_USAGE, "symbols.debug_dirs", "%u directories, but no list",
                       (unsigned)o->n_debug_dirs);
    s->flags = o->flags;
    s->notice = o->notice;
    s->notice_user = o->notice_user;
    s->unnamed = o->unnamed;
    s->unnamed_user = o->unnamed_user;
    s->symfs = pf_symbols_keep(s, o->symfs ? o->symfs : "");
    if (s->symfs && o->perf_map_dir)
        s->perf_map_dir = pf_symbols_keep(s, o->perf_map_dir);
    perfile_status st = s->symfs && (s->perf_map_dir || !o->perf_map_dir)
                            ? set_debug_dirs(s, o)
                            : pf_symbol_no_memory(&s->budget);
    if (st == PERFILE_E_LIMIT)
        return pf_fail(err, st, "symbol_bytes", "the options do not fit");
    if (st != PERFILE_OK)
        return pf_fail_nomem(err, "symbols");
    if (o->kallsyms)
        return pf_kernel_given(s, o->kallsyms, err);
    return pf_kernel_captured(s) == PERFILE_OK ? PERFILE_OK : pf_fail_nomem(err, "symbols");
}

uint64_t pf_symbols_too_costly(const perfile_symbols *s)
{
    return s->helper.too_costly;
}

perfile_status perfile_symbols_open(const perfile_session *session,
                                    const perfile_symbols_options *options,
                                    perfile_symbols **symbols, perfile_error *err)
{
    perfile_symbols_options o;
    perfile_limits limits;
    perfile_status st = pf_options_copy(&o, options, "symbols", err);
    if (st == PERFILE_OK)
        st = pf_limits_copy(&limits, o.limits, err);
    if (st != PERFILE_OK)
        return st;
    perfile_symbols *s = pf_alloc(1, sizeof *s);
    if (!s)
        return pf_fail_nomem(err, "symbols");
    s->session = session;
    s->budget.limit = limits.symbol_bytes;
    s->texts.seed = s->object_index.seed = s->file_index.seed = s->map_index.seed =
        s->captured_index.seed = pf_index_seed(s);
    s->texts.budget = s->object_index.budget = s->file_index.budget = s->map_index.budget =
        s->captured_index.budget = s->kernel.table.budget = &s->budget;
    pf_helper_init(&s->helper, &s->budget);
    s->kernel.table.helper = &s->helper;
    s->generation = UINT64_MAX;
    st = set_options(s, &o, err);
    if (st == PERFILE_OK)
        *symbols = s;
    else
        perfile_symbols_close(s);
    return st;
}

void pf_symbols_add_unnamed(perfile_symbols *s, const perfile_mapping *m, uint64_t n)
{
    pf_symbol_object *o;
    if (m->kind != PERFILE_MAPPING_SYMBOL && pf_symbol_object_of(s, m, &o) == PERFILE_OK)
        o->unnamed += n;
}

/* Reports an object with unnamed addresses to the callback. */
static void tell_unnamed(const perfile_symbols *s, const pf_symbol_object *o)
{
    perfile_unnamed what = {.file = o->dso, .addresses = o->unnamed, .reason = o->reason};
    if (!s->unnamed || !o->unnamed)
        return;
    if (o->table)
        what.reason = PERFILE_SYMBOL_NO_SYMBOL_HERE;
    if (o->key.is_kernel)
        what.kind = PERFILE_UNNAMED_KERNEL;
    else if (o->key.is_anonymous)
        what.kind = PERFILE_UNNAMED_GENERATED;
    s->unnamed(s->unnamed_user, &what);
}

void perfile_symbols_close(perfile_symbols *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < s->n_objects; i++)
        tell_unnamed(s, s->objects[i]);
    for (size_t i = 0; i < s->n_objects; i++) {
        pf_symbol_object_drop(s, s->objects[i]);
        pf_source_drop(s, s->objects[i]);
        pf_budget_free(&s->budget, s->objects[i], 1, sizeof *s->objects[i]);
    }
    pf_source_free(s);
    for (size_t i = 0; i < s->n_captured; i++)
        pf_symtab_free(&s->captured[i].table);
    pf_budget_free(&s->budget, s->captured, s->captured_cap, sizeof *s->captured);
    pf_budget_free(&s->budget, s->objects, s->objects_cap, sizeof *s->objects);
    pf_budget_free(&s->budget, s->debug_dirs, s->debug_dirs_cap, sizeof *s->debug_dirs);
    pf_symtab_free(&s->kernel.table);
    pf_index_free(&s->object_index);
    pf_index_free(&s->file_index);
    pf_index_free(&s->map_index);
    pf_index_free(&s->captured_index);
    pf_texts_free(&s->texts);
    pf_helper_free(&s->helper);
    pf_free(s);
}

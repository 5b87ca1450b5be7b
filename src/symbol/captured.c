/* Symbols that simpleperf stored in the capture: features FILE and FILE2. */
#include <string.h>

#include "perfile/field.h"
#include "symbol/state.h"
#include "core/command.h"

/* State of a walk over the features: the current file and symbol. */
typedef struct collecting {
    perfile_symbols *s;
    unsigned depth; /* open lists, items and structs */
    bool in_file;   /* s->captured[n_captured] is partly filled */
    perfile_bytes path;
    perfile_bytes name, shown; /* of the current symbol */
    uint64_t start, size;
    perfile_status st;
} collecting;

enum { DEPTH_FILE = 2 }; /* the list of files, and one of them */

static bool is(const perfile_field *f, const char *name)
{
    return strcmp(f->name, name) == 0;
}

static void begin(void *user, const perfile_field *f, const perfile_value *v)
{
    collecting *c = user;
    perfile_symbols *s = c->s;
    (void)f, (void)v;
    if (++c->depth != DEPTH_FILE || c->st != PERFILE_OK)
        return;
    if (s->n_captured == s->captured_cap) {
        size_t cap = s->captured_cap ? s->captured_cap * 2 : 16;
        pf_captured *more =
            pf_budget_realloc(&s->budget, s->captured, s->captured_cap, cap, sizeof *more);
        if (!more) {
            c->st = pf_symbol_no_memory(&s->budget);
            return;
        }
        s->captured = more;
        s->captured_cap = cap;
    }
    s->captured[s->n_captured] =
        (pf_captured){.table.budget = &s->budget, .table.helper = &s->helper};
    c->path = (perfile_bytes){NULL, 0};
    c->in_file = true;
}

static void value(void *user, const perfile_field *f, const perfile_value *v)
{
    collecting *c = user;
    if (!c->in_file)
        return;
    pf_captured *file = &c->s->captured[c->s->n_captured];
    if (is(f, "path"))
        c->path = v->u.bytes;
    else if (is(f, "type"))
        file->type = v->number;
    else if (is(f, "min_vaddr"))
        file->min_vaddr = v->number;
    else if (is(f, "file_offset_of_min_vaddr"))
        file->file_offset = file->memory_offset = v->number;
    else if (is(f, "memory_offset_of_min_vaddr"))
        file->memory_offset = v->number;
    else if (is(f, "addr") || is(f, "vaddr"))
        c->start = v->number;
    else if (is(f, "len"))
        c->size = v->number;
    else if (is(f, "name"))
        c->name = v->u.bytes;
    else if (is(f, "demangled_name"))
        c->shown = v->u.bytes;
}

static perfile_status add_symbol(collecting *c, pf_symtab *t)
{
    pf_sym sym = {.start = c->start, .origin = PERFILE_SYMBOL_CAPTURE, .binding = PF_BIND_GLOBAL};
    perfile_bytes name = c->shown.len ? c->shown : c->name;
    if (!name.len || pf_add_u64(sym.start, c->size, &sym.end))
        return PERFILE_OK;
    if (!c->size) {
        sym.open_end = true;
        sym.end = UINT64_MAX;
    }
    perfile_status st = pf_symtab_text(t, name, &sym.name);
    return st == PERFILE_OK ? pf_symtab_add(t, sym) : st;
}

/* Adds the file to s->captured, unless one with the same path is already there. */
static perfile_status finish_file(collecting *c, pf_captured *file)
{
    perfile_symbols *s = c->s;
    pf_symtab_settle(&file->table, PF_RULES_ELF);
    perfile_status st = pf_symtab_index(&file->table);
    if (st != PERFILE_OK)
        return st;
    file->path = pf_texts_keep(&s->texts, c->path);
    if (!file->path)
        return pf_symbol_no_memory(&s->budget);
    if (!file->table.n ||
        pf_index_get(&s->captured_index, (uintptr_t)file->path) != PF_INDEX_NONE) {
        pf_symtab_free(&file->table);
        return PERFILE_OK;
    }
    if (!pf_index_put(&s->captured_index, (uintptr_t)file->path, (uint32_t)s->n_captured))
        return pf_symbol_no_memory(&s->budget);
    s->n_captured++;
    return PERFILE_OK;
}

static void end(void *user, const perfile_field *f)
{
    collecting *c = user;
    perfile_symbols *s = c->s;
    (void)f;
    unsigned depth = c->depth--;
    if (!c->in_file)
        return;
    pf_captured *file = &s->captured[s->n_captured];
    if (depth > DEPTH_FILE && c->st == PERFILE_OK && c->name.len) {
        c->st = add_symbol(c, &file->table);
        c->name = c->shown = (perfile_bytes){NULL, 0};
        c->start = c->size = 0;
    }
    if (depth != DEPTH_FILE)
        return;
    c->in_file = false;
    if (c->st == PERFILE_OK)
        c->st = finish_file(c, file);
    if (c->st != PERFILE_OK)
        pf_symtab_free(&file->table);
}

/* In a pipe a feature may arrive late, so this tries again whenever the session has grown. */
perfile_status pf_captured_read(perfile_symbols *s)
{
    static const uint32_t features[] = {PERFILE_FEATURE_FILE, PERFILE_FEATURE_FILE2};
    static const perfile_visitor visitor = {sizeof visitor, value, begin, end};
    uint64_t generation = pf_session_generation(s->session);
    if (s->captured_read || s->generation == generation)
        return PERFILE_OK;
    s->generation = generation;
    collecting c = {.s = s};
    for (unsigned i = 0; i < sizeof features / sizeof features[0]; i++) {
        const perfile_feature *f = perfile_session_feature(s->session, features[i]);
        if (!f || !f->payload.len)
            continue;
        s->captured_read = true;
        /* Files before damage are kept; the file that contains the damage is dropped. */
        c.depth = 0;
        if (perfile_feature_walk(f, PERFILE_WALK_ALL, &visitor, &c, NULL) != PERFILE_OK &&
            c.in_file)
            pf_symtab_free(&s->captured[s->n_captured].table);
        c.in_file = false;
        if (c.st != PERFILE_OK)
            return c.st;
    }
    return PERFILE_OK;
}

bool pf_load_captured(perfile_symbols *s, pf_symbol_object *o)
{
    perfile_bytes name = {(const uint8_t *)o->key.name, strlen(o->key.name)};
    const char *path = s->n_captured ? pf_texts_find(&s->texts, name) : NULL;
    uint32_t at = path ? pf_index_get(&s->captured_index, (uintptr_t)path) : PF_INDEX_NONE;
    if (at == PF_INDEX_NONE)
        return false;
    pf_captured *file = &s->captured[at];
    switch (file->type) {
    case PF_DSO_KERNEL:
    case PF_DSO_SYMBOL_MAP_FILE:
        o->how = PF_BY_ADDRESS;
        o->shift = 0;
        break;
    case PF_DSO_KERNEL_MODULE:
        o->how = PF_BY_DISTANCE;
        o->shift = file->min_vaddr - file->memory_offset;
        break;
    case PF_DSO_ELF_FILE:
        o->how = PF_BY_OFFSET;
        o->shift = file->min_vaddr - file->file_offset;
        break;
    default: /* dex files: symbols by offset */
        o->how = PF_BY_OFFSET;
        o->shift = 0;
    }
    o->table = &file->table;
    o->verified = true;
    return true;
}

/* Objects: what is known of each mapped thing, found by what mappings say about it, and made at the
 * first query for it. */
#include <string.h>

#include "symbol/state.h"

enum { CPUMODE_KERNEL = 1, CPUMODE_GUEST_KERNEL = 4, CPUMODE_GUEST_USER = 5 };

void pf_symbol_object_drop(perfile_symbols *s, pf_symbol_object *o)
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

/* The size of a build id without the zeros that make one of 16 bytes (MD5, UUID) or 8 (lld's fast
 * ones) as long as a SHA-1. */
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

const char *pf_base_name(const char *name)
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

/* Finds the symbols of an object.  A file that is too large leaves it without. */
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

/* Makes the object of a mapping.  On PERFILE_E_NOMEM while it is loaded there is none, so that the
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

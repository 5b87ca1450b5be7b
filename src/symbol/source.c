/* Places in the source: each address of a file is looked up once, and its answer kept. */
#include <string.h>

#include "base/error.h"
#include "symbol/state.h"

void pf_source_drop(perfile_symbols *s, pf_symbol_object *o)
{
    (void)s;
    pf_dwarf_close(o->dwarf);
    pf_index_free(&o->places);
}

void pf_source_free(perfile_symbols *s)
{
    for (size_t i = 0; i < s->n_places; i++)
        pf_budget_free(&s->budget, s->places[i].list, s->places[i].n, sizeof *s->places[i].list);
    pf_budget_free(&s->budget, s->places, s->places_cap, sizeof *s->places);
}

/* Copies the places to a list that lives as long as `s`; false if there is no room. */
static bool keep_places(perfile_symbols *s, const pf_dwarf_place *places, size_t n,
                        perfile_source_place *list)
{
    for (size_t i = 0; i < n; i++) {
        list[i] = (perfile_source_place){.line = places[i].line, .is_inlined = i + 1 < n};
        if ((places[i].function && !(list[i].function = pf_symbols_keep(s, places[i].function))) ||
            (places[i].file && !(list[i].file = pf_symbols_keep(s, places[i].file))))
            return false;
    }
    return true;
}

/* Makes room for one more answer. */
static bool reserve(perfile_symbols *s)
{
    if (s->n_places < s->places_cap)
        return true;
    size_t cap = s->places_cap ? s->places_cap * 2 : 64;
    pf_places *more = pf_budget_realloc(&s->budget, s->places, s->places_cap, cap, sizeof *more);
    if (!more || cap >= PF_INDEX_NONE)
        return false;
    s->places = more;
    s->places_cap = cap;
    return true;
}

/* Looks an address of a file up; false if there is no room. */
static bool look_up(perfile_symbols *s, pf_symbol_object *o, uint64_t at, uint32_t *number)
{
    pf_dwarf_place places[PF_PLACES_MOST];
    const size_t n =
        o->dwarf ? pf_dwarf_find(o->dwarf, at, !(s->flags & PERFILE_SYMBOLS_MANGLED), places) : 0;
    perfile_source_place *list = NULL;
    if (!reserve(s) || (n && !(list = pf_budget_alloc(&s->budget, n, sizeof *list))))
        return false;
    if (!keep_places(s, places, n, list) || !pf_index_put(&o->places, at, (uint32_t)s->n_places)) {
        pf_budget_free(&s->budget, list, n, sizeof *list);
        return false;
    }
    s->places[s->n_places] = (pf_places){list, n};
    *number = (uint32_t)s->n_places++;
    return true;
}

/* The answer for an address.  PERFILE_E_LIMIT, PERFILE_E_NOMEM. */
static perfile_status find(perfile_symbols *s, const perfile_mapping *m, uint64_t addr,
                           uint32_t *number)
{
    pf_symbol_object *o = NULL;
    uint64_t at;
    perfile_status st = pf_symbol_object_of(s, m, &o);
    if (st != PERFILE_OK || !pf_is_elf(o) || !pf_symbol_address(o, m, addr, &at))
        return st;
    o = pf_symbol_object_loaded(o);
    if (!o->dwarf_tried) {
        o->places = (pf_index){.seed = s->object_index.seed, .budget = &s->budget};
        st = pf_dwarf_open(s, o, &o->dwarf);
        if (st == PERFILE_E_NOMEM)
            return st;
        o->dwarf_tried = true;
    }
    *number = pf_index_get(&o->places, at);
    return *number != PF_INDEX_NONE || look_up(s, o, at, number) ? PERFILE_OK
                                                                 : pf_symbol_no_memory(&s->budget);
}

perfile_status perfile_symbols_source(perfile_symbols *s, const perfile_mapping *mapping,
                                      uint64_t addr, uint64_t time,
                                      const perfile_source_place **sources, size_t *n,
                                      perfile_error *err)
{
    (void)time; /* the mapping is of that time already */
    uint32_t number = PF_INDEX_NONE;
    perfile_status st = PERFILE_OK;
    if (mapping && mapping->kind != PERFILE_MAPPING_SYMBOL)
        st = find(s, mapping, addr, &number);
    if (st == PERFILE_E_NOMEM)
        return pf_fail_nomem(err, "symbols");
    const bool known = st == PERFILE_OK && number != PF_INDEX_NONE;
    *sources = known ? s->places[number].list : NULL;
    *n = known ? s->places[number].n : 0;
    return PERFILE_OK;
}

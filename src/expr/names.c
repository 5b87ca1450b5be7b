#include "expr/names.h"

#include "base/error.h"
#include "expr/search.h"
#include "expr/words.h"

const char *pf_expr_row_of(const char *name, const char **rest)
{
    char first[PF_EXPR_NAME_BYTES];
    const char *dot = strchr(name, '.');
    if (!dot)
        return NULL;
    memcpy(first, name, (size_t)(dot - name));
    first[dot - name] = 0;
    const char *row = NULL;
    if (pf_expr_same_word(first, "sample_id"))
        row = pf_struct_shapes[PF_SHAPE_sample_id].name;
    for (unsigned i = 0; i < pf_all_rows() && !row; i++)
        if (pf_expr_same_word(first, pf_shape_at(i)->name) ||
            pf_expr_same_word(first, pf_row_at(i)->name))
            row = pf_shape_at(i)->name;
    if (row)
        *rest = dot + 1;
    return row;
}

/* "mmap2." or "MMAP2." in front: fields of that row only. */
static void look_in_row(perfile_expr *e, pf_slot *slot, const char *name, perfile_status *st,
                        perfile_error *err)
{
    const char *rest;
    const char *row = pf_expr_row_of(name, &rest);
    if (!row)
        return;
    if (row == pf_struct_shapes[PF_SHAPE_sample_id].name)
        pf_expr_search(e, slot, &pf_struct_shapes[PF_SHAPE_sample_id], PF_ROW_TRAILER,
                       PF_WAY_MEMBER, rest, st, err);
    for (unsigned i = 0; i < pf_all_rows(); i++)
        if (row == pf_shape_at(i)->name)
            pf_expr_search(e, slot, pf_shape_at(i), (uint8_t)i, PF_WAY_MEMBER, rest, st, err);
}

static void look_in_records(perfile_expr *e, pf_slot *slot, const char *name, perfile_status *st,
                            perfile_error *err)
{
    look_in_row(e, slot, name, st, err);
    if (slot->n_ways)
        return;
    for (unsigned i = 0; i < pf_all_rows(); i++)
        pf_expr_search(e, slot, pf_shape_at(i), (uint8_t)i, PF_WAY_MEMBER, name, st, err);
    pf_expr_search(e, slot, &pf_struct_shapes[PF_SHAPE_sample_id], PF_ROW_TRAILER, PF_WAY_MEMBER,
                   name, st, err);
}

static void look_in_elements(perfile_expr *e, pf_slot *slot, const pf_slot *list, const char *name,
                             perfile_status *st, perfile_error *err)
{
    bool done[PF_N_SHAPES] = {false};
    slot->element = true;
    if (!*name)
        slot->of = PF_OF_ELEMENT;
    for (uint32_t i = 0; i < list->n_ways; i++) {
        pf_way way = e->ways[list->ways + i];
        if (!*name && way.type == PERFILE_STORED_WORDS) {
            pf_expr_add_way(e, slot,
                            &(pf_way){.class = PERFILE_EXPR_NUMBER,
                                      .type = way.element,
                                      .kind = way.kind,
                                      .words = perfile_kind_words(way.kind)},
                            st, err);
        } else if (*name && way.type == PERFILE_STORED_LIST && !done[way.of]) {
            done[way.of] = true;
            pf_expr_search(e, slot, &pf_struct_shapes[way.of], way.of, PF_WAY_ELEMENT, name, st,
                           err);
        }
    }
}

static void ask_provider(const perfile_expr *e, pf_slot *slot, const char *name)
{
    if (!e->has_provider)
        return;
    uint32_t class = e->provider.knows(e->provider.user, name, &slot->handle);
    if (class != PERFILE_EXPR_NUMBER && class != PERFILE_EXPR_TEXT)
        return;
    slot->asked = true;
    slot->asked_class = (uint8_t) class;
    slot->classes |= (uint8_t) class;
}

perfile_status pf_expr_find(perfile_expr *e, const char *name, const pf_slot *list, pf_slot **slot,
                            perfile_error *err)
{
    if (e->n_slots == PF_EXPR_SLOTS)
        return pf_fail(err, PERFILE_E_LIMIT, "expression", "the expression has too many names");
    /* Growing would move `list`. */
    pf_slot of_list = list ? *list : (pf_slot){0};
    void *items = e->slots;
    pf_slot *s = pf_expr_more(&items, &e->n_slots, &e->slots_cap, sizeof *s);
    e->slots = items;
    if (!s)
        return pf_fail_nomem(err, "expression");
    s->ways = e->n_ways;
    perfile_status st = PERFILE_OK;
    const pf_expr_common *common = list ? NULL : pf_expr_common_find(name);
    if (common) {
        s->of = common->of;
        s->classes = common->classes;
    } else if (list) {
        look_in_elements(e, s, &of_list, name, &st, err);
    } else {
        look_in_records(e, s, name, &st, err);
        s->timed = strcmp(name, "time") == 0;
        ask_provider(e, s, name);
    }
    if (st == PERFILE_OK && !s->classes)
        st = PERFILE_END;
    if (st != PERFILE_OK) {
        e->n_ways = s->ways;
        e->n_slots--;
        return st;
    }
    *slot = s;
    return PERFILE_OK;
}

/* Leaves the ways for which `keep` holds; the room of the others is not used again. */
static void prune(perfile_expr *e, pf_slot *s, bool (*keep)(const pf_way *, const void *),
                  const void *with)
{
    uint32_t n = 0;
    s->classes = s->asked ? s->asked_class : 0;
    for (uint32_t i = 0; i < s->n_ways; i++) {
        pf_way w = e->ways[s->ways + i];
        if (!keep(&w, with))
            continue;
        e->ways[s->ways + n++] = w;
        s->classes |= w.class;
    }
    s->n_ways = n;
}

static bool is_of_class(const pf_way *w, const void *class)
{
    return w->class & *(const unsigned *)class;
}

bool pf_expr_narrow(perfile_expr *e, pf_slot *s, unsigned class)
{
    if (!(s->classes & class))
        return false;
    if (s->of != PF_OF_FIELDS) {
        s->classes = (uint8_t) class;
        return true;
    }
    if (!(s->asked_class & class))
        s->asked = false;
    prune(e, s, is_of_class, &class);
    return true;
}

static bool has_word(const pf_way *w, const void *word)
{
    uint64_t number;
    return w->class == PERFILE_EXPR_NUMBER && pf_expr_word_of(w->words, word, &number);
}

static int common_word(pf_slot *s, const char *word, uint64_t *number)
{
    uint64_t types;
    switch (s->of) {
    case PF_OF_TYPE: {
        uint32_t type = perfile_record_type_number(word);
        *number = type;
        return type ? PF_WORD_FOUND : PF_WORD_NONE;
    }
    case PF_OF_MISC:
        if (!pf_expr_misc(word, number, &types))
            return PF_WORD_NONE;
        s->misc_types = types;
        return PF_WORD_FOUND;
    case PF_OF_CPUMODE:
        return pf_expr_word_of(perfile_vocabulary_find("cpumode"), word, number) ? PF_WORD_FOUND
                                                                                 : PF_WORD_NONE;
    default:
        return PF_WORD_NONE;
    }
}

int pf_expr_word(perfile_expr *e, pf_slot *s, const char *word, uint64_t *number)
{
    if (s->of != PF_OF_FIELDS && s->of != PF_OF_ELEMENT)
        return common_word(s, word, number);
    bool found = false;
    for (uint32_t i = 0; i < s->n_ways; i++) {
        uint64_t n;
        const pf_way *w = &e->ways[s->ways + i];
        if (w->class != PERFILE_EXPR_NUMBER || !pf_expr_word_of(w->words, word, &n))
            continue;
        if (found && n != *number)
            return PF_WORD_SEVERAL;
        *number = n;
        found = true;
    }
    if (!found)
        return PF_WORD_NONE;
    s->asked = false;
    prune(e, s, has_word, word);
    return PF_WORD_FOUND;
}

unsigned pf_expr_none_widths(const perfile_expr *e, const pf_slot *s)
{
    unsigned widths = 0;
    for (uint32_t i = 0; i < s->n_ways; i++) {
        const pf_way *w = &e->ways[s->ways + i];
        if (w->kind == PERFILE_KIND_PID || w->kind == PERFILE_KIND_TID ||
            w->kind == PERFILE_KIND_CPU)
            widths |= pf_type_width(w->type);
    }
    return widths;
}

/* What somebody may have meant. */
#include <stdio.h>

#include "base/nearest.h"
#include "expr/list.h"
#include "expr/names.h"
#include "expr/words.h"

/* What lies deeper is found by its own name, too; parts of words by that alone, or by one that
 * looks like it behind the name of the word. */
static void offer_parts(pf_nearest *near, const perfile_expr_name *what)
{
    char name[PF_EXPR_NAME_BYTES];
    size_t n = strlen(what->name);
    bool inside = strncmp(near->wanted, what->name, n) == 0 && near->wanted[n] == '.';
    for (uint32_t i = 0; what->words && what->words->bits && i < what->words->n; i++) {
        const char *part = what->words->bits[i].name;
        bool same = pf_expr_same_word(part, near->wanted);
        if (!same && !inside)
            continue;
        snprintf(name, sizeof name, "%.60s.%.60s", what->name, part);
        pf_nearest_offer_as(near, name, same ? near->wanted : name, same);
    }
}

static void offer_name(void *user, const perfile_expr_name *what)
{
    pf_nearest *near = user;
    const char *last = strrchr(what->name, '.');
    if (what->list)
        return;
    pf_nearest_offer(near, what->name);
    if (last)
        pf_nearest_offer_as(near, what->name, last + 1, 1);
    offer_parts(near, what);
}

static void offer_element(void *user, const perfile_expr_name *what)
{
    pf_nearest_offer_as(user, what->name, what->name + 1, 0);
    offer_parts(user, what);
}

void pf_expr_near_names(const perfile_expr *e, const char *name, const pf_slot *list, char *out,
                        size_t size)
{
    static const char *const functions[] = {"any", "all", "count", "has"};
    pf_nearest near;
    pf_nearest_begin(&near, name);
    for (uint32_t i = 0; list && i < list->n_ways; i++)
        if (e->ways[list->ways + i].type == PERFILE_STORED_LIST)
            pf_expr_list_shape(&pf_struct_shapes[e->ways[list->ways + i].of], "", "", offer_element,
                               &near);
    const char *rest;
    const char *row = list ? NULL : pf_expr_row_of(name, &rest);
    if (row) {
        pf_nearest_begin(&near, rest);
        for (unsigned i = 0; i < pf_all_rows(); i++)
            if (row == pf_shape_at(i)->name)
                pf_expr_list_shape(pf_shape_at(i), "", NULL, offer_name, &near);
    } else if (!list) {
        perfile_expr_names(offer_name, &near);
        for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
            pf_nearest_offer(&near, functions[i]);
    }
    pf_nearest_put(&near, out, size);
}

static void offer_words(pf_nearest *near, const perfile_vocabulary *v)
{
    for (uint32_t i = 0; v && i < v->n; i++)
        pf_nearest_offer(near, v->bits ? v->bits[i].name : v->words[i].name);
}

void pf_expr_near_words(const perfile_expr *e, const pf_slot *s, const char *word, char *out,
                        size_t size)
{
    const char *misc;
    pf_nearest near;
    pf_nearest_begin(&near, word);
    for (unsigned i = 0; s->of == PF_OF_TYPE && i < pf_all_rows(); i++)
        pf_nearest_offer(&near, pf_row_at(i)->name);
    for (size_t i = 0; s->of == PF_OF_MISC && (misc = pf_expr_misc_word(i)); i++)
        pf_nearest_offer(&near, misc);
    if (s->of == PF_OF_CPUMODE)
        offer_words(&near, perfile_vocabulary_find("cpumode"));
    for (uint32_t i = 0; i < s->n_ways; i++)
        offer_words(&near, e->ways[s->ways + i].words);
    pf_nearest_put(&near, out, size);
}

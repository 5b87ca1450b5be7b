/* Suggestions for unknown names and words in error messages.  All candidates are offered to
 * base/nearest.h, which keeps those that are most similar. */
#include <stdio.h>

#include "base/nearest.h"
#include "expr/program.h"

/* Offers the bit fields of a number: `op` suggests data_src.op, and so does data_src.opp. Otherwise
 * only exact names count, because there are many short ones. */
static void offer_parts(pf_nearest *suggestions, const perfile_expr_name *what)
{
    char name[PF_EXPR_NAME_BYTES];
    size_t n = strlen(what->name);
    bool inside = strncmp(suggestions->wanted, what->name, n) == 0 && suggestions->wanted[n] == '.';
    for (uint32_t i = 0; what->words && what->words->bits && i < what->words->n; i++) {
        const char *part = what->words->bits[i].name;
        bool same = pf_expr_same_word(part, suggestions->wanted);
        if (!same && !inside)
            continue;
        snprintf(name, sizeof name, "%.60s.%.60s", what->name, part);
        pf_nearest_offer_as(suggestions, name, same ? suggestions->wanted : name, same);
    }
}

/* Offers a field under its full name, and under the last part of it. */
static void offer_name(void *user, const perfile_expr_name *what)
{
    pf_nearest *suggestions = user;
    const char *last = strrchr(what->name, '.');
    if (what->list) /* only inside any(), all(), count(): see offer_element() */
        return;
    pf_nearest_offer(suggestions, what->name);
    if (last)
        pf_nearest_offer_as(suggestions, what->name, last + 1, 1);
    offer_parts(suggestions, what);
}

/* Offers a field of a row that the unknown name begins with, as "mmap2.pgoff". */
static void offer_in_row(void *user, const perfile_expr_name *what)
{
    char name[2 * PF_EXPR_NAME_BYTES];
    if (what->list)
        return;
    snprintf(name, sizeof name, "%s.%s", what->record, what->name);
    pf_nearest_offer_as(user, name, what->name, 0);
}

/* Offers a member of list elements, whose name begins with a dot. */
static void offer_element(void *user, const perfile_expr_name *what)
{
    pf_nearest_offer_as(user, what->name, what->name + 1, 0);
    offer_parts(user, what);
}

/* Names that only a provider knows, and what the tables have instead. */
static const struct {
    const char *name;
    const char *hint; /* for an error message */
} provided[] = {
    {"comm", "; comm.comm is the field of COMM records"},
    {"cgroup", "; cgroup.path is the field of CGROUP records"},
    {"dso", ""},
    {"sym", ""},
};

enum { N_PROVIDED = sizeof provided / sizeof provided[0] };

const char *pf_expr_provider_hint(const char *name)
{
    for (size_t i = 0; i < N_PROVIDED; i++)
        if (strcmp(name, provided[i].name) == 0)
            return provided[i].hint;
    return NULL;
}

/* Offers the names that are valid without a row in front. */
static void offer_all(const perfile_expr *e, pf_nearest *suggestions, bool functions)
{
    static const char *const words[] = {"any", "all", "count", "has"};
    uint32_t handle;
    for (size_t i = 0; i < N_PROVIDED && e->has_provider; i++)
        if (e->provider.knows(e->provider.user, provided[i].name, &handle))
            pf_nearest_offer(suggestions, provided[i].name);
    perfile_expr_names(offer_name, suggestions);
    for (size_t i = 0; i < sizeof words / sizeof words[0] && functions; i++)
        pf_nearest_offer(suggestions, words[i]);
}

/* Writes "mmap2 records have no pgof; did you mean mmap2.pgoff?" */
void pf_expr_explain_unknown(const perfile_expr *e, const char *name, const pf_slot *list,
                             bool functions, char *out, size_t size)
{
    pf_nearest suggestions;
    char similar[160];
    const char *rest = name;
    const char *row = list ? NULL : pf_expr_split_row(name, &rest);
    const char *hint = list ? NULL : pf_expr_provider_hint(name);
    if (hint) {
        snprintf(out, size, "%s is not known here%s", name, hint);
        return;
    }
    pf_nearest_begin(&suggestions, rest);
    for (uint32_t i = 0; list && i < list->n_ways; i++)
        if (e->ways[list->ways + i].type == PERFILE_STORED_LIST)
            pf_expr_list_shape(&pf_struct_shapes[e->ways[list->ways + i].of], "", "", offer_element,
                               &suggestions);
    for (unsigned i = 0; row && i < pf_all_rows(); i++)
        if (row == pf_shape_at(i)->name)
            pf_expr_list_shape(pf_shape_at(i), row, NULL, offer_in_row, &suggestions);
    if (row == pf_struct_shapes[PF_SHAPE_sample_id].name)
        pf_expr_list_shape(&pf_struct_shapes[PF_SHAPE_sample_id], row, NULL, offer_in_row,
                           &suggestions);
    if (!list && !row)
        offer_all(e, &suggestions, functions);
    pf_nearest_put(&suggestions, similar, sizeof similar);
    snprintf(out, size, "%s%s %.40s%s%s%s",
             list  ? "elements"
             : row ? row
                   : "there is",
             list  ? " have no"
             : row ? " records have no"
                   : " no",
             rest, similar[0] ? "; did you mean " : "", similar, similar[0] ? "?" : "");
}

/* Offers all words of a vocabulary (may be NULL). */
static void offer_words(pf_nearest *suggestions, const perfile_vocabulary *v)
{
    for (uint32_t i = 0; v && i < v->n; i++)
        pf_nearest_offer(suggestions, v->bits ? v->bits[i].name : v->words[i].name);
}

void pf_expr_suggest_words(const perfile_expr *e, const pf_slot *s, const char *word, char *out,
                           size_t size)
{
    const char *misc;
    pf_nearest suggestions;
    pf_nearest_begin(&suggestions, word);
    for (unsigned i = 0; s->of == PF_OF_TYPE && i < pf_all_rows(); i++)
        pf_nearest_offer(&suggestions, pf_row_at(i)->name);
    for (size_t i = 0; s->of == PF_OF_MISC && (misc = pf_expr_misc_word(i)); i++)
        pf_nearest_offer(&suggestions, misc);
    if (s->of == PF_OF_CPUMODE)
        offer_words(&suggestions, perfile_vocabulary_find("cpumode"));
    for (uint32_t i = 0; i < s->n_ways; i++)
        offer_words(&suggestions, e->ways[s->ways + i].words);
    pf_nearest_put(&suggestions, out, size);
}

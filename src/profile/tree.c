/* Making a tree of names (see tree.h).
 *
 * Nodes are interned by parent and name, so a parent has a lower number than its children, and
 * totals are added up from the last node to the first.  Children are ordered by sorting all nodes
 * by parent and by the rank of their name. */
#include "profile/tree.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfile/emit.h"

/* Returns the number of a name, and adds it if it is new.  Returns PF_INTERN_NONE when out of
 * memory. */
static uint32_t name_number(pf_tree *t, perfile_bytes name)
{
    pf_budget *budget = &t->profile->budget;
    const char *text = pf_texts_keep(&t->profile->texts, name);
    if (!text)
        return PF_INTERN_NONE;
    uint32_t at = pf_index_get(&t->name_index, (uintptr_t)text);
    if (at != PF_INDEX_NONE)
        return at;
    if (t->n_names == t->names_cap) {
        size_t cap = t->names_cap ? t->names_cap * 2 : 64;
        const char **names = pf_budget_realloc(budget, t->names, t->names_cap, cap, sizeof *names);
        if (!names)
            return PF_INTERN_NONE;
        t->names = names;
        t->names_cap = cap;
    }
    if (t->n_names >= PF_INTERN_NONE ||
        !pf_index_put(&t->name_index, (uintptr_t)text, (uint32_t)t->n_names))
        return PF_INTERN_NONE;
    t->names[t->n_names] = text;
    return (uint32_t)t->n_names++;
}

bool pf_tree_frame_name(const pf_profile *p, const pf_tree_options *o, const pf_call_frame *frame,
                        pf_buffer *out)
{
    bool ok = pf_name_frame(p, frame, o->join, out);
    if (ok && o->mark_kernel && frame->code == PF_CODE_KERNEL)
        ok = pf_buffer_append(out, "_[k]", 4);
    if (ok && o->mark_jit && frame->code == PF_CODE_JIT)
        ok = pf_buffer_append(out, "_[j]", 4);
    if (ok && o->mark_inline && frame->inlined)
        ok = pf_buffer_append(out, "_[i]", 4);
    return ok;
}

/* Returns the number of a frame's name. */
static uint32_t frame_name(pf_tree *t, const pf_tree_options *o, uint32_t number, pf_buffer *text)
{
    if (t->frame_names[number])
        return t->frame_names[number] - 1;
    const pf_call_frame *frame = pf_profile_frame_at(t->profile, number);
    pf_buffer_clear(text);
    uint32_t name = pf_tree_frame_name(t->profile, o, frame, text)
                        ? name_number(t, (perfile_bytes){text->ptr, text->len})
                        : PF_INTERN_NONE;
    if (name != PF_INTERN_NONE)
        t->frame_names[number] = name + 1;
    return name;
}

/* Appends the text of a label for one key. */
static bool append_label(const pf_label *label, unsigned key, pf_buffer *text)
{
    char number[32];
    uint32_t value = key == PERFILE_PER_PID   ? label->pid
                     : key == PERFILE_PER_CPU ? label->cpu
                                              : label->tid;
    const char *word = key == PERFILE_PER_PID ? "pid" : key == PERFILE_PER_CPU ? "cpu" : "tid";
    if (key == PERFILE_PER_EVENT)
        return pf_name_text(label->event ? label->event : "unknown event", PF_NAME_MOST, text);
    if (key == PERFILE_PER_COMM && label->comm)
        return pf_name_text(label->comm, PF_NAME_MOST, text);
    int n = key == PERFILE_PER_COMM
                ? snprintf(number, sizeof number, ":%" PRId32, (int32_t)value)
                : snprintf(number, sizeof number, "%s %" PRId32, word, (int32_t)value);
    return pf_buffer_append(text, number, (size_t)n);
}

/* A level of the path to a node: a frame, or a key of its label. */
typedef struct pf_step {
    uint32_t name, code, object;
} pf_step;

/* Appends a step.  Returns false when out of memory. */
static bool add_step(pf_tree *t, size_t *n, pf_step step)
{
    if (*n == t->path_cap) {
        size_t cap = t->path_cap ? t->path_cap * 2 : 256;
        pf_step *path = pf_realloc(t->path, cap, sizeof *path);
        if (!path)
            return false;
        t->path = path;
        t->path_cap = cap;
    }
    t->path[(*n)++] = step;
    return step.name != PF_INTERN_NONE;
}

/* Writes the path of a sum to t->path: its frames, innermost first, then the keys, the last one
 * first.  Returns false when out of memory or over the limit. */
static bool read_path(pf_tree *t, const pf_tree_options *o, const pf_sum *sum, pf_buffer *text,
                      size_t *n)
{
    const pf_label *label = pf_profile_label_at(t->profile, sum->label);
    bool ok = true;
    *n = 0;
    for (uint32_t at = sum->stack; at != PF_EMPTY_STACK && ok;) {
        const pf_call_stack *s = pf_profile_stack_at(t->profile, at);
        const pf_call_frame *frame = pf_profile_frame_at(t->profile, s->frame);
        ok =
            add_step(t, n, (pf_step){frame_name(t, o, s->frame, text), frame->code, frame->object});
        at = s->parent;
    }
    for (size_t i = strnlen((const char *)o->per, sizeof o->per); i-- > 0 && ok;) {
        pf_buffer_clear(text);
        ok = append_label(label, o->per[i], text) &&
             add_step(t, n,
                      (pf_step){name_number(t, (perfile_bytes){text->ptr, text->len}),
                                PF_CODE_LABEL, PF_NO_OBJECT});
    }
    return ok;
}

/* Returns the child of a node for a step, and adds it if it is new. */
static uint32_t child_of(pf_tree *t, uint32_t parent, const pf_step *step)
{
    const pf_node key = {.parent = parent, .name = step->name};
    const size_t before = t->nodes.n;
    uint32_t number = pf_intern_add(&t->nodes, &key);
    if (number == PF_INTERN_NONE)
        return number;
    pf_node *node = pf_intern_at(&t->nodes, number);
    if (t->nodes.n != before) {
        node->code = step->code;
        node->object = step->object;
        node->depth = pf_tree_at(t, parent)->depth + 1;
    } else if (node->object != step->object) {
        node->object = PF_OBJECTS;
    }
    return number;
}

/* Adds a sum to the tree.  Returns false when out of memory or over the limit. */
static bool add_sum(pf_tree *t, const pf_tree_options *o, const pf_sum *sum, pf_buffer *text)
{
    const pf_label *label = pf_profile_label_at(t->profile, sum->label);
    const size_t when = label->flags & PF_LABEL_BEFORE ? PF_BEFORE : PF_NOW;
    uint32_t at = 0;
    size_t n;
    if (!read_path(t, o, sum, text, &n))
        return false;
    for (size_t i = 0; i < n && at != PF_INTERN_NONE; i++)
        at = child_of(t, at, &t->path[o->reverse ? i : n - 1 - i]);
    if (at == PF_INTERN_NONE)
        return false;
    pf_node *node = pf_intern_at(&t->nodes, at);
    pf_sum_add(&node->self[when], o->periods ? sum->period : sum->samples);
    return true;
}

/* Sort items: a name and its number; a node and its sort keys. */
typedef struct ranked_name {
    const char *text;
    uint32_t number;
} ranked_name;
typedef struct ranked_node {
    uint32_t parent, rank, number;
} ranked_node;

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const ranked_name *)a)->text, ((const ranked_name *)b)->text);
}

static int compare_nodes(const void *a, const void *b)
{
    const ranked_node *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    return (x->rank > y->rank) - (x->rank < y->rank);
}

/* Links children in the order of their names.  Returns false when out of memory or over the
 * limit. */
static bool link_children(pf_tree *t)
{
    pf_budget *budget = &t->profile->budget;
    const size_t n = t->nodes.n, n_names = t->n_names;
    ranked_name *names = pf_budget_alloc(budget, n_names, sizeof *names);
    uint32_t *ranks = pf_budget_alloc(budget, n_names, sizeof *ranks);
    ranked_node *nodes = pf_budget_alloc(budget, n, sizeof *nodes);
    const bool ok = names && ranks && nodes;
    if (ok) {
        for (uint32_t i = 0; i < n_names; i++)
            names[i] = (ranked_name){t->names[i], i};
        qsort(names, n_names, sizeof *names, compare_names);
        for (uint32_t i = 0; i < n_names; i++)
            ranks[names[i].number] = i;
        for (uint32_t i = 1; i < n; i++) { /* all but the root */
            const pf_node *node = pf_tree_at(t, i);
            nodes[i - 1] = (ranked_node){node->parent, ranks[node->name], i};
        }
        qsort(nodes, n - 1, sizeof *nodes, compare_nodes);
        for (size_t i = n - 1; i-- > 0;) { /* from the last child to the first */
            pf_node *parent = pf_intern_at(&t->nodes, nodes[i].parent);
            ((pf_node *)pf_intern_at(&t->nodes, nodes[i].number))->next = parent->first_child;
            parent->first_child = nodes[i].number;
        }
    }
    pf_budget_free(budget, names, n_names, sizeof *names);
    pf_budget_free(budget, ranks, n_names, sizeof *ranks);
    pf_budget_free(budget, nodes, n, sizeof *nodes);
    return ok;
}

/* Adds up the totals: children have higher numbers than their parents. */
static void add_totals(pf_tree *t)
{
    for (uint32_t i = (uint32_t)t->nodes.n; i-- > 0;) {
        pf_node *node = pf_intern_at(&t->nodes, i);
        pf_node *parent = pf_intern_at(&t->nodes, node->parent);
        for (size_t when = 0; when < 2; when++) {
            pf_sum_add(&node->total[when], node->self[when]);
            if (i)
                pf_sum_add(&parent->total[when], node->total[when]);
        }
    }
}

/* Adds the root and all sums. */
static bool fill(pf_tree *t, const pf_tree_options *options)
{
    pf_buffer text = {0};
    const pf_node root = {.parent = 0, .name = 0};
    bool ok = name_number(t, (perfile_bytes){(const uint8_t *)"", 0}) == 0 &&
              pf_intern_add(&t->nodes, &root) == 0;
    if (ok)
        ((pf_node *)pf_intern_at(&t->nodes, 0))->object = PF_NO_OBJECT;
    for (uint32_t i = 0; i < t->profile->sums.n && ok; i++)
        ok = add_sum(t, options, pf_profile_sum_at(t->profile, i), &text);
    pf_buffer_free(&text);
    return ok;
}

perfile_status pf_tree_make(pf_tree *t, pf_profile *profile, const pf_tree_options *options,
                            perfile_error *err)
{
    pf_budget *budget = &profile->budget;
    const uint64_t seed = profile->texts.seed;
    *t = (pf_tree){.profile = profile,
                   .nodes = {.seed = seed,
                             .budget = budget,
                             .width = sizeof(pf_node),
                             .key = offsetof(pf_node, self)},
                   .name_index = {.seed = seed, .budget = budget},
                   .n_frames = profile->frames.n};
    t->frame_names = pf_budget_alloc(budget, t->n_frames, sizeof *t->frame_names);
    if (!t->frame_names || !fill(t, options) || !link_children(t))
        return pf_profile_fail(profile, err);
    add_totals(t);
    return PERFILE_OK;
}

void pf_tree_free(pf_tree *t)
{
    if (!t->profile)
        return;
    pf_budget *budget = &t->profile->budget;
    pf_intern_free(&t->nodes);
    pf_index_free(&t->name_index);
    pf_budget_free(budget, t->names, t->names_cap, sizeof *t->names);
    pf_budget_free(budget, t->frame_names, t->n_frames, sizeof *t->frame_names);
    pf_free(t->path);
    *t = (pf_tree){0};
}

uint32_t pf_tree_next(const pf_tree *t, uint32_t number)
{
    const pf_node *node = pf_tree_at(t, number);
    if (node->first_child)
        return node->first_child;
    while (number && !node->next) {
        number = node->parent;
        node = pf_tree_at(t, number);
    }
    return number ? node->next : 0;
}

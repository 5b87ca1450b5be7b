/* Making call trees (see calls.h).
 *
 * Each sum of the profile is added to the trees of the rows that it counts for: one node for each
 * frame of its stack, beginning with the row's frame, up to the depth of the trees.  Nodes are
 * interned by parent and function, so a node has a higher number than its parent.  Then the nodes
 * with enough samples are linked, in descending order, and listed in the order of the tree. */
#include "report/calls.h"

#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "profile/profile.h"
#include "report/command.h"

enum { DEPTH = 64, DEPTH_MOST = 1024 };

/* Limits for steps along call chains, for nodes and for shown nodes: a constant, plus an amount for
 * each 16 bytes of records (format/limits.md).  A limit is needed because a chain of n functions
 * has trees of n * n nodes.  Real captures need up to 2 steps for each byte. */
enum {
    STEPS = 1 << 20,
    STEPS_16 = 256,
    NODES = 1 << 16,
    NODES_16 = 4,
    SHOWN = 1 << 13,
    SHOWN_16 = 4
};

static uint64_t at_most(uint64_t always, uint64_t for_16, uint64_t record_bytes)
{
    return always + (record_bytes / 16 < UINT32_MAX ? record_bytes / 16 : UINT32_MAX) * for_16;
}

/* Finds the function of each frame.  Returns false when out of memory. */
static bool number_functions(pf_calls *c)
{
    bool ok = true;
    pf_buffer text = {0};
    const pf_profile *p = c->rows->profile;
    for (uint32_t i = 0; i < p->frames.n && ok; i++) {
        const pf_call_frame *frame = pf_profile_frame_at(p, i);
        const size_t before = c->places.n;
        pf_report_place place = {0};
        ok = pf_rows_function(c->rows, frame, &place, NULL);
        c->place_of[i] = ok ? pf_intern_add(&c->places, &place) : PF_INTERN_NONE;
        ok = c->place_of[i] != PF_INTERN_NONE;
        if (ok && c->places.n != before)
            ok = pf_rows_function(c->rows, frame, pf_intern_at(&c->places, c->place_of[i]), &text);
    }
    pf_buffer_free(&text);
    return ok;
}

/* Adds a sum to figures. */
static void add_figures(pf_figures *f, const pf_sum *sum, bool self)
{
    pf_sum_add(&f->total_samples, sum->samples);
    pf_sum_add(&f->total_period, sum->period);
    if (!self)
        return;
    pf_sum_add(&f->samples, sum->samples);
    pf_sum_add(&f->period, sum->period);
}

/* Returns the direction of a tree in c->path, which has callers after callees. */
static bool to_callees(const pf_calls *c)
{
    return c->rows->around ? c->rows->around == PF_AROUND_CALLEES
                           : c->options.flags & PF_TREE_CALLEES;
}

/* Adds a sum to the tree of a row.  The row's own frame is entry `at` of the path.  `self`: the
 * sample was taken in the function that callers are requested for.  Returns false when out of
 * memory. */
static bool add_path(pf_calls *c, uint32_t number, uint32_t row, size_t at, bool self)
{
    const pf_sum *sum = pf_profile_sum_at(c->rows->profile, number);
    const bool callees = to_callees(c);
    uint32_t node = c->root_of[row];
    if (!node-- || c->marked[node] == number + 1)
        return true;
    c->marked[node] = number + 1;
    /* The number of entries from `at` on.  The first one is skipped if the row itself names it. */
    const size_t n = callees ? at + 1 : c->path.n - at;
    for (size_t i = c->rows->per_symbol; i < n; i++) {
        pf_call *above = pf_intern_at(&c->nodes, node);
        if (i >= c->options.depth + c->rows->per_symbol || c->steps == 0 ||
            c->nodes.n >= c->nodes_most) {
            above->cut = true;
            return true;
        }
        c->steps--;
        const size_t entry = callees ? at - i : at + i;
        const pf_call key = {.parent = node, .place = c->place_of[c->path.at[entry]]};
        node = pf_intern_add(&c->nodes, &key);
        if (node == PF_INTERN_NONE)
            return false;
        pf_call *call = pf_intern_at(&c->nodes, node);
        add_figures(&call->figures, sum, callees ? entry == 0 : self);
    }
    return true;
}

/* Adds a sum to the trees of all its rows.  Returns false when out of memory. */
static bool add_sum(pf_calls *c, uint32_t number)
{
    pf_rows *r = c->rows;
    const pf_sum *sum = pf_profile_sum_at(r->profile, number);
    pf_around around;
    if (sum->stack == PF_EMPTY_STACK || (r->around && !pf_rows_around(r, sum->stack, &around)))
        return true;
    if (r->around && around.frame == PF_INTERN_NONE)
        return true;
    if (!pf_profile_path(r->profile, sum->stack, &c->path))
        return false;
    const bool callees = to_callees(c);
    if (r->around) {
        const uint32_t row = pf_rows_number(r, sum, r->place_of[around.frame]);
        const size_t next = callees ? around.depth - 1 : around.depth + 1;
        return row != PF_INTERN_NONE && add_path(c, number, row, next, around.depth == 0);
    }
    const size_t n = callees || c->options.flags & PF_TREE_TOTAL ? c->path.n : 1;
    for (size_t i = 0; i < n; i++) {
        const size_t at = callees ? c->path.n - 1 - i : i; /* the self place comes first */
        const uint32_t row = pf_rows_number(r, sum, r->place_of[c->path.at[at]]);
        if (row == PF_INTERN_NONE || !add_path(c, number, row, at, i == 0))
            return false;
    }
    return true;
}

/* Returns the sort key of nodes: samples or periods. */
static uint64_t weight(const pf_calls *c, const pf_call *call)
{
    return c->options.flags & PF_TREE_PERIODS ? call->figures.total_period
                                              : call->figures.total_samples;
}

/* A node, for sorting. */
typedef struct ranked {
    uint64_t weight;
    const char *symbol;
    uint32_t parent, number;
} ranked;

static int compare(const void *a, const void *b)
{
    const ranked *x = a, *y = b;
    if (x->parent != y->parent)
        return x->parent < y->parent ? -1 : 1;
    if (x->weight != y->weight)
        return x->weight < y->weight ? 1 : -1;
    const int order = strcmp(x->symbol, y->symbol);
    return order ? order : (x->number > y->number) - (x->number < y->number);
}

/* Finds the nodes with a weight of at least `least`, and marks the parents of the others.  Returns
 * how many. */
static size_t rank(pf_calls *c, double least, ranked *out)
{
    size_t n = 0;
    for (uint32_t i = (uint32_t)c->n_roots; i < c->nodes.n; i++) {
        const pf_call *call = pf_calls_node(c, i);
        const uint64_t w = weight(c, call);
        const pf_report_place *place = pf_intern_at(&c->places, call->place);
        if ((double)w >= least && w)
            out[n++] = (ranked){w, place->symbol, call->parent, i};
        else
            ((pf_call *)pf_intern_at(&c->nodes, call->parent))->cut = true;
    }
    return n;
}

/* Links the shown nodes.  Returns false when out of memory or over the limit. */
static bool link_nodes(pf_calls *c, double least)
{
    pf_budget *budget = &c->rows->profile->budget;
    const size_t room = c->nodes.n;
    ranked *nodes = pf_budget_alloc(budget, room, sizeof *nodes);
    if (!nodes)
        return false;
    for (uint32_t i = 0; i < c->nodes.n; i++) {
        pf_call *call = pf_intern_at(&c->nodes, i);
        call->first = call->next = PF_INTERN_NONE;
        call->below = 0;
    }
    const size_t n = rank(c, least, nodes);
    qsort(nodes, n, sizeof *nodes, compare);
    uint32_t before = PF_INTERN_NONE, siblings = 0;
    for (size_t i = 0; i < n; i++) {
        pf_call *parent = pf_intern_at(&c->nodes, nodes[i].parent);
        siblings = i && nodes[i - 1].parent == nodes[i].parent ? siblings + 1 : 0;
        if (siblings >= c->options.width)
            parent->cut = true;
        else if (siblings)
            ((pf_call *)pf_intern_at(&c->nodes, before))->next = nodes[i].number;
        else
            parent->first = nodes[i].number;
        if (siblings < c->options.width) {
            before = nodes[i].number;
            parent->below++;
        }
    }
    pf_budget_free(budget, nodes, room, sizeof *nodes);
    return true;
}

/* Appends a node to the shown ones.  Returns false when out of memory or over the limit. */
static bool show(pf_calls *c, uint32_t node, uint32_t root, uint32_t depth)
{
    if (c->n_shown == c->shown_cap) {
        const size_t cap = c->shown_cap ? c->shown_cap * 2 : 256;
        pf_shown_call *grown = pf_budget_realloc(&c->rows->profile->budget, c->shown, c->shown_cap,
                                                 cap, sizeof *grown);
        if (!grown)
            return false;
        c->shown = grown;
        c->shown_cap = cap;
    }
    c->shown[c->n_shown++] = (pf_shown_call){node, root, depth};
    return true;
}

/* Lists the nodes of a tree in order, at most `most` in all.  Returns false when out of memory. */
static bool show_tree(pf_calls *c, uint32_t root, uint64_t most)
{
    uint32_t node = pf_calls_node(c, root)->first, depth = 1;
    while (node != PF_INTERN_NONE) {
        if (c->n_shown >= most) {
            ((pf_call *)pf_intern_at(&c->nodes, pf_calls_node(c, node)->parent))->cut = true;
            return true;
        }
        if (!show(c, node, root, depth))
            return false;
        const pf_call *call = pf_calls_node(c, node);
        if (call->first != PF_INTERN_NONE) {
            node = call->first;
            depth++;
            continue;
        }
        while (node != root && pf_calls_node(c, node)->next == PF_INTERN_NONE) {
            node = pf_calls_node(c, node)->parent;
            depth--;
        }
        node = node == root ? PF_INTERN_NONE : pf_calls_node(c, node)->next;
    }
    return true;
}

/* Shortens names, which are repeated in trees: see shorten_names() of rows.c. */
static bool shorten_names(pf_calls *c, uint64_t record_bytes)
{
    static const size_t lengths[] = {SIZE_MAX, PF_NAME_MOST, PF_NAME_LEAST};
    size_t i = 0;
    for (; i < 2; i++) {
        uint64_t bytes = 0;
        for (size_t k = 0; k < c->n_shown; k++) {
            const pf_call *call = pf_calls_node(c, c->shown[k].node);
            const pf_report_place *place = pf_intern_at(&c->places, call->place);
            bytes += strnlen(place->symbol, lengths[i]);
        }
        if (bytes <= pf_names_room(record_bytes))
            break;
    }
    bool ok = true;
    for (uint32_t k = 0; k < c->places.n && ok && i; k++) {
        pf_report_place *place = pf_intern_at(&c->places, k);
        ok = pf_rows_shorten(c->rows->profile, &place->symbol, lengths[i]);
    }
    return ok;
}

/* Makes the roots.  PERFILE_E_USAGE: a row does not exist, or is given twice. */
static perfile_status add_roots(pf_calls *c, perfile_error *err)
{
    pf_profile *p = c->rows->profile;
    for (size_t i = 0; i < c->options.n_rows; i++) {
        const uint64_t row = c->options.rows[i];
        if (row >= c->rows->rows.n || c->root_of[row])
            return pf_fail(err, PERFILE_E_USAGE, "tree.rows", "row %llu is not there, or twice",
                           (unsigned long long)row);
        const pf_call root = {.parent = PF_INTERN_NONE, .place = (uint32_t)row};
        const uint32_t node = pf_intern_add(&c->nodes, &root);
        if (node == PF_INTERN_NONE)
            return pf_profile_fail(p, err);
        c->root_of[row] = node + 1;
    }
    c->n_roots = c->nodes.n;
    return PERFILE_OK;
}

/* Allocates the tables. */
static bool begin(pf_calls *c)
{
    pf_profile *p = c->rows->profile;
    const pf_intern empty = {.seed = p->texts.seed, .budget = &p->budget};
    c->nodes = c->places = empty;
    c->nodes.width = sizeof(pf_call);
    c->nodes.key = offsetof(pf_call, figures);
    c->places.width = sizeof(pf_report_place);
    c->places.key = offsetof(pf_report_place, symbol);
    c->place_of = pf_budget_alloc(&p->budget, p->frames.n + 1, sizeof *c->place_of);
    c->root_of = pf_budget_alloc(&p->budget, c->rows->rows.n + 1, sizeof *c->root_of);
    c->marked = pf_budget_alloc(&p->budget, c->rows->rows.n + 1, sizeof *c->marked);
    return c->place_of && c->root_of && c->marked;
}

perfile_status pf_calls_make(pf_calls *c, pf_rows *rows, const pf_calls_options *options,
                             uint64_t samples, uint64_t period, uint64_t record_bytes,
                             perfile_error *err)
{
    pf_profile *p = rows->profile;
    *c = (pf_calls){.rows = rows, .options = *options};
    c->options.depth = options->depth ? options->depth : DEPTH;
    c->options.width = options->width ? options->width : UINT32_MAX;
    c->steps = at_most(STEPS, STEPS_16, record_bytes);
    c->nodes_most = at_most(NODES, NODES_16, record_bytes) + options->n_rows;
    if (c->options.depth > DEPTH_MOST)
        return pf_fail(err, PERFILE_E_USAGE, "tree.depth",
                       "%u nodes one below the other are more "
                       "than %d",
                       (unsigned)c->options.depth, DEPTH_MOST);
    if (!begin(c))
        return pf_profile_fail(p, err);
    perfile_status st = add_roots(c, err);
    if (st != PERFILE_OK)
        return st;
    bool ok = number_functions(c);
    for (uint32_t i = 0; i < p->sums.n && ok; i++)
        ok = add_sum(c, i);
    const uint64_t all = options->flags & PF_TREE_PERIODS ? period : samples;
    ok = ok && link_nodes(c, (double)all * options->least / 1e6);
    for (uint32_t i = 0; i < c->n_roots && ok; i++)
        ok = show_tree(c, i, at_most(SHOWN, SHOWN_16, record_bytes));
    ok = ok && shorten_names(c, record_bytes);
    return ok ? PERFILE_OK : pf_profile_fail(p, err);
}

void pf_calls_free(pf_calls *c)
{
    if (!c->rows)
        return;
    pf_profile *p = c->rows->profile;
    const size_t n_rows = c->rows->rows.n + 1;
    pf_intern_free(&c->nodes);
    pf_intern_free(&c->places);
    pf_budget_free(&p->budget, c->place_of, p->frames.n + 1, sizeof *c->place_of);
    pf_budget_free(&p->budget, c->root_of, n_rows, sizeof *c->root_of);
    pf_budget_free(&p->budget, c->marked, n_rows, sizeof *c->marked);
    pf_budget_free(&p->budget, c->shown, c->shown_cap, sizeof *c->shown);
    pf_stack_path_free(&c->path);
    *c = (pf_calls){0};
}

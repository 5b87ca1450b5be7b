/* Tables of symbols.
 *
 * The rules of perf (tools/perf/util/symbol.c, 6.1) for symbols of one file:
 * - A symbol without size reaches to the next one, the last to the end of the page behind its own;
 *   here not beyond its section, so that _init is not the name of the PLT behind it.  In kallsyms
 * the last symbol of the kernel or of a module reaches to the end of a page instead of to the next
 * module.
 * - Of symbols that begin at the same address one stays: the one with a size; else the one that is
 *   not weak; else the global one; else the one with fewer underscores in front; else the one with
 *   the longer name; else the first, unless it is the alias SyS_… or compat_SyS_… of a system call.
 *   Names count as they are shown, demangled.
 * In a perf-PID.map, to which a compiler appends what it made, the last one stays.
 *
 * Symbols may still overlap.  perf then finds one or the other, depending on the shape of its tree;
 * here it is the one that begins last, the innermost of nested ones.  pf_symtab_index() makes
 * segments in which the answer is the same, so that a query is one binary search however deep
 * symbols are nested. */
#include "symbol/table.h"

#include <stdlib.h>
#include <string.h>

#include "symbol/helper.h"

#define PAGE UINT64_C(4096)

static perfile_status append(pf_symtab *t, perfile_bytes text, uint32_t *at)
{
    size_t start = t->names_len ? t->names_len : 1; /* position 0 is the empty text */
    if (text.len >= UINT32_MAX - start)
        return PERFILE_E_LIMIT;
    size_t need = start + text.len + 1;
    if (need > t->names_cap) {
        size_t cap = need + need / 2;
        char *more = pf_budget_realloc(t->budget, t->names, t->names_cap, cap, 1);
        if (!more)
            return pf_symbol_no_memory(t->budget);
        t->names = more;
        t->names_cap = cap;
        t->names[0] = 0;
    }
    if (text.len)
        memcpy(t->names + start, text.ptr, text.len);
    t->names[start + text.len] = 0;
    t->names_len = need;
    *at = (uint32_t)start;
    return PERFILE_OK;
}

/* Ends a name that is too long, so that it can be seen. */
static void cut_name(char *name)
{
    memcpy(name + PF_SYMBOL_NAME - 3, "...", sizeof "...");
}

perfile_status pf_symtab_text(pf_symtab *t, perfile_bytes text, uint32_t *at)
{
    const bool cut = text.len > PF_SYMBOL_NAME;
    if (cut)
        text.len = PF_SYMBOL_NAME;
    perfile_status st = append(t, text, at);
    if (cut && st == PERFILE_OK)
        cut_name(t->names + *at);
    return st;
}

perfile_status pf_symtab_texts(pf_symtab *t, perfile_bytes texts, uint32_t *at)
{
    perfile_status st = append(t, texts, at);
    if (st != PERFILE_OK)
        return st;
    char *name = t->names + *at, *const end = name + texts.len;
    while (end - name > PF_SYMBOL_NAME) {
        char *nul = memchr(name, 0, PF_SYMBOL_NAME + 1);
        if (!nul) {
            nul = name + PF_SYMBOL_NAME;
            cut_name(name);
        }
        name = nul + 1;
    }
    return PERFILE_OK;
}

perfile_status pf_symtab_add(pf_symtab *t, pf_sym sym)
{
    if (t->n == t->cap) {
        size_t cap = t->cap ? t->cap + t->cap / 2 : 64;
        if (cap >= PF_NO_SYM)
            return PERFILE_E_LIMIT;
        pf_sym *more = pf_budget_realloc(t->budget, t->syms, t->cap, cap, sizeof *more);
        if (!more)
            return pf_symbol_no_memory(t->budget);
        t->syms = more;
        t->cap = cap;
    }
    sym.order = t->n_added++;
    t->syms[t->n++] = sym;
    return PERFILE_OK;
}

/* qsort() order: by address, then as they were added. */
static int compare(const void *a, const void *b)
{
    const pf_sym *x = a, *y = b;
    if (x->start != y->start)
        return x->start < y->start ? -1 : 1;
    return (x->order > y->order) - (x->order < y->order);
}

/* Those of a kernel mostly come in order: sorting them would take as long as adding them. */
static bool is_in_order(const pf_symtab *t)
{
    for (size_t i = 1; i < t->n; i++)
        if (compare(&t->syms[i - 1], &t->syms[i]) > 0)
            return false;
    return true;
}

static uint64_t page_behind(uint64_t addr)
{
    uint64_t end = (addr & ~(PAGE - 1)) + (addr & (PAGE - 1) ? 2 : 1) * PAGE;
    return end > addr ? end : UINT64_MAX;
}

static void find_ends(pf_symtab *t, int rules)
{
    for (size_t i = 0; i < t->n; i++) {
        pf_sym *s = &t->syms[i];
        const pf_sym *next = i + 1 < t->n ? s + 1 : NULL;
        if (!s->open_end)
            continue;
        uint64_t end = next && (rules != PF_RULES_KALLSYMS || !s->module == !next->module)
                           ? next->start
                           : page_behind(s->start);
        s->end = end < s->end ? end : s->end;
        s->open_end = false;
    }
}

/* What decides by name, of the name as it is shown. */
typedef struct name_rank {
    bool known;
    size_t underscores, len;
    bool is_alias; /* SyS_… or compat_SyS_… of a system call */
} name_rank;

static void rank_name(const pf_symtab *t, const pf_sym *s, name_rank *rank)
{
    if (rank->known)
        return;
    const char *stored = pf_symtab_name(t, s), *shown = pf_demangle_one(t->helper, stored);
    const char *name = shown ? shown : stored;
    *rank = (name_rank){true, strspn(name, "_"), strlen(name),
                        strncmp(name, "SyS", 3) == 0 || strncmp(name, "compat_SyS", 10) == 0};
}

/* True if two mangled names differ in one digit after a C or D: those of constructors and
 * destructors for whole objects and for bases, which often are one function and are shown alike. */
static bool is_same_constructor(const char *a, const char *b)
{
    size_t i = 0;
    while (a[i] && a[i] == b[i])
        i++;
    return i > 2 && a[0] == '_' && a[1] == 'Z' && (a[i - 1] == 'C' || a[i - 1] == 'D') &&
           a[i] >= '1' && a[i] <= '3' && b[i] >= '1' && b[i] <= '3' &&
           strcmp(a + i + 1, b + i + 1) == 0;
}

/* True if `a`, which was added first, stays, and not `b`.  Ranks are filled in where they count, so
 * that each name is looked at once, however many symbols begin at one address. */
static bool first_wins(const pf_symtab *t, const pf_sym *a, name_rank *rank_a, const pf_sym *b,
                       name_rank *rank_b)
{
    bool sized_a = a->end != a->start, sized_b = b->end != b->start;
    if (sized_a != sized_b)
        return sized_a;
    if ((a->binding == PF_BIND_WEAK) != (b->binding == PF_BIND_WEAK))
        return b->binding == PF_BIND_WEAK;
    if ((a->binding == PF_BIND_GLOBAL) != (b->binding == PF_BIND_GLOBAL))
        return a->binding == PF_BIND_GLOBAL;
    if (a->name == b->name || is_same_constructor(pf_symtab_name(t, a), pf_symtab_name(t, b)))
        return true;
    rank_name(t, a, rank_a);
    rank_name(t, b, rank_b);
    if (rank_a->underscores != rank_b->underscores)
        return rank_a->underscores < rank_b->underscores;
    return rank_a->len != rank_b->len ? rank_a->len > rank_b->len : !rank_a->is_alias;
}

void pf_symtab_settle(pf_symtab *t, int rules)
{
    if (!t->n)
        return;
    if (!is_in_order(t))
        qsort(t->syms, t->n, sizeof *t->syms, compare);
    find_ends(t, rules);
    size_t kept = 0;
    name_rank best = {0};
    for (size_t i = 1; i < t->n; i++) {
        name_rank rank = {0};
        if (t->syms[i].start != t->syms[kept].start)
            kept++;
        else if (rules != PF_RULES_PERF_MAP &&
                 first_wins(t, &t->syms[kept], &best, &t->syms[i], &rank))
            continue;
        t->syms[kept] = t->syms[i];
        best = rank;
    }
    t->n = kept + 1;
}

/* From `start` on the address belongs to `sym`.  There is room: two for each symbol. */
static void put_segment(pf_symtab *t, uint64_t start, uint32_t sym)
{
    if (t->n_segments && t->segments[t->n_segments - 1].start == start)
        t->n_segments--;
    t->segments[t->n_segments++] = (pf_segment){start, sym};
}

/* Closes the symbols of the stack `open` that end at or before `addr`; returns how many are left.
 * The stack is in order of start; one that ends before the one on top of it shows no more. */
static size_t close_until(pf_symtab *t, const uint32_t *open, size_t n, uint64_t addr)
{
    while (n && t->syms[open[n - 1]].end <= addr) {
        uint64_t end = t->syms[open[--n]].end;
        while (n && t->syms[open[n - 1]].end <= end)
            n--;
        put_segment(t, end, n ? open[n - 1] : PF_NO_SYM);
    }
    return n;
}

perfile_status pf_symtab_index(pf_symtab *t)
{
    size_t n = t->n, n_open = 0;
    if (!n)
        return PERFILE_OK;
    uint32_t *open = pf_budget_alloc(t->budget, n, sizeof *open);
    t->segments = pf_budget_realloc(t->budget, NULL, 0, n * 2, sizeof *t->segments);
    if (!open || !t->segments) {
        pf_budget_free(t->budget, open, n, sizeof *open);
        pf_budget_free(t->budget, t->segments, n * 2, sizeof *t->segments);
        t->segments = NULL;
        return pf_symbol_no_memory(t->budget);
    }
    t->segments_cap = n * 2;
    for (size_t i = 0; i < n; i++) {
        n_open = close_until(t, open, n_open, t->syms[i].start);
        put_segment(t, t->syms[i].start, (uint32_t)i);
        open[n_open++] = (uint32_t)i;
    }
    close_until(t, open, n_open, UINT64_MAX);
    pf_budget_free(t->budget, open, n, sizeof *open);
    return PERFILE_OK;
}

const pf_sym *pf_symtab_find(const pf_symtab *t, uint64_t addr)
{
    size_t low = 0, high = t->n_segments; /* segments before `low` begin at or below addr */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (t->segments[middle].start <= addr)
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || t->segments[low - 1].sym == PF_NO_SYM)
        return NULL;
    return &t->syms[t->segments[low - 1].sym];
}

const pf_sym *pf_symtab_named(const pf_symtab *t, const char *name)
{
    for (size_t i = 0; i < t->n; i++)
        if (strcmp(pf_symtab_name(t, &t->syms[i]), name) == 0)
            return &t->syms[i];
    return NULL;
}

void pf_symtab_free(pf_symtab *t)
{
    pf_budget *budget = t->budget;
    pf_helper *helper = t->helper;
    pf_budget_free(budget, t->syms, t->cap, sizeof *t->syms);
    pf_budget_free(budget, t->names, t->names_cap, 1);
    pf_budget_free(budget, t->segments, t->segments_cap, sizeof *t->segments);
    pf_budget_free(budget, t->shown, t->n, sizeof *t->shown);
    *t = (pf_symtab){.budget = budget, .helper = helper};
}

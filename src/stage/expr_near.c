/* What somebody may have meant. */
#include <stdio.h>

#include "stage/expr_list.h"
#include "stage/expr_names.h"
#include "stage/expr_words.h"

enum { MOST_BYTES = 40, MOST_NAMES = 3 };

/* The best so far, nearest first. */
typedef struct nearest {
    const char *wanted;
    size_t n_wanted;
    uint32_t letters; /* of it; see letters_of() */
    unsigned worst;   /* distance from which on names do not count */
    struct {
        char name[MOST_BYTES + 1];
        unsigned distance;
    } found[MOST_NAMES];
    size_t n;
} nearest;

static char folded(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Letters to add, drop, change or swap with their neighbour; case does not count. */
static unsigned distance(const char *a, const char *b)
{
    unsigned rows[3][MOST_BYTES + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > MOST_BYTES || m > MOST_BYTES)
        return UINT32_MAX;
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = before[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            bool same = folded(a[i - 1]) == folded(b[j - 1]);
            now[j] = least(least(last[j], now[j - 1]) + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && folded(a[i - 1]) == folded(b[j - 2]) &&
                folded(a[i - 2]) == folded(b[j - 1]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
        unsigned *oldest = before;
        before = last;
        last = now;
        now = oldest;
    }
    return last[m];
}

/* A bit for each letter that is in the name. */
static uint32_t letters_of(const char *name)
{
    uint32_t letters = 0;
    for (; *name; name++)
        letters |= (uint32_t)1 << (*name & 31);
    return letters;
}

static void begin(nearest *near, const char *wanted)
{
    near->wanted = wanted;
    near->n_wanted = strlen(wanted);
    near->letters = letters_of(wanted);
    near->worst = near->n_wanted < 6 ? (unsigned)near->n_wanted / 3 + 2 : 4;
    near->n = 0;
}

/* `name` is offered at the distance of `as`. */
static void offer_as(nearest *near, const char *name, const char *as, unsigned more)
{
    size_t n = strlen(as),
           more_letters = n < near->n_wanted ? near->n_wanted - n : n - near->n_wanted;
    if (more_letters + more >= near->worst)
        return;
    /* Every letter that is missing is a step, too. */
    int missing = __builtin_popcount(near->letters & ~letters_of(as));
    if ((unsigned)missing + more >= near->worst)
        return;
    unsigned d = distance(near->wanted, as);
    if (d == UINT32_MAX || d + more >= near->worst || strlen(name) > MOST_BYTES || d >= strlen(as))
        return;
    d += more;
    size_t at = near->n;
    for (size_t i = 0; i < near->n; i++)
        if (strcmp(near->found[i].name, name) == 0)
            return;
    while (at && near->found[at - 1].distance > d)
        at--;
    if (at == MOST_NAMES)
        return;
    size_t keep = near->n < MOST_NAMES ? near->n : MOST_NAMES - 1;
    memmove(&near->found[at + 1], &near->found[at], (keep - at) * sizeof near->found[0]);
    snprintf(near->found[at].name, sizeof near->found[at].name, "%s", name);
    near->found[at].distance = d;
    near->n = keep + 1;
}

static void offer(nearest *near, const char *name)
{
    offer_as(near, name, name, 0);
}

static void put_found(const nearest *near, char *out, size_t size)
{
    size_t len = 0;
    out[0] = 0;
    for (size_t i = 0; i < near->n && len < size; i++) {
        const char *between = i == 0 ? "" : i + 1 == near->n ? " or " : ", ";
        int n = snprintf(out + len, size - len, "%s%s", between, near->found[i].name);
        len += n > 0 ? (size_t)n : 0;
    }
}

/* What lies deeper is found by its own name, too; parts of words by that alone, or by one that
 * looks like it behind the name of the word. */
static void offer_parts(nearest *near, const perfile_expr_name *what)
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
        offer_as(near, name, same ? near->wanted : name, same);
    }
}

static void offer_name(void *user, const perfile_expr_name *what)
{
    nearest *near = user;
    const char *last = strrchr(what->name, '.');
    if (what->list)
        return;
    offer(near, what->name);
    if (last)
        offer_as(near, what->name, last + 1, 1);
    offer_parts(near, what);
}

static void offer_element(void *user, const perfile_expr_name *what)
{
    offer_as(user, what->name, what->name + 1, 0);
    offer_parts(user, what);
}

void pf_expr_near_names(const perfile_expr *e, const char *name, const pf_slot *list, char *out,
                        size_t size)
{
    static const char *const functions[] = {"any", "all", "count", "has"};
    nearest near;
    begin(&near, name);
    for (uint32_t i = 0; list && i < list->n_ways; i++)
        if (e->ways[list->ways + i].type == PERFILE_LIST)
            pf_expr_list_shape(&pf_shapes[e->ways[list->ways + i].of], "", "", offer_element,
                               &near);
    const char *rest;
    const char *row = list ? NULL : pf_expr_row_of(name, &rest);
    if (row) {
        begin(&near, rest);
        for (unsigned i = 0; i < PF_N_RECORD_ROWS; i++)
            if (row == pf_row_shapes[i].name)
                pf_expr_list_shape(&pf_row_shapes[i], "", NULL, offer_name, &near);
    } else if (!list) {
        perfile_expr_names(offer_name, &near);
        for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++)
            offer(&near, functions[i]);
    }
    put_found(&near, out, size);
}

static void offer_words(nearest *near, const perfile_vocabulary *v)
{
    for (uint32_t i = 0; v && i < v->n; i++)
        offer(near, v->bits ? v->bits[i].name : v->words[i].name);
}

void pf_expr_near_words(const perfile_expr *e, const pf_slot *s, const char *word, char *out,
                        size_t size)
{
    const char *misc;
    nearest near;
    begin(&near, word);
    for (unsigned i = 0; s->of == PF_OF_TYPE && i < PF_N_RECORD_ROWS; i++)
        offer(&near, pf_record_table[i].name);
    for (size_t i = 0; s->of == PF_OF_MISC && (misc = pf_expr_misc_word(i)); i++)
        offer(&near, misc);
    if (s->of == PF_OF_CPUMODE)
        offer_words(&near, perfile_vocabulary_find("cpumode"));
    for (uint32_t i = 0; i < s->n_ways; i++)
        offer_words(&near, e->ways[s->ways + i].words);
    put_found(&near, out, size);
}

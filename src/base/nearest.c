/* Misspelt words: what somebody may have meant. */
#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

#include "perfile/text.h"

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
    unsigned rows[3][PF_NEAREST_BYTES + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > PF_NEAREST_BYTES || m > PF_NEAREST_BYTES)
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

void pf_nearest_begin(pf_nearest *near, const char *wanted)
{
    near->wanted = wanted;
    near->n_wanted = strlen(wanted);
    near->letters = letters_of(wanted);
    near->worst = near->n_wanted < 6 ? (unsigned)near->n_wanted / 3 + 2 : 4;
    near->n = 0;
}

void pf_nearest_offer_as(pf_nearest *near, const char *name, const char *as, unsigned more)
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
    if (d == UINT32_MAX || d + more >= near->worst || strlen(name) > PF_NEAREST_BYTES ||
        d >= strlen(as))
        return;
    d += more;
    size_t at = near->n;
    for (size_t i = 0; i < near->n; i++)
        if (strcmp(near->found[i].name, name) == 0)
            return;
    while (at && near->found[at - 1].distance > d)
        at--;
    if (at == PF_NEAREST_MOST)
        return;
    size_t keep = near->n < PF_NEAREST_MOST ? near->n : PF_NEAREST_MOST - 1;
    memmove(&near->found[at + 1], &near->found[at], (keep - at) * sizeof near->found[0]);
    snprintf(near->found[at].name, sizeof near->found[at].name, "%s", name);
    near->found[at].distance = d;
    near->n = keep + 1;
}

void pf_nearest_offer(pf_nearest *near, const char *name)
{
    pf_nearest_offer_as(near, name, name, 0);
}

void pf_nearest_put(const pf_nearest *near, char *out, size_t size)
{
    size_t len = 0;
    out[0] = 0;
    for (size_t i = 0; i < near->n && len < size; i++) {
        const char *between = i == 0 ? "" : i + 1 == near->n ? " or " : ", ";
        int n = snprintf(out + len, size - len, "%s%s", between, near->found[i].name);
        len += n > 0 ? (size_t)n : 0;
    }
}

/* Whether one is the beginning of the other, and more than half of it: "jsonlines", "sal". */
static bool begins(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), less = n < m ? n : m, more = n < m ? m : n;
    for (size_t i = 0; i < less; i++)
        if (folded(a[i]) != folded(b[i]))
            return false;
    return less > 2 && 2 * less > more;
}

size_t perfile_suggest(const char *word, const char *const *words, size_t n, char *out, size_t size)
{
    pf_nearest near;
    pf_nearest_begin(&near, word);
    /* Lists are short, and so are their words: half of one has to be right. */
    if (near.worst > near.n_wanted / 2 + 1)
        near.worst = (unsigned)near.n_wanted / 2 + 1;
    for (size_t i = 0; i < n; i++) {
        if (begins(word, words[i]))
            pf_nearest_offer_as(&near, words[i], word, 1);
        else
            pf_nearest_offer(&near, words[i]);
    }
    if (size)
        pf_nearest_put(&near, out, size);
    return near.n;
}

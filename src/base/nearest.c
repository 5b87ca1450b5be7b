/* Nearest words by edit distance.  Words of another length or with other letters are rejected
 * before the distance is computed, which takes time proportional to the product of both lengths. */
#include "base/nearest.h"

#include <stdio.h>
#include <string.h>

#include "perfile/text.h"

static char fold_case(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned min_u(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The number of letters to insert, delete, replace or swap with a neighbour (optimal string
 * alignment), ignoring case; UINT32_MAX if a word is too long.  Three rows of the usual table are
 * kept. */
static unsigned distance(const char *a, const char *b)
{
    unsigned rows[3][PF_NEAREST_BYTES + 1];
    size_t n = strlen(a), m = strlen(b);
    if (n > PF_NEAREST_BYTES || m > PF_NEAREST_BYTES)
        return UINT32_MAX;
    unsigned *before_last = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= m; j++)
        last[j] = before_last[j] = (unsigned)j;
    for (size_t i = 1; i <= n; i++) {
        now[0] = (unsigned)i;
        for (size_t j = 1; j <= m; j++) {
            bool same = fold_case(a[i - 1]) == fold_case(b[j - 1]);
            now[j] = min_u(min_u(last[j], now[j - 1]) + 1, last[j - 1] + !same);
            if (i > 1 && j > 1 && fold_case(a[i - 1]) == fold_case(b[j - 2]) &&
                fold_case(a[i - 2]) == fold_case(b[j - 1]))
                now[j] = min_u(now[j], before_last[j - 2] + 1);
        }
        unsigned *oldest = before_last;
        before_last = last;
        last = now;
        now = oldest;
    }
    return last[m];
}

/* A bit for each letter that occurs in the name, by its low five bits: case is ignored. */
static uint32_t letters_of(const char *name)
{
    uint32_t letters = 0;
    for (; *name; name++)
        letters |= (uint32_t)1 << (*name & 31);
    return letters;
}

void pf_nearest_begin(pf_nearest *suggestions, const char *wanted)
{
    suggestions->wanted = wanted;
    suggestions->n_wanted = strlen(wanted);
    suggestions->letters = letters_of(wanted);
    /* 1 or 2 letters may differ by 1, 3 to 5 letters by 2, longer words by 3. */
    suggestions->worst = suggestions->n_wanted < 6 ? (unsigned)suggestions->n_wanted / 3 + 2 : 4;
    suggestions->n = 0;
}

void pf_nearest_offer_as(pf_nearest *suggestions, const char *name, const char *as, unsigned more)
{
    size_t n = strlen(as), more_letters = n < suggestions->n_wanted ? suggestions->n_wanted - n
                                                                    : n - suggestions->n_wanted;
    if (more_letters + more >= suggestions->worst)
        return;
    /* Each letter of the wanted word that `as` lacks costs at least one edit. */
    int missing = __builtin_popcount(suggestions->letters & ~letters_of(as));
    if ((unsigned)missing + more >= suggestions->worst)
        return;
    unsigned d = distance(suggestions->wanted, as);
    if (d == UINT32_MAX || d + more >= suggestions->worst || strlen(name) > PF_NEAREST_BYTES ||
        d >= strlen(as))
        return;
    d += more;
    /* Insertion into the sorted list; of equal distances the earlier offer stays in front. */
    size_t at = suggestions->n;
    for (size_t i = 0; i < suggestions->n; i++)
        if (strcmp(suggestions->found[i].name, name) == 0)
            return; /* offered before */
    while (at && suggestions->found[at - 1].distance > d)
        at--;
    if (at == PF_NEAREST_MOST)
        return;
    size_t keep = suggestions->n < PF_NEAREST_MOST ? suggestions->n : PF_NEAREST_MOST - 1;
    memmove(&suggestions->found[at + 1], &suggestions->found[at],
            (keep - at) * sizeof suggestions->found[0]);
    snprintf(suggestions->found[at].name, sizeof suggestions->found[at].name, "%s", name);
    suggestions->found[at].distance = d;
    suggestions->n = keep + 1;
}

void pf_nearest_offer(pf_nearest *suggestions, const char *name)
{
    pf_nearest_offer_as(suggestions, name, name, 0);
}

void pf_nearest_put(const pf_nearest *suggestions, char *out, size_t size)
{
    size_t len = 0;
    out[0] = 0;
    for (size_t i = 0; i < suggestions->n && len < size; i++) {
        const char *between = i == 0 ? "" : i + 1 == suggestions->n ? " or " : ", ";
        int n = snprintf(out + len, size - len, "%s%s", between, suggestions->found[i].name);
        len += n > 0 ? (size_t)n : 0;
    }
}

/* True if one word begins with the other, which has at least 3 letters and is more than half as
 * long: "jsonlines" for "jsonl", "sampl" for "sample". */
static bool is_abbreviation(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), less = n < m ? n : m, more = n < m ? m : n;
    for (size_t i = 0; i < less; i++)
        if (fold_case(a[i]) != fold_case(b[i]))
            return false;
    return less > 2 && 2 * less > more;
}

/* An abbreviation counts as one edit, whatever its length. */
size_t perfile_suggest(const char *word, const char *const *words, size_t n, char *out, size_t size)
{
    pf_nearest suggestions;
    pf_nearest_begin(&suggestions, word);
    /* Words of such lists are short: at least half of the letters have to be right. */
    if (suggestions.worst > suggestions.n_wanted / 2 + 1)
        suggestions.worst = (unsigned)suggestions.n_wanted / 2 + 1;
    for (size_t i = 0; i < n; i++) {
        if (is_abbreviation(word, words[i]))
            pf_nearest_offer_as(&suggestions, words[i], word, 1);
        else
            pf_nearest_offer(&suggestions, words[i]);
    }
    if (size)
        pf_nearest_put(&suggestions, out, size);
    return suggestions.n;
}

/* Text: UTF-8, printable characters, short forms of names, and suggestions for misspelled words.
 * Text from captures may contain escape sequences, which must not get to a terminal: they are shown
 * as \x1b. */
#include "perfile/text.h"

#include <string.h>
#include <assert.h>
#include <stdio.h>

#include "base/shorten.h"
#include "base/crc32.h"
#include "base/command.h"

static const char hex_digits[] = "0123456789abcdef";

/* Not printable: control characters, and characters that change the direction or line structure of
 * text and so could disguise it. */
bool pf_is_printable(uint32_t code)
{
    if (code < 0x20 || (code >= 0x7f && code < 0xa0))
        return false;
    if (code == 0x61c || code == 0x200e || code == 0x200f) /* marks of direction */
        return false;
    if (code >= 0x2028 && code <= 0x202e) /* separators, embeddings and overrides */
        return false;
    return !(code >= 0x2066 && code <= 0x2069); /* isolates */
}

/* `need` counts all bytes of the escaped text, `kept` those that were written.  The copy is never
 * cut inside a character. */
size_t perfile_printable(perfile_bytes text, char *out, size_t size)
{
    size_t need = 0, kept = 0, from;
    bool cut = false;
    for (size_t i = 0; i < text.len; i += from) {
        uint32_t code;
        char shown[16];
        const uint8_t *p = text.ptr + i;
        size_t n = 0;
        from = perfile_utf8_char(p, text.len - i, &code);
        if (from && pf_is_printable(code)) {
            memcpy(shown, p, from);
            n = from;
        } else {
            from = from ? from : 1;
            for (size_t k = 0; k < from; k++) {
                shown[n++] = '\\';
                shown[n++] = 'x';
                shown[n++] = hex_digits[p[k] >> 4];
                shown[n++] = hex_digits[p[k] & 15];
            }
        }
        cut = cut || need + n >= size; /* leaves room for the NUL */
        if (!cut) {
            memcpy(out + kept, shown, n);
            kept += n;
        }
        need += n;
    }
    if (size)
        out[kept] = '\0';
    return need;
}

/* Cutting names in the middle (see shorten.h). */

enum {
    ESCAPE = 6,    /* bytes of the longest escape, \u001f in JSON */
    CHECKED = 4096 /* maximum number of bytes of a name in its checksum: the longest path */
};

#define ELLIPSIS "\xe2\x80\xa6"

/* Returns the length of the character at `p`, or 1 if it is not valid.  Sets *cost to the bytes
 * that it takes in an output. */
static size_t character(const uint8_t *p, size_t left, size_t *cost)
{
    uint32_t code = 0;
    size_t n = perfile_utf8_char(p, left, &code);
    if (!n || !pf_is_printable(code)) {
        n = n ? n : 1;
        *cost = n * ESCAPE;
    } else {
        *cost = code == '"' || code == '\\' ? 2 : n;
    }
    return n;
}

/* Returns how many bytes the text takes in an output. */
static size_t cost_of(perfile_bytes text)
{
    size_t sum = 0, cost;
    for (size_t i = 0; i < text.len; sum += cost)
        i += character(text.ptr + i, text.len - i, &cost);
    return sum;
}

/* Returns the length of the longest prefix of the text that takes at most `most` bytes in an
 * output. */
static size_t head_within(perfile_bytes text, size_t most)
{
    size_t i = 0, passed = 0, cost, length;
    for (; i < text.len; i += length, passed += cost) {
        length = character(text.ptr + i, text.len - i, &cost);
        if (passed + cost > most)
            break;
    }
    return i;
}

/* Returns where the longest suffix begins that takes at most `most` bytes in an output. */
static size_t tail_within(perfile_bytes text, size_t most)
{
    size_t i = text.len > most ? text.len - most : 0, cost;
    while (i < text.len && (text.ptr[i] & 0xc0) == 0x80)
        i++;
    size_t left = cost_of((perfile_bytes){text.ptr + i, text.len - i});
    for (; left > most; left -= cost)
        i += character(text.ptr + i, text.len - i, &cost);
    return i;
}

/* Reads only the ends of a very long text: a capture stores a name once but may refer to it
 * often. */
perfile_bytes pf_shortened(perfile_bytes text, size_t most, uint8_t *room)
{
    static const char digits[] = "0123456789abcdef";
    const size_t mark = sizeof ELLIPSIS - 1, marks = 2 * mark + 8;
    assert(most >= PF_NAME_LEAST);
    if (text.len <= most / ESCAPE || (text.len <= most && cost_of(text) <= most))
        return text;
    const size_t head = head_within(text, (most - marks + 1) / 2);
    const size_t tail = tail_within(text, (most - marks) / 2);
    const uint32_t crc =
        pf_crc32(0, (perfile_bytes){text.ptr, text.len < CHECKED ? text.len : CHECKED});
    memcpy(room, text.ptr, head);
    size_t n = head;
    memcpy(room + n, ELLIPSIS, mark);
    n += mark;
    for (int shift = 28; shift >= 0; shift -= 4)
        room[n++] = (uint8_t)digits[crc >> shift & 15];
    memcpy(room + n, ELLIPSIS, mark);
    n += mark;
    memcpy(room + n, text.ptr + tail, text.len - tail);
    return (perfile_bytes){room, n + text.len - tail};
}

/* Nearest words by edit distance.  Words of very different length or letters are rejected before
 * the distance is computed, which takes time proportional to the product of both lengths. */

static char fold_case(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static unsigned min_u(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* Returns the number of letters to insert, delete, replace or swap with a neighbor (optimal string
 * alignment), ignoring case; UINT32_MAX if a word is too long.  Only three rows of the table are
 * stored. */
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

/* Returns one bit for each letter in the name, chosen by its low five bits, so that case is
 * ignored. */
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
    /* Inserts into the sorted list.  Among equal distances the earlier offer comes first. */
    size_t at = suggestions->n;
    for (size_t i = 0; i < suggestions->n; i++)
        if (strcmp(suggestions->found[i].name, name) == 0)
            return; /* already offered */
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

/* Returns true if one word begins with the other, which has at least 3 letters and is more than
 * half as long: "jsonlines" for "jsonl", "sampl" for "sample". */
static bool is_abbreviation(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), less = n < m ? n : m, more = n < m ? m : n;
    for (size_t i = 0; i < less; i++)
        if (fold_case(a[i]) != fold_case(b[i]))
            return false;
    return less > 2 && 2 * less > more;
}

/* An abbreviation counts as one edit, regardless of its length. */
size_t pf_suggest(const char *word, const char *const *words, size_t n, char *out, size_t size)
{
    pf_nearest suggestions;
    pf_nearest_begin(&suggestions, word);
    /* Words in such lists are short: at least half of the letters must be right. */
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

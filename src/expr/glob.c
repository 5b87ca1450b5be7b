/* Comparing and matching texts.  The hexadecimal form of bytes is never written out: character()
 * returns one digit at a time. */
#include "expr/fetch.h"

/* Returns the length in characters. */
static size_t length(const pf_expr_text *t)
{
    return t->hex ? 2 * t->bytes.len : t->bytes.len;
}

static uint8_t character(const pf_expr_text *t, size_t i)
{
    if (!t->hex)
        return t->bytes.ptr[i];
    uint8_t byte = t->bytes.ptr[i / 2];
    return (uint8_t) "0123456789abcdef"[i % 2 ? byte & 15 : byte >> 4];
}

/* Returns a character of the expression, in lower case if it is compared with hex digits. */
static uint8_t fold_hex(const pf_expr_text *t, uint8_t c)
{
    return t->hex && c >= 'A' && c <= 'F' ? (uint8_t)(c - 'A' + 'a') : c;
}

bool pf_expr_text_equal(const pf_expr_text *t, perfile_bytes wanted)
{
    if (length(t) != wanted.len)
        return false;
    if (!t->hex)
        return !wanted.len || memcmp(t->bytes.ptr, wanted.ptr, wanted.len) == 0;
    for (size_t i = 0; i < wanted.len; i++)
        if (character(t, i) != fold_hex(t, wanted.ptr[i]))
            return false;
    return true;
}

bool pf_expr_texts_equal(const pf_expr_text *a, const pf_expr_text *b)
{
    size_t n = length(a);
    if (n != length(b))
        return false;
    for (size_t i = 0; i < n; i++)
        if (character(a, i) != character(b, i))
            return false;
    return true;
}

int pf_expr_bytes_compare(perfile_bytes a, perfile_bytes b)
{
    size_t n = a.len < b.len ? a.len : b.len;
    int order = n ? memcmp(a.ptr, b.ptr, n) : 0;
    if (order)
        return order;
    return a.len < b.len ? -1 : a.len > b.len;
}

/* Returns the position after the ] of the set that begins with the [ at `i`.  A ] that comes first
 * in the set, or first after its !, does not end it.  Returns p.len + 1 if the set has no end. */
static size_t set_end(perfile_bytes p, size_t i)
{
    i++;
    if (i < p.len && p.ptr[i] == '!')
        i++;
    for (size_t first = i; i < p.len; i++) {
        if (p.ptr[i] == ']' && i != first)
            return i + 1;
        if (p.ptr[i] == '\\' && i + 1 < p.len)
            i++;
    }
    return p.len + 1;
}

/* Returns true if `c` is in the set p[i .. end), brackets included. */
static bool in_set(const pf_expr_text *t, perfile_bytes p, size_t i, size_t end, uint8_t c)
{
    /* `end` is after the ], so the last character of the set is at end - 2. */
    bool negate = p.ptr[++i] == '!';
    bool found = false;
    if (negate)
        i++;
    while (i + 1 < end) {
        if (p.ptr[i] == '\\' && i + 2 < end)
            i++;
        uint8_t lo = fold_hex(t, p.ptr[i++]);
        uint8_t hi = lo;
        if (i + 2 < end && p.ptr[i] == '-') {
            i++;
            if (p.ptr[i] == '\\' && i + 2 < end)
                i++;
            hi = fold_hex(t, p.ptr[i++]);
        }
        found = found || (c >= lo && c <= hi);
    }
    return found != negate;
}

/* Returns true if the character `c` matches the item of the pattern at *i.  Moves *i past the
 * item. */
static bool fits_one(const pf_expr_text *t, perfile_bytes p, size_t *i, uint8_t c)
{
    size_t at = *i;
    switch (p.ptr[at]) {
    case '?':
        *i = at + 1;
        return true;
    case '[':
        *i = set_end(p, at);
        return in_set(t, p, at, *i, c);
    case '\\':
        at++;
        break;
    default:
        break;
    }
    *i = at + 1;
    return fold_hex(t, p.ptr[at]) == c;
}

/* On a mismatch the last * takes one more character, and matching continues from there.  Earlier
 * ones need no retry: the part between two * is best matched as early as possible.  So the cost is
 * at most the product of both lengths. */
bool pf_expr_glob(const pf_expr_text *t, perfile_bytes pattern)
{
    size_t n = length(t), i = 0, at = 0;
    size_t star = SIZE_MAX, star_at = 0; /* the last *, and the text after the part it has taken */
    while (i < n || at < pattern.len) {
        if (at < pattern.len && pattern.ptr[at] == '*') {
            star = at++;
            star_at = i;
            continue;
        }
        if (i < n && at < pattern.len && fits_one(t, pattern, &at, character(t, i))) {
            i++;
            continue;
        }
        if (star == SIZE_MAX || i == n)
            return false;
        i = ++star_at;
        at = star + 1;
    }
    return true;
}

const char *pf_expr_glob_error(perfile_bytes p)
{
    for (size_t i = 0; i < p.len; i++) {
        if (p.ptr[i] == '\\') {
            if (++i == p.len)
                return "the pattern ends with a backslash";
        } else if (p.ptr[i] == '[') {
            size_t end = set_end(p, i);
            if (end > p.len)
                return "a [ of the pattern has no ]";
            i = end - 1;
        }
    }
    return NULL;
}

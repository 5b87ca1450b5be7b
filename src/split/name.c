/* Names of parts, made of a pattern with one %d (number) or %s (key).
 *
 * Keys come from input (names of threads): put_key() lets only letters, digits and a few signs into
 * a file name.  Names that were used before get a number: "a.data", "a-2.data". */
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "split/split.h"

enum {
    WIDEST = 20,     /* greatest width of a number, %20d */
    MOST_KEY = 100,  /* bytes of a key that go into a name */
    MOST_NAME = 4096 /* bytes of a name with its folder, as PATH_MAX of Linux */
};

/* A parsed pattern. */
typedef struct pattern {
    const char *before; /* text in front of the conversion, … */
    const char *behind; /* … and behind it; %% is not resolved in either */
    size_t before_len;
    char conversion; /* 'd' or 's' */
    bool zeros;      /* %04d */
    unsigned width;
    unsigned n; /* conversions that were found */
} pattern;

/* Parses what begins with the '%' at `at`, and notes a conversion in *p.  Returns its end, NULL if
 * it is neither a conversion nor %%. */
static const char *parse_conversion(const char *at, pattern *p)
{
    const char *end = at + 1;
    bool zeros = *end == '0';
    unsigned width = 0;
    for (; *end >= '0' && *end <= '9' && width <= WIDEST; end++)
        width = 10 * width + (unsigned)(*end - '0');
    if (*end == '%' && end == at + 1)
        return end + 1;
    if ((*end != 'd' && !(*end == 's' && end == at + 1)) || width > WIDEST)
        return NULL;
    p->conversion = *end;
    p->zeros = zeros;
    p->width = width;
    p->n++;
    p->before_len = (size_t)(at - p->before);
    p->behind = end + 1;
    return end + 1;
}

/* Parses a pattern, which must have one conversion, in the name of the file. */
static perfile_status parse_pattern(const char *text, pattern *p, perfile_error *err)
{
    const char *slash = strrchr(text, '/');
    *p = (pattern){.before = text};
    for (const char *at = text; *at;) {
        const char *end = *at == '%' ? parse_conversion(at, p) : at + 1;
        if (!end)
            return pf_fail(err, PERFILE_E_USAGE, "split.pattern",
                           "'%s': a %% must be followed by d, 4d, 04d, s or %%", text);
        at = end;
    }
    if (p->n != 1)
        return pf_fail(err, PERFILE_E_USAGE, "split.pattern",
                       p->n ? "'%s' has more than one place for the part, %%d or %%s"
                            : "'%s' has no place for the part, as %%04d in 'part-%%04d.data'",
                       text);
    if (slash && slash >= text + p->before_len)
        return pf_fail(err, PERFILE_E_USAGE, "split.pattern",
                       "'%s': the place for the part must be in the name of the file, not of the "
                       "folder",
                       text);
    return PERFILE_OK;
}

perfile_status pf_split_pattern(const char *text, uint32_t by, perfile_error *err)
{
    pattern p;
    perfile_status st = parse_pattern(text, &p, err);
    if (st == PERFILE_OK && p.conversion == 's' && by <= PERFILE_SPLIT_RECORDS)
        return pf_fail(err, PERFILE_E_USAGE, "split.pattern",
                       "'%s': %%s stands for the key of a part, and parts by time, size or number "
                       "have none: use %%d",
                       text);
    return st;
}

/* Appends `len` bytes of the pattern, with %% as %.  *n is the length of `out`, which is cut at
 * MOST_NAME. */
static void append_text(char *out, size_t *n, const char *text, size_t len)
{
    for (size_t i = 0; i < len && *n + 1 < MOST_NAME; i++) {
        out[(*n)++] = text[i];
        i += text[i] == '%';
    }
    out[*n] = '\0';
}

/* Appends a key as part of a file name: other characters than letters, digits, '_', '.' and '-'
 * become '_', and so do '.' and '-' at the front (hidden files, options). */
static void append_key(char *out, size_t *n, const char *key)
{
    size_t begin = *n;
    bool at_front = begin == 0 || out[begin - 1] == '/';
    for (size_t i = 0; key[i] && i < MOST_KEY && *n + 1 < MOST_NAME; i++) {
        char c = key[i];
        bool letter = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
        bool kept = letter || c == '_' || ((c == '.' || c == '-') && !(i == 0 && at_front));
        out[(*n)++] = kept ? c : '_';
    }
    if (*n == begin)
        out[(*n)++] = '_';
    out[*n] = '\0';
}

/* Writes the name of a part; `again`: the number to append, 0: none. */
static void format_name(const pattern *p, uint32_t number, const char *key, uint32_t again,
                        char out[MOST_NAME])
{
    size_t n = 0;
    append_text(out, &n, p->before, p->before_len);
    if (p->conversion == 's')
        append_key(out, &n, key);
    else
        n += (size_t)snprintf(out + n, MOST_NAME - n, p->zeros ? "%0*u" : "%*u", (int)p->width,
                              number);
    if (again)
        n += (size_t)snprintf(out + n, MOST_NAME - n, "-%u", again);
    append_text(out, &n, p->behind, strlen(p->behind));
}

/* Returns the stored copy of a name that was used; NULL: it was not. */
static const char *find(const pf_split_names *names, const char *name)
{
    return pf_texts_find(&names->used, (perfile_bytes){(const uint8_t *)name, strlen(name)});
}

/* Returns the last number that was appended to the used name `name`, 1 at first; it is kept so that
 * many equal names need no search from 2 on.  NULL when there is no memory. */
static uint32_t *count_of(pf_split_names *names, const char *name)
{
    const uint32_t one = 1;
    uint32_t at = pf_index_get(&names->places, (uintptr_t)name);
    if (at == PF_INDEX_NONE) {
        at = (uint32_t)(names->counts.len / sizeof one);
        if (!pf_buffer_append(&names->counts, &one, sizeof one) ||
            !pf_index_put(&names->places, (uintptr_t)name, at))
            return NULL;
    }
    return (uint32_t *)(void *)names->counts.ptr + at;
}

perfile_status pf_split_name(pf_split_names *names, const char *text, uint32_t number,
                             const char *key, const char **name, perfile_error *err)
{
    pattern p;
    char out[MOST_NAME];
    if (strlen(text) >= MOST_NAME - MOST_KEY - 2 * WIDEST)
        return pf_fail(err, PERFILE_E_USAGE, "split.pattern",
                       "the pattern has %zu bytes, less than %d are needed", strlen(text),
                       MOST_NAME - MOST_KEY - 2 * WIDEST);
    perfile_status st = parse_pattern(text, &p, err);
    if (st != PERFILE_OK)
        return st;
    if (!names->used.seed)
        names->used.seed = names->places.seed = pf_index_seed(names);
    format_name(&p, number, key, 0, out);
    const char *used = find(names, out);
    uint32_t *count = used ? count_of(names, used) : NULL;
    if (used && !count)
        return pf_fail_nomem(err, "split");
    /* A numbered name may itself have been used: by a key that ends with "-2". */
    while (used && find(names, out))
        format_name(&p, number, key, ++*count, out);
    *name = pf_texts_keep(&names->used, (perfile_bytes){(const uint8_t *)out, strlen(out)});
    return *name ? PERFILE_OK : pf_fail_nomem(err, "split");
}

void pf_split_names_free(pf_split_names *names)
{
    pf_texts_free(&names->used);
    pf_index_free(&names->places);
    pf_buffer_free(&names->counts);
}

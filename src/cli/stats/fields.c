/* Keys of --by that are names of fields: any column of `dump --fields`.
 *
 * Their values are texts.  Each text is stored once and numbered, so that a value is one uint64_t,
 * as for other keys. */
#include "cli/stats/stats.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "perfile/emit.h"
#include "emit/command.h"

/* The texts of a key, each followed by a NUL. */
typedef struct cli_field {
    pf_columns *columns;
    char *texts;
    size_t len, cap; /* size of `texts`, used and allocated */
    size_t *at;      /* offset in `texts` of the text with each number */
    size_t n, at_cap;
    size_t *slots; /* a hash table: number + 1, 0 if free; it has twice as many slots as `at` has
                    * entries */
} cli_field;

const char *cli_field_key(cli_keys *keys, unsigned k, const char *word)
{
    static char wrong[512];
    perfile_error err;
    bool model;
    if (pf_emit_fields_check(word, &model, &err) != PERFILE_OK) {
        memcpy(wrong, err.message,
               sizeof err.message < sizeof wrong ? sizeof err.message : sizeof wrong);
        wrong[sizeof wrong - 1] = '\0';
        return wrong;
    }
    keys->needs_model |= model;
    const size_t n = strlen(word);
    char *names = malloc(2 * (n + 1)); /* the name, and the heading */
    if (!names)
        return "out of memory";
    memcpy(names, word, n + 1);
    for (size_t i = 0; i <= n; i++)
        names[n + 1 + i] = (char)toupper((unsigned char)word[i]);
    keys->field[k] = names;
    return NULL;
}

const char *cli_field_heading(const cli_keys *keys, unsigned k)
{
    return keys->field[k] + strlen(keys->field[k]) + 1;
}

void cli_field_keys_free(cli_keys *keys)
{
    for (unsigned k = 0; k < CLI_MAX_KEYS; k++)
        free(keys->field[k]);
}

perfile_status cli_fields_open(cli_counts *counts, const perfile_model *model, perfile_error *err)
{
    const cli_keys *keys = counts->keys;
    perfile_status st = PERFILE_OK;
    counts->fields = calloc(CLI_MAX_KEYS, sizeof *counts->fields);
    if (!counts->fields) {
        err->status = PERFILE_E_NOMEM;
        return PERFILE_E_NOMEM;
    }
    for (unsigned k = 0; k < keys->n && st == PERFILE_OK; k++)
        if (keys->field[k])
            st = pf_columns_open(model, counts->symbols, keys->field[k], &counts->fields[k].columns,
                                 err);
    return st;
}

void cli_fields_close(cli_counts *counts)
{
    for (unsigned k = 0; counts->fields && k < CLI_MAX_KEYS; k++) {
        pf_columns_close(counts->fields[k].columns);
        free(counts->fields[k].texts);
        free(counts->fields[k].at);
        free(counts->fields[k].slots);
    }
    free(counts->fields);
    counts->fields = NULL;
}

const char *cli_field_text(const cli_counts *counts, unsigned k, uint64_t value)
{
    const cli_field *f = &counts->fields[k];
    return f->texts + f->at[value];
}

static uint64_t hash(uint64_t seed, perfile_bytes text)
{
    uint64_t h = seed;
    for (size_t i = 0; i < text.len; i++) {
        h = (h ^ text.ptr[i]) * 0xd6e8feb86659fd93;
        h ^= h >> 32;
    }
    return h;
}

/* Returns the slot of a text, or the free slot where it belongs. */
static size_t *slot_of(const cli_field *f, uint64_t seed, perfile_bytes text)
{
    const size_t mask = 2 * f->at_cap - 1;
    size_t i = (size_t)hash(seed, text) & mask;
    for (; f->slots[i]; i = (i + 1) & mask) {
        const char *known = f->texts + f->at[f->slots[i] - 1];
        if (strlen(known) == text.len && memcmp(known, text.ptr, text.len) == 0)
            break;
    }
    return &f->slots[i];
}

/* Makes room for another text of `len` bytes.  Returns false when out of memory. */
static bool grow(cli_field *f, uint64_t seed, size_t len)
{
    if (f->cap - f->len <= len) {
        const size_t cap = 2 * f->cap + len + 256;
        char *texts = realloc(f->texts, cap);
        if (!texts)
            return false;
        f->texts = texts;
        f->cap = cap;
    }
    if (f->n < f->at_cap)
        return true;
    const size_t cap = f->at_cap ? 2 * f->at_cap : 64;
    size_t *at = realloc(f->at, cap * sizeof *at), *slots = calloc(2 * cap, sizeof *slots);
    if (at)
        f->at = at;
    if (!at || !slots) {
        free(slots);
        return false;
    }
    free(f->slots);
    f->slots = slots;
    f->at_cap = cap;
    for (size_t i = 0; i < f->n; i++) {
        const char *text = f->texts + f->at[i];
        *slot_of(f, seed, (perfile_bytes){(const uint8_t *)text, strlen(text)}) = i + 1;
    }
    return true;
}

perfile_status cli_field_value(cli_counts *counts, unsigned k, const perfile_record *r,
                               uint64_t *value, perfile_error *err)
{
    perfile_bytes text;
    cli_field *f = &counts->fields[k];
    const uint64_t seed = counts->groups.seed;
    *value = UINT64_MAX;
    perfile_status st = pf_columns_text(f->columns, r, 0, &text, err);
    if (st != PERFILE_OK)
        return st == PERFILE_END ? PERFILE_OK : st;
    const uint8_t *zero = text.len ? memchr(text.ptr, 0, text.len) : NULL;
    text.len = zero ? (size_t)(zero - text.ptr) : text.len; /* texts end at the first NUL */
    if (!grow(f, seed, text.len)) {
        err->status = PERFILE_E_NOMEM;
        return PERFILE_E_NOMEM;
    }
    size_t *slot = slot_of(f, seed, text);
    if (!*slot) {
        f->at[f->n++] = f->len;
        if (text.len)
            memcpy(f->texts + f->len, text.ptr, text.len);
        f->len += text.len;
        f->texts[f->len++] = '\0';
        *slot = f->n;
    }
    *value = *slot - 1;
    return PERFILE_OK;
}

/* Compares numbers by value, texts by their characters; numbers come before texts. */
int cli_field_order(const cli_counts *counts, unsigned k, uint64_t a, uint64_t b)
{
    if (a == UINT64_MAX || b == UINT64_MAX)
        return (a > b) - (a < b);
    const char *x = cli_field_text(counts, k, a), *y = cli_field_text(counts, k, b);
    char *end_x, *end_y;
    const bool minus = x[0] == '-' || y[0] == '-';
    const unsigned long long m = strtoull(x, &end_x, 0), n = strtoull(y, &end_y, 0);
    const bool number_x = *x && !*end_x, number_y = *y && !*end_y;
    if (number_x != number_y)
        return number_x ? -1 : 1;
    if (!number_x)
        return strcmp(x, y);
    return minus ? ((long long)m > (long long)n) - ((long long)m < (long long)n)
                 : (m > n) - (m < n);
}

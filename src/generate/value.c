/* The values that a description gives: numbers, names, texts, bytes, and lists of them; see
 * given.h.
 */
#include "generate/given.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/error.h"
#include "base/shorten.h"
#include "perfile/encode.h"
#include "schema/command.h"

enum { SHOWN = 60 /* bytes of a word in an error, at most */ };

bool pf_given_number(const char *text, size_t len, uint64_t *v)
{
    char copy[32], *end;
    const bool negative = len && text[0] == '-';
    if (len == 0 || len >= sizeof copy || text[negative] < '0' || text[negative] > '9')
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    const bool hex = copy[negative] == '0' && (copy[negative + 1] | 0x20) == 'x';
    const size_t digits =
        strspn(copy + negative + (hex ? 2 : 0), hex ? "0123456789abcdefABCDEF" : "0123456789");
    if (digits == 0 || digits > (hex ? 16 : 20))
        return false;
    *v = strtoull(copy + negative, &end, hex ? 16 : 10);
    if (!hex && digits == 20 && (copy[negative] != '1' || *v < UINT64_C(10000000000000000000)))
        return false;
    if (*end || (negative && *v > UINT64_C(1) << 63))
        return false;
    *v = negative ? 0 - *v : *v;
    return true;
}

typedef struct reading {
    const pf_given_member *given;
    const pf_member *member;
    uint32_t line;
    pf_arena *arena;
    const char *at; /* what is left of the value */
    perfile_error *err;
} reading;

static perfile_status fail_word(const reading *r, const char *word, size_t len, const char *why)
{
    return pf_spec_fail(r->line, r->err, "%.*s: '%.*s' %s", SHOWN, r->given->path,
                        len < SHOWN ? (int)len : (int)SHOWN, word, why);
}

static perfile_status fail_name(const reading *r, const char *word, size_t len,
                                const perfile_vocabulary *v)
{
    char wanted[PF_NEAREST_BYTES + 1], similar[150], why[200];
    pf_nearest near;
    snprintf(wanted, sizeof wanted, "%.*s", (int)(len < sizeof wanted ? len : sizeof wanted - 1),
             word);
    pf_nearest_begin(&near, wanted);
    for (uint32_t i = 0; i < v->n; i++)
        pf_nearest_offer(&near, v->words ? v->words[i].name : v->bits[i].name);
    pf_nearest_put(&near, similar, sizeof similar);
    if (!near.n)
        return fail_word(r, word, len, "is no number, and no name of a value");
    snprintf(why, sizeof why, "is no value; did you mean %s?", similar);
    return fail_word(r, word, len, why);
}

/* Names of values and bits are given in either case. */
static bool is_value(const char *word, size_t len, const char *name)
{
    return strlen(name) == len && strncasecmp(word, name, len) == 0;
}

/* Adds a part of a word of bit fields: "inherit", or "precise_ip:2". */
static perfile_status add_part(const reading *r, const char *word, size_t len,
                               const perfile_vocabulary *v, uint64_t *to)
{
    const char *colon = memchr(word, ':', len);
    const size_t n = colon ? (size_t)(colon - word) : len;
    uint64_t value = 1;
    if (colon && !pf_given_number(colon + 1, len - n - 1, &value))
        return fail_word(r, word, len, "has no number after the colon");
    for (uint32_t i = 0; i < v->n; i++) {
        const perfile_bits *b = &v->bits[i];
        if (!is_value(word, n, b->name))
            continue;
        if (b->width < 64 && value >> b->width)
            return fail_word(r, word, len, "is more than its bits can hold");
        *to |= value << b->shift;
        return PERFILE_OK;
    }
    return fail_name(r, word, n, v);
}

static bool fits(unsigned type, uint64_t v)
{
    const unsigned bits = 8 * pf_type_width(type);
    const uint64_t top = bits < 64 ? UINT64_MAX << bits : 0, sign = UINT64_MAX << (bits - 1);
    return !(v & top) || (pf_is_signed(type) && (v & sign) == sign);
}

/* Reads the next number of the value: up to a comma, if `separated`.  Bits are joined by |, or by
 * commas if they do not separate numbers. */
static perfile_status read_number(reading *r, unsigned type, bool separated, uint64_t *v)
{
    const perfile_vocabulary *names = pf_kind_words(r->member->kind);
    const bool has_bits = names && names->n && names->bits;
    perfile_status st = PERFILE_OK;
    bool more;
    *v = 0;
    do {
        const char *word = r->at;
        const size_t len = strcspn(word, has_bits ? ",|" : ",");
        uint64_t one = 0;
        r->at += len + (word[len] != '\0');
        more = *r->at && (word[len] == '|' || !separated);
        bool named = false;
        for (uint32_t i = 0; names && names->words && i < names->n && !named; i++)
            if ((named = is_value(word, len, names->words[i].name)))
                one = names->words[i].value;
        if (named || pf_given_number(word, len, &one))
            *v |= one;
        else if (has_bits)
            st = add_part(r, word, len, names, v);
        else
            st = names && names->n ? fail_name(r, word, len, names)
                                   : fail_word(r, word, len, "is not a number");
        if (st == PERFILE_OK && word[len] == ',' && !separated && !has_bits)
            st = fail_word(r, r->at, strlen(r->at), "comes after a number");
    } while (st == PERFILE_OK && more);
    if (st == PERFILE_OK && !fits(type, *v))
        st = fail_word(r, r->given->value, strlen(r->given->value),
                       "is more than its bytes can hold");
    return st;
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *at = c ? strchr(digits, c >= 'A' && c <= 'F' ? c | 0x20 : c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static perfile_status read_hex(reading *r, perfile_bytes *bytes)
{
    const size_t n = strlen(r->at);
    void *p;
    perfile_status st = pf_arena_get(r->arena, n / 2 + 16, &p, r->err);
    if (st != PERFILE_OK)
        return st;
    uint8_t *to = p;
    for (size_t i = 0; i < n; i++) {
        const int digit = hex_digit(r->at[i]);
        if (digit < 0 || n % 2)
            return fail_word(r, r->at, n, "is not pairs of hexadecimal digits");
        to[i / 2] = (uint8_t)(to[i / 2] << 4 | digit);
    }
    *bytes = (perfile_bytes){to, n / 2};
    return PERFILE_OK;
}

/* Reads a character after a backslash; returns -1 if there is no such escape. */
static int escaped(const char **at)
{
    static const char letters[] = "\"\\nt", bytes[] = "\"\\\n\t";
    const char c = **at;
    const char *found = c ? strchr(letters, c) : NULL;
    if (found) {
        (*at)++;
        return (uint8_t)bytes[found - letters];
    }
    if (c != 'x' || hex_digit((*at)[1]) < 0 || hex_digit((*at)[2]) < 0)
        return -1;
    const int byte = hex_digit((*at)[1]) << 4 | hex_digit((*at)[2]);
    *at += 3;
    return byte;
}

/* Reads a text: bare, or in quotes with escapes.  One of a list ends at a comma. */
static perfile_status read_text(reading *r, bool separated, perfile_bytes *text)
{
    const char *at = r->at;
    void *p;
    perfile_status st = pf_arena_get(r->arena, strlen(at) + 1, &p, r->err);
    if (st != PERFILE_OK)
        return st;
    uint8_t *to = p;
    size_t n = 0;
    bool quoted = false;
    while (*at && (quoted || !separated || *at != ',')) {
        int byte = (uint8_t)*at++;
        if (byte == '"') {
            quoted = !quoted;
            continue;
        }
        if (quoted && byte == '\\')
            byte = escaped(&at);
        if (byte < 0)
            return fail_word(r, at - 1, strlen(at - 1),
                             "is no escape: \\\" \\\\ \\n \\t \\xHH are");
        to[n++] = (uint8_t)byte;
    }
    r->at = at + (*at == ',');
    *text = (perfile_bytes){to, n};
    return PERFILE_OK;
}

/* Returns how many items the rest of the value can have. */
static size_t most_items(const char *value)
{
    size_t n = *value != '\0';
    for (; *value; value++)
        n += *value == ',';
    return n;
}

static perfile_status read_words(reading *r, perfile_words *words)
{
    void *p;
    size_t n = 0;
    const bool narrow = r->member->element == PERFILE_STORED_S32;
    perfile_status st =
        pf_arena_get(r->arena, (most_items(r->at) + 1) * sizeof(uint64_t), &p, r->err);
    while (st == PERFILE_OK && *r->at) {
        uint64_t v;
        st = read_number(r, r->member->element, true, &v);
        if (narrow)
            ((int32_t *)p)[n++] = (int32_t)(int64_t)v;
        else
            ((uint64_t *)p)[n++] = v;
    }
    *words = narrow ? perfile_words_s32(p, n) : perfile_words_u64(p, n);
    return st;
}

static perfile_status read_strings(reading *r, perfile_strings *strings)
{
    void *p;
    size_t n = 0;
    perfile_status st =
        pf_arena_get(r->arena, (most_items(r->at) + 1) * sizeof(perfile_bytes), &p, r->err);
    while (st == PERFILE_OK && *r->at)
        st = read_text(r, true, &((perfile_bytes *)p)[n++]);
    *strings = perfile_strings_of(p, n);
    return st;
}

static void store_number(uint8_t *to, unsigned width, uint64_t v)
{
    const uint8_t v8 = (uint8_t)v;
    const uint16_t v16 = (uint16_t)v;
    const uint32_t v32 = (uint32_t)v;
    const void *from[] = {[1] = &v8, [2] = &v16, [4] = &v32, [8] = &v};
    memcpy(to, from[width], width);
}

perfile_status pf_given_store(const pf_given_member *m, uint32_t line, const pf_member *member,
                              pf_arena *arena, uint8_t *to, perfile_error *err)
{
    reading r = {m, member, line, arena, m->value, err};
    perfile_status st;
    uint64_t v;
    switch (member->type) {
    case PERFILE_STORED_TEXT:
        return read_text(&r, false, (perfile_bytes *)(void *)to);
    case PERFILE_STORED_BLOB:
        return read_hex(&r, (perfile_bytes *)(void *)to);
    case PERFILE_STORED_WORDS:
        return read_words(&r, (perfile_words *)(void *)to);
    case PERFILE_STORED_STRINGS:
        return read_strings(&r, (perfile_strings *)(void *)to);
    case PERFILE_STORED_LIST:
        if (pf_given_number(m->value, strlen(m->value), &v) && v <= PF_GIVEN_ITEMS)
            return PERFILE_OK;
        return fail_word(&r, m->value, strlen(m->value), "is not a number of items up to 4096");
    case PERFILE_STORED_STRUCT:
        return fail_word(&r, m->value, strlen(m->value),
                         "is no value of a struct; name a member of it");
    default:
        st = read_number(&r, member->type, false, &v);
        if (st == PERFILE_OK)
            store_number(to, pf_type_width(member->type), v);
        return st;
    }
}

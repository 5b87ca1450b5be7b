/* Checks that output obeys the rules of its form: JSON, CBOR, text for a terminal.
 *
 * The checkers share nothing with the emitters, so that they cannot share a mistake with them.
 * None of them recurses: open objects are on a stack. */
#ifndef FUZZ_WELLFORMED_H
#define FUZZ_WELLFORMED_H

#include <stdbool.h>
#include <string.h>

#include "perfile/base.h"

enum {
    WELL_DEPTH = 64, /* the library's output never nests deeper */
    WELL_KEYS = 256  /* maximum of keys in open objects */
};

/* Returns the bytes of the UTF-8 character at `p`; 0 if it is invalid. */
static inline size_t well_character(const uint8_t *p, const uint8_t *end)
{
    if (p == end)
        return 0;
    if (p[0] < 0x80)
        return 1;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc0 || p[0] > 0xf7 || (size_t)(end - p) < n)
        return 0;
    uint32_t value = p[0] & (0x7fU >> n);
    for (size_t i = 1; i < n; i++) {
        if (p[i] >> 6 != 2)
            return 0;
        value = value << 6 | (p[i] & 0x3fU);
    }
    bool surrogate = value >= 0xd800 && value < 0xe000;
    return value >= least[n] && value < 0x110000 && !surrogate ? n : 0;
}

/* Returns true for text that does not control a terminal: UTF-8 without control characters except
 * line ends and `control`. */
static inline bool well_printable(perfile_bytes text, char control)
{
    const uint8_t *p = text.ptr, *end = p + text.len;
    for (size_t n; p != end; p += n) {
        n = well_character(p, end);
        if (n == 0 || (p[0] < 0x20 && p[0] != '\n' && p[0] != control) || p[0] == 0x7f ||
            (p[0] == 0xc2 && p[1] < 0xa0))
            return false;
    }
    return true;
}

static inline bool well_text(perfile_bytes text)
{
    return well_printable(text, '\n');
}

/* The same with tabs between the cells. */
static inline bool well_table(perfile_bytes text)
{
    return well_printable(text, '\t');
}

/* The member names of all open objects, to find duplicates. */
typedef struct well_keys {
    perfile_bytes at[WELL_KEYS];
    size_t n;
} well_keys;

/* Adds a name; returns false if the object already has it.  Names beyond WELL_KEYS are not
 * checked. */
static inline bool well_key(well_keys *keys, size_t first, perfile_bytes key)
{
    for (size_t i = first; i < keys->n; i++)
        if (keys->at[i].len == key.len && memcmp(keys->at[i].ptr, key.ptr, key.len) == 0)
            return false;
    if (keys->n < WELL_KEYS)
        keys->at[keys->n++] = key;
    return true;
}

typedef struct well_json_reader {
    const uint8_t *p, *end;
    well_keys keys;
} well_json_reader;

static inline void well_json_space(well_json_reader *j)
{
    while (j->p != j->end && (*j->p == ' ' || *j->p == '\n' || *j->p == '\t' || *j->p == '\r'))
        j->p++;
}

static inline bool well_json_is(well_json_reader *j, char c)
{
    well_json_space(j);
    if (j->p == j->end || *j->p != (uint8_t)c)
        return false;
    j->p++;
    return true;
}

static inline bool well_json_string(well_json_reader *j, perfile_bytes *inside)
{
    if (!well_json_is(j, '"'))
        return false;
    const uint8_t *start = j->p;
    while (j->p != j->end && *j->p != '"') {
        size_t n = well_character(j->p, j->end);
        if (n == 0 || *j->p < 0x20)
            return false;
        bool escape = *j->p == '\\';
        j->p += n;
        if (!escape)
            continue;
        if (j->p == j->end || !*j->p || !strchr("\"\\/bfnrtu", *j->p))
            return false;
        if (*j->p++ != 'u')
            continue;
        for (int i = 0; i < 4; i++, j->p++)
            if (j->p == j->end || !*j->p || !strchr("0123456789abcdefABCDEF", *j->p))
                return false;
    }
    if (j->p == j->end)
        return false;
    *inside = (perfile_bytes){start, (size_t)(j->p++ - start)};
    return true;
}

static inline size_t well_json_digits(well_json_reader *j)
{
    const uint8_t *start = j->p;
    while (j->p != j->end && *j->p >= '0' && *j->p <= '9')
        j->p++;
    return (size_t)(j->p - start);
}

static inline bool well_json_number(well_json_reader *j)
{
    if (j->p != j->end && *j->p == '-')
        j->p++;
    bool zero = j->p != j->end && *j->p == '0';
    size_t n = well_json_digits(j);
    if (n == 0 || (zero && n > 1))
        return false;
    if (j->p != j->end && *j->p == '.') {
        j->p++;
        if (well_json_digits(j) == 0)
            return false;
    }
    if (j->p != j->end && (*j->p == 'e' || *j->p == 'E')) {
        j->p++;
        if (j->p != j->end && (*j->p == '+' || *j->p == '-'))
            j->p++;
        return well_json_digits(j) != 0;
    }
    return true;
}

static inline bool well_json_scalar(well_json_reader *j)
{
    static const char *const words[] = {"null", "true", "false"};
    perfile_bytes inside;
    for (size_t i = 0; i < 3; i++) {
        size_t n = strlen(words[i]);
        if ((size_t)(j->end - j->p) >= n && memcmp(j->p, words[i], n) == 0) {
            j->p += n;
            return true;
        }
    }
    return j->p != j->end && *j->p == '"' ? well_json_string(j, &inside) : well_json_number(j);
}

/* Reads one value, in which no object has a name twice.  The bytes after it are not read. */
static inline bool well_json_value(well_json_reader *j)
{
    struct {
        bool object;
        size_t keys; /* number of names when it began */
    } open[WELL_DEPTH];
    size_t depth = 0;
    perfile_bytes key;
    j->keys.n = 0;
    for (bool first = false;; first = false) {
        /* Read a value, or the end of the object or array that was just opened. */
        bool object = well_json_is(j, '{');
        if (object || well_json_is(j, '[')) {
            if (depth == WELL_DEPTH)
                return false;
            open[depth].object = object;
            open[depth++].keys = j->keys.n;
            first = true;
        } else if (!well_json_scalar(j)) {
            return false;
        }
        for (; depth; depth--, first = false) {
            size_t keys = open[depth - 1].keys;
            object = open[depth - 1].object;
            if (!well_json_is(j, object ? '}' : ']')) {
                if (!first && !well_json_is(j, ','))
                    return false;
                if (object && (!well_json_string(j, &key) || !well_key(&j->keys, keys, key) ||
                               !well_json_is(j, ':')))
                    return false;
                break;
            }
            j->keys.n = keys;
        }
        if (!depth)
            return true;
        well_json_space(j);
    }
}

/* Returns true for JSON values separated only by white space; *n receives their number. */
static inline bool well_json(perfile_bytes bytes, uint64_t *n)
{
    static well_json_reader j;
    j.p = bytes.ptr;
    j.end = bytes.ptr + bytes.len;
    for (*n = 0;; ++*n) {
        well_json_space(&j);
        if (j.p == j.end)
            return true;
        if (!well_json_value(&j))
            return false;
    }
}

/* Returns true for JSON Lines: each line is a value and ends with a newline, including the last.
 * *n receives their number. */
static inline bool well_json_lines(perfile_bytes bytes, uint64_t *n)
{
    static well_json_reader j;
    const uint8_t *p = bytes.ptr, *end = p + bytes.len;
    for (*n = 0; p != end; ++*n) {
        const uint8_t *line_end = memchr(p, '\n', (size_t)(end - p));
        if (!line_end)
            return false;
        j.p = p;
        j.end = line_end;
        if (!well_json_value(&j) || j.p != line_end)
            return false;
        p = line_end + 1;
    }
    return true;
}

/* Reads the head of a CBOR item: major type and argument; `indefinite` if the latter is 31. */
static inline bool well_cbor_head(const uint8_t **p, const uint8_t *end, unsigned *major,
                                  uint64_t *value, bool *indefinite)
{
    if (*p == end)
        return false;
    unsigned low = **p & 31;
    *major = **p >> 5;
    ++*p;
    *indefinite = low == 31;
    *value = low;
    if (low < 24 || low == 31)
        return true;
    if (low > 27 || (size_t)(end - *p) < (size_t)1 << (low - 24))
        return false;
    *value = 0;
    for (unsigned i = 0; i < 1U << (low - 24); i++)
        *value = *value << 8 | *(*p)++;
    return true;
}

typedef struct well_cbor_open {
    bool map, indefinite;
    uint64_t left; /* items to come, if known */
    uint64_t n;    /* items so far */
    size_t keys;   /* number of names when it began */
} well_cbor_open;

/* Returns true for a sequence of well-formed CBOR items; *n receives their number.  As
 * format/dump.cddl requires, map keys are text and unique, and strings are not chunked. */
static inline bool well_cbor(perfile_bytes bytes, uint64_t *n)
{
    static well_keys keys;
    static well_cbor_open open[WELL_DEPTH];
    const uint8_t *p = bytes.ptr, *end = p + bytes.len;
    size_t depth = 0;
    keys.n = 0;
    for (*n = 0; p != end || depth;) {
        well_cbor_open *in = depth ? &open[depth - 1] : NULL;
        unsigned major;
        uint64_t value;
        bool indefinite, ends = false;
        if (!well_cbor_head(&p, end, &major, &value, &indefinite))
            return false;
        bool key = in && in->map && in->n % 2 == 0;
        if (major == 7 && indefinite) {
            if (!in || !in->indefinite || (in->map && !key))
                return false;
            ends = true;
        } else if (indefinite && major != 4 && major != 5) {
            return false;
        } else if (key && major != 3) {
            return false;
        }
        if (major == 2 || major == 3) {
            if ((uint64_t)(end - p) < value)
                return false;
            for (size_t k = 0, size; major == 3 && k < value; k += size)
                if ((size = well_character(p + k, p + value)) == 0)
                    return false;
            if (key && !well_key(&keys, in->keys, (perfile_bytes){p, (size_t)value}))
                return false;
            p += value;
        }
        if (!ends && (major == 4 || major == 5)) {
            if (depth == WELL_DEPTH || value > UINT64_MAX / 2)
                return false;
            open[depth++] = (well_cbor_open){.map = major == 5,
                                             .indefinite = indefinite,
                                             .left = major == 5 ? 2 * value : value,
                                             .keys = keys.n};
            if (indefinite || value)
                continue;
            ends = true;
        }
        if (major == 6)
            continue; /* a tag: its item follows */
        /* An item is complete, and so are all items of which it was the last part. */
        if (ends)
            keys.n = open[--depth].keys;
        for (; depth; depth--) {
            in = &open[depth - 1];
            in->n++;
            if (in->indefinite || in->n < in->left)
                break;
            keys.n = in->keys;
        }
        *n += !depth;
    }
    return true;
}

#endif

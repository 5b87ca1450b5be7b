/* The rules of the Arrow C data interface, for a consumer that trusts nothing: what is wrong with a
 * schema, or with an array of that schema; NULL if nothing is.
 *
 * Beyond what the interface demands, arrays of perfile have offset 0, count their nulls, have no
 * elements that are in no list, and a zero where a number is null. */
#ifndef TESTS_ARROW_RULES_H
#define TESTS_ARROW_RULES_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "perfile/arrow.h"
#include "perfile/text.h"

/* Bytes of an item of a plain format; 0: it has none, or the format is unknown. */
static inline size_t arrow_width(const char *format)
{
    if (strcmp(format, "i") == 0)
        return 4;
    const char *const wide[] = {"l", "L", "g", "tsu:UTC"};
    for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
        if (strcmp(format, wide[i]) == 0)
            return 8;
    return 0;
}

static inline int32_t arrow_int(const char *at)
{
    int32_t n;
    memcpy(&n, at, sizeof n);
    return n;
}

/* The value of a key of metadata, *length bytes; NULL: there is none. */
static inline const char *arrow_metadata(const struct ArrowSchema *s, const char *key,
                                         int32_t *length)
{
    const char *at = s->metadata;
    int32_t n = at ? arrow_int(at) : 0;
    for (at += at ? 4 : 0; n > 0; n--) {
        const int32_t n_key = arrow_int(at);
        const char *name = at + 4;
        at = name + n_key;
        *length = arrow_int(at);
        if ((size_t)n_key == strlen(key) && memcmp(name, key, strlen(key)) == 0)
            return at + 4;
        at += 4 + *length;
    }
    return NULL;
}

/* Lengths are positive, and no text is empty. */
static inline const char *arrow_metadata_broken(const char *at)
{
    if (!at)
        return NULL;
    const int32_t n = arrow_int(at);
    if (n <= 0 || n > 16)
        return "metadata: a number of pairs";
    at += 4;
    for (int32_t i = 0; i < 2 * n; i++) {
        const int32_t length = arrow_int(at);
        if (length <= 0 || length > 4096)
            return "metadata: a length";
        for (int32_t k = 0; k < length; k++)
            if (!at[4 + k])
                return "metadata: a zero in a text";
        at += 4 + length;
    }
    return NULL;
}

static inline const char *arrow_schema_broken(const struct ArrowSchema *s)
{
    const char *broken = NULL;
    if (!s->release)
        return "schema: released";
    if (!s->format || !s->name)
        return "schema: no format or name";
    const char *f = s->format;
    const bool list = strcmp(f, "+l") == 0, row = strcmp(f, "+s") == 0;
    if (!list && !row && strcmp(f, "b") != 0 && strcmp(f, "u") != 0 && !arrow_width(f))
        return "schema: an unknown format";
    if (s->flags & ~(int64_t)ARROW_FLAG_NULLABLE)
        return "schema: unknown flags";
    if ((list && s->n_children != 1) || (!list && !row && s->n_children) || s->n_children < 0 ||
        !s->children != !s->n_children)
        return "schema: children";
    if (s->dictionary && strcmp(f, "i") != 0)
        return "schema: a dictionary of what is no i32";
    if (s->dictionary && (strcmp(s->dictionary->format, "u") != 0 || s->dictionary->dictionary))
        return "schema: a dictionary of no texts";
    broken = arrow_metadata_broken(s->metadata);
    for (int64_t i = 0; i < s->n_children && !broken; i++)
        broken = arrow_schema_broken(s->children[i]);
    for (int64_t i = 0; row && i < s->n_children && !broken; i++)
        for (int64_t k = 0; k < i; k++)
            if (strcmp(s->children[i]->name, s->children[k]->name) == 0)
                return "schema: two children of a name";
    return !broken && s->dictionary ? arrow_schema_broken(s->dictionary) : broken;
}

static inline bool arrow_is_null(const struct ArrowArray *a, int64_t i)
{
    const uint8_t *bits = a->buffers[0];
    return bits && !(bits[i / 8] >> i % 8 & 1);
}

/* Offsets begin at 0, never fall, and end at `end`. */
static inline const char *arrow_offsets_broken(const struct ArrowArray *a, int64_t end)
{
    const int32_t *at = a->buffers[1];
    if (!at || (uintptr_t)at % sizeof *at)
        return "array: no offsets, or not aligned";
    if (at[0] != 0)
        return "array: the first offset";
    for (int64_t i = 0; i < a->length; i++)
        if (at[i + 1] < at[i])
            return "array: an offset falls";
    return end >= 0 && at[a->length] != end ? "array: the last offset" : NULL;
}

static inline const char *arrow_texts_broken(const struct ArrowArray *a)
{
    const char *broken = arrow_offsets_broken(a, -1);
    const int32_t *at = a->buffers[1];
    const uint8_t *bytes = a->buffers[2];
    for (int64_t i = 0; !broken && i < a->length; i++) {
        uint32_t code;
        if (at[i + 1] > at[i] && !bytes)
            return "array: texts without bytes";
        for (int32_t k = at[i], n; k < at[i + 1]; k += n) {
            n = (int32_t)perfile_utf8_char(bytes + k, (size_t)(at[i + 1] - k), &code);
            if (n <= 0 || !code)
                return "array: a text is no UTF-8";
        }
    }
    return broken;
}

/* Numbers, 0 where they are null; those of texts are of the dictionary. */
static inline const char *arrow_numbers_broken(const struct ArrowSchema *s,
                                               const struct ArrowArray *a)
{
    const size_t width = arrow_width(s->format);
    const uint8_t *at = a->buffers[1];
    static const uint8_t zeros[8];
    if (a->length && (!at || (uintptr_t)at % width))
        return "array: no values, or not aligned";
    for (int64_t i = 0; i < a->length; i++) {
        int32_t number;
        const uint8_t *item = at + (size_t)i * width;
        if (arrow_is_null(a, i) && memcmp(item, zeros, width) != 0)
            return "array: a null with a value";
        memcpy(&number, item, sizeof number);
        if (a->dictionary && !arrow_is_null(a, i) &&
            (number < 0 || number >= a->dictionary->length))
            return "array: a number of no text";
    }
    return NULL;
}

/* What all arrays have. */
static inline const char *arrow_head_broken(const struct ArrowSchema *s, const struct ArrowArray *a)
{
    const char *f = s->format;
    const int64_t n_buffers = strcmp(f, "+s") == 0 ? 1 : strcmp(f, "u") == 0 ? 3 : 2;
    if (!a->release)
        return "array: released";
    if (a->length < 0 || a->offset != 0)
        return "array: length or offset";
    if (a->n_buffers != n_buffers || !a->buffers)
        return "array: a number of buffers";
    if (a->n_children != s->n_children || !a->children != !a->n_children)
        return "array: children";
    if (!a->dictionary != !s->dictionary)
        return "array: a dictionary";
    int64_t nulls = 0;
    for (int64_t i = 0; i < a->length; i++)
        nulls += arrow_is_null(a, i);
    if (a->null_count != nulls || (nulls && !(s->flags & ARROW_FLAG_NULLABLE)))
        return "array: a number of nulls";
    return NULL;
}

static inline const char *arrow_array_broken(const struct ArrowSchema *s,
                                             const struct ArrowArray *a)
{
    const char *f = s->format;
    const char *broken = arrow_head_broken(s, a);
    if (broken)
        return broken;
    for (int64_t i = 0; i < a->n_children && !broken; i++)
        broken = arrow_array_broken(s->children[i], a->children[i]);
    if (!broken && a->dictionary)
        broken = arrow_array_broken(s->dictionary, a->dictionary);
    if (broken)
        return broken;
    if (strcmp(f, "u") == 0)
        return arrow_texts_broken(a);
    if (strcmp(f, "+l") == 0)
        return arrow_offsets_broken(a, a->children[0]->length);
    if (strcmp(f, "b") == 0)
        return a->length && !a->buffers[1] ? "array: no bits" : NULL;
    if (strcmp(f, "+s") != 0)
        return arrow_numbers_broken(s, a);
    for (int64_t i = 0; i < a->n_children; i++)
        if (a->children[i]->length != a->length)
            return "array: a member of another length";
    return NULL;
}

/* The position of a column; -1: there is none. */
static inline int64_t arrow_column(const struct ArrowSchema *s, const char *name)
{
    int64_t i = 0;
    while (i < s->n_children && strcmp(s->children[i]->name, name) != 0)
        i++;
    return i < s->n_children ? i : -1;
}

/* A number of 32 or 64 bits in an array. */
static inline int64_t arrow_number(const struct ArrowSchema *s, const struct ArrowArray *a,
                                   int64_t i)
{
    const int32_t *narrow = a->buffers[1];
    const int64_t *wide = a->buffers[1];
    return arrow_width(s->format) == 4 ? narrow[i] : wide[i];
}

/* A text of an array with a dictionary, *length bytes.  Where all texts are empty there may be no
 * bytes. */
static inline const char *arrow_text(const struct ArrowArray *a, int64_t i, size_t *length)
{
    const int32_t number = ((const int32_t *)a->buffers[1])[i];
    const int32_t *at = a->dictionary->buffers[1];
    *length = (size_t)(at[number + 1] - at[number]);
    return *length ? (const char *)a->dictionary->buffers[2] + at[number] : "";
}

#endif

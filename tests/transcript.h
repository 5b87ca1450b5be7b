/* What a walk shows, or what a decoder gave, in one form: two of the same contents have the same
 * transcript.  A hash always, text on request. */
#ifndef TESTS_TRANSCRIPT_H
#define TESTS_TRANSCRIPT_H

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "perfile/field.h"

typedef struct transcript {
    uint64_t hash;
    bool with_text;
    /* Leaves integers out that are 0: a decoded attr does not say which of its members were stored.
     */
    bool no_zeros;
    char *text; /* released by transcript_clear() */
    size_t len;
    size_t cap;
} transcript;

static inline void transcript_clear(transcript *t)
{
    free(t->text);
    t->text = NULL;
    t->len = t->cap = 0;
    t->hash = 0;
}

static inline void transcript_mix(transcript *t, uint64_t v)
{
    t->hash = (t->hash ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    t->hash ^= t->hash >> 29;
}

static inline void transcript_mix_bytes(transcript *t, const void *bytes, size_t n)
{
    const uint8_t *p = bytes;
    transcript_mix(t, n);
    for (; n >= 8; n -= 8, p += 8) {
        uint64_t v;
        memcpy(&v, p, sizeof v);
        transcript_mix(t, v);
    }
    while (n--)
        transcript_mix(t, *p++);
}

__attribute__((format(printf, 2, 3))) static inline void transcript_write(transcript *t,
                                                                          const char *format, ...)
{
    if (!t->with_text)
        return;
    for (;;) {
        va_list args;
        va_start(args, format);
        int n = vsnprintf(t->text ? t->text + t->len : NULL, t->cap - t->len, format, args);
        va_end(args);
        if (n < 0)
            abort();
        if ((size_t)n < t->cap - t->len) {
            t->len += (size_t)n;
            return;
        }
        t->cap = 2 * t->cap + (size_t)n + 1000;
        t->text = realloc(t->text, t->cap);
        if (!t->text)
            abort();
    }
}

static inline void tell_begin(transcript *t, const char *name)
{
    transcript_mix(t, 1);
    transcript_mix_bytes(t, name, strlen(name));
    transcript_write(t, "%s {\n", name);
}

static inline void tell_end(transcript *t)
{
    transcript_mix(t, 2);
    transcript_write(t, "}\n");
}

static inline void tell_number(transcript *t, const char *name, uint64_t number)
{
    if (t->no_zeros && number == 0)
        return;
    transcript_mix(t, 3);
    transcript_mix_bytes(t, name, strlen(name));
    transcript_mix(t, number);
    transcript_write(t, "%s %" PRIu64 "\n", name, number);
}

static inline void tell_signed(transcript *t, const char *name, int64_t number)
{
    tell_number(t, name, (uint64_t)number);
}

static inline void tell_bytes(transcript *t, const char *name, perfile_bytes b)
{
    transcript_mix(t, 4);
    transcript_mix_bytes(t, name, strlen(name));
    transcript_mix_bytes(t, b.ptr, b.len);
    transcript_write(t, "%s", name);
    for (size_t i = 0; t->with_text && i < b.len; i++)
        transcript_write(t, "%s%02x", i ? "" : " ", b.ptr[i]);
    transcript_write(t, "\n");
}

static inline void tell_words(transcript *t, const char *name, perfile_words w)
{
    transcript_mix(t, 5);
    transcript_mix_bytes(t, name, strlen(name));
    transcript_mix(t, w.n);
    transcript_mix(t, w.width);
    transcript_write(t, "%s[%u]", name, w.width);
    for (size_t i = 0; i < w.n; i++) {
        uint64_t word = perfile_word(&w, i);
        transcript_mix(t, word);
        transcript_write(t, " %" PRIu64, word);
    }
    transcript_write(t, "\n");
}

static inline void tell_strings(transcript *t, const char *name, perfile_strings s)
{
    perfile_bytes text;
    tell_begin(t, name);
    while (perfile_strings_next(&s, &text) == PERFILE_OK)
        tell_bytes(t, "string", text);
    tell_end(t);
}

/* The visitor's side. */
static inline void transcript_on_value(void *user, const perfile_field *f, const perfile_value *v)
{
    transcript *t = user;
    switch (f->type) {
    case PERFILE_STORED_TEXT:
    case PERFILE_STORED_BLOB:
        tell_bytes(t, f->name, v->u.bytes);
        break;
    case PERFILE_STORED_WORDS:
        tell_words(t, f->name, v->u.words);
        break;
    case PERFILE_STORED_STRINGS:
        tell_strings(t, f->name, v->u.strings);
        break;
    default:
        tell_number(t, f->name, v->number);
    }
}

static inline void transcript_on_begin(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)v;
    tell_begin(user, f->name);
}

static inline void transcript_on_end(void *user, const perfile_field *f)
{
    (void)f;
    tell_end(user);
}

static const perfile_visitor transcript_visitor = {sizeof transcript_visitor, transcript_on_value,
                                                   transcript_on_begin, transcript_on_end};

#endif

/* Access to arrays that decoded structs leave as they are stored (perfile_words, perfile_strings),
 * and the same types over arrays of a program, for encoders. */
#include "perfile/encode.h"
#include "schema/types.h"

uint64_t perfile_word(const perfile_words *w, size_t i)
{
    const uint8_t *at = w->ptr + i * w->width;
    switch (w->width) {
    case 8:
        return pf_load_u64(at, w->swapped);
    case 4:
        return pf_load_u32(at, w->swapped);
    case 2:
        return pf_load_u16(at, w->swapped);
    default:
        return *at;
    }
}

size_t perfile_words_copy(const perfile_words *w, uint64_t *out, size_t n)
{
    if (n > w->n)
        n = w->n;
    for (size_t i = 0; i < n; i++)
        out[i] = perfile_word(w, i);
    return n;
}

/* Strings of a program are an array of perfile_bytes; stored ones have a length in front. */
perfile_status perfile_strings_next(perfile_strings *s, perfile_bytes *text)
{
    if (s->n == 0)
        return PERFILE_END;
    if (s->given) {
        memcpy(text, s->bytes.ptr, sizeof *text);
        s->bytes.ptr += sizeof *text;
        s->bytes.len -= sizeof *text;
        s->n--;
        return PERFILE_OK;
    }
    pf_cursor c = pf_cur(s->bytes, s->swapped);
    perfile_bytes t = pf_text(pf_cur_string(&c));
    if (c.bad)
        return perfile_damage_status(c.bad);
    *text = t;
    s->bytes = (perfile_bytes){c.pos, pf_cur_left(&c)};
    s->n--;
    return PERFILE_OK;
}

/* A program's array: native order. */
static perfile_words words_of(const void *words, size_t n, uint8_t width)
{
    return (perfile_words){.ptr = words, .n = n, .width = width};
}

perfile_words perfile_words_u16(const uint16_t *words, size_t n)
{
    return words_of(words, n, 2);
}

perfile_words perfile_words_u32(const uint32_t *words, size_t n)
{
    return words_of(words, n, 4);
}

perfile_words perfile_words_s32(const int32_t *words, size_t n)
{
    return words_of(words, n, 4);
}

perfile_words perfile_words_u64(const uint64_t *words, size_t n)
{
    return words_of(words, n, 8);
}

perfile_strings perfile_strings_of(const perfile_bytes *texts, size_t n)
{
    perfile_strings s = {.n = n, .given = true};
    s.bytes = (perfile_bytes){(const void *)texts, n * sizeof *texts};
    return s;
}

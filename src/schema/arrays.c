/* Access to arrays that stay as stored. */
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

perfile_status perfile_strings_next(perfile_strings *s, perfile_bytes *text)
{
    if (s->n == 0)
        return PERFILE_END;
    pf_cursor c = pf_cur(s->bytes, s->swapped);
    perfile_bytes t = pf_text(pf_cur_string(&c));
    if (c.bad)
        return perfile_damage_status(c.bad);
    *text = t;
    s->bytes = (perfile_bytes){c.pos, pf_cur_left(&c)};
    s->n--;
    return PERFILE_OK;
}

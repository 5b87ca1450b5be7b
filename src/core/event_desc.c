/* Writes feature EVENT_DESC: counts, then for each event its stored attr, padded to a common size,
 * its name and its ids. The layout is event_desc of format/features.def; it is written by hand
 * because attrs are copied as stored. */
#include "core/event_desc.h"

#include <string.h>

#include "base/error.h"
#include "base/byte_order.h"
#include "schema/attr_places.h"

enum {
    NAME_UNIT = 64, /* names are padded to a multiple of this: NAME_ALIGN of perf's header.c */
    LONGEST_NAME = 1 << 30, /* longer ones are cut: their length has 32 bits */
};

static bool put_u32(pf_buffer *out, uint32_t v, bool swap)
{
    uint8_t bytes[4];
    pf_store_u32(bytes, v, swap);
    return pf_buffer_append(out, bytes, sizeof bytes);
}

/* Appends `bytes` and zeros up to `room` bytes in all. */
static bool put_padded(pf_buffer *out, const void *bytes, size_t len, size_t room)
{
    if (!pf_buffer_reserve(out, room))
        return false;
    if (len)
        memcpy(out->ptr + out->len, bytes, len);
    memset(out->ptr + out->len + len, 0, room - len);
    out->len += room;
    return true;
}

static bool put_ids(pf_buffer *out, const perfile_words *ids, bool swap)
{
    uint8_t word[8];
    for (size_t i = 0; i < ids->n; i++) {
        pf_store_u64(word, perfile_word(ids, i), swap);
        if (!pf_buffer_append(out, word, sizeof word))
            return false;
    }
    return true;
}

static bool put_event(pf_buffer *out, const perfile_event *e, const char *name, size_t attr_size,
                      bool swap)
{
    size_t len = strlen(name);
    if (len > LONGEST_NAME)
        len = LONGEST_NAME;
    size_t room = len / NAME_UNIT * NAME_UNIT + NAME_UNIT;
    return put_padded(out, e->stored.ptr, e->stored.len, attr_size) &&
           put_u32(out, (uint32_t)e->ids.n, swap) && put_u32(out, (uint32_t)room, swap) &&
           put_padded(out, name, len, room) && put_ids(out, &e->ids, swap);
}

/* Whether index `i` is in an array of uint32_t. */
static bool is_among(perfile_bytes indices, uint32_t i)
{
    for (size_t at = 0; at < indices.len; at += sizeof i)
        if (memcmp(indices.ptr + at, &i, sizeof i) == 0)
            return true;
    return false;
}

perfile_status pf_event_desc_make(const perfile_session *s, const char *const *names,
                                  perfile_bytes left_out, pf_buffer *out, perfile_error *err)
{
    uint32_t n = perfile_session_n_events(s), described = 0;
    bool swap = perfile_session_swapped(s);
    size_t attr_size = PF_ATTR_LEAST;
    for (uint32_t i = 0; i < n; i++) {
        if (is_among(left_out, i))
            continue;
        described++;
        size_t size = perfile_session_event(s, i)->stored.len;
        attr_size = size > attr_size ? size : attr_size;
    }
    bool fits = put_u32(out, described, swap) && put_u32(out, (uint32_t)attr_size, swap);
    for (uint32_t i = 0; i < n && fits; i++) {
        const perfile_event *e = perfile_session_event(s, i);
        if (is_among(left_out, i))
            continue;
        fits = put_event(out, e, names ? names[i] : e->name, attr_size, swap);
    }
    return fits ? PERFILE_OK : pf_fail_nomem(err, "session.events");
}

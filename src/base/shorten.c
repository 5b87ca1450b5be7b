/* Cutting names in the middle (see shorten.h). */
#include "base/shorten.h"

#include <assert.h>
#include <string.h>

#include "base/crc32.h"
#include "perfile/text.h"

enum {
    ESCAPE = 6,    /* bytes of the longest escape, \u001f in JSON */
    CHECKED = 4096 /* bytes of a name that the checksum is of: the longest path */
};

#define ELLIPSIS "\xe2\x80\xa6"

/* Length of the character at `p`, 1 if it is none; *cost is what it takes in an output. */
static size_t character(const uint8_t *p, size_t left, size_t *cost)
{
    uint32_t code = 0;
    size_t n = perfile_utf8_char(p, left, &code);
    if (!n || !perfile_is_printable(code)) {
        n = n ? n : 1;
        *cost = n * ESCAPE;
    } else {
        *cost = code == '"' || code == '\\' ? 2 : n;
    }
    return n;
}

/* Adds up what the text takes in an output. */
static size_t cost_of(perfile_bytes text)
{
    size_t sum = 0, cost;
    for (size_t i = 0; i < text.len; sum += cost)
        i += character(text.ptr + i, text.len - i, &cost);
    return sum;
}

/* The longest beginning of the text that takes at most `most`; its length. */
static size_t head_within(perfile_bytes text, size_t most)
{
    size_t i = 0, passed = 0, cost, length;
    for (; i < text.len; i += length, passed += cost) {
        length = character(text.ptr + i, text.len - i, &cost);
        if (passed + cost > most)
            break;
    }
    return i;
}

/* Where the longest end of the text begins that takes at most `most`. */
static size_t tail_within(perfile_bytes text, size_t most)
{
    size_t i = text.len > most ? text.len - most : 0, cost;
    while (i < text.len && (text.ptr[i] & 0xc0) == 0x80)
        i++;
    size_t left = cost_of((perfile_bytes){text.ptr + i, text.len - i});
    for (; left > most; left -= cost)
        i += character(text.ptr + i, text.len - i, &cost);
    return i;
}

/* Looks at a part of a very long text only: a capture may repeat one that it gives once. */
perfile_bytes pf_shortened(perfile_bytes text, size_t most, uint8_t *room)
{
    static const char digits[] = "0123456789abcdef";
    const size_t mark = sizeof ELLIPSIS - 1, marks = 2 * mark + 8;
    assert(most >= PF_NAME_LEAST);
    if (text.len <= most / ESCAPE || (text.len <= most && cost_of(text) <= most))
        return text;
    const size_t head = head_within(text, (most - marks + 1) / 2);
    const size_t tail = tail_within(text, (most - marks) / 2);
    const uint32_t crc =
        pf_crc32(0, (perfile_bytes){text.ptr, text.len < CHECKED ? text.len : CHECKED});
    memcpy(room, text.ptr, head);
    size_t n = head;
    memcpy(room + n, ELLIPSIS, mark);
    n += mark;
    for (int shift = 28; shift >= 0; shift -= 4)
        room[n++] = (uint8_t)digits[crc >> shift & 15];
    memcpy(room + n, ELLIPSIS, mark);
    n += mark;
    memcpy(room + n, text.ptr + tail, text.len - tail);
    return (perfile_bytes){room, n + text.len - tail};
}

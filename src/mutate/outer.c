/* Reads the outer structure of a capture, and inserts and removes bytes so that offsets and sizes
 * go on to agree.  See outer.h. */
#include "mutate/outer.h"

#include <string.h>

#include <perfile/abi.h>

static uint64_t word(const pf_outer *o, size_t at)
{
    return pf_number_get(o->bytes + at, 8, o->big);
}

/* Cuts a section to the bytes that are there. */
static pf_range cut(const pf_outer *o, uint64_t offset, uint64_t len)
{
    pf_range r = {o->size, 0};
    if (offset < o->size) {
        r.at = (size_t)offset;
        r.len = len < o->size - r.at ? (size_t)len : o->size - r.at;
    }
    return r;
}

static bool known_header(uint64_t size)
{
    return size == PF_OUTER_PIPE_HEADER || size == PF_OUTER_OLD_HEADER ||
           size == PF_OUTER_FILE_HEADER;
}

/* Reads magic, byte order and size of the header.  The magic of version 1 is the same in both byte
 * orders: there the size tells the order. */
static bool read_magic(pf_outer *o)
{
    if (o->size < PF_OUTER_PIPE_HEADER)
        return false;
    const uint8_t *size = o->bytes + PF_OUTER_AT_SIZE;
    if (memcmp(o->bytes, "PERFILE2", 8) == 0)
        o->big = false;
    else if (memcmp(o->bytes, "2ELIFREP", 8) == 0)
        o->big = true;
    else if (memcmp(o->bytes, "PERFFILE", 8) == 0)
        o->big = !known_header(pf_number_get(size, 8, false)) &&
                 known_header(pf_number_get(size, 8, true));
    else
        return false;
    uint64_t header = pf_number_get(size, 8, o->big);
    o->header = known_header(header) ? (size_t)header : PF_OUTER_FILE_HEADER;
    return o->size >= o->header;
}

/* The bitmap of a big-endian file may have been written in words of 32 bits.  HOSTNAME, which perf
 * always writes, tells. */
static void read_features(pf_outer *o)
{
    enum { HOSTNAME = 3 };
    o->table = o->records.at + o->records.len;
    if (o->header < PF_OUTER_FILE_HEADER || o->unterminated)
        return;
    if (o->big && !pf_outer_has_feature(o, HOSTNAME)) {
        o->narrow = true;
        o->narrow = pf_outer_has_feature(o, HOSTNAME);
    }
    size_t most = (o->size - o->table) / PF_OUTER_SECTION;
    for (unsigned i = 0; i < PF_OUTER_FEATURES && o->n_features < most; i++)
        o->n_features += pf_outer_has_feature(o, i);
}

bool pf_outer_read(pf_outer *o, const uint8_t *bytes, size_t size)
{
    *o = (pf_outer){.bytes = bytes, .size = size};
    if (!read_magic(o))
        return false;
    if (o->header == PF_OUTER_PIPE_HEADER) {
        o->form = PF_OUTER_PIPE;
        o->records = cut(o, o->header, UINT64_MAX);
        o->table = size;
        return true;
    }
    o->form = PF_OUTER_FILE;
    uint64_t attr_size = word(o, PF_OUTER_AT_ATTR_SIZE);
    o->attrs = cut(o, word(o, PF_OUTER_AT_ATTRS), word(o, PF_OUTER_AT_ATTRS + 8));
    if (attr_size > PF_OUTER_SECTION && attr_size <= o->attrs.len)
        o->attr_size = (size_t)attr_size;
    o->attrs.len = o->attr_size ? o->attrs.len - o->attrs.len % o->attr_size : 0;
    uint64_t data = word(o, PF_OUTER_AT_DATA + 8);
    o->unterminated = data == 0;
    o->records = cut(o, word(o, PF_OUTER_AT_DATA), data ? data : UINT64_MAX);
    read_features(o);
    return true;
}

/* The byte of the bitmap with the bit of a feature. */
static size_t feature_byte(const pf_outer *o, unsigned number)
{
    size_t width = o->narrow ? 4 : 8;
    size_t in_word = number / 8 % width;
    return PF_OUTER_AT_FEATURES + number / 8 / width * width +
           (o->big ? width - 1 - in_word : in_word);
}

bool pf_outer_has_feature(const pf_outer *o, unsigned number)
{
    return o->bytes[feature_byte(o, number)] >> number % 8 & 1;
}

void pf_outer_set_feature(const pf_outer *o, uint8_t *bytes, unsigned number, bool there)
{
    uint8_t *byte = bytes + feature_byte(o, number);
    uint8_t bit = (uint8_t)(1U << number % 8);
    *byte = (uint8_t)(there ? *byte | bit : *byte & ~bit);
}

/* How many bytes follow the record without being part of its size. */
static uint64_t after_record(const pf_outer *o, const pf_piece *p)
{
    const uint8_t *body = o->bytes + p->at + PF_OUTER_RECORD_HEADER;
    if (p->type == PERFILE_RECORD_AUXTRACE && p->size >= 16)
        return pf_number_get(body, 8, o->big);
    if (p->type == PERFILE_RECORD_HEADER_TRACING_DATA && p->size >= 12) {
        uint64_t n = pf_number_get(body, 4, o->big);
        return n <= p->size - 12 ? 0 : (n + 7) & ~UINT64_C(7);
    }
    return 0;
}

bool pf_piece_next(const pf_outer *o, size_t *at, pf_piece *p)
{
    size_t end = o->records.at + o->records.len;
    if (*at < o->records.at || *at > end || end - *at < PF_OUTER_RECORD_HEADER)
        return false;
    const uint8_t *header = o->bytes + *at;
    p->at = *at;
    p->type = (uint32_t)pf_number_get(header, 4, o->big);
    p->misc = (uint16_t)pf_number_get(header + 4, 2, o->big);
    p->size = (size_t)pf_number_get(header + 6, 2, o->big);
    /* simpleperf's own types have the upper half of a 32-bit size in place of misc. */
    if (p->type >= PERFILE_RECORD_SIMPLEPERF && p->type < PERFILE_RECORD_SIMPLEPERF_END)
        p->size |= (size_t)p->misc << 16;
    if (p->size < PF_OUTER_RECORD_HEADER || p->size > end - *at)
        return false;
    uint64_t after = after_record(o, p), left = end - *at - p->size;
    p->whole = p->size + (size_t)(after < left ? after : left);
    *at += p->whole;
    return true;
}

size_t pf_piece_count(const pf_outer *o)
{
    size_t n = 0, at = o->records.at;
    pf_piece p;
    while (pf_piece_next(o, &at, &p))
        n++;
    return n;
}

bool pf_piece_at(const pf_outer *o, size_t position, pf_piece *p)
{
    size_t at = o->records.at;
    while (pf_piece_next(o, &at, p))
        if (position-- == 0)
            return true;
    return false;
}

/* A change of the length of the bytes at `at`: `removed` bytes go, `added` come. */
typedef struct change {
    uint64_t at, removed, added;
} change;

/* Moves an offset that is stored at `where`.  One that is inside the removed bytes is moved to
 * their beginning. */
static void move_offset(const pf_buffer *b, const pf_outer *o, size_t where, const change *c)
{
    uint64_t offset = word(o, where);
    if (offset < c->at)
        return;
    offset = offset - c->at < c->removed ? c->at : offset - c->removed + c->added;
    pf_number_put(b->bytes + where, 8, o->big, offset);
}

/* Moves all offsets of a file.  That of the records stays if the change is at their beginning. */
static void move_offsets(const pf_buffer *b, const pf_outer *o, const change *c, bool in_records)
{
    if (o->form != PF_OUTER_FILE)
        return;
    for (unsigned i = 0; i < o->n_features; i++)
        move_offset(b, o, o->table + (size_t)i * PF_OUTER_SECTION, c);
    for (size_t i = 0; o->attr_size && i < o->attrs.len; i += o->attr_size)
        move_offset(b, o, o->attrs.at + i + o->attr_size - PF_OUTER_SECTION, c);
    move_offset(b, o, PF_OUTER_AT_ATTRS, c);
    move_offset(b, o, PF_OUTER_AT_TYPES, c);
    if (!in_records)
        move_offset(b, o, PF_OUTER_AT_DATA, c);
    else if (!o->unterminated)
        pf_number_put(b->bytes + PF_OUTER_AT_DATA + 8, 8, o->big,
                      o->records.len - c->removed + c->added);
}

bool pf_gap_open(pf_buffer *b, const pf_outer *o, size_t at, size_t n, bool in_records)
{
    if (at > b->size || n > b->room - b->size)
        return false;
    move_offsets(b, o, &(change){at, 0, n}, in_records);
    memmove(b->bytes + at + n, b->bytes + at, b->size - at);
    memset(b->bytes + at, 0, n);
    b->size += n;
    return true;
}

void pf_gap_close(pf_buffer *b, const pf_outer *o, size_t at, size_t n, bool in_records)
{
    if (at > b->size || n > b->size - at)
        return;
    move_offsets(b, o, &(change){at, n, 0}, in_records);
    memmove(b->bytes + at, b->bytes + at + n, b->size - at - n);
    b->size -= n;
}

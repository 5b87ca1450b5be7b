/* perfile_fuzz_repair(): makes the sizes and offsets of the outer structure agree with the bytes
 * that are there.  Contents of records, attrs and features stay as they are.  What agrees already
 * is not changed, so that repairing twice is repairing once. */
#include <perfile-fuzz.h>

#include "mutate/operations.h"

#include <string.h>

enum { ATTR_LEAST = 64 + PF_OUTER_SECTION };

/* The magic of a header whose size is known in one of the byte orders. */
static void repair_magic(uint8_t *bytes, size_t size)
{
    static const char *const magics[] = {"PERFILE2", "2ELIFREP", "PERFFILE"};
    if (size < PF_OUTER_PIPE_HEADER)
        return;
    for (size_t i = 0; i < sizeof magics / sizeof magics[0]; i++)
        if (memcmp(bytes, magics[i], 8) == 0)
            return;
    for (unsigned big = 0; big < 2; big++) {
        uint64_t header = pf_number_get(bytes + PF_OUTER_AT_SIZE, 8, big);
        if (header == PF_OUTER_PIPE_HEADER || header == PF_OUTER_FILE_HEADER) {
            memcpy(bytes, magics[big], 8);
            return;
        }
    }
}

static uint64_t get(const pf_buffer *b, const pf_outer *o, size_t at)
{
    return pf_number_get(b->bytes + at, 8, o->big);
}

static void put(const pf_buffer *b, const pf_outer *o, size_t at, uint64_t v)
{
    pf_number_put(b->bytes + at, 8, o->big, v);
}

/* Cuts a section, of which offset and size are stored at `at`, to the bytes of the file. */
static void repair_section(const pf_buffer *b, const pf_outer *o, size_t at)
{
    uint64_t offset = get(b, o, at), size = get(b, o, at + 8);
    if (size == 0)
        return;
    if (offset >= b->size)
        put(b, o, at + 8, 0);
    else if (size > b->size - offset)
        put(b, o, at + 8, b->size - offset);
}

/* A section of the header begins after it. */
static void repair_main_section(const pf_buffer *b, const pf_outer *o, size_t at)
{
    if (get(b, o, at) < o->header && get(b, o, at + 8))
        put(b, o, at, o->header);
    repair_section(b, o, at);
}

/* Entries of attrs have the size of an attr and a section, and fill their section. */
static void repair_attr_size(const pf_buffer *b, const pf_outer *o)
{
    uint64_t entry = get(b, o, PF_OUTER_AT_ATTR_SIZE);
    uint64_t size = get(b, o, PF_OUTER_AT_ATTRS + 8);
    if (size < ATTR_LEAST)
        return;
    if (entry < ATTR_LEAST || entry > size) {
        entry = size;
        put(b, o, PF_OUTER_AT_ATTR_SIZE, entry);
    }
    put(b, o, PF_OUTER_AT_ATTRS + 8, size - size % entry);
}

/* Cuts the sections of ids.  Where attrs share bytes with records or the feature table they are
 * left alone: two repairs would undo each other. */
static void repair_ids(const pf_buffer *b)
{
    pf_outer o;
    if (!pf_outer_read(&o, b->bytes, b->size) || !o.attr_size)
        return;
    size_t end = o.table + o.n_features * (size_t)PF_OUTER_SECTION;
    if (o.attrs.at < end && o.records.at < o.attrs.at + o.attrs.len)
        return;
    for (size_t i = o.attr_size; i <= o.attrs.len; i += o.attr_size)
        repair_section(b, &o, o.attrs.at + i - PF_OUTER_SECTION);
}

/* Sets the size of the first record that does not fit to what is left; too little for a header is
 * left as it is. */
static void repair_records(const pf_buffer *b)
{
    pf_outer o;
    pf_piece p;
    if (!pf_outer_read(&o, b->bytes, b->size) || o.unterminated)
        return;
    size_t at = o.records.at, end = o.records.at + o.records.len;
    while (at < end) {
        while (pf_piece_next(&o, &at, &p))
            ;
        if (end - at < PF_OUTER_RECORD_HEADER)
            return;
        size_t left = end - at < UINT16_MAX - 7 ? end - at : UINT16_MAX - 7;
        p = (pf_piece){.at = at, .type = (uint32_t)pf_number_get(b->bytes + at, 4, o.big)};
        (void)pf_mutate_set_size(b->bytes, &o, &p, left);
    }
}

/* Features of which the table has no room lose their bits, the others are cut to the file. */
static void repair_features(const pf_buffer *b)
{
    pf_outer o;
    unsigned n = 0;
    if (!pf_outer_read(&o, b->bytes, b->size) || o.form != PF_OUTER_FILE || o.unterminated ||
        o.header < PF_OUTER_FILE_HEADER)
        return;
    for (unsigned i = 0; i < PF_OUTER_FEATURES; i++) {
        if (!pf_outer_has_feature(&o, i))
            continue;
        if (n == o.n_features)
            pf_outer_set_feature(&o, b->bytes, i, false);
        else
            repair_section(b, &o, o.table + PF_OUTER_SECTION * (size_t)n++);
    }
}

size_t perfile_fuzz_repair(uint8_t *data, size_t size, size_t max_size)
{
    pf_buffer b = {data, size < max_size ? size : max_size, max_size};
    pf_outer o;
    repair_magic(b.bytes, b.size);
    if (!pf_outer_read(&o, b.bytes, b.size))
        return b.size;
    if (o.form == PF_OUTER_FILE) {
        put(&b, &o, PF_OUTER_AT_SIZE, o.header);
        repair_main_section(&b, &o, PF_OUTER_AT_DATA);
        repair_main_section(&b, &o, PF_OUTER_AT_TYPES);
        repair_main_section(&b, &o, PF_OUTER_AT_ATTRS);
        repair_attr_size(&b, &o);
        repair_features(&b);
        repair_ids(&b);
    }
    repair_records(&b);
    return b.size;
}

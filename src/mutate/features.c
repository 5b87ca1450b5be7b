/* Adds and drops features of a file, and exchanges the byte order that it declares. */
#include "mutate/operations.h"

#include <string.h>

#include <perfile/catalogue.h>

/* Chooses a feature of the tables that the file does not have. */
static bool choose_absent(const pf_outer *o, pf_random *r, unsigned *number)
{
    perfile_feature_type t;
    uint64_t seen = 0;
    for (size_t i = 0; perfile_feature_type_at(i, &t, sizeof t); i++)
        if (t.number < PF_OUTER_FEATURES && !pf_outer_has_feature(o, t.number) &&
            pf_random_one_in(r, ++seen))
            *number = t.number;
    return seen != 0;
}

/* A payload: a text with its length, which many features begin with, or a list of small
 * numbers. */
static void fill(pf_buffer *b, const pf_outer *o, pf_random *r, pf_range payload)
{
    static const uint8_t text[] = "perf";
    uint8_t *p = b->bytes + payload.at;
    if (pf_random_one_in(r, 2)) {
        pf_number_put(p, 4, o->big, payload.len - 4);
        memcpy(p + 4, text, sizeof text < payload.len - 4 ? sizeof text : payload.len - 4);
        return;
    }
    for (size_t i = 0; i + 4 <= payload.len; i += 4)
        pf_number_put(p + i, 4, o->big, pf_random_below(r, 5));
}

bool pf_mutate_add_feature(pf_buffer *b, const pf_outer *o, pf_random *r)
{
    unsigned number = 0, position = 0;
    if (o->form != PF_OUTER_FILE || o->header < PF_OUTER_FILE_HEADER || o->unterminated ||
        !choose_absent(o, r, &number))
        return false;
    size_t len = 8 * (1 + (size_t)pf_random_below(r, 8));
    if (b->room - b->size < len + PF_OUTER_SECTION)
        return false;
    for (unsigned i = 0; i < number; i++)
        position += pf_outer_has_feature(o, i);
    if (position > o->n_features)
        return false; /* the table is longer than the file */
    size_t entry = o->table + (size_t)position * PF_OUTER_SECTION;
    if (!pf_gap_open(b, o, entry, PF_OUTER_SECTION, false))
        return false;
    pf_outer_set_feature(o, b->bytes, number, true);
    pf_range payload = {b->size, len};
    memset(b->bytes + b->size, 0, len);
    b->size += len;
    pf_number_put(b->bytes + entry, 8, o->big, payload.at);
    pf_number_put(b->bytes + entry + 8, 8, o->big, payload.len);
    fill(b, o, r, payload);
    return true;
}

/* The entry goes; the payload stays, as bytes that belong to nothing. */
bool pf_mutate_drop_feature(pf_buffer *b, const pf_outer *o, pf_random *r)
{
    if (!o->n_features)
        return false;
    unsigned position = (unsigned)pf_random_below(r, o->n_features), left = position, number = 0;
    while (!pf_outer_has_feature(o, number) || left-- != 0)
        number++;
    pf_outer_set_feature(o, b->bytes, number, false);
    pf_gap_close(b, o, o->table + (size_t)position * PF_OUTER_SECTION, PF_OUTER_SECTION, false);
    return true;
}

/* The first 8 bytes are the magic, whose order declares the byte order.  Numbers stay as they
 * are. */
bool pf_mutate_byte_order(pf_buffer *b, const pf_outer *o, pf_random *r)
{
    (void)r;
    if (o->form == PF_OUTER_NONE)
        return false;
    for (size_t i = 0; i < 4; i++) {
        uint8_t byte = b->bytes[i];
        b->bytes[i] = b->bytes[7 - i];
        b->bytes[7 - i] = byte;
    }
    return true;
}

/* The encoders: format/ expanded to the inverse of the decoders, one function per layout
 * (schema/encode.inc).
 *
 * An encoder does not evaluate the conditions of the table: `has_…` members and `present` say which
 * fields exist.  The caller (core/encode.c) checks with the decoder and schema/same.inc that the
 * result is read back as the same struct.  Settlers set the counts beforehand.  An encoder never
 * fails: it records in pf_put what does not fit, and continues to count bytes. */
#include "schema/expand.h"

enum {
    TEXT_UNIT = 8,    /* P, K: text at the end of a record is padded to a multiple of this */
    STRING_UNIT = 64, /* the same for text with a length: NAME_ALIGN of perf's header.c */
    PADDING_MOST = 64
};

#include "schema/encode.inc"
#include "perfile/format/structs.def"
#include "schema/encode.inc"
#include "perfile/format/sample.def"
#include "schema/encode.inc"
#include "perfile/format/records.def"
#include "schema/encode.inc"
#include "perfile/format/simpleperf.def"
#include "schema/encode.inc"
#include "perfile/format/features.def"

/* Comparison of decoded structs (schema/same.inc). */

bool pf_bytes_differ(perfile_bytes a, perfile_bytes b)
{
    return a.len != b.len || (a.len && memcmp(a.ptr, b.ptr, a.len) != 0);
}

/* Integers are compared by value: width and byte order may differ. */
bool pf_words_differ(perfile_words a, perfile_words b)
{
    if (a.n != b.n)
        return true;
    if (a.n && a.width == b.width && a.swapped == b.swapped)
        return memcmp(a.ptr, b.ptr, a.n * a.width) != 0;
    for (size_t i = 0; i < a.n; i++)
        if (perfile_word(&a, i) != perfile_word(&b, i))
            return true;
    return false;
}

/* Strings are compared as text, without their padding. */
bool pf_strings_differ(perfile_strings a, perfile_strings b)
{
    perfile_bytes one, other;
    if (a.n != b.n)
        return true;
    while (perfile_strings_next(&a, &one) == PERFILE_OK &&
           perfile_strings_next(&b, &other) == PERFILE_OK)
        if (pf_bytes_differ(one, other))
            return true;
    return a.n || b.n;
}

#include "schema/same.inc"
#include "perfile/format/structs.def"
#include "schema/same.inc"
#include "perfile/format/sample.def"
#include "schema/same.inc"
#include "perfile/format/records.def"
#include "schema/same.inc"
#include "perfile/format/simpleperf.def"
#include "schema/same.inc"
#include "perfile/format/features.def"

/* Writes text with its NUL and without padding. */
void pf_put_cstr(pf_put *w, perfile_bytes text)
{
    pf_put_bytes(w, text);
    pf_put_zeros(w, 1);
}

/* P: do_write_string() of util/header.c: u32 length, then the text, filled with NULs to a multiple
 * of STRING_UNIT. */
void pf_put_string(pf_put *w, perfile_bytes text)
{
    uint64_t size = ((uint64_t)text.len / STRING_UNIT + 1) * STRING_UNIT;
    if (size > UINT32_MAX)
        pf_put_refuse(w, text.len, UINT32_MAX - STRING_UNIT);
    pf_put_u32(w, (uint32_t)size);
    pf_put_bytes(w, text);
    pf_put_zeros(w, STRING_UNIT - text.len % STRING_UNIT);
}

/* Writes a list of strings; rejects one that cannot be read to its end. */
void pf_put_strings(pf_put *w, perfile_strings strings)
{
    size_t n = strings.n;
    perfile_bytes text;
    while (perfile_strings_next(&strings, &text) == PERFILE_OK)
        pf_put_string(w, text);
    if (strings.n)
        pf_put_refuse(w, n - strings.n, n);
}

/* Writes integers of any stored width and byte order with `width` bytes in the order of `w`.  If
 * both are equal, the bytes are copied. */
void pf_put_words(pf_put *w, perfile_words words, unsigned width)
{
    if (words.n > SIZE_MAX / 8) {
        pf_put_refuse(w, words.n, SIZE_MAX / 8);
        return;
    }
    uint8_t *p = words.n ? pf_put_next(w, words.n * width) : NULL;
    if (!p)
        return;
    if (words.width == width && words.swapped == w->swap) {
        memcpy(p, words.ptr, words.n * width);
        return;
    }
    for (size_t i = 0; i < words.n; i++, p += width) {
        uint64_t v = perfile_word(&words, i);
        if (width == 8)
            pf_store_u64(p, v, w->swap);
        else if (width == 4)
            pf_store_u32(p, (uint32_t)v, w->swap);
        else
            pf_store_u16(p, (uint16_t)v, w->swap);
    }
}

/* Writes text and its padding.  If least == most, the field has a fixed length.  Otherwise the text
 * ends at the next multiple of TEXT_UNIT with at least one NUL, and the rest of the field (`owed`)
 * is written only if another field follows. */
void pf_put_text(pf_put *w, perfile_bytes text, uint64_t least, uint64_t most)
{
    if (text.len > most) {
        pf_put_refuse(w, text.len, most);
        return;
    }
    pf_put_next(w, 0);
    size_t from = w->len;
    pf_put_bytes(w, text);
    if (least == most) {
        pf_put_zeros(w, (size_t)(most - text.len));
        return;
    }
    size_t align_from = w->is_record ? 0 : from;
    size_t end = (w->len + 1 - align_from + TEXT_UNIT - 1) / TEXT_UNIT * TEXT_UNIT + align_from;
    if (most != UINT64_MAX && end - from > most)
        end = from + (size_t)most;
    pf_put_zeros(w, end - w->len);
    if (most != UINT64_MAX)
        w->owed = from + (size_t)most - end;
}

/* Writes a blob, which is never padded: it must fill a field of fixed length exactly. */
void pf_put_blob(pf_put *w, perfile_bytes bytes, uint64_t least, uint64_t most)
{
    if (bytes.len > most || (least == most && bytes.len != most))
        pf_put_refuse(w, bytes.len, most);
    else
        pf_put_bytes(w, bytes);
}

/* Writes PAD rows.  No table has more than PADDING_MOST bytes; a length from a damaged struct
 * could. */
void pf_put_padding(pf_put *w, uint64_t n)
{
    if (n > PADDING_MOST)
        pf_put_refuse(w, n, PADDING_MOST);
    else
        pf_put_zeros(w, (size_t)n);
}

/* HAND layouts: put_NAME() is made from the members.  Layouts with special bounds (schema/expand.h)
 * get a function put_whole_NAME() around it; the others use put_NAME() directly. */
static void put_whole_attr(const pf_context *k, pf_put *w, const perfile_attr *o);
static void put_whole_build_id_entry(const pf_context *k, pf_put *w,
                                     const perfile_build_id_entry *o);
static void put_whole_event_desc(const pf_context *k, pf_put *w, const perfile_event_desc *o);
static void put_whole_file_entry(const pf_context *k, pf_put *w, const perfile_file_entry *o);
static void put_whole_tracing_formats(const pf_context *k, pf_put *w,
                                      const perfile_tracing_formats *o);
#define PF_PUT_attr            put_whole_attr
#define PF_PUT_build_id_entry  put_whole_build_id_entry
#define PF_PUT_event_desc      put_whole_event_desc
#define PF_PUT_file_entry      put_whole_file_entry
#define PF_PUT_tracing_formats put_whole_tracing_formats
#define PF_PUT_build_ids       put_build_ids
#define PF_PUT_cpu_domain_info put_cpu_domain_info
#define PF_PUT_id_index        put_id_index
#define PF_PUT_cpu_topology    put_cpu_topology
#define PF_PUT_tracing_data    put_tracing_data
#define PF_PUT_file2_entry     put_file2_entry
#define PF_PUT_sp_debug_unwind put_sp_debug_unwind
#define PF_PUT_sp_init_map     put_sp_init_map

#define PF_SETTLED
#include "schema/encode.inc"
#include "perfile/format/structs.def"
#include "schema/encode.inc"
#include "perfile/format/sample.def"
#include "schema/encode.inc"
#include "perfile/format/records.def"
#include "schema/encode.inc"
#include "perfile/format/simpleperf.def"
#include "schema/encode.inc"
#include "perfile/format/features.def"

/* An attr ends where its own size says; the space around it may be larger. */
static void put_whole_attr(const pf_context *k, pf_put *w, const perfile_attr *o)
{
    pf_put_next(w, 0);
    size_t from = w->len;
    uint64_t space = k->attr_size ? k->attr_size : UINT32_MAX;
    uint64_t size = o->size < PF_ATTR_LEAST ? PF_ATTR_LEAST : o->size;
    if (size > space)
        size = space;
    w->end = from + (size_t)size;
    put_attr(k, w, o);
    if (w->len > w->end)
        pf_put_refuse(w, w->len - from, size);
    pf_put_zeros(w, pf_put_left(w));
    w->end = SIZE_MAX;
    if (k->attr_size && w->len < from + space)
        pf_put_zeros(w, from + (size_t)space - w->len);
}

/* The size in the entry's header is stored last, because it is known only after the entry was
 * written. */
static void put_whole_build_id_entry(const pf_context *k, pf_put *w,
                                     const perfile_build_id_entry *o)
{
    enum { SIZE_AT = 6 };
    pf_context inner = *k;
    size_t from = w->len;
    inner.misc = o->misc;
    put_build_id_entry(&inner, w, o);
    w->field = "build_id_entry.header_size";
    if (w->len - from > UINT16_MAX)
        pf_put_refuse(w, w->len - from, UINT16_MAX);
    if (w->len <= w->room)
        pf_store_u16(w->start + from + SIZE_AT, (uint16_t)(w->len - from), w->swap);
}

/* All attrs have the one size that the section states. */
static void put_whole_event_desc(const pf_context *k, pf_put *w, const perfile_event_desc *o)
{
    pf_context inner = *k;
    inner.attr_size = o->attr_size;
    put_event_desc(&inner, w, o);
}

/* The entry begins with its size, which does not count these 4 bytes. */
static void put_whole_file_entry(const pf_context *k, pf_put *w, const perfile_file_entry *o)
{
    size_t from = w->len;
    put_file_entry(k, w, o);
    w->field = "file_entry.size";
    if (w->len - from - 4 > UINT32_MAX)
        pf_put_refuse(w, w->len - from - 4, UINT32_MAX);
    if (w->len <= w->room)
        pf_store_u32(w->start + from, (uint32_t)(w->len - from - 4), w->swap);
}

/* TRACING_DATA has its own byte order, which its member big_endian states. */
static void put_whole_tracing_formats(const pf_context *k, pf_put *w,
                                      const perfile_tracing_formats *o)
{
    bool swap = w->swap;
    w->swap = (o->big_endian != 0) != (bool)PF_NATIVE_BIG;
    put_tracing_formats(k, w, o);
    w->swap = swap;
}

/* The public encoders: they write header, body, padding and trailer.  Byte-swapping of stored
 * records is here, too.
 *
 * Every result is decoded again and compared with the input.  If the format cannot express a struct
 * (a member is set although its condition is false, text contains a NUL, a list is too long for its
 * count), the caller gets an error with the name of the member, and never a record that reads
 * differently. */
#include "base/error.h"
#include "base/options.h"
#include "core/encode.h"
#include "core/layout.h"
#include "core/swap.h"
#include "perfile/encode.h"
#include "schema/expand.h"
#include "base/command.h"
#include "core/command.h"

#include <inttypes.h>

enum { UNIT = 8 }; /* records are padded to a multiple of this */

/* The input and the output of an encoder. */
typedef struct pf_job {
    const pf_row *row;
    perfile_encode_options how;
    void *given; /* a copy of the caller's struct, in our size and with its counts set */
    void *again; /* space for decoding the result */
    uint8_t *out;
    size_t room;
    size_t *len;
    uint32_t bytes; /* records: required size; 0: as long as the fields need */
    bool as_stored; /* see perfile_open_options.as_stored; used when the result is read back */
} pf_job;

/* Returns true if the result has another byte order than this machine. */
static bool is_swapped(const pf_job *j)
{
    return pf_byte_order_swaps(j->how.byte_order);
}

/* Returns the largest record that the size field of its header can express. */
static uint64_t most_bytes(uint32_t type)
{
    return pf_type_is_wide(type) ? UINT32_MAX : UINT16_MAX;
}

/* Copies options and struct, which may come from another version of the header, and sets the counts
 * of the struct. */
static perfile_status begin(pf_job *j, const void *in, size_t size,
                            const perfile_encode_options *how, perfile_error *err)
{
    perfile_status st = pf_options_copy(&j->how, how, "encode_options", err);
    if (st == PERFILE_OK)
        st = pf_byte_order_check(j->how.byte_order, "encode_options", err);
    if (st == PERFILE_OK)
        st = pf_options_copy_sized(j->given, j->row->size, in, size, j->row->name, err);
    if (st == PERFILE_OK)
        j->row->settle(j->given);
    return st;
}

static pf_put put_begin(const pf_job *j, bool is_record)
{
    return (pf_put){.start = j->out,
                    .room = j->out ? j->room : 0,
                    .end = SIZE_MAX,
                    .swap = is_swapped(j),
                    .is_record = is_record,
                    .field = j->row->name};
}

/* Makes the error if something could not be written, or does not fit into `most` bytes or the
 * caller's buffer. */
static perfile_status put_end(const pf_job *j, const pf_put *w, uint64_t most, perfile_error *err)
{
    if (w->wrong)
        return pf_fail(err, PERFILE_E_USAGE, w->wrong, "%s: %llu is given, %llu is needed",
                       w->wrong, (unsigned long long)w->found, (unsigned long long)w->needed);
    if (w->len > most)
        return pf_fail(err, PERFILE_E_LIMIT, w->full ? w->full : w->field,
                       "%s of %zu bytes, it has %llu at most", j->row->name, w->len,
                       (unsigned long long)most);
    if (j->out && w->len > j->room)
        return pf_fail(err, PERFILE_E_USAGE, w->full, "%s needs %zu bytes, there is room for %zu",
                       j->row->name, w->len, j->room);
    return PERFILE_OK;
}

/* Decodes the result and compares it with the input.  Returns the first member that differs, or
 * NULL. */
static const char *read_back(const pf_job *j, const pf_context *k, perfile_bytes bytes,
                             unsigned *damage)
{
    pf_cursor c = pf_cur(bytes, is_swapped(j));
    memset(j->again, 0, j->row->size);
    j->row->decode(k, &c, j->again);
    *damage = c.bad;
    const char *where = j->row->same(j->given, j->again);
    return c.bad && !where ? j->row->name : where;
}

/* Makes the error for a struct that would not be read back equal.  `damage` comes from the
 * decoder. */
static perfile_status not_the_same(const char *where, unsigned damage, perfile_error *err)
{
    if (err)
        err->damage = 0;
    return pf_fail(err, PERFILE_E_USAGE, where,
                   "%s would not be read back as given (%s): it does not fit sample_type, misc or "
                   "other members",
                   where, damage ? pf_damage_text(damage) : "something else would");
}

/* Encodes something without a header: a feature, a trailer or an attr. */
static perfile_status encode_plain(pf_job *j, const pf_context *k, uint64_t most,
                                   perfile_error *err)
{
    pf_put w = put_begin(j, false);
    j->row->encode(k, &w, j->given);
    perfile_status st = put_end(j, &w, most, err);
    if (st != PERFILE_OK)
        return st;
    if (j->out) {
        unsigned damage;
        const char *where = read_back(j, k, (perfile_bytes){j->out, w.len}, &damage);
        if (where)
            return not_the_same(where, damage, err);
    }
    *j->len = w.len;
    return PERFILE_OK;
}

/* Encoding of records. */

static void put_header(pf_put *w, uint32_t type, uint16_t misc, uint64_t size)
{
    pf_put h = {.start = w->start, .room = PF_PERF_RECORD_HEADER, .swap = w->swap};
    pf_put_u32(&h, type);
    pf_put_u16(&h, pf_type_is_wide(type) ? (uint16_t)(size >> 16) : misc);
    pf_put_u16(&h, (uint16_t)size);
}

/* Returns true if the layout gives records of this type a trailer. */
static bool has_trailer(const pf_job *j)
{
    const perfile_layout *l = j->how.layout;
    return l && l->trailer_size && pf_record_known(j->row->number) &&
           j->row->number != PERFILE_RECORD_SAMPLE;
}

/* Fails unless the bits in `present` are those that the layout requires. */
static perfile_status check_present(const char *where, uint64_t present, uint64_t wanted,
                                    perfile_error *err)
{
    if (present == wanted)
        return PERFILE_OK;
    return pf_fail(err, PERFILE_E_USAGE, where,
                   "present is 0x%" PRIx64 ", the layout asks for 0x%" PRIx64
                   " (has_weight is for the bits of weights)",
                   present, wanted);
}

/* Returns the bits of sample_type that a sample (`slots` NULL) or a trailer of this layout has.
 * `present` does not contain WEIGHT: two bits share one field, and has_weight represents it. */
static uint64_t wanted_bits(const perfile_layout *l, const int8_t *slots)
{
    const uint64_t weights = PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT;
    uint64_t bits = 0;
    if (!slots)
        return l->sample_type & PERFILE_SAMPLE_KNOWN & ~weights;
    for (unsigned i = 0; i < PERFILE_SAMPLE_BITS; i++)
        bits |= slots[i] > 0 ? UINT64_C(1) << i : 0;
    return bits;
}

perfile_sample_id pf_trailer_of(const perfile_layout *l, const perfile_sample_id *all)
{
    perfile_sample_id v = {.present = wanted_bits(l, l->trailer_slot)};
    if (v.present & PERFILE_SAMPLE_TID)
        v.pid = all->pid, v.tid = all->tid;
    if (v.present & PERFILE_SAMPLE_TIME)
        v.time = all->time;
    if (v.present & PERFILE_SAMPLE_ID)
        v.id = all->id;
    if (v.present & PERFILE_SAMPLE_STREAM_ID)
        v.stream_id = all->stream_id;
    if (v.present & PERFILE_SAMPLE_CPU)
        v.cpu = all->cpu, v.res = all->res;
    if (v.present & PERFILE_SAMPLE_IDENTIFIER)
        v.identifier = all->identifier;
    return v;
}

/* Samples, READ and trailers need a layout, and `present` must match it. */
static perfile_status check_layout(const pf_job *j, perfile_error *err)
{
    const perfile_layout *l = j->how.layout;
    if (j->row->number == PERFILE_RECORD_SAMPLE || j->row->number == PERFILE_RECORD_READ)
        if (!l)
            return pf_fail(err, PERFILE_E_USAGE, "encode_options.layout",
                           "%s has no fixed layout: that of its event is needed", j->row->name);
    if (j->row->number == PERFILE_RECORD_SAMPLE)
        return check_present("sample.present", ((const perfile_sample *)j->given)->present,
                             wanted_bits(l, NULL), err);
    if (j->how.sample_id && !has_trailer(j))
        return pf_fail(err, PERFILE_E_USAGE, "encode_options.sample_id",
                       "a %s of this layout has no trailer", j->row->name);
    if (j->how.sample_id)
        return check_present("sample_id.present", j->how.sample_id->present,
                             wanted_bits(l, l->trailer_slot), err);
    return PERFILE_OK;
}

/* Ends the body at `end` by adding or removing zeros.  Returns false if other bytes would be
 * removed, or if there is no buffer. */
static bool end_body(pf_put *w, size_t end)
{
    if (w->len > w->room)
        return false;
    while (w->len > end && w->start[w->len - 1] == 0)
        w->len--;
    if (w->len < end)
        pf_put_zeros(w, end - w->len);
    return w->len == end;
}

/* Writes header, body and trailer.  With `padding` the body is filled with zeros to a multiple of
 * UNIT, unless the caller requires a size. */
static pf_put put_record(const pf_job *j, const pf_context *k, bool padding)
{
    pf_put w = put_begin(j, true);
    pf_put_zeros(&w, PF_PERF_RECORD_HEADER);
    j->row->encode(k, &w, j->given);
    w.owed = 0;
    const size_t trailer =
        has_trailer(j) && j->how.sample_id ? (size_t)j->how.layout->trailer_size : 0;
    if (j->bytes) {
        if (!w.wrong && (j->bytes < trailer || !end_body(&w, j->bytes - trailer))) {
            w.field = "record.size";
            pf_put_refuse(&w, j->bytes, w.len + trailer);
        }
    } else if (padding) {
        pf_put_align(&w, 0, UNIT);
    }
    if (trailer)
        pf_encode_sample_id(k, &w, j->how.sample_id);
    if (w.len <= w.room)
        put_header(&w, j->row->number, j->how.misc, w.len);
    return w;
}

/* Decodes body and trailer of the result and compares both. */
static const char *read_record_back(const pf_job *j, size_t len, unsigned *damage)
{
    const perfile_record r = {.header = j->out,
                              .body = {j->out + PF_PERF_RECORD_HEADER, len - PF_PERF_RECORD_HEADER},
                              .type = j->row->number,
                              .misc = pf_type_is_wide(j->row->number) ? 0 : j->how.misc,
                              .flags = is_swapped(j) ? PERFILE_REC_SWAPPED : 0};
    pf_parts p = {.layout = j->how.layout};
    pf_record_split(&r, p.layout, j->as_stored, &p.body, &p.trailer);
    pf_context k = pf_record_context(&r, &p);
    k.as_stored = j->as_stored;
    const char *where = read_back(j, &k, p.body, damage);
    if (where)
        return where;
    if ((p.trailer.len != 0) != (has_trailer(j) && j->how.sample_id))
        return "encode_options.sample_id";
    if (!p.trailer.len)
        return NULL;
    perfile_sample_id id = {0};
    pf_cursor c = pf_cur(p.trailer, is_swapped(j));
    pf_decode_sample_id(&k, &c, &id);
    *damage = c.bad;
    return pf_same_sample_id(j->how.sample_id, &id);
}

/* Tries padding to a multiple of 8 first.  If the zeros would be decoded as part of the record,
 * writes it without padding. */
static perfile_status encode_record(pf_job *j, const void *in, size_t size,
                                    const perfile_encode_options *how, perfile_error *err)
{
    perfile_status st = begin(j, in, size, how, err);
    if (st == PERFILE_OK)
        st = check_layout(j, err);
    if (st != PERFILE_OK)
        return st;
    pf_context k = pf_context_of(j->how.layout);
    k.misc = j->how.misc;
    const char *where = NULL, *first = NULL;
    unsigned damage = 0, first_damage = 0;
    for (int padding = !j->bytes; padding >= 0; padding--) {
        pf_put w = put_record(j, &k, padding);
        st = put_end(j, &w, most_bytes(j->row->number), err);
        if (st != PERFILE_OK)
            return st;
        where = j->out ? read_record_back(j, w.len, &damage) : NULL;
        if (!where) {
            *j->len = w.len;
            return PERFILE_OK;
        }
        if (!first) {
            first = where;
            first_damage = damage;
        }
    }
    if (has_trailer(j) && !j->how.sample_id)
        return pf_fail(
            err, PERFILE_E_USAGE, "encode_options.sample_id",
            "the end of this %s would be read as the trailer that its layout has: give one",
            j->row->name);
    return not_the_same(first, first_damage, err);
}

perfile_status pf_encode_row(const pf_row *row, const pf_encode_space *space, const void *in,
                             uint32_t bytes, const perfile_encode_options *how, size_t *len,
                             perfile_error *err)
{
    pf_job j = {.row = row,
                .given = space->given,
                .again = space->again,
                .out = space->out,
                .room = space->room,
                .len = len,
                .bytes = bytes,
                .as_stored = true};
    return encode_record(&j, in, row->size, how, err);
}

/* Room for the struct of any record or feature. */
typedef union any_struct {
    pf_any_record record;
    perfile_sample sample;
#define FEATURE(id, number, name, source, contract, doc) perfile_##id as_##id;
#include "perfile/format/features.def"
} any_struct;

/* Parts without a header. */

static perfile_status encode_feature(pf_job *j, const void *in, size_t size,
                                     const perfile_encode_options *how, perfile_error *err)
{
    perfile_status st = begin(j, in, size, how, err);
    pf_context k = {.nr_cpus_avail = j->how.n_cpus, .as_stored = j->as_stored};
    return st == PERFILE_OK ? encode_plain(j, &k, SIZE_MAX - 1, err) : st;
}

perfile_status pf_encode_feature_row(const pf_row *row, const pf_encode_space *space,
                                     const void *in, const perfile_encode_options *how, size_t *len,
                                     perfile_error *err)
{
    pf_job j = {.row = row,
                .given = space->given,
                .again = space->again,
                .out = space->out,
                .room = space->room,
                .len = len,
                .as_stored = true};
    return encode_feature(&j, in, row->size, how, err);
}

static perfile_status encode_trailer(pf_job *j, const void *in, size_t size,
                                     const perfile_encode_options *how, perfile_error *err)
{
    const perfile_sample_id *given = j->given;
    perfile_status st = begin(j, in, size, how, err);
    const perfile_layout *l = j->how.layout;
    if (st == PERFILE_OK)
        st = check_present("sample_id.present", given->present,
                           l ? wanted_bits(l, l->trailer_slot) : 0, err);
    if (st != PERFILE_OK)
        return st;
    pf_context k = pf_context_of(l);
    return encode_plain(j, &k, UINT16_MAX, err);
}

static perfile_status encode_attr(pf_job *j, const void *in, size_t size,
                                  const perfile_encode_options *how, perfile_error *err)
{
    const perfile_attr *given = j->given;
    perfile_status st = begin(j, in, size, how, err);
    if (st != PERFILE_OK)
        return st;
    if (given->size != 0 && given->size < PF_ATTR_LEAST)
        return pf_fail(err, PERFILE_E_USAGE, "attr.size", "size %u, an attr has 64 at least",
                       given->size);
    pf_context k = {.attr_size = given->size ? given->size : PF_ATTR_LEAST};
    return encode_plain(j, &k, UINT32_MAX, err);
}

/* The row of a type of perfile_encode(), and what encodes it; NULL if no table has the type. */
typedef perfile_status encode_fn(pf_job *j, const void *in, size_t size,
                                 const perfile_encode_options *how, perfile_error *err);

static encode_fn *encoder_of(uint32_t type, const pf_row **row)
{
    static const pf_row attr = {
        .name = "attr", .size = sizeof(perfile_attr), PF_ROW_FUNCTIONS(attr)};
    static const pf_row trailer = {
        .name = "sample_id", .size = sizeof(perfile_sample_id), PF_ROW_FUNCTIONS(sample_id)};
    if (type >> PERFILE_FAMILY_SHIFT == PERFILE_TYPE_FEATURE >> PERFILE_FAMILY_SHIFT) {
        *row = pf_feature_row(type - PERFILE_TYPE_FEATURE);
        return *row ? encode_feature : NULL;
    }
    if (type == PERFILE_TYPE_ATTR || type == PERFILE_TYPE_SAMPLE_ID) {
        *row = type == PERFILE_TYPE_ATTR ? &attr : &trailer;
        return type == PERFILE_TYPE_ATTR ? encode_attr : encode_trailer;
    }
    *row = pf_record_row(type);
    return *row ? encode_record : NULL;
}

perfile_status perfile_encode(uint32_t type, const void *in, size_t size,
                              const perfile_encode_options *how, void *out, size_t room,
                              size_t *len, perfile_error *err)
{
    any_struct given, again;
    pf_job j = {.given = &given, .again = &again, .out = out, .room = room, .len = len};
    encode_fn *encode = encoder_of(type, &j.row);
    if (!encode)
        return pf_fail(err, PERFILE_E_USAGE, "type", "no table has type %#x", type);
    return encode(&j, in, size, how, err);
}

void perfile_layout_of_attr(const perfile_attr *attr, size_t size, perfile_layout *layout)
{
    perfile_attr full = {0};
    memcpy(&full, attr, size < sizeof full ? size : sizeof full);
    pf_layout_make(layout, &full);
}

/* Byte-swapping of stored records and features; see core/swap.h.  The functions for each layout are
 * made from the tables (schema/swap.inc); here they get the layout and context of a record.  Common
 * samples take a fast path. */

static bool record_is_swapped(const perfile_record *r)
{
    return r->flags & PERFILE_REC_SWAPPED;
}

static void copy(uint8_t *out, perfile_bytes bytes)
{
    if (bytes.len)
        memcpy(out, bytes.ptr, bytes.len);
}

/* A payload is byte-swapped completely or not at all.  A payload that is readable only in the other
 * byte order is byte-swapped, too: in the new order it is as unreadable as before, and
 * byte-swapping it again restores it. */
static perfile_status swap_payload(const perfile_feature *f, uint8_t *out, perfile_error *err)
{
    const pf_row *row = pf_feature_row(f->number);
    if (!row) {
        if (err) {
            pf_fail(err, PERFILE_E_UNSUPPORTED, "feature.number",
                    "no table describes feature %u: its bytes stay as they are", f->number);
            err->offset = f->offset;
        }
        return PERFILE_E_UNSUPPORTED;
    }
    const pf_context k = {.as_stored = pf_session_as_stored(f->session),
                          .nr_cpus_avail = f->session ? pf_session_n_cpus(f->session) : 0};
    bool swapped = f->flags & PERFILE_REC_SWAPPED;
    pf_cursor c = pf_cur(f->payload, swapped);
    row->byteswap(&k, &c, out);
    if (!c.bad)
        return PERFILE_OK;
    pf_cursor other = pf_cur(f->payload, !swapped);
    copy(out, f->payload);
    row->byteswap(&k, &other, out);
    if (other.bad)
        copy(out, f->payload);
    return pf_fail_damage(err, c.bad, row->name, f->offset);
}

/* Byte-swaps the feature in a HEADER_FEATURE record.  An empty one ends the list of features and
 * has nothing to swap. */
static perfile_status swap_carried(const perfile_record *r, uint8_t *out, perfile_error *err)
{
    perfile_feature f;
    perfile_status st = perfile_record_feature(r, &f, err);
    if (st != PERFILE_OK || f.payload.len == 0)
        return st;
    return swap_payload(&f, out + (f.payload.ptr - r->header), err);
}

/* Byte-swaps body and trailer; `out` contains a copy of the record.  A type without a row has a
 * known trailer, too. */
static perfile_status swap_parts(const perfile_record *r, const perfile_layout *layout,
                                 uint8_t *out, perfile_error *err)
{
    const pf_row *row = pf_row_of(r);
    pf_parts p = {.layout = layout};
    pf_record_split(r, layout, r->session && r->session->as_stored, &p.body, &p.trailer);
    const pf_context k = pf_record_context(r, &p);
    if (p.trailer.len) {
        pf_cursor t = pf_cur(p.trailer, record_is_swapped(r));
        pf_byteswap_sample_id(&k, &t, out + (p.trailer.ptr - r->header));
    }
    if (!row) {
        pf_fail(err, PERFILE_E_UNSUPPORTED, "record.type",
                "no table describes records of type %u: the body stays as it is", r->type);
        pf_error_at(err, r->offset);
        return PERFILE_E_UNSUPPORTED;
    }
    pf_cursor c = pf_cur(p.body, record_is_swapped(r));
    row->byteswap(&k, &c, out + (r->body.ptr - r->header));
    if (c.bad)
        return pf_fail_damage(err, c.bad, row->name, r->offset);
    return r->type == PERFILE_RECORD_HEADER_FEATURE && r->family == PERFILE_FAMILY_PERF
               ? swap_carried(r, out, err)
               : PERFILE_OK;
}

/* Returns the specialized function for samples of this session; NULL if its events differ or their
 * type is uncommon. */
static pf_usual_swap_fn *usual_of(const perfile_session *s)
{
    return s && s->shared ? pf_usual_swap(s->shared->sample_type) : NULL;
}

/* Byte-swaps a record of perf's own family in place: `out` contains a copy of it. */
static inline perfile_status swap_in_copy(const perfile_record *r, pf_usual_swap_fn *usual,
                                          uint8_t *out, perfile_error *err)
{
    uint32_t damage;
    pf_swap_header(out, r->header);
    if (r->type == PERFILE_RECORD_SAMPLE && usual &&
        usual(r->body, record_is_swapped(r), out + PF_PERF_RECORD_HEADER))
        return PERFILE_OK;
    const perfile_layout *layout = pf_layout_of(r, &damage);
    if (r->type == PERFILE_RECORD_SAMPLE && layout && !usual) {
        usual = pf_usual_swap(layout->sample_type);
        if (usual && usual(r->body, record_is_swapped(r), out + PF_PERF_RECORD_HEADER))
            return PERFILE_OK;
    }
    return damage ? pf_fail_damage(err, damage, "record", r->offset)
                  : swap_parts(r, layout, out, err);
}

/* Byte-swaps a record of another family.  Its row is enough, as its layout does not depend on
 * events. */
static perfile_status swap_other(const perfile_record *r, uint8_t *out, perfile_error *err)
{
    const pf_family *f = pf_family_of(r->family);
    if (!f || !f->byteswap_header)
        return pf_fail(err, PERFILE_E_USAGE, "record.family",
                       "a record of family %u has no byte order", r->family);
    f->byteswap_header(out, r->header);
    return swap_parts(r, NULL, out, err);
}

perfile_status pf_swap_record(const perfile_record *r, uint8_t *out, perfile_error *err)
{
    memcpy(out, r->header, perfile_record_size(r));
    return r->family == PERFILE_FAMILY_PERF ? swap_in_copy(r, usual_of(r->session), out, err)
                                            : swap_other(r, out, err);
}

size_t pf_swap_run(const perfile_record *records, size_t n, uint8_t *out, perfile_error *err)
{
    if (n == 0)
        return 0;
    const uint8_t *start = records[0].header;
    const perfile_record *last = &records[n - 1];
    pf_usual_swap_fn *usual = usual_of(records[0].session);
    memcpy(out, start, (size_t)(last->header - start) + perfile_record_size(last));
    for (size_t i = 0; i < n; i++) {
        const perfile_record *r = &records[i];
        uint8_t *to = out + (r->header - start);
        if ((r->family == PERFILE_FAMILY_PERF ? swap_in_copy(r, usual, to, err)
                                              : swap_other(r, to, err)) != PERFILE_OK)
            return i;
    }
    return n;
}

perfile_status pf_swap_feature(const perfile_feature *f, uint8_t *out, perfile_error *err)
{
    copy(out, f->payload);
    return f->damage ? pf_fail_damage(err, f->damage, "feature", f->offset)
                     : swap_payload(f, out, err);
}

perfile_status pf_swap_attr(perfile_bytes stored, bool swapped, uint8_t *out, perfile_error *err)
{
    pf_context k = {.attr_size = stored.len > UINT32_MAX ? UINT32_MAX : (uint32_t)stored.len};
    pf_cursor c = pf_cur(stored, swapped);
    copy(out, stored);
    pf_byteswap_attr(&k, &c, out);
    return c.bad ? pf_fail_damage(err, c.bad, "attr", PERFILE_NO_OFFSET) : PERFILE_OK;
}

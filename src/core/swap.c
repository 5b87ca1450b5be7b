/* Byte-swapping of stored records and features; see core/swap.h.  The functions for each layout are
 * made from the tables (schema/swap.inc); here they get the layout and context of a record, and
 * usual samples take a fast path. */
#include "core/swap.h"

#include "base/error.h"
#include "core/parts.h"
#include "core/attribution.h"
#include "schema/swap.h"
#include "schema/family.h"

static bool is_swapped(const perfile_record *r)
{
    return r->flags & PERFILE_REC_SWAPPED;
}

static void copy(uint8_t *out, perfile_bytes bytes)
{
    if (bytes.len)
        memcpy(out, bytes.ptr, bytes.len);
}

/* A payload is byte-swapped completely or not at all.  A payload that can be read only in the other
 * byte order is byte-swapped, too: in the new order it is as unreadable as before, and
 * byte-swapping it again gives the first bytes. */
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
                          .nr_cpus_avail = f->session ? perfile_session_n_cpus(f->session) : 0};
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

/* The feature in a HEADER_FEATURE record.  One without payload ends the list of features and has
 * nothing to swap. */
static perfile_status swap_carried(const perfile_record *r, uint8_t *out, perfile_error *err)
{
    perfile_feature f;
    perfile_status st = perfile_record_feature(r, &f, err);
    if (st != PERFILE_OK || f.payload.len == 0)
        return st;
    return swap_payload(&f, out + (f.payload.ptr - r->header), err);
}

/* Byte-swaps body and trailer; `out` holds a copy of the record.  Of a type without a row the
 * trailer is known all the same. */
static perfile_status swap_parts(const perfile_record *r, const perfile_layout *layout,
                                 uint8_t *out, perfile_error *err)
{
    const pf_row *row = pf_row_of(r);
    pf_parts p = {.layout = layout};
    pf_record_split(r, layout, r->session && r->session->as_stored, &p.body, &p.trailer);
    const pf_context k = pf_record_context(r, &p);
    if (p.trailer.len) {
        pf_cursor t = pf_cur(p.trailer, is_swapped(r));
        pf_byteswap_sample_id(&k, &t, out + (p.trailer.ptr - r->header));
    }
    if (!row) {
        pf_fail(err, PERFILE_E_UNSUPPORTED, "record.type",
                "no table describes records of type %u: the body stays as it is", r->type);
        pf_error_at(err, r->offset);
        return PERFILE_E_UNSUPPORTED;
    }
    pf_cursor c = pf_cur(p.body, is_swapped(r));
    row->byteswap(&k, &c, out + (r->body.ptr - r->header));
    if (c.bad)
        return pf_fail_damage(err, c.bad, row->name, r->offset);
    return r->type == PERFILE_RECORD_HEADER_FEATURE && r->family == PERFILE_FAMILY_PERF
               ? swap_carried(r, out, err)
               : PERFILE_OK;
}

/* The specialised function for samples of this session; NULL if its events differ or their type is
 * unusual. */
static pf_usual_swap_fn *usual_of(const perfile_session *s)
{
    return s && s->shared ? pf_usual_swap(s->shared->sample_type) : NULL;
}

/* Byte-swaps a record of perf's own family in place: `out` holds a copy of it. */
static inline perfile_status swap_in_copy(const perfile_record *r, pf_usual_swap_fn *usual,
                                          uint8_t *out, perfile_error *err)
{
    uint32_t damage;
    pf_swap_header(out, r->header);
    if (r->type == PERFILE_RECORD_SAMPLE && usual &&
        usual(r->body, is_swapped(r), out + PF_PERF_RECORD_HEADER))
        return PERFILE_OK;
    const perfile_layout *layout = pf_layout_of(r, &damage);
    if (r->type == PERFILE_RECORD_SAMPLE && layout && !usual) {
        usual = pf_usual_swap(layout->sample_type);
        if (usual && usual(r->body, is_swapped(r), out + PF_PERF_RECORD_HEADER))
            return PERFILE_OK;
    }
    return damage ? pf_fail_damage(err, damage, "record", r->offset)
                  : swap_parts(r, layout, out, err);
}

/* Byte-swaps a record of another family, which has no layout by events: its row is enough. */
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

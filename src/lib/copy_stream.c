/* Tool records that become sections of a file: of a pipe all that have one, of a file
 * HEADER_TRACING_DATA.
 *
 * A pipe has HEADER_ATTR, HEADER_FEATURE, HEADER_TRACING_DATA and HEADER_BUILD_ID records where a
 * file has sections.  The session has learned from them already when they come here, so that the
 * section can be made from the session: this file only decides which records are replaced so, and
 * marks them.  A record that cannot be replaced (the second of its kind, or too late) stays a
 * record, which readers of files understand too. */
#include "base/error.h"
#include "base/byte_order.h"
#include "lib/copy.h"
#include "core/readable.h"
#include "perfile/field.h"

/* True if the session took feature `number` from the record `r`, the content is complete, and no
 * record of it was taken before: then the section can stand for the record. */
static bool first_of_its_kind(const pf_copy *x, uint32_t number, const perfile_record *r)
{
    const perfile_feature *f = perfile_session_feature(x->session, number);
    return f && f->origin == PERFILE_ORIGIN_STREAM && f->offset == r->offset && !f->damage &&
           (f->payload.ptr || f->size == 0) && !(x->taken[number / 64] >> number % 64 & 1);
}

/* Marks the feature: pf_copy_finish() will write its section. */
static void take_feature(pf_copy *x, uint32_t number)
{
    x->taken[number / 64] |= UINT64_C(1) << number % 64;
}

/* Notes the event of a HEADER_ATTR record for pf_copy_release(), if it comes before the records of
 * the kernel.  A later one stays a record, from which readers of files learn the event as well.
 * x->ids has an entry per event, so its length is the number of the next one. */
static perfile_status take_attr(pf_copy *x, bool *took, perfile_error *err)
{
    uint32_t n = (uint32_t)(x->ids.len / sizeof(perfile_words));
    const perfile_event *e = perfile_session_event(x->session, n);
    if (x->begun || !e || e->origin != PERFILE_ORIGIN_STREAM)
        return PERFILE_OK;
    /* The ids of now: ids learned later are in ID_INDEX and similar records, which stay. */
    if (!pf_buffer_append(&x->ids, &e->ids, sizeof e->ids))
        return pf_fail_nomem(err, "copy");
    *took = true;
    return PERFILE_OK;
}

/* Marks the feature of a HEADER_FEATURE record.  The record that ends the list of features is
 * dropped. */
static void take_header_feature(pf_copy *x, const perfile_record *r, bool *took)
{
    perfile_feature f;
    if (perfile_record_feature(r, &f, NULL) != PERFILE_OK || f.number >= PERFILE_N_FEATURES)
        return;
    bool end = pf_feature_ends_list(&f); /* the bitmap of a file has no such mark */
    *took = end || first_of_its_kind(x, f.number, r);
    if (*took && !end)
        take_feature(x, f.number);
}

/* Collects a HEADER_BUILD_ID record as an entry of the feature BUILD_ID: both have one layout,
 * header included.  Not if the pipe also has that feature, which would be a second section. */
static perfile_status take_build_id(pf_copy *x, const perfile_record *r, bool *took,
                                    perfile_error *err)
{
    bool other = perfile_session_feature(x->session, PERFILE_FEATURE_BUILD_ID) != NULL;
    if (x->begun || other)
        return PERFILE_OK;
    size_t at = x->build_ids.len;
    if (!pf_buffer_append(&x->build_ids, r->header, perfile_record_size(r)))
        return pf_fail_nomem(err, "copy");
    pf_store_u32(x->build_ids.ptr + at, 0, false); /* entries of the feature have no type */
    *took = true;
    return PERFILE_OK;
}

/* Keeps a record for pf_copy_release().  Not a record with extra bytes, an envelope, or one beyond
 * the limit: the caller then releases all before, and writes it. */
static perfile_status hold(pf_copy *x, const perfile_record *r, bool *took, perfile_error *err)
{
    if (x->begun || r->extra.len || r->flags & PERFILE_REC_ENVELOPE ||
        x->held.len + perfile_record_size(r) > x->held_most)
        return PERFILE_OK;
    if (!pf_buffer_append(&x->held, r->header, perfile_record_size(r)))
        return pf_fail_nomem(err, "copy");
    *took = true;
    return PERFILE_OK;
}

perfile_status pf_copy_take_fact(pf_copy *x, const perfile_record *r, bool *took,
                                 perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    switch (r->type) {
    case PERFILE_RECORD_HEADER_ATTR:
        st = take_attr(x, took, err);
        break;
    case PERFILE_RECORD_HEADER_EVENT_TYPE:
        *took = !x->begun; /* write_event_types() writes it as part of the table */
        break;
    case PERFILE_RECORD_HEADER_FEATURE:
        take_header_feature(x, r, took);
        break;
    case PERFILE_RECORD_HEADER_TRACING_DATA:
        *took = first_of_its_kind(x, PERFILE_FEATURE_TRACING_DATA, r);
        if (*took)
            take_feature(x, PERFILE_FEATURE_TRACING_DATA);
        break;
    case PERFILE_RECORD_HEADER_BUILD_ID:
        st = take_build_id(x, r, took, err);
        break;
    default:
        break;
    }
    if (st == PERFILE_OK && !*took)
        st = hold(x, r, took, err);
    return st;
}

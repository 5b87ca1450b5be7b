/* Records of a pipe that become facts of a file. */
#include "base/error.h"
#include "base/byte_order.h"
#include "lib/copy.h"
#include "core/readable.h"
#include "perfile/field.h"

static bool first_of_its_kind(const pf_copy *x, uint32_t number, const perfile_record *r)
{
    const perfile_feature *f = perfile_session_feature(x->session, number);
    return f && f->origin == PERFILE_ORIGIN_STREAM && f->offset == r->offset && !f->damage &&
           (f->payload.ptr || f->size == 0) && !(x->taken[number / 64] >> number % 64 & 1);
}

static void take_feature(pf_copy *x, uint32_t number)
{
    x->taken[number / 64] |= UINT64_C(1) << number % 64;
}

/* An event that came before the records of the kernel; a later one stays a record, from which
 * readers of files learn it too. */
static perfile_status take_attr(pf_copy *x, bool *took, perfile_error *err)
{
    uint32_t n = (uint32_t)(x->ids.len / sizeof(perfile_words));
    const perfile_event *e = perfile_session_event(x->session, n);
    if (x->begun || !e || e->origin != PERFILE_ORIGIN_STREAM)
        return PERFILE_OK;
    /* What is learned of its ids later is in records that stay. */
    if (!pf_buffer_append(&x->ids, &e->ids, sizeof e->ids))
        return pf_fail_nomem(err, "copy");
    *took = true;
    return PERFILE_OK;
}

static void take_header_feature(pf_copy *x, const perfile_record *r, bool *took)
{
    perfile_feature f;
    if (perfile_record_feature(r, &f, NULL) != PERFILE_OK || f.number >= PERFILE_N_FEATURES)
        return;
    bool end = pf_feature_ends_list(&f); /* a file says that in another way */
    *took = end || first_of_its_kind(x, f.number, r);
    if (*took && !end)
        take_feature(x, f.number);
}

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
        *took = !x->begun;
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

/* Finding the next records behind bytes that are none. */
#include "perf/salvage.h"

enum {
    CHAIN = 4,  /* records in a row that look right; fewer only at the end of the bytes */
    CREDIT = 32 /* for each byte passed over; looking closely at a record costs 16 and more */
};

static bool closely(pf_record_fit *v, const perfile_record *r)
{
    if (v->budget <= 0)
        return false;
    v->budget -= 16 + (r->body.len < 4096 ? (int64_t)r->body.len : 4096) / 16;
    return pf_record_fit_closely(v, r) == 0;
}

bool pf_perf_is_chain(pf_record_fit *v, perfile_bytes bytes, size_t upto, unsigned least)
{
    const uint8_t *at = bytes.ptr;
    const uint8_t *end = at + bytes.len;
    unsigned n = 0;
    for (; (n < CHAIN || (size_t)(at - bytes.ptr) < upto) && at < end; n++) {
        size_t left = (size_t)(end - at);
        if (!pf_perf_header_plausible(at, left, v->swap))
            return false;
        perfile_record r;
        pf_frame f = pf_frame_at(at, v->swap);
        uint64_t extra = pf_frame_extra(at, &f, v->swap);
        if (extra > left - f.size)
            return false;
        pf_record_fit_fill(v, at, &f, &r);
        if (v->session && !closely(v, &r))
            return false;
        at += f.size + extra;
    }
    return n >= least;
}

/* Whether the record would be as it should be if it ended in front of its byte `end`, and what
 * follows were another: then the two have become one, by a wrong size.  A header alone can be
 * anything. */
static bool ends_at(const pf_record_fit *v, perfile_bytes record, size_t end)
{
    perfile_record r;
    pf_frame f = pf_frame_at(record.ptr, v->swap);
    if (end < PF_PERF_RECORD_HEADER || record.len - end <= PF_PERF_RECORD_HEADER)
        return false;
    f.size = (uint32_t)end;
    pf_record_fit_fill(v, record.ptr, &f, &r);
    return pf_record_fit_record(&r) == 0 && pf_record_fit_closely(v, &r) == 0;
}

bool pf_perf_swallows(pf_record_fit *v, perfile_bytes record)
{
    v->budget = (int64_t)record.len * 64 + 4096;
    for (size_t from = 1; from < record.len && v->budget > 0; from++) {
        unsigned n = 0;
        size_t at = from;
        for (; n < CHAIN; n++) {
            perfile_record r;
            if (!pf_perf_header_plausible(record.ptr + at, record.len - at, v->swap))
                break;
            pf_frame f = pf_frame_at(record.ptr + at, v->swap);
            pf_record_fit_fill(v, record.ptr + at, &f, &r);
            if (!closely(v, &r))
                break;
            at += f.size;
        }
        if (n == CHAIN || (n && at == record.len && ends_at(v, record, from)))
            return true;
    }
    return false;
}

size_t pf_perf_resync(pf_record_fit *v, perfile_bytes bytes, size_t from)
{
    /* A file made for it could have a long record at every place. */
    v->budget = (int64_t)1 << 20;
    for (size_t at = from; at < bytes.len; at++) {
        v->budget += CREDIT;
        if (pf_perf_header_plausible(bytes.ptr + at, bytes.len - at, v->swap) &&
            pf_perf_is_chain(v, (perfile_bytes){bytes.ptr + at, bytes.len - at}, 0, 1))
            return at;
    }
    return bytes.len;
}

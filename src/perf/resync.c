/* Resynchronisation: finding the next records behind bytes that are no records.
 *
 * Every byte is a candidate: damage may shift records to any alignment.  Nearly all candidates fail
 * the cheap test of the header; the others must begin a chain of records that are examined closely.
 * A budget bounds that examination, so that no input makes the search slower than linear. */
#include "perf/salvage.h"

enum {
    CHAIN = 4,  /* plausible records in a row; fewer are accepted only at the end of the bytes */
    CREDIT = 32 /* budget gained per byte skipped; a close examination costs 16 or more */
};

/* True if nothing is odd about `r`.  Charges fit->budget in proportion to the work; false when the
 * budget is used up. */
static bool fits_closely(pf_record_fit *fit, const perfile_record *r)
{
    if (fit->budget <= 0)
        return false;
    fit->budget -= 16 + (r->body.len < 4096 ? (int64_t)r->body.len : 4096) / 16;
    return pf_record_fit_closely(fit, r) == 0;
}

bool pf_perf_is_chain(pf_record_fit *fit, perfile_bytes bytes, size_t upto, unsigned least)
{
    const uint8_t *at = bytes.ptr;
    const uint8_t *end = at + bytes.len;
    unsigned n = 0;
    for (; (n < CHAIN || (size_t)(at - bytes.ptr) < upto) && at < end; n++) {
        size_t left = (size_t)(end - at);
        if (!pf_perf_header_plausible(at, left, fit->swap))
            return false;
        perfile_record r;
        pf_frame f = pf_frame_at(at, fit->swap);
        uint64_t extra = pf_frame_extra(at, &f, fit->swap);
        if (extra > left - f.size)
            return false;
        pf_record_fit_fill(fit, at, &f, &r);
        if (fit->session && !fits_closely(fit, &r))
            return false;
        at += f.size + extra;
    }
    return n >= least;
}

/* True if the first `end` bytes of `record`, taken as a record of their own, fit: then a damaged
 * size has joined two records.  The rest must be more than a header, which alone proves nothing. */
static bool ends_at(const pf_record_fit *fit, perfile_bytes record, size_t end)
{
    perfile_record r;
    pf_frame f = pf_frame_at(record.ptr, fit->swap);
    if (end < PF_PERF_RECORD_HEADER || record.len - end <= PF_PERF_RECORD_HEADER)
        return false;
    f.size = (uint32_t)end;
    pf_record_fit_fill(fit, record.ptr, &f, &r);
    return pf_record_fit_record(&r) == 0 && pf_record_fit_closely(fit, &r) == 0;
}

bool pf_perf_may_be_newer(uint32_t type, size_t size)
{
    enum { NEWER = 256, SIMPLEPERF = 32768 };
    return size % 8 == 0 && (type < NEWER || type - SIMPLEPERF < NEWER);
}

bool pf_perf_swallows(pf_record_fit *fit, perfile_bytes record)
{
    fit->budget = (int64_t)record.len * 64 + 4096;
    for (size_t from = 1; from < record.len && fit->budget > 0; from++) {
        unsigned n = 0;
        size_t at = from;
        for (; n < CHAIN; n++) {
            perfile_record r;
            if (!pf_perf_header_plausible(record.ptr + at, record.len - at, fit->swap))
                break;
            pf_frame f = pf_frame_at(record.ptr + at, fit->swap);
            pf_record_fit_fill(fit, record.ptr + at, &f, &r);
            if (!fits_closely(fit, &r))
                break;
            at += f.size;
        }
        if (n == CHAIN || (n && at == record.len && ends_at(fit, record, from)))
            return true;
    }
    return false;
}

size_t pf_perf_resync(pf_record_fit *fit, perfile_bytes bytes, size_t from)
{
    /* A hostile file could begin a long plausible record at every byte; the budget bounds that. */
    fit->budget = (int64_t)1 << 20;
    for (size_t at = from; at < bytes.len; at++) {
        fit->budget += CREDIT;
        if (pf_perf_header_plausible(bytes.ptr + at, bytes.len - at, fit->swap) &&
            pf_perf_is_chain(fit, (perfile_bytes){bytes.ptr + at, bytes.len - at}, 0, 1))
            return at;
    }
    return bytes.len;
}

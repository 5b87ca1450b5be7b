/* Fragments of a large simpleperf record: their bodies are joined as they pass, as a reader of the
 * output will do, and the record that they make is yielded behind the last of them. */
#include "base/error.h"
#include "sort/sort.h"
#include "schema/frame.h"

perfile_status pf_sort_join_fragment(pf_sort *x, perfile_error *err)
{
    const perfile_record *r = &x->base.run[0];
    x->in_fragments = x->base.n_run == 1 && r->flags & PERFILE_REC_ENVELOPE;
    if (!x->in_fragments)
        return PERFILE_OK;
    if (x->joined.len + r->body.len > x->base.limits.split_bytes)
        return pf_fail(err, PERFILE_E_LIMIT, "split_bytes",
                       "a record in fragments has more than %llu bytes, the limit",
                       (unsigned long long)x->base.limits.split_bytes);
    x->joined_ready = pf_is_last_fragment(r);
    if (!x->joined_ready && !pf_buffer_append(&x->joined, r->body.ptr, r->body.len))
        return pf_fail_nomem(err, "sort");
    return PERFILE_OK;
}

void pf_sort_make_joined(pf_sort *x)
{
    perfile_record last = x->base.run[0];
    x->joined_ready = x->in_fragments = false;
    x->joined_yielded = true;
    bool swap = last.flags & PERFILE_REC_SWAPPED;
    size_t len = x->joined.len;
    const uint8_t *at = x->joined.ptr;
    if (len < PF_PERF_RECORD_HEADER)
        return;
    perfile_record *r = pf_sort_unprepared_slot(x, 0);
    *r = (perfile_record){.flags = (uint8_t)(PERFILE_REC_INNER | (swap ? PERFILE_REC_SWAPPED : 0)),
                          .offset = last.offset,
                          .envelope = last.sequence,
                          .part = last.part,
                          .session = x->base.session};
    pf_sort_frame(r, at, swap);
    if (perfile_record_size(r) != len)
        return;
    r->sequence = x->sequence++;
    x->base.n_run = 1;
}

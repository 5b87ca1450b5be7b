/* Byte-swapping of simpleperf records above 64 KiB, which are stored in fragments; see
 * byteswap.h. */
#include "base/error.h"
#include "core/swap.h"
#include "stage/byteswap.h"
#include "schema/family.h"

perfile_status pf_byteswap_hold_fragment(pf_byteswap *o, const perfile_record *r,
                                         perfile_error *err)
{
    perfile_record fragment = *r;
    size_t size = perfile_record_size(r);
    size_t at = o->held.len;
    if (!pf_buffer_reserve(&o->held, size) ||
        !pf_buffer_append(&o->fragments, &fragment, sizeof fragment))
        return pf_fail_nomem(err, "order");
    /* Swaps the header of the fragment; its body is stored as it is until the joined record
     * comes. */
    (void)pf_swap_record(r, o->held.ptr + at, NULL);
    if (r->body.len)
        memcpy(o->held.ptr + at + PF_PERF_RECORD_HEADER, r->body.ptr, r->body.len);
    o->held.len += size;
    return PERFILE_OK;
}

/* The `i`-th held fragment. */
static const perfile_record *fragment_at(const pf_byteswap *o, size_t i)
{
    return (const perfile_record *)(const void *)o->fragments.ptr + i;
}

void pf_byteswap_fill_fragments(pf_byteswap *o, perfile_bytes joined)
{
    size_t n = o->fragments.len / sizeof(perfile_record);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const perfile_record *r = fragment_at(o, i);
        size_t some = r->body.len < joined.len ? r->body.len : joined.len;
        if (some)
            memcpy(o->held.ptr + at + PF_PERF_RECORD_HEADER, joined.ptr, some);
        joined.ptr += some;
        joined.len -= some;
        at += perfile_record_size(r);
    }
}

bool pf_byteswap_next_fragment(pf_byteswap *o)
{
    size_t n = o->fragments.len / sizeof(perfile_record);
    if (o->n_fragments_yielded == n) {
        pf_buffer_clear(&o->fragments);
        pf_buffer_clear(&o->held);
        o->n_fragments_yielded = 0;
        return false;
    }
    const perfile_record *r = fragment_at(o, o->n_fragments_yielded);
    if (o->n_fragments_yielded++)
        pf_buffer_consume_front(&o->held, perfile_record_size(r - 1));
    o->base.run[0] = pf_byteswap_record(o, r, o->held.ptr);
    o->base.n_run = 1;
    return true;
}

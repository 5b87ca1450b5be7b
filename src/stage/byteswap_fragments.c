/* Records above 64 KiB, which simpleperf stores in pieces. */
#include "base/error.h"
#include "core/swap.h"
#include "stage/byteswap.h"
#include "schema/family.h"

perfile_status pf_byteswap_hold(pf_byteswap *o, const perfile_record *r, perfile_error *err)
{
    perfile_record piece = *r;
    size_t size = perfile_record_size(r);
    size_t at = o->held.len;
    if (!pf_buffer_reserve(&o->held, size) || !pf_buffer_append(&o->pieces, &piece, sizeof piece))
        return pf_fail_nomem(err, "order");
    /* What it is a piece of is turned when all of it is there. */
    (void)pf_swap_record(r, o->held.ptr + at, NULL);
    if (r->body.len)
        memcpy(o->held.ptr + at + PF_PERF_RECORD_HEADER, r->body.ptr, r->body.len);
    o->held.len += size;
    return PERFILE_OK;
}

static const perfile_record *piece_at(const pf_byteswap *o, size_t i)
{
    return (const perfile_record *)(const void *)o->pieces.ptr + i;
}

void pf_byteswap_cut(pf_byteswap *o, perfile_bytes whole)
{
    size_t n = o->pieces.len / sizeof(perfile_record);
    size_t at = 0;
    for (size_t i = 0; i < n; i++) {
        const perfile_record *r = piece_at(o, i);
        size_t some = r->body.len < whole.len ? r->body.len : whole.len;
        if (some)
            memcpy(o->held.ptr + at + PF_PERF_RECORD_HEADER, whole.ptr, some);
        whole.ptr += some;
        whole.len -= some;
        at += perfile_record_size(r);
    }
}

bool pf_byteswap_piece(pf_byteswap *o)
{
    size_t n = o->pieces.len / sizeof(perfile_record);
    if (o->pieces_out == n) {
        pf_buffer_clear(&o->pieces);
        pf_buffer_clear(&o->held);
        o->pieces_out = 0;
        return false;
    }
    const perfile_record *r = piece_at(o, o->pieces_out);
    if (o->pieces_out++)
        pf_buffer_consume_front(&o->held, perfile_record_size(r - 1));
    o->base.run[0] = pf_byteswap_moved(o, r, o->held.ptr);
    o->base.n_run = 1;
    return true;
}

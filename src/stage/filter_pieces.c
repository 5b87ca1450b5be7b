#include "stage/filter_pieces.h"

#include "base/error.h"

perfile_status pf_pieces_hold(pf_pieces *p, const perfile_record *r, perfile_error *err)
{
    return pf_buffer_append(&p->records, r, sizeof *r) &&
                   pf_buffer_append(&p->bytes, r->header, perfile_record_size(r))
               ? PERFILE_OK
               : pf_fail_nomem(err, "filter");
}

static void forget(pf_pieces *p)
{
    pf_buffer_clear(&p->records);
    pf_buffer_clear(&p->bytes);
    p->given = p->given_bytes = 0;
    p->giving = false;
}

static const perfile_record *all_of(const pf_pieces *p, size_t *n)
{
    *n = p->records.len / sizeof(perfile_record);
    return (const perfile_record *)(const void *)p->records.ptr;
}

void pf_pieces_settle(pf_pieces *p, const perfile_record *next, bool kept)
{
    size_t n;
    const perfile_record *all = all_of(p, &n);
    if (n == 0)
        return;
    bool whole = next->flags & PERFILE_REC_INNER && next->envelope == all[n - 1].sequence;
    if (whole && !kept)
        forget(p);
    else
        p->giving = true;
}

bool pf_pieces_give(pf_pieces *p, perfile_record *r)
{
    enum { HEADER = 8 };
    size_t n;
    const perfile_record *all = all_of(p, &n);
    if (p->given == n) {
        forget(p);
        return false;
    }
    *r = all[p->given++];
    r->header = p->bytes.ptr + p->given_bytes;
    r->body.ptr = r->header + HEADER;
    r->flags &= (uint8_t) ~(unsigned)PERFILE_REC_STABLE;
    p->given_bytes += perfile_record_size(r);
    return true;
}

void pf_pieces_free(pf_pieces *p)
{
    pf_buffer_free(&p->records);
    pf_buffer_free(&p->bytes);
}

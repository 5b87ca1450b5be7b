/* Held fragments of large simpleperf records; see fragments.h. */
#include "stage/fragments.h"

#include "base/error.h"
#include "schema/rows.h"

perfile_status pf_fragments_hold(pf_fragments *p, const perfile_record *r, perfile_error *err)
{
    return pf_buffer_append(&p->records, r, sizeof *r) &&
                   pf_buffer_append(&p->bytes, r->header, perfile_record_size(r))
               ? PERFILE_OK
               : pf_fail_nomem(err, "pieces");
}

/* Makes `p` empty without freeing memory. */
static void forget(pf_fragments *p)
{
    pf_buffer_clear(&p->records);
    pf_buffer_clear(&p->bytes);
    p->n_yielded = p->yielded_bytes = 0;
    p->giving = false;
}

/* Returns the held fragments; *n receives their number. */
static const perfile_record *all_of(const pf_fragments *p, size_t *n)
{
    *n = p->records.len / sizeof(perfile_record);
    return (const perfile_record *)(const void *)p->records.ptr;
}

/* Finds the fragments of a joined record of `size` bytes: the last held ones with bodies that add
 * up to it.  Earlier fragments belong to a record that was never completed, and are skipped.  The
 * last fragment only marks the end: its body does not count.  If no sum fits, drops all and returns
 * false. */
static bool skip_others(pf_fragments *p, uint64_t size)
{
    size_t n;
    const perfile_record *all = all_of(p, &n);
    p->n_yielded = n;
    p->yielded_bytes = p->bytes.len;
    while (p->n_yielded && size) {
        const perfile_record *r = &all[p->n_yielded - 1];
        size_t part = pf_is_last_fragment(r) ? 0 : r->body.len;
        if (part > size)
            break;
        size -= part;
        p->n_yielded--;
        p->yielded_bytes -= perfile_record_size(r);
    }
    if (size)
        forget(p);
    return size == 0;
}

void pf_fragments_resolve(pf_fragments *p, const perfile_record *next, bool kept)
{
    size_t n;
    const perfile_record *all = all_of(p, &n);
    if (n == 0)
        return;
    /* `envelope` of a joined record is the sequence of its last fragment. */
    bool is_joined = next->flags & PERFILE_REC_INNER && next->envelope == all[n - 1].sequence;
    if (is_joined && kept)
        p->giving = skip_others(p, perfile_record_size(next));
    else if (is_joined || pf_is_last_fragment(&all[n - 1]))
        forget(p);
}

bool pf_fragments_next(pf_fragments *p, perfile_record *r)
{
    size_t n;
    const perfile_record *all = all_of(p, &n);
    if (p->n_yielded == n) {
        forget(p);
        return false;
    }
    /* The bytes are in a buffer that may move, so they are not persistent any more. */
    *r = all[p->n_yielded++];
    r->header = p->bytes.ptr + p->yielded_bytes;
    r->body.ptr = r->header + PF_PERF_RECORD_HEADER;
    r->flags &= (uint8_t) ~(unsigned)PERFILE_REC_STABLE;
    p->yielded_bytes += perfile_record_size(r);
    return true;
}

void pf_fragments_free(pf_fragments *p)
{
    pf_buffer_free(&p->records);
    pf_buffer_free(&p->bytes);
}

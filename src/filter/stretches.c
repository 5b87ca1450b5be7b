#include "filter/stretches.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { WORTH = 1 };
#else
enum { WORTH = 64 << 10 }; /* bytes: less is in memory anyway, together with what is wanted */
#endif

enum { MOST = 1 << 20 }; /* bytes of what is noted; what follows is read by each pass */

/* Where the samples of a run lie in the file; no bytes: they are in compressed records, are not one
 * behind the other, or other records are among them. */
static pf_stretch place_of(const pf_run *run)
{
    const perfile_record *first = run->first;
    pf_stretch place = {first->offset, 0, first->sequence, run->n, first->part};
    if (run->samples != run->all || !run->in_a_row || first->flags & PERFILE_REC_INNER)
        return place;
    if (run->stride) {
        place.bytes = run->n * run->stride;
        return place;
    }
    const perfile_record *last = first + run->n - 1;
    if (last->part == first->part && last->offset >= first->offset)
        place.bytes = last->offset - first->offset + perfile_record_size(last);
    return place;
}

void pf_stretches_settle(pf_stretches *x)
{
    if (x->open.bytes >= WORTH && x->found.len < MOST)
        (void)pf_buffer_append(&x->found, &x->open, sizeof x->open); /* else it is read again */
    x->open = (pf_stretch){0};
}

void pf_stretches_note(pf_stretches *x, const pf_run *run)
{
    const pf_stretch more = place_of(run);
    pf_stretch *open = &x->open;
    if (!more.bytes)
        return;
    if (more.part == open->part && more.offset == open->offset + open->bytes &&
        more.sequence == open->sequence + open->records) {
        open->bytes += more.bytes;
        open->records += more.records;
        return;
    }
    pf_stretches_settle(x);
    *open = more;
}

bool pf_stretches_pass(pf_stretches *x, perfile_stream *s, pf_stretch *passed)
{
    const pf_stretch *all = (const pf_stretch *)(const void *)x->found.ptr;
    const size_t n = x->found.len / sizeof *all;
    pf_stretch here;
    if (x->next == n || !s->ops->place || !s->ops->place(s, &here))
        return false;
    while (x->next < n && all[x->next].sequence + all[x->next].records <= here.sequence)
        x->next++;
    if (x->next == n)
        return false;
    const pf_stretch *at = &all[x->next];
    uint64_t records = here.sequence - at->sequence, bytes = here.offset - at->offset;
    if (at->part != here.part || here.sequence < at->sequence || here.offset < at->offset ||
        bytes >= at->bytes || at->bytes - bytes > here.bytes)
        return false;
    here.records = at->records - records;
    here.bytes = at->bytes - bytes;
    s->ops->skip(s, here.records, here.bytes);
    *passed = here;
    return true;
}

void pf_stretches_free(pf_stretches *x)
{
    pf_buffer_free(&x->found);
}

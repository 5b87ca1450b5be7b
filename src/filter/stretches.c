/* Ranges of a file without a selected record; see stretches.h. */
#include "filter/stretches.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { LEAST_BYTES = 1 };
#else
/* Bytes of a range from which on skipping pays: a shorter one shares pages and blocks with what is
 * read anyway. */
enum { LEAST_BYTES = 64 << 10 };
#endif

enum { MOST = 1 << 20 }; /* bytes of `found`; ranges beyond that are read by each pass */

/* Returns the range of a run in the file. bytes 0: it has none that can be skipped, since its
 * records came from compressed ones, do not follow each other, or are not all samples. */
static pf_record_range range_of(const pf_run *run)
{
    const perfile_record *first = run->first;
    pf_record_range place = {first->offset, 0, first->sequence, run->n, first->part};
    if (run->samples != run->all || !run->consecutive || first->flags & PERFILE_REC_INNER)
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

void pf_stretches_finish(pf_stretches *x)
{
    if (x->open.bytes >= LEAST_BYTES && x->found.len < MOST)
        (void)pf_buffer_append(&x->found, &x->open,
                               sizeof x->open); /* on failure the last pass reads it again */
    x->open = (pf_record_range){0};
}

/* Grows the open range if the run follows it in the file and in the stream. */
void pf_stretches_note(pf_stretches *x, const pf_run *run)
{
    const pf_record_range more = range_of(run);
    pf_record_range *open = &x->open;
    if (!more.bytes)
        return;
    if (more.part == open->part && more.offset == open->offset + open->bytes &&
        more.sequence == open->sequence + open->records) {
        open->bytes += more.bytes;
        open->records += more.records;
        return;
    }
    pf_stretches_finish(x);
    *open = more;
}

bool pf_stretches_skip(pf_stretches *x, perfile_stream *s, pf_record_range *passed)
{
    const pf_record_range *all = (const pf_record_range *)(const void *)x->found.ptr;
    const size_t n = x->found.len / sizeof *all;
    pf_record_range here;
    if (x->next == n || !s->ops->place || !s->ops->place(s, &here))
        return false;
    /* Ranges that the stream has passed are of no use any more. */
    while (x->next < n && all[x->next].sequence + all[x->next].records <= here.sequence)
        x->next++;
    if (x->next == n)
        return false;
    const pf_record_range *at = &all[x->next];
    uint64_t records = here.sequence - at->sequence, bytes = here.offset - at->offset;
    /* Only if the stream stands inside of the range, and the rest of that lies in the bytes that
     * the stream can skip. */
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

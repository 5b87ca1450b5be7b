/* Examining runs; see run.h.  The properties that the driver found (pf_batch) are used if they are
 * known, so most runs are not examined a second time. */
#include "stage/run.h"

#include "schema/rows.h"

/* Returns the bytes of a sample's body up to the end of its last fixed field; 0 if there is
 * none. */
static size_t fixed_bytes(const perfile_layout *l)
{
    int last = -1;
    /* Slots of bits that are in no table are -1.  The loop skips them, because it runs for every
     * run. */
    for (size_t i = 0; i < PERFILE_SAMPLE_BITS; i++)
        last = l->sample_slot[i] > last ? l->sample_slot[i] : last;
    return 8 * (size_t)(last + 1);
}

size_t pf_run_least_bytes(const perfile_layout *layout)
{
    return PF_PERF_RECORD_HEADER + fixed_bytes(layout);
}

/* Returns the bits of the samples of perf's own family. */
static uint64_t samples_of(const perfile_record *first, size_t n)
{
    uint64_t yes = 0;
    for (size_t i = 0; i < n; i++)
        yes |= (uint64_t)(first[i].type == PERFILE_RECORD_SAMPLE &&
                          first[i].family == PERFILE_FAMILY_PERF)
               << i;
    return yes;
}

uint64_t pf_run_data(const pf_run *run)
{
    uint64_t yes = 0;
    for (size_t i = 0; i < run->n; i++)
        yes |= (uint64_t)(pf_role_of(&run->first[i]) == PF_ROLE_DATA) << i;
    return yes;
}

/* Returns types and sizes of the run, from the driver if it knows them, otherwise from the
 * records. */
static pf_batch batch_of(const perfile_stream *s, const perfile_record *first, size_t n)
{
    pf_batch b = pf_stream_batch(s, first, n);
    if (b.longest)
        return b;
    b.samples_only = true;
    b.shortest = UINT16_MAX;
    for (size_t i = 0; i < n; i++) {
        size_t size = first[i].body.len + PF_PERF_RECORD_HEADER;
        b.samples_only &= first[i].type == PERFILE_RECORD_SAMPLE;
        b.shortest = size < b.shortest ? (uint16_t)size : b.shortest;
    }
    return b;
}

pf_run pf_run_examine(const perfile_stream *s, const perfile_record *first, size_t n)
{
    const pf_batch b = batch_of(s, first, n);
    pf_run run = {.first = first, .n = n, .all = pf_run_bits(n)};
    bool odd = !b.samples_only || first->family != PERFILE_FAMILY_PERF;
    const perfile_layout *l = pf_session_layout(first->session);
    run.samples = odd ? samples_of(first, n) : run.all;
    /* Even runs are read as little-endian words, so on big-endian machines there are none. */
    if (!odd && l && !PF_NATIVE_BIG && !(first->flags & PERFILE_REC_SWAPPED) &&
        b.shortest >= pf_run_least_bytes(l))
        run.even = l;
    run.consecutive = first[n - 1].sequence - first->sequence == n - 1;
    /* In contiguous records of one size, fields can be read without the records. */
    run.stride = b.contiguous && b.shortest == b.longest ? b.shortest : 0;
    return run;
}

pf_run pf_run_examine_any(const perfile_record *first, size_t n)
{
    /* Without a stream nothing is known about the records, so all are compared with the first in
     * family, session and byte order. */
    bool alike = true;
    for (size_t i = 1; i < n; i++)
        alike &= first[i].session == first->session && first[i].family == first->family &&
                 first[i].flags == first->flags;
    pf_run run = pf_run_examine(NULL, first, n);
    if (!alike) {
        run.even = NULL;
        run.samples = samples_of(first, n);
    }
    return run;
}

/* Examines runs; see run.h.  Uses what the driver found when it framed the run (pf_batch), so most
 * runs are not scanned again. */
#include "stage/run.h"

#include "schema/rows.h"

/* Returns the bytes of a sample's body up to the end of its last fixed field; 0 if there are
 * none. */
static size_t fixed_bytes(const perfile_layout *l)
{
    int last = -1;
    /* Bits from PERFILE_SAMPLE_BITS on never have a slot; not testing them saves time in every
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

/* Returns types and sizes of the run: from the driver if it knows them, else from the records. */
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
    /* Fields of even runs are read as little-endian words, so big-endian machines have none. */
    if (!odd && l && !PF_NATIVE_BIG && !(first->flags & PERFILE_REC_SWAPPED) &&
        b.shortest >= pf_run_least_bytes(l))
        run.even = l;
    run.consecutive = first[n - 1].sequence - first->sequence == n - 1;
    /* Contiguous records of one size: fields can be read without looking at the records. */
    run.stride = b.contiguous && b.shortest == b.longest ? b.shortest : 0;
    return run;
}

pf_run pf_run_examine_any(const perfile_record *first, size_t n)
{
    /* Without a stream there is no batch.  All records must have the family, session and flags of
     * the first one. */
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

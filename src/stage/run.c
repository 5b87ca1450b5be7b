#include "stage/run.h"

#include "core/state.h"

/* Bytes of a body up to the last of its fixed places; 0: there are none. */
static size_t fixed_bytes(const perfile_layout *l)
{
    int last = -1;
    for (size_t i = 0; i < sizeof l->sample_slot; i++)
        last = l->sample_slot[i] > last ? l->sample_slot[i] : last;
    return 8 * (size_t)(last + 1);
}

static uint64_t samples_of(const perfile_record *first, size_t n)
{
    uint64_t yes = 0;
    for (size_t i = 0; i < n; i++)
        yes |= (uint64_t)(first[i].type == PERFILE_RECORD_SAMPLE &&
                          first[i].family == PERFILE_FAMILY_PERF)
               << i;
    return yes;
}

pf_run pf_run_look(const perfile_record *first, size_t n)
{
    pf_run run = {.first = first, .n = n, .all = n == 64 ? UINT64_MAX : (UINT64_C(1) << n) - 1};
    uint32_t odd =
        (first->family ^ (uint32_t)PERFILE_FAMILY_PERF) | (first->flags & PERFILE_REC_SWAPPED);
    size_t shortest = SIZE_MAX;
    for (size_t i = 0; i < n; i++) {
        odd |= first[i].type ^ PERFILE_RECORD_SAMPLE;
        shortest = first[i].body.len < shortest ? first[i].body.len : shortest;
    }
    const perfile_layout *l = first->session ? first->session->shared : NULL;
    run.samples = odd ? samples_of(first, n) : run.all;
    if (!odd && l && !PF_NATIVE_BIG && shortest >= fixed_bytes(l))
        run.even = l;
    return run;
}

pf_run pf_run_look_at_any(const perfile_record *first, size_t n)
{
    bool alike = true;
    for (size_t i = 1; i < n; i++)
        alike &= first[i].session == first->session && first[i].family == first->family &&
                 first[i].flags == first->flags;
    pf_run run = pf_run_look(first, n);
    if (!alike) {
        run.even = NULL;
        run.samples = samples_of(first, n);
    }
    return run;
}

/* Collects what the samples of a capture have, for the message of an empty result; see observed.h.
 */
#include "filter/filter.h"

#include <string.h>

#include "perfile/filter.h"
#include "perfile/records.h"

/* TID is one field of two halves: pid below, tid above. */
const pf_place pf_places[PF_PLACES] = {
    [PF_PLACE_TIME] = {PERFILE_FILTER_BY_TIME, PERFILE_SAMPLE_TIME, 0, UINT64_MAX},
    [PF_PLACE_PID] = {PERFILE_FILTER_BY_PID, PERFILE_SAMPLE_TID, 0, UINT32_MAX},
    [PF_PLACE_TID] = {PERFILE_FILTER_BY_TID, PERFILE_SAMPLE_TID, 32, UINT32_MAX},
    [PF_PLACE_CPU] = {PERFILE_FILTER_BY_CPU, PERFILE_SAMPLE_CPU, 0, UINT32_MAX},
    [PF_PLACE_IP] = {PERFILE_FILTER_BY_IP, PERFILE_SAMPLE_IP, 0, UINT64_MAX},
};

void pf_observed_begin(pf_observed *t)
{
    *t = (pf_observed){0};
    for (size_t k = 0; k < PF_PLACES; k++)
        /* Empty: least > most. */
        t->ranges[k] = (pf_observed_range){UINT64_MAX, 0};
}

pf_observed_range *pf_observed_place(pf_observed *t, unsigned k)
{
    t->looked |= 1U << k;
    return &t->ranges[k];
}

/* Of every sample: those of several processors are not in order. */
static void add_times(pf_observed *t, const pf_run *run)
{
    uint64_t times[PERFILE_RUN_RECORDS];
    size_t n = run->n;
    int slot = run->even ? run->even->sample_slot[__builtin_ctz(PERFILE_SAMPLE_TIME)] : -1;
    pf_observed_range *all = pf_observed_place(t, PF_PLACE_TIME);
    if (run->even && slot < 0)
        return;
    if (!run->even)
        n = perfile_sample_fields(run->first, n, PERFILE_SAMPLE_TIME, times, NULL);
    for (size_t i = 0; i < n; i++)
        pf_observed_widen(all, run->even ? pf_run_word(run, i, (size_t)slot) : times[i]);
}

/* Adds a name unless it is there; remembers that there were more when all slots are taken. */
static void add_name(pf_observed_names *all, perfile_bytes name)
{
    char text[PF_OBSERVED_NAME_BYTES];
    size_t n = name.len < sizeof text - 1 ? name.len : sizeof text - 1;
    if (!n)
        return;
    memcpy(text, name.ptr, n);
    text[n] = '\0';
    for (size_t i = 0; i < all->n; i++)
        if (strcmp(all->at[i], text) == 0)
            return;
    all->more |= all->n == PF_OBSERVED_MAX_NAMES;
    if (all->n < PF_OBSERVED_MAX_NAMES)
        memcpy(all->at[all->n++], text, sizeof text);
}

/* The part behind the last slash. */
static perfile_bytes last_part(perfile_bytes path)
{
    for (size_t i = path.len; i; i--)
        if (path.ptr[i - 1] == '/')
            return (perfile_bytes){path.ptr + i, path.len - i};
    return path;
}

static void add_comm(pf_observed *t, const perfile_record *r)
{
    perfile_comm comm;
    if (r->type == PERFILE_RECORD_COMM &&
        perfile_comm_decode(r, &comm, sizeof comm, NULL) == PERFILE_OK)
        add_name(&t->comms, comm.comm);
}

static void add_file(pf_observed *t, const perfile_record *r)
{
    perfile_mmap mmap;
    perfile_mmap2 mmap2;
    if (r->type == PERFILE_RECORD_MMAP &&
        perfile_mmap_decode(r, &mmap, sizeof mmap, NULL) == PERFILE_OK)
        add_name(&t->files, last_part(mmap.filename));
    if (r->type == PERFILE_RECORD_MMAP2 &&
        perfile_mmap2_decode(r, &mmap2, sizeof mmap2, NULL) == PERFILE_OK)
        add_name(&t->files, last_part(mmap2.filename));
}

/* Names of threads and files come from COMM and MMAP records, not from samples. */
void pf_observed_look(pf_observed *t, const pf_run *run, uint32_t given)
{
    const uint32_t named = 1U << PERFILE_FILTER_BY_COMM | 1U << PERFILE_FILTER_BY_DSO;
    if (run->samples && !(given & (pf_place_kinds() | named)))
        add_times(t, run);
    if (!(given & named))
        return;
    for (uint64_t left = run->all & ~run->samples; left; left &= left - 1) {
        const perfile_record *r = &run->first[__builtin_ctzll(left)];
        if (given >> PERFILE_FILTER_BY_COMM & 1)
            add_comm(t, r);
        if (given >> PERFILE_FILTER_BY_DSO & 1)
            add_file(t, r);
    }
}

/* Narrowing a stream, for stages and for programs: see core/narrow.h. */
#include "core/narrow.h"

#include "base/alloc.h"

/* Of perfile_stream_describe(). */
struct pf_describing {
    pf_narrow narrow;
    bool (*enough)(void *user, const perfile_described *d);
    void *user;
    pf_buffer events; /* perfile_described_event */
};

void pf_stream_narrow(perfile_stream *s, const pf_narrow *how)
{
    const bool takes_all = how && how->takes_all;
    const bool possible =
        takes_all ? s->below || (!s->begun && !s->describing && s->origin) : s->below == NULL;
    if (s->ops->narrow && possible)
        s->ops->narrow(s, how);
}

uint64_t pf_zone_bytes(const pf_zone *z)
{
    uint64_t bytes = 0;
    for (uint32_t i = 0; i < z->types.n; i++)
        bytes += z->types.at[i].bytes;
    return bytes;
}

uint64_t pf_zone_plain_samples(const pf_zone *z)
{
    const pf_zone_count *samples = pf_zone_only_samples(z);
    const pf_zone_count *rounds = pf_zone_counts_find(&z->types, PERFILE_RECORD_FINISHED_ROUND);
    const bool plain = samples && z->apart == (rounds ? rounds->records : 0);
    return plain ? samples->records : 0;
}

const pf_zone_count *pf_zone_only_samples(const pf_zone *z)
{
    const pf_zone_count *samples = pf_zone_counts_find(&z->types, PERFILE_RECORD_SAMPLE);
    const bool only =
        z->types.known && z->has_apart && samples && samples->records == z->records - z->apart;
    return only ? samples : NULL;
}

static bool add_event(pf_buffer *events, const pf_zone_count *count)
{
    const perfile_described_event e = {count->key, count->records};
    return pf_buffer_append(events, &e, sizeof e);
}

/* pf_narrow.needs: describes the samples of the zone to the program. */
static unsigned describe(void *user, const pf_zone *z, uint64_t sequence)
{
    (void)sequence;
    struct pf_describing *x = user;
    const pf_zone_count *samples = pf_zone_only_samples(z);
    if (!samples || !z->events.known)
        return PF_NEED_ALL;
    pf_buffer_clear(&x->events);
    for (uint32_t i = 0; i < z->events.n; i++)
        if (!add_event(&x->events, &z->events.at[i]))
            return PF_NEED_ALL;
    const perfile_described d = {.samples = samples->records,
                                 .sample_bytes = samples->bytes,
                                 .first_time = z->has_data_times ? z->data_first : PERFILE_NO_TIME,
                                 .last_time = z->has_data_times ? z->data_last : PERFILE_NO_TIME,
                                 .events =
                                     (const perfile_described_event *)(const void *)x->events.ptr,
                                 .n_events = z->events.n,
                                 .pids = z->pids.known ? z->pids.at : NULL,
                                 .n_pids = z->pids.known ? z->pids.n : 0,
                                 .tids = z->tids.known ? z->tids.at : NULL,
                                 .n_tids = z->tids.known ? z->tids.n : 0,
                                 .cpus = z->cpus.known ? z->cpus.at : NULL,
                                 .n_cpus = z->cpus.known ? z->cpus.n : 0};
    return x->enough(x->user, &d) ? PF_NEED_APART : PF_NEED_ALL;
}

bool perfile_stream_describe(perfile_stream *s,
                             bool (*enough)(void *user, const perfile_described *d), void *user)
{
    if (!s->ops->narrow || s->below || s->begun || s->describing || !s->origin)
        return false;
    struct pf_describing *x = pf_alloc(1, sizeof *x);
    if (!x)
        return false;
    x->narrow = (pf_narrow){.needs = describe, .user = x};
    x->enough = enough;
    x->user = user;
    s->describing = x;
    s->ops->narrow(s, &x->narrow);
    return true;
}

void pf_stream_describing_free(struct pf_describing *x)
{
    if (!x)
        return;
    pf_buffer_free(&x->events);
    pf_free(x);
}

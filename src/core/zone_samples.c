/* The loop over the samples of a run.
 *
 * Of each sample it reads id, task, processor and time, at the places that the layout of its event
 * says.  Threads and processors take turns, so that comparing with the sample before does not save
 * much: tables remember what samples had lately, by the low bits of a hash for tasks and ids, as a
 * bitmap for processors.  What is found there has been added already.
 *
 * The event of a sample depends on its id only (core/attribution.h) as long as the session learns
 * nothing new, which its generation tells. */
#include "core/zone.h"

#include <string.h>

#include "base/alloc.h"
#include "base/byte_order.h"
#include "core/layout.h"
#include "core/session.h"
#include "schema/family.h"

enum {
    TASKS = 256, /* remembered; powers of two */
    IDS = 64,
    CPUS = 1024 /* with higher numbers the set is asked each time */
};

/* An event, by an id that samples have. */
typedef struct recent_id {
    uint64_t id;
    const perfile_layout *layout; /* NULL: unknown */
    uint64_t samples;             /* that are not counted in z->events yet */
    uint32_t index;               /* of the event */
    bool taken;
    bool has_event; /* false: the id is of no known event */
} recent_id;

struct pf_zone_recent {
    const perfile_session *session; /* what `ids` are of */
    uint64_t generation;
    recent_id ids[IDS];
    uint64_t tasks[TASKS]; /* both halves as stored */
    uint64_t cpus[CPUS / 64];
};

static inline size_t slot_of(uint64_t v, size_t slots)
{
    return (size_t)(v * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (slots - 1);
}

void pf_zone_recent_clear(pf_zone_recent *recent)
{
    memset(recent, 0, sizeof *recent);
    /* A slot is free if what is there belongs elsewhere: 0 belongs to slot 0, 1 does not. */
    recent->tasks[0] = 1;
}

void pf_zone_recent_count(pf_zone *z)
{
    for (size_t i = 0; i < IDS; i++) {
        recent_id *e = &z->recent->ids[i];
        /* The event has a count already, so that this cannot fail. */
        if (e->samples)
            (void)pf_zone_counts_add(&z->events, e->index, e->samples, 0);
        e->samples = 0;
    }
}

/* Makes `recent` fit for a run of this session. */
static bool prepare(pf_zone *z, const perfile_session *s)
{
    const uint64_t generation = perfile_session_generation(s);
    if (!z->recent) {
        z->recent = pf_alloc(1, sizeof *z->recent);
        if (!z->recent)
            return false;
        pf_zone_recent_clear(z->recent);
    }
    if (z->recent->session == s && z->recent->generation == generation)
        return true;
    pf_zone_recent_count(z);
    memset(z->recent->ids, 0, sizeof z->recent->ids);
    z->recent->session = s;
    z->recent->generation = generation;
    return true;
}

/* Fills *e with what the session says of a sample. */
static bool look_up(pf_zone *z, recent_id *e, const perfile_record *r, uint64_t id)
{
    const perfile_event *event = perfile_record_event(r);
    if (e->samples)
        (void)pf_zone_counts_add(&z->events, e->index, e->samples, 0); /* as above */
    *e = (recent_id){.id = id, .taken = true, .has_event = event != NULL};
    /* Equal layouts count as one, so that the loop changes its places only if it must. */
    e->layout = pf_session_layout(r->session);
    if (!e->layout)
        e->layout = event ? event->layout : perfile_record_layout(r, NULL);
    e->index = event ? event->index : 0;
    return !event || pf_zone_counts_add(&z->events, e->index, 0, 0);
}

/* The word at `slot` of the body; NULL: the sample has none there. */
static inline const uint8_t *word_at(const perfile_record *r, int slot)
{
    return slot >= 0 && r->body.len >= 8 * ((size_t)slot + 1) ? r->body.ptr + 8 * slot : NULL;
}

/* What is known of the sample's event; NULL: no memory.  `id_slot` is -1 of sessions with one
 * event, whose entry serves all samples.  In a session of several events a sample without id is
 * looked up each time. */
static inline recent_id *find_event(pf_zone *z, const perfile_record *r, int id_slot, bool one)
{
    const uint8_t *word = word_at(r, id_slot);
    const uint64_t id = word ? pf_load_u64(word, false) : 0;
    recent_id *e = &z->recent->ids[slot_of(id, IDS)];
    const bool found = e->taken && e->id == id && (word || one);
    return found || look_up(z, e, r, id) ? e : NULL;
}

/* A process and thread that samples did not have lately. */
static bool add_new_task(pf_zone *z, const uint8_t *word, bool swap)
{
    return pf_zone_set_add(&z->pids, pf_load_u32(word, swap)) &&
           pf_zone_set_add(&z->tids, pf_load_u32(word + 4, swap));
}

/* Where the samples of a layout have their fields; -1: nowhere. */
typedef struct places {
    const perfile_layout *layout;
    int task, cpu, time;
} places;

static inline places places_of(const perfile_layout *l)
{
    if (!l)
        return (places){NULL, -1, -1, -1};
    return (places){l, l->sample_slot[PF_SLOT_TID], l->sample_slot[PF_SLOT_CPU],
                    l->sample_slot[PF_SLOT_TIME]};
}

static inline bool add_task(pf_zone *z, const perfile_record *r, const places *at, bool swap)
{
    const uint8_t *word = word_at(r, at->task);
    if (!word) {
        z->tids.known = z->pids.known = false;
        return true;
    }
    const uint64_t both = pf_load_u64(word, false);
    uint64_t *known = &z->recent->tasks[slot_of(both, TASKS)];
    if (*known != both && !add_new_task(z, word, swap))
        return false;
    *known = both;
    return true;
}

static inline bool add_cpu(pf_zone *z, const perfile_record *r, const places *at, bool swap)
{
    const uint8_t *word = word_at(r, at->cpu);
    if (!word) {
        z->cpus.known = false;
        return true;
    }
    const uint32_t v = pf_load_u32(word, swap);
    if (v >= CPUS)
        return pf_zone_set_add(&z->cpus, v);
    uint64_t *known = &z->recent->cpus[v / 64];
    if (*known >> v % 64 & 1)
        return true;
    *known |= UINT64_C(1) << v % 64;
    return pf_zone_set_add(&z->cpus, v);
}

/* Adds the times of the samples of a run: `least` to `most` (none, if it is above), times that are
 * 0, and samples that have none. */
static void add_times(pf_zone *z, uint64_t least, uint64_t most, uint64_t zeros, uint64_t missing)
{
    z->untimed += zeros + missing;
    if (missing)
        z->data_untimed = true;
    if (zeros)
        pf_zone_widen(&z->data_first, &z->data_last, 0);
    if (least > most)
        return;
    pf_zone_widen(&z->first, &z->last, least);
    pf_zone_widen(&z->first, &z->last, most);
    pf_zone_widen(&z->data_first, &z->data_last, least);
    pf_zone_widen(&z->data_first, &z->data_last, most);
}

bool pf_zone_add_samples(pf_zone *z, const perfile_record *first, size_t n, size_t *done)
{
    const perfile_session *s = first->session;
    const bool swap = first->flags & PERFILE_REC_SWAPPED; /* as all records of a run */
    const bool one = perfile_session_n_events(s) == 1;
    const int id_slot = one ? -1 : pf_session_sample_id_slot(s);
    uint64_t bytes = 0, least = UINT64_MAX, most = 0, zeros = 0, missing = 0;
    places at = places_of(NULL);
    recent_id *e = NULL;
    size_t i = 0;
    if (!prepare(z, s))
        return false;
    for (; i < n && pf_zone_is_sample(&first[i]); i++) {
        const perfile_record *r = &first[i];
        if (!one || !e) {
            e = find_event(z, r, id_slot, one);
            if (!e)
                return false;
            if (e->layout != at.layout)
                at = places_of(e->layout);
        }
        e->samples += e->has_event;
        if (!add_task(z, r, &at, swap) || !add_cpu(z, r, &at, swap))
            return false;
        const uint8_t *word = word_at(r, at.time);
        const uint64_t time = word ? pf_load_u64(word, swap) : PERFILE_NO_TIME;
        if (time == 0)
            zeros++;
        else if (time == PERFILE_NO_TIME)
            missing++;
        else
            pf_zone_widen(&least, &most, time);
        bytes += r->body.len + PF_PERF_RECORD_HEADER;
    }
    add_times(z, least, most, zeros, missing);
    *done = i;
    return pf_zone_counts_add(&z->types, PERFILE_RECORD_SAMPLE, i, bytes);
}

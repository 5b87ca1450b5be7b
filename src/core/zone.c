/* Makes the zone of a chunk and answers questions about it; archive/meta.c stores it.
 *
 * Nearly all records are samples, which have their own loop at the end of this file.  All other
 * records are asked one by one for their time, process, thread and CPU. */
#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/checked.h"
#include "base/cursor.h"
#include "core/layout.h"
#include "core/swap.h"
#include "core/session.h"
#include "core/zone.h"
#include "schema/rows.h"
#include "core/command.h"

#include <stdlib.h>
#include <string.h>

bool pf_zone_is_apart(const perfile_record *r)
{
    const pf_row *row = r->family == PERFILE_FAMILY_PERF ? pf_row_of(r) : NULL;
    return row && row->role != PF_ROLE_DATA && row->role != PF_ROLE_AUX &&
           !(row->marks & (PF_ROW_ENVELOPE | PF_ROW_FRAGMENT));
}

/* Empties the zone and makes its members known or unknown. */
static void reset(pf_zone *z, bool known)
{
    const pf_zone old = *z;
    if (old.recent)
        pf_zone_recent_clear(old.recent);
    *z = (pf_zone){.types = old.types,
                   .events = old.events,
                   .tids = old.tids,
                   .pids = old.pids,
                   .cpus = old.cpus,
                   .recent = old.recent,
                   .has_lost = known,
                   .has_untimed = known,
                   .has_apart = known};
    pf_zone_counts_clear(&z->types, known);
    pf_zone_counts_clear(&z->events, known);
    pf_zone_set_clear(&z->tids, known);
    pf_zone_set_clear(&z->pids, known);
    pf_zone_set_clear(&z->cpus, known);
}

void pf_zone_clear(pf_zone *z)
{
    reset(z, true);
    z->open = true;
    z->first = z->data_first = UINT64_MAX; /* first > last means that there is no time yet */
}

void pf_zone_forget(pf_zone *z)
{
    reset(z, false);
}

void pf_zone_free(pf_zone *z)
{
    pf_zone_counts_free(&z->types);
    pf_zone_counts_free(&z->events);
    pf_zone_set_free(&z->tids);
    pf_zone_set_free(&z->pids);
    pf_zone_set_free(&z->cpus);
    pf_free(z->recent);
    *z = (pf_zone){0};
}

void pf_zone_seal(pf_zone *z)
{
    if (!z->open)
        return;
    z->open = false;
    if (z->recent)
        pf_zone_recent_count(z);
    if (z->hides) {
        const uint64_t records = z->records, apart = z->apart;
        pf_zone_forget(z);
        z->records = records;
        z->apart = apart;
        z->has_apart = true;
        return;
    }
    z->has_times = z->first <= z->last;
    z->has_data_times = z->data_first <= z->data_last && !z->data_untimed;
    pf_zone_set_seal(&z->tids);
    pf_zone_set_seal(&z->pids);
    pf_zone_set_seal(&z->cpus);
}

/* Records that are not samples. */

/* The values that a data record has.  If one is missing, its set becomes unknown. */
typedef struct places {
    bool pid, tid, cpu;
} places;

/* Adds the values of perfile_record_task() and perfile_record_cpu(), which filters use. */
static bool add_asked(pf_zone *z, const perfile_record *r, places *has)
{
    uint32_t pid, tid, cpu;
    bool ok = true;
    if (perfile_record_task(r, &pid, &tid)) {
        has->pid = has->tid = true;
        ok = pf_zone_set_add(&z->pids, pid) && pf_zone_set_add(&z->tids, tid);
    }
    if (perfile_record_cpu(r, &cpu)) {
        has->cpu = true;
        ok = ok && pf_zone_set_add(&z->cpus, cpu);
    }
    return ok;
}

/* Adds the record's own fields named pid, tid and cpu.  Expressions use them, and trailer fields
 * hide them from the functions above.  In records of tools, all ones means any thread or CPU, or
 * none.  In records of the kernel it is a value: the thread of the record no longer exists. */
static bool add_own(pf_zone *z, const perfile_record *r, places *has)
{
    const pf_row *row = pf_row_of(r);
    const unsigned need = row ? row->has & (PF_HAS_PID | PF_HAS_TID | PF_HAS_CPU) : 0;
    const bool tool = pf_is_of_tool(r);
    pf_own own = {0};
    if (!need || !pf_record_own(r, need, &own))
        return true;
    if (own.has_pid)
        has->pid = true;
    if (own.has_tid)
        has->tid = !tool || own.tid != PERFILE_NO_PID;
    if (own.has_cpu)
        has->cpu = !tool || own.cpu != UINT32_MAX;
    return (!own.has_pid || pf_zone_set_add(&z->pids, own.pid)) &&
           (!own.has_tid || pf_zone_set_add(&z->tids, own.tid)) &&
           (!own.has_cpu || pf_zone_set_add(&z->cpus, own.cpu));
}

/* Adds the other thread of SWITCH_CPU_WIDE. */
static bool add_related(pf_zone *z, const perfile_record *r)
{
    pf_cursor c = pf_cur(r->body, r->flags & PERFILE_REC_SWAPPED);
    if (r->type != PERFILE_RECORD_SWITCH_CPU_WIDE || pf_cur_left(&c) < 8)
        return true;
    const uint32_t pid = pf_cur_u32(&c);
    return pf_zone_set_add(&z->pids, pid) && pf_zone_set_add(&z->tids, pf_cur_u32(&c));
}

/* Adds the losses that a kernel record counts to `lost`. */
static void add_lost(pf_zone *z, const perfile_record *r)
{
    pf_cursor c = pf_cur(r->body, r->flags & PERFILE_REC_SWAPPED);
    if (r->type == PERFILE_RECORD_LOST)
        pf_cur_u64(&c); /* the id of the event */
    else if (r->type != PERFILE_RECORD_LOST_SAMPLES)
        return;
    const uint64_t lost = pf_cur_u64(&c);
    if (pf_add_u64(z->lost, lost, &z->lost))
        z->lost = UINT64_MAX; /* damage: no recording loses that much */
}

static void add_other_time(pf_zone *z, const perfile_record *r, bool apart)
{
    const uint64_t time = perfile_record_time(r);
    if (time == 0 || time == PERFILE_NO_TIME)
        z->untimed++;
    else
        pf_zone_widen(&z->first, &z->last, time);
    if (!apart && time == PERFILE_NO_TIME)
        z->data_untimed = true;
    else if (!apart)
        pf_zone_widen(&z->data_first, &z->data_last, time);
}

static bool add_other(pf_zone *z, const perfile_record *r)
{
    const bool apart = pf_zone_is_apart(r);
    places has = {false, false, false};
    z->apart += apart;
    if (pf_marks_of(r) & (PF_ROW_ENVELOPE | PF_ROW_FRAGMENT))
        z->hides = true;
    add_other_time(z, r, apart);
    if (r->family == PERFILE_FAMILY_PERF)
        add_lost(z, r);
    if (!pf_zone_counts_add(&z->types, r->type, 1, perfile_record_size(r)))
        return false;
    if (apart)
        return true;
    const bool ok = add_asked(z, r, &has) && add_own(z, r, &has) &&
                    (r->family != PERFILE_FAMILY_PERF || add_related(z, r));
    z->pids.known &= has.pid;
    z->tids.known &= has.tid;
    z->cpus.known &= has.cpu;
    return ok;
}

bool pf_zone_add(pf_zone *z, const perfile_record *first, size_t n)
{
    bool ok = true;
    if (z->records == 0 && first->session)
        z->tids.seed = z->pids.seed = z->cpus.seed = pf_session_seed(first->session);
    z->records += n;
    for (size_t i = 0, done; i < n && ok; i += done) {
        done = 1;
        ok = pf_zone_is_sample(&first[i]) ? pf_zone_add_samples(z, &first[i], n - i, &done)
                                          : add_other(z, &first[i]);
    }
    return ok;
}

/* Queries. */

bool pf_zone_has_type(const pf_zone *z, uint32_t type)
{
    return !z->types.known || pf_zone_counts_find(&z->types, type);
}

bool pf_zone_has_event(const pf_zone *z, uint32_t index)
{
    if (!z->events.known || !z->has_apart || pf_zone_counts_find(&z->events, index))
        return true;
    /* A data record that is not a sample with an event may belong to any event. */
    uint64_t samples = 0;
    for (uint32_t i = 0; i < z->events.n; i++)
        samples += z->events.at[i].records;
    return samples != z->records - z->apart;
}

bool pf_zone_meets_times(const pf_zone *z, uint64_t first, uint64_t last)
{
    if (z->has_apart && z->apart == z->records)
        return false; /* there is no data */
    return !z->has_data_times || (z->data_first <= last && first <= z->data_last);
}

/* Counts and sets of zones.
 *
 * A set is a list of its members and, while values are added, a hash table of them with open
 * addressing, at most half full.  For each chunk the table starts small and grows with its members,
 * in memory that is reused: clearing a large table for a chunk of few threads would cost more than
 * adding them.  There are few counts, so they are a sorted list with the index of the last count
 * that changed. */

enum { FIRST_SLOTS = 64 };

/* Returns the index of `v` (not 0) in the table, or of the free slot for it.  There is always
 * one. */
static inline uint32_t slot_of(const pf_zone_set *s, uint32_t v)
{
    const uint32_t mask = s->n_slots - 1;
    uint64_t h = (v ^ s->seed) * (s->seed | 1);
    h = (h ^ h >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    uint32_t i = (uint32_t)(h >> 32) & mask;
    while (s->slots[i] != v && s->slots[i] != 0)
        i = (i + 1) & mask;
    return i;
}

/* Doubles the table and adds the members again. */
static bool grow_slots(pf_zone_set *s)
{
    const uint32_t n = s->n_slots ? 2 * s->n_slots : FIRST_SLOTS;
    if (n > s->cap_slots) {
        uint32_t *more = pf_realloc(s->slots, n, sizeof *more);
        if (!more)
            return false;
        s->slots = more;
        s->cap_slots = n;
    }
    memset(s->slots, 0, n * sizeof *s->slots);
    s->n_slots = n;
    for (uint32_t i = 0; i < s->n; i++)
        if (s->at[i] != 0)
            s->slots[slot_of(s, s->at[i])] = s->at[i];
    return true;
}

/* Adds a value that is not a member. */
static bool add_member(pf_zone_set *s, uint32_t v)
{
    if (s->n == PF_ZONE_MOST_MEMBERS) {
        s->known = false;
        return true;
    }
    uint32_t *at = pf_array_more(s->at, s->n, &s->cap, sizeof *at);
    if (!at)
        return false;
    s->at = at;
    if (s->n >= s->n_slots / 2 && !grow_slots(s))
        return false;
    if (v == 0)
        s->has_zero = true;
    else
        s->slots[slot_of(s, v)] = v;
    s->at[s->n++] = v;
    return true;
}

bool pf_zone_set_add(pf_zone_set *s, uint32_t v)
{
    if (!s->known || (v == 0 ? s->has_zero : s->n_slots && s->slots[slot_of(s, v)] == v))
        return true;
    return add_member(s, v);
}

void pf_zone_set_clear(pf_zone_set *s, bool known)
{
    s->n = s->n_slots = 0;
    s->has_zero = false;
    s->known = known;
}

void pf_zone_set_free(pf_zone_set *s)
{
    pf_free(s->at);
    pf_free(s->slots);
    *s = (pf_zone_set){0};
}

/* qsort() order: ascending. */
static int compare_members(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

void pf_zone_set_seal(pf_zone_set *s)
{
    if (s->known && s->n)
        qsort(s->at, s->n, sizeof *s->at, compare_members);
}

bool pf_zone_set_meets(const pf_zone_set *s, uint32_t low, uint32_t high)
{
    /* The first member >= low is in from .. to. */
    uint32_t from = 0, to = s->n;
    if (!s->known)
        return true;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (s->at[middle] < low)
            from = middle + 1;
        else
            to = middle;
    }
    return from < s->n && s->at[from] <= high;
}

bool pf_zone_set_has(const pf_zone_set *s, uint32_t v)
{
    return pf_zone_set_meets(s, v, v);
}

/* Returns the index of the first count with a key >= `key`. */
static uint32_t position_of(const pf_zone_counts *c, uint64_t key)
{
    uint32_t from = 0, to = c->n;
    while (from < to) {
        const uint32_t middle = from + (to - from) / 2;
        if (c->at[middle].key < key)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

/* Inserts a count of 0 at position `i`. */
static bool insert_count(pf_zone_counts *c, uint32_t i, uint64_t key)
{
    pf_zone_count *at = pf_array_more(c->at, c->n, &c->cap, sizeof *at);
    if (!at)
        return false;
    c->at = at;
    memmove(at + i + 1, at + i, (c->n - i) * sizeof *at);
    at[i] = (pf_zone_count){.key = key};
    c->n++;
    return true;
}

bool pf_zone_counts_add(pf_zone_counts *c, uint64_t key, uint64_t records, uint64_t bytes)
{
    if (!c->known)
        return true;
    if (c->last >= c->n || c->at[c->last].key != key) {
        const uint32_t i = position_of(c, key);
        if (i == c->n || c->at[i].key != key) {
            /* The limit also bounds the cost of insertions, whatever keys the input has. */
            if (c->n == PF_ZONE_MOST_COUNTS) {
                c->known = c->has_bytes = false;
                return true;
            }
            if (!insert_count(c, i, key))
                return false;
        }
        c->last = i;
    }
    c->at[c->last].records += records;
    c->at[c->last].bytes += bytes;
    return true;
}

const pf_zone_count *pf_zone_counts_find(const pf_zone_counts *c, uint64_t key)
{
    const uint32_t i = position_of(c, key);
    return i < c->n && c->at[i].key == key ? &c->at[i] : NULL;
}

void pf_zone_counts_clear(pf_zone_counts *c, bool known)
{
    c->n = c->last = 0;
    c->known = c->has_bytes = known;
}

void pf_zone_counts_free(pf_zone_counts *c)
{
    pf_free(c->at);
    *c = (pf_zone_counts){0};
}

/* The loop over the samples of a run.
 *
 * It reads id, process, thread, CPU and time of each sample, at the positions in the layout of its
 * event.  Threads and CPUs alternate, so comparing with the previous sample would not save much.
 * Instead, tables remember recent values: hash tables for tasks and ids, a bitmap for CPUs.  A
 * value in these tables has been added already.
 *
 * The event of a sample depends only on its id (core/layout.h) as long as the session does not
 * change, which its generation shows. */

enum {
    TASKS = 256, /* entries of the tables; powers of two */
    IDS = 64,
    CPUS = 1024 /* larger numbers are added to the set each time */
};

/* An event, found by the id in a sample. */
typedef struct recent_id {
    uint64_t id;
    const perfile_layout *layout; /* NULL if unknown */
    uint64_t samples;             /* samples not yet counted in z->events */
    uint32_t index;               /* of the event */
    bool taken;
    bool has_event; /* false: no event has this id */
} recent_id;

struct pf_zone_recent {
    const perfile_session *session; /* session of `ids` */
    uint64_t generation;
    recent_id ids[IDS];
    uint64_t tasks[TASKS]; /* process and thread as stored */
    uint64_t cpus[CPUS / 64];
};

static inline size_t table_slot_of(uint64_t v, size_t slots)
{
    return (size_t)(v * UINT64_C(0x9e3779b97f4a7c15) >> 40) & (slots - 1);
}

void pf_zone_recent_clear(pf_zone_recent *recent)
{
    memset(recent, 0, sizeof *recent);
    /* A slot is free if its value belongs to another slot: 0 belongs to slot 0, 1 does not. */
    recent->tasks[0] = 1;
}

void pf_zone_recent_count(pf_zone *z)
{
    for (size_t i = 0; i < IDS; i++) {
        recent_id *e = &z->recent->ids[i];
        /* The event already has a count, so this cannot fail. */
        if (e->samples)
            (void)pf_zone_counts_add(&z->events, e->index, e->samples, 0);
        e->samples = 0;
    }
}

/* Prepares `recent` for a run of this session. */
static bool prepare(pf_zone *z, const perfile_session *s)
{
    const uint64_t generation = pf_session_generation(s);
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

/* Fills *e with the event and layout of a sample. */
static bool look_up(pf_zone *z, recent_id *e, const perfile_record *r, uint64_t id)
{
    const perfile_event *event = perfile_record_event(r);
    if (e->samples)
        (void)pf_zone_counts_add(&z->events, e->index, e->samples, 0); /* as above */
    *e = (recent_id){.id = id, .taken = true, .has_event = event != NULL};
    /* Equal layouts count as one, so the loop rarely has to change positions. */
    e->layout = pf_session_layout(r->session);
    if (!e->layout)
        e->layout = event ? event->layout : pf_record_layout(r, NULL);
    e->index = event ? event->index : 0;
    return !event || pf_zone_counts_add(&z->events, e->index, 0, 0);
}

/* Returns the word at `slot` of the body, or NULL. */
static inline const uint8_t *word_at(const perfile_record *r, int slot)
{
    return slot >= 0 && r->body.len >= 8 * ((size_t)slot + 1) ? r->body.ptr + 8 * slot : NULL;
}

/* Returns the entry for the sample's event, or NULL when out of memory.  `id_slot` is -1 in
 * sessions with one event, which use one entry for all samples.  In sessions with several events a
 * sample without id is looked up each time. */
static inline recent_id *find_event(pf_zone *z, const perfile_record *r, int id_slot, bool one)
{
    const uint8_t *word = word_at(r, id_slot);
    const uint64_t id = word ? pf_load_u64(word, false) : 0;
    recent_id *e = &z->recent->ids[table_slot_of(id, IDS)];
    const bool found = e->taken && e->id == id && (word || one);
    return found || look_up(z, e, r, id) ? e : NULL;
}

/* Adds a process and thread that recent samples did not have. */
static bool add_new_task(pf_zone *z, const uint8_t *word, bool swap)
{
    return pf_zone_set_add(&z->pids, pf_load_u32(word, swap)) &&
           pf_zone_set_add(&z->tids, pf_load_u32(word + 4, swap));
}

/* Positions of the fields in samples of a layout; -1 if there is none. */
typedef struct sample_places {
    const perfile_layout *layout;
    int task, cpu, time;
} sample_places;

static inline sample_places places_of(const perfile_layout *l)
{
    if (!l)
        return (sample_places){NULL, -1, -1, -1};
    return (sample_places){l, l->sample_slot[PF_SLOT_TID], l->sample_slot[PF_SLOT_CPU],
                           l->sample_slot[PF_SLOT_TIME]};
}

static inline bool add_task(pf_zone *z, const perfile_record *r, const sample_places *at, bool swap)
{
    const uint8_t *word = word_at(r, at->task);
    if (!word) {
        z->tids.known = z->pids.known = false;
        return true;
    }
    const uint64_t both = pf_load_u64(word, false);
    uint64_t *known = &z->recent->tasks[table_slot_of(both, TASKS)];
    if (*known != both && !add_new_task(z, word, swap))
        return false;
    *known = both;
    return true;
}

static inline bool add_cpu(pf_zone *z, const perfile_record *r, const sample_places *at, bool swap)
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

/* Adds the times of the samples of a run.  `least` to `most` are the times other than 0; there are
 * none if least > most.  `zeros` counts times that are 0, `missing` samples without time. */
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
    const bool swap = first->flags & PERFILE_REC_SWAPPED; /* the same for all records of a run */
    const bool one = pf_session_n_events(s) == 1;
    const int id_slot = one ? -1 : pf_session_sample_id_slot(s);
    uint64_t bytes = 0, least = UINT64_MAX, most = 0, zeros = 0, missing = 0;
    sample_places at = places_of(NULL);
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

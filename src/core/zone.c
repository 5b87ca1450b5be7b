/* Collecting the zone of a chunk, and the questions about it; zone_cbor.c stores it.
 *
 * Samples are nearly all records and have a loop of their own, in zone_samples.c.  All other
 * records are asked one by one for their time, task and processor. */
#include "core/zone.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/cursor.h"
#include "core/parts.h"
#include "core/session.h"
#include "schema/family.h"

bool pf_zone_is_apart(const perfile_record *r)
{
    const pf_row *row = r->family == PERFILE_FAMILY_PERF ? pf_row_of(r) : NULL;
    return row && row->role != PF_ROLE_DATA && row->role != PF_ROLE_AUX &&
           !(row->marks & (PF_ROW_ENVELOPE | PF_ROW_FRAGMENT));
}

/* Empties the zone, whose members are known or not. */
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
    z->first = z->data_first = UINT64_MAX; /* the least is above the greatest: no time so far */
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

/* Other records. */

/* What is known of the place of a data record.  Without it the set is not known. */
typedef struct places {
    bool pid, tid, cpu;
} places;

/* Adds what perfile_record_task() and _cpu() say, which is what filters ask. */
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

/* Adds the record's own fields called pid, tid and cpu, which expressions ask and which the fields
 * of the trailer hide from the functions above.  In records of tools all ones stand for any thread
 * or processor, or none; in those of the kernel they are a value: of a thread that is gone. */
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

/* Adds the other side of SWITCH_CPU_WIDE. */
static bool add_related(pf_zone *z, const perfile_record *r)
{
    pf_cursor c = pf_cur(r->body, r->flags & PERFILE_REC_SWAPPED);
    if (r->type != PERFILE_RECORD_SWITCH_CPU_WIDE || pf_cur_left(&c) < 8)
        return true;
    const uint32_t pid = pf_cur_u32(&c);
    return pf_zone_set_add(&z->pids, pid) && pf_zone_set_add(&z->tids, pf_cur_u32(&c));
}

/* Adds to `lost` what a record of the kernel counts. */
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

/* Questions. */

bool pf_zone_has_type(const pf_zone *z, uint32_t type)
{
    return !z->types.known || pf_zone_counts_find(&z->types, type);
}

bool pf_zone_has_event(const pf_zone *z, uint32_t index)
{
    if (!z->events.known || !z->has_apart || pf_zone_counts_find(&z->events, index))
        return true;
    /* Another record than a sample with an event may be of any event. */
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
 * A set is a list of its members and, while values are added, a hash table of them: open
 * addressing, at most half full.  The table of each chunk starts small and grows with its members,
 * in memory that is kept, because clearing a large one for a chunk of few threads would cost more
 * than adding them.  Counts are few: a sorted list, and the position that was counted last. */

enum { FIRST_SLOTS = 64 };

/* The position of `v`, not 0, in the table, or the free one where it belongs.  There is one. */
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

/* Doubles the table, and puts the members into it once more. */
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
    /* The first member that is not below `low` lies in from .. to. */
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

/* The position of the first count whose key is not below `key`. */
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
            /* The limit bounds the cost of insertions, too, whatever keys the input has. */
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

/* The event of a record, and single fields that are read without decoding the record.
 *
 * Time, process, thread and CPU are at known positions in a sample, or in the trailer of another
 * record; the positions are computed for each event (perfile_layout.sample_slot and trailer_slot).
 * For a record with neither, the body is decoded, and the fields listed in schema/rows.inc count:
 * pf_record_own().  Records are copied here, too. */
#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "core/layout.h"
#include "core/swap.h"
#include "core/facts.h"
#include "perfile/damage.h"
#include "perfile/field.h"
#include "perfile/record.h"
#include "schema/rows.h"
#include "core/command.h"
#include "schema/command.h"

#include <string.h>

static inline bool is_swapped(const perfile_record *r)
{
    return r->flags & PERFILE_REC_SWAPPED;
}

/* Returns word number `slot` of the body, or NULL. */
static inline const uint8_t *word_at(const perfile_record *r, int slot)
{
    return slot >= 0 && r->body.len >= 8 * ((size_t)slot + 1) ? r->body.ptr + 8 * slot : NULL;
}

/* Returns word number `slot` from the end of `b`, 1 being the last, or NULL. */
static inline const uint8_t *word_from_end(perfile_bytes b, int slot)
{
    return slot >= 1 && b.len >= 8 * (size_t)slot ? b.ptr + b.len - 8 * slot : NULL;
}

/* There are several events: the id in the record decides, at the position where the first event has
 * it.  Records with id 0, or too short for an id, belong to the first event, as in perf.  The last
 * id is not cached, because threads may look up records of one session at the same time, and the
 * map is as fast. */
pf_attribution pf_attribution_by_id(const perfile_record *r, const perfile_session *s)
{
    const pf_event *first = s->events[0];
    bool sample = r->type == PERFILE_RECORD_SAMPLE;
    if (!sample && !first->layout.sample_id_all)
        return pf_attribution_event(first);

    int slot = sample ? s->sample_id_slot : s->trailer_id_slot;
    if (slot >= 0) {
        const uint8_t *word = sample ? word_at(r, slot) : word_from_end(r->body, slot);
        if (!word)
            return pf_attribution_event(first);
        uint64_t id = pf_load_u64(word, is_swapped(r));
        if (id == 0)
            return pf_attribution_event(first);
        uint32_t owner = pf_ids_find(&s->ids, id);
        if (owner < s->n_events)
            return pf_attribution_event(s->events[owner]);
    }
    if (!pf_record_known(r->type)) /* it may have no trailer: its last bytes may not be an id */
        return (pf_attribution){NULL, NULL, 0};
    if (s->shared)
        return (pf_attribution){NULL, s->shared, 0};
    return (pf_attribution){NULL, NULL, PERFILE_DAMAGE_UNKNOWN_ID};
}

/* STAT records have the id of their event in the first field, and no trailer. */
const perfile_event *perfile_record_event(const perfile_record *r)
{
    if (r->type == PERFILE_RECORD_STAT && r->family == PERFILE_FAMILY_PERF && r->session) {
        const uint8_t *id = word_at(r, 0);
        return id ? perfile_session_event_by_id(r->session, pf_load_u64(id, is_swapped(r))) : NULL;
    }
    return pf_attribution_of(r).event;
}

const perfile_layout *pf_record_layout(const perfile_record *r, uint32_t *damage)
{
    pf_attribution w = pf_attribution_of(r);
    if (damage)
        *damage = w.damage;
    return w.layout;
}

/* Returns the 64-bit word of a sample or trailer with the field of this bit of sample_type, or
 * NULL. */
static const uint8_t *field_word(const perfile_record *r, int bit)
{
    uint32_t damage;
    const perfile_layout *l = pf_layout_of(r, &damage);
    if (!l)
        return NULL;
    if (r->type == PERFILE_RECORD_SAMPLE)
        return word_at(r, l->sample_slot[bit]);
    perfile_bytes body, trailer;
    if (l->trailer_slot[bit] < 1 || !pf_record_split(r, l, r->session->as_stored, &body, &trailer))
        return NULL;
    return word_from_end(trailer, l->trailer_slot[bit]);
}

/* The functions own_…() decode the record's body.  Speed matters for samples and trailers only. */
static uint64_t own_time(const perfile_record *r)
{
    pf_own own;
    return pf_record_own(r, PF_HAS_TIME, &own) && own.has_time ? own.time : PERFILE_NO_TIME;
}

/* Returns the time of a record that other records recorded. */
static uint64_t said_time(const perfile_record *r)
{
    const pf_family *f = pf_family_of(r->family);
    const perfile_session *s = r->session;
    if (!f || !f->ticks)
        return r->time;
    if (!s || !s->has_conversion)
        return PERFILE_NO_TIME;
    return pf_ticks_to_ns((int64_t)(r->time ^ PF_TICKS_BIAS), s->shift, s->mult);
}

uint64_t pf_record_order(const perfile_record *r)
{
    return r->flags & PERFILE_REC_TIMED ? r->time : perfile_record_time(r);
}

uint64_t perfile_record_time(const perfile_record *r)
{
    if (r->family != PERFILE_FAMILY_PERF)
        return r->flags & PERFILE_REC_TIMED ? said_time(r) : own_time(r);
    const uint8_t *word = field_word(r, PF_SLOT_TIME);
    return word ? pf_load_u64(word, is_swapped(r)) : own_time(r);
}

static bool own_task(const perfile_record *r, uint32_t *pid, uint32_t *tid)
{
    pf_own own;
    if (!pf_record_own(r, PF_HAS_PID | PF_HAS_TID, &own) || !own.has_pid || !own.has_tid)
        return false;
    *pid = own.pid;
    *tid = own.tid;
    return true;
}

bool perfile_record_task(const perfile_record *r, uint32_t *pid, uint32_t *tid)
{
    if (r->family != PERFILE_FAMILY_PERF)
        return own_task(r, pid, tid);
    const uint8_t *word = field_word(r, PF_SLOT_TID);
    if (!word)
        return own_task(r, pid, tid);
    *pid = pf_load_u32(word, is_swapped(r));
    *tid = pf_load_u32(word + 4, is_swapped(r));
    /* Tools write trailers of zeros in synthesized records; then the body has process and
     * thread. */
    if (*pid == 0 && *tid == 0 && r->type != PERFILE_RECORD_SAMPLE && perfile_record_time(r) == 0)
        own_task(r, pid, tid);
    return true;
}

static bool own_cpu(const perfile_record *r, uint32_t *cpu)
{
    pf_own own;
    if (!pf_record_own(r, PF_HAS_CPU, &own) || !own.has_cpu)
        return false;
    *cpu = own.cpu;
    return true;
}

/* Sets *cpu to the CPU of the record's file. */
static bool cpu_of_part(const perfile_record *r, uint32_t *cpu)
{
    const perfile_session *s = r->session;
    if (!s || r->part >= s->n_cpus_of_parts)
        return false;
    *cpu = s->cpus_of_parts[r->part];
    return true;
}

bool perfile_record_cpu(const perfile_record *r, uint32_t *cpu)
{
    if (r->family != PERFILE_FAMILY_PERF)
        return own_cpu(r, cpu) || cpu_of_part(r, cpu);
    const uint8_t *word = field_word(r, PF_SLOT_CPU);
    if (!word)
        return own_cpu(r, cpu);
    *cpu = pf_load_u32(word, is_swapped(r));
    return true;
}

/* Returns the value of a field of fixed size.  TID is two 32-bit numbers, each byte-swapped by
 * itself; CPU is the first half of its word. */
static uint64_t field_value(const uint8_t *word, uint64_t bit, bool swapped)
{
    if (bit == PERFILE_SAMPLE_TID)
        return pf_load_u32(word, swapped) | (uint64_t)pf_load_u32(word + 4, swapped) << 32;
    return bit == PERFILE_SAMPLE_CPU ? pf_load_u32(word, swapped) : pf_load_u64(word, swapped);
}

/* The fast path is for one layout and this machine's byte order. */
static bool sample_field(const perfile_record *r, uint64_t bit, uint64_t *value)
{
    if (r->type != PERFILE_RECORD_SAMPLE || !(bit & PERFILE_SAMPLE_KNOWN) || bit & (bit - 1) ||
        r->family != PERFILE_FAMILY_PERF || !r->session)
        return false;
    const perfile_layout *l = r->session->shared;
    if (!l) {
        l = pf_attribution_of(r).layout;
        if (!l)
            return false;
    }
    const uint8_t *word = word_at(r, l->sample_slot[__builtin_ctzll(bit)]);
    if (!word)
        return false;
    const uint64_t halves = PERFILE_SAMPLE_TID | PERFILE_SAMPLE_CPU;
    if (!is_swapped(r) && !(bit & halves))
        *value = pf_load_u64(word, false);
    else
        *value = field_value(word, bit, is_swapped(r));
    return true;
}

/* If all events have one layout, the slot is looked up once for all records. */
size_t perfile_sample_fields(const perfile_record *first, size_t n, uint64_t bit, uint64_t *values,
                             uint32_t *at)
{
    size_t found = 0;
    const perfile_layout *shared = n && first->session ? first->session->shared : NULL;
    bool one = bit & PERFILE_SAMPLE_KNOWN && !(bit & (bit - 1));
    int slot = shared && one ? shared->sample_slot[__builtin_ctzll(bit)] : -1;
    if (slot < 0) {
        for (size_t i = 0; i < n; i++)
            if (sample_field(first + i, bit, &values[found])) {
                if (at)
                    at[found] = (uint32_t)i;
                found++;
            }
        return found;
    }
    /* On a little-endian machine one 64-bit load returns TID and CPU in the order of the result. */
    bool halves = bit & (PERFILE_SAMPLE_TID | PERFILE_SAMPLE_CPU);
    bool plain = !PF_NATIVE_BIG || !halves;
    uint64_t mask = bit == PERFILE_SAMPLE_CPU ? UINT32_MAX : UINT64_MAX;
    size_t offset = 8 * (size_t)slot;
    for (size_t i = 0; i < n; i++) {
        const perfile_record *r = first + i;
        if (r->type != PERFILE_RECORD_SAMPLE || r->family != PERFILE_FAMILY_PERF ||
            r->body.len < offset + 8)
            continue;
        const uint8_t *word = r->body.ptr + offset;
        values[found] = plain && !is_swapped(r) ? pf_load_u64(word, false) & mask
                                                : field_value(word, bit, is_swapped(r));
        if (at)
            at[found] = (uint32_t)i;
        found++;
    }
    return found;
}

/* The copy is one block: the struct, then header, body and extra.  A damage record has no
 * header. */
perfile_status perfile_record_copy(const perfile_record *r, perfile_record **copy,
                                   perfile_error *err)
{
    bool damage = r->family == PERFILE_FAMILY_DAMAGE;
    size_t header = pf_family_header(r->family);
    size_t body = r->body.ptr ? r->body.len : 0;
    size_t extra = r->extra.ptr ? r->extra.len : 0;
    if (body > PTRDIFF_MAX / 2 || extra > PTRDIFF_MAX / 4)
        return pf_fail_nomem(err, "record");

    uint8_t *block = pf_alloc(1, sizeof *r + header + body + extra);
    if (!block)
        return pf_fail_nomem(err, "record");
    perfile_record *mine = (void *)block;
    uint8_t *bytes = block + sizeof *r;
    *mine = *r;
    mine->flags &= (uint8_t)~PERFILE_REC_STABLE;
    mine->header = NULL;
    if (!damage) {
        memcpy(bytes, r->header, header);
        mine->header = bytes;
        bytes += header;
    }
    if (r->body.ptr) {
        memcpy(bytes, r->body.ptr, body);
        mine->body.ptr = bytes;
        bytes += body;
    }
    if (r->extra.ptr) {
        memcpy(bytes, r->extra.ptr, extra);
        mine->extra.ptr = bytes;
    }
    *copy = mine;
    return PERFILE_OK;
}

void perfile_record_free(perfile_record *copy)
{
    pf_free(copy);
}

/* Walks that only test whether everything can be decoded. */

static void ignore_value(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void ignore_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

static const perfile_visitor ignore_all = {
    .size = sizeof ignore_all, .value = ignore_value, .begin = ignore_value, .end = ignore_end};

bool pf_record_readable(const perfile_record *r, uint32_t flags)
{
    return perfile_record_walk(r, flags, &ignore_all, NULL, NULL) == PERFILE_OK;
}

bool pf_feature_readable(const perfile_feature *f, uint32_t flags)
{
    return perfile_feature_walk(f, flags, &ignore_all, NULL, NULL) == PERFILE_OK;
}

bool pf_feature_ends_list(const perfile_feature *f)
{
    enum { FIRST_NEW_MARKER = 32 }; /* perf before 5.14 had fewer features */
    return f->payload.len == 0 && (f->number >= FIRST_NEW_MARKER || !pf_feature_readable(f, 0));
}

uint32_t pf_feature_damage(const perfile_feature *f)
{
    perfile_error err = {0};
    if (f->damage)
        return f->damage;
    if (perfile_feature_walk(f, PERFILE_WALK_ALL, &ignore_all, NULL, &err) >= 0)
        return 0;
    return err.damage ? err.damage : PERFILE_DAMAGE_SHORT_BODY;
}

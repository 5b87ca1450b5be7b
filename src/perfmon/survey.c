/* The first pass of a conversion to perf.data: finds events and the fields of their samples,
 * address spaces, the layout of ids, times, and losses. */
#include "perfmon/translate.h"

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"

enum {
    KNOWN_INFO = 0x1ffff,
    MISPREDICTED = 1 << 16,
    INFO_AT = 16,
    BRANCHES_BODY = 12,
    ANY_CPU = UINT16_MAX /* -1 in a CPU_MAP */
};

static perfile_status begin(pf_perfmon_survey *v, perfile_stream *s,
                            const perfile_perfmon_options *o, perfile_error *err)
{
    const perfile_container *c = perfile_stream_container(s);
    const pf_perfmon_header h = pf_perfmon_header_of(c->parts[0].header.ptr);
    for (uint32_t i = 0; i < c->n_damages; i++) {
        const uint32_t damage = c->damages[i].damage;
        if (damage == PERFILE_DAMAGE_BAD_VERSION || damage == PERFILE_DAMAGE_BAD_CAPTURE_END ||
            damage == PERFILE_DAMAGE_BAD_TICKS_PER_SECOND)
            return pf_fail_damage(err, damage, "perfmon.header", c->damages[i].offset);
    }
    v->stat = o && o->flags & PERFILE_PERFMON_STAT;
    if (v->stat && o->n_rates)
        return pf_fail(err, PERFILE_E_USAGE, "perfmon.rates",
                       "a rate is of samples: counts of perf stat have none");
    v->n_buffers = c->n_parts;
    v->buffers = pf_alloc(c->n_parts, sizeof *v->buffers);
    v->position = pf_alloc(PF_PERFMON_IDS, sizeof *v->position);
    if (!v->buffers || !v->position)
        return pf_fail_nomem(err, "perfmon");
    v->arch = h.arch > PF_PERFMON_ARM64 ? 0 : h.arch;
    v->first_sample = UINT64_MAX;
    (void)pf_perfmon_conversion(h.ticks_per_second, &v->shift, &v->mult);
    pf_arena_init(&v->arena, s->limits.session_bytes, "session_bytes");
    v->aspaces.seed = pf_session_seed(perfile_stream_session(s));
    for (uint32_t i = 0; i < c->n_parts; i++) {
        pf_perfmon_buffer *b = &v->buffers[i];
        b->cpu = c->parts[i].cpu;
        b->full = pf_perfmon_header_of(c->parts[i].header.ptr).flags & PF_PERFMON_FULL;
        if (b->cpu >= ANY_CPU)
            return pf_fail(err, PERFILE_E_UNSUPPORTED, "perfmon.cpus",
                           "CPU %u: records of perf have numbers below %d", b->cpu, ANY_CPU);
    }
    for (uint32_t i = 0; i < c->n_extents; i++)
        if (c->extents[i].role == PERFILE_EXTENT_TAIL)
            v->losses.tail += c->extents[i].length;
    return PERFILE_OK;
}

/* Adds an event. */
static perfile_status add_event(pf_perfmon_survey *v, pf_perfmon_event event, perfile_error *err)
{
    pf_perfmon_event *more = pf_array_more(v->events, v->n_events, &v->events_cap, sizeof *more);
    if (!more)
        return pf_fail_nomem(err, "perfmon");
    v->events = more;
    if (v->n_events == PF_PERFMON_MOST_EVENTS)
        return pf_fail(err, PERFILE_E_LIMIT, "perfmon", "the capture has too many events");
    v->events[v->n_events++] = event;
    v->position[event.id] = (uint16_t)v->n_events;
    return PERFILE_OK;
}

/* Sets *event to the entry of the event, which is made at its first appearance. */
static perfile_status event_of(pf_perfmon_survey *v, uint16_t id, pf_perfmon_event **event,
                               perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (id && v->position[id] == 0)
        st = add_event(v, (pf_perfmon_event){.id = id, .rate = 1}, err);
    if (st == PERFILE_OK)
        *event = id ? &v->events[pf_perfmon_event_at(v, id)] : &v->none;
    return st;
}

static void widen(pf_perfmon_survey *v, int64_t ticks)
{
    const uint64_t ns = pf_ticks_to_ns(ticks, v->shift, v->mult);
    v->first_sample = ns < v->first_sample ? ns : v->first_sample;
    v->last_sample = ns > v->last_sample ? ns : v->last_sample;
}

/* Assigns a number to the address space at `at` of a PC or LAST_BRANCH. */
static perfile_status note_aspace(pf_perfmon_survey *v, const uint8_t *at, bool swap,
                                  perfile_error *err)
{
    const uint64_t key = pf_perfmon_aspace_key(v, pf_load_u64(at, swap));
    bool added;
    perfile_status st =
        pf_ids_add(&v->aspaces, &v->arena, key, (uint32_t)(v->keys.len / sizeof key), &added, err);
    if (st == PERFILE_OK && added && !pf_buffer_append(&v->keys, &key, sizeof key))
        st = pf_fail_nomem(err, "perfmon");
    return st;
}

static void note_branches(pf_perfmon_survey *v, const perfile_record *r, bool swap)
{
    for (size_t at = BRANCHES_BODY; at + PF_PERFMON_BRANCH <= r->body.len;
         at += PF_PERFMON_BRANCH) {
        const uint64_t info = pf_load_u64(r->body.ptr + at + INFO_AT, swap);
        v->mispredicts |= (info & MISPREDICTED) != 0;
        v->losses.info += (info & ~(uint64_t)KNOWN_INFO) != 0;
    }
}

/* A group is a TIME and the records that follow it up to the next TIME. */
typedef struct group {
    uint32_t part;
    bool open;    /* there was a TIME … */
    bool samples; /* … and records after it, or an event in it */
    bool untimed; /* there are samples before the first TIME */
} group;

static void end_group(pf_perfmon_survey *v, group *g)
{
    v->losses.empty_times += g->open && !g->samples;
    g->open = g->samples = false;
}

/* Samples before the first TIME have its time.  If there is no TIME, they have time 1, like ticks
 * of 0. */
static void end_part(pf_perfmon_survey *v, group *g)
{
    const pf_perfmon_buffer *b = &v->buffers[g->part];
    end_group(v, g);
    if (g->untimed)
        widen(v, b->has_time ? b->first_time : 0);
    v->losses.timeless += g->untimed && !b->has_time;
    g->untimed = false;
}

/* Fails because the form of `perf stat` can only express times and counts. */
static perfile_status fail_sample(const perfile_record *r, perfile_error *err)
{
    return pf_fail(err, PERFILE_E_UNSUPPORTED, "perfmon.stat",
                   "there are samples (the first at offset %llu): only counts become those of perf "
                   "stat",
                   (unsigned long long)r->offset);
}

static perfile_status note_record(pf_perfmon_survey *v, group *g, const perfile_record *r,
                                  perfile_error *err)
{
    const unsigned type = perfile_record_stored_type(r);
    const bool swap = r->flags & PERFILE_REC_SWAPPED;
    pf_perfmon_buffer *b = &v->buffers[r->part];
    const bool state = type == PF_PERFMON_TIME && r->misc == 0;
    perfile_status st = PERFILE_OK;
    if (type == PF_PERFMON_TIME) {
        end_group(v, g);
        g->open = true;
        const int64_t before = b->last_time;
        b->last_time = pf_perfmon_time(r);
        v->goes_back |= b->has_time && b->last_time < before;
        if (!b->has_time)
            b->first_time = b->last_time;
        b->has_time = true;
        v->losses.negative += b->last_time < 0;
    }
    v->losses.reserved_flags += r->header[PF_PERFMON_TAG_AT] != 0;
    if (state)
        return PERFILE_OK;
    if (v->stat && type != PF_PERFMON_COUNT)
        return fail_sample(r, err);
    pf_perfmon_event *e;
    st = event_of(v, r->misc, &e, err);
    if (st != PERFILE_OK)
        return st;
    v->has_none |= r->misc == 0;
    if (!b->first_event)
        b->first_event = r->misc;
    v->evidence |= pf_perfmon_evidence(type, r->misc);
    if (!g->samples && b->has_time)
        widen(v, b->last_time);
    g->samples = true;
    g->untimed |= !b->has_time;
    v->losses.untimed += !b->has_time;
    v->losses.kinds += type == PF_PERFMON_TICK || type == PF_PERFMON_TIME;
    switch (type) {
    case PF_PERFMON_VALUE:
        e->has_value = true;
        break;
    case PF_PERFMON_PC:
        e->has_pc = true;
        st = note_aspace(v, r->body.ptr, swap, err);
        break;
    case PF_PERFMON_LAST_BRANCH:
        e->has_branches = v->any_branches = true;
        note_branches(v, r, swap);
        st = note_aspace(v, r->body.ptr + sizeof(uint32_t), swap, err);
        break;
    default:
        break;
    }
    return st;
}

/* Adds event 0 after the others, decides the layout, and sets the rates of the options. */
static perfile_status finish(pf_perfmon_survey *v, const perfile_perfmon_options *o,
                             perfile_error *err)
{
    if (v->has_none || v->n_events == 0) {
        v->none.rate = 1;
        v->none.id = 0;
        perfile_status st = add_event(v, v->none, err);
        if (st != PERFILE_OK)
            return st;
        v->has_none = true;
    }
    v->layout = v->evidence == 1 << PF_PERFMON_LAYOUT_B ? PF_PERFMON_LAYOUT_B : PF_PERFMON_LAYOUT_A;
    if (o && o->layout)
        v->layout =
            o->layout == PERFILE_PERFMON_LAYOUT_B ? PF_PERFMON_LAYOUT_B : PF_PERFMON_LAYOUT_A;
    for (size_t i = 0; o && i < o->n_rates; i++) {
        const uint32_t id = o->rates[i].event;
        if (id >= PF_PERFMON_IDS || id == 0 || v->position[id] == 0)
            return pf_fail(err, PERFILE_E_USAGE, "perfmon.rates",
                           "a rate for event 0x%x, which the capture does not have", id);
        pf_perfmon_event *e = &v->events[pf_perfmon_event_at(v, (uint16_t)id)];
        e->has_rate = true;
        e->rate = o->rates[i].rate;
    }
    return PERFILE_OK;
}

/* Limits the number of ids: an event has an id for each buffer, so a small input can ask for very
 * many. */
static perfile_status check_ids(const pf_perfmon_survey *v, const perfile_stream *s,
                                perfile_error *err)
{
    enum {
        ID_BYTES = 40, /* bytes of an id in the attr and in ID_INDEX */
        ALWAYS = 16 << 20
    };
    const uint64_t ratio = s->limits.growth_ratio;
    const uint64_t ids = (uint64_t)v->n_events * v->n_buffers;
    uint64_t most;
    if (ratio == UINT64_MAX ||
        __builtin_mul_overflow(pf_container_bytes(perfile_stream_container(s)), ratio, &most) ||
        pf_add_u64(most, ALWAYS, &most) || ids * ID_BYTES <= most)
        return PERFILE_OK;
    return pf_fail(err, PERFILE_E_LIMIT, "growth_ratio",
                   "%u events of %u buffers are %llu ids, which would have more than %llu bytes",
                   v->n_events, v->n_buffers, (unsigned long long)ids, (unsigned long long)most);
}

perfile_status pf_perfmon_fail_changed(perfile_error *err)
{
    return pf_fail(err, PERFILE_E_IO, "perfmon", "the input changed while it was read");
}

perfile_status pf_perfmon_survey_run(pf_perfmon_survey *v, const pf_translation *t,
                                     perfile_error *err)
{
    perfile_stream *s = NULL;
    const perfile_record *first;
    size_t n;
    group g = {0};
    perfile_status st = t->pass(t->user, &s, err);
    if (st == PERFILE_OK)
        st = begin(v, s, t->options->perfmon, err);
    while (st == PERFILE_OK && (st = perfile_stream_next_run(s, &first, &n, err)) == PERFILE_OK) {
        if (first->part != g.part) {
            end_part(v, &g);
            g.part = first->part;
        }
        if (first->family == PERFILE_FAMILY_DAMAGE) {
            st = t->damage(t->user, first, err);
            continue;
        }
        for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
            if (first[i].part != g.part) {
                end_part(v, &g);
                g.part = first[i].part;
            }
            st = note_record(v, &g, &first[i], err);
        }
    }
    if (st == PERFILE_END) {
        end_part(v, &g);
        st = finish(v, t->options->perfmon, err);
    }
    if (st == PERFILE_OK)
        st = check_ids(v, s, err);
    perfile_stream_close(s);
    return st;
}

void pf_perfmon_survey_free(pf_perfmon_survey *v)
{
    pf_free(v->buffers);
    pf_free(v->position);
    pf_free(v->events);
    pf_ids_free(&v->aspaces);
    pf_arena_free(&v->arena);
    pf_buffer_free(&v->keys);
}

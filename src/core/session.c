/* The session: facts about a capture, added by drivers and read through perfile/session.h.
 *
 * Facts are only added, never removed or moved: the arena owns everything that callers may point
 * to.  Every function that adds something first calls pf_session_will_change(), because other
 * threads may be reading.  It then increments `generation`, which tells callers that cached facts
 * are old. */
#include "base/alloc.h"
#include "base/buffer.h"
#include "base/cursor.h"
#include "base/error.h"
#include "base/options.h"
#include "core/layout.h"
#include "core/session.h"
#include "core/state.h"
#include "schema/types.h"
#include "core/command.h"

#include <stddef.h>
#include <string.h>
#include <time.h>

#define ATTR_SIZE_AT 4

/* Mixes the address of the session and its creation time: input cannot know either. */
static uint64_t new_seed(const perfile_session *s)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC, &now);
    uint64_t seed = (uint64_t)(uintptr_t)s * UINT64_C(0x9e3779b97f4a7c15);
    return seed ^ (uint64_t)now.tv_nsec << 20 ^ (uint64_t)now.tv_sec;
}

/* The seeds are set once, while the maps are empty. */
perfile_status pf_session_open(bool swapped, const perfile_open_options *options,
                               perfile_session **session, perfile_error *err)
{
    perfile_session *s = pf_alloc(1, sizeof *s);
    if (!s)
        return pf_fail_nomem(err, "session");
    perfile_limits limits;
    perfile_status st = pf_limits_copy(&limits, options ? options->limits : NULL, err);
    if (st != PERFILE_OK) {
        pf_free(s);
        return st;
    }
    pf_arena_init(&s->arena, limits.session_bytes, "session_bytes");
    s->model_bytes = limits.model_bytes;
    s->held_bytes = limits.held_bytes;
    s->profile_bytes = limits.profile_bytes;
    s->swapped = swapped;
    s->as_stored = options && options->as_stored;
    s->ids.seed = new_seed(s);
    s->instance_ids.seed = s->ids.seed;
    pf_names_init(&s->names, s->ids.seed);
    *session = s;
    return PERFILE_OK;
}

static void notify(const perfile_session *s, bool last)
{
    for (const pf_session_reader *r = s->readers, *next; r; r = next) {
        next = r->next; /* it may remove itself */
        r->before_change(r->user, last);
    }
}

void pf_session_free(perfile_session *s)
{
    if (!s)
        return;
    notify(s, true);
    while (s->readers)
        pf_session_remove_reader(s->readers);
    pf_names_free(&s->names);
    pf_ids_free(&s->ids);
    pf_ids_free(&s->instance_ids);
    pf_free(s->instances);
    pf_free(s->events);
    pf_free(s->event_types.items);
    pf_free(s->build_ids.items);
    pf_free(s->groups);
    pf_arena_free(&s->arena);
    pf_free(s);
}

void pf_session_set_conversion(perfile_session *s, uint64_t shift, uint64_t mult)
{
    s->has_conversion = true;
    s->shift = shift;
    s->mult = mult;
    s->zero = s->cycles = s->mask = 0;
    s->generation++;
}

void pf_session_set_cpus_of_parts(perfile_session *s, const uint32_t *cpus, uint32_t n)
{
    s->cpus_of_parts = cpus;
    s->n_cpus_of_parts = n;
}

void pf_session_set_files(perfile_session *s, const perfile_source *directory)
{
    s->files = directory;
}

const perfile_source *pf_session_files(const perfile_session *s)
{
    return s->files;
}

static pf_session_reader **readers_of(const perfile_session *s)
{
    return &((perfile_session *)(uintptr_t)s)->readers;
}

void pf_session_add_reader(const perfile_session *s, pf_session_reader *reader)
{
    reader->link = readers_of(s);
    reader->next = *reader->link;
    if (reader->next)
        reader->next->link = &reader->next;
    *reader->link = reader;
}

void pf_session_remove_reader(pf_session_reader *reader)
{
    if (!reader->link)
        return;
    *reader->link = reader->next;
    if (reader->next)
        reader->next->link = reader->link;
    reader->link = NULL;
}

void pf_session_will_change(const perfile_session *s)
{
    notify(s, false);
}

perfile_status pf_pointers_add(pf_pointers *p, void *item, perfile_error *err)
{
    void **items = pf_array_more(p->items, p->n, &p->cap, sizeof *items);
    if (!items)
        return pf_fail_nomem(err, "session");
    p->items = items;
    items[p->n++] = item;
    return PERFILE_OK;
}

/* Copies *bytes into the arena, unless they outlive the session (`stable`). */
static perfile_status keep(perfile_session *s, perfile_bytes *bytes, bool stable,
                           perfile_error *err)
{
    return stable ? PERFILE_OK : pf_arena_copy(&s->arena, *bytes, bytes, err);
}

/* Adds the ids of a new event to the map.  Ids of an earlier event stay with that event. */
static perfile_status add_ids(perfile_session *s, pf_event *event, perfile_error *err)
{
    const perfile_words *ids = &event->shown.ids;
    for (size_t i = 0; i < ids->n; i++) {
        uint64_t id = pf_load_u64(ids->ptr + 8 * i, ids->swapped);
        perfile_status st = pf_ids_add(&s->ids, &s->arena, id, event->shown.index, NULL, err);
        if (st != PERFILE_OK)
            return st;
    }
    return PERFILE_OK;
}

/* The event is made in the arena first.  An attr that cannot be decoded does not become an event;
 * one with an impossible size does, with `damage` set. */
perfile_status pf_session_add_attr(perfile_session *s, const pf_attr_fact *fact, perfile_error *err)
{
    pf_session_will_change(s);
    /* Drivers check this; fewer bytes could not be decoded. */
    if (fact->attr.len < PF_ATTR_LEAST)
        return PERFILE_OK;

    void *place;
    perfile_status st = pf_arena_get(&s->arena, sizeof(pf_event), &place, err);
    if (st != PERFILE_OK)
        return st;
    pf_event *event = place;
    perfile_event *e = &event->shown;

    perfile_bytes stored = fact->attr;
    uint32_t size = pf_load_u32(stored.ptr + ATTR_SIZE_AT, s->swapped);
    if (size == 0)
        size = PF_ATTR_LEAST;
    if (size < PF_ATTR_LEAST || size > stored.len)
        e->damage = PERFILE_DAMAGE_BAD_ATTR_SIZE;
    if (size < PF_ATTR_LEAST)
        size = PF_ATTR_LEAST;
    if (size < stored.len)
        stored.len = size;
    perfile_bytes ids = {fact->ids.ptr, fact->ids.len / 8 * 8};

    if ((st = keep(s, &stored, fact->stable, err)) != PERFILE_OK ||
        (st = keep(s, &ids, fact->stable, err)) != PERFILE_OK)
        return st;

    e->index = s->n_events;
    e->origin = fact->origin;
    e->name_origin = PERFILE_ORIGIN_DERIVED;
    e->offset = fact->offset;
    e->stored = stored;
    e->ids = (perfile_words){.ptr = ids.ptr, .n = ids.len / 8, .width = 8, .swapped = s->swapped};
    e->ids_damage = fact->ids_damage;
    e->name = "";
    e->scale = 1;
    e->group_leader = e->index;
    e->layout = &event->layout;
    e->attr = &event->attr;
    if (perfile_attr_decode(stored, s->swapped, &event->attr, sizeof event->attr, NULL) !=
        PERFILE_OK)
        return PERFILE_OK;
    pf_layout_make(&event->layout, &event->attr);

    pf_event **events = pf_array_more(s->events, s->n_events, &s->events_cap, sizeof(void *));
    if (!events)
        return pf_fail_nomem(err, "session.events");
    s->events = events;
    if ((st = add_ids(s, event, err)) != PERFILE_OK)
        return st;

    events[s->n_events++] = event;
    if (e->index == 0) {
        s->shared = &event->layout;
        s->usual = s->swapped ? NULL : pf_usual_sample(event->layout.sample_type);
        s->sample_id_slot = (int8_t)pf_layout_sample_id(&event->layout);
        s->trailer_id_slot = (int8_t)pf_layout_trailer_id(&event->layout);
    } else if (!pf_layout_equal(&events[0]->layout, &event->layout)) {
        s->shared = NULL;
        s->usual = NULL;
    }
    if (e->ids.n == 0) {
        s->n_idless++;
        s->idless = e->index;
    }
    s->generation++;
    return PERFILE_OK;
}

perfile_status pf_session_add_id(perfile_session *s, pf_event *event, uint64_t id,
                                 perfile_error *err)
{
    pf_session_will_change(s);
    bool added;
    perfile_words *ids = &event->shown.ids;
    if (id == 0)
        return PERFILE_OK; /* 0 is not an id */
    perfile_status st = pf_ids_add(&s->ids, &s->arena, id, event->shown.index, &added, err);
    if (st != PERFILE_OK || !added)
        return st;

    /* Callers may still read the old array, which remains in the arena. */
    if (ids->n >= event->ids_cap) {
        size_t cap = ids->n < 4 ? 8 : 2 * ids->n;
        void *more;
        if (cap > UINT32_MAX)
            return pf_fail_nomem(err, "session.ids");
        if ((st = pf_arena_get(&s->arena, 8 * cap, &more, err)) != PERFILE_OK)
            return st;
        if (ids->n)
            memcpy(more, ids->ptr, 8 * ids->n);
        event->own_ids = more;
        event->ids_cap = (uint32_t)cap;
        ids->ptr = more;
    }
    uint64_t word = ids->swapped ? pf_swap_u64(id) : id;
    memcpy(event->own_ids + 8 * ids->n, &word, sizeof word);
    ids->n++;
    s->generation++;
    return PERFILE_OK;
}

/* `features` stays in ascending order: writers and dumps rely on it. */
perfile_status pf_session_add_feature(perfile_session *s, const perfile_feature *f, bool stable,
                                      perfile_error *err)
{
    pf_session_will_change(s);
    /* The feature bitmap of a header has no room for larger numbers.  If a number comes twice, the
     * first feature counts. */
    if (f->number >= PERFILE_N_FEATURES || s->by_number[f->number])
        return PERFILE_OK;

    void *place;
    perfile_status st = pf_arena_get(&s->arena, sizeof(perfile_feature), &place, err);
    if (st != PERFILE_OK)
        return st;
    perfile_feature *mine = place;
    *mine = *f;
    mine->session = s;
    if ((st = keep(s, &mine->payload, stable, err)) != PERFILE_OK)
        return st;

    uint32_t at = s->n_features;
    for (; at > 0 && s->features[at - 1]->number > f->number; at--)
        s->features[at] = s->features[at - 1];
    s->features[at] = mine;
    s->n_features++;
    s->by_number[f->number] = mine;
    s->feature_changes++;
    s->generation++;

    if (mine->damage)
        return PERFILE_OK;
    if ((st = pf_facts_collect(s, mine, err)) != PERFILE_OK ||
        (st = pf_groups_collect(s, mine, err)) != PERFILE_OK)
        return st;
    return pf_names_collect(s, mine, err);
}

perfile_status pf_session_add_event_type(perfile_session *s, uint64_t event_id, perfile_bytes name,
                                         bool stable, perfile_error *err)
{
    pf_session_will_change(s);
    void *place;
    perfile_status st = pf_arena_get(&s->arena, sizeof(pf_event_type), &place, err);
    if (st != PERFILE_OK)
        return st;
    pf_event_type *type = place;
    type->event_id = event_id;
    type->name = name;
    if ((st = keep(s, &type->name, stable, err)) != PERFILE_OK)
        return st;
    st = pf_ids_add(&s->names.type_configs, &s->arena, event_id, s->event_types.n, NULL, err);
    if (st != PERFILE_OK || (st = pf_pointers_add(&s->event_types, type, err)) != PERFILE_OK)
        return st;
    s->generation++;
    return PERFILE_OK;
}

perfile_status pf_session_add_build_id(perfile_session *s, const perfile_build_id *id, bool stable,
                                       perfile_error *err)
{
    pf_session_will_change(s);
    void *place;
    perfile_status st = pf_arena_get(&s->arena, sizeof(perfile_build_id), &place, err);
    if (st != PERFILE_OK)
        return st;
    perfile_build_id *mine = place;
    *mine = *id;
    if ((st = keep(s, &mine->id, stable, err)) != PERFILE_OK ||
        (st = keep(s, &mine->filename, stable, err)) != PERFILE_OK ||
        (st = pf_pointers_add(&s->build_ids, mine, err)) != PERFILE_OK)
        return st;
    s->generation++;
    return PERFILE_OK;
}

perfile_status pf_session_resolve(perfile_session *s, perfile_error *err)
{
    pf_session_will_change(s);
    perfile_status st = pf_names_assign(s, err);
    if (st != PERFILE_OK)
        return st;
    pf_groups_assign(s, s->regroup ? 0 : s->n_settled);
    s->regroup = false;
    s->n_settled = s->n_events;
    return PERFILE_OK;
}

bool pf_session_has_tracepoint(const perfile_session *s, uint64_t config)
{
    return pf_tracepoint_names_find(&s->names.tracepoints, config) != NULL;
}

bool pf_session_tracepoint_at(const perfile_session *s, uint32_t i, pf_tracepoint_text *out)
{
    const pf_tracepoints *t = &s->names.tracepoints;
    if (i >= t->n)
        return false;
    const pf_tracepoint *p = &t->items[i];
    *out = (pf_tracepoint_text){p->system, p->name, p->format, p->id, t->big_endian, t->long_size};
    return true;
}

bool pf_session_tracepoint(const perfile_session *s, uint64_t config, pf_tracepoint_text *out)
{
    const pf_tracepoint *p = pf_tracepoint_names_find(&s->names.tracepoints, config);
    return p && pf_session_tracepoint_at(s, (uint32_t)(p - s->names.tracepoints.items), out);
}

uint64_t pf_session_model_bytes(const perfile_session *s)
{
    return s->model_bytes;
}

uint64_t pf_session_held_bytes(const perfile_session *s)
{
    return s->held_bytes;
}

uint64_t pf_session_profile_bytes(const perfile_session *s)
{
    return s->profile_bytes;
}

const perfile_layout *pf_session_layout(const perfile_session *s)
{
    return s ? s->shared : NULL;
}

int pf_session_sample_id_slot(const perfile_session *s)
{
    return s->sample_id_slot;
}

const pf_ids *pf_session_ids(const perfile_session *s)
{
    return &s->ids;
}

uint32_t pf_session_n_without_ids(const perfile_session *s)
{
    return s->n_idless;
}

uint64_t pf_session_seed(const perfile_session *s)
{
    return s->ids.seed;
}

bool pf_session_as_stored(const perfile_session *s)
{
    return s && s->as_stored;
}

uint64_t pf_session_generation(const perfile_session *s)
{
    return s->generation;
}

bool pf_session_swapped(const perfile_session *s)
{
    return s->swapped;
}

uint32_t pf_session_byte_order(const perfile_session *s)
{
    return pf_byte_order_of(s->swapped);
}

uint32_t pf_session_n_events(const perfile_session *s)
{
    return s->n_events;
}

const perfile_event *perfile_session_event(const perfile_session *s, uint32_t index)
{
    return index < s->n_events ? &s->events[index]->shown : NULL;
}

const perfile_event *perfile_session_event_by_id(const perfile_session *s, uint64_t id)
{
    return perfile_session_event(s, pf_ids_find(&s->ids, id));
}

uint32_t pf_session_n_features(const perfile_session *s)
{
    return s->n_features;
}

const perfile_feature *perfile_session_feature_at(const perfile_session *s, uint32_t position)
{
    return position < s->n_features ? s->features[position] : NULL;
}

uint32_t pf_session_n_event_types(const perfile_session *s)
{
    return s->event_types.n;
}

const pf_event_type *pf_session_event_type(const perfile_session *s, uint32_t position)
{
    return position < s->event_types.n ? s->event_types.items[position] : NULL;
}

uint32_t pf_session_n_build_ids(const perfile_session *s)
{
    return s->build_ids.n;
}

const perfile_build_id *perfile_session_build_id(const perfile_session *s, uint32_t position)
{
    return position < s->build_ids.n ? s->build_ids.items[position] : NULL;
}

/* The hash map of core/session.h.  Its memory is allocated separately but charged to the session's
 * arena, so perfile_limits.session_bytes limits it. */

#define SLOTS_FIRST 16

/* Returns the slot of `id`, or the free slot for it.  There is always a free slot: see
 * pf_ids_add(). */
static pf_id_slot *place(pf_ids *m, uint64_t id)
{
    size_t i = pf_ids_home(m, id);
    while (m->slots[i].taken && m->slots[i].id != id)
        i = (i + 1) & m->mask;
    return &m->slots[i];
}

/* Doubles the slots and adds all keys again. */
static perfile_status grow(pf_ids *m, pf_arena *arena, perfile_error *err)
{
    size_t old_n = m->slots ? m->mask + 1 : 0;
    size_t new_n = old_n ? old_n * 2 : SLOTS_FIRST;
    if (new_n < old_n || new_n > UINT32_MAX)
        return pf_fail_nomem(err, "session.ids");

    uint64_t bytes = (uint64_t)new_n * sizeof(pf_id_slot);
    perfile_status st = pf_arena_charge(arena, bytes, err);
    if (st != PERFILE_OK)
        return st;
    pf_id_slot *slots = pf_alloc(new_n, sizeof *slots);
    if (!slots) {
        pf_arena_refund(arena, bytes);
        return pf_fail_nomem(err, "session.ids");
    }

    pf_id_slot *old = m->slots;
    m->slots = slots;
    m->mask = new_n - 1;
    for (size_t i = 0; i < old_n; i++)
        if (old[i].taken)
            *place(m, old[i].id) = old[i];
    pf_free(old);
    pf_arena_refund(arena, (uint64_t)old_n * sizeof(pf_id_slot));
    return PERFILE_OK;
}

perfile_status pf_ids_add(pf_ids *m, pf_arena *arena, uint64_t id, uint32_t owner, bool *added,
                          perfile_error *err)
{
    if (pf_ids_find(m, id) != PF_NO_OWNER) {
        if (added)
            *added = false;
        return PERFILE_OK;
    }
    if (!m->slots || m->n >= (m->mask + 1) / 4 * 3) {
        perfile_status st = grow(m, arena, err);
        if (st != PERFILE_OK)
            return st;
    }
    *place(m, id) = (pf_id_slot){.id = id, .taken = owner + 1};
    m->n++;
    if (added)
        *added = true;
    return PERFILE_OK;
}

void pf_ids_free(pf_ids *m)
{
    pf_free(m->slots);
    m->slots = NULL;
    m->mask = 0;
    m->n = 0;
}

/* Views: sessions that replace a few features of another session and share everything else with it.
 *
 * A stage that drops records changes only features such as SAMPLE_TIME and BUILD_ID.  A view is a
 * shallow copy of the session below, with space for replaced features: events, names and ids are
 * shared, and the session below is never written.  After the session below has changed, the copy is
 * made again: pf_session_view_refresh().
 *
 * New facts always go to the session below, never to a view. */

enum { MOST = 2 /* replaced features of one view */ };

struct pf_session_view {
    perfile_session shown;
    const perfile_session *from;
    uint64_t seen;    /* generation of `from` that `shown` was copied from */
    uint64_t changes; /* number of replacements so far */
    perfile_feature own[MOST];
    uint32_t n_own;
    pf_buffer
        build_ids;  /* array of perfile_build_id: the entries of the replaced feature BUILD_ID */
    pf_buffer list; /* pointers to them, and to the build ids of `from` that came in records */
};

const perfile_session *pf_session_view_shown(const pf_session_view *v)
{
    return &v->shown;
}

/* Returns the replaced feature of that number, or NULL. */
static perfile_feature *own_feature(pf_session_view *v, uint32_t number)
{
    for (uint32_t i = 0; i < v->n_own; i++)
        if (v->own[i].number == number)
            return &v->own[i];
    return NULL;
}

static perfile_status add_build_id(pf_session_view *v, const void *id, perfile_error *err)
{
    return pf_buffer_append(&v->list, &id, sizeof id) ? PERFILE_OK
                                                      : pf_fail_nomem(err, "session.build_ids");
}

/* Makes the list of build ids: entries of the replaced feature, then those from records. */
static perfile_status list_build_ids(pf_session_view *v, perfile_error *err)
{
    const pf_pointers *all = &v->from->build_ids;
    perfile_status st = PERFILE_OK;
    pf_buffer_clear(&v->list);
    for (size_t at = 0; at < v->build_ids.len && st == PERFILE_OK; at += sizeof(perfile_build_id))
        st = add_build_id(v, v->build_ids.ptr + at, err);
    for (uint32_t i = 0; i < all->n && st == PERFILE_OK; i++)
        if (((const perfile_build_id *)all->items[i])->origin != PERFILE_ORIGIN_CONTAINER)
            st = add_build_id(v, all->items[i], err);
    v->shown.build_ids = (pf_pointers){.items = (void **)(void *)v->list.ptr,
                                       .n = (uint32_t)(v->list.len / sizeof(void *))};
    return st;
}

/* Copies `from` to `shown`, with or without the feature table.  The table is most of a session, and
 * few records with facts change it. */
static void copy_session(pf_session_view *v, bool features)
{
    enum {
        TABLE = offsetof(perfile_session, features), /* the table and the number of its entries */
        BEHIND = offsetof(perfile_session, event_types)
    };
    const uint8_t *from = (const uint8_t *)v->from;
    uint8_t *to = (uint8_t *)&v->shown;
    pf_session_reader *const readers = v->shown.readers; /* a view has its own readers */
    memcpy(to, from, features ? sizeof v->shown : TABLE);
    if (!features)
        memcpy(to + BEHIND, from + BEHIND, sizeof v->shown - BEHIND);
    v->shown.readers = readers;
}

/* Copies `from` again and puts the replaced features in place. */
static perfile_status refresh(pf_session_view *v, perfile_error *err)
{
    const uint32_t changes = v->from->feature_changes + (uint32_t)v->changes;
    pf_session_will_change(&v->shown);
    copy_session(v, v->shown.feature_changes != changes);
    v->shown.feature_changes = changes;
    v->shown.generation += v->changes;
    v->seen = v->from->generation;
    for (uint32_t i = 0; i < v->shown.n_features; i++) {
        perfile_feature *f = own_feature(v, v->shown.features[i]->number);
        if (f)
            v->shown.by_number[f->number] = v->shown.features[i] = f;
    }
    return own_feature(v, PERFILE_FEATURE_BUILD_ID) ? list_build_ids(v, err) : PERFILE_OK;
}

perfile_status pf_session_view_new(const perfile_session *from, pf_session_view **view,
                                   perfile_error *err)
{
    pf_session_view *v = pf_alloc(1, sizeof *v);
    if (!v)
        return pf_fail_nomem(err, "session");
    v->from = from;
    (void)refresh(v, NULL); /* cannot fail: no feature is replaced yet */
    *view = v;
    return PERFILE_OK;
}

void pf_session_view_free(pf_session_view *v)
{
    if (!v)
        return;
    pf_session_will_change(&v->shown);
    pf_buffer_free(&v->build_ids);
    pf_buffer_free(&v->list);
    pf_free(v);
}

perfile_status pf_session_view_refresh(pf_session_view *v, perfile_error *err)
{
    return v->seen == v->from->generation ? PERFILE_OK : refresh(v, err);
}

/* Decodes the replaced feature BUILD_ID. */
static perfile_status decode_build_ids(pf_session_view *v, const perfile_feature *f,
                                       perfile_error *err)
{
    perfile_build_ids all;
    perfile_build_id_entry e;
    perfile_build_id id;
    pf_buffer_clear(&v->build_ids);
    if (perfile_build_ids_decode(f, &all, sizeof all, NULL) != PERFILE_OK)
        return PERFILE_OK;
    while (perfile_build_id_entry_next(&all.build_ids, &e, sizeof e) == PERFILE_OK) {
        pf_build_id_of_entry(&e, f->origin, &id);
        if (!pf_buffer_append(&v->build_ids, &id, sizeof id))
            return pf_fail_nomem(err, "session.build_ids");
    }
    return PERFILE_OK;
}

perfile_status pf_session_view_replace(pf_session_view *v, uint32_t number, perfile_bytes payload,
                                       perfile_error *err)
{
    const perfile_feature *stored = perfile_session_feature(v->from, number);
    if (!stored || stored->origin != PERFILE_ORIGIN_CONTAINER)
        return PERFILE_OK;
    perfile_feature *f = own_feature(v, number);
    if (!f && v->n_own == MOST)
        return pf_fail_nomem(err, "session.features");
    if (!f)
        f = &v->own[v->n_own++];
    *f = *stored;
    f->payload = payload;
    f->size = payload.len;
    f->session = &v->shown;
    v->changes++;
    perfile_status st = PERFILE_OK;
    if (number == PERFILE_FEATURE_BUILD_ID)
        st = decode_build_ids(v, f, err);
    return st == PERFILE_OK ? refresh(v, err) : st;
}

uint64_t perfile_session_number(const perfile_session *s, uint32_t number)
{
    switch (number) {
    case PERFILE_SESSION_N_EVENTS:
        return pf_session_n_events(s);
    case PERFILE_SESSION_N_FEATURES:
        return pf_session_n_features(s);
    case PERFILE_SESSION_N_BUILD_IDS:
        return pf_session_n_build_ids(s);
    case PERFILE_SESSION_N_CPUS:
        return pf_session_n_cpus(s);
    case PERFILE_SESSION_BYTE_ORDER:
        return pf_session_byte_order(s);
    case PERFILE_SESSION_SWAPPED:
        return pf_session_swapped(s);
    case PERFILE_SESSION_GENERATION:
        return pf_session_generation(s);
    default:
        return 0;
    }
}

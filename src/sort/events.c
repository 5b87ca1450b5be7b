/* Events and ids of the output, and the plan by which records of each layout are rewritten.
 *
 * The output has the events of the first input, then those events of the other inputs that are not
 * joined with an earlier one. An input keeps an id if it is the first input that has it
 * (x->owners). Ids that an earlier input uses, too, are replaced by new ones, which are greater
 * than all ids of all inputs. Then each layout of an input gets one plan for converting it to the
 * layout of the output. The plans also decide how fast the records of an input can be written
 * (plain, fixed_fields_only, id_slot). */
#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/byte_order.h"
#include "core/layout.h"
#include "perfile/encode.h"
#include "schema/types.h"
#include "sort/merge.h"
#include "perfile/field.h"
#include "sort/command.h"
#include "core/command.h"

/* An event of the output that is being made. */
typedef struct output_event {
    pf_buffer attr;
    pf_buffer ids;    /* u64 each, in the byte order of the output */
    const char *name; /* name of the first input event that it represents */
    uint32_t last;    /* last input with an event joined into this one */
} output_event;

/* State while events are made. */
typedef struct event_builder {
    pf_merge *x;
    output_event *all;
    uint32_t n, cap;
    pf_buffer scratch; /* attr of the current event, as in the output */
    pf_merge_attrs attrs;
    bool swapped;
} event_builder;

/* Returns true if `o` has the attr in m->scratch and this name. */
static bool same_event(const event_builder *m, const output_event *o, const char *name)
{
    return o->attr.len == m->scratch.len && memcmp(o->attr.ptr, m->scratch.ptr, o->attr.len) == 0 &&
           strcmp(o->name, name) == 0;
}

/* Sets *out to the index of the output event for `e`; m->scratch has the attr of `e` in the output.
 * It is a new event, or with PERFILE_MERGE_JOIN_EVENTS an equal one from another input. Two events
 * of one input are never joined. */
static perfile_status find_output_event(event_builder *m, const pf_merge_input *in,
                                        const perfile_event *e, uint32_t *out, perfile_error *err)
{
    bool join = m->x->options.flags & PERFILE_MERGE_JOIN_EVENTS;
    for (uint32_t i = 0; join && i < m->n; i++)
        if (m->all[i].last != in->at && same_event(m, &m->all[i], e->name)) {
            *out = i;
            m->all[i].last = in->at;
            return PERFILE_OK;
        }
    output_event *more = pf_array_more(m->all, m->n, &m->cap, sizeof *more);
    if (!more)
        return pf_fail_nomem(err, "merge");
    m->all = more;
    m->all[m->n] = (output_event){.name = e->name, .last = in->at};
    if (!pf_buffer_append(&m->all[m->n].attr, m->scratch.ptr, m->scratch.len))
        return pf_fail_nomem(err, "merge");
    *out = m->n++;
    return PERFILE_OK;
}

/* Sets *id to an id that no event of any input has. Its owner is n_inputs, "no input": if records
 * of an input have the same number, they mean something else by it. */
static perfile_status fresh_id(pf_merge *x, uint64_t *id, perfile_error *err)
{
    while (x->next_id == 0 || pf_index_get(&x->owners, x->next_id) != PF_INDEX_NONE)
        x->next_id++;
    *id = x->next_id++;
    return pf_index_put(&x->owners, *id, x->n_inputs) ? PERFILE_OK : pf_fail_nomem(err, "merge");
}

/* Stores that `id` of the input is `new_id` in the output. `event` is UINT32_MAX for ids of no
 * event. */
static perfile_status map_id(pf_merge_input *in, uint64_t id, uint64_t new_id, uint32_t event,
                             perfile_error *err)
{
    const pf_merge_id_pair one = {.id = id, .new_id = new_id, .event = event};
    size_t n = in->new_ids.len / sizeof one;
    if (n >= UINT32_MAX || !pf_index_put(&in->ids, id, (uint32_t)n) ||
        !pf_buffer_append(&in->new_ids, &one, sizeof one))
        return pf_fail_nomem(err, "merge");
    in->renumbers |= id != new_id;
    return PERFILE_OK;
}

/* Returns the entry of an id of the input, NULL if it has no number yet. */
static const pf_merge_id_pair *find_id(const pf_merge_input *in, uint64_t id)
{
    uint32_t at = pf_index_get(&in->ids, id);
    return at == PF_INDEX_NONE ? NULL
                               : &((const pf_merge_id_pair *)(const void *)in->new_ids.ptr)[at];
}

/* Returns the first input of the same recording if equal ids mean the same counter in both, else
 * NULL. */
static const pf_merge_input *shares_ids_with(const pf_merge *x, const pf_merge_input *in)
{
    bool join = x->options.flags & PERFILE_MERGE_JOIN_EVENTS;
    return in->first_of_recording != in->at && (in->is_part || join)
               ? &x->inputs[in->first_of_recording]
               : NULL;
}

/* Gives an id of event `event` its number in the output: the number in the first input of the same
 * recording, the id itself if this input owns it, or a new one. */
static perfile_status add_id(event_builder *m, pf_merge_input *in, uint64_t id, uint32_t event,
                             perfile_error *err)
{
    const pf_merge_input *shared = shares_ids_with(m->x, in);
    const pf_merge_id_pair *as = shared ? find_id(shared, id) : NULL;
    uint64_t new_id = id, stored;
    perfile_status st = PERFILE_OK;
    /* The first input of the recording has this counter already: its number is used. */
    if (as && as->event == event)
        return map_id(in, id, as->new_id, event, err);
    if (id == 0 || pf_index_get(&m->x->owners, id) != in->at)
        st = fresh_id(m->x, &new_id, err);
    m->x->result.new_ids += id != new_id;
    pf_store_u64((uint8_t *)&stored, new_id, m->swapped);
    if (st == PERFILE_OK && !pf_buffer_append(&m->all[event].ids, &stored, sizeof stored))
        st = pf_fail_nomem(err, "merge");
    return st == PERFILE_OK ? map_id(in, id, new_id, event, err) : st;
}

/* Adds the ids of event k of the input. An event without ids gets a new one as first_id, which its
 * records will carry: the output may have several events, which are distinguished by ids. */
static perfile_status add_ids(event_builder *m, pf_merge_input *in, uint32_t k, perfile_error *err)
{
    const perfile_event *e = perfile_session_event(in->session, k);
    pf_merge_event *mine = &in->events[k];
    perfile_status st = PERFILE_OK;
    uint64_t id, stored;
    for (size_t i = 0; i < e->ids.n && st == PERFILE_OK; i++) {
        id = perfile_word(&e->ids, i);
        if (id == 0 || perfile_session_event_by_id(in->session, id) != e || find_id(in, id))
            continue; /* not an id, taken by another event, or listed twice */
        st = add_id(m, in, id, mine->out, err);
        if (st == PERFILE_OK && !mine->first_id)
            mine->first_id = find_id(in, id)->new_id;
    }
    if (st != PERFILE_OK || mine->first_id)
        return st;
    in->renumbers = true; /* with a single event, records may carry any id */
    const pf_merge_input *shared = shares_ids_with(m->x, in);
    if (shared && shared->events[k].out == mine->out) {
        mine->first_id = shared->events[k].first_id;
        return PERFILE_OK;
    }
    st = fresh_id(m->x, &id, err);
    mine->first_id = id;
    pf_store_u64((uint8_t *)&stored, id, m->swapped);
    if (st == PERFILE_OK && !pf_buffer_append(&m->all[mine->out].ids, &stored, sizeof stored))
        st = pf_fail_nomem(err, "merge");
    return st;
}

/* Finds or makes the output events of all events of an input, and maps their ids. */
static perfile_status add_input(event_builder *m, pf_merge_input *in, perfile_error *err)
{
    const pf_merge_input *part_of = in->is_part && in->first_of_recording != in->at
                                        ? &m->x->inputs[in->first_of_recording]
                                        : NULL;
    perfile_status st = PERFILE_OK;
    in->events = pf_alloc(in->n_events ? in->n_events : 1, sizeof *in->events);
    if (!in->events)
        return pf_fail_nomem(err, "merge");
    for (uint32_t k = 0; k < in->n_events && st == PERFILE_OK; k++) {
        const perfile_event *e = perfile_session_event(in->session, k);
        if (part_of) {
            in->events[k].out = part_of->events[k].out;
        } else {
            st = pf_merge_attr(&m->attrs, in, e, &m->scratch, err);
            if (st == PERFILE_OK)
                st = find_output_event(m, in, e, &in->events[k].out, err);
        }
        if (st == PERFILE_OK)
            st = add_ids(m, in, k, err);
    }
    in->n_event_ids = in->new_ids.len / sizeof(pf_merge_id_pair);
    /* The ids of a single event may come later, in an ID_INDEX record.  Until then any id of a
     * record means this event. */
    in->renumbers |= in->n_events == 1 && pf_session_n_without_ids(in->session) == 1;
    return st;
}

/* Returns true if the output needs no PERF_SAMPLE_IDENTIFIER: the id is at the same offset in the
 * samples and trailers of all inputs, or all inputs are parts of one recording, which was readable
 * as it was. */
static bool ids_at_same_place(const pf_merge *x)
{
    const perfile_layout *one = NULL;
    bool alike = true, parts = true;
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        const pf_merge_input *in = &x->inputs[i];
        parts &= i == 0 || (in->is_part && in->first_of_recording == 0);
        for (uint32_t k = 0; k < in->n_events; k++) {
            const perfile_layout *l = perfile_session_event(in->session, k)->layout;
            one = one ? one : l;
            alike &= pf_layout_sample_id(l) >= 0 && l->sample_id_all == one->sample_id_all &&
                     pf_layout_sample_id(l) == pf_layout_sample_id(one) &&
                     pf_layout_trailer_id(l) == pf_layout_trailer_id(one);
        }
    }
    return alike || parts;
}

/* Distance of new ids from the greatest known one. The kernel numbers ids consecutively. Copies of
 * events in other threads (inherit) get the next ids, which are in no list but occur as stream ids.
 */
#define NEW_ID_DISTANCE (UINT64_C(1) << 32)

/* Finds the owner of every id, the first number for new ids, and whether IDENTIFIER is needed. */
static perfile_status collect_ids(pf_merge *x, perfile_error *err)
{
    uint64_t greatest = 0;
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        const pf_merge_input *in = &x->inputs[i];
        for (uint32_t k = 0; k < in->n_events; k++) {
            const perfile_event *e = perfile_session_event(in->session, k);
            x->sample_id_all |= e->layout->sample_id_all;
            for (size_t j = 0; j < e->ids.n; j++) {
                uint64_t id = perfile_word(&e->ids, j);
                greatest = id > greatest ? id : greatest;
                if (pf_index_get(&x->owners, id) == PF_INDEX_NONE &&
                    !pf_index_put(&x->owners, id, i))
                    return pf_fail_nomem(err, "merge");
            }
        }
    }
    x->next_id = greatest + NEW_ID_DISTANCE;
    x->adds_ids = !ids_at_same_place(x);
    return PERFILE_OK;
}

/* Adds the events to the session of the output. */
static perfile_status store_events(const event_builder *m, perfile_error *err)
{
    perfile_session *s = m->x->base.session;
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; i < m->n && st == PERFILE_OK; i++) {
        const pf_attr_fact fact = {.attr = {m->all[i].attr.ptr, m->all[i].attr.len},
                                   .ids = {m->all[i].ids.ptr, m->all[i].ids.len},
                                   .offset = PERFILE_NO_OFFSET,
                                   .origin = PERFILE_ORIGIN_CONTAINER};
        st = pf_session_add_attr(s, &fact, err);
    }
    m->x->result.events = m->n;
    return st == PERFILE_OK ? pf_session_resolve(s, err) : st;
}

/* Adds the field of sample_type bit `bit` to a list of patches, if the layout has it. */
static void plan_patch(pf_merge_patch *all, uint8_t *n, const int8_t *slots, unsigned bit,
                       unsigned rule)
{
    if (slots[bit] >= 0)
        all[(*n)++] = (pf_merge_patch){slots[bit], (uint8_t)rule};
}

/* Lists the fields at fixed offsets that change, with their slots. */
static void plan_patches(const pf_merge *x, const pf_merge_input *in, const int8_t *slots,
                         pf_merge_patch *all, uint8_t *n)
{
    plan_patch(all, n, slots, PF_SLOT_IDENTIFIER, PF_MERGE_ID);
    plan_patch(all, n, slots, PF_SLOT_ID, PF_MERGE_ID);
    plan_patch(all, n, slots, PF_SLOT_STREAM_ID, PF_MERGE_STREAM);
    if (in->host && x->options.flags & PERFILE_MERGE_MAP_PIDS)
        plan_patch(all, n, slots, PF_SLOT_TID, PF_MERGE_TASK);
    if (in->offset)
        plan_patch(all, n, slots, PF_SLOT_TIME, PF_MERGE_TIME);
}

/* Slots of trailers count from the end: 1 is the last. 0 and -1 mean that the field is missing. */
static void plan_trailer(const pf_merge *x, const pf_merge_input *in, const perfile_layout *l,
                         pf_merge_plan *p)
{
    int8_t slots[sizeof l->trailer_slot];
    for (size_t i = 0; i < sizeof slots; i++)
        slots[i] = l->trailer_slot[i] >= 1 ? l->trailer_slot[i] : -1;
    plan_patches(x, in, slots, p->trailer, &p->n_trailer);
}

/* Plans how records of the layout of `e` are converted to the layout of `out`. If trailers are
 * added, no trailer is converted: record.c makes them. */
static perfile_status make_plan(const pf_merge *x, const pf_merge_input *in, const perfile_event *e,
                                const perfile_event *out, pf_merge_plan *p, perfile_error *err)
{
    perfile_layout to = *out->layout;
    *p = (pf_merge_plan){.add_trailer = to.sample_id_all && !e->layout->sample_id_all};
    if (p->add_trailer) {
        perfile_attr attr = *out->attr;
        attr.flags &= ~(UINT64_C(1) << PERFILE_ATTR_BIT_SAMPLE_ID_ALL);
        perfile_layout_of_attr(&attr, sizeof attr, &to);
    }
    perfile_status st = pf_relayout_plan(&p->relayout, e->layout, &to, err);
    if (st != PERFILE_OK)
        return st;
    plan_patches(x, in, to.sample_slot, p->sample, &p->n_sample);
    plan_trailer(x, in, out->layout, p);
    bool ids = to.sample_type & PERFILE_SAMPLE_READ && to.read_format & PERFILE_FORMAT_ID;
    /* Cgroup fields have no fixed offset. They change for all boots but the first. */
    bool cgroups = to.sample_type & PERFILE_SAMPLE_CGROUP && in->host;
    p->walk_sample = (ids && in->renumbers) || cgroups;
    return PERFILE_OK;
}

/* Returns true if records of this plan keep all their bytes, except for values at fixed offsets. */
static bool keeps_layout(const pf_merge_plan *p)
{
    return p->relayout.front.same && p->relayout.trailer.same && p->relayout.same_rest &&
           !p->add_trailer && !p->walk_sample;
}

/* Returns the slot of the id if nothing else can change in a sample, -1 if something else can or
 * there is no id. */
static int slot_of_only_id(const pf_merge_input *in)
{
    const pf_merge_plan *p = &in->plans[0];
    const int slot = pf_layout_sample_id(&p->relayout.from);
    bool only = in->plain ||
                (p->n_sample == 1 && p->sample[0].rule == PF_MERGE_ID && p->sample[0].slot == slot);
    return p->relayout.front.same && only ? slot : -1;
}

/* Makes one plan for each layout of the input, and sets the members that select the fast paths. */
static perfile_status make_plans(pf_merge *x, pf_merge_input *in, perfile_error *err)
{
    uint32_t cap = 0;
    in->rewrites_fields = in->renumbers || in->offset || in->host;
    in->plain =
        !in->renumbers && !in->offset && !(in->host && x->options.flags & PERFILE_MERGE_MAP_PIDS);
    for (uint32_t k = 0; k < in->n_events; k++) {
        const perfile_event *e = perfile_session_event(in->session, k);
        const perfile_event *out = perfile_session_event(x->base.session, in->events[k].out);
        uint32_t at = 0;
        while (at < in->n_plans && !pf_layout_equal(&in->plans[at].relayout.from, e->layout))
            at++;
        if (at == in->n_plans) {
            pf_merge_plan *more = pf_array_more(in->plans, in->n_plans, &cap, sizeof *more);
            if (!more)
                return pf_fail_nomem(err, "merge");
            in->plans = more;
            perfile_status st = make_plan(x, in, e, out, &in->plans[in->n_plans++], err);
            if (st != PERFILE_OK)
                return st;
        }
        in->events[k].plan = at;
        in->plain &= keeps_layout(&in->plans[at]);
    }
    in->fixed_fields_only = in->n_plans == 1 && !in->plans[0].walk_sample;
    in->id_slot = in->fixed_fields_only ? slot_of_only_id(in) : -1;
    in->min_body = in->fixed_fields_only ? 8 * (size_t)in->plans[0].relayout.front.old : 0;
    return PERFILE_OK;
}

static void free_builder(event_builder *m)
{
    for (uint32_t i = 0; i < m->n; i++) {
        pf_buffer_free(&m->all[i].attr);
        pf_buffer_free(&m->all[i].ids);
    }
    pf_free(m->all);
    pf_buffer_free(&m->scratch);
}

/* Output attrs need adds_ids and sample_id_all, which collect_ids() finds. Plans need the layouts
 * of the output, which exist once the events are in its session. */
perfile_status pf_merge_events(pf_merge *x, perfile_error *err)
{
    event_builder m = {.x = x, .swapped = pf_session_swapped(x->base.session)};
    pf_merge_attrs_begin(&m.attrs, x);
    perfile_status st = collect_ids(x, err);
    for (uint32_t i = 0; i < x->n_inputs && st == PERFILE_OK; i++)
        st = add_input(&m, &x->inputs[i], err);
    if (st == PERFILE_OK)
        st = store_events(&m, err);
    free_builder(&m);
    for (uint32_t i = 0; i < x->n_inputs && st == PERFILE_OK; i++)
        st = make_plans(x, &x->inputs[i], err);
    return st;
}

bool pf_merge_find_id(const pf_merge_input *in, uint64_t id, uint64_t *out)
{
    const pf_merge_id_pair *known = find_id(in, id);
    bool of_event = known && known->event != UINT32_MAX;
    *out = of_event ? known->new_id : id;
    return of_event;
}

bool pf_merge_find_stream(const pf_merge_input *in, uint64_t id, uint64_t *out)
{
    const pf_merge_id_pair *known = find_id(in, id);
    *out = known ? known->new_id : id;
    return known != NULL;
}

perfile_status pf_merge_new_id(pf_merge *x, pf_merge_input *in, uint64_t id, uint64_t *out,
                               perfile_error *err)
{
    /* Limit for ids of no event in one input: each costs memory, and a damaged input may have
     * many. */
    enum { MOST = 1 << 20 };
    if (pf_merge_find_stream(in, id, out))
        return PERFILE_OK;
    /* Samples of this input are passed on unread, so ids in its other records must not change
     * either. */
    *out = id;
    if (in->plain)
        return PERFILE_OK;
    if (in->new_ids.len / sizeof(pf_merge_id_pair) - in->n_event_ids >= MOST)
        return pf_fail(err, PERFILE_E_LIMIT, "merge.ids", "%s: more than %d ids that no event has",
                       in->name, MOST);
    /* The input keeps the id if it is the first input that has it, or shares it with its recording.
     * Otherwise it gets a new one: the number means something else in another input, or was used as
     * a new id. */
    uint32_t owner = pf_index_get(&x->owners, id);
    perfile_status st = PERFILE_OK;
    if (owner == PF_INDEX_NONE)
        st = pf_index_put(&x->owners, id, in->at) ? PERFILE_OK : pf_fail_nomem(err, "merge");
    else if (owner == x->n_inputs || (owner != in->at && !shares_ids_with(x, in)))
        st = fresh_id(x, out, err);
    return st == PERFILE_OK ? map_id(in, id, *out, UINT32_MAX, err) : st;
}

/* The attr of an event in the output: with IDENTIFIER and sample_id_all if the output needs them,
 * with the output's clock if times were moved to it, and cut to the attr size of the oldest perf
 * among the inputs. The attr is walked, and fields are recognized by their kinds. */

/* An attr that is being rewritten. */
typedef struct rewriting {
    const pf_merge_attrs *m;
    uint8_t *out;    /* the attr; the walk reads a copy of it */
    bool take_clock; /* times of the input were moved to another clock */
} rewriting;

/* Visitor: changes a field in place. Bit fields in an attr of the other byte order are mirrored,
 * too (pf_bit_fields_from_little()). */
static void on_value(void *user, const perfile_field *f, const perfile_value *v)
{
    const rewriting *w = user;
    const pf_merge_attrs *m = w->m;
    uint64_t n = v->number;
    switch (f->kind) {
    case PERFILE_KIND_SAMPLE_TYPE:
        n |= m->x->adds_ids ? PERFILE_SAMPLE_IDENTIFIER : 0;
        break;
    case PERFILE_KIND_ATTR_FLAGS:
        /* If one event has trailers, all get them, so that the output can be read as a whole. */
        n |= (uint64_t)m->x->sample_id_all << PERFILE_ATTR_BIT_SAMPLE_ID_ALL;
        if (w->take_clock) {
            n &= ~(UINT64_C(1) << PERFILE_ATTR_BIT_USE_CLOCKID);
            n |= (uint64_t)m->use_clockid << PERFILE_ATTR_BIT_USE_CLOCKID;
        }
        break;
    case PERFILE_KIND_EVENT_CLOCKID:
        if (w->take_clock)
            pf_store_u32(w->out + v->offset, (uint32_t)m->clockid, m->swapped);
        return;
    default:
        return;
    }
    if (v->width == 8)
        pf_store_u64(w->out + v->offset, pf_bit_fields_from_little(n, f->kind, m->swapped),
                     m->swapped);
}

static void on_group(void *user, const perfile_field *f, const perfile_value *v)
{
    (void)user, (void)f, (void)v;
}

static void on_end(void *user, const perfile_field *f)
{
    (void)user, (void)f;
}

/* Returns the attr size that all inputs knew: each input's longest attr, and the least of these.
 * Returns SIZE_MAX, and nothing is cut, if that is not a possible size. */
static size_t common_size(const pf_merge *x)
{
    size_t common = SIZE_MAX;
    for (uint32_t i = 0; i < x->n_inputs; i++) {
        const pf_merge_input *in = &x->inputs[i];
        size_t longest = 0;
        for (uint32_t k = 0; k < in->n_events; k++) {
            size_t len = perfile_session_event(in->session, k)->stored.len;
            longest = len > longest ? len : longest;
        }
        common = in->n_events && longest < common ? longest : common;
    }
    return common >= PF_ATTR_LEAST && common % 8 == 0 ? common : SIZE_MAX;
}

/* Cuts an attr to m->size if only zeros follow. So the oldest perf among the inputs can read it,
 * and attrs that differ only in trailing zeros are equal and can be joined. */
static void cut_trailing_zeros(const pf_merge_attrs *m, pf_buffer *attr)
{
    size_t len = attr->len;
    while (len > m->size && attr->ptr[len - 1] == 0)
        len--;
    if (len > m->size || attr->len <= m->size)
        return;
    attr->len = m->size;
    pf_store_u32(attr->ptr + PF_ATTR_SIZE_AT, (uint32_t)m->size, m->swapped);
}

void pf_merge_attrs_begin(pf_merge_attrs *m, const pf_merge *x)
{
    perfile_clock clock;
    perfile_session_clock(x->inputs[x->clock_input].session, &clock);
    *m = (pf_merge_attrs){.x = x,
                          .size = common_size(x),
                          .swapped = pf_session_swapped(x->base.session),
                          .use_clockid = clock.known,
                          .clockid = clock.known ? clock.clockid : 0};
}

perfile_status pf_merge_attr(const pf_merge_attrs *m, const pf_merge_input *in,
                             const perfile_event *e, pf_buffer *out, perfile_error *err)
{
    /* Size of an attr up to and including clockid (PERF_ATTR_SIZE_VER4). */
    enum { WITH_CLOCKID = 96 };
    static const perfile_visitor visitor = {sizeof visitor, on_value, on_group, on_end};
    static const uint8_t zeros[WITH_CLOCKID];
    /* Attrs of inputs that were moved to the output's clock name that clock. */
    bool take_clock = in->clock_reason == PF_MERGE_CLOCK_WALL ||
                      in->clock_reason == PF_MERGE_CLOCK_GIVEN ||
                      in->clock_reason == PF_MERGE_CLOCK_ALIGNED;
    size_t len = e->stored.len;
    pf_buffer_clear(out);
    if (!pf_buffer_append(out, e->stored.ptr, len))
        return pf_fail_nomem(err, "merge");
    /* An old attr has no room for clockid: it is extended with zeros. */
    if (take_clock && m->use_clockid && len < WITH_CLOCKID) {
        if (!pf_buffer_append(out, zeros, WITH_CLOCKID - len))
            return pf_fail_nomem(err, "merge");
        pf_store_u32(out->ptr + PF_ATTR_SIZE_AT, WITH_CLOCKID, m->swapped);
    }
    rewriting w = {m, out->ptr, take_clock};
    const perfile_bytes attr = {out->ptr, out->len};
    pf_buffer copy = {0}; /* the walk must not see its own changes */
    if (!pf_buffer_append(&copy, attr.ptr, attr.len))
        return pf_fail_nomem(err, "merge");
    /* If an attr cannot be walked to its end, its other fields stay unchanged. */
    (void)perfile_attr_walk((perfile_bytes){copy.ptr, copy.len}, m->swapped, PERFILE_WALK_ALL,
                            &visitor, &w, NULL);
    pf_buffer_free(&copy);
    cut_trailing_zeros(m, out);
    return PERFILE_OK;
}

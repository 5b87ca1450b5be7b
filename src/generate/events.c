/* Events: attrs and ids of a file, records of a pipe; see README.md. */
#include "generate/capture.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"
#include "core/command.h"
#include "core/layout.h"
#include "schema/command.h"

/* A tracepoint has a number, and RAW data in its samples: without the field, the event is another
 * one. */
static void adjust_tracepoint(pf_gen *g, perfile_attr *a)
{
    const bool bare = g->o->oddity == PF_GENERATE_BARE_TRACEPOINTS;
    if (bare)
        a->type = PERFILE_TYPE_TRACEPOINT;
    else if (g->o->fields && !(g->o->fields & PERFILE_SAMPLE_RAW) &&
             a->type == PERFILE_TYPE_TRACEPOINT)
        a->type = PERFILE_TYPE_SOFTWARE;
    if (a->type != PERFILE_TYPE_TRACEPOINT)
        return;
    a->config = 100 + pf_random_below(&g->maker.dice, 400);
    a->sample_type |= PERFILE_SAMPLE_RAW;
    if (bare)
        a->sample_type &= ~(uint64_t)PERFILE_SAMPLE_RAW;
}

/* Chooses which fields the samples of an event have.  With several events each record needs an id
 * at a fixed place. */
static perfile_status adjust_attr(pf_gen *g, const pf_gen_wanted *w, void *given,
                                  perfile_error *err)
{
    (void)w, (void)err;
    perfile_attr *a = given;
    pf_random *d = &g->maker.dice;
    const uint32_t size = g->maker.attr_size;
    const uint64_t weights = PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT;
    a->type = (uint32_t)pf_random_below(d, 6);
    a->sample_type = pf_random_next(d) & PERFILE_SAMPLE_KNOWN;
    if ((a->sample_type & weights) == weights)
        a->sample_type &= ~(uint64_t)PERFILE_SAMPLE_WEIGHT;
    if (g->o->n_events > 1)
        a->sample_type |= PERFILE_SAMPLE_TIME | PERFILE_SAMPLE_IDENTIFIER;
    a->read_format = pf_random_below(d, 32);
    if (g->o->has_read_format)
        a->read_format = g->o->read_format;
    if (g->o->fields)
        a->sample_type = g->o->fields;
    adjust_tracepoint(g, a);
    a->flags |= UINT64_C(1) << PERFILE_ATTR_BIT_SAMPLE_ID_ALL;
    a->sample_regs_user = size >= 88 ? pf_random_below(d, 1 << 16) : 0;
    a->sample_regs_intr = size >= 104 ? pf_random_below(d, 1 << 16) : 0;
    a->sample_stack_user = size >= 88 ? 8 + 8 * (uint32_t)pf_random_below(d, 100) : 0;
    a->__reserved_2 = 0;
    return PERFILE_OK;
}

static perfile_status encode_attr(pf_gen *g, const pf_gen_wanted *w, const void *given, size_t *len,
                                  perfile_error *err)
{
    (void)w;
    return perfile_attr_encode(given, sizeof(perfile_attr), &g->how, g->space.out, PF_GEN_ROOM, len,
                               err);
}

static const pf_gen_wanted an_attr = {.shape = &pf_struct_shapes[PF_SHAPE_attr],
                                      .of = PF_SHAPE_attr,
                                      .size = sizeof(perfile_attr),
                                      .settle = pf_settle_attr,
                                      .adjust = adjust_attr,
                                      .encode = encode_attr};

static void show_ids(pf_shown *out, const char *key, const pf_gen_event *e)
{
    pf_show_key(out, key);
    pf_show_open(out, '[');
    for (unsigned i = 0; i < e->n_ids; i++)
        pf_show_decimal(out, e->ids[i]);
    pf_show_shut(out, ']');
}

static void show_attr(pf_shown *out, const pf_gen_event *e)
{
    pf_show_key(out, "attr");
    pf_show_open(out, '{');
    pf_show_struct(out, &pf_struct_shapes[PF_SHAPE_attr], PF_SHAPE_attr, &e->attr, PF_GEN_NONE);
    pf_show_shut(out, '}');
}

static void choose_event_ids(pf_gen_event *e, uint32_t number, const pf_spec_item *item)
{
    e->n_ids = item && item->n_ids ? item->n_ids : PF_GEN_IDS;
    for (unsigned i = 0; i < e->n_ids; i++)
        e->ids[i] = item && item->n_ids ? item->ids[i] : 1000 + number * PF_GEN_IDS + i;
}

/* Adds the event type that a file of version 1 has for an event. */
static perfile_status add_event_type(pf_gen *g, uint32_t number, perfile_error *err)
{
    char name[24];
    const uint64_t id = g->events[number].attr.config;
    const int n = snprintf(name, sizeof name, "type-%" PRIu32, number);
    pf_gen_begin_line(&g->types, "event_type");
    pf_show_key(&g->types, "event_id");
    pf_show_decimal(&g->types, id);
    pf_gen_show_name(&g->types, name);
    pf_show_line_end(&g->types);
    return pf_writer_event_type(g->writer, id, (perfile_bytes){(const uint8_t *)name, (size_t)n},
                                err);
}

perfile_status pf_gen_add_event(pf_gen *g, uint32_t number, perfile_error *err)
{
    pf_gen_event *e = &g->events[number];
    pf_maker *m = &g->maker;
    size_t len;
    const pf_spec_list *said = pf_gen_said(g, offsetof(pf_spec, events));
    const pf_spec_item *item = said ? &said->at[number] : NULL;
    pf_gen_take(g, item);
    perfile_status st = pf_gen_make(g, &an_attr, &e->attr, &len, err);
    if (st == PERFILE_END)
        return pf_fail(err, PERFILE_E_USAGE, "generate.attr_size",
                       "no attr of %u bytes could be made", m->attr_size);
    if (st != PERFILE_OK)
        return st;
    perfile_layout_of_attr(&e->attr, sizeof e->attr, &e->layout);
    choose_event_ids(e, number, item);
    const perfile_words ids = perfile_words_u64(e->ids, e->n_ids);
    perfile_error why;
    st = perfile_writer_event(g->writer, (perfile_bytes){g->space.out, len}, &ids, &why);
    if (st == PERFILE_E_USAGE && item)
        return pf_spec_fail(item->line, err, "%.200s", why.message);
    if (st != PERFILE_OK)
        return pf_gen_fail_as(&why, st, err);
    g->sum->events++;
    if (pf_gen_is_pipe(g)) {
        pf_covered_see_row(g->o->covered, "HEADER_ATTR");
        pf_gen_begin_record(g, PERFILE_RECORD_HEADER_ATTR, "HEADER_ATTR", 0,
                            PF_PERF_RECORD_HEADER + len + 8 * e->n_ids);
        pf_show_key(&g->records, "body");
        pf_show_open(&g->records, '{');
        show_attr(&g->records, e);
        show_ids(&g->records, "id", e);
        pf_show_shut(&g->records, '}');
        pf_show_line_end(&g->records);
        return PERFILE_OK;
    }
    pf_gen_begin_line(&g->attrs, "attr");
    pf_show_key(&g->attrs, "index");
    pf_show_count(&g->attrs, number);
    show_attr(&g->attrs, e);
    show_ids(&g->attrs, "ids", e);
    pf_show_line_end(&g->attrs);
    return pf_gen_is_version_1(g) ? add_event_type(g, number, err) : PERFILE_OK;
}

void pf_gen_choose_ids(pf_gen *g, uint32_t number, uint32_t n)
{
    pf_maker *m = &g->maker;
    m->n_ids = 0;
    for (uint32_t i = number; i < number + n && m->n_ids + g->events[i].n_ids <= PF_MADE_IDS; i++)
        for (unsigned k = 0; k < g->events[i].n_ids; k++)
            m->ids[m->n_ids++] = g->events[i].ids[k];
}

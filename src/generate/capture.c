/* pf_generate(): the sequence of a capture, and the making of a struct; see README.md. */
#include "generate/capture.h"

#include <string.h>

#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "core/command.h"
#include "io/out.h"
#include "schema/command.h"

enum {
    TRIES = 200,            /* of one struct, before its type is left out */
    ARENA_BYTES = 64 << 20, /* for one struct; far more than it needs */
    ATTR_OF_VERSION_1 = 80  /* bytes of an attr of perf 3.6 */
};

void pf_gen_take(pf_gen *g, const pf_spec_item *item)
{
    pf_maker *m = &g->maker;
    m->given = item && item->given.n ? &item->given : NULL;
    memset(m->used, 0, sizeof m->used);
    pf_place_begin(&m->place, "");
}

perfile_status pf_gen_fail_as(const perfile_error *why, perfile_status st, perfile_error *err)
{
    if (err)
        *err = *why;
    return st;
}

/* Returns the path of a given member that the struct does not have; NULL if it has all. */
static const char *unused_member(const pf_maker *m)
{
    for (uint32_t i = 0; m->given && i < m->given->n; i++) {
        /* An item of a list is there if the list is: it has as many items as are given. */
        if (!(m->used[i / 64] >> i % 64 & 1))
            return m->given->at[i].path;
    }
    return NULL;
}

/* Makes the struct once. */
static perfile_status try_to_make(pf_gen *g, const pf_gen_wanted *w, void *made, perfile_error *err)
{
    pf_maker *m = &g->maker;
    memset(made, 0, w->size);
    perfile_status st = pf_make(m, w->shape, w->of, made, err);
    if (st == PERFILE_OK)
        st = w->adjust(g, w, made, err);
    if (st == PERFILE_OK && m->given)
        st = pf_make_given(m, w->shape, w->of, made, err);
    if (st == PERFILE_OK)
        w->settle(made);
    return st;
}

/* Fails because no struct with the given values was found; `last` is why the last one was none. */
static perfile_status fail_given(const pf_maker *m, const pf_gen_wanted *w, const char *unused,
                                 const perfile_error *last, perfile_error *err)
{
    const char *name = w->row ? w->row->name : "event";
    if (unused)
        return pf_spec_fail(
            m->given->line, err,
            "this %s cannot have '%.60s': its event or its other members exclude it", name, unused);
    return pf_spec_fail(m->given->line, err, "no %s can have these values: %.160s", name,
                        last->message);
}

perfile_status pf_gen_make(pf_gen *g, const pf_gen_wanted *w, void *made, size_t *len,
                           perfile_error *err)
{
    pf_maker *m = &g->maker;
    const uint64_t time = m->time;
    const uint32_t turn = m->turn;
    pf_random dice = m->dice;
    uint64_t used[sizeof m->used / sizeof m->used[0]];
    const char *unused = NULL;
    perfile_error why = {0};
    memcpy(used, m->used, sizeof used);
    m->n_conditions = 0;
    for (unsigned i = 0; i < TRIES; i++) {
        if (i && w->row)
            pf_arena_free(&m->arena);
        m->dice = dice;
        m->time = time;
        m->turn = turn;
        memcpy(m->used, used, sizeof used);
        perfile_status st = try_to_make(g, w, made, err);
        if (st != PERFILE_OK)
            return st;
        unused = unused_member(m);
        st = unused ? PERFILE_E_USAGE : w->encode(g, w, made, len, &why);
        if (st == PERFILE_OK)
            pf_covered_see(g->o->covered, w->row ? w->row->name : NULL, w->shape, w->of, made);
        if (st == PERFILE_OK)
            return st;
        if (st != PERFILE_E_USAGE && st != PERFILE_E_LIMIT)
            return pf_gen_fail_as(&why, st, err);
        if (unused || !pf_make_change(m, why.where) || m->given)
            dice.state += i + 1;
        if (i % 32 == 31)
            m->n_conditions = 0;
    }
    return m->given ? fail_given(m, w, unused, &why, err) : PERFILE_END;
}

void pf_gen_leave_out(pf_gen *g, const char *name)
{
    for (uint32_t i = 0; i < g->sum->n_left_out; i++)
        if (g->sum->left_out[i] == name)
            return;
    if (g->sum->n_left_out < sizeof g->sum->left_out / sizeof g->sum->left_out[0])
        g->sum->left_out[g->sum->n_left_out++] = name;
}

/* Returns a clock that events can have. */
static int32_t choose_clock(const pf_maker *m)
{
    const perfile_vocabulary *v = pf_kind_words(PERFILE_KIND_EVENT_CLOCKID);
    return (int32_t)v->words[m->turn % v->n].value;
}

/* Fills in what options and description leave open.  Options win. */
static void set_defaults(pf_generate_options *o)
{
    static const pf_generate_options nothing = {0};
    const pf_generate_options *said = o->spec ? &o->spec->said : &nothing;
    const uint32_t described = o->spec && o->spec->events.said ? o->spec->events.n : 0;
#define FIRST(member, last) o->member = o->member ? o->member : said->member ? said->member : (last)
    FIRST(seed, 1);
    FIRST(form, PERFILE_FORM_FILE);
    FIRST(byte_order, PERFILE_BYTE_ORDER_LITTLE);
    FIRST(attr_size, o->form == PF_GENERATE_VERSION_1 ? ATTR_OF_VERSION_1 : PF_ATTR_OURS);
    FIRST(n_events, 3);
    FIRST(rounds, 3);
    FIRST(compress, 0);
    FIRST(compress2, 0);
#undef FIRST
    o->n_events = described ? described : o->n_events;
}

static perfile_status begin(pf_gen *g, perfile_sink *sink, perfile_error *err)
{
    const pf_generate_options *o = g->o;
    pf_maker *m = &g->maker;
    if (o->n_events > PF_GENERATE_MOST_EVENTS)
        return pf_fail(err, PERFILE_E_USAGE, "generate.n_events", "%u events, 1 to %d are possible",
                       o->n_events, (int)PF_GENERATE_MOST_EVENTS);
    if (o->rounds > PF_GENERATE_MOST_ROUNDS)
        return pf_fail(err, PERFILE_E_USAGE, "generate.rounds",
                       "%u records of each type, at most %d", o->rounds,
                       (int)PF_GENERATE_MOST_ROUNDS);
    if (o->form == PF_GENERATE_DIRECTORY && !pf_sink_has_parts(sink))
        return pf_fail(err, PERFILE_E_USAGE, "generate.form", "the output is not a directory");
    m->attr_size = o->attr_size;
    if (!pf_attr_size_is_known(m->attr_size) &&
        (m->attr_size < PF_ATTR_OURS || m->attr_size > PF_ATTR_MOST || m->attr_size % 8))
        return pf_fail(err, PERFILE_E_USAGE, "generate.attr_size",
                       "no kernel had attrs of %u bytes", m->attr_size);
    m->dice.state = o->seed;
    m->turn = (uint32_t)o->seed;
    m->time = UINT64_C(1000000000);
    m->has_clock = pf_random_below(&m->dice, 2);
    m->clock = choose_clock(m);
    m->n_events = o->n_events;
    m->empty_groups = o->oddity == PF_GENERATE_EMPTY_GROUPS;
    m->n_cpus = 4;
    pf_arena_init(&m->arena, ARENA_BYTES, "generate");
    const bool big = o->byte_order == PERFILE_BYTE_ORDER_BIG;
    g->swap = big != (bool)PF_NATIVE_BIG;
    g->how = (perfile_encode_options){.size = sizeof g->how,
                                      .n_cpus = m->n_cpus,
                                      .byte_order =
                                          big ? PERFILE_BYTE_ORDER_BIG : PERFILE_BYTE_ORDER_LITTLE};
    const perfile_writer_options writing = {
        .size = sizeof writing,
        .form = o->form == PERFILE_FORM_PIPE ? PERFILE_FORM_PIPE : PERFILE_FORM_FILE,
        .byte_order = g->how.byte_order,
        .as_stored = !pf_gen_said(g, offsetof(pf_spec, events)),
        .compress_level = PERFILE_COMPRESS_NONE};
    g->events = pf_alloc(o->n_events, sizeof *g->events);
    g->space.out = pf_alloc(1, PF_GEN_ROOM);
    g->space.given = pf_alloc(1, PF_GEN_ROOM);
    g->space.again = pf_alloc(1, PF_GEN_ROOM);
    if (!g->events || !g->space.out || !g->space.given || !g->space.again)
        return pf_fail_nomem(err, "generate");
    perfile_status st = pf_gen_pack_begin(g, err);
    if (st == PERFILE_OK)
        st = perfile_writer_open(sink, &writing, &g->writer, err);
    return st == PERFILE_OK && pf_gen_is_version_1(g) ? pf_writer_version_1(g->writer, err) : st;
}

static void end(pf_gen *g)
{
    perfile_writer_close(g->writer);
    pf_gen_pack_end(g);
    pf_arena_free(&g->maker.arena);
    pf_arena_free(&g->of_events);
    for (unsigned i = 0; i < g->n_sections; i++)
        pf_buffer_free(&g->sections[i].line.text);
    pf_buffer_free(&g->attrs.text);
    pf_buffer_free(&g->types.text);
    pf_buffer_free(&g->records.text);
    pf_buffer_free(&g->aux_index);
    pf_free(g->events);
    pf_free(g->space.out);
    pf_free(g->space.given);
    pf_free(g->space.again);
    pf_free(g);
}

perfile_status pf_generate(const pf_generate_options *options, perfile_sink *sink,
                           perfile_sink *expect, pf_generate_summary *sum, perfile_error *err)
{
    pf_gen *g = pf_alloc(1, sizeof *g);
    if (!g)
        return pf_fail_nomem(err, "generate");
    *sum = (pf_generate_summary){0};
    g->options = *options;
    g->o = &g->options;
    set_defaults(&g->options);
    g->sum = sum;
    g->attrs.unwanted = g->types.unwanted = g->records.unwanted = !expect;
    perfile_status st = begin(g, sink, err);
    for (uint32_t i = 0; i < g->o->n_events && st == PERFILE_OK; i++)
        st = pf_gen_add_event(g, i, err);
    g->of_events = g->maker.arena;
    pf_arena_init(&g->maker.arena, ARENA_BYTES, "generate");
    if (st == PERFILE_OK && pf_gen_is_pipe(g))
        st = pf_gen_features(g, err);
    if (st == PERFILE_OK)
        st = pf_gen_records(g, err);
    if (st == PERFILE_OK && !pf_gen_is_pipe(g)) /* now it is known which times the samples have */
        st = pf_gen_features(g, err);
    if (st == PERFILE_OK)
        st = perfile_writer_finish(g->writer, err);
    if (st == PERFILE_OK && expect)
        st = pf_gen_write_dump(g, expect, err);
    end(g);
    return st;
}

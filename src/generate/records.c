/* Records of all types; see README.md. */
#include "generate/capture.h"

#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "core/layout.h"

/* A record that is being made. */
typedef struct making {
    const pf_gen_event *event;
    uint16_t misc;
    perfile_sample_id trailer;
    bool has_trailer;
} making;

/* Makes members of a record agree that the tables do not relate. */
static perfile_status adjust_record(pf_gen *g, const pf_gen_wanted *w, void *given,
                                    perfile_error *err)
{
    perfile_sample *s = given;
    perfile_text_poke *poke = given;
    switch (w->row->number) {
    case PERFILE_RECORD_SAMPLE:
        if (s->id && s->identifier)
            s->id = s->identifier;
        s->res = 0;
        return pf_gen_tracepoint_payload(g, &s->raw, err);
    case PERFILE_RECORD_SCHEDSTAT_CPU:
        ((perfile_schedstat_cpu *)given)->version = (uint16_t)(15 + g->sum->records % 3);
        break;
    case PERFILE_RECORD_SCHEDSTAT_DOMAIN: /* 18 is newer than the table */
        ((perfile_schedstat_domain *)given)->version = (uint16_t)(15 + g->sum->records % 4);
        break;
    case PERFILE_RECORD_TEXT_POKE:
        poke->old_len = (uint16_t)pf_random_below(&g->maker.dice, poke->bytes.len + 1);
        poke->new_len = (uint16_t)(poke->bytes.len - poke->old_len);
        break;
    case PERFILE_RECORD_AUXTRACE:
        pf_gen_adjust_aux(g, given);
        break;
    default:
        return pf_gen_adjust_simpleperf(g, w->row->number, given, err);
    }
    return PERFILE_OK;
}

/* Returns a cpumode for records of the kernel, and any bits that records of this type may have. */
static uint16_t choose_misc(pf_gen *g, uint32_t type)
{
    static const struct {
        uint32_t type;
        uint16_t bit;
    } bits[] = {
#define MISC(type, bit, word, set, clear) {PERFILE_RECORD_##type, PERFILE_MISC_##bit},
#include "perfile/format/misc.def"
    };
    pf_random *d = &g->maker.dice;
    uint16_t misc = type < PERFILE_RECORD_USER ? (uint16_t)(1 + pf_random_below(d, 5)) : 0;
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
        if (bits[i].type == type && pf_random_below(d, 2))
            misc |= bits[i].bit;
    return misc;
}

static perfile_status encode_record(pf_gen *g, const pf_gen_wanted *w, const void *given,
                                    size_t *len, perfile_error *err)
{
    g->space.room = PF_GEN_ROOM - 1;
    return pf_encode_row(w->row, &g->space, given, 0, &g->how, len, err);
}

/* Makes the trailer of a record of the event. */
static perfile_status make_trailer(pf_gen *g, making *r, perfile_error *err)
{
    pf_maker *m = &g->maker;
    const perfile_sample_id zeros = {0};
    r->trailer = zeros;
    pf_place_begin(&m->place, "sample_id.");
    m->present = pf_trailer_of(&r->event->layout, &zeros).present;
    perfile_status st =
        pf_make(m, &pf_struct_shapes[PF_SHAPE_sample_id], PF_SHAPE_sample_id, &r->trailer, err);
    r->trailer.present = m->present;
    r->trailer.res = 0;
    if (r->trailer.id && r->trailer.identifier)
        r->trailer.id = r->trailer.identifier;
    if (st == PERFILE_OK && m->given)
        st = pf_make_given(m, &pf_struct_shapes[PF_SHAPE_sample_id], PF_SHAPE_sample_id,
                           &r->trailer, err);
    pf_place_begin(&m->place, "");
    return st;
}

/* Notes the time of a sample. */
static void note_time(pf_gen *g, uint64_t time)
{
    g->first_time = g->first_time ? g->first_time : time;
    g->last_time = time;
}

static void show_record(pf_gen *g, const pf_gen_wanted *w, const making *r, const void *given,
                        const pf_gen_stored *stored)
{
    const size_t len = stored->record.len;
    const pf_row *row = w->row;
    const bool first = row->number == PERFILE_RECORD_SAMPLE || row->number == PERFILE_RECORD_READ;
    pf_shown *out =
        pf_gen_begin_record(g, row->number, row->contract ? row->name : NULL, r->misc, len);
    if (first) {
        pf_show_key(out, "attr");
        pf_show_count(out, (uint64_t)(r->event - g->events));
    }
    pf_show_key(out, "body");
    pf_show_open(out, '{');
    if (row->contract) {
        const size_t fixed = PF_PERF_RECORD_HEADER + row->fixed;
        pf_show_struct(out, w->shape, w->of, given,
                       (perfile_bytes){g->space.out + fixed, len > fixed ? len - fixed : 0});
    } else {
        pf_show_key(out, "data");
        pf_show_hex(out, (perfile_bytes){g->space.out + PF_PERF_RECORD_HEADER,
                                         len - PF_PERF_RECORD_HEADER});
    }
    pf_show_shut(out, '}');
    if (r->has_trailer) {
        pf_show_key(out, "sample_id");
        pf_show_open(out, '{');
        pf_show_struct(out, &pf_struct_shapes[PF_SHAPE_sample_id], PF_SHAPE_sample_id, &r->trailer,
                       PF_GEN_NONE);
        pf_show_shut(out, '}');
        if (!first) {
            pf_show_key(out, "attr");
            pf_show_count(out, (uint64_t)(r->event - g->events));
        }
    }
    pf_gen_show_after(g, out, stored->after);
    pf_show_line_end(out);
}

perfile_status pf_gen_write(pf_gen *g, const pf_gen_stored *r, perfile_error *err)
{
    const perfile_record out = {
        .header = r->record.ptr,
        .body = {r->record.ptr + PF_PERF_RECORD_HEADER, r->record.len - PF_PERF_RECORD_HEADER},
        .extra = r->after,
        .type = r->type,
        .misc = r->misc,
        .family = PERFILE_FAMILY_PERF,
        .flags = g->swap ? PERFILE_REC_SWAPPED : 0,
        .part = g->part,
        .envelope = PERFILE_NO_SEQUENCE};
    g->has_parts = g->has_parts || g->part;
    return perfile_writer_put(g->writer, &out, err);
}

perfile_status pf_gen_put(pf_gen *g, const pf_gen_stored *r, perfile_error *err)
{
    if (pf_gen_packs(g, r->type))
        return pf_gen_pack_add(g, r->record, err);
    const perfile_status st = pf_gen_pack_flush(g, err);
    return st == PERFILE_OK ? pf_gen_write(g, r, err) : st;
}

/* What a record is made of. */
typedef struct making_of {
    const pf_row *row;
    const pf_row_shape *shape;
    const pf_spec_item *item; /* the statement that demands it; NULL: none */
    void *given;              /* room for the struct */
} making_of;

/* Chooses event, misc and trailer of a record, and makes it in g->space.out.  Returns PERFILE_END
 * if there is none. */
static perfile_status make_record(pf_gen *g, const making_of *what, const pf_gen_wanted *w,
                                  making *r, size_t *len, perfile_error *err)
{
    pf_maker *m = &g->maker;
    const uint32_t type = what->row->number;
    const bool kernel = type < PERFILE_RECORD_USER, sample = type == PERFILE_RECORD_SAMPLE;
    const bool has_event = what->item && what->item->attr != PF_SPEC_ANY;
    const bool has_misc = what->item && what->item->misc != PF_SPEC_ANY;
    const uint32_t number = has_event ? (uint32_t)what->item->attr
                                      : (uint32_t)pf_random_below(&m->dice, g->o->n_events);
    perfile_status st = PERFILE_OK;
    *r = (making){.event = &g->events[number]};
    g->current = r->event;
    pf_gen_take(g, what->item);
    r->misc = has_misc ? (uint16_t)what->item->misc : choose_misc(g, type);
    m->layout = kernel ? &r->event->layout : NULL;
    r->has_trailer = kernel && !sample && r->event->layout.trailer_size;
    pf_gen_choose_ids(g, kernel ? number : 0, kernel ? 1 : g->o->n_events);
    if (r->has_trailer)
        st = make_trailer(g, r, err);
    m->present = sample ? r->event->layout.sample_type & PERFILE_SAMPLE_KNOWN &
                              ~(uint64_t)(PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT)
                        : 0;
    g->how.layout = m->layout;
    g->how.misc = r->misc;
    g->how.sample_id = r->has_trailer ? &r->trailer : NULL;
    if (st == PERFILE_OK)
        st = pf_gen_make(g, w, what->given, len, err);
    g->how.sample_id = NULL;
    g->how.misc = 0;
    return st;
}

/* Makes a record and its line.  Given members may need another event or misc than the first that
 * are chosen. */
static perfile_status add_record(pf_gen *g, const making_of *what, perfile_error *err)
{
    enum { CHOICES = 6 };
    const pf_row *row = what->row;
    const pf_gen_wanted w = {.row = row,
                             .shape = what->shape,
                             .of = PF_N_SHAPES,
                             .size = row->size,
                             .settle = row->settle,
                             .adjust = adjust_record,
                             .encode = encode_record};
    making r;
    size_t len;
    perfile_error why;
    perfile_status st = make_record(g, what, &w, &r, &len, &why);
    for (unsigned i = 1; i < CHOICES && st == PERFILE_E_USAGE && g->maker.given; i++)
        st = make_record(g, what, &w, &r, &len, &why);
    if (st == PERFILE_END) {
        pf_gen_leave_out(g, row->name);
        return PERFILE_OK;
    }
    if (st != PERFILE_OK)
        return pf_gen_fail_as(&why, st, err);
    pf_gen_stored stored = {.type = row->number, .misc = r.misc, .record = {g->space.out, len}};
    if (row->number == PERFILE_RECORD_AUXTRACE)
        st = pf_gen_aux_data(g, what->given, &stored.after, err);
    if (st == PERFILE_OK)
        st = pf_gen_put(g, &stored, err);
    if (st == PERFILE_OK && row->number == PERFILE_RECORD_AUXTRACE)
        st = pf_gen_note_aux(g, what->given, len, err);
    if (st == PERFILE_OK && r.has_trailer)
        pf_covered_see(g->o->covered, NULL, &pf_struct_shapes[PF_SHAPE_sample_id],
                       PF_SHAPE_sample_id, &r.trailer);
    if (st == PERFILE_OK && row->number == PERFILE_RECORD_SAMPLE)
        note_time(g, ((const perfile_sample *)what->given)->time);
    if (st == PERFILE_OK)
        show_record(g, &w, &r, what->given, &stored);
    return st;
}

bool pf_gen_stands_alone(const pf_generate_options *o, const pf_row *row)
{
    if (row->marks & (PF_ROW_ENVELOPE | PF_ROW_FRAGMENT) ||
        row->number == PERFILE_RECORD_SIMPLEPERF_TRACING_DATA)
        return false;
    if (row->number >= PF_PERF_TYPES)
        return o->form == PF_GENERATE_SIMPLEPERF;
    if (row->marks & PF_ROW_SECTION)
        return o->form == PERFILE_FORM_PIPE && row->number != PERFILE_RECORD_HEADER_ATTR &&
               row->number != PERFILE_RECORD_HEADER_FEATURE &&
               row->number != PERFILE_RECORD_HEADER_TRACING_DATA;
    return true;
}

/* The files of a directory: one has the records of the tool, two those of the kernel in turn. */
enum { PARTS = 3 };

/* Returns true if the n-th record of a type is in the file that is written now. */
static bool is_of_part(const pf_gen *g, const pf_row *row, uint32_t n)
{
    if (!pf_gen_is_directory(g))
        return true;
    return g->part == (row->number < PERFILE_RECORD_USER ? 1 + n % (PARTS - 1) : 0);
}

/* Returns true if records of the type are to be in this round.  AUX data need an AUXTRACE_INFO
 * before them. */
static bool is_wanted(const pf_gen *g, const pf_row *row, uint32_t round)
{
    const uint32_t only = g->o->type;
    return !only || only == row->number ||
           (only == PERFILE_RECORD_AUXTRACE && row->number == PERFILE_RECORD_AUXTRACE_INFO &&
            round == 0);
}

/* Adds `rounds` records of each type. */
static perfile_status add_all_types(pf_gen *g, void *given, perfile_error *err)
{
    size_t n;
    const pf_row *rows = pf_record_rows(&n);
    perfile_status st = PERFILE_OK;
    for (uint32_t round = 0; round < g->o->rounds && st == PERFILE_OK; round++)
        for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
            const making_of what = {
                .row = &rows[i], .shape = pf_shape_at((unsigned)i), .given = given};
            if (pf_gen_stands_alone(g->o, &rows[i]) && is_wanted(g, &rows[i], round) &&
                is_of_part(g, &rows[i], round))
                st = add_record(g, &what, err);
            pf_arena_free(&g->maker.arena);
        }
    return st;
}

/* Adds the records of a statement. */
static perfile_status add_item(pf_gen *g, const pf_spec_item *item, void *given, perfile_error *err)
{
    const making_of what = {.row = item->row, .shape = item->shape, .item = item, .given = given};
    perfile_status st = PERFILE_OK;
    if (!pf_gen_stands_alone(g->o, item->row))
        return pf_spec_fail(item->line, err,
                            "a %s cannot be in this form by itself: it is made of other "
                            "statements, or not at all",
                            item->row->name);
    if (item->attr != PF_SPEC_ANY && (uint32_t)item->attr >= g->o->n_events)
        return pf_spec_fail(item->line, err, "attr=%d: there are %u events, counted from 0",
                            item->attr, g->o->n_events);
    for (uint32_t i = 0; i < item->count && st == PERFILE_OK; i++) {
        if (is_of_part(g, item->row, i))
            st = add_record(g, &what, err);
        pf_arena_free(&g->maker.arena);
    }
    return st;
}

/* Begins the next file of a directory. */
static perfile_status begin_part(pf_gen *g, uint32_t part, perfile_error *err)
{
    perfile_status st = pf_gen_pack_again(g, err);
    g->part = part;
    g->part_bytes = 0;
    return st;
}

perfile_status pf_gen_records(pf_gen *g, perfile_error *err)
{
    const pf_spec_list *said = pf_gen_said(g, offsetof(pf_spec, records));
    void *given =
        pf_alloc(1, sizeof(pf_any_record) > sizeof(perfile_sample) ? sizeof(pf_any_record)
                                                                   : sizeof(perfile_sample));
    perfile_status st = given ? PERFILE_OK : pf_fail_nomem(err, "generate");
    for (uint32_t part = 0; part < (pf_gen_is_directory(g) ? PARTS : 1) && st == PERFILE_OK;
         part++) {
        if (part)
            st = begin_part(g, part, err);
        if (st == PERFILE_OK && !said)
            st = add_all_types(g, given, err);
        for (uint32_t i = 0; said && i < said->n && st == PERFILE_OK; i++)
            st = add_item(g, &said->at[i], given, err);
    }
    pf_free(given);
    return st == PERFILE_OK ? pf_gen_pack_flush(g, err) : st;
}

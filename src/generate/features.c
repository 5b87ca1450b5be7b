/* Features of all numbers: sections of a file, records of a pipe; see README.md. */
#include "generate/capture.h"

#include <string.h>

#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "perf/header.h"
#include "schema/command.h"

static perfile_status encode_feature(pf_gen *g, const pf_gen_wanted *w, const void *given,
                                     size_t *len, perfile_error *err)
{
    g->space.room = PF_GEN_ROOM;
    return pf_encode_feature_row(w->row, &g->space, given, &g->how, len, err);
}

/* Describes the events of the capture. */
static perfile_status describe_events(pf_gen *g, perfile_event_desc *desc, perfile_error *err)
{
    static const char name[] = "event";
    const size_t n = g->o->n_events;
    void *p;
    perfile_status st =
        pf_arena_get(&g->maker.arena, n * sizeof(perfile_event_desc_entry), &p, err);
    if (st != PERFILE_OK)
        return st;
    perfile_event_desc_entry *entries = p;
    for (size_t i = 0; i < n; i++)
        entries[i] = (perfile_event_desc_entry){
            .attr = g->events[i].attr,
            .name = {(const uint8_t *)name, sizeof name - 1},
            .ids = perfile_words_u64(g->events[i].ids, g->events[i].n_ids)};
    desc->attr_size = g->maker.attr_size;
    desc->events = perfile_event_desc_entry_list(entries, n, sizeof *entries);
    return PERFILE_OK;
}

enum { PF_ZSTD = 1, PF_PAGE = 4096 /* more than a piece of the compressed stream */ };

/* Makes the content of a feature agree with the rest of the capture, and sets the versions that are
 * the only ones. */
static perfile_status adjust_feature(pf_gen *g, const pf_gen_wanted *w, void *given,
                                     perfile_error *err)
{
    perfile_nrcpus *cpus = given;
    perfile_sample_time *span = given;
    switch (w->row->number) {
    case PERFILE_FEATURE_SAMPLE_TIME: /* zeros: it was not computed */
        *span = (perfile_sample_time){.first_sample_time = g->first_time,
                                      .last_sample_time = g->last_time};
        break;
    case PERFILE_FEATURE_NRCPUS:
        cpus->nr_cpus_avail = cpus->nr_cpus_online = g->maker.n_cpus;
        break;
    case PERFILE_FEATURE_DIR_FORMAT: /* 1: there are files data.N */
        ((perfile_dir_format *)given)->version = g->has_parts;
        break;
    case PERFILE_FEATURE_COMPRESSED:
        *(perfile_compression *)given =
            (perfile_compression){.type = PF_ZSTD,
                                  .level = g->o->compress + g->o->compress2,
                                  .ratio = 1,
                                  .mmap_len = PF_PAGE};
        break;
    case PERFILE_FEATURE_TRACING_DATA:
        return pf_gen_describe_tracepoints(g, given, err);
    case PERFILE_FEATURE_EVENT_DESC:
        return describe_events(g, given, err);
    case PERFILE_FEATURE_CACHE:
        ((perfile_cache *)given)->version = 1;
        break;
    case PERFILE_FEATURE_MEM_TOPOLOGY:
        ((perfile_mem_topology *)given)->version = 1;
        break;
    case PERFILE_FEATURE_CLOCK_DATA:
        ((perfile_clock_data *)given)->version = 1;
        break;
    default:
        return pf_gen_adjust_simpleperf(g, w->row->number, given, err);
    }
    return PERFILE_OK;
}

bool pf_gen_makes_feature(const pf_generate_options *o, uint32_t number)
{
    if (number == PERFILE_FEATURE_COMPRESSED)
        return o->compress || o->compress2;
    if (pf_gen_is_of_simpleperf(number))
        return o->form == PF_GENERATE_SIMPLEPERF;
    return number != PERFILE_FEATURE_AUXTRACE &&
           (number != PERFILE_FEATURE_DIR_FORMAT || o->form == PF_GENERATE_DIRECTORY) &&
           (o->form != PERFILE_FORM_PIPE || number != PERFILE_FEATURE_BUILD_ID);
}

/* Returns true for features that describe the form of the capture: readers need them. */
static bool is_of_form(uint32_t number)
{
    return number == PERFILE_FEATURE_COMPRESSED || number == PERFILE_FEATURE_DIR_FORMAT ||
           number == PERFILE_FEATURE_META_INFO;
}

/* Returns true for features that the rest of the capture cannot be read without. */
static bool is_needed(const pf_gen *g, uint32_t number)
{
    if (number == PERFILE_FEATURE_TRACING_DATA)
        return pf_gen_has_tracepoint(g);
    return is_of_form(number) && pf_gen_makes_feature(g->o, number);
}

/* Returns true if the writer would add an empty HOSTNAME: readers of big-endian files infer from it
 * how wide the words of the feature bitmap are.  It is made here, so that it is in the dump. */
static bool needs_hostname(const pf_gen *g)
{
    const pf_generate_options *o = g->o;
    const pf_spec_list *said = pf_gen_said(g, offsetof(pf_spec, features));
    uint64_t bitmap[4] = {0}, narrow[4];
    if (o->byte_order != PERFILE_BYTE_ORDER_BIG || o->form == PERFILE_FORM_PIPE)
        return false;
    for (uint32_t i = 0; said && i < said->n; i++)
        bitmap[said->at[i].row->number / 64] |= UINT64_C(1) << said->at[i].row->number % 64;
    if (pf_gen_has_tracepoint(g))
        bitmap[0] |= UINT64_C(1) << PERFILE_FEATURE_TRACING_DATA;
    return o->compress || o->compress2 || o->form == PF_GENERATE_DIRECTORY ||
           pf_gen_has_aux_index(g) || (said && said->n && pf_perf_bitmap_narrow(bitmap, narrow));
}

/* Returns true if the capture is to have this feature, and sets *item to the statement that says
 * so. Without statements the number of CPUs is with every feature, because CPU_TOPOLOGY cannot be
 * read without it. */
static bool is_wanted(const pf_gen *g, const pf_row *row, const pf_spec_item **item)
{
    const pf_generate_options *o = g->o;
    const uint32_t number = row->number;
    const pf_spec_list *said = pf_gen_said(g, offsetof(pf_spec, features));
    *item = NULL;
    for (uint32_t i = 0; said && i < said->n; i++)
        if (said->at[i].row == row)
            *item = &said->at[i];
    if (number == PERFILE_FEATURE_HOSTNAME && needs_hostname(g))
        return true;
    if (is_needed(g, number))
        return true;
    if (said || is_of_form(number))
        return *item;
    return pf_gen_makes_feature(o, number) &&
           (!o->feature || o->feature == number ||
            (o->feature != UINT32_MAX && number == PERFILE_FEATURE_NRCPUS));
}

/* Puts a HEADER_FEATURE record.  `content` is the line's member for the content. */
static perfile_status put_feature(pf_gen *g, uint32_t number, const char *name,
                                  perfile_bytes payload, const pf_shown *content,
                                  perfile_error *err)
{
    enum { HEAD = PF_PERF_RECORD_HEADER + 8 };
    const size_t len = HEAD + payload.len;
    uint8_t *bytes = pf_alloc(1, len);
    if (!bytes)
        return pf_fail_nomem(err, "generate");
    pf_store_u32(bytes, PERFILE_RECORD_HEADER_FEATURE, g->swap);
    pf_store_u16(bytes + PF_PERF_SIZE_AT, (uint16_t)len, g->swap);
    pf_store_u64(bytes + PF_PERF_RECORD_HEADER, number, g->swap);
    if (payload.len)
        memcpy(bytes + HEAD, payload.ptr, payload.len);
    perfile_status st = pf_gen_put(
        g, &(pf_gen_stored){.type = PERFILE_RECORD_HEADER_FEATURE, .record = {bytes, len}}, err);
    pf_free(bytes);
    pf_covered_see_row(g->o->covered, "HEADER_FEATURE");
    pf_gen_begin_record(g, PERFILE_RECORD_HEADER_FEATURE, "HEADER_FEATURE", 0, len);
    pf_show_key(&g->records, "body");
    pf_show_open(&g->records, '{');
    pf_show_key(&g->records, "feat_id");
    pf_show_decimal(&g->records, number);
    pf_gen_show_name(&g->records, name);
    pf_show_more(&g->records, content);
    pf_show_shut(&g->records, '}');
    pf_show_line_end(&g->records);
    return st;
}

/* Puts the record that ends the list of features in a pipe.  It has no content, and a number
 * greater than that of any feature. */
static perfile_status end_features(pf_gen *g, uint32_t number, perfile_error *err)
{
    pf_shown content = {0};
    pf_show_key(&content, "data");
    pf_show_open(&content, '{');
    pf_show_key(&content, "data");
    pf_show_hex(&content, PF_GEN_NONE);
    pf_show_shut(&content, '}');
    perfile_status st = put_feature(g, number, NULL, PF_GEN_NONE, &content, err);
    pf_buffer_free(&content.text);
    return st;
}

/* Arrays with an item for each CPU are made, and read, by this number. */
static void note_cpus(pf_gen *g, const perfile_nrcpus *cpus)
{
    enum { MOST = 4096 };
    const uint32_t n = cpus->nr_cpus_avail;
    g->how.n_cpus = n;
    g->maker.n_cpus = n == 0 ? 1 : n < MOST ? n : MOST;
}

static perfile_status add_feature(pf_gen *g, const pf_row *row, const pf_row_shape *shape,
                                  const pf_spec_item *item, void *given, perfile_error *err)
{
    pf_gen_section *s = &g->sections[g->n_sections];
    const pf_gen_wanted w = {.row = row,
                             .shape = shape,
                             .of = PF_N_SHAPES,
                             .size = row->size,
                             .settle = row->settle,
                             .adjust = adjust_feature,
                             .encode = encode_feature};
    if (item && row->number == PERFILE_FEATURE_AUXTRACE)
        return pf_spec_fail(item->line, err,
                            "AUXTRACE is not described: it is in files with AUXTRACE records, and "
                            "lists them");
    if (item && !pf_gen_makes_feature(g->o, row->number))
        return pf_spec_fail(item->line, err, "%s is not made, or is no feature of this form",
                            row->name);
    if (item && item->given.n && row->number == PERFILE_FEATURE_TRACING_DATA)
        return pf_spec_fail(item->line, err,
                            "TRACING_DATA takes no members: it describes the events that are "
                            "tracepoints");
    pf_gen_take(g, item);
    perfile_status st = pf_gen_make(g, &w, given, &s->len, err);
    if (st == PERFILE_END) {
        pf_gen_leave_out(g, row->name);
        return PERFILE_OK;
    }
    if (st != PERFILE_OK)
        return st;
    const perfile_bytes payload = {g->space.out, s->len};
    if (row->number == PERFILE_FEATURE_NRCPUS)
        note_cpus(g, given);
    if (row->number == PERFILE_FEATURE_TRACING_DATA && pf_gen_is_pipe(g)) {
        g->sum->features++;
        return pf_gen_put_tracing(g, payload, err);
    }
    s->row = row;
    pf_show_key(&s->line, "data");
    pf_show_open(&s->line, '{');
    if (row->contract) {
        pf_show_struct(&s->line, shape, PF_N_SHAPES, given, PF_GEN_NONE);
    } else {
        pf_show_key(&s->line, "data");
        pf_show_hex(&s->line, payload);
    }
    pf_show_shut(&s->line, '}');
    g->n_sections++;
    g->sum->features++;
    return pf_gen_is_pipe(g) ? put_feature(g, row->number, row->contract ? row->name : NULL,
                                           payload, &s->line, err)
                             : perfile_writer_feature(g->writer, row->number, payload, err);
}

perfile_status pf_gen_features(pf_gen *g, perfile_error *err)
{
    size_t n, most = 0;
    uint32_t last = 0;
    const pf_row *rows = pf_feature_rows(&n);
    for (size_t i = 0; i < n; i++)
        most = rows[i].size > most ? rows[i].size : most;
    void *given = pf_alloc(1, most);
    perfile_status st = given ? PERFILE_OK : pf_fail_nomem(err, "generate");
    pf_gen_choose_ids(g, 0, g->o->n_events);
    if (pf_gen_said(g, offsetof(pf_spec, features)))
        g->how.n_cpus = 0;
    for (size_t i = 0; i < n && st == PERFILE_OK; i++) {
        if (pf_gen_makes_feature(g->o, rows[i].number))
            last = rows[i].number > last ? rows[i].number : last;
        const pf_spec_item *item;
        if (rows[i].number == PERFILE_FEATURE_AUXTRACE && pf_gen_has_aux_index(g))
            pf_gen_show_aux_index(g, &rows[i], pf_feature_shape_at(i));
        if (st == PERFILE_OK && is_wanted(g, &rows[i], &item))
            st = add_feature(g, &rows[i], pf_feature_shape_at(i), item, given, err);
        pf_arena_free(&g->maker.arena);
    }
    if (st == PERFILE_OK && pf_gen_is_pipe(g) && g->n_sections)
        st = end_features(g, last + 1, err);
    pf_free(given);
    return st;
}

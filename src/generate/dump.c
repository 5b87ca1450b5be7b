/* The dump of the capture: `perfile dump --format jsonl`, without its records' bodies. */
#include "generate/capture.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/error.h"

enum { FILE_HEADER = 104, PIPE_HEADER = 16, ATTR_ENTRY = 16 /* bytes after an attr */ };

/* Returns how many bytes of event types there are, before the records. */
static uint64_t event_types_size(const pf_gen *g)
{
    return pf_gen_is_version_1(g) ? (uint64_t)PF_GEN_EVENT_TYPE * g->o->n_events : 0;
}

uint64_t pf_gen_data_offset(const pf_gen *g)
{
    if (pf_gen_is_pipe(g))
        return PIPE_HEADER;
    uint64_t offset = FILE_HEADER;
    for (uint32_t i = 0; i < g->o->n_events; i++)
        offset += 8 * g->events[i].n_ids + g->maker.attr_size + ATTR_ENTRY;
    return offset + event_types_size(g);
}

void pf_gen_begin_line(pf_shown *out, const char *kind)
{
    pf_show_open(out, '{');
    pf_show_key(out, "kind");
    pf_show_plain(out, kind);
}

void pf_gen_show_name(pf_shown *out, const char *name)
{
    pf_show_key(out, "name");
    if (name)
        pf_show_plain(out, name);
    else
        pf_show_null(out);
}

pf_shown *pf_gen_begin_record(pf_gen *g, uint32_t type, const char *name, uint16_t misc,
                              size_t size)
{
    const bool packed = pf_gen_packs(g, type);
    pf_shown *out = packed ? &g->pack.lines : &g->records;
    pf_gen_begin_line(out, "record");
    pf_show_key(out, "index");
    pf_show_count(out, g->sum->records);
    pf_show_key(out, "offset");
    pf_show_decimal(out, g->part ? g->part_bytes : pf_gen_data_offset(g) + g->bytes);
    if (g->part) {
        char file[24];
        snprintf(file, sizeof file, "data.%" PRIu32, g->part - 1);
        pf_show_key(out, "file");
        pf_show_plain(out, file);
    }
    if (packed) {
        pf_show_key(out, "compressed_in");
        pf_show_count(out, g->pack.index);
        pf_show_key(out, "stream_offset");
        pf_show_decimal(out, g->pack.stream);
    }
    pf_show_key(out, "type");
    pf_show_count(out, type);
    char whole[64];
    snprintf(whole, sizeof whole, "PERF_RECORD_%s", name ? name : "");
    pf_gen_show_name(out, name ? whole : NULL);
    pf_show_key(out, "misc");
    pf_show_count(out, misc);
    pf_show_key(out, "size");
    pf_show_count(out, size);
    g->sum->records++;
    if (packed)
        g->pack.stream += size;
    else
        *(g->part ? &g->part_bytes : &g->bytes) += size;
    return out;
}

void pf_gen_show_after(pf_gen *g, pf_shown *out, perfile_bytes after)
{
    if (!after.len)
        return;
    pf_show_key(out, "payload");
    pf_show_open(out, '{');
    pf_show_key(out, "offset");
    pf_show_decimal(out, pf_gen_data_offset(g) + g->bytes);
    pf_show_key(out, "size");
    pf_show_decimal(out, after.len);
    pf_show_key(out, "crc32");
    pf_show_crc(out, after);
    pf_show_shut(out, '}');
    g->bytes += after.len;
}

static void show_section(pf_shown *out, const char *key, uint64_t offset, uint64_t size)
{
    pf_show_key(out, key);
    pf_show_open(out, '{');
    pf_show_key(out, "offset");
    pf_show_decimal(out, offset);
    pf_show_key(out, "size");
    pf_show_decimal(out, size);
    pf_show_shut(out, '}');
}

static void show_header(const pf_gen *g, pf_shown *out)
{
    const uint64_t entry = g->maker.attr_size + ATTR_ENTRY, n = g->o->n_events;
    pf_gen_begin_line(out, "header");
    pf_show_key(out, "format");
    pf_show_plain(out, pf_gen_is_pipe(g) ? "pipe" : "file");
    pf_show_key(out, "version");
    pf_show_count(out, pf_gen_is_version_1(g) ? 1 : 2);
    pf_show_key(out, "endian");
    pf_show_plain(out, g->o->byte_order == PERFILE_BYTE_ORDER_BIG ? "big" : "little");
    pf_show_key(out, "size");
    pf_show_decimal(out, pf_gen_is_pipe(g) ? PIPE_HEADER : FILE_HEADER);
    if (!pf_gen_is_pipe(g)) {
        pf_show_key(out, "attr_size");
        pf_show_decimal(out, entry);
        const uint64_t data = pf_gen_data_offset(g), types = event_types_size(g);
        show_section(out, "attrs", data - types - n * entry, n * entry);
        show_section(out, "data", data, g->bytes);
        show_section(out, "event_types", types ? data - types : 0, types);
        pf_show_key(out, "features");
        pf_show_open(out, '[');
        for (unsigned i = 0; i < g->n_sections; i++)
            pf_show_count(out, g->sections[i].row->number);
        pf_show_shut(out, ']');
    }
    pf_show_line_end(out);
}

static void show_features(const pf_gen *g, pf_shown *out)
{
    uint64_t offset = pf_gen_data_offset(g) + g->bytes + 16 * (uint64_t)g->n_sections;
    for (unsigned i = 0; i < g->n_sections && !pf_gen_is_pipe(g); i++) {
        const pf_gen_section *s = &g->sections[i];
        pf_gen_begin_line(out, "feature");
        pf_show_key(out, "feature");
        pf_show_count(out, s->row->number);
        pf_gen_show_name(out, s->row->contract ? s->row->name : NULL);
        pf_show_key(out, "offset");
        pf_show_decimal(out, offset);
        pf_show_key(out, "size");
        pf_show_decimal(out, s->len);
        pf_show_more(out, &s->line);
        pf_show_line_end(out);
        offset += s->len;
    }
}

perfile_status pf_gen_write_dump(pf_gen *g, perfile_sink *expect, perfile_error *err)
{
    pf_shown head = {0}, end = {0};
    show_header(g, &head);
    pf_shown features = {0};
    show_features(g, &features);
    pf_gen_begin_line(&end, "end");
    pf_show_key(&end, "records");
    pf_show_count(&end, g->sum->records);
    pf_show_key(&end, "errors");
    pf_show_count(&end, 0);
    pf_show_line_end(&end);
    pf_shown *const parts[] = {&head, &g->attrs, &g->types, &features, &g->records, &end};
    perfile_status st = PERFILE_OK;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0] && st == PERFILE_OK; i++) {
        if (parts[i]->failed)
            st = pf_fail_nomem(err, "generate");
        else
            st = perfile_sink_write(expect, (perfile_bytes){parts[i]->text.ptr, parts[i]->text.len},
                                    err);
    }
    pf_buffer_free(&head.text);
    pf_buffer_free(&features.text);
    pf_buffer_free(&end.text);
    return st == PERFILE_OK ? perfile_sink_finish(expect, err) : st;
}

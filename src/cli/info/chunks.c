/* `info --chunks`: a line for each chunk of an archive, and a total. */
#include <inttypes.h>
#include <stdio.h>

#include "cli/command.h"
#include "cli/info/archive.h"
#include "cli/json.h"
#include "cli/text.h"
#include "cli/print.h"
#include "cli/table.h"

typedef struct total {
    uint64_t bytes, decoded, records;
    uint32_t chunks;
} total;

static void cell_kind(cli_table *t, const char *name, unsigned number)
{
    if (name)
        cli_cell(t, "%s", name);
    else
        cli_cell(t, "%u", number);
}

static void cell_ratio(cli_table *t, uint64_t bytes, uint64_t decoded)
{
    if (bytes && decoded)
        cli_cell(t, "%.1f", (double)decoded / (double)bytes);
    else
        cli_cell(t, "-");
}

static void cell_time(cli_table *t, uint64_t time)
{
    char text[40];
    if (time == PERFILE_NO_TIME) {
        cli_cell(t, "-");
        return;
    }
    cli_format_seconds(time, text, sizeof text);
    cli_cell(t, "%s", text);
}

static void add_row(cli_table *t, const perfile_archive_chunk *c)
{
    cli_cell(t, "%" PRIu64, c->offset);
    cell_kind(t, perfile_archive_kind_name(c->kind), c->kind);
    cell_kind(t, perfile_archive_codec_name(c->codec), c->codec);
    cli_cell(t, "%" PRIu64, c->bytes);
    cli_cell(t, "%" PRIu64, c->part_bytes);
    cell_ratio(t, c->bytes, c->part_bytes);
    if (c->has_zone)
        cli_cell(t, "%" PRIu64, c->records);
    else
        cli_cell(t, c->meta_damaged ? "damaged" : "-");
    cell_time(t, c->first_time);
    cell_time(t, c->last_time);
    cli_cell(t, "%" PRIu32 "/%" PRIu32, c->capture, c->part);
}

static void add_total(cli_table *t, const total *sum)
{
    cli_cell(t, "total");
    cli_cell(t, "%" PRIu32, sum->chunks);
    cli_cell(t, "%s", "");
    cli_cell(t, "%" PRIu64, sum->bytes);
    cli_cell(t, "%" PRIu64, sum->decoded);
    cell_ratio(t, sum->bytes, sum->decoded);
    cli_cell(t, "%" PRIu64, sum->records);
    for (unsigned i = 0; i < 3; i++)
        cli_cell(t, "%s", "");
}

static void json_types(const perfile_archive_chunk *c)
{
    cli_json_array("types");
    for (uint32_t i = 0; i < c->n_types; i++) {
        const perfile_archive_count *n = &c->types[i];
        cli_json_object(NULL);
        cli_json_string("type", perfile_record_type_name(n->type));
        cli_json_number("type_number", n->type);
        cli_json_number("records", n->records);
        if (n->bytes != UINT64_MAX)
            cli_json_number("bytes", n->bytes);
        cli_json_object_end();
    }
    cli_json_array_end();
}

static void json_time(const char *key, uint64_t time)
{
    if (time == PERFILE_NO_TIME)
        cli_json_null(key);
    else
        cli_json_decimal(key, time);
}

static void json_chunk(const perfile_archive_chunk *c)
{
    cli_json_object(NULL);
    cli_json_decimal("offset", c->offset);
    cli_json_string("kind", perfile_archive_kind_name(c->kind));
    cli_json_number("kind_number", c->kind);
    cli_json_string("codec", perfile_archive_codec_name(c->codec));
    cli_json_number("codec_number", c->codec);
    cli_json_number("flags", c->flags);
    cli_json_number("bytes", c->bytes);
    cli_json_number("payload", c->payload);
    cli_json_number("decoded", c->part_bytes);
    cli_json_number("capture", c->capture);
    cli_json_number("part", c->part);
    cli_json_decimal("part_offset", c->part_offset);
    cli_json_bool("meta_damaged", c->meta_damaged);
    if (c->has_zone) {
        cli_json_number("records", c->records);
        json_time("first_time", c->first_time);
        json_time("last_time", c->last_time);
        json_types(c);
    }
    cli_json_object_end();
}

/* Goes over the chunks: cells of `t`, or items of an array if that is NULL. */
static perfile_status walk(perfile_archive *a, cli_table *t, total *sum, bool *damaged,
                           perfile_error *err)
{
    perfile_archive_chunk c;
    perfile_status st;
    for (uint32_t i = 0; (st = perfile_archive_chunk_at(a, i, &c, sizeof c, err)) == PERFILE_OK;
         i++) {
        const bool of_part = c.kind == PERFILE_CHUNK_RECORDS || c.kind == PERFILE_CHUNK_BYTES;
        *damaged |= c.meta_damaged;
        sum->chunks++;
        sum->bytes += c.bytes;
        sum->decoded += of_part ? c.part_bytes : 0;
        sum->records += c.records;
        if (t)
            add_row(t, &c);
        else
            json_chunk(&c);
    }
    return st == PERFILE_END ? PERFILE_OK : st;
}

static void json_gaps(const perfile_archive *a)
{
    perfile_archive_gap gap;
    cli_json_array("gaps");
    for (uint32_t i = 0; perfile_archive_gap_at(a, i, &gap, sizeof gap); i++) {
        cli_json_object(NULL);
        cli_json_decimal("offset", gap.offset);
        cli_json_number("bytes", gap.bytes);
        cli_json_object_end();
    }
    cli_json_array_end();
}

static void json_capture(const perfile_archive_capture *c)
{
    cli_json_object(NULL);
    cli_json_string("creator", c->creator);
    cli_json_string("host", c->host);
    json_time("created", c->created);
    cli_json_string("name", c->name);
    json_time("modified", c->modified);
    cli_archive_json_lossy(c);
    cli_json_array("parts");
    for (uint32_t i = 0; i < c->n_parts; i++) {
        cli_json_object(NULL);
        cli_json_number("part", c->parts[i].number);
        cli_json_string("name", c->parts[i].name);
        cli_json_string("format", c->parts[i].format);
        if (c->parts[i].size == UINT64_MAX)
            cli_json_null("size");
        else
            cli_json_number("size", c->parts[i].size);
        cli_json_object_end();
    }
    cli_json_array_end();
    cli_json_object_end();
}

static perfile_status json_captures(perfile_archive *a, perfile_error *err)
{
    perfile_archive_capture c;
    perfile_status st;
    cli_json_array("captures");
    for (uint32_t i = 1; (st = perfile_archive_capture_at(a, i, &c, sizeof c, err)) == PERFILE_OK;
         i++)
        json_capture(&c);
    cli_json_array_end();
    return st == PERFILE_END ? PERFILE_OK : st;
}

static perfile_status chunks_json(perfile_archive *a, bool *damaged, perfile_error *err)
{
    total sum = {0};
    perfile_status st = json_captures(a, err);
    cli_json_array("chunks");
    if (st == PERFILE_OK)
        st = walk(a, NULL, &sum, damaged, err);
    cli_json_array_end();
    json_gaps(a);
    cli_json_object("total");
    cli_json_number("chunks", sum.chunks);
    cli_json_number("bytes", sum.bytes);
    cli_json_number("decoded", sum.decoded);
    cli_json_number("records", sum.records);
    cli_json_object_end();
    return st;
}

perfile_status cli_info_chunks(perfile_archive *a, bool json, bool *damaged, perfile_error *err)
{
    static const char *const headings[] = {">offset",    "kind",        "codec",    ">bytes",
                                           ">decoded",   ">ratio",      ">records", ">first time",
                                           ">last time", "capture/part"};
    total sum = {0};
    perfile_archive_gap gap;
    if (json)
        return chunks_json(a, damaged, err);
    cli_table *t = cli_table_new(headings, sizeof headings / sizeof headings[0]);
    if (!t)
        return PERFILE_E_NOMEM;
    perfile_status st = walk(a, t, &sum, damaged, err);
    add_total(t, &sum);
    if (st == PERFILE_OK && !cli_table_print(t))
        st = PERFILE_E_NOMEM;
    cli_table_free(t);
    for (uint32_t i = 0; st == PERFILE_OK && perfile_archive_gap_at(a, i, &gap, sizeof gap); i++)
        cli_print("%" PRIu64 ": %" PRIu64 " bytes are no chunk\n", gap.offset, gap.bytes);
    return st;
}

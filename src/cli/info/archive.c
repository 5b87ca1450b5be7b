/* `info --columns`: the size of the columns of an archive, summed over all chunks.
 *
 * Columns with the same field and encoding are one row.  Fields of samples have names only if the
 * events are known, so the capture in the archive is opened, too. */
#include "cli/info/info.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/output.h"
#include "cli/print.h"
#include "archive/command.h"

/* Columns of the same field and encoding. */
typedef struct row {
    uint32_t type; /* UINT32_MAX: headers, not a field */
    bool trailer;  /* a field of trailers; `type` is ignored */
    char *field;
    const char *encoding; /* static */
    uint8_t width;
    uint64_t stored, decoded, values;
} row;

/* All rows, and a hash table to find them: indices plus 1, at most half full. */
typedef struct rows {
    row *at;
    size_t n, cap;
    size_t *slots;
    size_t n_slots;
} rows;

static size_t hash_of(bool trailer, uint32_t type, uint8_t width, const char *field,
                      const char *encoding)
{
    uint64_t h = (trailer ? 0 : type) + ((uint64_t)width << 32) + ((uint64_t)trailer << 40);
    for (unsigned i = 0; i < 2; i++)
        for (const char *p = i ? encoding : field; *p; p++)
            h = (h ^ (uint8_t)*p) * UINT64_C(0x100000001b3);
    return (size_t)(h ^ h >> 29);
}

static bool is_row_of(const row *r, const pf_archive_column *c)
{
    return r->trailer == c->trailer && (c->trailer || r->type == c->type) && r->width == c->width &&
           strcmp(r->field, c->field) == 0 && strcmp(r->encoding, c->encoding) == 0;
}

/* Makes room for one more row.  Returns false when out of memory. */
static bool grow(rows *all)
{
    if (all->n < all->cap)
        return true;
    const size_t cap = all->cap ? 2 * all->cap : 64;
    row *more = realloc(all->at, cap * sizeof *more);
    if (!more)
        return false;
    all->at = more;
    all->cap = cap;
    size_t *slots = calloc(2 * cap, sizeof *slots);
    if (!slots)
        return false;
    free(all->slots);
    all->slots = slots;
    all->n_slots = 2 * cap; /* a power of two */
    for (size_t i = 0; i < all->n; i++) {
        const row *r = &all->at[i];
        size_t at = hash_of(r->trailer, r->type, r->width, r->field, r->encoding);
        while (slots[at & (2 * cap - 1)])
            at++;
        slots[at & (2 * cap - 1)] = i + 1;
    }
    return true;
}

/* Returns the row of a column, which is added if there is none; NULL when out of memory. */
static row *row_of(rows *all, const pf_archive_column *c)
{
    if (!grow(all))
        return NULL;
    size_t at = hash_of(c->trailer, c->type, c->width, c->field, c->encoding), *slot;
    while (*(slot = &all->slots[at & (all->n_slots - 1)])) {
        if (is_row_of(&all->at[*slot - 1], c))
            return &all->at[*slot - 1];
        at++;
    }
    row *r = &all->at[all->n];
    *r = (row){.type = c->type,
               .trailer = c->trailer,
               .field = strdup(c->field),
               .encoding = c->encoding,
               .width = c->width};
    if (!r->field)
        return NULL;
    *slot = ++all->n;
    return r;
}

/* Compares for qsort(): the most bytes first. */
static int by_stored(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->stored != y->stored)
        return x->stored > y->stored ? -1 : 1;
    return strcmp(x->field, y->field);
}

/* The capture to which the current chunk belongs. */
typedef struct capture {
    perfile_archive *archive;
    const cli_reading *how;
    uint32_t number, opened; /* `opened`: number of captures opened so far */
    perfile_stream *stream;  /* NULL if it cannot be opened; then fields of samples have no names */
} capture;

/* Opens the capture, so that its events are known.  The events of a pipe are in its first records.
 * Opening a capture costs as much as opening the archive, so the number is limited. */
static void open_capture(capture *x, uint32_t number)
{
    enum { MOST_OPENED = 1024 };
    perfile_source *source;
    const perfile_record *r;
    const perfile_open_options options = {
        .size = sizeof options, .from = x->how->from, .limits = x->how->limits};
    perfile_stream_close(x->stream);
    x->stream = NULL;
    x->number = number;
    if (x->opened++ >= MOST_OPENED ||
        pf_archive_capture_source(x->archive, number, &source, NULL) != PERFILE_OK)
        return;
    if (perfile_open(source, &options, &x->stream, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        x->stream = NULL;
        return;
    }
    const bool pipe = perfile_stream_container(x->stream)->form == PERFILE_FORM_PIPE;
    while (pipe && perfile_stream_next(x->stream, &r, NULL) == PERFILE_OK)
        if (r->type < PERFILE_RECORD_USER)
            break;
}

/* Adds the columns of a chunk. */
static perfile_status add_chunk(const capture *x, uint32_t position, rows *all, bool *damaged,
                                perfile_error *err)
{
    const perfile_session *s = x->stream ? perfile_stream_session(x->stream) : NULL;
    const pf_archive_column *columns;
    uint32_t n = 0;
    const perfile_status st = pf_archive_columns(x->archive, position, s, &columns, &n, err);
    *damaged |= st == PERFILE_E_CORRUPT;
    for (uint32_t k = 0; k < n && st == PERFILE_OK; k++) {
        row *r = row_of(all, &columns[k]);
        if (!r)
            return PERFILE_E_NOMEM;
        r->stored += columns[k].stored;
        r->decoded += columns[k].decoded;
        r->values += columns[k].values;
    }
    return st == PERFILE_END || st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

/* Adds the columns of all chunks.  Damaged chunks are skipped. */
static perfile_status add_chunks(capture *x, rows *all, bool *damaged, perfile_error *err)
{
    pf_archive_chunk c;
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; st == PERFILE_OK; i++) {
        st = pf_archive_chunk_at(x->archive, i, &c, sizeof c, err);
        if (st != PERFILE_OK || c.kind != PF_CHUNK_RECORDS)
            continue;
        if (c.capture != x->number)
            open_capture(x, c.capture);
        st = add_chunk(x, i, all, damaged, err);
    }
    return st == PERFILE_END ? PERFILE_OK : st;
}

static void name_of(const row *r, char *out, size_t size)
{
    char buf[32];
    if (r->type == UINT32_MAX)
        snprintf(out, size, "%s", r->field);
    else if (r->trailer)
        snprintf(out, size, "trailer.%s", r->field);
    else
        snprintf(out, size, "%s.%s", cli_type_name(r->type, buf, sizeof buf), r->field);
}

static double bits_of(const row *r)
{
    return r->values ? 8.0 * (double)r->stored / (double)r->values : 0;
}

static bool print_table(const rows *all, const row *sum)
{
    static const char *const headings[] = {"field",   ">bytes", ">share",  ">decoded",
                                           ">values", ">bits",  "encoding"};
    cli_table *t = cli_table_new(headings, sizeof headings / sizeof headings[0]);
    if (!t)
        return false;
    for (size_t i = 0; i <= all->n; i++) {
        const row *r = i < all->n ? &all->at[i] : sum;
        char name[160];
        name_of(r, name, sizeof name);
        cli_cell(t, "%s", name);
        cli_cell(t, "%" PRIu64, r->stored);
        cli_cell(t, "%.1f %%", sum->stored ? 100.0 * (double)r->stored / (double)sum->stored : 0);
        cli_cell(t, "%" PRIu64, r->decoded);
        cli_cell(t, "%" PRIu64, r->values);
        if (i < all->n)
            cli_cell(t, "%.2f", bits_of(r));
        else
            cli_cell(t, "%s", "");
        cli_cell(t, "%s", r->encoding);
    }
    return cli_table_end(t, true);
}

static void print_json(const rows *all, const row *sum)
{
    cli_json_array("columns");
    for (size_t i = 0; i < all->n; i++) {
        const row *r = &all->at[i];
        cli_json_object(NULL);
        if (r->type == UINT32_MAX || r->trailer) {
            cli_json_null("type");
            cli_json_null("type_number");
        } else {
            cli_json_string("type", perfile_record_type_name(r->type));
            cli_json_number("type_number", r->type);
        }
        cli_json_bool("trailer", r->trailer);
        cli_json_string("field", r->field);
        cli_json_string("encoding", r->encoding);
        cli_json_number("width", r->width);
        cli_json_number("stored", r->stored);
        cli_json_number("decoded", r->decoded);
        cli_json_number("values", r->values);
        cli_json_real("bits", bits_of(r));
        cli_json_object_end();
    }
    cli_json_array_end();
    cli_json_object("column_total");
    cli_json_number("stored", sum->stored);
    cli_json_number("decoded", sum->decoded);
    cli_json_object_end();
}

static perfile_status print_columns(perfile_archive *a, const cli_reading *how, bool json,
                                    bool *damaged, perfile_error *err)
{
    static char name[] = "total";
    rows all = {0};
    row sum = {.type = UINT32_MAX, .field = name, .encoding = ""};
    capture x = {.archive = a, .how = how};
    perfile_status st = add_chunks(&x, &all, damaged, err);
    perfile_stream_close(x.stream);
    if (all.n)
        qsort(all.at, all.n, sizeof *all.at, by_stored);
    for (size_t i = 0; i < all.n; i++) {
        sum.stored += all.at[i].stored;
        sum.decoded += all.at[i].decoded;
        sum.values += all.at[i].type == UINT32_MAX ? 0 : all.at[i].values;
    }
    if (st == PERFILE_OK && json)
        print_json(&all, &sum);
    else if (st == PERFILE_OK && !print_table(&all, &sum))
        st = PERFILE_E_NOMEM;
    for (size_t i = 0; i < all.n; i++)
        free(all.at[i].field);
    free(all.at);
    free(all.slots);
    return st;
}

/* `info --chunks`: a line for each chunk of an archive, and a total. */

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

static void add_row(cli_table *t, const pf_archive_chunk *c)
{
    cli_cell(t, "%" PRIu64, c->offset);
    cell_kind(t, pf_archive_kind_name(c->kind), c->kind);
    cell_kind(t, pf_archive_codec_name(c->codec), c->codec);
    cli_cell(t, "%" PRIu64, c->bytes);
    cli_cell(t, "%" PRIu64, c->part_bytes);
    cell_ratio(t, c->bytes, c->part_bytes);
    if (c->has_zone)
        cli_cell(t, "%" PRIu64, c->records);
    else
        cli_cell(t, c->meta_damaged ? "damaged" : "-");
    cli_cell_time(t, c->first_time);
    cli_cell_time(t, c->last_time);
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

static void json_types(const pf_archive_chunk *c)
{
    cli_json_array("types");
    for (uint32_t i = 0; i < c->n_types; i++) {
        const pf_archive_count *n = &c->types[i];
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

static void json_chunk(const pf_archive_chunk *c)
{
    cli_json_object(NULL);
    cli_json_decimal("offset", c->offset);
    cli_json_string("kind", pf_archive_kind_name(c->kind));
    cli_json_number("kind_number", c->kind);
    cli_json_string("codec", pf_archive_codec_name(c->codec));
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
        cli_json_known("first_time", c->first_time);
        cli_json_known("last_time", c->last_time);
        json_types(c);
    }
    cli_json_object_end();
}

/* Iterates over the chunks: adds cells to `t`, or prints items of an array if `t` is NULL. */
static perfile_status walk(perfile_archive *a, cli_table *t, total *sum, bool *damaged,
                           perfile_error *err)
{
    pf_archive_chunk c;
    perfile_status st;
    for (uint32_t i = 0; (st = pf_archive_chunk_at(a, i, &c, sizeof c, err)) == PERFILE_OK; i++) {
        const bool of_part = c.kind == PF_CHUNK_RECORDS || c.kind == PF_CHUNK_BYTES;
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
    pf_archive_gap gap;
    cli_json_array("gaps");
    for (uint32_t i = 0; pf_archive_gap_at(a, i, &gap); i++) {
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
    cli_json_known("created", c->created);
    cli_json_string("name", c->name);
    cli_json_known("modified", c->modified);
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

static perfile_status print_chunks(perfile_archive *a, bool json, bool *damaged, perfile_error *err)
{
    static const char *const headings[] = {">offset",    "kind",        "codec",    ">bytes",
                                           ">decoded",   ">ratio",      ">records", ">first time",
                                           ">last time", "capture/part"};
    total sum = {0};
    pf_archive_gap gap;
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
    for (uint32_t i = 0; st == PERFILE_OK && pf_archive_gap_at(a, i, &gap); i++)
        cli_print("%" PRIu64 ": %" PRIu64 " bytes belong to no chunk\n", gap.offset, gap.bytes);
    return st;
}

/* `info --chunks` and `info --columns`: opens the archive and prints what was requested. */

static perfile_status print_parts(perfile_archive *a, const cli_reading *how, unsigned what,
                                  bool json, bool *damaged, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (what & CLI_INFO_CHUNKS)
        st = print_chunks(a, json, damaged, err);
    if (st == PERFILE_OK && what == (CLI_INFO_CHUNKS | CLI_INFO_COLUMNS) && !json)
        cli_print("\n");
    if (st == PERFILE_OK && what & CLI_INFO_COLUMNS)
        st = print_columns(a, how, json, damaged, err);
    return st;
}

int cli_info_archive(const cli_file *file, const cli_reading *how, unsigned what, bool json)
{
    const char *name = file->name;
    perfile_archive *a;
    pf_archive_summary s;
    perfile_error err = {0};
    cli_signals_file(name);
    perfile_status st = cli_archive_open(file, how->limits, true, &a, &err);
    if (st == PERFILE_END)
        cli_message("%s: not an archive", name);
    else if (st != PERFILE_OK)
        cli_report_error(name, &err);
    if (st != PERFILE_OK)
        return CLI_FAILED;
    pf_archive_get_summary(a, &s, sizeof s);
    bool damaged = cli_archive_is_damaged(&s);
    if (json) {
        cli_json_object(NULL);
        cli_json_string("file", name);
        cli_archive_json(&s, NULL);
    } else {
        cli_print("%-13s%s", "file", name);
        cli_print("\n%-13s", "archive");
        cli_archive_print(&s);
        cli_print("\n");
    }
    st = print_parts(a, how, what, json, &damaged, &err);
    if (json) {
        cli_json_object_end();
        cli_json_line();
    }
    perfile_archive_close(a);
    cli_signals_file(NULL);
    if (st == PERFILE_OK)
        return damaged ? CLI_DAMAGED : CLI_DONE;
    if (st == PERFILE_E_NOMEM)
        cli_message("%s: out of memory", name);
    else
        cli_report_error(name, &err);
    return CLI_FAILED;
}

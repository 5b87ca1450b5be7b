/* `info --columns`: what the columns of an archive cost, summed over all chunks.
 *
 * Columns with the same field and encoding are one row.  Fields of samples have names only if the
 * events are known, so that the capture in the archive is opened, too. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/command.h"
#include "cli/info/archive.h"
#include "cli/json.h"
#include "cli/names.h"
#include "cli/print.h"
#include "cli/table.h"

/* Columns of the same field and encoding. */
typedef struct row {
    uint32_t type; /* UINT32_MAX: headers, not a field */
    bool trailer;  /* then `type` does not count */
    char *field;
    const char *encoding; /* static */
    uint8_t width;
    uint64_t stored, decoded, values;
} row;

typedef struct rows {
    row *at;
    size_t n, cap;
} rows;

/* The row of a column, made if there is none; NULL: no memory. */
static row *row_of(rows *all, const perfile_archive_column *c)
{
    for (size_t i = 0; i < all->n; i++) {
        row *r = &all->at[i];
        if (r->trailer == c->trailer && (c->trailer || r->type == c->type) &&
            r->width == c->width && strcmp(r->field, c->field) == 0 &&
            strcmp(r->encoding, c->encoding) == 0)
            return r;
    }
    if (all->n == all->cap) {
        const size_t cap = all->cap ? 2 * all->cap : 64;
        row *more = realloc(all->at, cap * sizeof *more);
        if (!more)
            return NULL;
        all->at = more;
        all->cap = cap;
    }
    row *r = &all->at[all->n];
    *r = (row){.type = c->type,
               .trailer = c->trailer,
               .field = strdup(c->field),
               .encoding = c->encoding,
               .width = c->width};
    if (!r->field)
        return NULL;
    all->n++;
    return r;
}

/* qsort() order: the most bytes first. */
static int by_stored(const void *a, const void *b)
{
    const row *x = a, *y = b;
    if (x->stored != y->stored)
        return x->stored > y->stored ? -1 : 1;
    return strcmp(x->field, y->field);
}

/* Adds the columns of all chunks of one capture.  Chunks that are damaged are passed over. */
static perfile_status add_chunks(perfile_archive *a, uint32_t capture, const perfile_session *s,
                                 rows *all, bool *damaged, perfile_error *err)
{
    perfile_archive_chunk c;
    perfile_status st;
    for (uint32_t i = 0; (st = perfile_archive_chunk_at(a, i, &c, sizeof c, err)) == PERFILE_OK;
         i++) {
        const perfile_archive_column *columns;
        uint32_t n = 0;
        if (c.capture != capture)
            continue;
        st = perfile_archive_columns(a, i, s, &columns, &n, err);
        *damaged |= st == PERFILE_E_CORRUPT;
        if (st < 0 && st != PERFILE_E_CORRUPT)
            return st;
        for (uint32_t k = 0; k < n && st == PERFILE_OK; k++) {
            row *r = row_of(all, &columns[k]);
            if (!r)
                return PERFILE_E_NOMEM;
            r->stored += columns[k].stored;
            r->decoded += columns[k].decoded;
            r->values += columns[k].values;
        }
    }
    return st == PERFILE_END ? PERFILE_OK : st;
}

/* Opens the capture, so that its events are known: those of a pipe are in its first records.  NULL:
 * it cannot be opened, and samples have no names of fields. */
static perfile_stream *open_capture(const char *path, const cli_reading *how, uint32_t number)
{
    perfile_source *source;
    perfile_stream *stream = NULL;
    const perfile_record *r;
    const perfile_open_options options = {
        .size = sizeof options, .from = how->from, .limits = how->limits};
    if (strcmp(path, "-") == 0 ||
        cli_source_capture(path, how->limits, number, &source, NULL) != PERFILE_OK)
        return NULL;
    if (perfile_open(source, &options, &stream, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return NULL;
    }
    const bool pipe = perfile_stream_container(stream)->form == PERFILE_FORM_PIPE;
    while (pipe && perfile_stream_next(stream, &r, NULL) == PERFILE_OK)
        if (r->type < PERFILE_RECORD_USER)
            break;
    return stream;
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
    const bool ok = cli_table_print(t);
    cli_table_free(t);
    return ok;
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

perfile_status cli_info_columns(perfile_archive *a, const char *path, const cli_reading *how,
                                bool json, bool *damaged, perfile_error *err)
{
    static char name[] = "total";
    perfile_archive_summary s;
    rows all = {0};
    row sum = {.type = UINT32_MAX, .field = name, .encoding = ""};
    perfile_status st = PERFILE_OK;
    perfile_archive_get_summary(a, &s, sizeof s);
    for (uint32_t k = 1; k <= s.captures && st == PERFILE_OK; k++) {
        perfile_stream *stream = open_capture(path, how, k);
        st = add_chunks(a, k, stream ? perfile_stream_session(stream) : NULL, &all, damaged, err);
        perfile_stream_close(stream);
    }
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
    return st;
}

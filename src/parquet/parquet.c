/* Parquet files: the head, the schema and the footer (parquet.h). */
#include "parquet/parquet.h"

#include <stdio.h>

#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "perfile/version.h"
#include "parquet/encodings.h"
#include "parquet/leaves.h"
#include "parquet/thrift.h"
#include "base/command.h"

static const char magic[] = "PAR1";
enum { MAGIC_BYTES = sizeof magic - 1 };

/* Constants of the format. */
enum { REPETITION_OPTIONAL = 1, REPETITION_REPEATED = 2 };
enum { CONVERTED_UTF8 = 0, CONVERTED_LIST = 3, CONVERTED_TIMESTAMP_MICROS = 10 };
enum { CONVERTED_UINT_64 = 14 };
enum { LOGICAL_STRING = 1, LOGICAL_LIST = 3, LOGICAL_TIMESTAMP = 8, LOGICAL_INTEGER = 10 };
enum { UNIT_MICROS = 2 };
enum { CODEC_ZSTD = 6 };
enum { ORDER_TYPE_DEFINED = 1 };
enum { FORMAT_VERSION = 2 };

struct pf_parquet {
    const pf_table_about *about;
    uint64_t at;      /* bytes so far */
    uint64_t rows;    /* so far */
    size_t n_groups;  /* number of row groups … */
    pf_buffer groups; /* … and their RowGroup structures */
    size_t n_notes;
    pf_buffer notes; /* KeyValue structures */
};

pf_parquet *pf_parquet_new(const pf_table_about *about)
{
    pf_parquet *f = pf_alloc(1, sizeof *f);
    if (f)
        *f = (pf_parquet){.about = about, .at = MAGIC_BYTES};
    return f;
}

void pf_parquet_free(pf_parquet *f)
{
    if (!f)
        return;
    pf_buffer_free(&f->groups);
    pf_buffer_free(&f->notes);
    pf_free(f);
}

bool pf_parquet_head(pf_buffer *out)
{
    return pf_buffer_append(out, magic, MAGIC_BYTES);
}

bool pf_parquet_note(pf_parquet *f, const char *key, const char *value)
{
    const size_t before = f->notes.len;
    pf_thrift t = pf_thrift_new(&f->notes);
    pf_thrift_text(&t, 1, key);
    pf_thrift_text(&t, 2, value);
    pf_thrift_end(&t);
    if (t.failed)
        f->notes.len = before;
    f->n_notes += !t.failed;
    return !t.failed;
}

void pf_parquet_group_free(pf_parquet_group *g)
{
    pf_buffer_free(&g->chunks);
    *g = (pf_parquet_group){0};
}

/* The schema: a list of elements; each structure is followed by its members. */

/* Writes the SchemaElement of a structure; `repetition` is -1 for the table itself. */
static void write_structure(pf_thrift *t, const char *name, int32_t repetition, size_t members,
                            bool is_list)
{
    pf_thrift_begin(t, 0);
    if (repetition >= 0)
        pf_thrift_i32(t, 3, repetition);
    pf_thrift_text(t, 4, name);
    pf_thrift_i32(t, 5, (int32_t)members);
    if (is_list) {
        pf_thrift_i32(t, 6, CONVERTED_LIST);
        pf_thrift_begin(t, 10);
        pf_thrift_empty(t, LOGICAL_LIST);
        pf_thrift_end(t);
    }
    pf_thrift_end(t);
}

/* Writes ConvertedType and LogicalType of a column. */
static void write_meaning(pf_thrift *t, pf_column_type type)
{
    switch (type) {
    case PF_COLUMN_TEXT:
    case PF_COLUMN_TEXTS:
        pf_thrift_i32(t, 6, CONVERTED_UTF8);
        pf_thrift_begin(t, 10);
        pf_thrift_empty(t, LOGICAL_STRING);
        pf_thrift_end(t);
        break;
    case PF_COLUMN_U64:
        pf_thrift_i32(t, 6, CONVERTED_UINT_64);
        pf_thrift_begin(t, 10);
        pf_thrift_begin(t, LOGICAL_INTEGER);
        pf_thrift_i8(t, 1, 64);
        pf_thrift_bool(t, 2, false); /* signed */
        pf_thrift_end(t);
        pf_thrift_end(t);
        break;
    case PF_COLUMN_WALL:
        pf_thrift_i32(t, 6, CONVERTED_TIMESTAMP_MICROS);
        pf_thrift_begin(t, 10);
        pf_thrift_begin(t, LOGICAL_TIMESTAMP);
        pf_thrift_bool(t, 1, true); /* in UTC */
        pf_thrift_begin(t, 2);
        pf_thrift_empty(t, UNIT_MICROS);
        pf_thrift_end(t);
        pf_thrift_end(t);
        pf_thrift_end(t);
        break;
    case PF_COLUMN_BOOL:
    case PF_COLUMN_I32:
    case PF_COLUMN_I64:
    case PF_COLUMN_F64:
    case PF_COLUMN_I64S:
    case PF_COLUMN_GROUP:
    case PF_COLUMN_LIST:
        break;
    }
}

/* Writes the SchemaElement of a column with values. */
static void write_values(pf_thrift *t, const char *name, pf_column_type type)
{
    pf_thrift_begin(t, 0);
    pf_thrift_i32(t, 1, (int32_t)pf_physical_type(type));
    pf_thrift_i32(t, 3, REPETITION_OPTIONAL);
    pf_thrift_text(t, 4, name);
    write_meaning(t, type);
    pf_thrift_end(t);
}

static size_t members_of(const pf_table_about *about, size_t column)
{
    size_t n = 0;
    while (column + 1 + n < about->n && about->columns[column + 1 + n].is_member)
        n++;
    return n;
}

/* Writes the elements of a column.  Returns how many; those of its members are written
 * separately. */
static size_t write_column(pf_thrift *t, const pf_table_about *about, size_t i)
{
    const pf_column_about *c = &about->columns[i];
    switch (c->type) {
    case PF_COLUMN_GROUP:
        write_structure(t, c->name, REPETITION_OPTIONAL, members_of(about, i), false);
        return 1;
    case PF_COLUMN_LIST:
        write_structure(t, c->name, REPETITION_OPTIONAL, 1, true);
        write_structure(t, "list", REPETITION_REPEATED, 1, false);
        write_structure(t, "element", REPETITION_OPTIONAL, members_of(about, i), false);
        return 3;
    case PF_COLUMN_TEXTS:
    case PF_COLUMN_I64S:
        write_structure(t, c->name, REPETITION_OPTIONAL, 1, true);
        write_structure(t, "list", REPETITION_REPEATED, 1, false);
        write_values(t, "element", c->type);
        return 3;
    case PF_COLUMN_BOOL:
    case PF_COLUMN_I32:
    case PF_COLUMN_I64:
    case PF_COLUMN_U64:
    case PF_COLUMN_F64:
    case PF_COLUMN_TEXT:
    case PF_COLUMN_WALL:
        break;
    }
    write_values(t, c->name, c->type);
    return 1;
}

static bool write_schema(pf_thrift *t, const pf_table_about *about)
{
    pf_buffer elements = {0};
    pf_thrift e = pf_thrift_new(&elements);
    size_t columns = 0, n = 1;
    for (size_t i = 0; i < about->n; i++)
        columns += !about->columns[i].is_member;
    write_structure(&e, about->name, -1, columns, false);
    for (size_t i = 0; i < about->n; i++)
        n += write_column(&e, about, i);
    pf_thrift_list(t, 2, PF_THRIFT_STRUCT, n);
    const bool ok = !e.failed && pf_buffer_append(t->out, elements.ptr, elements.len);
    pf_buffer_free(&elements);
    return ok;
}

/* Row groups. */

/* Writes field 3: the names from the table down to the values. */
static void write_path(pf_thrift *t, const pf_table_about *about, const pf_leaf *leaf)
{
    const char *name = about->columns[leaf->column].name;
    const bool is_member = leaf->parent != PF_NO_PARENT;
    pf_thrift_list(t, 3, PF_THRIFT_BINARY, 1 + is_member + 2 * (size_t)leaf->max_rep);
    pf_thrift_element_text(t, is_member ? about->columns[leaf->parent].name : name);
    if (leaf->max_rep) {
        pf_thrift_element_text(t, "list");
        pf_thrift_element_text(t, "element");
    }
    if (is_member)
        pf_thrift_element_text(t, name);
}

/* Writes field 12: the number of nulls, and the bounds. */
static void write_statistics(pf_thrift *t, const pf_parquet_chunk *c, pf_column_type type)
{
    const perfile_bytes least = {c->least, c->least_len}, greatest = {c->greatest, c->greatest_len};
    const unsigned physical = pf_physical_type(type);
    pf_thrift_begin(t, 12);
    /* Older readers compare these fields as signed numbers. */
    if (c->bounded && type != PF_COLUMN_U64 && physical != PF_PHYSICAL_BYTE_ARRAY &&
        physical != PF_PHYSICAL_BOOLEAN) {
        pf_thrift_binary(t, 1, greatest);
        pf_thrift_binary(t, 2, least);
    }
    pf_thrift_i64(t, 3, (int64_t)c->nulls);
    if (c->bounded) {
        pf_thrift_binary(t, 5, greatest);
        pf_thrift_binary(t, 6, least);
    }
    if (physical == PF_PHYSICAL_DOUBLE)
        pf_thrift_i64(t, 9, (int64_t)c->nans);
    pf_thrift_end(t);
}

/* Writes a ColumnChunk; its row group begins at `at`. */
static void write_chunk(pf_thrift *t, const pf_table_about *about, const pf_leaf *leaf,
                        const pf_parquet_chunk *c, uint64_t at)
{
    const pf_column_type type = about->columns[leaf->column].type;
    const uint64_t first = at + c->offset;
    pf_thrift_begin(t, 0);
    pf_thrift_i64(t, 2, 0); /* no metadata outside the footer */
    pf_thrift_begin(t, 3);
    pf_thrift_i32(t, 1, (int32_t)pf_physical_type(type));
    pf_thrift_list(t, 2, PF_THRIFT_I32, c->encoding == PF_ENCODING_RLE_DICTIONARY ? 3 : 2);
    pf_thrift_element_i32(t, PF_ENCODING_RLE); /* for levels */
    pf_thrift_element_i32(t, (int32_t)c->encoding);
    if (c->encoding == PF_ENCODING_RLE_DICTIONARY)
        pf_thrift_element_i32(t, PF_ENCODING_PLAIN); /* for the dictionary */
    write_path(t, about, leaf);
    pf_thrift_i32(t, 4, CODEC_ZSTD);
    pf_thrift_i64(t, 5, (int64_t)c->values);
    pf_thrift_i64(t, 6, (int64_t)c->unpacked);
    pf_thrift_i64(t, 7, (int64_t)c->bytes);
    pf_thrift_i64(t, 9, (int64_t)(first + c->dictionary_bytes));
    if (c->dictionary_bytes)
        pf_thrift_i64(t, 11, (int64_t)first);
    write_statistics(t, c, type);
    pf_thrift_end(t);
    pf_thrift_end(t);
}

perfile_status pf_parquet_append(pf_parquet *f, const pf_parquet_group *g, perfile_error *err)
{
    if (!g->rows)
        return PERFILE_OK;
    const pf_parquet_chunk *chunks = (const void *)g->chunks.ptr;
    const size_t before = f->groups.len;
    pf_thrift t = pf_thrift_new(&f->groups);
    pf_leaves leaves = {.about = f->about};
    pf_leaf leaf;
    uint64_t unpacked = 0;
    pf_thrift_list(&t, 1, PF_THRIFT_STRUCT, g->chunks.len / sizeof *chunks);
    for (size_t i = 0; pf_leaves_next(&leaves, &leaf); i++) {
        write_chunk(&t, f->about, &leaf, &chunks[i], f->at);
        unpacked += chunks[i].unpacked;
    }
    pf_thrift_i64(&t, 2, (int64_t)unpacked);
    pf_thrift_i64(&t, 3, (int64_t)g->rows);
    pf_thrift_i64(&t, 5, (int64_t)f->at);
    pf_thrift_i64(&t, 6, (int64_t)g->bytes);
    pf_thrift_end(&t);
    if (t.failed) {
        f->groups.len = before;
        return pf_fail_nomem(err, "parquet.footer");
    }
    f->n_groups++;
    f->rows += g->rows;
    f->at += g->bytes;
    return PERFILE_OK;
}

/* Writes field 7: bounds of each column are in the order of its type. */
static void write_orders(pf_thrift *t, const pf_table_about *about)
{
    pf_leaf leaf;
    size_t n = 0;
    for (pf_leaves x = {.about = about}; pf_leaves_next(&x, &leaf);)
        n++;
    pf_thrift_list(t, 7, PF_THRIFT_STRUCT, n);
    for (; n; n--) {
        pf_thrift_begin(t, 0);
        pf_thrift_empty(t, ORDER_TYPE_DEFINED);
        pf_thrift_end(t);
    }
}

perfile_status pf_parquet_footer(pf_parquet *f, pf_buffer *out, perfile_error *err)
{
    const size_t before = out->len;
    pf_thrift t = pf_thrift_new(out);
    pf_thrift_i32(&t, 1, FORMAT_VERSION);
    bool ok = write_schema(&t, f->about);
    pf_thrift_i64(&t, 3, (int64_t)f->rows);
    pf_thrift_list(&t, 4, PF_THRIFT_STRUCT, f->n_groups);
    ok = ok && pf_buffer_append(out, f->groups.ptr, f->groups.len);
    if (f->n_notes) {
        pf_thrift_list(&t, 5, PF_THRIFT_STRUCT, f->n_notes);
        ok = ok && pf_buffer_append(out, f->notes.ptr, f->notes.len);
    }
    char program[64];
    snprintf(program, sizeof program, "perfile version %s", pf_version());
    pf_thrift_text(&t, 6, program);
    write_orders(&t, f->about);
    pf_thrift_end(&t);
    const size_t length = out->len - before;
    ok = ok && !t.failed && pf_buffer_reserve(out, 4 + MAGIC_BYTES);
    if (!ok || length > INT32_MAX) {
        out->len = before;
        return ok ? pf_fail(err, PERFILE_E_LIMIT, "parquet.footer", "a footer of %zu bytes", length)
                  : pf_fail_nomem(err, "parquet.footer");
    }
    pf_store_u32(out->ptr + out->len, (uint32_t)length, PF_NATIVE_BIG);
    memcpy(out->ptr + out->len + 4, magic, MAGIC_BYTES);
    out->len += 4 + MAGIC_BYTES;
    return PERFILE_OK;
}

/* The public handle of an archive: opens it, lists its chunks with their zones, its gaps, and the
 * metadata of its captures; and says what the columns of a chunk cost.
 *
 * Chunks and captures are listed from the table of chunks (table.c) and metadata only.  So even a
 * huge archive is listed without decoding the payload of a chunk of records. */
#include "archive/table.h"
#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "columns/decode.h"
#include "perfile/field.h"
#include "schema/rows.h"
#include "archive/command.h"

#include <stdio.h>
#include <string.h>

uint32_t pf_archive_capture_of(const perfile_archive *a, uint16_t source)
{
    uint32_t low = 0, high = a->n_captures;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (a->numbers[middle] < source)
            low = middle + 1;
        else
            high = middle;
    }
    return low < a->n_captures && a->numbers[low] == source ? low + 1 : 0;
}

bool pf_archive_cut_chunk(const pf_archive *a, const pf_archive_gap *gap, pf_chunk *c)
{
    perfile_bytes run;
    return pf_source_run(a->source, gap->offset, PF_ARCHIVE_HEADER, &run, NULL) == PERFILE_OK &&
           run.len >= PF_ARCHIVE_HEADER && pf_chunk_decode(run.ptr, gap->offset, a->head.id, c);
}

static bool is_of_part(const pf_chunk *c)
{
    return c->kind == PF_CHUNK_RECORDS || c->kind == PF_CHUNK_BYTES;
}

/* Collects the capture numbers that chunks have, and adds up their decoded bytes. */
static perfile_status list_captures(perfile_archive *a, perfile_error *err)
{
    const pf_archive *t = &a->table;
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->n_chunks; i++) {
        n += i == 0 || t->order[i]->source != t->order[i - 1]->source;
        a->decoded += is_of_part(&t->chunks[i]) ? t->chunks[i].raw_len : 0;
    }
    a->numbers = pf_alloc(n, sizeof *a->numbers);
    if (!a->numbers)
        return pf_fail_nomem(err, "archive");
    for (uint32_t i = 0; i < t->n_chunks; i++)
        if (i == 0 || t->order[i]->source != t->order[i - 1]->source)
            a->numbers[a->n_captures++] = t->order[i]->source;
    return PERFILE_OK;
}

static perfile_status read_table(perfile_archive *a, perfile_error *err)
{
    perfile_source *from = a->source;
    const unsigned flags =
        a->source->options.flags & PERFILE_SOURCE_NO_INDEX ? PF_ARCHIVE_NO_INDEX : 0;
    if (!from->seekable) {
        perfile_status st = pf_source_spool(a->source, &a->copy, err);
        if (st != PERFILE_OK)
            return st;
        from = a->copy;
    }
    perfile_status st = pf_archive_read(from, flags, &a->table, err);
    return st == PERFILE_OK ? list_captures(a, err) : st;
}

perfile_status perfile_archive_open(perfile_source *source, perfile_archive **archive,
                                    perfile_error *err)
{
    bool is;
    perfile_status st = pf_archive_recognise(source, true, &is, err);
    if (st != PERFILE_OK || !is)
        return st != PERFILE_OK ? st : PERFILE_END;
    perfile_archive *a = pf_alloc(1, sizeof *a);
    if (!a)
        return pf_fail_nomem(err, "archive");
    a->source = source;
    st = read_table(a, err);
    if (st == PERFILE_OK) {
        *archive = a;
        return PERFILE_OK;
    }
    a->source = NULL; /* it stays with the caller */
    perfile_archive_close(a);
    return st;
}

void perfile_archive_close(perfile_archive *a)
{
    if (!a)
        return;
    pf_archive_clear(&a->table);
    pf_zone_free(&a->zone);
    pf_meta_clear(&a->meta);
    pf_buffer_free(&a->bytes);
    pf_buffer_free(&a->counts);
    pf_buffer_free(&a->parts);
    pf_buffer_free(&a->columns);
    pf_buffer_free(&a->names);
    pf_buffer_free(&a->listed);
    pf_free(a->numbers);
    perfile_source_close(a->copy);
    perfile_source_close(a->source);
    pf_free(a);
}

void pf_archive_get_summary(const perfile_archive *a, pf_archive_summary *summary, size_t size)
{
    const pf_archive *t = &a->table;
    pf_archive_summary s = {.id = t->head.id,
                            .bytes = t->source->size,
                            .decoded = a->decoded,
                            .version = t->head.major,
                            .captures = a->n_captures,
                            .chunks = t->n_chunks,
                            .gaps = t->n_gaps,
                            .finished = t->finished,
                            .from_index = t->from_index,
                            .head_damaged = t->head_damaged};
    for (uint32_t i = 0; i < t->n_gaps; i++)
        s.gap_bytes += t->gaps[i].bytes;
    memcpy(summary, &s, size < sizeof s ? size : sizeof s);
}

/* Copies the counts by type of a->zone. */
static bool show_types(perfile_archive *a, pf_archive_chunk *out)
{
    const pf_zone_counts *types = &a->zone.types;
    pf_buffer_clear(&a->counts);
    for (uint32_t i = 0; types->known && i < types->n; i++) {
        const pf_archive_count count = {.records = types->at[i].records,
                                        .bytes = types->has_bytes ? types->at[i].bytes : UINT64_MAX,
                                        .type = (uint32_t)types->at[i].key};
        if (!pf_buffer_append(&a->counts, &count, sizeof count))
            return false;
    }
    out->types = (const pf_archive_count *)(const void *)a->counts.ptr;
    out->n_types = (uint32_t)(a->counts.len / sizeof *out->types);
    return true;
}

/* Reads the zone of a RECORDS chunk.  Damaged metadata are not an error. */
static perfile_status show_zone(perfile_archive *a, const pf_chunk *c, pf_archive_chunk *out,
                                perfile_error *err)
{
    pf_buffer_clear(&a->bytes);
    perfile_status st = pf_archive_meta(&a->table, c, &a->bytes, err);
    out->meta_damaged = st == PERFILE_E_CORRUPT;
    if (st != PERFILE_OK || c->kind != PF_CHUNK_RECORDS || !a->bytes.len)
        return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
    st = pf_zone_decode((perfile_bytes){a->bytes.ptr, a->bytes.len}, &a->zone, err);
    out->meta_damaged = st == PERFILE_E_CORRUPT;
    if (st != PERFILE_OK)
        return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
    out->has_zone = true;
    out->records = a->zone.records;
    if (a->zone.has_times) {
        out->first_time = a->zone.first;
        out->last_time = a->zone.last;
    }
    return show_types(a, out) ? PERFILE_OK : pf_fail_nomem(err, "archive");
}

perfile_status pf_archive_chunk_at(perfile_archive *a, uint32_t position, pf_archive_chunk *chunk,
                                   size_t size, perfile_error *err)
{
    if (position >= a->table.n_chunks)
        return PERFILE_END;
    const pf_chunk *c = &a->table.chunks[position];
    pf_archive_chunk out = {.kind = c->kind,
                            .codec = c->codec,
                            .flags = c->flags,
                            .part = c->part,
                            .capture = pf_archive_capture_of(a, c->source),
                            .offset = c->offset,
                            .bytes = pf_chunk_bytes(c),
                            .part_offset = c->raw_off,
                            .part_bytes = c->raw_len,
                            .payload = c->payload_len,
                            .first_time = PERFILE_NO_TIME,
                            .last_time = PERFILE_NO_TIME};
    perfile_status st = show_zone(a, c, &out, err);
    if (st == PERFILE_OK)
        memcpy(chunk, &out, size < sizeof out ? size : sizeof out);
    return st;
}

const char *pf_archive_kind_name(unsigned kind)
{
    return pf_chunk_kind_name(kind);
}

const char *pf_archive_codec_name(unsigned codec)
{
    return pf_chunk_codec_name(codec);
}

bool pf_archive_gap_at(const perfile_archive *a, uint32_t position, pf_archive_gap *gap)
{
    if (position >= a->table.n_gaps)
        return false;
    *gap = a->table.gaps[position];
    return true;
}

perfile_status pf_archive_read_meta(perfile_archive *a, uint16_t source, pf_meta *meta,
                                    perfile_error *err)
{
    const pf_archive_span maps = pf_archive_metas(&a->table, source);
    for (uint32_t i = 0; i < maps.n; i++) {
        pf_buffer_clear(&a->bytes);
        perfile_status st = pf_archive_map(&a->table, maps.at[i], &a->bytes, err);
        if (st == PERFILE_OK)
            st = pf_meta_decode((perfile_bytes){a->bytes.ptr, a->bytes.len}, meta, err);
        if (st != PERFILE_OK && st != PERFILE_E_CORRUPT && st != PERFILE_E_UNSUPPORTED &&
            st != PERFILE_E_LIMIT)
            return st;
    }
    return PERFILE_OK;
}

perfile_status perfile_archive_capture_at(perfile_archive *a, uint32_t number,
                                          perfile_archive_capture *capture, size_t size,
                                          perfile_error *err)
{
    if (number < 1 || number > a->n_captures)
        return PERFILE_END;
    pf_meta_clear(&a->meta);
    pf_buffer_clear(&a->parts);
    perfile_status st = pf_archive_read_meta(a, a->numbers[number - 1], &a->meta, err);
    if (st != PERFILE_OK)
        return st;
    for (uint32_t i = 0; i < a->meta.n_parts; i++) {
        const pf_meta_part *p = &a->meta.parts[i];
        const perfile_archive_part part = {.number = p->number,
                                           .size = p->has_size ? p->size : UINT64_MAX,
                                           .name = p->name,
                                           .format = p->format};
        if (!pf_buffer_append(&a->parts, &part, sizeof part))
            return pf_fail_nomem(err, "archive");
    }
    const perfile_archive_capture out = {
        .creator = a->meta.creator,
        .host = a->meta.host,
        .created = a->meta.has_created ? a->meta.created : UINT64_MAX,
        .n_parts = a->meta.n_parts,
        .n_lossy = a->meta.n_lossy,
        .lossy = a->meta.lossy,
        .name = a->meta.name,
        .modified = a->meta.has_modified ? a->meta.modified : UINT64_MAX,
        .parts = (const perfile_archive_part *)(const void *)a->parts.ptr};
    memcpy(capture, &out, size < sizeof out ? size : sizeof out);
    return PERFILE_OK;
}

/* Columns of a chunk: what they cost, and of which fields they are.
 *
 * A payload has no field names.  So the chunk is decoded, and for each column the first record with
 * a value of it is walked: the fields at the offset of this value name the column.  Fields of
 * samples are known only with the events of the session, which the caller passes. */

enum { NAME = 96, DEPTH = 8, WALKS_LEAST = 256 << 10, WALKS_RATIO = 64 };

/* Searches the fields of a record at the offset of a value. */
typedef struct search {
    uint64_t from, end; /* the range of the value, from the header of the record on */
    bool whole_list;    /* the value is bytes: the list around it gives the name, not its items */
    const char *lists[DEPTH];
    unsigned depth;
    char name[NAME];
    size_t len;
} search;

/* Appends text to the name, or nothing if it does not fit. */
static void append(search *x, const char *text)
{
    const size_t n = strlen(text);
    if (n >= NAME - x->len)
        return;
    memcpy(x->name + x->len, text, n + 1);
    x->len += n;
}

/* Appends the lists and structs around the field, then the field. */
static void append_path(search *x, const perfile_field *field)
{
    for (unsigned i = 0; i < x->depth && i < DEPTH; i++) {
        append(x, x->lists[i]);
        if (x->whole_list)
            return;
        append(x, ".");
    }
    append(x, field->name);
}

static void on_value(void *user, const perfile_field *field, const perfile_value *value)
{
    search *x = user;
    const uint64_t end = value->offset + value->width;
    const bool empty = x->from == x->end && value->offset == x->from;
    if (!empty && (value->width == 0 || end <= x->from || value->offset >= x->end))
        return;
    if (x->whole_list && x->depth && x->len)
        return; /* another item of the list */
    if (x->len && value->offset > x->from)
        append(x, ",");
    append_path(x, field);
    if (value->offset < x->from) {
        char plus[24];
        snprintf(plus, sizeof plus, "+%llu", (unsigned long long)(x->from - value->offset));
        append(x, plus);
    }
}

/* Returns true for lists, and for structs that have a name of their own. */
static bool is_named(const perfile_field *field)
{
    return field->type == PERFILE_STORED_LIST ||
           (field->type == PERFILE_STORED_STRUCT && !(field->flags & PERFILE_FIELD_FLAT));
}

static void on_begin(void *user, const perfile_field *field, const perfile_value *value)
{
    search *x = user;
    (void)value;
    if (!is_named(field))
        return;
    if (x->depth < DEPTH)
        x->lists[x->depth] = field->name;
    x->depth++;
}

static void on_end(void *user, const perfile_field *field)
{
    search *x = user;
    x->depth -= is_named(field);
}

/* Returns the record at `offset` of the decoded chunk. */
static perfile_record record_at(const pf_buffer *bytes, size_t offset, bool swap,
                                const perfile_session *session)
{
    const uint8_t *p = bytes->ptr + offset;
    const pf_frame f = pf_frame_at(p, swap);
    return (perfile_record){.header = p,
                            .body = {p + PF_PERF_RECORD_HEADER, f.size - PF_PERF_RECORD_HEADER},
                            .type = f.type,
                            .misc = f.misc,
                            .family = PERFILE_FAMILY_PERF,
                            .flags = swap ? PERFILE_REC_SWAPPED : 0,
                            .offset = PERFILE_NO_OFFSET,
                            .session = session};
}

/* Names the column after the fields at l->at of a record.  Without `walk`, or if there is no field,
 * the name is this offset. */
static void name_column(const pf_columns_listed *l, const perfile_record *r, bool walk,
                        pf_archive_column *c, search *x)
{
    static const perfile_visitor visitor = {
        .size = sizeof visitor, .value = on_value, .begin = on_begin, .end = on_end};
    *x = (search){.from = l->at, .end = l->at + (uint64_t)l->len, .whole_list = l->width == 0};
    c->type = r->type;
    if (walk)
        (void)perfile_record_walk(r, PERFILE_WALK_PADDING, &visitor, x, NULL);
    if (x->len)
        return;
    x->depth = 0;
    if (walk)
        (void)perfile_record_walk_trailer(r, PERFILE_WALK_PADDING, &visitor, x, NULL);
    c->trailer = x->len > 0;
    if (!x->len)
        snprintf(x->name, sizeof x->name, "+%u", l->at);
}

static const char *encoding_of(const pf_columns_listed *l)
{
    static const char *const plain[] = {"constant", "plain",      "planes",
                                        "deltas",   "dictionary", "variable"};
    static const char *const deltas[] = {"constant deltas", "plain deltas",     "delta planes",
                                         "deltas",          "delta dictionary", "variable deltas"};
    if (l->width == 0)
        return l->by_dictionary ? "dictionary of bytes" : "bytes";
    if (l->how >= sizeof plain / sizeof plain[0])
        return "";
    return l->differences ? deltas[l->how] : plain[l->how];
}

/* Adds a column.  Its name is appended to a->names; c.field is set when all names are there. */
static bool add_column(perfile_archive *a, const pf_columns_listed *l, const perfile_record *r,
                       bool walk, bool first)
{
    search x = {.len = 0};
    pf_archive_column c = {.stored = l->stored,
                           .decoded = l->decoded,
                           .values = l->values,
                           .type = UINT32_MAX,
                           .width = l->width,
                           .encoding = first ? "" : encoding_of(l)};
    if (r)
        name_column(l, r, walk, &c, &x);
    else
        snprintf(x.name, sizeof x.name, "%s", first ? "headers" : "unused");
    return pf_buffer_append(&a->names, x.name, strlen(x.name) + 1) &&
           pf_buffer_append(&a->columns, &c, sizeof c);
}

/* Decodes a chunk to a->bytes, and lists its columns (pf_columns_listed) in a->listed. */
static perfile_status list(perfile_archive *a, const pf_chunk *c, perfile_error *err)
{
    perfile_bytes stored;
    pf_buffer_clear(&a->bytes);
    pf_buffer_clear(&a->listed);
    perfile_status st = pf_archive_payload(&a->table, c, &a->bytes, err);
    if (st == PERFILE_OK)
        st = pf_archive_stored(&a->table, c, &stored, err);
    return st == PERFILE_OK ? pf_columns_list(a->table.columns, stored, c->raw_len, &a->listed, err)
                            : st;
}

perfile_status pf_archive_columns(perfile_archive *a, uint32_t position,
                                  const perfile_session *session, const pf_archive_column **columns,
                                  uint32_t *n, perfile_error *err)
{
    const pf_chunk *c = position < a->table.n_chunks ? &a->table.chunks[position] : NULL;
    if (!c || c->codec != PF_CODEC_COLUMNS)
        return PERFILE_END;
    const bool big = c->flags & PF_CHUNK_FLAG_BIG_ENDIAN;
    perfile_status st = pf_archive_check_ratio(&a->table, a->decoded, err);
    if (st == PERFILE_OK)
        st = list(a, c, err);
    if (st != PERFILE_OK)
        return st;
    const pf_columns_listed *l = (const pf_columns_listed *)(const void *)a->listed.ptr;
    const size_t n_listed = a->listed.len / sizeof *l;
    pf_buffer_clear(&a->names);
    pf_buffer_clear(&a->columns);
    /* A walk visits a whole record.  Limit the total: naming thousands of columns of large records
     * would cost too much. */
    uint64_t walks = WALKS_LEAST + WALKS_RATIO * (uint64_t)c->raw_len;
    for (size_t i = 0; i < n_listed; i++) {
        perfile_record r = {.body.len = 0};
        if (l[i].placed)
            r = record_at(&a->bytes, l[i].record, big != (bool)PF_NATIVE_BIG, session);
        const bool walk = walks >= r.body.len;
        walks -= walk ? r.body.len : 0;
        if (!add_column(a, &l[i], l[i].placed ? &r : NULL, walk, i == 0))
            return pf_fail_nomem(err, "archive");
    }
    pf_archive_column *all = (pf_archive_column *)(void *)a->columns.ptr;
    const char *name = (const char *)a->names.ptr;
    for (size_t i = 0; i < n_listed; i++, name += strlen(name) + 1)
        all[i].field = name;
    *columns = all;
    *n = (uint32_t)n_listed;
    return PERFILE_OK;
}

/* pf_columns_list(): what the columns of a payload cost, and which values they have.
 *
 * The decoder reads the head and marks where each column begins.  Between two marks are the head,
 * small streams and frames of one column.  Then values are taken record by record, to count how
 * many bytes come from each column, and to find where its first value is. */

enum { RAW0_AT = 8, STORED0_AT = 12 }; /* offsets in the table of a payload */

static perfile_status read_bytes(void *user, size_t offset, size_t len, perfile_bytes *bytes,
                                 perfile_error *err)
{
    const perfile_bytes *payload = user;
    (void)err;
    *bytes = (perfile_bytes){payload->ptr + offset, len};
    return PERFILE_OK;
}

/* Returns the stored bytes of column `i`: those of its frames, and its share of frame 0. */
static uint64_t stored_of(const pf_columns_decoder *d, uint32_t i)
{
    const pf_columns_mark *from = &d->marks[i], *to = from + 1;
    const uint8_t *table = d->streams.table;
    const uint64_t raw0 = pf_load_u32(table + RAW0_AT, PF_NATIVE_BIG);
    const uint64_t stored0 = pf_load_u32(table + STORED0_AT, PF_NATIVE_BIG);
    const uint64_t mine = (uint64_t)(to->head - from->head) + (uint64_t)(to->small - from->small);
    return to->offset - from->offset + (raw0 ? mine * stored0 / raw0 : 0);
}

/* Notes the offset of the first value of a column.  An empty value has no field to name it, so a
 * later one that is not empty replaces it. */
static void place(pf_columns_listed *c, uint64_t record, uint64_t at, uint64_t len)
{
    c->decoded += len;
    if (c->placed && (c->len || !len))
        return;
    c->placed = true;
    c->record = (uint32_t)record;
    c->at = (uint32_t)at;
    c->len = (uint32_t)len;
}

/* Takes the next value of a column; *len is its size.  Returns false if there is none. */
static bool take(pf_columns_decoder *d, pf_column *k, uint64_t *len)
{
    if (k->left == 0 || !pf_column_has(&d->streams, k)) {
        pf_streams_fail(&d->streams, "a column with too few values");
        return false;
    }
    *len = k->width ? k->width : k->block.blobs[k->at].len;
    k->at++;
    k->left--;
    return true;
}

/* Takes the values of record `i`, which begins at `record`.  Returns the bytes of the record. */
static uint64_t take_record(pf_columns_decoder *d, size_t i, uint64_t record,
                            pf_columns_listed *list)
{
    const uint8_t number = pf_class_of(d, i);
    uint64_t at = PF_RECORD_HEADER;
    if (number >= d->n_classes) {
        pf_streams_fail(&d->streams, "a class that does not exist");
        return 0;
    }
    const pf_class *c = &d->classes[number];
    for (const pf_op *o = &d->ops[c->first], *last = o + c->n; o < last; o++) {
        pf_columns_listed *x = &list[1 + o->column];
        uint64_t len = 8; /* REF */
        if (o->what != PF_COLUMNS_REF && !take(d, &d->columns[o->column], &len))
            return 0;
        if (o->what == PF_COLUMNS_BLOB) {
            x->decoded += o->width;
            at += o->width;
        }
        if (o->what == PF_COLUMNS_REF)
            x->decoded += len; /* a copy of bytes that are counted above */
        else
            place(x, record, at, len);
        at += len;
    }
    return at;
}

static void fill(const pf_columns_decoder *d, uint32_t i, pf_columns_listed *x)
{
    const pf_column *c = &d->columns[i];
    *x = (pf_columns_listed){.stored = stored_of(d, i),
                             .values = d->marks[i].values,
                             .width = c->width,
                             .how = c->numbers.how,
                             .differences = c->numbers.differences,
                             .by_dictionary = c->by_dictionary};
}

static void list_columns(pf_columns_decoder *d, size_t payload_len, size_t raw_len,
                         pf_columns_listed *list)
{
    uint64_t record = 0;
    list[0] = (pf_columns_listed){.stored = payload_len,
                                  .decoded = (uint64_t)d->n_records * PF_RECORD_HEADER,
                                  .values = d->n_records};
    for (uint32_t i = 0; i < d->n_columns; i++) {
        fill(d, i, &list[1 + i]);
        list[0].stored -= list[1 + i].stored;
    }
    for (size_t i = 0; i < d->n_records && !d->streams.bad && record < raw_len; i++)
        record += take_record(d, i, record, list);
    if (record != raw_len)
        pf_streams_fail(&d->streams, "its records are of another size than the chunk");
}

perfile_status pf_columns_list(pf_columns_decoder *d, perfile_bytes payload, size_t raw_len,
                               pf_buffer *listed, perfile_error *err)
{
    const pf_columns_input input = {
        .read = read_bytes, .user = &payload, .len = payload.len, .stays = true};
    pf_columns_listed *list = NULL;
    d->marks = pf_alloc(PF_COLUMNS_MOST_COLUMNS + 1, sizeof *d->marks);
    if (!d->marks)
        return pf_fail_nomem(err, "archive.columns");
    pf_columns_begin(d, &input, false, raw_len, err);
    if (!d->streams.bad)
        list = pf_alloc(d->n_columns + (size_t)1, sizeof *list);
    if (list)
        list_columns(d, payload.len, raw_len, list);
    perfile_status st = pf_columns_outcome(d, err);
    if (st == PERFILE_OK &&
        (!list || !pf_buffer_append(listed, list, (d->n_columns + (size_t)1) * sizeof *list)))
        st = pf_fail_nomem(err, "archive.columns");
    pf_free(list);
    pf_free(d->marks);
    d->marks = NULL;
    return st;
}

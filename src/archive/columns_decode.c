/* The decoder of the codec COLUMNS: reads head and columns, then puts the records together.
 *
 * Bounds.  A number of w bytes becomes w bytes of a record, and so does each byte of a blob; all
 * columns together are therefore compared with the size of the chunk before they are read, and
 * every value must have been used at the end.  Blobs may be empty: of these there is one for each
 * PF_COLUMNS_BLOB_BYTES decoded bytes at most. */
#include "archive/columns.h"

#include <string.h>

#include "archive/columns_numbers.h"
#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"

enum { RECORD_HEADER = 8, MOST_RECORD = 65535 };

typedef struct op {
    uint8_t what;
    uint8_t width; /* of WORD; of the prefix of BLOB: 0, 2, 4 or 8 */
    uint32_t column;
    uint64_t unit, extra; /* of BLOB: the prefix is (length - extra) / unit */
    uint64_t offset;      /* of REF: in the blob */
} op;

typedef struct class
{
    uint32_t type;
    uint16_t misc;
    uint32_t first, n; /* of its operations */
} class;

typedef struct column {
    uint8_t width; /* 0: blobs */
    bool by_dictionary;
    size_t left;       /* values that were not taken yet */
    pf_numbers values; /* numbers; of blobs their lengths, or, with a dictionary, their ids */
    const uint8_t *at; /* the next number, length or id */
    /* Blobs: their bytes one behind the other; with a dictionary those of its entries. */
    const uint8_t *heap, *heap_end;
    pf_buffer heap_memory;
    pf_numbers words;        /* the heap as words */
    pf_numbers entry_lens;   /* of the entries */
    pf_buffer entry_offsets; /* uint64_t of each, and the end of the last */
    uint64_t n_entries, introduced;
} column;

struct pf_columns_decoder {
    pf_streams streams;
    pf_numbers_scratch scratch;
    op ops[PF_COLUMNS_MOST_OPS];
    class classes[PF_COLUMNS_MOST_CLASSES];
    uint32_t n_ops, n_classes;
    pf_numbers class_of; /* for each record */
    column *columns;     /* PF_COLUMNS_MOST_COLUMNS, their memory kept from chunk to chunk */
    uint32_t n_columns;
    size_t n_records;
    size_t budget; /* bytes that columns may still have */
    size_t blobs;  /* that there may still be */
};

pf_columns_decoder *pf_columns_decoder_new(void)
{
    pf_columns_decoder *d = pf_alloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->columns = pf_alloc(PF_COLUMNS_MOST_COLUMNS, sizeof *d->columns);
    d->streams.zstd = ZSTD_createDCtx();
    if (d->columns && d->streams.zstd)
        return d;
    pf_columns_decoder_free(d);
    return NULL;
}

void pf_columns_decoder_free(pf_columns_decoder *d)
{
    if (!d)
        return;
    for (uint32_t i = 0; d->columns && i < PF_COLUMNS_MOST_COLUMNS; i++) {
        column *c = &d->columns[i];
        pf_buffer_free(&c->values.memory);
        pf_buffer_free(&c->heap_memory);
        pf_buffer_free(&c->words.memory);
        pf_buffer_free(&c->entry_lens.memory);
        pf_buffer_free(&c->entry_offsets);
    }
    pf_free(d->columns);
    for (unsigned j = 0; j < 8; j++)
        pf_buffer_free(&d->scratch.planes[j]);
    pf_buffer_free(&d->scratch.stream);
    pf_buffer_free(&d->scratch.entries);
    pf_buffer_free(&d->class_of.memory);
    pf_buffer_free(&d->streams.first);
    ZSTD_freeDCtx(d->streams.zstd);
    pf_free(d);
}

static void fail(pf_columns_decoder *d, const char *why)
{
    pf_streams_fail(&d->streams, why);
}

static bool is_width(unsigned width)
{
    return width == 1 || width == 2 || width == 4 || width == 8;
}

/* A number of the head that must not be above `most`. */
static uint32_t bounded(pf_columns_decoder *d, uint64_t most, const char *why)
{
    const uint64_t v = pf_streams_v(&d->streams);
    if (v > most)
        fail(d, why);
    return d->streams.bad ? 0 : (uint32_t)v;
}

static void read_op(pf_columns_decoder *d, op *o)
{
    *o = (op){.what = pf_streams_u8(&d->streams)};
    if (o->what == PF_COLUMNS_WORD) {
        o->width = pf_streams_u8(&d->streams);
        if (!is_width(o->width))
            fail(d, "a word of another width than 1, 2, 4 or 8");
    } else if (o->what == PF_COLUMNS_BLOB) {
        o->width = pf_streams_u8(&d->streams);
        o->unit = pf_streams_v(&d->streams);
        o->extra = pf_streams_v(&d->streams);
        if (o->width == 1 || (o->width && !is_width(o->width)) || o->unit == 0)
            fail(d, "a prefix that there is not");
    } else if (o->what != PF_COLUMNS_REF) {
        fail(d, "an operation that is not known");
    }
    o->column = bounded(d, PF_COLUMNS_MOST_COLUMNS - 1, "a column that there is not");
    if (o->what == PF_COLUMNS_REF)
        o->offset = pf_streams_v(&d->streams);
}

static void read_classes(pf_columns_decoder *d)
{
    d->n_ops = 0;
    d->n_classes = bounded(d, PF_COLUMNS_MOST_CLASSES, "too many classes");
    for (uint32_t i = 0; i < d->n_classes; i++) {
        class *c = &d->classes[i];
        c->type = bounded(d, UINT32_MAX, "a record type of more than 32 bits");
        c->misc = (uint16_t)bounded(d, UINT16_MAX, "misc of more than 16 bits");
        c->first = d->n_ops;
        c->n = bounded(d, PF_COLUMNS_MOST_OPS - d->n_ops, "too many operations");
        for (uint32_t k = 0; k < c->n && !d->streams.bad; k++)
            read_op(d, &d->ops[d->n_ops++]);
    }
}

/* Counts n values of `width` bytes against what the chunk may have. */
static bool spend(pf_columns_decoder *d, uint64_t n, unsigned width)
{
    if (!d->streams.bad && n > d->budget / width)
        fail(d, "more values than the chunk has bytes");
    if (d->streams.bad)
        return false;
    d->budget -= (size_t)n * width;
    return true;
}

static uint32_t number_at(const pf_numbers *v, size_t i)
{
    return pf_load_u32(v->ptr + i * v->stride, PF_NATIVE_BIG);
}

/* The bytes of blobs: `len` of them, in a stream or as words. */
static void read_heap(pf_columns_decoder *d, column *c, uint64_t len)
{
    pf_streams *s = &d->streams;
    const unsigned unit = c->by_dictionary ? pf_streams_u8(s) : 1;
    perfile_bytes heap = {NULL, 0};
    if (!spend(d, len, 1))
        return;
    if (unit == 1) {
        heap = pf_streams_next(s, (size_t)len, (size_t)len, &c->heap_memory);
    } else if (unit == 8 && len % 8 == 0) {
        pf_numbers_read(s, &d->scratch, (size_t)len / 8, 8, &c->words);
        if (!s->bad && c->words.stride == 0) { /* all equal: written out */
            pf_buffer_clear(&c->heap_memory);
            if (!pf_buffer_reserve(&c->heap_memory, (size_t)len + 1)) {
                s->no_memory = true;
                fail(d, "out of memory");
                return;
            }
            for (size_t i = 0; i < len; i += 8)
                memcpy(c->heap_memory.ptr + i, c->words.constant, 8);
            heap = (perfile_bytes){c->heap_memory.ptr, (size_t)len};
        } else {
            heap = (perfile_bytes){c->words.ptr, (size_t)len};
        }
    } else {
        fail(d, "entries in units that there are not");
    }
    c->heap = heap.ptr;
    c->heap_end = heap.ptr ? heap.ptr + heap.len : heap.ptr;
}

/* The sum of n lengths; more than the chunk has bytes is a failure. */
static uint64_t sum_of(pf_columns_decoder *d, const pf_numbers *lens, uint64_t n)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i < n && !d->streams.bad; i++) {
        sum += number_at(lens, (size_t)i);
        if (sum > d->streams.raw_len)
            fail(d, "blobs of more bytes than the chunk has");
    }
    return sum;
}

static void read_dictionary(pf_columns_decoder *d, column *c, uint64_t n)
{
    pf_streams *s = &d->streams;
    c->n_entries = pf_streams_v(s);
    if (c->n_entries > n)
        fail(d, "more entries than blobs");
    if (s->bad)
        return;
    pf_numbers_read(s, &d->scratch, (size_t)n, 4, &c->values);
    pf_numbers_read(s, &d->scratch, (size_t)c->n_entries, 4, &c->entry_lens);
    pf_buffer_clear(&c->entry_offsets);
    const uint64_t len = sum_of(d, &c->entry_lens, c->n_entries);
    uint64_t offset = 0;
    for (uint64_t i = 0; i <= c->n_entries && !s->bad; i++) {
        if (!pf_buffer_append(&c->entry_offsets, &offset, sizeof offset)) {
            s->no_memory = true;
            fail(d, "out of memory");
        }
        offset += i < c->n_entries && !s->bad ? number_at(&c->entry_lens, (size_t)i) : 0;
    }
    read_heap(d, c, len);
}

static void read_blobs(pf_columns_decoder *d, column *c, uint64_t n)
{
    pf_streams *s = &d->streams;
    if (n > d->blobs)
        fail(d, "more blobs than a chunk of its size may have");
    const unsigned how = pf_streams_u8(s);
    if (s->bad)
        return;
    d->blobs -= (size_t)n;
    c->by_dictionary = how == PF_BLOBS_DICT;
    if (how == PF_BLOBS_DICT) {
        read_dictionary(d, c, n);
    } else if (how == PF_BLOBS_PLAIN) {
        pf_numbers_read(s, &d->scratch, (size_t)n, 4, &c->values);
        read_heap(d, c, sum_of(d, &c->values, n));
    } else {
        fail(d, "an encoding of blobs that is not known");
    }
}

static void read_columns(pf_columns_decoder *d)
{
    pf_streams *s = &d->streams;
    d->n_columns = bounded(d, PF_COLUMNS_MOST_COLUMNS, "too many columns");
    for (uint32_t i = 0; i < d->n_columns && !s->bad; i++) {
        column *c = &d->columns[i];
        c->width = pf_streams_u8(s);
        c->by_dictionary = false;
        c->introduced = c->n_entries = 0;
        c->heap = c->heap_end = NULL;
        const uint64_t n = pf_streams_v(s);
        if (c->width == 0)
            read_blobs(d, c, n);
        else if (!is_width(c->width))
            fail(d, "a column of another width than 0, 1, 2, 4 or 8");
        else if (spend(d, n, c->width))
            pf_numbers_read(s, &d->scratch, (size_t)n, c->width, &c->values);
        c->at = c->values.ptr;
        c->left = (size_t)n;
    }
}

/* Each operation must name a column of its kind. */
static void check_ops(pf_columns_decoder *d)
{
    for (uint32_t i = 0; i < d->n_ops && !d->streams.bad; i++) {
        const op *o = &d->ops[i];
        const unsigned width = o->what == PF_COLUMNS_WORD ? o->width : 0;
        if (o->column >= d->n_columns || d->columns[o->column].width != width)
            fail(d, "an operation on a column of another kind");
    }
}

static void read_head(pf_columns_decoder *d)
{
    pf_streams *s = &d->streams;
    d->n_records = bounded(d, d->budget / RECORD_HEADER, "more records than fit into the chunk");
    d->budget -= d->n_records * RECORD_HEADER;
    read_classes(d);
    if (s->bad)
        return;
    pf_numbers_read(s, &d->scratch, d->n_records, 1, &d->class_of);
    read_columns(d);
    check_ops(d);
    if (!s->bad && !pf_streams_at_end(s))
        fail(d, "there are bytes behind its last column");
}

/* Copies a number of `width` bytes from little-endian to the order of the records. */
PF_INLINE void put_number(uint8_t *to, const uint8_t *from, unsigned width, bool big)
{
    if (!big) {
        switch (width) {
        case 8:
            memcpy(to, from, 8);
            break;
        case 4:
            memcpy(to, from, 4);
            break;
        case 2:
            memcpy(to, from, 2);
            break;
        default:
            *to = *from;
        }
        return;
    }
    for (unsigned i = 0; i < width; i++)
        to[i] = from[width - 1 - i];
}

static void put_value(uint8_t *to, uint64_t v, unsigned width, bool big)
{
    uint8_t bytes[8];
    pf_store_u64(bytes, v, PF_NATIVE_BIG);
    put_number(to, bytes, width, big);
}

/* The next blob of a column.  False: there is none, or its id is of no entry yet. */
static bool next_blob(const column *c, perfile_bytes *blob)
{
    if (!c->left)
        return false;
    const uint32_t v = pf_load_u32(c->at, PF_NATIVE_BIG);
    if (!c->by_dictionary) {
        *blob = (perfile_bytes){c->heap, v};
        return true;
    }
    const uint64_t entry = v ? v - 1 : c->introduced;
    if (v ? entry >= c->introduced : entry >= c->n_entries)
        return false;
    const uint64_t *offsets = (const uint64_t *)(const void *)c->entry_offsets.ptr;
    *blob = (perfile_bytes){c->heap ? c->heap + offsets[entry] : NULL,
                            (size_t)(offsets[entry + 1] - offsets[entry])};
    return true;
}

/* Takes the blob that next_blob() has shown. */
static void take_blob(column *c, perfile_bytes blob)
{
    if (!c->by_dictionary)
        c->heap = c->heap ? c->heap + blob.len : NULL;
    else if (pf_load_u32(c->at, PF_NATIVE_BIG) == 0)
        c->introduced++;
    c->at += c->values.stride;
    c->left--;
}

/* Appends prefix and blob at `to`; returns the end, NULL if they do not fit or there is no blob. */
static uint8_t *put_blob(pf_columns_decoder *d, const op *o, bool big, uint8_t *to, uint8_t *end)
{
    column *c = &d->columns[o->column];
    perfile_bytes blob;
    if (!next_blob(c, &blob) || blob.len > (size_t)(end - to) ||
        o->width > (size_t)(end - to) - blob.len)
        return NULL;
    if (o->width) {
        const uint64_t prefix = (blob.len - o->extra) / o->unit;
        if (blob.len < o->extra || (blob.len - o->extra) % o->unit ||
            (o->width < 8 && prefix >> 8 * o->width))
            return NULL;
        put_value(to, prefix, o->width, big);
        to += o->width;
    }
    if (blob.len)
        memcpy(to, blob.ptr, blob.len);
    take_blob(c, blob);
    return to + blob.len;
}

/* Appends a word of the blob that comes next.  It is in the byte order of the records already. */
static uint8_t *put_reference(const pf_columns_decoder *d, const op *o, uint8_t *to,
                              const uint8_t *end)
{
    perfile_bytes blob;
    if (!next_blob(&d->columns[o->column], &blob) || blob.len < 8 || o->offset > blob.len - 8 ||
        end - to < 8)
        return NULL;
    memcpy(to, blob.ptr + o->offset, 8);
    return to + 8;
}

/* Puts one record at `to`; returns its end, NULL if it cannot be. */
PF_INLINE uint8_t *put_record(pf_columns_decoder *d, const class *c, bool big, uint8_t *to,
                              uint8_t *end)
{
    uint8_t *at = to + RECORD_HEADER;
    if (end - to < RECORD_HEADER)
        return NULL;
    for (const op *o = &d->ops[c->first], *last = o + c->n; o < last && at; o++) {
        if (o->what == PF_COLUMNS_WORD) {
            column *k = &d->columns[o->column];
            if (!k->left || end - at < o->width)
                return NULL;
            put_number(at, k->at, o->width, big);
            k->at += k->values.stride;
            k->left--;
            at += o->width;
        } else if (o->what == PF_COLUMNS_BLOB) {
            at = put_blob(d, o, big, at, end);
        } else {
            at = put_reference(d, o, at, end);
        }
    }
    if (!at || at - to > MOST_RECORD)
        return NULL;
    put_value(to, c->type, 4, big);
    put_value(to + 4, c->misc, 2, big);
    put_value(to + 6, (uint64_t)(at - to), 2, big);
    return at;
}

/* All records; then every column must be used up. */
static void put_records(pf_columns_decoder *d, bool big, uint8_t *out, size_t raw_len)
{
    uint8_t *at = out, *end = out + raw_len;
    for (size_t i = 0; i < d->n_records; i++) {
        const uint8_t number = d->class_of.ptr[i * d->class_of.stride];
        at = number >= d->n_classes ? NULL
             : big                  ? put_record(d, &d->classes[number], true, at, end)
                                    : put_record(d, &d->classes[number], false, at, end);
        if (!at) {
            fail(d, "a record that cannot be put together");
            return;
        }
    }
    if (at != end)
        fail(d, "its records are shorter than the chunk");
    for (uint32_t i = 0; i < d->n_columns; i++)
        if (d->columns[i].left || d->columns[i].introduced != d->columns[i].n_entries)
            fail(d, "a column was not used up");
}

perfile_status pf_columns_decode(pf_columns_decoder *d, perfile_bytes payload, bool big,
                                 uint8_t *out, size_t raw_len, perfile_error *err)
{
    d->budget = raw_len;
    d->blobs = raw_len / PF_COLUMNS_BLOB_BYTES;
    pf_streams_open(&d->streams, payload, raw_len);
    if (!d->streams.bad)
        read_head(d);
    if (!d->streams.bad)
        put_records(d, big, out, raw_len);
    if (d->streams.no_memory)
        return pf_fail_nomem(err, "archive.columns");
    if (d->streams.bad)
        return pf_fail(err, PERFILE_E_CORRUPT, "archive.columns", "%s", d->streams.bad);
    return PERFILE_OK;
}

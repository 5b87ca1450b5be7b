/* Puts records together from the values of columns.
 *
 * Records of one class that follow each other are put together operation by operation, many at
 * once (put_run()): first the place of each is known, from the lengths of its blobs; then one loop
 * writes the numbers of one column to all of them.  So bounds are checked once for all, and the
 * loops have nothing to decide.  Such a run is as long as a block of numbers, which keeps what is
 * written in the first cache until its last operation.
 *
 * The order of operations is then another one than the format says (record by record), which is the
 * same if no column is used twice by a class; see pf_class.regular.  Other classes, and records
 * that stand alone, are put together one by one (put_one()). */
#include "archive/columns_decode.h"

#include "base/byte_order.h"

enum { RUN = PF_NUMBERS_BLOCK, WORTH_A_RUN = 3 /* fewer records are faster one by one */ };

PF_INLINE void store(uint8_t *p, uint64_t v, unsigned width, bool big)
{
    const bool swap = big != (bool)PF_NATIVE_BIG;
    if (width == 8)
        pf_store_u64(p, v, swap);
    else if (width == 4)
        pf_store_u32(p, (uint32_t)v, swap);
    else if (width == 2)
        pf_store_u16(p, (uint16_t)v, swap);
    else
        *p = (uint8_t)v;
}

PF_INLINE void put_header(const pf_class *c, uint8_t *to, size_t size, bool big)
{
    const uint64_t type = c->type, misc = c->misc;
    store(to, big ? type << 32 | misc << 16 | size : type | misc << 32 | (uint64_t)size << 48, 8,
          big);
}

/* What stands in front of a blob.  False: the length of the blob is none that it can say. */
PF_INLINE bool prefix_of(const pf_op *o, uint64_t len, uint64_t *prefix)
{
    const uint64_t rest = len - o->extra;
    if (o->width == 0)
        return true;
    *prefix = o->shift < 64 ? rest >> o->shift : rest / o->unit;
    return len >= o->extra && *prefix * o->unit == rest &&
           (o->width == 8 || *prefix >> 8 * o->width == 0);
}

static const char no_value[] = "a column with too few values";

/* One record, value by value. */

static bool put_word(pf_columns_decoder *d, const pf_op *o, bool big, uint8_t *to)
{
    pf_column *k = &d->columns[o->column];
    if (k->left == 0) {
        pf_streams_fail(&d->streams, no_value);
        return false;
    }
    if (!pf_column_has(&d->streams, k))
        return false;
    store(to, k->block.values[k->at++], o->width, big);
    k->left--;
    return true;
}

/* The blob that comes next. */
static bool show_blob(pf_columns_decoder *d, pf_column *k, pf_blob *blob)
{
    if (k->left == 0 || !pf_column_has(&d->streams, k)) {
        pf_streams_fail(&d->streams, no_value);
        return false;
    }
    *blob = k->block.blobs[k->at];
    return true;
}

/* Writes prefix and blob; there is room for them. */
PF_INLINE void put_blob(const pf_op *o, const pf_column *k, pf_blob blob, uint64_t prefix, bool big,
                        uint8_t *to)
{
    if (o->width)
        store(to, prefix, o->width, big);
    if (blob.len)
        memcpy(to + o->width, k->heap.ptr + blob.offset, blob.len);
}

/* Appends prefix and blob at `to`; returns the end, NULL after a failure. */
static uint8_t *append_blob(pf_columns_decoder *d, const pf_op *o, bool big, uint8_t *to,
                            const uint8_t *end)
{
    pf_column *k = &d->columns[o->column];
    pf_blob blob;
    uint64_t prefix = 0;
    if (!show_blob(d, k, &blob))
        return NULL;
    if (blob.len > (size_t)(end - to) || o->width > (size_t)(end - to) - blob.len ||
        !prefix_of(o, blob.len, &prefix)) {
        pf_streams_fail(&d->streams, "a blob that does not fit");
        return NULL;
    }
    put_blob(o, k, blob, prefix, big, to);
    k->at++;
    k->left--;
    return to + o->width + blob.len;
}

/* A word of the blob that comes next.  It is in the byte order of the records already. */
static bool put_reference(pf_columns_decoder *d, const pf_op *o, uint8_t *to)
{
    pf_column *k = &d->columns[o->column];
    pf_blob blob;
    if (!show_blob(d, k, &blob))
        return false;
    if (blob.len < 8 || o->offset > blob.len - 8) {
        pf_streams_fail(&d->streams, "a reference behind the end of its blob");
        return false;
    }
    memcpy(to, k->heap.ptr + blob.offset + o->offset, 8);
    return true;
}

static uint8_t *put_one(pf_columns_decoder *d, size_t number, bool big, uint8_t *to, uint8_t *end)
{
    const pf_class *c = &d->classes[pf_class_of(d, number)];
    uint8_t *at = to + PF_RECORD_HEADER;
    size_t rest = c->size; /* bytes that there are at least, from `to` on */
    if ((size_t)(end - to) < rest) {
        pf_streams_fail(&d->streams, "its records are longer than the chunk");
        return NULL;
    }
    rest -= PF_RECORD_HEADER;
    for (const pf_op *o = &d->ops[c->first], *last = o + c->n; o < last; o++) {
        const size_t size = o->what == PF_COLUMNS_REF ? 8 : o->width;
        rest -= size;
        if (o->what == PF_COLUMNS_WORD ? !put_word(d, o, big, at)
                                       : o->what == PF_COLUMNS_REF && !put_reference(d, o, at))
            return NULL;
        if (o->what == PF_COLUMNS_BLOB)
            at = append_blob(d, o, big, at, end - rest); /* what stands behind it needs `rest` */
        else
            at += size;
        if (!at)
            return NULL;
    }
    if (at - to > PF_MOST_RECORD) {
        pf_streams_fail(&d->streams, "a record of more bytes than a record may have");
        return NULL;
    }
    put_header(c, to, (size_t)(at - to), big);
    return at;
}

/* Many records of one shape at once.  at[i] is where record i is, later where the next operation
 * writes to it, less what all records have alike. */

typedef struct run {
    uint8_t *to;
    size_t first, n; /* records, RUN at most */
    bool big;
    uint32_t at[RUN];
} run;

/* How many of the records have values in all columns, at most `most`.  Of columns of blobs these
 * are then in the block. */
static size_t available(pf_columns_decoder *d, const pf_class *c, size_t most)
{
    size_t n = most < RUN ? most : RUN;
    for (const pf_op *o = &d->ops[c->first], *last = o + c->n; o < last; o++) {
        pf_column *k = &d->columns[o->column];
        n = n < k->left ? n : k->left;
        if (n && k->width == 0 && !pf_column_has(&d->streams, k))
            n = 0;
        if (k->width == 0 && n > k->ready - k->at)
            n = k->ready - k->at;
    }
    if (n == 0)
        pf_streams_fail(&d->streams, no_value);
    return n;
}

/* Writes the headers of records, whose classes may be different ones. */
static void put_headers(const pf_columns_decoder *d, const run *r, const uint32_t *size)
{
    const uint8_t *numbers = d->class_of ? d->class_of + r->first : NULL;
    for (size_t i = 0; i < r->n; i++) {
        const pf_class *c = &d->classes[numbers ? numbers[i] : d->class_of_all];
        put_header(c, r->to + r->at[i], size[i], r->big);
    }
}

/* Finds the places of records from their sizes, and writes the headers; returns the bytes of all, 0
 * after a failure. */
static size_t place(pf_columns_decoder *d, const pf_class *c, run *r, size_t room)
{
    uint32_t size[RUN], longest = c->size;
    uint64_t sum = 0;
    for (size_t i = 0; i < r->n; i++)
        size[i] = c->size;
    for (const pf_op *o = &d->ops[c->first], *last = o + c->n; o < last && c->n_blobs; o++) {
        const pf_column *k = &d->columns[o->column];
        for (size_t i = 0; i < r->n && o->what == PF_COLUMNS_BLOB; i++) {
            const uint32_t len = k->block.blobs[k->at + i].len;
            size[i] += len < PF_MOST_RECORD ? len : PF_MOST_RECORD;
            longest = longest > size[i] ? longest : size[i];
        }
    }
    for (size_t i = 0; i < r->n; i++) {
        r->at[i] = (uint32_t)sum;
        sum += size[i];
    }
    if (longest > PF_MOST_RECORD || sum > room) {
        pf_streams_fail(&d->streams, "its records are longer than they may be");
        return 0;
    }
    put_headers(d, r, size);
    return (size_t)sum;
}

/* Writes a number to each of n records. */
PF_INLINE void scatter(uint8_t *to, const uint32_t *at, const uint64_t *values, size_t n,
                       unsigned width, bool big)
{
    for (size_t i = 0; i < n; i++)
        store(to + at[i], values[i], width, big);
}

static void scatter_any(uint8_t *to, const uint32_t *at, const uint64_t *values, size_t n,
                        unsigned width, bool big)
{
    if (width == 8 && !big)
        scatter(to, at, values, n, 8, false);
    else if (width == 8)
        scatter(to, at, values, n, 8, true);
    else if (width == 4)
        scatter(to, at, values, n, 4, big);
    else if (width == 2)
        scatter(to, at, values, n, 2, big);
    else
        scatter(to, at, values, n, 1, false);
}

static void put_words(pf_columns_decoder *d, const pf_op *o, const run *r, uint8_t *to)
{
    pf_column *k = &d->columns[o->column];
    for (size_t i = 0, n; i < r->n && pf_column_has(&d->streams, k); i += n) {
        n = r->n - i < k->ready - k->at ? r->n - i : k->ready - k->at;
        scatter_any(to, r->at + i, k->block.values + k->at, n, o->width, r->big);
        k->at += n;
        k->left -= n;
    }
}

static void put_references(pf_columns_decoder *d, const pf_op *o, const run *r, uint8_t *to)
{
    const pf_column *k = &d->columns[o->column];
    const pf_blob *blobs = k->block.blobs + k->at;
    for (size_t i = 0; i < r->n; i++) {
        if (blobs[i].len < 8 || o->offset > blobs[i].len - 8) {
            pf_streams_fail(&d->streams, "a reference behind the end of its blob");
            return;
        }
        memcpy(to + r->at[i], k->heap.ptr + blobs[i].offset + o->offset, 8);
    }
}

/* Behind this operation records have different lengths: at[i] moves by that of the blob. */
static void put_blobs(pf_columns_decoder *d, const pf_op *o, run *r, uint8_t *to)
{
    pf_column *k = &d->columns[o->column];
    const pf_blob *blobs = k->block.blobs + k->at;
    for (size_t i = 0; i < r->n; i++) {
        uint64_t prefix = 0;
        if (!prefix_of(o, blobs[i].len, &prefix)) {
            pf_streams_fail(&d->streams, "a blob of a length that its prefix cannot say");
            return;
        }
        put_blob(o, k, blobs[i], prefix, r->big, to + r->at[i]);
        r->at[i] += blobs[i].len;
    }
    k->at += r->n;
    k->left -= r->n;
}

/* Puts as many as possible of `most` records from number `first` on at `to`; returns how many, and
 * their bytes in *bytes.  0: a failure. */
static size_t put_run(pf_columns_decoder *d, size_t first, size_t most, bool big, uint8_t *to,
                      size_t room, size_t *bytes)
{
    const pf_class *c = &d->classes[pf_class_of(d, first)];
    run r;
    r.to = to;
    r.first = first;
    r.big = big;
    r.n = available(d, c, most);
    *bytes = r.n ? place(d, c, &r, room) : 0;
    to += PF_RECORD_HEADER;
    for (const pf_op *o = &d->ops[c->first], *last = o + c->n; o < last && !d->streams.bad; o++) {
        if (o->what == PF_COLUMNS_WORD)
            put_words(d, o, &r, to);
        else if (o->what == PF_COLUMNS_REF)
            put_references(d, o, &r, to);
        else
            put_blobs(d, o, &r, to);
        to += o->what == PF_COLUMNS_REF ? 8 : o->width;
    }
    return d->streams.bad ? 0 : r.n;
}

enum { PIECE = 128 << 10 /* bytes: they stay in a second-level cache */ };

uint8_t *pf_put_records(pf_columns_decoder *d, size_t i, size_t n, bool big, uint8_t *to,
                        uint8_t *end)
{
    const bool regular = d->classes[pf_class_of(d, i)].regular;
    const size_t last = i + n;
    while (i < last && to) {
        size_t k = 1, bytes;
        if (!regular || last - i < WORTH_A_RUN) {
            to = put_one(d, i, big, to, end);
        } else {
            k = put_run(d, i, last - i, big, to, (size_t)(end - to), &bytes);
            to = k ? to + bytes : NULL;
        }
        i += k;
        if (d->piece && to && to - d->shown >= PIECE) {
            d->piece(d->piece_user, (perfile_bytes){d->shown, (size_t)(to - d->shown)});
            d->shown = to;
        }
    }
    return to;
}

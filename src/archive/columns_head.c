/* The head of a payload: its classes, and its columns one by one.
 *
 * Classes come first.  So it is known, before any column is read, which of its streams the wanted
 * part of the records needs; the others are passed by. */
#include "archive/columns_decode.h"

#include <string.h>

#include "base/alloc.h"

static void fail(pf_columns_decoder *d, const char *why)
{
    pf_streams_fail(&d->streams, why);
}

/* A number of the head that must not be above `most`. */
static uint32_t bounded(pf_columns_decoder *d, uint64_t most, const char *why)
{
    const uint64_t v = pf_streams_v(&d->streams);
    if (v > most)
        fail(d, why);
    return d->streams.bad ? 0 : (uint32_t)v;
}

static uint8_t shift_of(uint64_t unit)
{
    uint8_t shift = 0;
    while (shift < 63 && unit >> shift != 1)
        shift++;
    return (uint64_t)1 << shift == unit ? shift : 255;
}

static void read_op(pf_columns_decoder *d, pf_op *o)
{
    *o = (pf_op){.what = pf_streams_u8(&d->streams)};
    if (o->what == PF_COLUMNS_WORD) {
        o->width = pf_streams_u8(&d->streams);
        if (!pf_is_width(o->width))
            fail(d, "a word of another width than 1, 2, 4 or 8");
    } else if (o->what == PF_COLUMNS_BLOB) {
        o->width = pf_streams_u8(&d->streams);
        o->unit = pf_streams_v(&d->streams);
        o->extra = pf_streams_v(&d->streams);
        if (o->width == 1 || (o->width && !pf_is_width(o->width)) || o->unit == 0)
            fail(d, "a prefix that there is not");
        o->shift = shift_of(o->unit);
    } else if (o->what != PF_COLUMNS_REF) {
        fail(d, "an operation that is not known");
    }
    o->column = bounded(d, PF_COLUMNS_MOST_COLUMNS - 1, "a column that there is not");
    if (o->what == PF_COLUMNS_REF)
        o->offset = pf_streams_v(&d->streams);
}

/* The size of a class, and whether its operations are wanted. */
static void choose_ops(pf_columns_decoder *d, pf_class *c)
{
    c->size = PF_RECORD_HEADER;
    c->n_blobs = 0;
    for (uint32_t k = 0; k < c->n; k++) {
        pf_op *o = &d->ops[c->first + k];
        c->size += o->what == PF_COLUMNS_REF ? 8 : o->width;
        c->n_blobs += o->what == PF_COLUMNS_BLOB;
        o->wanted = c->apart || !d->apart_only;
    }
}

static void read_classes(pf_columns_decoder *d)
{
    d->n_ops = 0;
    d->has_apart = false;
    d->n_classes = bounded(d, PF_COLUMNS_MOST_CLASSES, "too many classes");
    bool has_blobs = false;
    for (uint32_t i = 0; i < d->n_classes && !d->streams.bad; i++) {
        pf_class *c = &d->classes[i];
        const uint8_t apart = pf_streams_u8(&d->streams);
        if (apart > 1)
            fail(d, "a class that is neither apart nor not");
        c->apart = apart;
        c->type = bounded(d, UINT32_MAX, "a record type of more than 32 bits");
        c->misc = (uint16_t)bounded(d, UINT16_MAX, "misc of more than 16 bits");
        c->first = d->n_ops;
        c->n = bounded(d, PF_COLUMNS_MOST_OPS - d->n_ops, "too many operations");
        for (uint32_t k = 0; k < c->n && !d->streams.bad; k++)
            read_op(d, &d->ops[d->n_ops++]);
        if (d->streams.bad)
            return;
        choose_ops(d, c);
        d->has_apart |= c->apart;
        has_blobs |= !c->apart && c->n_blobs;
    }
    d->has_gaps = d->has_apart && has_blobs;
}

static bool same_ops(const pf_columns_decoder *d, const pf_class *a, const pf_class *b)
{
    bool same = a->apart == b->apart && a->n == b->n;
    for (uint32_t k = 0; k < a->n && same; k++) {
        const pf_op *o = &d->ops[a->first + k], *p = &d->ops[b->first + k];
        same = o->what == p->what && o->width == p->width && o->column == p->column &&
               o->unit == p->unit && o->extra == p->extra && o->offset == p->offset;
    }
    return same;
}

/* Fills the tables by class number. */
static void tabulate_classes(pf_columns_decoder *d)
{
    memset(d->shape, PF_NO_CLASS, sizeof d->shape);
    memset(d->kind, PF_NO_CLASS, sizeof d->kind);
    for (uint32_t i = 0; i < d->n_classes; i++) {
        uint32_t first = 0;
        while (!same_ops(d, &d->classes[first], &d->classes[i]))
            first++;
        d->shape[i] = (uint8_t)first;
        d->kind[i] = d->classes[i].apart;
        d->size[i] = d->classes[i].size;
    }
}

/* The class of each record: in the stream itself if that has one byte for each. */
static void read_class_numbers(pf_columns_decoder *d)
{
    pf_streams *s = &d->streams;
    pf_numbers numbers;
    const bool wanted = !d->apart_only || d->has_apart;
    pf_numbers_open(s, d->n_records, 1, wanted, &numbers);
    d->class_of = NULL;
    d->class_of_all = 0;
    if (s->bad || !wanted || d->n_records == 0)
        return;
    if (numbers.how == PF_NUMBERS_CONST && !numbers.differences) {
        d->class_of_all = (uint8_t)numbers.constant;
    } else if (!numbers.differences && (numbers.how == PF_NUMBERS_PLAIN ||
                                        (numbers.how == PF_NUMBERS_PLANES && numbers.count == 1))) {
        d->class_of = numbers.planes[0];
    } else {
        uint8_t *bytes = pf_streams_memory(s, d->n_records);
        if (bytes)
            pf_numbers_all(s, &numbers, bytes);
        d->class_of = bytes;
    }
}

/* The sizes of gaps.  There are as many as runs of records that are not apart and have one behind
 * them that is. */
static void read_gaps(pf_columns_decoder *d)
{
    pf_streams *s = &d->streams;
    uint64_t bytes = 0;
    size_t i = 0;
    d->n_gaps = 0;
    while (i < d->n_records && !s->bad) {
        const size_t end = pf_class_pass(d, i, false, &bytes);
        d->n_gaps += end > i && end < d->n_records;
        i = pf_class_pass(d, end, true, &bytes);
    }
    d->gaps.width = 4;
    d->gaps.wanted = true;
    d->gaps.at = d->gaps.ready = 0;
    d->gaps.left = d->n_gaps;
    pf_numbers_open(s, d->n_gaps, 4, true, &d->gaps.numbers);
}

uint64_t pf_next_gap(pf_columns_decoder *d)
{
    pf_column *c = &d->gaps;
    return pf_column_has(&d->streams, c) ? (uint32_t)c->block.values[c->at++] : 0;
}

/* Room for the columns.  One takes some KiB, so that a payload of few must not pay for the most. */
static void make_columns(pf_columns_decoder *d)
{
    if (d->n_columns <= d->cap_columns)
        return;
    pf_free(d->columns);
    d->columns = pf_alloc(d->n_columns, sizeof *d->columns);
    d->cap_columns = d->columns ? d->n_columns : 0;
    if (d->columns)
        return;
    d->n_columns = 0;
    d->streams.bad = "out of memory";
    d->streams.status = PERFILE_E_NOMEM;
}

/* What the operations need of the columns that they name. */
static void mark_columns(pf_columns_decoder *d)
{
    for (uint32_t i = 0; i < d->n_columns; i++) {
        pf_column *k = &d->columns[i];
        k->wanted = k->wants_heap = k->apart = k->other = false;
        k->last_class = UINT32_MAX;
    }
    for (uint32_t i = 0; i < d->n_classes && !d->streams.bad; i++) {
        const pf_class *c = &d->classes[i];
        for (uint32_t j = 0; j < c->n && !d->streams.bad; j++) {
            const pf_op *o = &d->ops[c->first + j];
            if (o->column >= d->n_columns) {
                fail(d, "an operation on a column that there is not");
                return;
            }
            pf_column *k = &d->columns[o->column];
            *(c->apart ? &k->apart : &k->other) = true;
            k->wanted |= o->wanted;
            k->wants_heap |= o->wanted && o->what != PF_COLUMNS_WORD;
            if (k->apart && k->other)
                fail(d, "a column of records that are apart and of others");
        }
    }
}

/* Each operation must name a column of its kind.  Finds out which classes are regular. */
static void check_ops(pf_columns_decoder *d)
{
    for (uint32_t i = 0; i < d->n_classes && !d->streams.bad; i++) {
        pf_class *c = &d->classes[i];
        c->regular = true;
        for (uint32_t j = c->n; j-- > 0;) {
            const pf_op *o = &d->ops[c->first + j];
            pf_column *k = &d->columns[o->column];
            if (k->width != (o->what == PF_COLUMNS_WORD ? o->width : 0))
                fail(d, "an operation on a column of another kind");
            const bool taken_behind = k->last_class == i;
            c->regular &= taken_behind == (o->what == PF_COLUMNS_REF);
            k->last_class = o->what == PF_COLUMNS_REF ? k->last_class : i;
        }
    }
}

/* Notes for columns_list.c where column `i` begins. */
static void mark(pf_columns_decoder *d, uint32_t i)
{
    if (d->marks)
        d->marks[i] = (pf_columns_mark){d->streams.head, d->streams.small, d->streams.offset, 0};
}

void pf_columns_read_head(pf_columns_decoder *d)
{
    pf_streams *s = &d->streams;
    d->n_records =
        bounded(d, d->budget.bytes / PF_RECORD_HEADER, "more records than fit into the chunk");
    d->budget.bytes -= d->n_records * PF_RECORD_HEADER;
    read_classes(d);
    if (s->bad)
        return;
    tabulate_classes(d);
    read_class_numbers(d);
    if (d->has_gaps && !s->bad)
        read_gaps(d);
    d->n_columns = bounded(d, PF_COLUMNS_MOST_COLUMNS, "too many columns");
    make_columns(d);
    mark_columns(d);
    for (uint32_t i = 0; i < d->n_columns && !s->bad; i++) {
        mark(d, i);
        pf_column_open(s, &d->budget, &d->columns[i]);
        if (d->marks)
            d->marks[i].values = d->columns[i].left;
    }
    mark(d, d->n_columns);
    check_ops(d);
    if (!s->bad && !pf_streams_at_end(s))
        fail(d, "there are bytes behind its last column");
}

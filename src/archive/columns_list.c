/* What the columns of a payload cost, and what they are columns of.
 *
 * The head is read as by the decoder, which notes where each column begins: what lies between two
 * of these marks are its head, its small streams and its frames.  Then the values are taken record
 * by record, only to see how many bytes come from each column, and where the first value goes. */
#include "archive/columns_decode.h"

#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"

enum { RAW0_AT = 8, STORED0_AT = 12 }; /* in the table of a payload */

static perfile_status read_bytes(void *user, size_t offset, size_t len, perfile_bytes *bytes,
                                 perfile_error *err)
{
    const perfile_bytes *payload = user;
    (void)err;
    *bytes = (perfile_bytes){payload->ptr + offset, len};
    return PERFILE_OK;
}

/* Bytes of the payload that column `i` has: those of its frames, and its share of frame 0. */
static uint64_t stored_of(const pf_columns_decoder *d, uint32_t i)
{
    const pf_columns_mark *from = &d->marks[i], *to = from + 1;
    const uint8_t *table = d->streams.table;
    const uint64_t raw0 = pf_load_u32(table + RAW0_AT, PF_NATIVE_BIG);
    const uint64_t stored0 = pf_load_u32(table + STORED0_AT, PF_NATIVE_BIG);
    const uint64_t mine = (uint64_t)(to->head - from->head) + (uint64_t)(to->small - from->small);
    return to->offset - from->offset + (raw0 ? mine * stored0 / raw0 : 0);
}

/* Notes where a value of the column goes, unless a place is known.  An empty one has no field that
 * it could be named by: any later one is better. */
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

/* Takes the next value of a column; *len are its bytes.  False: there is none. */
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

/* Takes the values of record `i`, which begins at `record`; returns its bytes. */
static uint64_t take_record(pf_columns_decoder *d, size_t i, uint64_t record,
                            pf_columns_listed *list)
{
    const uint8_t number = pf_class_of(d, i);
    uint64_t at = PF_RECORD_HEADER;
    if (number >= d->n_classes) {
        pf_streams_fail(&d->streams, "a class that there is not");
        return 0;
    }
    const pf_class *c = &d->classes[number];
    for (const pf_op *o = &d->ops[c->first], *last = o + c->n; o < last; o++) {
        pf_columns_listed *x = &list[1 + o->column];
        uint64_t len = 8; /* of REF */
        if (o->what != PF_COLUMNS_REF && !take(d, &d->columns[o->column], &len))
            return 0;
        if (o->what == PF_COLUMNS_BLOB) {
            x->decoded += o->width;
            at += o->width;
        }
        if (o->what == PF_COLUMNS_REF)
            x->decoded += len; /* repeats what the column is placed by */
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

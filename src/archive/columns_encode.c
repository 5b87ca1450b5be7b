/* The encoder of the codec COLUMNS: what was taken apart, as a payload.
 *
 * The head is written in the order in which a decoder needs it: classes, the class of each record,
 * columns.  format/columns.md has the layout. */
#include "archive/columns_encode.h"

#include "base/alloc.h"
#include "base/error.h"

struct pf_columns_encoder {
    pf_shred shred;
    pf_streams_out out;
    pf_blobs_coder coder;
    pf_buffer numbers; /* uint64_t: the class of each record, as numbers */
};

pf_columns_encoder *pf_columns_encoder_new(void)
{
    pf_columns_encoder *e = pf_alloc(1, sizeof *e);
    if (e && pf_shred_init(&e->shred))
        return e;
    pf_columns_encoder_free(e);
    return NULL;
}

void pf_columns_encoder_free(pf_columns_encoder *e)
{
    if (!e)
        return;
    pf_shred_free(&e->shred);
    pf_streams_out_free(&e->out);
    pf_blobs_coder_free(&e->coder);
    pf_buffer_free(&e->numbers);
    pf_free(e);
}

void pf_columns_encoder_begin(pf_columns_encoder *e, bool swapped)
{
    pf_shred_begin(&e->shred, swapped);
}

bool pf_columns_encoder_add(pf_columns_encoder *e, const perfile_record *first, size_t n)
{
    pf_shred_add(&e->shred, first, n);
    return !e->shred.failed;
}

static void put_op(pf_streams_out *s, const pf_shred_op *o)
{
    pf_streams_out_u8(s, o->what);
    if (o->what != PF_COLUMNS_REF)
        pf_streams_out_u8(s, o->width);
    if (o->what == PF_COLUMNS_BLOB) {
        pf_streams_out_v(s, o->width ? o->unit : 1);
        pf_streams_out_v(s, o->width ? o->extra : 0);
    }
    pf_streams_out_v(s, o->column);
    if (o->what == PF_COLUMNS_REF)
        pf_streams_out_v(s, o->offset);
}

static void put_classes(pf_streams_out *s, const pf_shred *x)
{
    pf_streams_out_v(s, x->n_classes);
    for (uint32_t i = 0; i < x->n_classes; i++) {
        const pf_shred_class *c = &x->classes[i];
        pf_streams_out_u8(s, c->apart);
        pf_streams_out_v(s, c->key.type);
        pf_streams_out_v(s, c->key.misc);
        pf_streams_out_v(s, c->n);
        for (uint32_t k = 0; k < c->n; k++)
            put_op(s, &x->ops[c->first + k]);
    }
}

/* The class of each record; false: no memory. */
static bool put_class_numbers(pf_columns_encoder *e)
{
    const pf_shred *x = &e->shred;
    const size_t n = x->class_of.len;
    pf_buffer_clear(&e->numbers);
    if (!pf_buffer_reserve(&e->numbers, (n + 1) * sizeof(uint64_t)))
        return false;
    uint64_t *v = (uint64_t *)(void *)e->numbers.ptr;
    for (size_t i = 0; i < n; i++)
        v[i] = x->class_of.ptr[i];
    pf_numbers_encode(&e->coder.numbers, &e->out, v, n, 1, PF_STRATEGY_PLANES);
    return true;
}

/* The bytes of the records between those that are apart, if no class number tells them. */
static void put_gaps(pf_columns_encoder *e)
{
    const pf_shred *x = &e->shred;
    bool apart = false, varies = false;
    for (uint32_t i = 0; i < x->n_classes; i++) {
        apart |= x->classes[i].apart;
        varies |= !x->classes[i].apart && x->classes[i].varies;
    }
    if (apart && varies)
        pf_numbers_encode(&e->coder.numbers, &e->out, (const uint64_t *)(const void *)x->gaps.ptr,
                          x->gaps.len / sizeof(uint64_t), 4, PF_STRATEGY_TRIAL);
}

static void put_columns(pf_columns_encoder *e)
{
    const pf_shred *x = &e->shred;
    pf_streams_out_v(&e->out, x->n_columns);
    for (uint32_t i = 0; i < x->n_columns && !e->out.failed; i++) {
        const pf_shred_column *c = &x->columns[i];
        pf_streams_out_u8(&e->out, c->width);
        pf_streams_out_v(&e->out, c->n);
        if (c->width)
            pf_numbers_encode(&e->coder.numbers, &e->out, c->values, c->n, c->width, c->strategy);
        else
            pf_blobs_encode(&e->coder, &e->out, c->values, c->n,
                            (perfile_bytes){c->heap.ptr, c->heap.len}, c->strategy, c->words);
    }
}

perfile_status pf_columns_encoder_finish(pf_columns_encoder *e, int level, pf_buffer *out,
                                         perfile_error *err)
{
    const pf_shred *x = &e->shred;
    if (x->failed)
        return pf_fail_nomem(err, "archive.columns");
    if (x->refused)
        return pf_fail(err, PERFILE_E_LIMIT, "archive.columns",
                       "more kinds of records than a chunk with columns can have");
    pf_streams_out_begin(&e->out, level);
    pf_streams_out_v(&e->out, x->class_of.len);
    put_classes(&e->out, x);
    if (!put_class_numbers(e))
        return pf_fail_nomem(err, "archive.columns");
    put_gaps(e);
    put_columns(e);
    return pf_streams_out_finish(&e->out, out, err);
}

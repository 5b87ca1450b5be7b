/* A source on top of another source that copies the bytes that are read through it.
 *
 * Bytes are copied when they are first yielded, in order and without gaps.  If a reader jumps
 * ahead, the tee also reads and copies the bytes in between.  If a reader goes back, it gets bytes
 * that were already copied. */
#include "io/source_kind.h"

#include "base/error.h"
#include "perfile/record.h"

typedef struct pf_tee_source {
    perfile_source base;
    pf_tee *tee;
} pf_tee_source;

/* Yields a span of the source below and copies the part of it that was not copied before.  If the
 * tee copies, offset <= t->copied is required. */
static perfile_status run_and_copy(pf_tee *t, uint64_t offset, size_t need, perfile_bytes *run,
                                   perfile_error *err)
{
    perfile_status st = pf_source_run(t->below, offset, need, run, err);
    if (st != PERFILE_OK || !pf_tee_copies(t) || offset + run->len <= t->copied)
        return st;
    /* A span may begin with bytes that were copied before: skip them. */
    size_t known = (size_t)(t->copied - offset);
    t->copied = offset + run->len;
    return perfile_sink_write(t->sink, (perfile_bytes){run->ptr + known, run->len - known}, err);
}

/* See pf_source_run().  While it reads, the source below calls this source's `waiting` callback. */
static perfile_status tee_run(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                              perfile_error *err)
{
    pf_tee *t = ((const pf_tee_source *)s)->tee;
    perfile_status st = PERFILE_OK;
    bool more = true;
    t->below->waiting = s->waiting;
    t->below->waiting_user = s->waiting_user;
    /* Bytes that the reader jumps over are copied, too. */
    while (st == PERFILE_OK && more && pf_tee_copies(t) && t->copied < offset) {
        st = run_and_copy(t, t->copied, 1, run, err);
        more = run->len != 0;
    }
    if (st == PERFILE_OK && more)
        st = run_and_copy(t, offset, need, run, err);
    t->below->waiting = NULL;
    s->size = t->below->size;
    return st;
}

/* See pf_source_view().  A view may be anywhere, so it is not copied here: its bytes are copied
 * when the reader of records gets there.  On a stream a view is the same as a run. */
static perfile_status tee_view(perfile_source *s, uint64_t offset, size_t need, perfile_bytes *run,
                               perfile_error *err)
{
    pf_tee *t = ((const pf_tee_source *)s)->tee;
    return s->seekable ? pf_source_view(t->below, offset, need, run, err)
                       : tee_run(s, offset, need, run, err);
}

static void tee_release(perfile_source *s, uint64_t offset, uint64_t len)
{
    pf_source_release(((const pf_tee_source *)s)->tee->below, offset, len);
}

/* A tee that copies skips no records, because it needs every byte. */
static bool tee_absent(perfile_source *s, uint64_t offset, uint64_t sequence, pf_absent *absent)
{
    const pf_tee *t = ((const pf_tee_source *)s)->tee;
    if (!t->below->ops->absent || (t->sink && sequence != PERFILE_NO_SEQUENCE))
        return false;
    if (s->narrows) {
        s->narrows = false;
        t->below->narrows = true;
        t->below->narrow = s->narrow;
    }
    return t->below->ops->absent(t->below, offset, sequence, absent);
}

static const pf_source_ops tee_ops = {
    .run = tee_run, .view = tee_view, .release = tee_release, .absent = tee_absent};

perfile_status pf_source_tee(pf_tee *tee, perfile_source **source, perfile_error *err)
{
    pf_tee_source *t;
    const perfile_source *below = tee->below;
    perfile_status st = pf_source_new(sizeof *t, &tee_ops, below->name, &below->options, &t, err);
    if (st != PERFILE_OK)
        return st;
    if (!pf_inputs_join(&t->base.inputs, &below->inputs)) {
        perfile_source_close(&t->base);
        return pf_fail_nomem(err, "source.inputs");
    }
    t->base.size = below->size;
    t->base.stable = below->stable;
    t->base.lasting = below->lasting;
    t->base.seekable = below->seekable;
    t->base.origin = pf_source_origin_join(below->origin);
    t->tee = tee;
    *source = &t->base;
    return PERFILE_OK;
}

perfile_status pf_tee_rest(pf_tee *tee, perfile_error *err)
{
    perfile_bytes run;
    perfile_status st;
    do
        st = run_and_copy(tee, tee->copied, 1, &run, err);
    while (st == PERFILE_OK && run.len);
    return st;
}

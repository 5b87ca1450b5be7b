/* Reads toy captures: records as they come, each with the time that was said last. */
#include "toy/toy.h"

#include <string.h>

#include "base/alloc.h"
#include "base/error.h"
#include "base/options.h"

typedef struct toy_stream {
    perfile_stream base;
    perfile_source *source;
    perfile_part part;
    perfile_extent extents[2];
    uint64_t pos;
    uint64_t time;
    uint64_t sequence;
    bool swap;
    bool timed; /* a time was said */
    bool over;
} toy_stream;

static unsigned probe(perfile_bytes peek, const perfile_source *source)
{
    (void)source;
    return peek.len >= 8 && memcmp(peek.ptr, TOY_MAGIC, 8) == 0 ? 64 : 0;
}

/* The rest is no record: the stream ends behind it. */
static void tell_damage(toy_stream *t, size_t lost)
{
    pf_stream_damage(&t->base, PERFILE_DAMAGE_TRUNCATED_RECORD, t->pos, lost);
    t->base.run[0] = (perfile_record){.family = PERFILE_FAMILY_DAMAGE,
                                      .body = {NULL, lost},
                                      .offset = t->pos,
                                      .sequence = PERFILE_NO_SEQUENCE,
                                      .envelope = PERFILE_NO_SEQUENCE,
                                      .damage = PERFILE_DAMAGE_TRUNCATED_RECORD,
                                      .session = t->base.session};
    t->base.n_run = 1;
    t->pos += lost;
    t->over = true;
}

static void add(toy_stream *t, const uint8_t *p, const pf_frame *f)
{
    const uint8_t stable = t->source->stable ? PERFILE_REC_STABLE : 0;
    perfile_record *r = &t->base.run[t->base.n_run++];
    *r = (perfile_record){.header = p,
                          .body = {p + TOY_RECORD_HEADER, f->size - TOY_RECORD_HEADER},
                          .type = f->type,
                          .family = PF_FAMILY_AT_toy,
                          .flags = (uint8_t)(stable | (t->swap ? PERFILE_REC_SWAPPED : 0)),
                          .offset = t->pos,
                          .sequence = t->sequence++,
                          .envelope = PERFILE_NO_SEQUENCE,
                          .session = t->base.session};
    if (f->type == TOY_TYPE_TIME && r->body.len >= 6) {
        t->time = toy_time(r);
        t->timed = true;
    }
    if (t->timed) {
        r->flags |= PERFILE_REC_TIMED;
        r->time = t->time;
    }
    t->base.summary.records++;
    t->base.summary.bytes += f->size;
    t->pos += f->size;
}

static perfile_status fill(perfile_stream *s, perfile_error *err)
{
    toy_stream *t = (toy_stream *)s;
    perfile_bytes run;
    if (t->over)
        return PERFILE_END;
    perfile_status st = pf_source_run(t->source, t->pos, TOY_RECORD_MOST, &run, err);
    if (st != PERFILE_OK)
        return st;
    t->over = run.len == 0;
    for (size_t at = 0; at < run.len && s->n_run < PERFILE_RUN_RECORDS;) {
        const size_t left = run.len - at;
        pf_frame f = {0};
        if (left >= TOY_RECORD_HEADER)
            f = pf_family_toy.frame_at(run.ptr + at, t->swap);
        const bool sound = f.size >= TOY_RECORD_HEADER && f.size <= left;
        /* What is cut here may be whole in the next run. */
        if (!sound && s->n_run == 0)
            tell_damage(t, left);
        if (!sound)
            return PERFILE_OK;
        add(t, run.ptr + at, &f);
        at += f.size;
    }
    return t->over ? PERFILE_END : PERFILE_OK;
}

static void close_stream(perfile_stream *s)
{
    toy_stream *t = (toy_stream *)s;
    perfile_source_close(t->source);
    pf_session_free(s->session);
    pf_free(t);
}

static const pf_stream_ops ops = {.fill = fill, .close = close_stream};

static void fill_container(toy_stream *t)
{
    perfile_container *c = &t->base.container;
    const uint64_t size = t->source->size;
    t->part = (perfile_part){.size = size};
    t->extents[0] = (perfile_extent){.length = TOY_HEADER, .role = PERFILE_EXTENT_HEADER};
    t->extents[1] = (perfile_extent){.offset = TOY_HEADER,
                                     .length = size == PF_SIZE_UNKNOWN ? 0 : size - TOY_HEADER,
                                     .role = PERFILE_EXTENT_RECORDS};
    c->form = PERFILE_FORM_FILE;
    c->version = 1;
    c->byte_order = pf_byte_order_of(t->swap);
    c->header_size = TOY_HEADER;
    c->parts = &t->part;
    c->n_parts = 1;
    c->extents = t->extents;
    c->n_extents = size == PF_SIZE_UNKNOWN ? 1 : 2;
}

static perfile_status open_toy(perfile_source *source, const perfile_open_options *options,
                               perfile_stream **stream, perfile_error *err)
{
    perfile_bytes head;
    perfile_status st = pf_source_run(source, 0, TOY_HEADER, &head, err);
    if (st != PERFILE_OK)
        return st;
    if (head.len < TOY_HEADER)
        return pf_fail_damage(err, PERFILE_DAMAGE_TRUNCATED_HEADER, "header", 0);
    if (memcmp(head.ptr, TOY_MAGIC, 8) != 0)
        return pf_fail_damage(err, PERFILE_DAMAGE_BAD_MAGIC, "header", 0);
    const bool swap = pf_load_u16(head.ptr + TOY_VERSION_AT, false) != 1;
    if (pf_load_u16(head.ptr + TOY_VERSION_AT, swap) != 1)
        return pf_fail_damage(err, PERFILE_DAMAGE_BAD_VERSION, "header", TOY_VERSION_AT);
    toy_stream *t = pf_alloc(1, sizeof *t);
    if (!t)
        return pf_fail_nomem(err, "stream");
    t->base.options = *options;
    st = pf_limits_copy(&t->base.limits, options->limits, err);
    t->base.options.limits = &t->base.limits;
    t->base.ops = &ops;
    t->base.name = source->name;
    t->swap = swap;
    t->pos = TOY_HEADER;
    if (st == PERFILE_OK)
        st = pf_session_open(swap, &t->base.options, &t->base.session, err);
    if (st == PERFILE_OK)
        st = pf_session_resolve(t->base.session, err);
    if (st != PERFILE_OK) {
        pf_session_free(t->base.session);
        pf_free(t);
        return st;
    }
    t->source = source;
    fill_container(t);
    *stream = &t->base;
    return PERFILE_OK;
}

static const perfile_output outputs[] = {
    {.name = "toy", .doc = "a file", .format = "toy", .form = PERFILE_FORM_FILE},
};

const pf_driver pf_toy_driver = {
    .name = "toy",
    .doc = "toy captures",
    .family = PF_FAMILY_AT_toy,
    .probe = probe,
    .open = open_toy,
    .create = toy_create,
    .outputs = outputs,
    .n_outputs = 1,
};

#include "emit/emitter.h"

#include "base/alloc.h"
#include "base/crc32.h"
#include "base/error.h"

enum {
    PIECE = 64 << 10 /* handed to the sink at once */
};

static const pf_emit_ops *const forms[] = {&pf_emit_text, &pf_emit_jsonl, &pf_emit_cbor};
enum { N_FORMS = sizeof forms / sizeof forms[0] };

const char *perfile_emit_format(size_t position)
{
    return position < N_FORMS ? forms[position]->name : NULL;
}

const char *perfile_emit_format_doc(size_t position)
{
    return position < N_FORMS ? forms[position]->doc : NULL;
}

static perfile_status new_emitter(const char *format, perfile_sink *sink, perfile_emitter **out,
                                  perfile_error *err)
{
    const pf_emit_ops *ops = NULL;
    for (size_t i = 0; i < N_FORMS && !ops; i++)
        if (strcmp(forms[i]->name, format) == 0)
            ops = forms[i];
    if (!ops)
        return pf_fail(err, PERFILE_E_USAGE, "format", "no output format is called '%s'", format);
    perfile_emitter *e = pf_alloc(1, ops->size);
    if (!e)
        return pf_fail_nomem(err, "emitter");
    e->ops = ops;
    e->sink = sink;
    *out = e;
    return PERFILE_OK;
}

perfile_status perfile_emitter_open(const char *format, perfile_stream *stream, perfile_sink *sink,
                                    const perfile_emit_options *options, perfile_emitter **emitter,
                                    perfile_error *err)
{
    perfile_emitter *e;
    perfile_status st = new_emitter(format, sink, &e, err);
    if (st != PERFILE_OK)
        return st;
    e->stream = stream;
    e->session = perfile_stream_session(stream);
    e->container = perfile_stream_container(stream);
    if (options && options->size >= offsetof(perfile_emit_options, flags) + sizeof options->flags)
        e->flags = options->flags;
    *emitter = e;
    return PERFILE_OK;
}

perfile_status perfile_emitter_flush(perfile_emitter *e, perfile_error *err)
{
    perfile_bytes out = {e->out.ptr, e->out.len};
    if (e->no_memory)
        return pf_fail_nomem(err, "emitter");
    pf_buffer_clear(&e->out);
    return out.len ? perfile_sink_write(e->sink, out, err) : PERFILE_OK;
}

static perfile_status settle(perfile_emitter *e, perfile_status st, perfile_error *err)
{
    if (st != PERFILE_OK || (e->out.len < PIECE && !e->no_memory))
        return st;
    return perfile_emitter_flush(e, err);
}

perfile_status perfile_emitter_begin(perfile_emitter *e, perfile_error *err)
{
    return settle(e, e->ops->begin(e, err), err);
}

perfile_status perfile_emitter_put(perfile_emitter *e, const perfile_record *r, perfile_error *err)
{
    return settle(e, e->ops->put(e, r, err), err);
}

perfile_status perfile_emitter_finish(perfile_emitter *e, perfile_error *err)
{
    perfile_status st = e->ops->finish(e, err);
    return st == PERFILE_OK ? perfile_emitter_flush(e, err) : st;
}

int perfile_emitter_outcome(const perfile_emitter *e)
{
    if (e->n_errors == 0)
        return PERFILE_EMIT_WHOLE;
    return e->decoded ? PERFILE_EMIT_DAMAGED : PERFILE_EMIT_NOTHING;
}

uint64_t perfile_emitter_errors(const perfile_emitter *e)
{
    return e->n_errors;
}

void perfile_emitter_close(perfile_emitter *e)
{
    if (!e)
        return;
    pf_buffer_free(&e->out);
    pf_free(e);
}

perfile_status perfile_emit_failure(const char *format, perfile_sink *sink, uint32_t damage,
                                    uint64_t offset, perfile_error *err)
{
    perfile_emitter *e;
    perfile_status st = new_emitter(format, sink, &e, err);
    if (st != PERFILE_OK)
        return st;
    st = e->ops->failure(e, damage, offset, err);
    if (st == PERFILE_OK)
        st = perfile_emitter_flush(e, err);
    perfile_emitter_close(e);
    return st;
}

perfile_status pf_emit_extra_crc(perfile_emitter *e, const perfile_record *r, uint32_t *crc,
                                 perfile_error *err)
{
    *crc = 0;
    if (r->extra.ptr) {
        *crc = pf_crc32(0, r->extra);
        return PERFILE_OK;
    }
    for (;;) {
        perfile_bytes piece;
        perfile_status st = perfile_stream_extra(e->stream, r, &piece, err);
        if (st == PERFILE_END)
            return PERFILE_OK;
        if (st != PERFILE_OK)
            return st;
        *crc = pf_crc32(*crc, piece);
    }
}

const char *pf_emit_part_name(const perfile_emitter *e, uint32_t part)
{
    if (part == 0 || !e->container || part >= e->container->n_parts)
        return NULL;
    return e->container->parts[part].name;
}

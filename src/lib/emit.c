/* Opening emitters: finds the form of output (text, jsonl, cbor, tsv, folded …) by its name, and
 * starts threads when the caller asks for them.  The forms themselves are in src/emit. */
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "core/stream.h"
#include "emit/export.h"
#include "emit/emitter.h"
#include "io/out.h"
#include "io/workers.h"
#include "lib/registry.h"

/* The form at `position` in a table, NULL behind the last.  Walks to it, because the length of the
 * table is known by its end only. */
static const pf_emit_ops *form_at(const pf_emit_ops *const *forms, size_t position)
{
    for (size_t i = 0; forms[i]; i++)
        if (i == position)
            return forms[i];
    return NULL;
}

const char *perfile_emit_format(size_t position)
{
    const pf_emit_ops *form = form_at(pf_emit_forms, position);
    return form ? form->name : NULL;
}

const char *perfile_emit_format_doc(size_t position)
{
    const pf_emit_ops *form = form_at(pf_emit_forms, position);
    return form ? form->doc : NULL;
}

const char *perfile_export_format(size_t position)
{
    const pf_emit_ops *form = form_at(pf_export_forms, position);
    return form ? form->name : NULL;
}

const char *perfile_export_format_doc(size_t position)
{
    const pf_emit_ops *form = form_at(pf_export_forms, position);
    return form ? form->doc : NULL;
}

bool perfile_export_format_is_binary(size_t position)
{
    const pf_emit_ops *form = form_at(pf_export_forms, position);
    return form && form->exports->binary;
}

bool perfile_export_format_is_directory(size_t position)
{
    const pf_emit_ops *form = form_at(pf_export_forms, position);
    return form && form->exports->directory;
}

/* Makes an emitter of the form called `format`.  PERFILE_E_USAGE if there is none. */
static perfile_status new_emitter(const char *format, perfile_sink *sink, perfile_emitter **out,
                                  perfile_error *err)
{
    const pf_emit_ops *const *const tables[] = {pf_emit_forms, pf_export_forms};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (size_t i = 0; tables[t][i]; i++)
            if (strcmp(tables[t][i]->name, format) == 0)
                return pf_emitter_new(tables[t][i], sink, out, err);
    return pf_fail(err, PERFILE_E_USAGE, "format", "no output format is called '%s'", format);
}

/* Nothing of the stream is read here; the form may write its beginning. */
perfile_status perfile_emitter_open(const char *format, perfile_stream *stream, perfile_sink *sink,
                                    const perfile_emit_options *options, perfile_emitter **emitter,
                                    perfile_error *err)
{
    perfile_emitter *e;
    perfile_emit_options how;
    perfile_export_options exporting;
    perfile_status st = pf_options_copy(&how, options, "emit.options", err);
    if (st == PERFILE_OK)
        st = pf_options_copy(&exporting, how.exporting, "export.options", err);
    if (st == PERFILE_OK)
        st = pf_sink_add_inputs(sink, pf_stream_inputs(stream), err);
    if (st == PERFILE_OK)
        st = new_emitter(format, sink, &e, err);
    if (st != PERFILE_OK)
        return st;
    /* From here on the emitter exists, and an error must close it. */
    e->stream = stream;
    e->session = perfile_stream_session(stream);
    e->container = perfile_stream_container(stream);
    e->flags = how.flags;
    e->model = how.model;
    e->fields = how.fields;
    e->exporting = &exporting;
    st = e->ops->open ? e->ops->open(e, err) : PERFILE_OK;
    e->exporting = NULL;
    if (st == PERFILE_OK && how.threads > 1 && !e->ops->exports)
        st = pf_emit_threads_start(e, stream, pf_workers_threads(how.threads), PF_EMIT_JOB_TEXT,
                                   err);
    if (st != PERFILE_OK) {
        perfile_emitter_close(e);
        return st;
    }
    *emitter = e;
    return PERFILE_OK;
}

perfile_status perfile_emitter_continue(perfile_emitter *e, perfile_stream *stream,
                                        const perfile_model *model, perfile_error *err)
{
    const pf_export_ops *exports = e->ops->exports;
    if (exports && !exports->next && !stream)
        return PERFILE_OK; /* the only capture ends */
    if (!exports || !exports->next)
        return pf_fail(err, PERFILE_E_USAGE, "format", "'%s' shows one capture only", e->ops->name);
    perfile_status st =
        stream ? pf_sink_add_inputs(e->sink, pf_stream_inputs(stream), err) : PERFILE_OK;
    if (st != PERFILE_OK)
        return st;
    e->stream = stream;
    e->session = stream ? perfile_stream_session(stream) : NULL;
    e->container = stream ? perfile_stream_container(stream) : NULL;
    e->model = model;
    return exports->next(e, err);
}

perfile_status perfile_emit_failure(const char *format, perfile_sink *sink, uint32_t damage,
                                    uint64_t offset, perfile_error *err)
{
    perfile_emitter *e;
    perfile_status st = new_emitter(format, sink, &e, err);
    if (st != PERFILE_OK)
        return st;
    if (e->ops->failure)
        st = e->ops->failure(e, damage, offset, err);
    if (st == PERFILE_OK)
        st = perfile_emitter_flush(e, err);
    perfile_emitter_close(e);
    return st;
}

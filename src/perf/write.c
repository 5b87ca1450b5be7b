/* A writer from its beginning to its end. */
#include "perf/write.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/order.h"
#include "io/out.h"
#include "schema/attr_places.h"

static perfile_status check_options(const perfile_writer_options *o, const perfile_sink *sink,
                                    perfile_error *err)
{
    if (o->form != PERFILE_FORM_FILE && o->form != PERFILE_FORM_PIPE)
        return pf_fail(err, PERFILE_E_USAGE, "writer.form", "form %u is none that can be written",
                       o->form);
    if (o->attr_size &&
        (o->attr_size < PF_ATTR_LEAST || o->attr_size > PF_ATTR_MOST || o->attr_size % 8))
        return pf_fail(err, PERFILE_E_USAGE, "writer.attr_size",
                       "attrs of %u bytes: %d to %d are possible, in steps of 8", o->attr_size,
                       PF_ATTR_LEAST, PF_ATTR_MOST);
    if (o->compress_level < 0 || o->compress_level > PF_DEFLATE_LEVEL_MOST)
        return pf_fail(err, PERFILE_E_USAGE, "writer.compress_level",
                       "level %d: zstd has 1 to %d, 0 compresses nothing", o->compress_level,
                       PF_DEFLATE_LEVEL_MOST);
    perfile_status st = pf_sink_status(sink, err); /* it may be what keeps it from being patched */
    if (st != PERFILE_OK)
        return st;
    if (o->form == PERFILE_FORM_FILE && !pf_sink_can_patch(sink))
        return pf_fail(err, PERFILE_E_USAGE, "writer.sink",
                       "'%s' cannot hold a perf.data file, whose header is written last: give the "
                       "name of a file",
                       perfile_sink_name(sink));
    if (pf_sink_has_parts(sink) && o->form == PERFILE_FORM_PIPE)
        return pf_fail(err, PERFILE_E_USAGE, "writer.form",
                       "'%s' is to be a directory: its files cannot be pipes",
                       perfile_sink_name(sink));
    if (pf_sink_has_parts(sink) && o->progressive)
        return pf_fail(err, PERFILE_E_USAGE, "writer.progressive",
                       "'%s' is to be a directory, which appears when it is finished: write a file",
                       perfile_sink_name(sink));
    return PERFILE_OK;
}

static perfile_status check_target(const perfile_writer_options *o, const pf_release *target,
                                   const perfile_sink *sink, perfile_error *err)
{
    if (pf_sink_has_parts(sink) && target->feature < PERFILE_FEATURE_DIR_FORMAT)
        return pf_fail(err, PERFILE_E_USAGE, "writer.target",
                       "perf %s knows no directories: write a file", target->name);
    uint32_t needed = o->compressed2 ? PERFILE_RECORD_COMPRESSED2 : PERFILE_RECORD_COMPRESSED;
    if (o->compress_level && !pf_release_knows_type(target, needed))
        return pf_fail(err, PERFILE_E_USAGE, "writer.target", "perf %s knows no %s records",
                       target->name, o->compressed2 ? "COMPRESSED2" : "COMPRESSED");
    if (o->attr_size > target->attr_size)
        return pf_fail(err, PERFILE_E_USAGE, "writer.target",
                       "perf %s knows attrs of %u bytes, not of %u", target->name,
                       target->attr_size, o->attr_size);
    return PERFILE_OK;
}

perfile_status perfile_writer_open(perfile_sink *sink, const perfile_writer_options *options,
                                   perfile_writer **writer, perfile_error *err)
{
    perfile_writer_options o = {0};
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    if (o.form == PERFILE_FORM_NONE)
        o.form = PERFILE_FORM_FILE;
    const pf_release *target = NULL;
    perfile_status st = check_options(&o, sink, err);
    if (st == PERFILE_OK && o.target)
        st = pf_release_find(o.target, &target, err);
    if (st == PERFILE_OK && target)
        st = check_target(&o, target, sink, err);
    if (st != PERFILE_OK)
        return st;
    perfile_writer *w = pf_alloc(1, sizeof *w);
    if (!w)
        return pf_fail_nomem(err, "writer");
    w->sink = sink;
    w->form = o.form;
    w->swap = o.swapped;
    w->directory = pf_sink_has_parts(sink);
    w->progressive = o.progressive;
    w->compressed2 = o.compressed2;
    w->as_stored = o.as_stored;
    w->level = o.compress_level;
    w->target = target;
    w->attr_size = target && !o.attr_size ? target->attr_size : o.attr_size;
    st = pf_write_first_part(w, err);
    if (st != PERFILE_OK) {
        perfile_writer_close(w);
        return st;
    }
    *writer = w;
    return PERFILE_OK;
}

perfile_status perfile_writer_create(const char *path, const perfile_writer_options *options,
                                     perfile_writer **writer, perfile_error *err)
{
    perfile_writer_options o = {0};
    perfile_sink *sink = NULL;
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    o.size = sizeof o;
    perfile_sink_options how = {.size = sizeof how, .flags = o.sink_flags};
    perfile_status st = o.directory ? perfile_sink_directory(path, &how, &sink, err)
                                    : perfile_sink_path(path, &how, &sink, err);
    if (st == PERFILE_OK)
        st = perfile_writer_open(sink, &o, writer, err);
    if (st == PERFILE_OK)
        (*writer)->own_sink = true;
    else
        perfile_sink_close(sink);
    return st;
}

perfile_status pf_write_keep(perfile_writer *w, perfile_bytes bytes, size_t *at, perfile_error *err)
{
    *at = w->facts.len;
    return pf_buffer_append(&w->facts, bytes.ptr, bytes.len) ? PERFILE_OK
                                                             : pf_fail_nomem(err, "writer.facts");
}

perfile_status pf_write_scratch(perfile_writer *w, size_t n, uint8_t **at, perfile_error *err)
{
    pf_buffer_clear(&w->scratch);
    if (!pf_buffer_reserve(&w->scratch, n))
        return pf_fail_nomem(err, "writer.scratch");
    *at = w->scratch.ptr;
    return PERFILE_OK;
}

perfile_status pf_write_usable(const perfile_writer *w, perfile_error *err)
{
    if (w->broken.status) {
        if (err)
            *err = w->broken;
        return w->broken.status;
    }
    if (w->finished)
        return pf_fail(err, PERFILE_E_USAGE, "writer", "the capture is finished");
    return PERFILE_OK;
}

perfile_status pf_write_between(const perfile_writer *w, perfile_error *err)
{
    perfile_status st = pf_write_usable(w, err);
    if (st == PERFILE_OK && w->extra_left)
        return pf_fail(err, PERFILE_E_USAGE, "writer.extra",
                       "%llu bytes behind the last record are still to come",
                       (unsigned long long)w->extra_left);
    return st;
}

perfile_status pf_write_break(perfile_writer *w, perfile_status st, const perfile_error *why,
                              perfile_error *err)
{
    if (st >= 0)
        return st;
    w->broken = *why;
    if (err)
        *err = *why;
    return st;
}

perfile_status pf_write_flush_span(perfile_writer *w, perfile_error *err)
{
    perfile_bytes span = w->span;
    w->span = (perfile_bytes){NULL, 0};
    return span.len ? perfile_sink_write(w->part->sink, span, err) : PERFILE_OK;
}

perfile_status pf_write_bytes(perfile_writer *w, perfile_bytes bytes, perfile_error *err)
{
    perfile_status st = pf_write_flush_span(w, err);
    if (st == PERFILE_OK)
        st = perfile_sink_write(w->part->sink, bytes, err);
    if (st == PERFILE_OK)
        w->part->bytes += bytes.len;
    return st;
}

perfile_status pf_write_begin(perfile_writer *w, perfile_error *err)
{
    perfile_error why;
    if (w->begun)
        return PERFILE_OK;
    w->begun = true;
    perfile_status st =
        w->form == PERFILE_FORM_PIPE ? pf_write_pipe_front(w, &why) : pf_write_front(w, &why);
    if (st == PERFILE_OK && w->updates.len)
        st = pf_write_bytes(w, (perfile_bytes){w->updates.ptr, w->updates.len}, &why);
    if (st == PERFILE_OK && w->progressive)
        st = pf_sink_appear(w->sink, &why);
    return pf_write_break(w, st, &why, err);
}

uint64_t perfile_writer_bytes(const perfile_writer *w)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < w->n_parts; i++)
        sum += w->parts[i].bytes;
    return sum;
}

perfile_status perfile_writer_finish(perfile_writer *w, perfile_error *err)
{
    perfile_error why;
    if (w->finished)
        return PERFILE_OK;
    perfile_status st = pf_write_between(w, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_write_begin(w, &why);
    if (st == PERFILE_OK)
        st = pf_write_finish_parts(w, &why);
    if (st == PERFILE_OK && w->form == PERFILE_FORM_FILE)
        st = pf_write_back(w, &why);
    if (st == PERFILE_OK)
        st = perfile_sink_finish(w->sink, &why);
    w->finished = st == PERFILE_OK;
    return pf_write_break(w, st, &why, err);
}

void perfile_writer_abort(perfile_writer *w)
{
    perfile_error why;
    if (w->finished)
        return;
    (void)pf_fail(&why, PERFILE_E_USAGE, "writer", "the capture was given up");
    if (!w->broken.status)
        w->broken = why;
    perfile_sink_abort(w->sink);
}

void perfile_writer_close(perfile_writer *w)
{
    if (!w)
        return;
    /* Whoever writes progressively wants what is there. */
    if (w->progressive && w->begun && !w->finished && !w->broken.status)
        (void)(pf_write_finish_parts(w, NULL) == PERFILE_OK && perfile_sink_flush(w->sink, NULL));
    pf_write_free_parts(w);
    pf_buffer_free(&w->facts);
    pf_buffer_free(&w->events);
    pf_buffer_free(&w->event_types);
    pf_buffer_free(&w->updates);
    pf_buffer_free(&w->aux_index);
    pf_buffer_free(&w->scratch);
    pf_buffer_free(&w->own);
    if (w->own_sink)
        perfile_sink_close(w->sink);
    pf_free(w);
}

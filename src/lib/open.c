/* perfile_open() and perfile_open_path(): finds the driver of a source and opens it.  Also opens
 * writers and emitters.
 *
 * Formats are recognized by content, never by file name.  The probe() of each driver gets the first
 * bytes and returns a score, the number of bits that fit its format; the highest score wins.  The
 * driver's open() does the rest (core/driver.h).  This file adds to the stream what no driver
 * knows: its inputs, and the name of its format. */
#include "archive/table.h"
#include "base/error.h"
#include "base/options.h"
#include "core/stream.h"
#include "core/writer.h"
#include "emit/emitter.h"
#include "export/export.h"
#include "io/out.h"
#include "io/source.h"
#include "io/workers.h"
#include "lib/registry.h"
#include "perfile/damage.h"
#include "schema/rows.h"
#include "script/script.h"
#include "archive/command.h"
#include "perfile/emit.h"
#include "lib/command.h"

#include <stdio.h>
#include <string.h>

enum {
    /* A live pipe may have only its 16-byte header for a long time, so waiting for more would
     * block. */
    PEEK_BYTES = 16,
    /* Formats without a magic number need more bytes.  These are read only if no format was
     * recognized. */
    PEEK_MORE = 32
};

/* The magic numbers of other formats, each with a sentence for the error message.  Strings are cut
 * in two where a hexadecimal escape would swallow the next letter. */
static const struct {
    const char *magic;
    size_t n; /* length of `magic`, which may contain zeros */
    const char *what;
} kinds[] = {
    {"\x1f\x8b", 2, "it is compressed by gzip; unpack it first (gzip -dc)"},
    {"\x28\xb5\x2f\xfd", 4, "it is compressed by zstd; unpack it first (zstd -dc)"},
    {"\xfd"
     "7zXZ",
     5, "it is compressed by xz; unpack it first (xz -dc)"},
    {"BZh", 3, "it is compressed by bzip2; unpack it first (bzip2 -dc)"},
    {"\x04\x22\x4d\x18", 4, "it is compressed by lz4; unpack it first (lz4 -dc)"},
    {"PK\x03\x04", 4, "it is a zip archive; unpack it first"},
    {"\x7f"
     "ELF",
     4, "it is a program or library (ELF), not a recording of it"},
    {"\xbf\x64kind\x66header", 13,
     "it is a dump in CBOR; make a capture of it first (`perfile convert`, from cbor)"},
};

/* Returns true if `head` has only printable ASCII and white space, and at least 8 bytes: fewer
 * prove nothing. */
static bool is_text(perfile_bytes head)
{
    for (size_t i = 0; i < head.len; i++) {
        uint8_t c = head.ptr[i];
        if (c >= 0x7f || (c < 0x20 && c != '\t' && c != '\n' && c != '\r'))
            return false;
    }
    return head.len >= 8;
}

/* Describes a file that begins with `head`, and what to do about it.  Returns NULL if it is not
 * recognized.  This only improves an error message and never decides an outcome. */
static const char *foreign_kind(perfile_bytes head)
{
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (head.len >= kinds[i].n && memcmp(head.ptr, kinds[i].magic, kinds[i].n) == 0)
            return kinds[i].what;
    if (is_text(head))
        return "this is text, perhaps the output of `perf script`; pass the perf.data file instead";
    return NULL;
}

const char *pf_foreign_source(perfile_source *source)
{
    enum { HEAD_BYTES = 64 };
    perfile_bytes head;
    if (pf_source_has_entries(source) ||
        pf_source_run(source, 0, HEAD_BYTES, &head, NULL) != PERFILE_OK)
        return NULL;
    return foreign_kind(head);
}

/* Fails with PERFILE_E_UNSUPPORTED and a message that lists the known formats. */
static perfile_status no_driver(const char *from, perfile_error *err)
{
    char known[128] = "";
    if (strcmp(from, PF_FROM_DUMP) == 0)
        return pf_fail(
            err, PERFILE_E_UNSUPPORTED, "options.from",
            "a dump (%s) is not a capture; make a capture of it first with `perfile convert`",
            from);
    for (size_t i = 0, n = 0; pf_drivers[i] && n < sizeof known; i++) {
        int add = snprintf(known + n, sizeof known - n, "%s%s", i ? ", " : "", pf_drivers[i]->name);
        n += add > 0 ? (size_t)add : 0;
    }
    return pf_fail(err, PERFILE_E_UNSUPPORTED, "options.from",
                   "no format is called '%s'; known: %s", from, known);
}

/* Sets *driver to the driver with the highest score, and *rival to another one with the same score,
 * or NULL.  Returns the score. */
static unsigned best_driver(perfile_bytes peek, const perfile_source *source,
                            const pf_driver **driver, const pf_driver **rival)
{
    unsigned most = 0;
    *rival = NULL;
    for (size_t i = 0; pf_drivers[i]; i++) {
        unsigned bits = pf_drivers[i]->probe(peek, source);
        if (bits > most) {
            *driver = pf_drivers[i];
            *rival = NULL;
            most = bits;
        } else if (bits && bits == most) {
            *rival = pf_drivers[i];
        }
    }
    return most;
}

/* pf_driver_find() without a name.  A directory has no first bytes: drivers probe its entries
 * through `source`. */
static perfile_status by_evidence(perfile_source *source, const pf_driver **driver,
                                  const char **foreign, perfile_error *err)
{
    perfile_bytes peek = {NULL, 0};
    const bool bytes = !pf_source_has_entries(source);
    if (bytes) {
        perfile_status st = pf_source_run(source, 0, PEEK_BYTES, &peek, err);
        if (st != PERFILE_OK)
            return st;
    }
    const pf_driver *rival;
    *driver = pf_drivers[0];
    unsigned most = best_driver(peek, source, driver, &rival);
    if (!most && bytes && peek.len >= PEEK_BYTES && peek.len < PEEK_MORE) {
        perfile_status st = pf_source_run(source, 0, PEEK_MORE, &peek, err);
        if (st != PERFILE_OK)
            return st;
        most = best_driver(peek, source, driver, &rival);
    }
    if (!most && source->ordered)
        return pf_fail(
            err, PERFILE_E_USAGE, "options.from",
            "several inputs are one capture only if they are perfmon buffers, one of each "
            "CPU");
    if (!most)
        *foreign = foreign_kind(peek);
    if (rival)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "options.from",
                       "'%s' may be %s or %s: name the format", source->name, (*driver)->name,
                       rival->name);
    return PERFILE_OK;
}

/* See lib/registry.h. */
perfile_status pf_driver_find(perfile_source *source, const char *from, const pf_driver **driver,
                              const char **foreign, perfile_error *err)
{
    *foreign = NULL;
    if (!from)
        return by_evidence(source, driver, foreign, err);
    *driver = pf_driver_named(from);
    return *driver ? PERFILE_OK : no_driver(from, err);
}

/* Opens `source`, which is not an archive.
 *
 * The list of inputs is copied before the driver runs, because on success the stream owns the
 * source, and must still know its inputs.  If opening fails, the caller still owns the source, so
 * the waiting callback is removed from it. */
static perfile_status open_capture(perfile_source *source, const perfile_open_options *options,
                                   perfile_stream **stream, perfile_error *err)
{
    const pf_driver *driver;
    const char *foreign = NULL;
    pf_inputs inputs = {0};
    perfile_status st = pf_driver_find(source, options->from, &driver, &foreign, err);
    if (st != PERFILE_OK)
        return st;
    if (options->waiting) {
        source->waiting = options->waiting;
        source->waiting_user = options->waiting_user;
    }
    pf_source_origin *origin = pf_source_origin_join(source->origin);
    if (!pf_inputs_join(&inputs, &source->inputs))
        st = pf_fail_nomem(err, "open");
    if (st == PERFILE_OK)
        st = driver->open(source, options, stream, err);
    if (st == PERFILE_OK) {
        (*stream)->inputs = inputs;
        (*stream)->source = source;
        (*stream)->origin = origin;
        (*stream)->container.format = driver->name;
        (*stream)->container.family = driver->family;
    } else {
        pf_inputs_free(&inputs);
        pf_source_origin_leave(origin);
        source->waiting = NULL;
    }
    /* "not a perf.data file: it is compressed by gzip" helps more than "bad magic". */
    if (st < 0 && foreign && err && err->damage == PERFILE_DAMAGE_BAD_MAGIC)
        snprintf(err->message, sizeof err->message, PF_FOREIGN_MESSAGE, foreign);
    return st;
}

perfile_status perfile_open(perfile_source *source, const perfile_open_options *options,
                            perfile_stream **stream, perfile_error *err)
{
    perfile_open_options mine;
    perfile_source *capture = source;
    perfile_status st = pf_options_copy(&mine, options, "options", err);
    if (st == PERFILE_OK && mine.source_flags)
        st = pf_fail(err, PERFILE_E_USAGE, "options.source_flags",
                     "the source is open already: give the flags to the function that opens it");
    if (st == PERFILE_OK)
        st = pf_archive_source(&capture, err);
    if (st != PERFILE_OK)
        return st;
    st = open_capture(capture, &mine, stream, err);
    if (st != PERFILE_OK && capture != source)
        pf_archive_source_undo(capture);
    return st;
}

perfile_status perfile_open_path(const char *path, const perfile_open_options *options,
                                 perfile_stream **stream, perfile_error *err)
{
    perfile_source *source;
    perfile_open_options mine;
    perfile_status st = pf_options_copy(&mine, options, "options", err);
    if (st != PERFILE_OK)
        return st;
    perfile_source_options source_options = {
        .size = sizeof source_options, .flags = mine.source_flags, .limits = mine.limits};
    mine.source_flags = 0;
    st = perfile_source_path(path, &source_options, &source, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_open(source, &mine, stream, err);
    if (st != PERFILE_OK)
        perfile_source_close(source);
    return st;
}

/* The tables of drivers and of output forms.  No other file names them all.  A new format is added
 * by its line in format/families.def. */

#define FAMILY(id, number) extern const pf_driver pf_##id##_driver;
#include "perfile/format/families.def"

const pf_driver *const pf_drivers[] = {
#define FAMILY(id, number) &pf_##id##_driver,
#include "perfile/format/families.def"
    NULL};

/* Some of these need a library that not every build has (cmake/forms.cmake). */
const pf_emit_ops *const pf_emit_forms[] = {&pf_emit_text, &pf_emit_jsonl,
#ifndef PERFILE_WITHOUT_CBOR
                                            &pf_emit_cbor,
#endif
                                            &pf_emit_tsv, NULL};

/* What shows one record after the other, but not by the name of a format of records. */
static const pf_emit_ops *const scripts[] = {
#ifndef PERFILE_WITHOUT_EXPORTS
    &pf_emit_script,
#endif
    NULL};

const pf_emit_ops *const pf_export_forms[] = {
#ifndef PERFILE_WITHOUT_EXPORTS
    &pf_emit_folded,
    &pf_emit_flamegraph,
    &pf_emit_speedscope,
    &pf_emit_firefox,
    &pf_emit_chrome,
    &pf_emit_aux,
#endif
#ifdef PERFILE_WITH_PPROF
    &pf_emit_pprof,
#endif
#ifdef PERFILE_WITH_PERFETTO
    &pf_emit_perfetto,
#endif
#ifdef PERFILE_WITH_TABLES
    &pf_emit_parquet,
#endif
    NULL};

/* Opens writers: finds the driver by the name of the format, and refuses options that the format
 * does not have.  Also lists the outputs of all drivers.  The writers themselves are in the rooms
 * of the drivers (perf/write*.c for perf.data). */

const pf_driver *pf_driver_named(const char *name)
{
    for (size_t i = 0; pf_drivers[i]; i++)
        if (strcmp(pf_drivers[i]->name, name) == 0)
            return pf_drivers[i];
    return NULL;
}

static const perfile_output archive_output = {.name = "archive",
                                              .doc = "an archive of perfile: compressed, checked, "
                                                     "indexed",
                                              .archive = true};

/* Counts through the outputs of all drivers: `position` shrinks by the number of outputs of each
 * driver before.  The archive, which can contain any of them, is last. */
const perfile_output *pf_output_at(size_t position)
{
    for (size_t i = 0; pf_drivers[i]; position -= pf_drivers[i++]->n_outputs)
        if (position < pf_drivers[i]->n_outputs)
            return &pf_drivers[i]->outputs[position];
    return position == 0 ? &archive_output : NULL;
}

/* Refuses options that this driver's format does not support.  A format with a single output has no
 * choice of form: o->form is set to it, and the sink must be of its kind (a file or a
 * directory). */
static perfile_status check_options(const pf_driver *driver, const perfile_sink *sink,
                                    perfile_writer_options *o, perfile_error *err)
{
    if (!driver->create)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "writer.format",
                       "captures of format %s cannot be written", driver->name);
    if (o->compress_level > 0 && !(driver->can & PF_CAN_COMPRESS))
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "writer.compress_level",
                       "captures of format %s cannot be compressed", driver->name);
    if (o->target && !(driver->can & PF_CAN_TARGET))
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "writer.target",
                       "no version of perf reads captures of format %s", driver->name);
    if (driver->n_outputs != 1) /* create() checks the combination of form and sink */
        return PERFILE_OK;
    o->form = driver->outputs[0].form;
    if (pf_sink_has_parts(sink) != driver->outputs[0].directory)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "writer.sink", "a capture of format %s is %s",
                       driver->name, driver->outputs[0].doc);
    return PERFILE_OK;
}

perfile_status perfile_writer_open(perfile_sink *sink, const perfile_writer_options *options,
                                   perfile_writer **writer, perfile_error *err)
{
    perfile_writer_options o;
    perfile_status st = pf_options_copy(&o, options, "writer.options", err);
    if (st != PERFILE_OK)
        return st;
    const pf_driver *driver = o.format ? pf_driver_named(o.format) : pf_drivers[0];
    if (!driver)
        return pf_fail(err, PERFILE_E_USAGE, "writer.format", "no format is called '%s'", o.format);
    st = check_options(driver, sink, &o, err);
    return st == PERFILE_OK ? driver->create(sink, &o, writer, err) : st;
}

/* Opens a sink for `path` and a writer on it.  The writer owns the sink; closing the writer closes
 * both. */
perfile_status perfile_writer_open_path(const char *path, const perfile_writer_options *options,
                                        perfile_writer **writer, perfile_error *err)
{
    perfile_writer_options o;
    perfile_sink *sink = NULL;
    perfile_status st = pf_options_copy(&o, options, "writer.options", err);
    if (st != PERFILE_OK)
        return st;
    perfile_sink_options how = {.size = sizeof how, .flags = o.sink_flags};
    st = o.directory ? perfile_sink_directory(path, &how, &sink, err)
                     : perfile_sink_path(path, &how, &sink, err);
    if (st == PERFILE_OK)
        st = perfile_writer_open(sink, &o, writer, err);
    if (st == PERFILE_OK)
        (*writer)->own_sink = true;
    else
        perfile_sink_close(sink);
    return st;
}

/* Opens emitters: finds the output form (text, jsonl, cbor, tsv, folded …) by its name, and starts
 * threads if the caller asks for them.  The forms themselves are in src/emit. */

/* Returns the form at `position` in a table, NULL after the last. */
static const pf_emit_ops *form_at(const pf_emit_ops *const *forms, size_t position)
{
    for (size_t i = 0; forms[i]; i++)
        if (i == position)
            return forms[i];
    return NULL;
}

bool pf_format_at(bool viewers, size_t position, perfile_format *out, size_t size)
{
    const pf_emit_ops *form = form_at(viewers ? pf_export_forms : pf_emit_forms, position);
    if (!form)
        return false;
    const perfile_format full = {.name = form->name,
                                 .doc = form->doc,
                                 .binary = viewers && form->exports->binary,
                                 .directory = viewers && form->exports->directory,
                                 .folder = viewers && form->exports->folder};
    memset(out, 0, size);
    memcpy(out, &full, size < sizeof full ? size : sizeof full);
    return true;
}

/* Makes an emitter of the form called `format`.  Fails with PERFILE_E_USAGE if there is none. */
static perfile_status new_emitter(const char *format, perfile_sink *sink, perfile_emitter **out,
                                  perfile_error *err)
{
    const pf_emit_ops *const *const tables[] = {pf_emit_forms, pf_export_forms, scripts};
    for (size_t t = 0; t < sizeof tables / sizeof tables[0]; t++)
        for (size_t i = 0; tables[t][i]; i++)
            if (strcmp(tables[t][i]->name, format) == 0)
                return pf_emitter_new(tables[t][i], sink, out, err);
    return pf_fail(err, PERFILE_E_USAGE, "format", "no output format is called '%s'", format);
}

/* Does not read the stream; the form may write its beginning. */
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
    e->max_stack = how.max_stack;
    e->stop_at = how.stop_at;
    e->exporting = &exporting;
    e->n_threads = how.threads > 1 ? pf_workers_threads(how.threads) : 1;
    st = e->ops->open ? e->ops->open(e, err) : PERFILE_OK;
    e->exporting = NULL;
    if (st == PERFILE_OK && e->n_threads > 1 && !e->ops->exports)
        st = pf_emit_threads_start(e, stream, e->n_threads, PF_EMIT_JOB_TEXT, err);
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

perfile_status pf_emit_failure(const char *format, perfile_sink *sink, uint32_t damage,
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

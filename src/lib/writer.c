/* Opening writers: finds the driver by the name of the format, and refuses options that the format
 * does not have.  Also the list of outputs (`convert --to`) of all drivers.  What a writer does is
 * in the driver's room (perf/write*.c for perf.data). */
#include <string.h>

#include "base/error.h"
#include "base/options.h"
#include "core/writer.h"
#include "io/out.h"
#include "lib/registry.h"

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

/* Numbers the outputs of all drivers in one row: `position` shrinks by those of each driver that is
 * passed.  The archive, which takes what any of them writes, is the last. */
const perfile_output *perfile_output_at(size_t position)
{
    for (size_t i = 0; pf_drivers[i]; position -= pf_drivers[i++]->n_outputs)
        if (position < pf_drivers[i]->n_outputs)
            return &pf_drivers[i]->outputs[position];
    return position == 0 ? &archive_output : NULL;
}

/* Refuses options that captures of this driver's format cannot have.  A format with a single output
 * has no choice of form: then o->form is set to it, and the sink must be what that output is stored
 * in (a file or a directory). */
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

/* Opens a sink for `path` and a writer on it.  The writer owns the sink, so that closing the writer
 * closes both. */
perfile_status perfile_writer_create(const char *path, const perfile_writer_options *options,
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

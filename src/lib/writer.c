/* A writer for a sink: which format it has is looked up among the drivers. */
#include <string.h>

#include "base/error.h"
#include "core/writer.h"
#include "lib/registry.h"

const pf_driver *pf_driver_named(const char *name)
{
    for (size_t i = 0; pf_drivers[i]; i++)
        if (strcmp(pf_drivers[i]->name, name) == 0)
            return pf_drivers[i];
    return NULL;
}

perfile_status perfile_writer_open(perfile_sink *sink, const perfile_writer_options *options,
                                   perfile_writer **writer, perfile_error *err)
{
    perfile_writer_options o = {0};
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    o.size = sizeof o;
    const pf_driver *driver = o.format ? pf_driver_named(o.format) : pf_drivers[0];
    if (!driver)
        return pf_fail(err, PERFILE_E_USAGE, "writer.format", "no format is called '%s'", o.format);
    if (!driver->create)
        return pf_fail(err, PERFILE_E_UNSUPPORTED, "writer.format",
                       "captures of format %s cannot be written", driver->name);
    return driver->create(sink, &o, writer, err);
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

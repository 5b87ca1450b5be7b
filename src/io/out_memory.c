/* A sink in memory: the buffer is the output. */
#include "base/error.h"
#include "io/out_kind.h"

static const pf_sink_ops memory_ops = {.write = NULL /* bytes stay in the buffer */};

perfile_status perfile_sink_memory(const char *name, perfile_sink **sink, perfile_error *err)
{
    perfile_sink *s = NULL;
    perfile_status st = pf_sink_new(sizeof *s, &memory_ops, name, NULL, 0, &s, err);
    if (st != PERFILE_OK)
        return st;
    s->patchable = true;
    *sink = s;
    return PERFILE_OK;
}

perfile_bytes perfile_sink_bytes(const perfile_sink *sink)
{
    if (sink->ops->write)
        return (perfile_bytes){NULL, 0};
    return (perfile_bytes){sink->buffer.ptr, sink->buffer.len};
}

/* The sink is empty afterwards and may be written to again; the caller owns the memory. */
perfile_status perfile_sink_take(perfile_sink *sink, void **bytes, size_t *len, perfile_error *err)
{
    if (sink->ops->write)
        return pf_fail(err, PERFILE_E_USAGE, "sink", "'%s' is not in memory", sink->name);
    if (sink->error.status)
        return pf_sink_status(sink, err);
    *bytes = sink->buffer.ptr;
    *len = sink->buffer.len;
    sink->buffer = (pf_buffer){0};
    return PERFILE_OK;
}

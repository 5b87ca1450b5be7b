/* Bytes in the caller's memory as a source; nothing is copied. */
#include "io/source_kind.h"

#include "base/error.h"

typedef struct pf_memory {
    perfile_source base;
    const uint8_t *ptr;
} pf_memory;

/* See pf_source_run(): everything from `offset` on, whatever `need` is. */
static perfile_status memory_run(perfile_source *s, uint64_t offset, size_t need,
                                 perfile_bytes *run, perfile_error *err)
{
    (void)need;
    (void)err;
    const pf_memory *m = (const pf_memory *)s;
    *run = (perfile_bytes){NULL, 0};
    if (offset < s->size)
        *run = (perfile_bytes){m->ptr + offset, (size_t)(s->size - offset)};
    return PERFILE_OK;
}

static const pf_source_ops memory_ops = {.run = memory_run};

perfile_status perfile_source_memory(perfile_bytes bytes, const char *name, perfile_source **source,
                                     perfile_error *err)
{
    if (bytes.len && !bytes.ptr)
        return pf_fail(err, PERFILE_E_USAGE, "source.memory", "%zu bytes at NULL", bytes.len);
    pf_memory *m;
    perfile_status st = pf_source_new(sizeof *m, &memory_ops, name, NULL, &m, err);
    if (st != PERFILE_OK)
        return st;
    m->ptr = bytes.ptr;
    m->base.size = bytes.len;
    m->base.stable = true;
    m->base.lasting = true;
    m->base.seekable = true;
    *source = &m->base;
    return PERFILE_OK;
}

#include "lib/passes.h"

enum { TOLD_BYTES = 8 << 20 };

void pf_passes_begin(pf_passes *p, perfile_source *source, const perfile_options *how)
{
    *p = (pf_passes){.source = source, .tee = {.below = source}, .how = *how};
}

bool pf_passes_seekable(const pf_passes *p)
{
    return p->source->directory || p->source->seekable;
}

perfile_status pf_passes_spool(pf_passes *p, perfile_error *err)
{
    perfile_source *pipe = p->source;
    perfile_status st = pf_source_spool(pipe, &p->source, err);
    if (st != PERFILE_OK)
        return st;
    perfile_source_close(pipe);
    p->tee.below = p->source;
    return PERFILE_OK;
}

static void begin_pass(pf_passes *p, const perfile_stream *s)
{
    p->n++;
    p->container = perfile_stream_container(s);
    p->part = 0;
    p->behind = p->total = p->done = p->told = 0;
    for (uint32_t i = 0; i < p->container->n_parts; i++) {
        if (p->container->parts[i].size == UINT64_MAX) {
            p->total = 0;
            return;
        }
        p->total += p->container->parts[i].size;
    }
}

perfile_status pf_passes_open(pf_passes *p, perfile_stream **stream, perfile_error *err)
{
    perfile_source *source;
    perfile_status st =
        p->source->directory
            ? perfile_source_path(p->source->name, &p->source->options, &source, err)
            : pf_source_tee(&p->tee, &source, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_open(source, &p->how, stream, err);
    if (st != PERFILE_OK) {
        perfile_source_close(source);
        return st;
    }
    begin_pass(p, *stream);
    return PERFILE_OK;
}

bool pf_passes_at(pf_passes *p, const perfile_record *at)
{
    for (; p->part < at->part && p->part < p->container->n_parts; p->part++)
        p->behind += p->total ? p->container->parts[p->part].size : 0;
    p->done = p->behind + at->offset;
    if (p->done < p->told + TOLD_BYTES)
        return false;
    p->told = p->done;
    return true;
}

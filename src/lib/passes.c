#include "lib/passes.h"

void pf_passes_begin(pf_passes *p, perfile_source *source, const perfile_options *how)
{
    *p = (pf_passes){.source = source, .tee = {.below = source}, .how = *how};
}

bool pf_passes_seekable(const pf_passes *p)
{
    return pf_source_has_entries(p->source) || p->source->seekable;
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

perfile_status pf_passes_open(pf_passes *p, perfile_stream **stream, perfile_error *err)
{
    perfile_source *source;
    perfile_status st =
        pf_source_has_entries(p->source)
            ? perfile_source_path(p->source->name, &p->source->options, &source, err)
            : pf_source_tee(&p->tee, &source, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_open(source, &p->how, stream, err);
    if (st != PERFILE_OK) {
        perfile_source_close(source);
        return st;
    }
    p->n++;
    pf_progress_begin(&p->progress, perfile_stream_container(*stream));
    return PERFILE_OK;
}

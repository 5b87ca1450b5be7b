/* The public functions of a writer: each calls the operation of its format. */
#include "core/writer.h"

#include "base/error.h"
#include "io/out.h"

perfile_status pf_writer_refuse(const perfile_writer *w, const char *what, perfile_error *err)
{
    return pf_fail(err, PERFILE_E_UNSUPPORTED, "writer", "a capture of format %s has no %s",
                   w->ops->format, what);
}

perfile_status perfile_writer_event(perfile_writer *w, perfile_bytes attr, const perfile_words *ids,
                                    perfile_error *err)
{
    return w->ops->event ? w->ops->event(w, attr, ids, err) : pf_writer_refuse(w, "events", err);
}

perfile_status perfile_writer_feature(perfile_writer *w, uint32_t number, perfile_bytes payload,
                                      perfile_error *err)
{
    return w->ops->feature ? w->ops->feature(w, number, payload, err)
                           : pf_writer_refuse(w, "features", err);
}

perfile_status perfile_writer_put(perfile_writer *w, const perfile_record *r, perfile_error *err)
{
    return w->ops->put(w, &(pf_batch){.at = r, .n = 1}, err);
}

perfile_status perfile_writer_put_run(perfile_writer *w, const perfile_record *first, size_t n,
                                      perfile_error *err)
{
    return w->ops->put(w, &(pf_batch){.at = first, .n = n}, err);
}

perfile_status perfile_writer_extra(perfile_writer *w, perfile_bytes piece, perfile_error *err)
{
    return w->ops->extra ? w->ops->extra(w, piece, err)
                         : pf_writer_refuse(w, "bytes behind records", err);
}

uint64_t perfile_writer_bytes(const perfile_writer *w)
{
    return w->bytes;
}

perfile_status perfile_writer_finish(perfile_writer *w, perfile_error *err)
{
    if (w->finished)
        return PERFILE_OK;
    perfile_status st = w->ops->finish(w, err);
    w->finished = st == PERFILE_OK;
    return st;
}

void perfile_writer_abort(perfile_writer *w)
{
    if (w->finished)
        return;
    w->given_up = true;
    perfile_sink_abort(w->sink);
}

void perfile_writer_close(perfile_writer *w)
{
    if (!w)
        return;
    perfile_sink *own = w->own_sink ? w->sink : NULL;
    w->ops->close(w);
    perfile_sink_close(own);
}

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

perfile_status perfile_writer_event_name(perfile_writer *w, uint32_t index, const char *name,
                                         perfile_error *err)
{
    return w->ops->event_name ? w->ops->event_name(w, index, name, err)
                              : pf_writer_refuse(w, "events", err);
}

perfile_status perfile_writer_event_type(perfile_writer *w, uint64_t event_id, perfile_bytes name,
                                         perfile_error *err)
{
    return w->ops->event_type ? w->ops->event_type(w, event_id, name, err)
                              : pf_writer_refuse(w, "event types", err);
}

perfile_status perfile_writer_feature(perfile_writer *w, uint32_t number, perfile_bytes payload,
                                      perfile_error *err)
{
    return w->ops->feature ? w->ops->feature(w, number, payload, err)
                           : pf_writer_refuse(w, "features", err);
}

perfile_status perfile_writer_put(perfile_writer *w, const perfile_record *r, perfile_error *err)
{
    return w->ops->put(w, r, err);
}

perfile_status perfile_writer_put_run(perfile_writer *w, const perfile_record *first, size_t n,
                                      perfile_error *err)
{
    return n == 1 ? w->ops->put(w, first, err) : w->ops->run(w, first, n, (pf_framed){0}, err);
}

perfile_status perfile_writer_extra(perfile_writer *w, perfile_bytes piece, perfile_error *err)
{
    return w->ops->extra ? w->ops->extra(w, piece, err)
                         : pf_writer_refuse(w, "bytes behind records", err);
}

perfile_status perfile_writer_round(perfile_writer *w, perfile_error *err)
{
    return w->ops->round ? w->ops->round(w, err) : pf_writer_refuse(w, "rounds", err);
}

uint64_t perfile_writer_bytes(const perfile_writer *w)
{
    return w->ops->bytes(w);
}

perfile_status perfile_writer_finish(perfile_writer *w, perfile_error *err)
{
    return w->ops->finish(w, err);
}

void perfile_writer_abort(perfile_writer *w)
{
    w->ops->abort(w);
}

void perfile_writer_close(perfile_writer *w)
{
    if (!w)
        return;
    perfile_sink *own = w->own_sink ? w->sink : NULL;
    w->ops->close(w);
    perfile_sink_close(own);
}

/* Records into a capture: adjacent ones leave in large spans. */
#include "perf/write.h"

#include "base/alloc.h"
#include "base/error.h"
#include "base/order.h"
#include "io/out.h"
#include "perf/frame.h"

enum { SPAN_BYTES = 1 << 20 };

perfile_status perfile_writer_open(perfile_sink *sink, const perfile_writer_options *options,
                                   perfile_writer **writer, perfile_error *err)
{
    perfile_writer_options o = {0};
    if (options)
        memcpy(&o, options, options->size < sizeof o ? options->size : sizeof o);
    if (o.form == PERFILE_FORM_NONE)
        o.form = PERFILE_FORM_FILE;
    if (o.form != PERFILE_FORM_FILE && o.form != PERFILE_FORM_PIPE)
        return pf_fail(err, PERFILE_E_USAGE, "writer.form", "form %u is none that can be written",
                       o.form);
    if (o.form == PERFILE_FORM_FILE && !pf_sink_can_patch(sink))
        return pf_fail(err, PERFILE_E_USAGE, "writer.sink",
                       "'%s' cannot hold a perf.data file, whose header is written last: give the "
                       "name of a file",
                       perfile_sink_name(sink));
    perfile_writer *w = pf_alloc(1, sizeof *w);
    if (!w)
        return pf_fail_nomem(err, "writer");
    w->sink = sink;
    w->form = o.form;
    w->swap = o.swapped;
    *writer = w;
    return PERFILE_OK;
}

/* A copy of `bytes` in w->facts. */
static perfile_status keep(perfile_writer *w, perfile_bytes bytes, size_t *at, perfile_error *err)
{
    *at = w->facts.len;
    return pf_buffer_append(&w->facts, bytes.ptr, bytes.len) ? PERFILE_OK
                                                             : pf_fail_nomem(err, "writer.facts");
}

perfile_status perfile_writer_event(perfile_writer *w, perfile_bytes attr, const perfile_words *ids,
                                    perfile_error *err)
{
    enum { LEAST = 64, MOST = 4096 };
    if (w->begun)
        return pf_fail(err, PERFILE_E_USAGE, "writer.event", "events come before the records");
    if (attr.len < LEAST || attr.len > MOST)
        return pf_fail(err, PERFILE_E_USAGE, "writer.event",
                       "an attr of %zu bytes, needed %d to %d", attr.len, LEAST, MOST);
    if (ids && ids->n && ids->width != 8)
        return pf_fail(err, PERFILE_E_USAGE, "writer.event", "ids of %u bytes, needed 8",
                       ids->width);
    pf_written_event e = {.attr_len = attr.len, .ids_len = ids ? 8 * ids->n : 0};
    perfile_status st = keep(w, attr, &e.attr, err);
    if (st == PERFILE_OK && e.ids_len)
        st = keep(w, (perfile_bytes){ids->ptr, e.ids_len}, &e.ids, err);
    if (st != PERFILE_OK)
        return st;
    if (!pf_buffer_append(&w->events, &e, sizeof e))
        return pf_fail_nomem(err, "writer.events");
    w->n_events++;
    return PERFILE_OK;
}

perfile_status perfile_writer_event_type(perfile_writer *w, uint64_t event_id, perfile_bytes name,
                                         perfile_error *err)
{
    enum { ENTRY = 72, NAME = 64 };
    uint8_t entry[ENTRY] = {0};
    if (w->begun || w->form != PERFILE_FORM_FILE || name.len >= NAME)
        return pf_fail(err, PERFILE_E_USAGE, "writer.event_type",
                       "event types come before the records of a file, with names below %d bytes",
                       NAME);
    uint64_t id = w->swap ? pf_swap_u64(event_id) : event_id;
    memcpy(entry, &id, sizeof id);
    if (name.len)
        memcpy(entry + sizeof id, name.ptr, name.len);
    return pf_buffer_append(&w->event_types, entry, sizeof entry)
               ? PERFILE_OK
               : pf_fail_nomem(err, "writer.event_types");
}

perfile_status perfile_writer_feature(perfile_writer *w, uint32_t number, perfile_bytes payload,
                                      perfile_error *err)
{
    if (number >= PERFILE_N_FEATURES)
        return pf_fail(err, PERFILE_E_USAGE, "writer.feature", "feature %u, the last is %d", number,
                       PERFILE_N_FEATURES - 1);
    if (w->form != PERFILE_FORM_FILE)
        return pf_fail(err, PERFILE_E_USAGE, "writer.feature",
                       "in the form PIPE features are records");
    pf_written_feature f = {.there = true, .len = payload.len};
    perfile_status st = keep(w, payload, &f.at, err);
    if (st == PERFILE_OK)
        w->features[number] = f;
    return st;
}

static perfile_status flush_span(perfile_writer *w, perfile_error *err)
{
    perfile_bytes span = w->span;
    w->span = (perfile_bytes){NULL, 0};
    return span.len ? perfile_sink_write(w->sink, span, err) : PERFILE_OK;
}

/* Puts `bytes`, which stay where they are until the next flush, behind what is there. */
static inline perfile_status add_span(perfile_writer *w, const uint8_t *bytes, size_t n,
                                      perfile_error *err)
{
    w->data_bytes += n;
    if (w->span.len && w->span.ptr + w->span.len == bytes && w->span.len < SPAN_BYTES) {
        w->span.len += n;
        return PERFILE_OK;
    }
    perfile_status st = flush_span(w, err);
    w->span = (perfile_bytes){bytes, n};
    return st;
}

static perfile_status begin(perfile_writer *w, perfile_error *err)
{
    w->begun = true;
    return pf_write_front(w, err);
}

/* The index of AUX traces has the place of each record. */
static perfile_status note_aux(perfile_writer *w, const perfile_record *r, perfile_error *err)
{
    uint64_t entry[2] = {w->data_start + w->data_bytes, PF_PERF_RECORD_HEADER + r->body.len};
    for (unsigned i = 0; i < 2; i++)
        if (w->swap)
            entry[i] = pf_swap_u64(entry[i]);
    return pf_buffer_append(&w->aux_index, entry, sizeof entry)
               ? PERFILE_OK
               : pf_fail_nomem(err, "writer.aux_index");
}

static inline perfile_status put_one(perfile_writer *w, const perfile_record *r, perfile_error *err)
{
    if (r->type == PERFILE_RECORD_AUXTRACE) {
        perfile_status st = note_aux(w, r, err);
        if (st != PERFILE_OK)
            return st;
    }
    perfile_status st;
    if (r->body.ptr == r->header + PF_PERF_RECORD_HEADER || r->body.len == 0) {
        st = add_span(w, r->header, PF_PERF_RECORD_HEADER + r->body.len, err);
    } else {
        st = add_span(w, r->header, PF_PERF_RECORD_HEADER, err);
        if (st == PERFILE_OK)
            st = add_span(w, r->body.ptr, r->body.len, err);
    }
    if (st == PERFILE_OK && r->extra.len) {
        if (r->extra.ptr)
            st = add_span(w, r->extra.ptr, r->extra.len, err);
        else
            w->extra_left = r->extra.len;
    }
    return st;
}

/* Whether this is a record that can be written now. */
static perfile_status may_put(perfile_writer *w, const perfile_record *r, perfile_error *err)
{
    if (w->finished)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put", "the capture is finished");
    if (w->extra_left)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                       "%llu bytes behind the last record are still to come",
                       (unsigned long long)w->extra_left);
    if (r->family != PERFILE_FAMILY_PERF)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put", "a record of family %u, not PERF",
                       r->family);
    if (r->flags & PERFILE_REC_PAYLOAD_CUT)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                       "the bytes behind the record are not complete");
    if ((bool)(r->flags & PERFILE_REC_SWAPPED) != w->swap)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                       "the record is not in the byte order of the capture");
    return PERFILE_OK;
}

perfile_status perfile_writer_put_run(perfile_writer *w, const perfile_record *first, size_t n,
                                      perfile_error *err)
{
    if (n == 0)
        return PERFILE_OK;
    if (!w->begun) {
        perfile_status st = begin(w, err);
        if (st != PERFILE_OK)
            return st;
    }
    bool stable = true;
    for (const perfile_record *r = first; r < first + n; r++) {
        perfile_status st = may_put(w, r, err);
        if (st == PERFILE_OK)
            st = put_one(w, r, err);
        if (st != PERFILE_OK)
            return st;
        stable &= (r->flags & PERFILE_REC_STABLE) != 0;
    }
    return stable ? PERFILE_OK : flush_span(w, err);
}

perfile_status perfile_writer_put(perfile_writer *w, const perfile_record *r, perfile_error *err)
{
    return perfile_writer_put_run(w, r, 1, err);
}

perfile_status perfile_writer_extra(perfile_writer *w, perfile_bytes piece, perfile_error *err)
{
    if (piece.len > w->extra_left)
        return pf_fail(err, PERFILE_E_USAGE, "writer.extra", "%zu bytes, %llu are still to come",
                       piece.len, (unsigned long long)w->extra_left);
    w->extra_left -= piece.len;
    perfile_status st = add_span(w, piece.ptr, piece.len, err);
    return st == PERFILE_OK ? flush_span(w, err) : st;
}

uint64_t perfile_writer_bytes(const perfile_writer *w)
{
    return w->data_bytes;
}

perfile_status perfile_writer_finish(perfile_writer *w, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    if (w->finished)
        return PERFILE_OK;
    if (w->extra_left)
        return pf_fail(err, PERFILE_E_USAGE, "writer.finish",
                       "%llu bytes behind the last record are missing",
                       (unsigned long long)w->extra_left);
    if (!w->begun)
        st = begin(w, err);
    if (st == PERFILE_OK)
        st = flush_span(w, err);
    if (st == PERFILE_OK && w->form == PERFILE_FORM_FILE)
        st = pf_write_back(w, err);
    if (st == PERFILE_OK)
        st = perfile_sink_finish(w->sink, err);
    w->finished = st == PERFILE_OK;
    return st;
}

void perfile_writer_close(perfile_writer *w)
{
    if (!w)
        return;
    pf_buffer_free(&w->facts);
    pf_buffer_free(&w->events);
    pf_buffer_free(&w->event_types);
    pf_buffer_free(&w->aux_index);
    pf_free(w);
}

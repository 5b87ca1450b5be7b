/* Copying facts that the input has outside of its records: events, event types and features, which
 * stand in sections of a file or in records in front of a pipe.
 *
 * The order is that of the output's form.  The writer needs its events before the first record in
 * any form.  A pipe has its features there too; a file has them behind the records, which lets
 * facts from records of a pipe be added until the end (x->taken, x->build_ids).
 *
 * Only facts of the container (PERFILE_ORIGIN_CONTAINER) are copied here.  Facts that the session
 * learned from records are in these records, which are copied themselves. */
#include "base/error.h"
#include "core/writer.h"
#include "lib/companions.h"
#include "lib/copy.h"
#include "schema/frame.h"
#include "perfile/field.h"
#include "schema/family.h"

/* Adds an event to the writer.  `ids` can differ from e->ids, which grows while a pipe is read. */
static perfile_status write_event(pf_copy *x, const perfile_event *e, const perfile_words *ids,
                                  perfile_error *err)
{
    x->result.events++;
    return perfile_writer_event(x->writer, e->stored, ids, err);
}

/* The name of an event type, cut (and noted) if it fills all 64 bytes of its field.  Without the
 * zero at the end readers of perf would run over it. */
static perfile_bytes terminated_name(pf_copy *x, const perfile_event_type *t)
{
    enum { MOST = 63 }; /* MAX_EVENT_NAME of perf is 64, with the zero */
    const perfile_note note = {.kind = PERFILE_NOTE_EVENT_BROKEN,
                               .number = UINT32_MAX,
                               .count = 1,
                               .bytes = t->name.len,
                               .offset = PERFILE_NO_OFFSET,
                               .text = "the name of an event type fills its 64 bytes without a "
                                       "terminating zero: cut"};
    if (t->name.len <= MOST)
        return t->name;
    pf_notes_add(&x->notes, &note);
    return (perfile_bytes){t->name.ptr, MOST};
}

/* Event types, in which old versions of perf kept the names of events: records of a pipe, a table
 * of a file. */
static perfile_status write_event_types(pf_copy *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    uint32_t n = perfile_session_n_event_types(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_event_type *t = perfile_session_event_type(x->session, i);
        perfile_header_event_type v = {.event_id = t->event_id, .name = terminated_name(x, t)};
        st = x->to == PERFILE_FORM_PIPE
                 ? perfile_writer_put_header_event_type(x->writer, &v, sizeof v, NULL, err)
                 : perfile_writer_event_type(x->writer, v.event_id, v.name, err);
    }
    return st;
}

/* True for features that the writer makes itself from what it writes: where AUX data are, that the
 * capture is a directory, how it is compressed. */
static bool made_by_writer(const pf_copy *x, uint32_t number)
{
    return number == PERFILE_FEATURE_AUXTRACE || number == PERFILE_FEATURE_DIR_FORMAT ||
           (number == PERFILE_FEATURE_COMPRESSED && !(x->options.flags & PERFILE_COPY_COMPRESSED));
}

/* Writes an EVENT_UPDATE record with the name of each event, in place of an EVENT_DESC feature that
 * does not fit into a record of a pipe. */
static perfile_status write_names(pf_copy *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    uint32_t n = perfile_session_n_events(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_event *e = perfile_session_event(x->session, i);
        if (e->origin == PERFILE_ORIGIN_CONTAINER && e->name[0] && e->ids.n)
            st = perfile_writer_event_name(x->writer, i, e->name, err);
    }
    return st;
}

/* Writes a feature.  Damaged ones are left out and noted; so are unknown ones with
 * PERFILE_COPY_DROP_UNKNOWN, and those that a pipe cannot hold (a record is at most 64 KiB). */
static perfile_status write_feature(pf_copy *x, const perfile_feature *f, perfile_error *err)
{
    perfile_note note = {.kind = PERFILE_NOTE_FEATURE_BROKEN,
                         .number = f->number,
                         .damage = f->damage,
                         .count = 1,
                         .bytes = f->size,
                         .offset = f->offset};
    if (f->damage) {
        pf_notes_add(&x->notes, &note);
        return PERFILE_OK;
    }
    if (!perfile_feature_name(f->number) && x->options.flags & PERFILE_COPY_DROP_UNKNOWN) {
        note.kind = PERFILE_NOTE_FEATURE_LEFT_OUT;
        pf_notes_add(&x->notes, &note);
        return PERFILE_OK;
    }
    if (f->number == PERFILE_FEATURE_BUILD_ID && f->payload.len == 0 &&
        x->to == PERFILE_FORM_PIPE) {
        note.kind = PERFILE_NOTE_FEATURE_NO_PLACE;
        note.text = "it has no entry";
        pf_notes_add(&x->notes, &note);
        return PERFILE_OK;
    }
    perfile_error why;
    perfile_status st = perfile_writer_feature(x->writer, f->number, f->payload, &why);
    /* These outcomes are about this feature; others (PERFILE_E_IO, PERFILE_E_NOMEM) end the
     * copy. */
    bool refused = st == PERFILE_E_LIMIT || st == PERFILE_E_USAGE || st == PERFILE_E_UNSUPPORTED ||
                   st == PERFILE_E_CORRUPT;
    if (refused && x->to == PERFILE_FORM_PIPE) {
        note.kind = PERFILE_NOTE_FEATURE_NO_PLACE;
        note.text = why.message;
        pf_notes_add(&x->notes, &note);
        return f->number == PERFILE_FEATURE_EVENT_DESC ? write_names(x, err) : PERFILE_OK;
    }
    x->result.features += st == PERFILE_OK;
    if (st != PERFILE_OK && err)
        *err = why;
    return st;
}

/* Writes the features of the container, and those whose records copy_stream.c took. */
static perfile_status write_features(pf_copy *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    uint32_t n = perfile_session_n_features(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_feature *f = perfile_session_feature_at(x->session, i);
        bool mine =
            f->origin == PERFILE_ORIGIN_CONTAINER || x->taken[f->number / 64] >> f->number % 64 & 1;
        if (mine && !made_by_writer(x, f->number))
            st = write_feature(x, f, err);
    }
    return st;
}

perfile_status pf_copy_headers(perfile_writer *w, const perfile_container *c, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; w->ops->header && i < c->n_parts && st == PERFILE_OK; i++)
        st = w->ops->header(w, &c->parts[i], err);
    return st;
}

/* Begins the records: a writer that compresses as the input did hears here how that was.  The
 * feature COMPRESSED of a pipe stands in front of its first record of the kernel. */
static perfile_status begin_records(pf_copy *x, perfile_error *err)
{
    const perfile_feature *f = perfile_session_feature(x->session, PERFILE_FEATURE_COMPRESSED);
    perfile_compression c;
    x->begun = true;
    if (!x->writer->packs_as_read || x->options.flags & PERFILE_COPY_COMPRESSED || !f || f->damage)
        return PERFILE_OK;
    if (perfile_compression_decode(f, &c, sizeof c, NULL) != PERFILE_OK)
        return PERFILE_OK;
    return x->writer->ops->compress(x->writer, c.level, err);
}

perfile_status pf_copy_begin(pf_copy *x, perfile_error *err)
{
    if (x->joins_parts) {
        perfile_note note = {.kind = PERFILE_NOTE_PARTS,
                             .number = UINT32_MAX,
                             .count = x->container->n_parts,
                             .offset = PERFILE_NO_OFFSET};
        pf_notes_add(&x->notes, &note);
    }
    if (x->from == PERFILE_FORM_PIPE) {
        x->begun = x->to == PERFILE_FORM_PIPE; /* to a pipe: facts are records and stay records */
        return PERFILE_OK;
    }
    perfile_status st = begin_records(x, err);
    if (st == PERFILE_OK)
        st = pf_copy_headers(x->writer, x->container, err);
    uint32_t n = perfile_session_n_events(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_event *e = perfile_session_event(x->session, i);
        if (e->origin == PERFILE_ORIGIN_CONTAINER)
            st = write_event(x, e, &e->ids, err);
    }
    if (st == PERFILE_OK)
        st = write_event_types(x, err);
    return st == PERFILE_OK && x->to == PERFILE_FORM_PIPE ? write_features(x, err) : st;
}

/* Writes the feature BUILD_ID of the entries collected from HEADER_BUILD_ID records. */
static perfile_status write_build_ids(pf_copy *x, perfile_error *err)
{
    if (x->build_ids.len == 0)
        return PERFILE_OK;
    x->result.features++;
    return perfile_writer_feature(x->writer, PERFILE_FEATURE_BUILD_ID,
                                  (perfile_bytes){x->build_ids.ptr, x->build_ids.len}, err);
}

/* See lib/copy.h.  x->ids has one entry for each event that came in front of the kernel's records;
 * later HEADER_ATTR records stay records.  The held bytes are complete records of this session's
 * byte order, so that framing them again needs no checks. */
perfile_status pf_copy_release(pf_copy *x, perfile_error *err)
{
    const perfile_words *ids = (const perfile_words *)(const void *)x->ids.ptr;
    size_t n = x->ids.len / sizeof *ids;
    perfile_status st = begin_records(x, err);
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        st = write_event(x, perfile_session_event(x->session, (uint32_t)i), &ids[i], err);
    if (st == PERFILE_OK)
        st = write_event_types(x, err);
    uint8_t flags = perfile_session_swapped(x->session) ? PERFILE_REC_SWAPPED : 0;
    for (size_t at = 0; at < x->held.len && st == PERFILE_OK;) {
        const uint8_t *p = x->held.ptr + at;
        pf_frame f = pf_frame_at(p, flags);
        perfile_record r = {.header = p,
                            .body = {p + PF_PERF_RECORD_HEADER, f.size - PF_PERF_RECORD_HEADER},
                            .type = f.type,
                            .misc = f.misc,
                            .flags = flags,
                            .envelope = PERFILE_NO_SEQUENCE,
                            .session = x->session};
        at += f.size;
        st = pf_copy_put(x, &r, 1, err);
    }
    pf_buffer_free(&x->held);
    return st;
}

perfile_status pf_copy_finish(pf_copy *x, perfile_error *err)
{
    perfile_status st = x->begun ? PERFILE_OK : pf_copy_release(x, err);
    if (st == PERFILE_OK && x->to == PERFILE_FORM_FILE)
        st = write_features(x, err);
    if (st == PERFILE_OK && x->to == PERFILE_FORM_FILE)
        st = write_build_ids(x, err);
    if (st == PERFILE_OK)
        st = pf_companions_copy(x->session, x->writer->sink, err);
    return st == PERFILE_OK ? perfile_writer_finish(x->writer, err) : st;
}

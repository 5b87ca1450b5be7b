/* Copies the facts that the input has outside its records: events, event types and features, which
 * are in sections of a file or in the records at the start of a pipe.
 *
 * The order is that of the output's form.  The writer needs its events before the first record in
 * any form.  A pipe has its features there, too.  A file has them after the records, so facts from
 * records of a pipe can be added until the end (x->taken, x->build_ids).
 *
 * Only facts of the container (PERFILE_ORIGIN_CONTAINER) are copied here.  Facts that the session
 * learned from records are in these records, which are copied themselves. */
#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "core/facts.h"
#include "core/session.h"
#include "core/writer.h"
#include "io/out.h"
#include "io/source.h"
#include "io/zstd.h"
#include "lib/copy.h"
#include "perfile/field.h"
#include "schema/rows.h"
#include "core/command.h"
#include "schema/command.h"

/* Adds an event to the writer.  `ids` can differ from e->ids, which grows while a pipe is read. */
static perfile_status write_event(pf_copy *x, const perfile_event *e, const perfile_words *ids,
                                  perfile_error *err)
{
    x->result.events++;
    return perfile_writer_event(x->writer, e->stored, ids, err);
}

/* Returns the name of an event type, cut (and noted) if it fills all 64 bytes of its field.
 * Without a terminating zero, readers in perf would read past the end. */
static perfile_bytes terminated_name(pf_copy *x, const pf_event_type *t)
{
    enum { MOST = 63 }; /* MAX_EVENT_NAME in perf is 64, including the zero */
    const perfile_note note = {.kind = PERFILE_NOTE_EVENT_BROKEN,
                               .number = UINT32_MAX,
                               .count = 1,
                               .bytes = t->name.len,
                               .offset = PERFILE_NO_OFFSET,
                               .message = "the name of an event type fills its 64 bytes without a "
                                          "terminating zero: cut"};
    if (t->name.len <= MOST)
        return t->name;
    pf_notes_add(&x->notes, &note);
    return (perfile_bytes){t->name.ptr, MOST};
}

/* Writes event types, where old versions of perf store the names of events: records in a pipe, a
 * table in a file. */
static perfile_status write_event_types(pf_copy *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    uint32_t n = pf_session_n_event_types(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const pf_event_type *t = pf_session_event_type(x->session, i);
        perfile_header_event_type v = {.event_id = t->event_id, .name = terminated_name(x, t)};
        st = x->to == PERFILE_FORM_PIPE
                 ? perfile_writer_put_header_event_type(x->writer, &v, sizeof v, NULL, err)
                 : pf_writer_event_type(x->writer, v.event_id, v.name, err);
    }
    return st;
}

/* Returns true for features that the writer makes itself from its records: offsets of AUX data, the
 * directory format, the compression. */
static bool made_by_writer(const pf_copy *x, uint32_t number)
{
    return number == PERFILE_FEATURE_AUXTRACE || number == PERFILE_FEATURE_DIR_FORMAT ||
           (number == PERFILE_FEATURE_COMPRESSED && !(x->options.flags & PERFILE_COPY_COMPRESSED));
}

/* Writes an EVENT_UPDATE record with the name of each event, instead of an EVENT_DESC feature that
 * does not fit into a record of a pipe. */
static perfile_status write_names(pf_copy *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    uint32_t n = pf_session_n_events(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_event *e = perfile_session_event(x->session, i);
        if (e->origin == PERFILE_ORIGIN_CONTAINER && e->name[0] && e->ids.n)
            st = perfile_writer_event_name(x->writer, i, e->name, err);
    }
    return st;
}

/* Writes a feature.  Damaged features are left out and noted; so are unknown ones with
 * PERFILE_COPY_DROP_UNKNOWN, and those that a pipe cannot contain (a record is at most 64 KiB). */
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
    if (!pf_feature_name(f->number) && x->options.flags & PERFILE_COPY_DROP_UNKNOWN) {
        note.kind = PERFILE_NOTE_FEATURE_LEFT_OUT;
        pf_notes_add(&x->notes, &note);
        return PERFILE_OK;
    }
    if (f->number == PERFILE_FEATURE_BUILD_ID && f->payload.len == 0 &&
        x->to == PERFILE_FORM_PIPE) {
        note.kind = PERFILE_NOTE_FEATURE_NO_PLACE;
        note.message = "it has no entry";
        pf_notes_add(&x->notes, &note);
        return PERFILE_OK;
    }
    perfile_error why;
    perfile_status st = perfile_writer_feature(x->writer, f->number, f->payload, &why);
    /* These errors are about this feature only; others (PERFILE_E_IO, PERFILE_E_NOMEM) end the
     * copy. */
    bool refused = st == PERFILE_E_LIMIT || st == PERFILE_E_USAGE || st == PERFILE_E_UNSUPPORTED ||
                   st == PERFILE_E_CORRUPT;
    if (refused && x->to == PERFILE_FORM_PIPE) {
        note.kind = PERFILE_NOTE_FEATURE_NO_PLACE;
        note.message = why.message;
        pf_notes_add(&x->notes, &note);
        return f->number == PERFILE_FEATURE_EVENT_DESC ? write_names(x, err) : PERFILE_OK;
    }
    x->result.features += st == PERFILE_OK;
    if (st != PERFILE_OK && err)
        *err = why;
    return st;
}

/* Writes the features of the container, and those whose records became sections. */
static perfile_status write_features(pf_copy *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    uint32_t n = pf_session_n_features(x->session);
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

/* Begins the records.  A writer that compresses like the input gets the level here.  In a pipe the
 * feature COMPRESSED comes before the first kernel record. */
static void begin_records(pf_copy *x)
{
    const perfile_feature *f = perfile_session_feature(x->session, PERFILE_FEATURE_COMPRESSED);
    perfile_compression c;
    x->begun = true;
    if (!x->writer->packs_as_read || x->options.flags & PERFILE_COPY_COMPRESSED || !f || f->damage)
        return;
    if (perfile_compression_decode(f, &c, sizeof c, NULL) == PERFILE_OK)
        x->writer->level = c.level >= 1 && c.level <= PF_DEFLATE_LEVEL_MOST ? (int)c.level : 1;
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
    begin_records(x);
    perfile_status st = pf_copy_headers(x->writer, x->container, err);
    uint32_t n = pf_session_n_events(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_event *e = perfile_session_event(x->session, i);
        if (e->origin == PERFILE_ORIGIN_CONTAINER)
            st = write_event(x, e, &e->ids, err);
    }
    if (st == PERFILE_OK)
        st = write_event_types(x, err);
    return st == PERFILE_OK && x->to == PERFILE_FORM_PIPE ? write_features(x, err) : st;
}

/* Writes the feature BUILD_ID with the entries collected from HEADER_BUILD_ID records. */
static perfile_status write_build_ids(pf_copy *x, perfile_error *err)
{
    if (x->build_ids.len == 0)
        return PERFILE_OK;
    x->result.features++;
    return perfile_writer_feature(x->writer, PERFILE_FEATURE_BUILD_ID,
                                  (perfile_bytes){x->build_ids.ptr, x->build_ids.len}, err);
}

/* See lib/copy.h. x->ids has one entry for each event that came before the kernel's records; later
 * HEADER_ATTR records stay records.  The held bytes are complete records in the byte order of this
 * session, so they can be split into records again without checks. */
perfile_status pf_copy_release(pf_copy *x, perfile_error *err)
{
    const perfile_words *ids = (const perfile_words *)(const void *)x->ids.ptr;
    size_t n = x->ids.len / sizeof *ids;
    perfile_status st = PERFILE_OK;
    begin_records(x);
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        st = write_event(x, perfile_session_event(x->session, (uint32_t)i), &ids[i], err);
    if (st == PERFILE_OK)
        st = write_event_types(x, err);
    uint8_t flags = pf_session_swapped(x->session) ? PERFILE_REC_SWAPPED : 0;
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

/* The companion files of a capture that is a directory, such as the kcore_dir of perf record.  They
 * have no records; every operation that writes a directory copies their bytes. */

enum { COPY_BYTES = 1 << 20 /* bytes of a file that are copied at once */ };

/* Copies all bytes of `from`, which need not stay in memory. */
static perfile_status copy_bytes(perfile_source *from, perfile_sink *to, perfile_error *err)
{
    perfile_bytes run;
    for (uint64_t at = 0;; at += run.len) {
        perfile_status st = pf_source_run(from, at, 1, &run, err);
        if (st != PERFILE_OK || !run.len)
            return st;
        run.len = run.len < COPY_BYTES ? run.len : COPY_BYTES;
        st = perfile_sink_write(to, run, err);
        if (st != PERFILE_OK)
            return st;
        pf_source_release(from, at, run.len);
    }
}

static perfile_status copy_file(const perfile_source *directory, const char *name,
                                perfile_sink *sink, perfile_error *err)
{
    perfile_source *from;
    perfile_sink *to;
    perfile_status st = pf_source_entry(directory, name, &from, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_sink_companion(sink, name, &to, err);
    if (st == PERFILE_OK)
        st = copy_bytes(from, to, err);
    perfile_source_close(from);
    return st;
}

perfile_status pf_companions_copy(const perfile_session *s, perfile_sink *sink, perfile_error *err)
{
    const perfile_source *directory = pf_session_files(s);
    char **names = NULL;
    size_t n = 0;
    if (!directory || !pf_sink_has_parts(sink))
        return PERFILE_OK;
    perfile_status st = pf_source_companions(directory, &names, &n, err);
    for (size_t i = 0; st == PERFILE_OK && i < n; i++)
        st = copy_file(directory, names[i], sink, err);
    pf_free(names);
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

/* Tool records that become sections of a file: from a pipe, all that have a section; from a file,
 * only HEADER_TRACING_DATA.
 *
 * A pipe has HEADER_ATTR, HEADER_FEATURE, HEADER_TRACING_DATA and HEADER_BUILD_ID records where a
 * file has sections.  The session has already learned from them when they arrive here, so the
 * section can be made from the session.  This file only decides which records become sections, and
 * marks them.  A record that cannot become a section (the second of its kind, or too late) stays a
 * record, which readers of files understand, too. */

/* Returns true if a section can replace the record `r`: the session learned feature `number` from
 * it, the content is complete, and no other record of that feature was taken. */
static bool first_of_its_kind(const pf_copy *x, uint32_t number, const perfile_record *r)
{
    const perfile_feature *f = perfile_session_feature(x->session, number);
    return f && f->origin == PERFILE_ORIGIN_STREAM && f->offset == r->offset && !f->damage &&
           (f->payload.ptr || f->size == 0) && !(x->taken[number / 64] >> number % 64 & 1);
}

/* Marks the feature: pf_copy_finish() will write its section. */
static void take_feature(pf_copy *x, uint32_t number)
{
    x->taken[number / 64] |= UINT64_C(1) << number % 64;
}

/* Notes the event of a HEADER_ATTR record for pf_copy_release(), if it comes before the kernel's
 * records.  A later one stays a record, from which readers of files learn the event as well. x->ids
 * has one entry per event, so its length is the number of the next event. */
static perfile_status take_attr(pf_copy *x, bool *took, perfile_error *err)
{
    uint32_t n = (uint32_t)(x->ids.len / sizeof(perfile_words));
    const perfile_event *e = perfile_session_event(x->session, n);
    if (x->begun || !e || e->origin != PERFILE_ORIGIN_STREAM)
        return PERFILE_OK;
    /* The ids known now: ids learned later are in ID_INDEX and similar records, which stay. */
    if (!pf_buffer_append(&x->ids, &e->ids, sizeof e->ids))
        return pf_fail_nomem(err, "copy");
    *took = true;
    return PERFILE_OK;
}

/* Marks the feature of a HEADER_FEATURE record.  The record that ends the list of features is
 * dropped. */
static void take_header_feature(pf_copy *x, const perfile_record *r, bool *took)
{
    perfile_feature f;
    if (perfile_record_feature(r, &f, NULL) != PERFILE_OK || f.number >= PERFILE_N_FEATURES)
        return;
    bool end = pf_feature_ends_list(&f); /* the bitmap of a file needs no such end */
    *took = end || first_of_its_kind(x, f.number, r);
    if (*took && !end)
        take_feature(x, f.number);
}

/* Collects a HEADER_BUILD_ID record as an entry of the feature BUILD_ID: both have the same layout,
 * header included.  Does nothing if the pipe also has that feature, because this would be a second
 * section. */
static perfile_status take_build_id(pf_copy *x, const perfile_record *r, bool *took,
                                    perfile_error *err)
{
    bool other = perfile_session_feature(x->session, PERFILE_FEATURE_BUILD_ID) != NULL;
    if (x->begun || other)
        return PERFILE_OK;
    size_t at = x->build_ids.len;
    if (!pf_buffer_append(&x->build_ids, r->header, perfile_record_size(r)))
        return pf_fail_nomem(err, "copy");
    pf_store_u32(x->build_ids.ptr + at, 0, false); /* entries of the feature have no type */
    *took = true;
    return PERFILE_OK;
}

/* Holds a record for pf_copy_release().  Does not hold a record with extra bytes, an envelope, or a
 * record that exceeds the limit: the caller then releases all held records, and writes this one. */
static perfile_status hold(pf_copy *x, const perfile_record *r, bool *took, perfile_error *err)
{
    if (x->begun || r->extra.len || r->flags & PERFILE_REC_ENVELOPE ||
        x->held.len + perfile_record_size(r) > x->held_most)
        return PERFILE_OK;
    if (!pf_buffer_append(&x->held, r->header, perfile_record_size(r)))
        return pf_fail_nomem(err, "copy");
    *took = true;
    return PERFILE_OK;
}

perfile_status pf_copy_take_fact(pf_copy *x, const perfile_record *r, bool *took,
                                 perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    switch (r->type) {
    case PERFILE_RECORD_HEADER_ATTR:
        st = take_attr(x, took, err);
        break;
    case PERFILE_RECORD_HEADER_EVENT_TYPE:
        *took = !x->begun; /* write_event_types() writes it as part of the table */
        break;
    case PERFILE_RECORD_HEADER_FEATURE:
        take_header_feature(x, r, took);
        break;
    case PERFILE_RECORD_HEADER_TRACING_DATA:
        *took = first_of_its_kind(x, PERFILE_FEATURE_TRACING_DATA, r);
        if (*took)
            take_feature(x, PERFILE_FEATURE_TRACING_DATA);
        break;
    case PERFILE_RECORD_HEADER_BUILD_ID:
        st = take_build_id(x, r, took, err);
        break;
    default:
        break;
    }
    if (st == PERFILE_OK && !*took)
        st = hold(x, r, took, err);
    return st;
}

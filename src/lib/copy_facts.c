/* What stands beside the records: events and features, in the sections of a file or in front of the
 * records of a pipe. */
#include "base/error.h"
#include "lib/copy.h"
#include "schema/frame.h"
#include "perfile/field.h"
#include "schema/family.h"

static perfile_status give_event(pf_copy *x, const perfile_event *e, const perfile_words *ids,
                                 perfile_error *err)
{
    x->result.events++;
    return perfile_writer_event(x->writer, e->stored, ids, err);
}

/* The name of an event type; one that fills its place has no end, which all readers look for. */
static perfile_bytes name_with_end(pf_copy *x, const perfile_event_type *t)
{
    enum { MOST = 63 };
    const perfile_note note = {.kind = PERFILE_NOTE_EVENT_BROKEN,
                               .number = UINT32_MAX,
                               .count = 1,
                               .bytes = t->name.len,
                               .offset = PERFILE_NO_OFFSET,
                               .text = "the name of an event type has no end: cut"};
    if (t->name.len <= MOST)
        return t->name;
    pf_notes_add(&x->notes, &note);
    return (perfile_bytes){t->name.ptr, MOST};
}

static perfile_status give_event_types(pf_copy *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    uint32_t n = perfile_session_n_event_types(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_event_type *t = perfile_session_event_type(x->session, i);
        perfile_header_event_type v = {.event_id = t->event_id, .name = name_with_end(x, t)};
        st = x->to == PERFILE_FORM_PIPE
                 ? perfile_writer_put_header_event_type(x->writer, &v, sizeof v, NULL, err)
                 : perfile_writer_event_type(x->writer, v.event_id, v.name, err);
    }
    return st;
}

/* Says something that holds for the input only, or that the writer makes. */
static bool is_of_the_form(const pf_copy *x, uint32_t number)
{
    return number == PERFILE_FEATURE_AUXTRACE || number == PERFILE_FEATURE_DIR_FORMAT ||
           (number == PERFILE_FEATURE_COMPRESSED && !(x->options.flags & PERFILE_COPY_COMPRESSED));
}

/* Names that EVENT_DESC would have told, each in a record of its own. */
static perfile_status give_names(pf_copy *x, perfile_error *err)
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

static perfile_status give_feature(pf_copy *x, const perfile_feature *f, perfile_error *err)
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
    bool refused = st == PERFILE_E_LIMIT || st == PERFILE_E_USAGE || st == PERFILE_E_UNSUPPORTED ||
                   st == PERFILE_E_CORRUPT;
    if (refused && x->to == PERFILE_FORM_PIPE) {
        note.kind = PERFILE_NOTE_FEATURE_NO_PLACE;
        note.text = why.message;
        pf_notes_add(&x->notes, &note);
        return f->number == PERFILE_FEATURE_EVENT_DESC ? give_names(x, err) : PERFILE_OK;
    }
    x->result.features += st == PERFILE_OK;
    if (st != PERFILE_OK && err)
        *err = why;
    return st;
}

static perfile_status give_features(pf_copy *x, perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    uint32_t n = perfile_session_n_features(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_feature *f = perfile_session_feature_at(x->session, i);
        bool mine =
            f->origin == PERFILE_ORIGIN_CONTAINER || x->taken[f->number / 64] >> f->number % 64 & 1;
        if (mine && !is_of_the_form(x, f->number))
            st = give_feature(x, f, err);
    }
    return st;
}

perfile_status pf_copy_begin(pf_copy *x, perfile_error *err)
{
    if (x->one_of_many) {
        perfile_note note = {.kind = PERFILE_NOTE_PARTS,
                             .number = UINT32_MAX,
                             .count = x->container->n_parts,
                             .offset = PERFILE_NO_OFFSET};
        pf_notes_add(&x->notes, &note);
    }
    if (x->from == PERFILE_FORM_PIPE) {
        x->begun = x->to == PERFILE_FORM_PIPE; /* facts are records, and stay so */
        return PERFILE_OK;
    }
    x->begun = true;
    perfile_status st = PERFILE_OK;
    uint32_t n = perfile_session_n_events(x->session);
    for (uint32_t i = 0; i < n && st == PERFILE_OK; i++) {
        const perfile_event *e = perfile_session_event(x->session, i);
        if (e->origin == PERFILE_ORIGIN_CONTAINER)
            st = give_event(x, e, &e->ids, err);
    }
    if (st == PERFILE_OK)
        st = give_event_types(x, err);
    return st == PERFILE_OK && x->to == PERFILE_FORM_PIPE ? give_features(x, err) : st;
}

static perfile_status give_build_ids(pf_copy *x, perfile_error *err)
{
    if (x->build_ids.len == 0)
        return PERFILE_OK;
    x->result.features++;
    return perfile_writer_feature(x->writer, PERFILE_FEATURE_BUILD_ID,
                                  (perfile_bytes){x->build_ids.ptr, x->build_ids.len}, err);
}

/* The events that came before the first record of the kernel, and what waited for them. */
perfile_status pf_copy_release(pf_copy *x, perfile_error *err)
{
    const perfile_words *ids = (const perfile_words *)(const void *)x->ids.ptr;
    size_t n = x->ids.len / sizeof *ids;
    perfile_status st = PERFILE_OK;
    x->begun = true;
    for (size_t i = 0; i < n && st == PERFILE_OK; i++)
        st = give_event(x, perfile_session_event(x->session, (uint32_t)i), &ids[i], err);
    if (st == PERFILE_OK)
        st = give_event_types(x, err);
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
        st = give_features(x, err);
    if (st == PERFILE_OK && x->to == PERFILE_FORM_FILE)
        st = give_build_ids(x, err);
    return st == PERFILE_OK ? perfile_writer_finish(x->writer, err) : st;
}

/* The tracepoints of a session (perfile/tracepoint.h).  Descriptions are read at their first use
 * and stored by number. */
#include "trace/tracepoints.h"

#include <string.h>

#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "core/session.h"
#include "perfile/abi.h"
#include "trace/eventheader.h"
#include "trace/printk.h"
#include "trace/command.h"
#include "core/command.h"

enum { COSTLY_NAME = 32 }; /* length of a name that costs as much as one byte of payload */

/* The state of a tracepoint number. */
typedef struct known {
    const pf_trace_format *format; /* NULL: no readable description */
    bool asked;
} known;

struct perfile_tracepoints {
    const perfile_session *session;
    pf_arena arena;
    pf_ids by_id; /* number -> index in `all` */
    known *all;
    uint32_t n, cap;
    uint64_t generation; /* of the session, at the last query */
    pf_printk printk;
    bool has_printk; /* printk was read */
    /* Events of payloads that describe themselves, by a hash of their metadata. */
    pf_arena event_arena;
    pf_ids event_ids;
    const pf_trace_format **events;
    uint32_t n_events, events_cap;
    pf_buffer scratch;
};

perfile_status perfile_tracepoints_open(const perfile_session *session, perfile_tracepoints **out,
                                        perfile_error *err)
{
    perfile_tracepoints *t = pf_alloc(1, sizeof *t);
    if (!t)
        return pf_fail_nomem(err, "tracepoints");
    t->session = session;
    t->by_id.seed = pf_session_seed(session);
    t->event_ids.seed = t->by_id.seed;
    pf_arena_init(&t->arena, pf_session_model_bytes(session), "limits.model_bytes");
    pf_arena_init(&t->event_arena, PF_EH_BYTES, "limits.eventheader");
    *out = t;
    return PERFILE_OK;
}

void perfile_tracepoints_close(perfile_tracepoints *t)
{
    if (!t)
        return;
    pf_arena_free(&t->arena);
    pf_ids_free(&t->by_id);
    pf_free(t->all);
    pf_arena_free(&t->event_arena);
    pf_ids_free(&t->event_ids);
    pf_free(t->events);
    pf_buffer_free(&t->scratch);
    pf_free(t);
}

/* Makes missing descriptions be looked up again after the session has grown: in a pipe,
 * descriptions are records. */
static void forget_missing(perfile_tracepoints *t)
{
    const uint64_t generation = pf_session_generation(t->session);
    if (generation == t->generation)
        return;
    t->generation = generation;
    for (uint32_t i = 0; i < t->n; i++)
        t->all[i].asked = t->all[i].format != NULL;
}

/* Returns the index of a number in `all`, and adds it if it is new. */
static perfile_status place_of(perfile_tracepoints *t, uint64_t id, uint32_t *place,
                               perfile_error *err)
{
    *place = pf_ids_find(&t->by_id, id);
    if (*place != PF_NO_OWNER)
        return PERFILE_OK;
    known *all = pf_array_more(t->all, t->n, &t->cap, sizeof *all);
    if (!all)
        return pf_fail_nomem(err, "tracepoints");
    t->all = all;
    perfile_status st = pf_ids_add(&t->by_id, &t->arena, id, t->n, NULL, err);
    if (st != PERFILE_OK)
        return st;
    all[t->n] = (known){0};
    *place = t->n++;
    return PERFILE_OK;
}

/* Reads the constant texts of the kernel, at the first description of a tracepoint. */
static perfile_status read_printk(perfile_tracepoints *t, perfile_error *err)
{
    perfile_tracing_formats formats;
    const perfile_feature *f = perfile_session_feature(t->session, PERFILE_FEATURE_TRACING_DATA);
    if (t->has_printk)
        return PERFILE_OK;
    t->has_printk = true;
    perfile_list list = {.bytes = f ? f->payload : (perfile_bytes){NULL, 0}, .n = 1};
    if (perfile_tracing_formats_next(&list, &formats, sizeof formats) != PERFILE_OK)
        return PERFILE_OK;
    return pf_printk_read(&t->printk, formats.printk_formats, &t->arena, err);
}

static perfile_status read_format(perfile_tracepoints *t, uint64_t id,
                                  const pf_trace_format **format, perfile_error *err)
{
    pf_tracepoint_text text;
    *format = NULL;
    if (!pf_session_tracepoint(t->session, id, &text))
        return PERFILE_OK;
    perfile_status st = read_printk(t, err);
    if (st != PERFILE_OK)
        return st;
    const pf_trace_source source = {.system = text.system,
                                    .name = text.name,
                                    .text = text.format,
                                    .id = id,
                                    .swapped = text.big_endian != (bool)PF_NATIVE_BIG,
                                    .long_size = text.long_size == 4 ? 4 : 8,
                                    .printk = &t->printk};
    st = pf_trace_format_read(&source, &t->arena, format, err);
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

perfile_status pf_tracepoints_find(perfile_tracepoints *t, uint64_t id, const pf_trace_format **out,
                                   perfile_error *err)
{
    uint32_t place;
    forget_missing(t);
    perfile_status st = place_of(t, id, &place, err);
    if (st != PERFILE_OK)
        return st;
    known *k = &t->all[place];
    if (!k->asked)
        st = read_format(t, id, &k->format, err);
    if (st != PERFILE_OK)
        return st;
    k->asked = true;
    *out = k->format;
    return k->format ? PERFILE_OK : PERFILE_END;
}

perfile_status pf_tracepoints_of_event(perfile_tracepoints *t, const perfile_event *event,
                                       const pf_trace_format **out, perfile_error *err)
{
    if (event->attr->type != PERFILE_TYPE_TRACEPOINT)
        return PERFILE_END;
    return pf_tracepoints_find(t, event->attr->config, out, err);
}

/* Hashes the properties that identify the event of a payload. */
static uint64_t hash_of(const perfile_tracepoints *t, const pf_trace_format *base,
                        const pf_eh_parts *parts)
{
    uint64_t h = t->by_id.seed ^ base->shown.id;
    for (size_t i = 0; i < parts->metadata.len; i++)
        h = (h ^ parts->metadata.ptr[i]) * UINT64_C(0x100000001b3) + (h >> 29);
    return h ^ parts->swapped;
}

static bool is_event(const pf_trace_format *f, const pf_trace_format *base,
                     const pf_eh_parts *parts)
{
    return f->self->base == base && f->self->swapped == parts->swapped &&
           f->self->metadata.len == parts->metadata.len &&
           memcmp(f->self->metadata.ptr, parts->metadata.ptr, parts->metadata.len) == 0;
}

/* Describes a new event. */
static perfile_status add_event(perfile_tracepoints *t, uint64_t hash, const pf_eh_parts *parts,
                                const pf_trace_format **f, perfile_error *err)
{
    const pf_trace_format **events =
        pf_array_more(t->events, t->n_events, &t->events_cap, sizeof *events);
    if (!events)
        return pf_fail_nomem(err, "tracepoints");
    t->events = events;
    perfile_status st =
        pf_eh_describe(*f, parts, &t->scratch, &t->event_arena, &events[t->n_events], err);
    if (st == PERFILE_OK)
        st = pf_ids_add(&t->event_ids, &t->event_arena, hash, t->n_events, NULL, err);
    if (st == PERFILE_OK)
        *f = events[t->n_events++];
    return st;
}

perfile_status pf_tracepoints_event(perfile_tracepoints *t, perfile_bytes payload,
                                    const pf_trace_format **f, perfile_error *err)
{
    pf_eh_parts parts;
    if (!(*f)->is_eventheader || !pf_eh_split(*f, payload, &parts))
        return PERFILE_OK;
    const uint64_t hash = hash_of(t, *f, &parts);
    const uint32_t place = pf_ids_find(&t->event_ids, hash);
    if (place != PF_NO_OWNER) {
        if (is_event(t->events[place], *f, &parts))
            *f = t->events[place];
        return PERFILE_OK;
    }
    perfile_error why;
    const perfile_status st = add_event(t, hash, &parts, f, &why);
    if (st == PERFILE_E_NOMEM && err)
        *err = why;
    return st == PERFILE_E_NOMEM ? st : PERFILE_OK;
}

bool pf_tracepoint_payload(const perfile_record *r, perfile_bytes *payload)
{
    perfile_sample sample;
    if (r->type != PERFILE_RECORD_SAMPLE || r->family != PERFILE_FAMILY_PERF ||
        perfile_sample_decode(r, &sample, sizeof sample, NULL) != PERFILE_OK ||
        !(sample.present & PERFILE_SAMPLE_RAW))
        return false;
    *payload = sample.raw;
    return true;
}

perfile_status pf_tracepoint_find(perfile_tracepoints *t, uint64_t id,
                                  const perfile_tracepoint **out, perfile_error *err)
{
    const pf_trace_format *format;
    perfile_status st = pf_tracepoints_find(t, id, &format, err);
    if (st == PERFILE_OK)
        *out = &format->shown;
    return st;
}

perfile_status perfile_tracepoint_of(perfile_tracepoints *t, const perfile_record *r,
                                     const perfile_tracepoint **out, perfile_bytes *payload,
                                     perfile_error *err)
{
    const pf_trace_format *format;
    perfile_bytes bytes;
    const perfile_event *event = r->type == PERFILE_RECORD_SAMPLE ? perfile_record_event(r) : NULL;
    if (!event)
        return PERFILE_END;
    perfile_status st = pf_tracepoints_of_event(t, event, &format, err);
    if (st != PERFILE_OK)
        return st;
    if (!pf_tracepoint_payload(r, &bytes))
        return PERFILE_END;
    st = pf_tracepoints_event(t, bytes, &format, err);
    if (st != PERFILE_OK)
        return st;
    *out = &format->shown;
    *payload = bytes;
    return PERFILE_OK;
}

static const pf_trace_format *format_of(const perfile_tracepoint *t)
{
    return (const pf_trace_format *)(const void *)t;
}

perfile_status perfile_tracepoint_walk(perfile_tracepoints *t, const perfile_record *r,
                                       const perfile_visitor *visitor, void *user,
                                       perfile_error *err)
{
    const perfile_tracepoint *found;
    perfile_bytes payload;
    perfile_status st = perfile_tracepoint_of(t, r, &found, &payload, err);
    size_t left = st == PERFILE_OK ? payload.len : 0;
    for (uint32_t i = 0; st == PERFILE_OK && i < found->n_fields; i++) {
        perfile_value value;
        const perfile_tracepoint_field *f = &found->fields[i];
        /* Charges each field, so that overlapping fields cannot show a short payload many times. */
        const size_t cost = f->size + strlen(f->field.name) / COSTLY_NAME;
        if (f->flags & (PERFILE_TRACEPOINT_COMMON | PERFILE_TRACEPOINT_SELF) || cost > left ||
            perfile_tracepoint_value(found, payload, i, &value) != PERFILE_OK)
            continue;
        left -= cost;
        value.offset += (uint64_t)(payload.ptr - r->header);
        visitor->value(user, &f->field, &value);
    }
    if (st == PERFILE_OK && format_of(found)->self)
        pf_eh_walk(format_of(found), payload, (uint64_t)(payload.ptr - r->header), &left, visitor,
                   user);
    return st;
}

/* Records that are encoded from structs (perfile_writer_put_…, one function for each record of the
 * tables), and spans of records out of the kernel's ring buffer.
 *
 * A struct has the fields of the record; its event says how samples are laid out and what the
 * trailer (sample_id) of other kernel records holds.  perfile_put_options has the values of the
 * trailer.  The record is encoded into w->scratch and then written like any other. */
#include "base/cursor.h"
#include "base/error.h"
#include "base/options.h"
#include "core/layout.h"
#include "io/out.h"
#include "perf/write.h"

/* A record that is being encoded. */
typedef struct record_build {
    perfile_put_options given;
    perfile_encode_options how;
    perfile_sample_id trailer;     /* how.sample_id points here if the record has a trailer */
    const pf_written_event *event; /* the event of a kernel record; NULL for others */
    uint8_t *record;               /* w->scratch, PF_RECORD_MOST bytes */
} record_build;

/* The fields of the trailer of layout `l`, as bits of perfile_sample_id.present. */
static uint64_t trailer_bits(const perfile_layout *l)
{
    uint64_t bits = 0;
    for (unsigned i = 0; i < sizeof l->trailer_slot; i++)
        bits |= l->trailer_slot[i] > 0 ? UINT64_C(1) << i : 0;
    return bits;
}

/* Fills the trailer from the put options.  Records marked `synthesized` have a trailer of zeros,
 * as perf writes it.  Fields that sample_type does not have stay 0: the encoder refuses others. */
static void fill_trailer(record_build *m)
{
    const perfile_put_options *g = &m->given;
    const perfile_layout *l = &m->event->layout;
    m->trailer.present = trailer_bits(l);
    if (g->synthesized)
        return;
    uint64_t id = g->id ? g->id : m->event->id;
    m->trailer = (perfile_sample_id){
        .present = m->trailer.present,
        .pid = l->sample_type & PERFILE_SAMPLE_TID ? g->pid : 0,
        .tid = l->sample_type & PERFILE_SAMPLE_TID ? g->tid : 0,
        .time = l->sample_type & PERFILE_SAMPLE_TIME ? g->time : 0,
        .id = l->sample_type & PERFILE_SAMPLE_ID ? id : 0,
        .stream_id = !(l->sample_type & PERFILE_SAMPLE_STREAM_ID) ? 0
                     : g->stream_id                               ? g->stream_id
                                                                  : id,
        .cpu = l->sample_type & PERFILE_SAMPLE_CPU ? g->cpu : 0,
        .identifier = l->sample_type & PERFILE_SAMPLE_IDENTIFIER ? id : 0,
    };
}

/* Refuses an id that is none of the event: the record would be of another event, whose layout may
 * be another one, or of none. */
static perfile_status check_id(const pf_perf_writer *w, const record_build *m, uint64_t id,
                               perfile_error *err)
{
    const pf_written_event *e = m->event;
    if (!id || !e->ids_len) /* an event without ids is the only one */
        return PERFILE_OK;
    for (size_t k = 0; k < e->ids_len; k += 8)
        if (pf_load_u64(w->facts.ptr + e->ids + k, w->base.swap) == id)
            return PERFILE_OK;
    return pf_fail(err, PERFILE_E_USAGE, "writer.put", "the id %llu is none of event %u",
                   (unsigned long long)id, m->given.event);
}

/* Prepares encoding a record of `type`.  `how` NULL: a synthesized record of event 0, misc 0. */
static perfile_status begin_record(pf_perf_writer *w, uint32_t type, const perfile_put_options *how,
                                   record_build *m, perfile_error *err)
{
    *m = (record_build){.given = {.synthesized = !how}, .how = pf_write_encoding(w)};
    perfile_status st = pf_write_check_usable(w, err);
    if (how && st == PERFILE_OK)
        st = pf_options_copy(&m->given, how, "put.how", err);
    if (st == PERFILE_OK)
        st = pf_write_scratch(w, PF_RECORD_MOST + 1, &m->record, err);
    if (st != PERFILE_OK)
        return st;
    m->how.misc = m->given.misc;
    if (type >= PERFILE_RECORD_USER)
        return PERFILE_OK;
    if (m->given.event >= w->n_events)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                       "a record of event %u, there are %u: add it first", m->given.event,
                       w->n_events);
    m->event = pf_write_event_at(w, m->given.event);
    if (!m->event->readable)
        return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                       "the attr of event %u cannot be read: the layout of its "
                       "records is unknown",
                       m->given.event);
    st = check_id(w, m, m->given.id, err);
    if (st != PERFILE_OK)
        return st;
    m->how.layout = &m->event->layout;
    if (type != PERFILE_RECORD_SAMPLE && m->event->layout.trailer_size) {
        fill_trailer(m);
        m->how.sample_id = &m->trailer;
    }
    return PERFILE_OK;
}

/* Writes the `len` bytes that were encoded. */
static perfile_status finish_record(pf_perf_writer *w, const record_build *m, size_t len,
                                    perfile_error *err)
{
    return pf_write_record(w, (perfile_bytes){m->record, len}, m->given.part, err);
}

#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    perfile_status perfile_writer_put_##id(perfile_writer *writer, const perfile_##id *in,         \
                                           size_t size, const perfile_put_options *how,            \
                                           perfile_error *err)                                     \
    {                                                                                              \
        pf_perf_writer *w = pf_perf_writer_of(writer, "such records", err);                        \
        if (!w)                                                                                    \
            return PERFILE_E_UNSUPPORTED;                                                          \
        record_build m;                                                                            \
        size_t len;                                                                                \
        perfile_status st = begin_record(w, number, how, &m, err);                                 \
        if (st == PERFILE_OK)                                                                      \
            st = perfile_##id##_encode(in, size, &m.how, m.record, PF_RECORD_MOST, &len, err);     \
        return st == PERFILE_OK ? finish_record(w, &m, len, err) : st;                             \
    }
#include "perfile/format/records.def"
#define RECORD(id, number, name, source, fixed, contract, role, since, marks, doc)                 \
    perfile_status perfile_writer_put_##id(perfile_writer *writer, const perfile_##id *in,         \
                                           size_t size, const perfile_put_options *how,            \
                                           perfile_error *err)                                     \
    {                                                                                              \
        pf_perf_writer *w = pf_perf_writer_of(writer, "such records", err);                        \
        if (!w)                                                                                    \
            return PERFILE_E_UNSUPPORTED;                                                          \
        record_build m;                                                                            \
        size_t len;                                                                                \
        perfile_status st = begin_record(w, number, how, &m, err);                                 \
        m.how.misc = 0;                                                                            \
        if (st == PERFILE_OK)                                                                      \
            st = perfile_##id##_encode(in, size, &m.how, m.record, PF_RECORD_MOST, &len, err);     \
        return st == PERFILE_OK ? finish_record(w, &m, len, err) : st;                             \
    }
#include "perfile/format/simpleperf.def"

/* Refuses what a sample has and its event does not: it would be lost. */
static perfile_status check_sample(const pf_perf_writer *w, const record_build *m,
                                   const perfile_sample *s, perfile_error *err)
{
    const uint64_t fields = m->event->layout.sample_type;
    const struct {
        uint64_t bit;
        size_t n;
        const char *name;
    } lists[] = {{PERFILE_SAMPLE_CALLCHAIN, s->callchain.n, "callchain"},
                 {PERFILE_SAMPLE_RAW, s->raw.len, "raw"}};
    for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++)
        if (lists[i].n && !(fields & lists[i].bit))
            return pf_fail(err, PERFILE_E_USAGE, "writer.put",
                           "the sample has a %s, and sample_type of event %u does not",
                           lists[i].name, m->given.event);
    perfile_status st = check_id(w, m, fields & PERFILE_SAMPLE_ID ? s->id : 0, err);
    return st == PERFILE_OK
               ? check_id(w, m, fields & PERFILE_SAMPLE_IDENTIFIER ? s->identifier : 0, err)
               : st;
}

/* Encodes a sample.  If in->present is 0, it has the fields of its sample_type; ids of 0 become the
 * id of the options, or the first of the event. */
static perfile_status put_sample(pf_perf_writer *w, const perfile_sample *in, size_t size,
                                 const perfile_put_options *how, perfile_error *err)
{
    const uint64_t weights = PERFILE_SAMPLE_WEIGHT | PERFILE_SAMPLE_WEIGHT_STRUCT;
    record_build m;
    perfile_sample s = {0};
    size_t len;
    perfile_status st = begin_record(w, PERFILE_RECORD_SAMPLE, how, &m, err);
    if (st != PERFILE_OK)
        return st;
    if (size > sizeof s) /* a newer struct: the encoder checks whether the rest is zero */
        return perfile_sample_encode(in, size, &m.how, m.record, PF_RECORD_MOST, &len, err) ==
                       PERFILE_OK
                   ? finish_record(w, &m, len, err)
                   : PERFILE_E_USAGE;
    memcpy(&s, in, size);
    st = check_sample(w, &m, &s, err);
    if (st != PERFILE_OK)
        return st;
    uint64_t fields = m.event->layout.sample_type & PERFILE_SAMPLE_KNOWN & ~weights;
    uint64_t id = m.given.id ? m.given.id : m.event->id;
    if (!s.present)
        s.present = fields;
    if (fields & PERFILE_SAMPLE_IDENTIFIER && !s.identifier)
        s.identifier = id;
    if (fields & PERFILE_SAMPLE_ID && !s.id)
        s.id = id;
    st = perfile_sample_encode(&s, sizeof s, &m.how, m.record, PF_RECORD_MOST, &len, err);
    return st == PERFILE_OK ? finish_record(w, &m, len, err) : st;
}

/* The ring buffer. */

/* The header of the record at index `at` of the two spans, whose border it may cross. */
static pf_frame frame_at(const perfile_bytes spans[2], size_t at)
{
    uint8_t header[PF_PERF_RECORD_HEADER];
    if (at + sizeof header <= spans[0].len)
        return pf_frame_at(spans[0].ptr + at, false);
    if (at >= spans[0].len)
        return pf_frame_at(spans[1].ptr + (at - spans[0].len), false);
    size_t n = spans[0].len - at;
    memcpy(header, spans[0].ptr + at, n);
    memcpy(header + n, spans[1].ptr, sizeof header - n);
    return pf_frame_at(header, false);
}

/* Fails because the bytes at `at` are no kernel record. */
static perfile_status report_bad_span(const pf_frame *f, size_t at, size_t left, perfile_error *err)
{
    perfile_status st =
        f->type >= PERFILE_RECORD_USER || f->type == 0
            ? pf_fail(err, PERFILE_E_CORRUPT, "record.type",
                      "the kernel writes no record of type %u", f->type)
            : pf_fail(err, PERFILE_E_CORRUPT, "record.size",
                      "size %u, with %zu bytes left: not a whole record", f->size, left);
    if (err)
        err->offset = at;
    return st;
}

/* Checks that the two spans together are complete records of the kernel. */
static perfile_status check_spans(const perfile_bytes spans[2], perfile_error *err)
{
    size_t size = spans[0].len + spans[1].len;
    for (size_t at = 0; at < size;) {
        pf_frame f = {.type = PERFILE_RECORD_SAMPLE};
        if (size - at >= PF_PERF_RECORD_HEADER)
            f = frame_at(spans, at);
        if (f.size < PF_PERF_RECORD_HEADER || f.size > size - at || f.type == 0 ||
            f.type >= PERFILE_RECORD_USER)
            return report_bad_span(&f, at, size - at, err);
        at += f.size;
    }
    return PERFILE_OK;
}

/* Writes two spans of one ring buffer: the part up to its end, and the part from its beginning. */
static perfile_status put_spans(pf_perf_writer *w, const perfile_bytes spans[2], uint32_t part,
                                perfile_error *err)
{
    perfile_status st = pf_write_check_at_record(w, err);
    if (st == PERFILE_OK && w->base.swap)
        st = pf_fail(err, PERFILE_E_USAGE, "writer.put",
                     "the kernel's records are not in the byte order of the capture");
    if (st == PERFILE_OK)
        st = check_spans(spans, err);
    if (st != PERFILE_OK || spans[0].len + spans[1].len == 0)
        return st;
    st = pf_write_begin(w, err);
    if (st == PERFILE_OK && w->base.directory && part != w->at)
        st = pf_write_select_part(w, part, err);
    if (st != PERFILE_OK)
        return st;
    w->kernel = true;
    for (unsigned i = 0; i < 2 && st == PERFILE_OK; i++)
        st = w->base.level ? pf_write_add_to_stage(w, spans[i], err)
                           : pf_write_bytes(w, spans[i], err);
    return st;
}

/* Writes FINISHED_ROUND; a progressive file is flushed with it, so that readers see the round. */
perfile_status perfile_writer_round(perfile_writer *writer, perfile_error *err)
{
    pf_perf_writer *w = pf_perf_writer_of(writer, "rounds", err);
    perfile_finished_round round = {0};
    if (!w)
        return PERFILE_E_UNSUPPORTED;
    perfile_status st = perfile_writer_put_finished_round(writer, &round, sizeof round, NULL, err);
    return st == PERFILE_OK && w->progressive ? perfile_sink_flush(writer->sink, err) : st;
}

perfile_status perfile_writer_put_sample(perfile_writer *writer, const perfile_sample *in,
                                         size_t size, const perfile_put_options *how,
                                         perfile_error *err)
{
    pf_perf_writer *w = pf_perf_writer_of(writer, "such records", err);
    return w ? put_sample(w, in, size, how, err) : PERFILE_E_UNSUPPORTED;
}

perfile_status perfile_writer_put_spans(perfile_writer *writer, const perfile_bytes spans[2],
                                        uint32_t part, perfile_error *err)
{
    pf_perf_writer *w = pf_perf_writer_of(writer, "records of the kernel", err);
    return w ? put_spans(w, spans, part, err) : PERFILE_E_UNSUPPORTED;
}

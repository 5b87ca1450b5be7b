/* All that a stream gives, as a transcript: two ways to the same capture must have the same. */
#ifndef TESTS_STREAMED_H
#define TESTS_STREAMED_H

#include "perfile/perfile.h"
#include "transcript.h"
#include "core/command.h"

enum {
    STREAMED_FIELDS = 1 << 0, /* the fields of each record too */
    STREAMED_RUNS = 1 << 1    /* every third record by itself, the others by the run */
};

/* The bytes behind a record, in memory or read piece by piece.  How soon it is known that they are
 * cut depends on the source: that they are is all that is told. */
static inline void streamed_extra(transcript *t, perfile_stream *s, const perfile_record *r)
{
    perfile_bytes piece;
    perfile_status st = PERFILE_END;
    if (r->extra.len == 0 && !(r->flags & PERFILE_REC_PAYLOAD_CUT))
        return;
    transcript all = {0};
    if (r->extra.ptr)
        tell_bytes(&all, "extra", r->extra);
    else if (r->flags & PERFILE_REC_PAYLOAD_CUT)
        st = PERFILE_E_TRUNCATED;
    else if (r->extra.len <= (size_t)1 << 20 &&
             (st = perfile_stream_extra(s, r, &piece, NULL)) == PERFILE_OK)
        tell_bytes(&all, "extra", piece);
    else
        while (st == PERFILE_OK || st == PERFILE_END) {
            st = perfile_stream_extra(s, r, &piece, NULL);
            if (st != PERFILE_OK)
                break;
            for (size_t i = 0; i < piece.len; i++)
                transcript_mix(&all, piece.ptr[i]);
        }
    if (st < 0)
        tell_signed(t, "extra cut", st);
    else
        tell_number(t, "extra", all.hash);
}

static inline void streamed_record(transcript *t, perfile_stream *s, const perfile_record *r,
                                   unsigned how)
{
    const unsigned source_only = PERFILE_REC_STABLE | PERFILE_REC_PAYLOAD_CUT;
    tell_begin(t, "record");
    tell_number(t, "type", r->type);
    tell_number(t, "misc", r->misc);
    tell_number(t, "family", r->family);
    tell_number(t, "flags", r->flags & ~source_only);
    tell_number(t, "offset", r->offset);
    tell_number(t, "stream_offset", r->stream_offset);
    tell_number(t, "sequence", r->sequence);
    tell_number(t, "envelope", r->envelope);
    tell_number(t, "part", r->part);
    tell_number(t, "damage", r->damage);
    tell_number(t, "size", r->body.len);
    if (r->family == PERFILE_FAMILY_DAMAGE) {
        tell_end(t);
        return;
    }
    tell_bytes(
        t, "header",
        (perfile_bytes){r->header, perfile_record_size(r) - r->body.len}); /* of its family */
    tell_bytes(t, "body", r->body);
    const perfile_event *e = perfile_record_event(r);
    uint32_t damage = 0, pid, tid, cpu;
    bool has_layout = pf_record_layout(r, &damage) != NULL;
    tell_number(t, "layout", has_layout);
    tell_number(t, "layout damage", damage);
    if (e) {
        tell_number(t, "event", e->index);
        tell_bytes(t, "name", (perfile_bytes){(const uint8_t *)e->name, strlen(e->name)});
    }
    tell_number(t, "time", perfile_record_time(r));
    if (perfile_record_task(r, &pid, &tid)) {
        tell_number(t, "pid", pid);
        tell_number(t, "tid", tid);
    }
    if (perfile_record_cpu(r, &cpu))
        tell_number(t, "cpu", cpu);
    if (how & STREAMED_FIELDS) {
        perfile_error err = {0};
        tell_signed(t, "walk",
                    perfile_record_walk(r, PERFILE_WALK_PADDING, &transcript_visitor, t, &err));
        tell_number(t, "walk damage", err.damage);
        tell_signed(t, "trailer", perfile_record_walk_trailer(r, 0, &transcript_visitor, t, NULL));
    }
    streamed_extra(t, s, r);
    tell_end(t);
}

static inline void streamed_text(transcript *t, const char *name, const char *text)
{
    tell_bytes(t, name, (perfile_bytes){(const uint8_t *)text, text ? strlen(text) : 0});
}

static inline void streamed_session(transcript *t, const perfile_session *s, unsigned how)
{
    for (uint32_t i = 0; i < perfile_session_n_events(s); i++) {
        const perfile_event *e = perfile_session_event(s, i);
        tell_begin(t, "event");
        tell_number(t, "origin", e->origin);
        tell_number(t, "offset", e->offset);
        tell_bytes(t, "stored", e->stored);
        tell_words(t, "ids", e->ids);
        streamed_text(t, "name", e->name);
        streamed_text(t, "unit", e->unit);
        tell_number(t, "leader", e->group_leader);
        tell_number(t, "damage", e->damage);
        tell_number(t, "ids damage", e->ids_damage);
        tell_end(t);
    }
    for (uint32_t i = 0; i < perfile_session_n_features(s); i++) {
        const perfile_feature *f = perfile_session_feature_at(s, i);
        tell_begin(t, "feature");
        tell_number(t, "number", f->number);
        tell_number(t, "offset", f->offset);
        tell_bytes(t, "payload", f->payload);
        if (f->payload.len) {
            tell_number(t, "size", f->size);
            tell_number(t, "damage", f->damage);
        }
        if (how & STREAMED_FIELDS && f->payload.len)
            tell_signed(t, "walk", perfile_feature_walk(f, 0, &transcript_visitor, t, NULL));
        tell_end(t);
    }
    for (uint32_t i = 0; i < perfile_session_n_build_ids(s); i++) {
        const perfile_build_id *id = perfile_session_build_id(s, i);
        tell_bytes(t, "build id", id->id);
        tell_bytes(t, "file", id->filename);
    }
    for (unsigned i = 0; i < PERFILE_N_FACTS; i++)
        streamed_text(t, "fact", perfile_session_fact(s, i));
}

/* The next record, or the rest of its run. */
static inline perfile_status streamed_next(perfile_stream *s, unsigned how, uint64_t told,
                                           const perfile_record **r, size_t *n, perfile_error *err)
{
    *n = 1;
    return how & STREAMED_RUNS && told % 3 ? perfile_stream_next_run(s, r, n, err)
                                           : perfile_stream_next(s, r, err);
}

/* Reads `s` to its end.  The status is PERFILE_OK for an end. */
static inline perfile_status streamed(transcript *t, perfile_stream *s, unsigned how,
                                      perfile_error *err)
{
    const perfile_record *r;
    perfile_status st;
    size_t n;
    uint64_t told = 0;
    while ((st = streamed_next(s, how, told, &r, &n, err)) == PERFILE_OK)
        for (size_t i = 0; i < n; i++, told++)
            streamed_record(t, s, r + i, how);
    tell_signed(t, "status", st);
    if (st < 0)
        return st;
    perfile_stream_summary sum;
    perfile_stream_get_summary(s, &sum, sizeof sum);
    tell_number(t, "records", sum.records);
    tell_number(t, "bytes", sum.bytes);
    tell_number(t, "inner records", sum.inner_records);
    tell_number(t, "inner bytes", sum.inner_bytes);
    tell_number(t, "damages", sum.damages);
    tell_number(t, "lost", sum.lost);
    streamed_session(t, perfile_stream_session(s), how);
    return PERFILE_OK;
}

#endif

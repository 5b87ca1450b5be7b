/* A capture as an older version of perf has it, written to a file. */
#ifndef TESTS_TARGETED_H
#define TESTS_TARGETED_H

#include "perfile/perfile.h"

typedef struct targeted {
    perfile_target_summary sum;
    uint64_t told; /* losses, as the callback adds them up */
    uint64_t samples;
    uint64_t by_type[128];
    void (*loss)(void *user, const perfile_target_loss *loss); /* besides; may be NULL */
    uint64_t held_bytes;
} targeted;

static inline void targeted_loss(void *user, const perfile_target_loss *loss)
{
    targeted *t = user;
    t->told += loss->count;
    if (t->loss)
        t->loss(user, loss);
}

static inline perfile_status targeted_open(const char *path, const char *version, targeted *t,
                                           perfile_stream **s, perfile_error *err)
{
    const perfile_limits limits = {.size = sizeof limits, .held_bytes = t->held_bytes};
    const perfile_open_options options = {.size = sizeof options, .limits = &limits};
    const perfile_target_options to = {
        .size = sizeof to, .version = version, .loss = targeted_loss, .user = t};
    perfile_status st = perfile_open_path(path, &options, s, err);
    if (st != PERFILE_OK)
        return st;
    st = perfile_target(*s, &to, s, err);
    if (st != PERFILE_OK)
        perfile_stream_close(*s);
    return st;
}

/* What is a section of a file and not a record. */
static inline bool targeted_is_fact(uint32_t type)
{
    return type == PERFILE_RECORD_HEADER_ATTR || type == PERFILE_RECORD_HEADER_FEATURE ||
           type == PERFILE_RECORD_HEADER_TRACING_DATA || type == PERFILE_RECORD_HEADER_EVENT_TYPE;
}

static inline perfile_status targeted_facts(perfile_writer *w, const perfile_session *s,
                                            perfile_error *err)
{
    perfile_status st = PERFILE_OK;
    for (uint32_t i = 0; st == PERFILE_OK && i < perfile_session_n_events(s); i++) {
        const perfile_event *e = perfile_session_event(s, i);
        st = perfile_writer_event(w, e->stored, &e->ids, err);
    }
    for (uint32_t i = 0; st == PERFILE_OK && i < perfile_session_n_features(s); i++) {
        const perfile_feature *f = perfile_session_feature_at(s, i);
        if (f->number != PERFILE_FEATURE_AUXTRACE && f->number != PERFILE_FEATURE_DIR_FORMAT)
            st = perfile_writer_feature(w, f->number, f->payload, err);
    }
    return st;
}

static inline perfile_status targeted_put(perfile_stream *s, perfile_writer *w, targeted *t,
                                          perfile_error *err)
{
    const perfile_record *r;
    perfile_bytes piece;
    perfile_status st;
    while ((st = perfile_stream_next(s, &r, err)) == PERFILE_OK) {
        if (targeted_is_fact(r->type) || r->flags & PERFILE_REC_PAYLOAD_CUT)
            continue;
        t->samples += r->type == PERFILE_RECORD_SAMPLE;
        t->by_type[r->type < 127 ? r->type : 127]++;
        if (!w)
            continue;
        if ((st = perfile_writer_put(w, r, err)) != PERFILE_OK)
            return st;
        if (r->extra.len && !r->extra.ptr) {
            while ((st = perfile_stream_extra(s, r, &piece, err)) == PERFILE_OK)
                if ((st = perfile_writer_extra(w, piece, err)) != PERFILE_OK)
                    return st;
            if (st != PERFILE_END)
                return st;
        }
    }
    return st == PERFILE_END ? PERFILE_OK : st;
}

/* Facts of pipes come with the records: the stream is read twice. */
static inline perfile_status targeted_write(const char *path, const char *version, const char *out,
                                            targeted *t, perfile_error *err)
{
    perfile_stream *facts, *s;
    perfile_sink *sink;
    perfile_writer *w = NULL;
    targeted first = {.held_bytes = t->held_bytes};
    perfile_status st = targeted_open(path, version, &first, &facts, err);
    if (st != PERFILE_OK)
        return st;
    st = targeted_put(facts, NULL, &first, err);
    if (st == PERFILE_OK)
        st = targeted_open(path, version, t, &s, err);
    if (st != PERFILE_OK) {
        perfile_stream_close(facts);
        return st;
    }
    const perfile_session *session = perfile_stream_session(facts);
    const perfile_writer_options options = {.size = sizeof options,
                                            .as_stored = true,
                                            .byte_order = perfile_session_byte_order(session)};
    const perfile_sink_options replace = {.size = sizeof replace, .flags = PERFILE_SINK_REPLACE};
    st = perfile_sink_path(out, &replace, &sink, err);
    if (st == PERFILE_OK) {
        st = perfile_writer_open(sink, &options, &w, err);
        if (st == PERFILE_OK)
            st = targeted_facts(w, session, err);
        if (st == PERFILE_OK)
            st = targeted_put(s, w, t, err);
        if (st == PERFILE_OK)
            st = perfile_writer_finish(w, err);
        perfile_writer_close(w);
        perfile_sink_close(sink);
    }
    perfile_target_get_summary(s, &t->sum, sizeof t->sum);
    perfile_stream_close(s);
    perfile_stream_close(facts);
    return st;
}

#endif

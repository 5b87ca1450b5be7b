/* Records that a program has in memory, as a stream: sessions that programs make, and streams of
 * callbacks.
 *
 *     perfile_session_options so = {.size = sizeof so};
 *     perfile_new_event event = {.size = sizeof event, .attr = &attr, .name = "cycles:u"};
 *     st = perfile_session_new(&so, &session, &err);
 *     st = perfile_session_add_event(session, &event, &index, &err);
 *
 *     perfile_stream_callbacks c = {.size = sizeof c, .user = me, .next = my_next};
 *     st = perfile_stream_callback(&c, "mine", session, NULL, &stream, &err);
 *     perfile_session_close(session);
 *     st = perfile_sort(stream, NULL, &stream, &err);
 *     st = perfile_copy(stream, writer, NULL, NULL, 0, &err);
 *     perfile_stream_close(stream);
 *
 * Such a stream can be sorted, filtered, merged, checked, dumped and copied like that of a file.
 * Whoever wants to read it twice makes it twice.  perfile_ring_stream() makes one of the kernel's
 * ring buffers. */
#ifndef PERFILE_LIVE_H
#define PERFILE_LIVE_H

#include "stream.h"
#include "writer.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Sessions. */

/* Set `size`; zeros are the defaults. */
typedef struct perfile_session_options {
    size_t size;
    uint32_t byte_order; /* PERFILE_BYTE_ORDER_… of all bytes that are given, attrs and records; 0:
                          * this machine's */
    uint32_t reserved0;
    const perfile_limits *limits; /* session_bytes and model_bytes; NULL: defaults; copied */
    uint64_t reserved[6];
} perfile_session_options;

/* Makes a session without events.  `options` may be NULL.  Records whose `session` is set to it
 * (perfile_record, perfile_ring_options) are decoded by its events; it must outlive them.
 * PERFILE_E_USAGE: a `size` is 0; PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_session_new(
    const perfile_session_options *options, perfile_session **session, perfile_error *err);

/* For sessions of perfile_session_new() only; those of a stream are the stream's.  NULL is fine. */
PERFILE_API void perfile_session_close(perfile_session *session);

/* Adds an event from its struct, as perfile_writer_add_event() takes it; all is copied.  *index
 * (may be NULL) is its number, from 0.
 *
 * Events of different layouts are told apart by the ids of their records (IDENTIFIER or ID at one
 * place in all sample_types); nobody looks whether that holds before a record is decoded, or a
 * writer is given them.
 *
 * PERFILE_E_USAGE: no attr, one that cannot be encoded or an id that another event has;
 * PERFILE_E_LIMIT, PERFILE_E_NOMEM: after these two the session can only be closed. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_session_add_event(
    perfile_session *session, const perfile_new_event *event, uint32_t *index, perfile_error *err);

/* Adds an event from its attr as stored, in the byte order of the session: the struct
 * perf_event_attr that the kernel was given, 64 to 4,096 bytes.  `ids` may be NULL.  What has no
 * other name is called what perf would call it; see perfile_session_name_event().  Fails as
 * perfile_session_add_event(). */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_session_add_attr(perfile_session *session,
                                                                     perfile_bytes attr,
                                                                     const perfile_words *ids,
                                                                     uint32_t *index,
                                                                     perfile_error *err);

/* What event `index` is called.  PERFILE_E_USAGE: there is no such event, or no name. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_session_name_event(perfile_session *session,
                                                                       uint32_t index,
                                                                       const char *name,
                                                                       perfile_error *err);

/* Sets the payload of a feature section, in the byte order of the session; copied.  The encoders of
 * encode.h make payloads.  PERFILE_E_USAGE: no header has room for that number, or the feature is
 * set already; PERFILE_E_LIMIT, PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_session_set_feature(perfile_session *session,
                                                                        uint32_t number,
                                                                        perfile_bytes payload,
                                                                        perfile_error *err);

/* Streams. */

/* Set `size` and `next`. */
typedef struct perfile_stream_callbacks {
    size_t size;
    void *user;
    /* Supplies the next records: *span is a run of complete, adjacent records as they stand in a
     * ring buffer or in a file, each followed by the bytes that belong to it (AUXTRACE).  The bytes
     * stay the callback's and must not change until the next call or the end of the stream.  Called
     * when the records of the last span are used up, and never again after PERFILE_END or an error.
     * It may block, and must not call functions on the stream.
     *
     * PERFILE_OK: an empty span is passed over, and the next is asked for at once.
     * PERFILE_END: there are no more.
     * A negative status is returned by the stream, with the message in *err, which is never NULL.
     * With err->damage set (PERFILE_DAMAGE_…, a ring that was overrun for example) and the status
     * that perfile_damage_status() gives for it, it is damage instead, and counted; with
     * options.on_damage RESYNC or SALVAGE the next span is asked for then, else the stream ends. */
    perfile_status (*next)(void *user, perfile_bytes *span, perfile_error *err);
    void (*close)(void *user); /* when the stream is closed; may be NULL */
    uint64_t reserved[4];
} perfile_stream_callbacks;

/* Makes a stream of the records that `callbacks` hand over, in the byte order of `session`.
 *
 * Of `session` the stream has a copy: events, their names, features, the clock, as they are now.
 * It may be closed at once; that of another stream will do as well.  Records of a tool
 * (EVENT_UPDATE …) teach the stream's copy, perfile_stream_session(), only.
 *
 * The stream presents itself as a file without sections: facts stand beside the records.  `offset`
 * of a record counts bytes that were handed over before it.  Records are valid until the next call
 * on the stream and never copied.  A record whose size is below 8 or goes over the end of its span
 * is damage, as in a file that is cut there.  With on_damage STOP the stream ends there: the rest
 * of the span counts as lost, and `next` is not called again.  Else the rest of the span up to the
 * next record that looks like one is lost.
 *
 * `options` may be NULL; `from` and `waiting` have no meaning.  `name` is for messages, copied;
 * NULL for none.  On success the stream owns `user`, so far as it calls `close`; on failure nothing
 * of it was touched. PERFILE_E_USAGE: no callback, no session, a `size` that is 0, or
 * options.assume; PERFILE_E_NOMEM; PERFILE_E_LIMIT. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_stream_callback(
    const perfile_stream_callbacks *callbacks, const char *name, const perfile_session *session,
    const perfile_open_options *options, perfile_stream **stream, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif

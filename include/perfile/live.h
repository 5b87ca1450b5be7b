/* Records that a program has in memory, as a stream: sessions that programs make, and streams of
 * callbacks.
 *
 *     perfile_session_options so = {.size = sizeof so};
 *     perfile_new_event event = {.size = sizeof event, .attr = &attr, .name = "cycles:u"};
 *     st = perfile_session_open(&so, &session, &err);
 *     st = perfile_session_add_event(session, &event, &index, &err);
 *
 *     perfile_stream_callbacks c = {.size = sizeof c, .user = me, .next = my_next};
 *     st = perfile_stream_callback(&c, "mine", session, NULL, &stream, &err);
 *     perfile_session_close(session);
 *     st = perfile_sort(stream, NULL, &stream, &err);
 *     st = perfile_copy(stream, writer, NULL, NULL, 0, &err);
 *     perfile_stream_close(stream);
 *
 * Such a stream can be sorted, filtered, merged, checked, dumped and copied like the stream of a
 * file.  To read it twice, make it twice.  perfile_ring_stream() makes a stream of the kernel's
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
    uint32_t byte_order; /* PERFILE_BYTE_ORDER_… of all stored bytes passed in, attrs and records;
                            0: this machine */
    uint32_t reserved0;
    const perfile_limits *limits; /* session_bytes and model_bytes; NULL: defaults; copied */
    uint64_t reserved[6];
} perfile_session_options;

/* Makes a session without events.  `options` may be NULL.  Records that have it as their `session`
 * (perfile_record, perfile_ring_options) are decoded by its events; it must outlive them.
 * PERFILE_E_USAGE: a `size` is 0; PERFILE_E_NOMEM. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_session_open(
    const perfile_session_options *options, perfile_session **session, perfile_error *err);

/* Closes a session made by perfile_session_open(); the session of a stream belongs to the stream.
 * `session` may be NULL. */
PERFILE_API void perfile_session_close(perfile_session *session);

/* Adds an event from its struct, like perfile_writer_add_event().  Everything is copied.  *index
 * (may be NULL) becomes its number, counted from 0.
 *
 * Events of different layouts are told apart by the ids in their records (IDENTIFIER or ID at the
 * same position in all sample_types).  This is checked only when a record is decoded, or when the
 * events are added to a writer.
 *
 * PERFILE_E_USAGE: no attr, an attr that cannot be encoded, or an id that another event has.
 * PERFILE_E_LIMIT, PERFILE_E_NOMEM: after these two the session can only be closed. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_session_add_event(
    perfile_session *session, const perfile_new_event *event, uint32_t *index, perfile_error *err);

/* Adds an event from its attr as stored, in the byte order of the session: the struct
 * perf_event_attr that was passed to the kernel, 64 to 4,096 bytes.  `ids` may be NULL.  With
 * `name` NULL or "" the event has the name that perf would use.  Fails as
 * perfile_session_add_event() does. */
PERFILE_API PERFILE_MUST_USE perfile_status
perfile_session_add_attr(perfile_session *session, perfile_bytes attr, const perfile_words *ids,
                         const char *name, uint32_t *index, perfile_error *err);

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
    /* Supplies the next records.  *span becomes a run of complete, adjacent records as in a ring
     * buffer or a file, each followed by the bytes that belong to it (AUXTRACE).  The callback owns
     * the bytes, which must not change until the next call or the end of the stream.  It is called
     * when the records of the last span are used up, and never again after PERFILE_END or an error.
     * It may block, and must not call functions on the stream.
     *
     * PERFILE_OK: an empty span is skipped, and the callback is called again at once.
     * PERFILE_END: there are no more records.
     * A negative status: the stream returns it, with the message in *err (err is never NULL).  It
     * is damage instead, and counted, if err->damage is set (PERFILE_DAMAGE_…, for example a ring
     * that was overrun) and the status is that of this damage: PERFILE_E_TRUNCATED for what is cut,
     * PERFILE_E_UNSUPPORTED for what is of a later version, else PERFILE_E_CORRUPT.
     * Then, with options.on_damage RESYNC or SALVAGE, the callback is called for the next span;
     * otherwise the stream ends. */
    perfile_status (*next)(void *user, perfile_bytes *span, perfile_error *err);
    void (*close)(void *user); /* called when the stream is closed; may be NULL */
    uint64_t reserved[4];
} perfile_stream_callbacks;

/* Makes a stream of the records that `callbacks` supply, in the byte order of `session`.
 *
 * The stream copies the present state of `session`: events, their names, features, the clock.  So
 * `session` may be closed at once; it may also be the session of another stream.  Records of tools
 * (EVENT_UPDATE …) change only the copy, perfile_stream_session().
 *
 * The stream has the form of a file without sections: its facts do not come from records.  `offset`
 * of a record is the number of bytes supplied before it.  Records are valid until the next call on
 * the stream and never copied.  A record with a size below 8, or one that extends past the end of
 * its span, is damage, as in a file that is cut there.  With on_damage STOP the stream ends there:
 * the rest of the span counts as lost, and `next` is not called again.  Otherwise the bytes up to
 * the next plausible record of the span are lost.
 *
 * `options` may be NULL; `from` and `waiting` have no effect.  `name` is for messages and is
 * copied; it may be NULL.  On success the stream owns `user` in the sense that it calls `close`; on
 * failure it touches nothing of it.  PERFILE_E_USAGE: no callback, no session, a `size` that is 0,
 * or options.assume; PERFILE_E_NOMEM; PERFILE_E_LIMIT. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_stream_callback(
    const perfile_stream_callbacks *callbacks, const char *name, const perfile_session *session,
    const perfile_open_options *options, perfile_stream **stream, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif

/* A stream without bytes that mean nothing. */
#ifndef PERFILE_SCRUB_H
#define PERFILE_SCRUB_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Puts a stage on `below` that yields its records with zeros in place of bytes that mean nothing:
 *
 * - copies of user stacks behind dyn_size, where the kernel leaves what its ring buffer had before:
 *   bytes of other processes, up to half of such a capture;
 * - what is behind the NUL of a string, up to the end of its field;
 * - padding between fields (PERFILE_FIELD_PAD).
 *
 * No size changes, and no field but those copies.  Bytes behind the last field that is known,
 * trailers and what lies behind a record stay as they are.  So do records that cannot be read,
 * unknown types, compressed records (what is in them is yielded by itself, scrubbed), and fragments
 * with the record that is joined from them.  Session, container and offsets are those of the input.
 *
 * *stream owns `below` from success on.  On failure, which is PERFILE_E_NOMEM, `below` stays the
 * caller's. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_scrub(perfile_stream *below,
                                                          perfile_stream **stream,
                                                          perfile_error *err);

/* What was zeroed so far. */
typedef struct perfile_scrub_summary {
    uint64_t records; /* that have other bytes than in the input */
    uint64_t bytes;   /* of them that were not 0 */
    uint64_t reserved[6];
} perfile_scrub_summary;

/* Fills the first `size` bytes of *out; zeros when `stream` is no such stage. */
PERFILE_API void perfile_scrub_get_summary(const perfile_stream *stream, perfile_scrub_summary *out,
                                           size_t size);

#ifdef __cplusplus
}
#endif

#endif

/* Scrubbing: a stage that replaces meaningless bytes in records with zeros. */
#ifndef PERFILE_SCRUB_H
#define PERFILE_SCRUB_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Puts a stage on `below` that yields its records with these bytes set to zero:
 *
 * - the copy of a user stack after dyn_size, where the kernel leaves old content of its ring
 *   buffer: bytes of other processes, up to half of such a capture;
 * - the rest of a string's field after the NUL;
 * - padding between fields (PERFILE_FIELD_PAD).
 *
 * Sizes do not change, nor do field values other than these stack copies.  Bytes after the last
 * known field, trailers and bytes after a record stay as they are.  So do unreadable records,
 * unknown types, compressed records (their content is yielded separately, scrubbed), and fragments
 * with the record that is joined from them.  Session, container and offsets are those of the input.
 *
 * *stream owns `below` on success.  On failure, which is PERFILE_E_NOMEM, the caller still owns it.
 */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_scrub(perfile_stream *below,
                                                          perfile_stream **stream,
                                                          perfile_error *err);

/* Counts of zeroed bytes so far. */
typedef struct perfile_scrub_summary {
    uint64_t records; /* records that differ from the input */
    uint64_t bytes;   /* their bytes that were not 0 before */
    uint64_t reserved[6];
} perfile_scrub_summary;

#ifndef PERFILE_DECLARATIONS
/* Fills the first `size` bytes of *out; zeros if `stream` is not such a stage. */
static inline void perfile_scrub_get_summary(const perfile_stream *stream,
                                             perfile_scrub_summary *out, size_t size)
{
    perfile_summary(PERFILE_SUMMARY_SCRUB, stream, out, size);
}
#endif

#ifdef __cplusplus
}
#endif

#endif

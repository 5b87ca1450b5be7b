/* Byte-swapping: a stage that yields a stream in the other byte order. */
#ifndef PERFILE_BYTESWAP_H
#define PERFILE_BYTESWAP_H

#include "stream.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Set `size`; zeros are the defaults. */
typedef struct perfile_byteswap_options {
    size_t size;
    /* Called for each record, feature (`r` is NULL) or event (both are NULL) that was not
     * byte-swapped completely.  `why` has the reason.  PERFILE_E_UNSUPPORTED: no table describes
     * it, and its bytes stay as stored.  Otherwise it is damaged and was byte-swapped up to the
     * damage, so that a reader finds the same damage.  Return PERFILE_OK to continue; any other
     * status ends the stream with `why`.  NULL: always continue. */
    perfile_status (*kept)(void *user, const perfile_record *r, const perfile_feature *f,
                           const perfile_error *why);
    void *user;
    uint64_t reserved[4];
} perfile_byteswap_options;

/* Puts a stage on `below` that yields its records in `byte_order` (PERFILE_BYTE_ORDER_LITTLE or
 * BIG).  Every field is byte-swapped by the tables.  The stage has its own session with events, ids
 * and features in that order, too.  Bytes of RAW, AUX and stacks, padding, trailing bytes and
 * TRACING_DATA (which names its own byte order) stay as they are.  Offsets and container are those
 * of the input.
 *
 * *stream owns `below` on success; it is `below` itself if that already has this byte order.  On
 * failure the caller still owns `below`. */
PERFILE_API PERFILE_MUST_USE perfile_status perfile_byteswap(
    perfile_stream *below, uint32_t byte_order, const perfile_byteswap_options *options,
    perfile_stream **stream, perfile_error *err);

#ifdef __cplusplus
}
#endif

#endif

/* A source that gives its bytes in pieces of changing sizes, as a pipe does. */
#ifndef TESTS_DRIPPING_H
#define TESTS_DRIPPING_H

#include <errno.h>
#include <string.h>

#include "perfile/source.h"

typedef struct dripping {
    perfile_bytes bytes;
    size_t at;
    size_t most;    /* bytes at a time */
    uint64_t state; /* of the sequence of sizes */
} dripping;

static inline int64_t dripping_read(void *user, void *buf, size_t len)
{
    dripping *d = user;
    d->state = d->state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    size_t n = 1 + (size_t)(d->state >> 33) % d->most;
    if (n > len)
        n = len;
    if (n > d->bytes.len - d->at)
        n = d->bytes.len - d->at;
    if (n)
        memcpy(buf, d->bytes.ptr + d->at, n);
    d->at += n;
    return (int64_t)n;
}

static inline int dripping_seek(void *user, uint64_t offset)
{
    dripping *d = user;
    if (offset > d->bytes.len)
        return -EINVAL;
    d->at = (size_t)offset;
    return 0;
}

static inline perfile_status dripping_open(dripping *d, bool seekable,
                                           const perfile_source_options *options,
                                           perfile_source **source, perfile_error *err)
{
    perfile_source_callbacks c = {.size = sizeof c,
                                  .user = d,
                                  .read = dripping_read,
                                  .seek = seekable ? dripping_seek : NULL,
                                  .total = seekable ? d->bytes.len : 0};
    return perfile_source_callback(&c, "dripping", options, source, err);
}

#endif

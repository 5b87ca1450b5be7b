/* The toy format: a header of 16 bytes, then records until the end of the file. */
#ifndef PF_TOY_TOY_H
#define PF_TOY_TOY_H

#include "base/byte_order.h"
#include "core/driver.h"
#include "schema/rows.h"

enum {
    TOY_HEADER = 16,       /* "TOYTRACE", u16 1, zeros */
    TOY_VERSION_AT = 8,    /* in the byte order of the capture */
    TOY_RECORD_HEADER = 4, /* u16 type, u16 size, which counts the header */
    TOY_SIZE_AT = 2,
    TOY_RECORD_MOST = UINT16_MAX
};
#define TOY_MAGIC "TOYTRACE"

/* Type TOY_TYPE_TIME as perfile knows it. */
#define TOY_TYPE_TIME PF_TYPE_IN(toy, 1)

perfile_status toy_create(perfile_sink *sink, const perfile_writer_options *options,
                          perfile_writer **writer, perfile_error *err);

/* The time that a TOY_TYPE_TIME record says; its body has at least 6 bytes. */
static inline uint64_t toy_time(const perfile_record *r)
{
    bool swap = r->flags & PERFILE_REC_SWAPPED;
    return (uint64_t)pf_load_u16(r->body.ptr, swap) << 32 |
           (uint64_t)pf_load_u16(r->body.ptr + 2, swap) << 16 | pf_load_u16(r->body.ptr + 4, swap);
}

#endif

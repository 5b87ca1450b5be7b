/* Framing: the header of a record, and the bytes that follow a record without being part of its
 * size. */
#ifndef PF_SCHEMA_FRAME_H
#define PF_SCHEMA_FRAME_H

#include "base/cursor.h"
#include "perfile/abi.h"
#include "schema/family.h"

/* Decodes the header at `p` (8 bytes) of a record of perf's own family.  simpleperf's types have
 * the two halves of a 32-bit size in place of misc and size. */
static inline pf_frame pf_frame_at(const uint8_t *p, bool swap)
{
    pf_frame f;
    f.type = pf_load_u32(p, swap);
    f.misc = pf_load_u16(p + 4, swap);
    f.size = pf_load_u16(p + 6, swap);
    if (pf_type_is_wide(f.type)) {
        f.size |= (uint32_t)f.misc << 16;
        f.misc = 0;
    }
    return f;
}

/* How many bytes follow the record at `rec` without being part of its size (AUXTRACE,
 * HEADER_TRACING_DATA). `f` is its header; the record is complete. */
static inline uint64_t pf_frame_extra(const uint8_t *rec, const pf_frame *f, bool swap)
{
    const pf_row *row = f->type < PERFILE_RECORD_USER ? NULL : pf_record_row(f->type);
    if (!row)
        return 0;
    if (row->marks & PF_ROW_BEHIND && f->size >= 16)
        return pf_load_u64(rec + 8, swap);
    if (row->marks & PF_ROW_BEHIND_PADDED && f->size >= 12) {
        uint32_t n = pf_load_u32(rec + 8, swap);
        return n <= f->size - 12 ? 0 : ((uint64_t)n + 7) & ~UINT64_C(7);
    }
    return 0;
}

/* Decodes the header of a record of any family; not of PERFILE_FAMILY_DAMAGE. */
static inline pf_frame pf_frame_of(uint8_t family, const uint8_t *p, bool swap)
{
    const pf_family *f = pf_family_of(family);
    if (family == PERFILE_FAMILY_PERF || !f)
        return pf_frame_at(p, swap);
    return f->frame_at(p, swap);
}

#endif

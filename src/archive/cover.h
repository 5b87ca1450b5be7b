/* Which bytes of the parts of captures the chunks of an archive hold: holes, and bytes that are
 * there twice. */
#ifndef PF_ARCHIVE_COVER_H
#define PF_ARCHIVE_COVER_H

#include "archive/list.h"

/* Bytes of a part. */
typedef struct pf_cover_range {
    uint16_t source, part;
    uint64_t offset, bytes;
    uint32_t chunk; /* bytes that are there twice: the chunk that stands behind in the archive … */
    uint32_t other; /* … and the one in front */
} pf_cover_range;

typedef void pf_cover_fn(void *user, const pf_cover_range *range);

/* Calls `twice` for chunks that hold bytes of another one.  leave_out[] has an item for each chunk
 * of a->table: chunks with true are passed over, and those that were told become true. */
perfile_status pf_cover_twice(const perfile_archive *a, bool *leave_out, pf_cover_fn *twice,
                              void *user, perfile_error *err);

/* Calls `hole` for bytes that no chunk holds, up to the size of the part if the metadata say it;
 * chunks with leave_out[] (may be NULL) do not count. */
perfile_status pf_cover_holes(perfile_archive *a, const bool *leave_out, pf_cover_fn *hole,
                              void *user, perfile_error *err);

#endif

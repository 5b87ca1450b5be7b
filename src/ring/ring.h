/* The inside of perfile_ring. */
#ifndef PF_RING_RING_H
#define PF_RING_RING_H

#include "perfile/damage.h"
#include "perfile/ring.h"
#include "ring/page.h"

/* A reader of one area: positions count bytes since the buffer was made and never wrap to the size
 * of the area.
 *
 * Handed out and not released is [released, position), in overwrite mode towards older records.
 * It is never longer than the area, so that at most one record in it wraps: one scratch is enough.
 */
struct perfile_ring {
    void *page;
    perfile_bytes data;
    const perfile_session *session;
    uint32_t mode;
    bool stop_is_cut; /* overwrite: the record at `stop` is partly overwritten */
    uint64_t position;
    uint64_t released;
    uint64_t stop;   /* overwrite: where the snapshot ends */
    uint64_t newest; /* overwrite: where the last snapshot began */
    uint64_t *scratch;
    perfile_record record;
    perfile_ring_summary summary;
    perfile_bytes aux;
    bool aux_overwrite;
    uint64_t aux_position;
    uint64_t aux_released;
};

typedef struct pf_ring_header {
    uint32_t type;
    uint16_t misc;
    uint16_t size;
} pf_ring_header;

/* The two pieces of [at, at + n) of an area, n at most its length. */
static inline void pf_ring_pieces(perfile_bytes area, uint64_t at, uint64_t n,
                                  perfile_bytes spans[2])
{
    size_t from = (size_t)(at & (area.len - 1));
    size_t first = area.len - from;
    if (first > n)
        first = (size_t)n;
    spans[0] = (perfile_bytes){area.ptr + from, first};
    spans[1] = (perfile_bytes){area.ptr, (size_t)n - first};
}

/* Gives a failure its name, and the status that goes with it. */
perfile_status pf_ring_damage(perfile_error *err, unsigned damage);

/* How many bytes are there from `position` on: PERFILE_OK and at least 8, PERFILE_END, or damage,
 * after which reading is set behind it. */
perfile_status pf_ring_ready(perfile_ring *ring, uint64_t *n, perfile_error *err);

/* The header at `at`, `n` bytes being there.  PERFILE_E_CORRUPT: its size cannot be.  PERFILE_END:
 * the record that is partly overwritten. */
perfile_status pf_ring_look(const perfile_ring *ring, uint64_t at, uint64_t n,
                            pf_ring_header *header);

/* Damage: the record at `position` has a size that cannot be. */
perfile_status pf_ring_bad_size(perfile_ring *ring, unsigned size, uint64_t n, perfile_error *err);

/* Overwrite mode: whether what lies in front of `end` was overwritten since the snapshot. */
bool pf_ring_is_torn(const perfile_ring *ring, uint64_t end);

#endif

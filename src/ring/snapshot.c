/* Overwrite mode (attr.write_backward): the kernel writes from high addresses to low ones and never
 * waits, so that data_head is always the newest record.  A snapshot fixes the range that can be
 * read now. */
#include "base/error.h"
#include "ring/ring.h"

perfile_status perfile_ring_snapshot(perfile_ring *ring, bool only_new, perfile_error *err)
{
    if (ring->mode != PERFILE_RING_OVERWRITE)
        return pf_fail(err, PERFILE_E_USAGE, "ring.mode", "snapshots are for overwrite mode");
    uint64_t head = pf_page_u64(ring->page, PF_PAGE_DATA_HEAD);
    if (head % 8) {
        ring->position = ring->released = ring->snapshot_end = head;
        ring->summary.damages++;
        pf_fail(err, PERFILE_E_CORRUPT, "ring.data_head", "data_head %llu is not a multiple of 8",
                (unsigned long long)head);
        pf_error_at(err, head);
        return pf_ring_damage(err, PERFILE_DAMAGE_BAD_SIZE);
    }
    /* data_head starts at 0 and decreases (modulo 2^64): 0 - head bytes were written so far. */
    uint64_t written = 0 - head, since = ring->snapshot_begin - head;
    uint64_t n = only_new && since < written ? since : written;
    ring->last_is_cut = n > ring->data.len;
    if (ring->last_is_cut)
        n = ring->data.len;
    ring->position = ring->released = ring->snapshot_begin = head;
    ring->snapshot_end = head + n;
    return PERFILE_OK;
}

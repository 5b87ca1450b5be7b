/* Overwrite mode: the writer goes from high addresses to low ones and never waits. */
#include "base/error.h"
#include "ring/ring.h"

perfile_status perfile_ring_snapshot(perfile_ring *ring, bool only_new, perfile_error *err)
{
    if (ring->mode != PERFILE_RING_OVERWRITE)
        return pf_fail(err, PERFILE_E_USAGE, "ring.mode", "snapshots are for overwrite mode");
    uint64_t head = pf_page_u64(ring->page, PF_PAGE_DATA_HEAD);
    if (head % 8) {
        ring->position = ring->released = ring->stop = head;
        ring->summary.damages++;
        pf_fail(err, PERFILE_E_CORRUPT, "ring.data_head", "data_head %llu is not a multiple of 8",
                (unsigned long long)head);
        pf_error_at(err, head);
        return pf_ring_damage(err, PERFILE_DAMAGE_BAD_SIZE);
    }
    /* The head began at 0: what it is below that was written. */
    uint64_t written = 0 - head, since = ring->newest - head;
    uint64_t n = only_new && since < written ? since : written;
    ring->stop_is_cut = n > ring->data.len;
    if (ring->stop_is_cut)
        n = ring->data.len;
    ring->position = ring->released = ring->newest = head;
    ring->stop = head + n;
    return PERFILE_OK;
}

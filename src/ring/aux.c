/* The AUX area: trace data without records.  AUX records in the data area announce it by offset and
 * size.
 *
 * As in the data area, positions count up and never wrap.  The kernel writes only to free space and
 * so never overtakes aux_tail.  In overwrite mode (aux_overwrite) it wraps around and overwrites
 * old data, and the area is read by snapshots. */
#include "base/error.h"
#include "ring/ring.h"

/* Returns PERFILE_E_USAGE unless the ring has an AUX area of that kind. */
static perfile_status need_area(const perfile_ring *ring, bool overwrite, perfile_error *err)
{
    if (!ring->aux.len)
        return pf_fail(err, PERFILE_E_USAGE, "ring.aux", "the ring has no AUX area");
    if (ring->aux_overwrite != overwrite)
        return pf_fail(err, PERFILE_E_USAGE, "ring.aux_overwrite",
                       overwrite ? "a snapshot needs an AUX area in overwrite mode"
                                 : "an AUX area in overwrite mode has no end: take a snapshot");
    return PERFILE_OK;
}

static uint64_t aux_head(const perfile_ring *ring)
{
    return pf_page_u64(ring->page, PF_PAGE_AUX_HEAD);
}

static perfile_status take(perfile_ring *ring, perfile_bytes spans[2], uint64_t *offset,
                           perfile_error *err)
{
    perfile_status st = need_area(ring, false, err);
    if (st != PERFILE_OK)
        return st;
    uint64_t head = aux_head(ring), at = ring->aux_position;
    if (head == at)
        return PERFILE_END;
    /* The kernel stops at aux_tail: a head that is further ahead is impossible or an overrun. */
    if (head - at > ring->aux.len || head - ring->aux_released > ring->aux.len) {
        ring->aux_position = ring->aux_released = head;
        ring->summary.overruns++;
        pf_fail(err, PERFILE_E_CORRUPT, "ring.aux_head",
                "aux_head %llu is too far from the reader at %llu for %zu bytes",
                (unsigned long long)head, (unsigned long long)at, ring->aux.len);
        pf_error_at(err, at);
        return pf_ring_damage(err, PERFILE_DAMAGE_OVERRUN);
    }
    pf_ring_spans(ring->aux, at, head - at, spans);
    ring->aux_position = head;
    if (offset)
        *offset = at;
    return PERFILE_OK;
}

/* Reports damage: an AUX record refers to bytes that are not in the area, or were released already.
 */
static perfile_status report_outside(perfile_error *err, uint64_t offset, uint64_t size,
                                     size_t area)
{
    pf_fail(err, PERFILE_E_CORRUPT, "aux.aux_offset",
            "%llu bytes at %llu are not in the AUX area of %zu bytes (any more)",
            (unsigned long long)size, (unsigned long long)offset, area);
    pf_error_at(err, offset);
    return pf_ring_damage(err, PERFILE_DAMAGE_OUT_OF_BOUNDS);
}

/* `start` and `available` count from aux_released, so that comparisons are right although positions
 * wrap modulo 2^64. */
static perfile_status take_range(perfile_ring *ring, uint64_t offset, uint64_t size,
                                 perfile_bytes spans[2], perfile_error *err)
{
    perfile_status st = need_area(ring, ring->aux_overwrite, err);
    if (st != PERFILE_OK)
        return st;
    uint64_t length = ring->aux.len;
    if (size > length)
        return report_outside(err, offset, size, ring->aux.len);
    if (!ring->aux_overwrite) {
        uint64_t head = aux_head(ring);
        uint64_t start = offset - ring->aux_released, available = head - ring->aux_released;
        if (start > length || start + size > length || available > length)
            return report_outside(err, offset, size, ring->aux.len);
        if (start + size > available)
            return PERFILE_END; /* announced, but not written yet */
        if (start + size > ring->aux_position - ring->aux_released)
            ring->aux_position = offset + size;
    }
    pf_ring_spans(ring->aux, offset, size, spans);
    return PERFILE_OK;
}

static perfile_status take_all(perfile_ring *ring, perfile_bytes spans[2], perfile_error *err)
{
    perfile_status st = need_area(ring, true, err);
    if (st == PERFILE_OK)
        pf_ring_spans(ring->aux, aux_head(ring), ring->aux.len, spans);
    return st;
}

perfile_status perfile_ring_aux(perfile_ring *ring, uint32_t what, uint64_t *offset, uint64_t size,
                                perfile_bytes spans[2], perfile_error *err)
{
    switch (what) {
    case PERFILE_RING_AUX_NEW:
        return take(ring, spans, offset, err);
    case PERFILE_RING_AUX_RANGE:
        return take_range(ring, *offset, size, spans, err);
    case PERFILE_RING_AUX_ALL:
        return take_all(ring, spans, err);
    default:
        return pf_fail(err, PERFILE_E_USAGE, "ring.aux", "an AUX area has no part %u",
                       (unsigned)what);
    }
}

void perfile_ring_aux_release(perfile_ring *ring)
{
    if (!ring->aux.len || ring->aux_overwrite)
        return;
    ring->aux_released = ring->aux_position;
    pf_page_store(ring->page, PF_PAGE_AUX_TAIL, ring->aux_position);
}

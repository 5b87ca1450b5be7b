/* Opening and closing a ring; how much can be read; what happens if the shared memory is
 * impossible.
 *
 * Nothing in the shared memory is trusted: the kernel, or another process that maps it, may write
 * anything at any time.  Each number is loaded once, atomically, and checked before it is used.
 * Damage means that record boundaries are lost, so nothing up to data_head can be trusted: reading
 * continues there, and the bytes in between are counted as lost. */
#include "ring/ring.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/options.h"
#include "base/command.h"
#include "ring/command.h"

/* The size field of a record header has 16 bits. */
enum { MAX_RECORD = 1 << 16 };

/* Returns true if `area` can be a data or AUX area: it is aligned to 8 bytes, and its length is a
 * power of two. */
static bool is_area(perfile_bytes area)
{
    return area.ptr && (uintptr_t)area.ptr % 8 == 0 && area.len >= 8 &&
           (area.len & (area.len - 1)) == 0;
}

static perfile_status check_options(const perfile_ring_options *o, perfile_error *err)
{
    if (!o->page || (uintptr_t)o->page % 8 || o->page_bytes < PERFILE_RING_PAGE_BYTES)
        return pf_fail(err, PERFILE_E_USAGE, "ring.page",
                       "a control page has at least %d bytes and is aligned to 8",
                       PERFILE_RING_PAGE_BYTES);
    if (!is_area(o->data))
        return pf_fail(
            err, PERFILE_E_USAGE, "ring.data",
            "%zu bytes: a data area is a power of two of bytes, at least 8, aligned to 8",
            o->data.len);
    if (o->aux.len && !is_area(o->aux))
        return pf_fail(
            err, PERFILE_E_USAGE, "ring.aux",
            "%zu bytes: an AUX area is a power of two of bytes, at least 8, aligned to 8",
            o->aux.len);
    if (o->mode > PERFILE_RING_OVERWRITE)
        return pf_fail(err, PERFILE_E_USAGE, "ring.mode", "mode %u is unknown: needs 0 to %u",
                       o->mode, (unsigned)PERFILE_RING_OVERWRITE);
    return PERFILE_OK;
}

/* Returns where reading begins.  Forward: the tail, where the last reader stopped.  Read-only: the
 * first record if it still exists, otherwise the current end.  Overwrite: 0, nothing can be read
 * before perfile_ring_snapshot(). */
static uint64_t first_position(const perfile_ring *ring)
{
    uint64_t head;
    switch (ring->mode) {
    case PERFILE_RING_FORWARD:
        return pf_page_u64(ring->page, PF_PAGE_DATA_TAIL);
    case PERFILE_RING_READ_ONLY:
        head = pf_page_u64(ring->page, PF_PAGE_DATA_HEAD);
        return head <= ring->data.len ? 0 : head;
    default:
        return 0;
    }
}

perfile_status perfile_ring_open(const perfile_ring_options *given, perfile_ring **ring,
                                 perfile_error *err)
{
    perfile_ring_options o;
    perfile_status st = pf_options_copy(&o, given, "ring.options", err);
    if (st == PERFILE_OK)
        st = check_options(&o, err);
    if (st != PERFILE_OK)
        return st;
    perfile_ring *r = pf_alloc(1, sizeof *r);
    uint64_t *scratch = pf_alloc(1, o.data.len < MAX_RECORD ? o.data.len : MAX_RECORD);
    if (!r || !scratch) {
        pf_free(r);
        pf_free(scratch);
        return pf_fail_nomem(err, "ring");
    }
    r->page = o.page;
    r->data = o.data;
    r->session = o.session;
    r->mode = o.mode;
    r->scratch = scratch;
    r->position = r->released = first_position(r);
    r->aux = o.aux;
    r->aux_overwrite = o.aux_overwrite;
    r->aux_position = r->aux_released = o.aux.len ? pf_page_u64(r->page, PF_PAGE_AUX_TAIL) : 0;
    *ring = r;
    return PERFILE_OK;
}

void perfile_ring_close(perfile_ring *ring)
{
    if (!ring)
        return;
    pf_free(ring->scratch);
    pf_free(ring);
}

void pf_ring_get_summary(const perfile_ring *ring, perfile_ring_summary *out, size_t size)
{
    memcpy(out, &ring->summary, size < sizeof *out ? size : sizeof *out);
}

perfile_status pf_ring_damage(perfile_error *err, unsigned damage)
{
    if (err)
        err->damage = (uint16_t)damage;
    return pf_damage_status(damage);
}

/* Reports `damage` at `at` and makes `resume_at` the next position: nothing in between can be
 * trusted.  The caller has set the message of `err`. */
static perfile_status skip_damage(perfile_ring *ring, uint64_t at, uint64_t resume_at,
                                  unsigned damage, perfile_error *err)
{
    perfile_ring_summary *sum = &ring->summary;
    /* A head before the reader's position means that the control page was overwritten: the loss is
     * unknown. */
    uint64_t lost = resume_at - at <= INT64_MAX ? resume_at - at : 0;
    if (pf_add_u64(sum->lost_bytes, lost, &sum->lost_bytes))
        sum->lost_bytes = UINT64_MAX;
    sum->overruns += damage == PERFILE_DAMAGE_OVERRUN;
    sum->damages += damage != PERFILE_DAMAGE_OVERRUN;
    ring->position = resume_at;
    if (ring->mode != PERFILE_RING_OVERWRITE)
        ring->released = resume_at;
    pf_error_at(err, at);
    return pf_ring_damage(err, damage);
}

/* Reports an impossible data_head: further ahead of the reader than the length of the area, or
 * before the reader. */
static perfile_status report_overrun(perfile_ring *ring, uint64_t head, perfile_error *err)
{
    uint64_t at = ring->position, ahead = head - at;
    if (ahead > INT64_MAX) { /* a negative difference modulo 2^64: the head moved backward */
        pf_fail(err, PERFILE_E_CORRUPT, "ring.data_head",
                "data_head %llu is before the reader at %llu", (unsigned long long)head,
                (unsigned long long)at);
        return skip_damage(ring, at, head, PERFILE_DAMAGE_BAD_SIZE, err);
    }
    pf_fail(
        err, PERFILE_E_CORRUPT, "ring.data_head",
        "data_head %llu is too far from the reader at %llu for %zu bytes of data: %llu bytes are "
        "lost",
        (unsigned long long)head, (unsigned long long)at, ring->data.len,
        (unsigned long long)ahead);
    return skip_damage(ring, at, head, PERFILE_DAMAGE_OVERRUN, err);
}

/* Returns true if `head` is too far ahead.  In forward mode the kernel stops at the tail, so
 * everything not released must still be there.  In read-only mode only the bytes not read yet must
 * be. */
static bool is_overrun(const perfile_ring *ring, uint64_t head)
{
    if (head - ring->position > ring->data.len)
        return true;
    return ring->mode == PERFILE_RING_FORWARD && head - ring->released > ring->data.len;
}

bool pf_ring_is_torn(const perfile_ring *ring, uint64_t end)
{
    return end - pf_page_u64(ring->page, PF_PAGE_DATA_HEAD) > ring->data.len;
}

/* pf_ring_ready() for overwrite mode. */
static perfile_status snapshot_ready(perfile_ring *ring, uint64_t *n, perfile_error *err)
{
    uint64_t left = ring->snapshot_end - ring->position; /* towards older records */
    if (left == 0)
        return PERFILE_END;
    if (pf_ring_is_torn(ring, ring->snapshot_end)) {
        pf_fail(err, PERFILE_E_CORRUPT, "ring.data_head",
                "the output was not paused: the last %llu bytes of the snapshot are overwritten",
                (unsigned long long)left);
        return skip_damage(ring, ring->position, ring->snapshot_end, PERFILE_DAMAGE_OVERRUN, err);
    }
    *n = left;
    return PERFILE_OK;
}

perfile_status pf_ring_ready(perfile_ring *ring, uint64_t *n, perfile_error *err)
{
    if (ring->mode == PERFILE_RING_OVERWRITE)
        return snapshot_ready(ring, n, err);
    uint64_t head = pf_page_u64(ring->page, PF_PAGE_DATA_HEAD);
    if (head == ring->position)
        return PERFILE_END;
    if (is_overrun(ring, head))
        return report_overrun(ring, head, err);
    if ((head | ring->position) % 8) { /* all records are multiples of 8 bytes */
        pf_fail(err, PERFILE_E_CORRUPT, "ring.data_head",
                "data_head %llu and the reader at %llu are not both multiples of 8",
                (unsigned long long)head, (unsigned long long)ring->position);
        return skip_damage(ring, ring->position, head, PERFILE_DAMAGE_BAD_SIZE, err);
    }
    *n = head - ring->position;
    return PERFILE_OK;
}

perfile_status pf_ring_header_at(const perfile_ring *ring, uint64_t at, uint64_t n,
                                 pf_ring_header *header)
{
    /* One 64-bit load: a header that is being changed is read as the old one or the new one. */
    const uint8_t *p = ring->data.ptr + (at & (ring->data.len - 1));
    uint64_t word = __atomic_load_n((const uint64_t *)(const void *)p, __ATOMIC_ACQUIRE);
    memcpy(header, &word, sizeof word);
    bool aligned = header->size % 8 == 0;
    if (aligned && header->size >= 8 && header->size <= n)
        return PERFILE_OK;
    /* In a full area the oldest record is partly overwritten: `n` ends inside it. */
    if (aligned && header->size <= ring->data.len && ring->last_is_cut)
        return PERFILE_END;
    return PERFILE_E_CORRUPT;
}

perfile_status pf_ring_bad_size(perfile_ring *ring, unsigned size, uint64_t n, perfile_error *err)
{
    uint64_t resume_at = ring->snapshot_end;
    if (ring->mode != PERFILE_RING_OVERWRITE) {
        /* If the kernel has overwritten the record in the meantime, that is the cause. */
        resume_at = pf_page_u64(ring->page, PF_PAGE_DATA_HEAD);
        if (is_overrun(ring, resume_at))
            return report_overrun(ring, resume_at, err);
    }
    pf_fail(
        err, PERFILE_E_CORRUPT, "record.size",
        "size %u: must be a multiple of 8, at least 8 and at most the %llu bytes that are there",
        size, (unsigned long long)n);
    return skip_damage(ring, ring->position, resume_at, PERFILE_DAMAGE_BAD_SIZE, err);
}

perfile_status perfile_ring_release(perfile_ring *ring, perfile_error *err)
{
    uint64_t from = ring->released;
    ring->released = ring->position;
    /* Only in forward mode does the kernel respect the tail.  In the other modes, a release is the
     * last chance to notice that records were overwritten while the caller used them. */
    if (ring->mode == PERFILE_RING_FORWARD) {
        pf_page_store(ring->page, PF_PAGE_DATA_TAIL, ring->position);
        return PERFILE_OK;
    }
    if (from == ring->position)
        return PERFILE_OK;
    uint64_t head = pf_page_u64(ring->page, PF_PAGE_DATA_HEAD);
    bool torn = ring->mode == PERFILE_RING_OVERWRITE ? pf_ring_is_torn(ring, ring->position)
                                                     : head - from > ring->data.len;
    if (!torn)
        return PERFILE_OK;
    ring->summary.overruns++;
    pf_fail(err, PERFILE_E_CORRUPT, "ring.data_head",
            "data_head %llu: the %llu bytes from %llu on were overwritten while they were in use",
            (unsigned long long)head, (unsigned long long)(ring->position - from),
            (unsigned long long)from);
    pf_error_at(err, from);
    return pf_ring_damage(err, PERFILE_DAMAGE_OVERRUN);
}

/* Overwrite mode (attr.write_backward): the kernel writes from high addresses to low ones and never
 * waits, so data_head is always the start of the newest record.  A snapshot fixes the range that
 * can be read. */

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

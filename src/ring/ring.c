/* Opening and closing, what is ready, and what is wrong with it. */
#include "ring/ring.h"

#include <string.h>

#include "base/alloc.h"
#include "base/checked.h"
#include "base/error.h"
#include "base/options.h"

/* The size of a record has 16 bits. */
enum { MOST_RECORD = 1 << 16 };

static bool is_area(perfile_bytes area)
{
    return area.ptr && (uintptr_t)area.ptr % 8 == 0 && area.len >= 8 &&
           (area.len & (area.len - 1)) == 0;
}

static perfile_status check(const perfile_ring_options *o, perfile_error *err)
{
    if (!o->page || (uintptr_t)o->page % 8 || o->page_bytes < PERFILE_RING_PAGE_BYTES)
        return pf_fail(err, PERFILE_E_USAGE, "ring.page",
                       "a control page is %d bytes and more, aligned to 8",
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
        return pf_fail(err, PERFILE_E_USAGE, "ring.mode", "there is no mode %u", o->mode);
    return PERFILE_OK;
}

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
    perfile_status st = pf_options_take(&o, sizeof o, given, "ring.options", err);
    if (st == PERFILE_OK)
        st = check(&o, err);
    if (st != PERFILE_OK)
        return st;
    perfile_ring *r = pf_alloc(1, sizeof *r);
    uint64_t *scratch = pf_alloc(1, o.data.len < MOST_RECORD ? o.data.len : MOST_RECORD);
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

void perfile_ring_get_summary(const perfile_ring *ring, perfile_ring_summary *out, size_t size)
{
    memcpy(out, &ring->summary, size < sizeof *out ? size : sizeof *out);
}

perfile_status pf_ring_damage(perfile_error *err, unsigned damage)
{
    if (err)
        err->damage = (uint16_t)damage;
    return perfile_damage_status(damage);
}

/* Sets reading behind the damage at `at`: nothing from there to `go_on` can be trusted. */
static perfile_status pass_over(perfile_ring *ring, uint64_t at, uint64_t go_on, unsigned damage,
                                perfile_error *err)
{
    perfile_ring_summary *sum = &ring->summary;
    /* A head behind its reader is a page that was written over: nobody knows how much that lost. */
    uint64_t lost = go_on - at <= INT64_MAX ? go_on - at : 0;
    if (pf_add_u64(sum->lost_bytes, lost, &sum->lost_bytes))
        sum->lost_bytes = UINT64_MAX;
    sum->overruns += damage == PERFILE_DAMAGE_OVERRUN;
    sum->damages += damage != PERFILE_DAMAGE_OVERRUN;
    ring->position = go_on;
    if (ring->mode != PERFILE_RING_OVERWRITE)
        ring->released = go_on;
    pf_error_at(err, at);
    return pf_ring_damage(err, damage);
}

static perfile_status overrun(perfile_ring *ring, uint64_t head, perfile_error *err)
{
    uint64_t at = ring->position, ahead = head - at;
    if (ahead > INT64_MAX) {
        pf_fail(err, PERFILE_E_CORRUPT, "ring.data_head",
                "data_head %llu is behind the reader at %llu", (unsigned long long)head,
                (unsigned long long)at);
        return pass_over(ring, at, head, PERFILE_DAMAGE_BAD_SIZE, err);
    }
    pf_fail(
        err, PERFILE_E_CORRUPT, "ring.data_head",
        "data_head %llu is too far from the reader at %llu for %zu bytes of data: %llu bytes are "
        "lost",
        (unsigned long long)head, (unsigned long long)at, ring->data.len,
        (unsigned long long)ahead);
    return pass_over(ring, at, head, PERFILE_DAMAGE_OVERRUN, err);
}

/* The kernel keeps all that was not released, in read-only mode only what is within reach. */
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

static perfile_status ready_in_snapshot(perfile_ring *ring, uint64_t *n, perfile_error *err)
{
    uint64_t left = ring->stop - ring->position;
    if (left == 0)
        return PERFILE_END;
    if (pf_ring_is_torn(ring, ring->stop)) {
        pf_fail(err, PERFILE_E_CORRUPT, "ring.data_head",
                "the output was not paused: the last %llu bytes of the snapshot are overwritten",
                (unsigned long long)left);
        return pass_over(ring, ring->position, ring->stop, PERFILE_DAMAGE_OVERRUN, err);
    }
    *n = left;
    return PERFILE_OK;
}

perfile_status pf_ring_ready(perfile_ring *ring, uint64_t *n, perfile_error *err)
{
    if (ring->mode == PERFILE_RING_OVERWRITE)
        return ready_in_snapshot(ring, n, err);
    uint64_t head = pf_page_u64(ring->page, PF_PAGE_DATA_HEAD);
    if (head == ring->position)
        return PERFILE_END;
    if (is_overrun(ring, head))
        return overrun(ring, head, err);
    if ((head | ring->position) % 8) {
        pf_fail(err, PERFILE_E_CORRUPT, "ring.data_head",
                "data_head %llu and the reader at %llu are not both multiples of 8",
                (unsigned long long)head, (unsigned long long)ring->position);
        return pass_over(ring, ring->position, head, PERFILE_DAMAGE_BAD_SIZE, err);
    }
    *n = head - ring->position;
    return PERFILE_OK;
}

perfile_status pf_ring_look(const perfile_ring *ring, uint64_t at, uint64_t n,
                            pf_ring_header *header)
{
    /* One load, so that a header that changes under us is either the old one or the new. */
    const uint8_t *p = ring->data.ptr + (at & (ring->data.len - 1));
    uint64_t word = __atomic_load_n((const uint64_t *)(const void *)p, __ATOMIC_ACQUIRE);
    memcpy(header, &word, sizeof word);
    bool aligned = header->size % 8 == 0;
    if (aligned && header->size >= 8 && header->size <= n)
        return PERFILE_OK;
    if (aligned && header->size <= ring->data.len && ring->stop_is_cut)
        return PERFILE_END;
    return PERFILE_E_CORRUPT;
}

perfile_status pf_ring_bad_size(perfile_ring *ring, unsigned size, uint64_t n, perfile_error *err)
{
    uint64_t go_on = ring->stop;
    if (ring->mode != PERFILE_RING_OVERWRITE) {
        go_on = pf_page_u64(ring->page, PF_PAGE_DATA_HEAD);
        if (is_overrun(ring, go_on))
            return overrun(ring, go_on, err);
    }
    pf_fail(err, PERFILE_E_CORRUPT, "record.size",
            "size %u: needs a multiple of 8, at least 8 and at most the %llu bytes that are there",
            size, (unsigned long long)n);
    return pass_over(ring, ring->position, go_on, PERFILE_DAMAGE_BAD_SIZE, err);
}

perfile_status perfile_ring_release(perfile_ring *ring, perfile_error *err)
{
    uint64_t from = ring->released;
    ring->released = ring->position;
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

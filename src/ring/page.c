/* The numbers of the control page: how to read them consistently, clock conversion, counter values,
 * and the position of the data area.
 *
 * A sequence lock guards these numbers: they are valid if `lock` was even before all loads and is
 * unchanged after them (perf_event_mmap_page in uapi/linux/perf_event.h describes the
 * computations). */
#include "ring/page.h"

#include <string.h>

#include "base/checked.h"
#include "base/error.h"
#include "perfile/ring.h"
#include "ring/ring.h"
#include "perfile/abi.h"

/* An update by the kernel takes well under a microsecond; this many attempts take about a
 * millisecond. */
enum { ATTEMPTS = 1 << 20 };

static bool is_page(const void *page, size_t bytes)
{
    return page && (uintptr_t)page % 8 == 0 && bytes >= PERFILE_RING_PAGE_BYTES;
}

/* Loads all numbers once; the caller checks that `lock` has not changed. */
static perfile_ring_page load_page(const void *page, uint32_t lock)
{
    return (perfile_ring_page){
        .lock = lock,
        .version = pf_page_u32(page, PF_PAGE_VERSION),
        .compat_version = pf_page_u32(page, PF_PAGE_COMPAT_VERSION),
        .index = pf_page_u32(page, PF_PAGE_INDEX),
        .offset = pf_page_u64(page, PF_PAGE_OFFSET),
        .time_enabled = pf_page_u64(page, PF_PAGE_TIME_ENABLED),
        .time_running = pf_page_u64(page, PF_PAGE_TIME_RUNNING),
        .capabilities = pf_page_u64(page, PF_PAGE_CAPABILITIES),
        .pmc_width = pf_page_u16(page, PF_PAGE_PMC_WIDTH),
        .time_shift = pf_page_u16(page, PF_PAGE_TIME_SHIFT),
        .time_mult = pf_page_u32(page, PF_PAGE_TIME_MULT),
        .time_offset = pf_page_u64(page, PF_PAGE_TIME_OFFSET),
        .time_zero = pf_page_u64(page, PF_PAGE_TIME_ZERO),
        .time_cycles = pf_page_u64(page, PF_PAGE_TIME_CYCLES),
        .time_mask = pf_page_u64(page, PF_PAGE_TIME_MASK),
    };
}

perfile_status perfile_ring_page_read(const void *page, size_t bytes, perfile_ring_page *out,
                                      size_t size, perfile_error *err)
{
    if (!is_page(page, bytes))
        return pf_fail(err, PERFILE_E_USAGE, "ring.page",
                       "a control page has at least %d bytes and is aligned to 8",
                       PERFILE_RING_PAGE_BYTES);
    for (int i = 0; i < ATTEMPTS; i++) {
        uint32_t lock = pf_page_u32(page, PF_PAGE_LOCK);
        if (lock & 1)
            continue;
        perfile_ring_page p = load_page(page, lock);
        if (perfile_ring_page_unchanged(page, &p)) {
            memcpy(out, &p, size < sizeof p ? size : sizeof p);
            return PERFILE_OK;
        }
    }
    return pf_fail(err, PERFILE_E_CORRUPT, "ring.lock",
                   "the control page was being changed at each of %d attempts to read it",
                   ATTEMPTS);
}

bool perfile_ring_page_unchanged(const void *page, const perfile_ring_page *p)
{
    return pf_page_u32(page, PF_PAGE_LOCK) == p->lock;
}

/* Returns PERFILE_E_UNSUPPORTED unless the page has capability `bit`, called `name`. */
static perfile_status need_capability(const perfile_ring_page *p, uint64_t bit, const char *name,
                                      perfile_error *err)
{
    if (p->capabilities & bit)
        return PERFILE_OK;
    return pf_fail(err, PERFILE_E_UNSUPPORTED, "ring.capabilities",
                   "the control page has no %s (capabilities %#llx)", name,
                   (unsigned long long)p->capabilities);
}

/* Returns the conversion from cycles to ns in which cycle 0 is at time `zero`.  With
 * user_time_short the cycle counter is narrow; `cycles` and `mask` extend it. */
static perfile_clock clock_from(const perfile_ring_page *p, uint64_t zero)
{
    perfile_clock clock = {
        .has_conversion = true,
        .shift = p->time_shift,
        .mult = p->time_mult,
        .zero = zero,
    };
    if (p->capabilities & PERFILE_RING_USER_TIME_SHORT) {
        clock.is_short = true;
        clock.cycles = p->time_cycles;
        clock.mask = p->time_mask;
    }
    return clock;
}

perfile_status perfile_ring_page_clock(const perfile_ring_page *p, perfile_clock *clock,
                                       perfile_error *err)
{
    perfile_status st = need_capability(p, PERFILE_RING_USER_TIME, "user_time", err);
    if (st == PERFILE_OK)
        st = need_capability(p, PERFILE_RING_USER_TIME_ZERO, "user_time_zero", err);
    if (st == PERFILE_OK)
        *clock = clock_from(p, p->time_zero);
    return st;
}

/* With `time_offset` as the time of cycle 0, the conversion yields the ns since the kernel updated
 * the page.  They are to be added to time_enabled and time_running. */
static perfile_status delta_of(const perfile_ring_page *p, uint64_t cycles, uint64_t *delta,
                               perfile_error *err)
{
    perfile_status st = need_capability(p, PERFILE_RING_USER_TIME, "user_time", err);
    if (st != PERFILE_OK)
        return st;
    perfile_clock clock = clock_from(p, p->time_offset);
    return perfile_clock_time(&clock, cycles, delta, err);
}

static perfile_status count_of(const perfile_ring_page *p, uint64_t pmc, uint64_t *count,
                               perfile_error *err)
{
    if (p->index == 0) {
        *count = p->offset; /* the event is not on a counter now: `offset` is its whole value */
        return PERFILE_OK;
    }
    perfile_status st = need_capability(p, PERFILE_RING_USER_RDPMC, "user_rdpmc", err);
    if (st != PERFILE_OK)
        return st;
    if (p->pmc_width == 0 || p->pmc_width > 64)
        return pf_fail(err, PERFILE_E_CORRUPT, "ring.pmc_width", "pmc_width %u is not 1 to 64",
                       p->pmc_width);
    /* Sign-extends the counter's pmc_width bits, as the kernel requires. */
    uint64_t sign = UINT64_C(1) << (p->pmc_width - 1);
    uint64_t low = pmc & (sign | (sign - 1));
    *count = p->offset + ((low ^ sign) - sign);
    return PERFILE_OK;
}

perfile_status perfile_ring_page_value(const perfile_ring_page *p, uint32_t what, uint64_t in,
                                       uint64_t *out, perfile_error *err)
{
    switch (what) {
    case PERFILE_RING_PAGE_DELTA:
        return delta_of(p, in, out, err);
    case PERFILE_RING_PAGE_COUNT:
        return count_of(p, in, out, err);
    default:
        return pf_fail(err, PERFILE_E_USAGE, "ring.page", "a control page has no value %u",
                       (unsigned)what);
    }
}

perfile_status perfile_ring_find(const void *mapping, size_t bytes, size_t page_size,
                                 perfile_bytes *data, perfile_error *err)
{
    if (!is_page(mapping, bytes) || page_size < PERFILE_RING_PAGE_BYTES || page_size > bytes)
        return pf_fail(err, PERFILE_E_USAGE, "ring.page",
                       "%zu bytes with pages of %zu hold no control page", bytes, page_size);
    uint64_t offset = pf_page_u64(mapping, PF_PAGE_DATA_OFFSET);
    uint64_t size = pf_page_u64(mapping, PF_PAGE_DATA_SIZE);
    /* Kernels before 4.1 do not fill these fields: the data begins at the second page. */
    if (offset == 0)
        offset = page_size;
    if (size == 0)
        size = bytes - page_size;
    if (offset < PERFILE_RING_PAGE_BYTES || !pf_within(offset, size, bytes)) {
        pf_fail(err, PERFILE_E_CORRUPT, "ring.data_offset",
                "%llu bytes of data at %llu are not in the %zu bytes of the mapping",
                (unsigned long long)size, (unsigned long long)offset, bytes);
        return pf_ring_damage(err, PERFILE_DAMAGE_OUT_OF_BOUNDS);
    }
    if (offset % 8 || size < 8 || (size & (size - 1))) {
        pf_fail(err, PERFILE_E_CORRUPT, "ring.data_size",
                "%llu bytes of data at %llu: needs a power of two at a multiple of 8",
                (unsigned long long)size, (unsigned long long)offset);
        return pf_ring_damage(err, PERFILE_DAMAGE_BAD_SIZE);
    }
    *data = (perfile_bytes){(const uint8_t *)mapping + offset, (size_t)size};
    return PERFILE_OK;
}

/* Reading a ring: record by record, or as unparsed spans for a caller that only copies them.
 *
 * In forward and overwrite mode records are views of the shared memory.  Only records that wrap
 * around its end are copied.  In read-only mode the kernel may overwrite a record at any time, so
 * each record is copied first and then checked: it must still have been there. */

/* Copies in atomic 64-bit words, because the kernel may write the same words at the same time. */
static void copy_words(perfile_bytes from, uint64_t *to)
{
    for (size_t i = 0; i < from.len / 8; i++)
        to[i] = __atomic_load_n((const uint64_t *)(const void *)from.ptr + i, __ATOMIC_ACQUIRE);
}

/* Returns the `size` bytes of the record at `at`: a view of the data area if possible, otherwise
 * the copy in ring->scratch. */
static const uint8_t *contiguous_bytes(perfile_ring *ring, uint64_t at, size_t size)
{
    perfile_bytes span[2];
    pf_ring_spans(ring->data, at, size, span);
    ring->summary.wrapped += span[1].len != 0;
    if (ring->mode == PERFILE_RING_READ_ONLY) {
        copy_words(span[0], ring->scratch);
        copy_words(span[1], ring->scratch + span[0].len / 8);
    } else if (span[1].len) {
        memcpy(ring->scratch, span[0].ptr, span[0].len);
        memcpy((uint8_t *)ring->scratch + span[0].len, span[1].ptr, span[1].len);
    } else {
        return span[0].ptr;
    }
    return (const uint8_t *)ring->scratch;
}

/* Counts a record that is returned, and the losses that it reports. */
static void count_record(perfile_ring *ring, const perfile_record *r)
{
    perfile_ring_summary *sum = &ring->summary;
    perfile_lost lost;
    perfile_lost_samples samples;
    sum->records++;
    sum->bytes += 8 + r->body.len;
    if (r->type == PERFILE_RECORD_LOST &&
        perfile_lost_decode(r, &lost, sizeof lost, NULL) == PERFILE_OK)
        sum->lost_records += lost.lost;
    else if (r->type == PERFILE_RECORD_LOST_SAMPLES &&
             perfile_lost_samples_decode(r, &samples, sizeof samples, NULL) == PERFILE_OK)
        sum->lost_samples += samples.lost;
}

/* Moves past a record of `size` bytes. */
static void advance(perfile_ring *ring, size_t size)
{
    /* A copied record counts as released at once, unless earlier spans of perfile_ring_take() are
     * still in use. */
    if (ring->mode == PERFILE_RING_READ_ONLY && ring->released == ring->position)
        ring->released += size;
    ring->position += size;
}

perfile_status perfile_ring_next(perfile_ring *ring, const perfile_record **r, perfile_error *err)
{
    uint64_t n, at = ring->position;
    pf_ring_header header;
    perfile_status st = pf_ring_ready(ring, &n, err);
    if (st != PERFILE_OK)
        return st;
    st = pf_ring_header_at(ring, at, n, &header);
    if (st < 0)
        return pf_ring_bad_size(ring, header.size, n, err);
    if (st != PERFILE_OK)
        return st;

    const uint8_t *bytes = contiguous_bytes(ring, at, header.size);
    if (ring->mode == PERFILE_RING_READ_ONLY) {
        /* Was the record overwritten while it was copied? */
        st = pf_ring_ready(ring, &n, err);
        if (st != PERFILE_OK)
            return st;
    }
    advance(ring, header.size);
    ring->record = (perfile_record){
        .header = bytes,
        .body = {bytes + 8, header.size - (size_t)8},
        /* From the header that was checked: the one in memory may have changed since. */
        .type = header.type,
        .misc = header.misc,
        .offset = at,
        .stream_offset = at,
        .sequence = ring->summary.records,
        .envelope = PERFILE_NO_SEQUENCE,
        .session = ring->session,
    };
    count_record(ring, &ring->record);
    *r = &ring->record;
    return PERFILE_OK;
}

/* Overwrite mode: reduces *n to complete records.  Damage is reported only when it is at
 * `position`, after all records before it were returned. */
static perfile_status whole_records(perfile_ring *ring, uint64_t *n, perfile_error *err)
{
    uint64_t done = 0;
    while (done < *n) {
        pf_ring_header header;
        perfile_status st = pf_ring_header_at(ring, ring->position + done, *n - done, &header);
        if (st < 0 && done == 0)
            return pf_ring_bad_size(ring, header.size, *n, err);
        if (st != PERFILE_OK)
            break;
        done += header.size;
    }
    *n = done;
    return done ? PERFILE_OK : PERFILE_END;
}

/* In overwrite mode the range may end inside a record, so headers are walked.  In the other modes
 * data_head is always at the end of a record. */
perfile_status perfile_ring_take(perfile_ring *ring, perfile_bytes spans[2], perfile_error *err)
{
    uint64_t n;
    perfile_status st = pf_ring_ready(ring, &n, err);
    if (st == PERFILE_OK && ring->mode == PERFILE_RING_OVERWRITE)
        st = whole_records(ring, &n, err);
    if (st != PERFILE_OK)
        return st;
    pf_ring_spans(ring->data, ring->position, n, spans);
    ring->position += n;
    ring->summary.bytes += n;
    return PERFILE_OK;
}

/* Reading a ring: record by record, or as unparsed spans for a caller that only copies them.
 *
 * In forward and overwrite mode records are views of the shared memory, except those that wrap
 * around its end, which are copied.  In read-only mode the kernel may overwrite a record at any
 * time, so that each is copied first and only then is it checked that it was still there. */
#include <string.h>

#include "perfile/abi.h"
#include "ring/ring.h"

/* Copies in atomic 64-bit words: the kernel may write the same words at the same time. */
static void copy_words(perfile_bytes from, uint64_t *to)
{
    for (size_t i = 0; i < from.len / 8; i++)
        to[i] = __atomic_load_n((const uint64_t *)(const void *)from.ptr + i, __ATOMIC_ACQUIRE);
}

/* The `size` bytes of the record at `at`: a view of the data area if possible, otherwise the copy
 * in ring->scratch. */
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

/* Counts a record that is returned, and what it reports as lost. */
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

/* Moves behind a record of `size` bytes. */
static void advance(perfile_ring *ring, size_t size)
{
    /* A copied record counts as released at once, unless spans of perfile_ring_take() in front of
     * it are still in use. */
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

/* Overwrite mode: reduces *n to the part that is complete records.  Damage is reported only when it
 * is at `position`, after the records in front of it were returned. */
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

/* In overwrite mode the range may end inside a record, so that headers are walked; in the other
 * modes data_head is always at the end of a record. */
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

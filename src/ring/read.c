/* Records, and spans for those who copy without looking. */
#include <string.h>

#include "perfile/abi.h"
#include "ring/ring.h"

/* Kernel and reader use the same words at the same time: each is copied as one. */
static void copy_words(perfile_bytes from, uint64_t *to)
{
    for (size_t i = 0; i < from.len / 8; i++)
        to[i] = __atomic_load_n((const uint64_t *)(const void *)from.ptr + i, __ATOMIC_ACQUIRE);
}

/* The bytes of the record, in one piece. */
static const uint8_t *whole(perfile_ring *ring, uint64_t at, size_t size)
{
    perfile_bytes piece[2];
    pf_ring_pieces(ring->data, at, size, piece);
    ring->summary.wrapped += piece[1].len != 0;
    if (ring->mode == PERFILE_RING_READ_ONLY) {
        copy_words(piece[0], ring->scratch);
        copy_words(piece[1], ring->scratch + piece[0].len / 8);
    } else if (piece[1].len) {
        memcpy(ring->scratch, piece[0].ptr, piece[0].len);
        memcpy((uint8_t *)ring->scratch + piece[0].len, piece[1].ptr, piece[1].len);
    } else {
        return piece[0].ptr;
    }
    return (const uint8_t *)ring->scratch;
}

static void count(perfile_ring *ring, const perfile_record *r)
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

static void move_on(perfile_ring *ring, size_t size)
{
    /* What was copied need not be kept, unless something in front of it has to be. */
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
    st = pf_ring_look(ring, at, n, &header);
    if (st < 0)
        return pf_ring_bad_size(ring, header.size, n, err);
    if (st != PERFILE_OK)
        return st;

    const uint8_t *bytes = whole(ring, at, header.size);
    if (ring->mode == PERFILE_RING_READ_ONLY) {
        st = pf_ring_ready(ring, &n, err);
        if (st != PERFILE_OK)
            return st;
    }
    move_on(ring, header.size);
    ring->record = (perfile_record){
        .header = bytes,
        .body = {bytes + 8, header.size - (size_t)8},
        .type = header.type,
        .misc = header.misc,
        .offset = at,
        .stream_offset = at,
        .sequence = ring->summary.records,
        .envelope = PERFILE_NO_SEQUENCE,
        .session = ring->session,
    };
    count(ring, &ring->record);
    *r = &ring->record;
    return PERFILE_OK;
}

/* Overwrite mode: how many of the `n` bytes are whole records.  Damage is told when it is next. */
static perfile_status whole_records(perfile_ring *ring, uint64_t *n, perfile_error *err)
{
    uint64_t done = 0;
    while (done < *n) {
        pf_ring_header header;
        perfile_status st = pf_ring_look(ring, ring->position + done, *n - done, &header);
        if (st < 0 && done == 0)
            return pf_ring_bad_size(ring, header.size, *n, err);
        if (st != PERFILE_OK)
            break;
        done += header.size;
    }
    *n = done;
    return done ? PERFILE_OK : PERFILE_END;
}

perfile_status perfile_ring_take(perfile_ring *ring, perfile_bytes spans[2], perfile_error *err)
{
    uint64_t n;
    perfile_status st = pf_ring_ready(ring, &n, err);
    if (st == PERFILE_OK && ring->mode == PERFILE_RING_OVERWRITE)
        st = whole_records(ring, &n, err);
    if (st != PERFILE_OK)
        return st;
    pf_ring_pieces(ring->data, ring->position, n, spans);
    ring->position += n;
    ring->summary.bytes += n;
    return PERFILE_OK;
}

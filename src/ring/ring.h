/* The interior of perfile_ring.
 *
 * Positions count bytes since the kernel made the buffer; they are never reduced modulo the size of
 * the area.  Position p lies at p & (len - 1) in it, len being a power of two.  In forward and
 * read-only mode the kernel writes towards higher positions and data_head is behind the newest
 * record.  In overwrite mode it writes towards lower ones (from 0 downwards, modulo 2^64), and
 * data_head is the newest record. */
#ifndef PF_RING_RING_H
#define PF_RING_RING_H

#include "perfile/damage.h"
#include "perfile/ring.h"
#include "ring/page.h"

/* A reader of one area.  [released, position) was returned to the caller and not released yet; in
 * overwrite mode it leads towards older records.  It is never longer than the area, so that at most
 * one record in it wraps around the end: one scratch buffer is enough. */
struct perfile_ring {
    void *page;                     /* control page, shared with the kernel */
    perfile_bytes data;             /* data area, shared with the kernel */
    const perfile_session *session; /* for perfile_record.session; may be NULL */
    uint32_t mode;                  /* PERFILE_RING_… */
    bool last_is_cut;  /* overwrite: the oldest record, at snapshot_end, is partly overwritten */
    uint64_t position; /* of the next record to read */
    uint64_t released; /* all in front of it was released */
    uint64_t snapshot_end;   /* overwrite: end of the snapshot, towards older records */
    uint64_t snapshot_begin; /* overwrite: where the latest snapshot began, its newest record */
    uint64_t *scratch;       /* copy of a record that wraps; in read-only mode of every record */
    perfile_record record;   /* what perfile_ring_next() returned */
    perfile_ring_summary summary;
    perfile_bytes aux;     /* AUX area; empty: none */
    bool aux_overwrite;    /* the AUX area is mapped read-only: the kernel overwrites old data */
    uint64_t aux_position; /* like `position`, in the AUX area */
    uint64_t aux_released; /* like `released`, in the AUX area */
};

/* struct perf_event_header: the first 64-bit word of a record. */
typedef struct pf_ring_header {
    uint32_t type;
    uint16_t misc;
    uint16_t size;
} pf_ring_header;

/* The range [at, at + n) of an area as two spans, as it may wrap around the end; the second one may
 * be empty.  `n` is at most the length of the area. */
static inline void pf_ring_spans(perfile_bytes area, uint64_t at, uint64_t n,
                                 perfile_bytes spans[2])
{
    size_t from = (size_t)(at & (area.len - 1));
    size_t first = area.len - from;
    if (first > n)
        first = (size_t)n;
    spans[0] = (perfile_bytes){area.ptr + from, first};
    spans[1] = (perfile_bytes){area.ptr, (size_t)n - first};
}

/* Sets err->damage and returns the status that belongs to this kind of damage. */
perfile_status pf_ring_damage(perfile_error *err, unsigned damage);

/* Finds out how many bytes can be read at `position`.  PERFILE_OK: *n, at least 8.  PERFILE_END:
 * none now.  Otherwise damage, which is counted; `position` is then behind it. */
perfile_status pf_ring_ready(perfile_ring *ring, uint64_t *n, perfile_error *err);

/* Loads the header at position `at`, where `n` bytes can be read.  PERFILE_E_CORRUPT: its size is
 * impossible.  PERFILE_END: it is the oldest record of a snapshot, which is partly overwritten. */
perfile_status pf_ring_header_at(const perfile_ring *ring, uint64_t at, uint64_t n,
                                 pf_ring_header *header);

/* Reports damage: the record at `position` has the impossible size `size`.  Reading goes on at
 * data_head, or ends the snapshot. */
perfile_status pf_ring_bad_size(perfile_ring *ring, unsigned size, uint64_t n, perfile_error *err);

/* Overwrite mode: true if the kernel has overwritten bytes in front of position `end` since the
 * snapshot, because the output was not paused. */
bool pf_ring_is_torn(const perfile_ring *ring, uint64_t end);

#endif

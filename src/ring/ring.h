/* Internals of perfile_ring.
 *
 * Positions count bytes since the kernel made the buffer; they are never reduced modulo the size of
 * the area.  Position p is at offset p & (len - 1); len is a power of two.  In forward and
 * read-only mode the kernel writes towards higher positions, and data_head is the end of the newest
 * record.  In overwrite mode it writes towards lower positions (from 0 downwards, modulo 2^64), and
 * data_head is the start of the newest record. */
#ifndef PF_RING_RING_H
#define PF_RING_RING_H

#include "perfile/damage.h"
#include "perfile/ring.h"
#include "ring/page.h"

/* A reader of one area. [released, position) was returned to the caller and is not released yet.
 * In overwrite mode it leads towards older records.  It is never longer than the area.  So at most
 * one record in it wraps around the end, and one scratch buffer is enough. */
struct perfile_ring {
    void *page;                     /* control page, shared with the kernel */
    perfile_bytes data;             /* data area, shared with the kernel */
    const perfile_session *session; /* for perfile_record.session; may be NULL */
    uint32_t mode;                  /* PERFILE_RING_… */
    bool last_is_cut;  /* overwrite: the oldest record, at snapshot_end, is partly overwritten */
    uint64_t position; /* position of the next record to read */
    uint64_t released; /* everything before this was released */
    uint64_t snapshot_end;   /* overwrite: end of the snapshot, towards older records */
    uint64_t snapshot_begin; /* overwrite: start of the latest snapshot, its newest record */
    uint64_t *scratch;       /* copy of a record that wraps; in read-only mode of every record */
    perfile_record record;   /* returned by perfile_ring_next() */
    perfile_ring_summary summary;
    perfile_bytes aux;     /* AUX area; empty if there is none */
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

/* Sets spans[] to the range [at, at + n) of an area.  There are two spans, because the range may
 * wrap around the end; the second may be empty.  `n` is at most the length of the area. */
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

/* Sets err->damage and returns the status for this kind of damage. */
perfile_status pf_ring_damage(perfile_error *err, unsigned damage);

/* Sets *n to the number of bytes that can be read at `position`, at least 8.  PERFILE_END: there
 * are none now.  Other errors are damage: it is counted, and `position` is moved past it. */
perfile_status pf_ring_ready(perfile_ring *ring, uint64_t *n, perfile_error *err);

/* Loads the header at position `at`, where `n` bytes can be read.  PERFILE_E_CORRUPT: its size is
 * impossible.  PERFILE_END: it is the oldest record of a snapshot and partly overwritten. */
perfile_status pf_ring_header_at(const perfile_ring *ring, uint64_t at, uint64_t n,
                                 pf_ring_header *header);

/* Reports damage: the record at `position` has the impossible size `size`.  Reading continues at
 * data_head, or ends the snapshot. */
perfile_status pf_ring_bad_size(perfile_ring *ring, unsigned size, uint64_t n, perfile_error *err);

/* Overwrite mode: returns true if the kernel has overwritten bytes before position `end` since the
 * snapshot, because the output was not paused. */
bool pf_ring_is_torn(const perfile_ring *ring, uint64_t end);

#endif

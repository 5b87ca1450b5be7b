/* Sorting of records that stay in the mapped file.
 *
 * The first pass (read.c) adds each record to a pf_sort_block: a contiguous byte range of one part,
 * with the least and greatest key in it.  The number of blocks is bounded, however many records
 * there are: when the array is full, neighbours are joined and the block size doubles.
 *
 * As long as times step back in few places, a new block begins at each of them, so that every block
 * is in order by itself; strands.c then merges the blocks in place.  Where times step back too
 * often (`mixed`), only min and max of a block are known.  The second pass then walks the blocks
 * again with a pf_sort_window, which holds sorted entries (key and address) of those records that a
 * later record may still precede. */
#ifndef PF_SORT_WINDOW_H
#define PF_SORT_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "base/byte_order.h"
#include "core/stream.h"
#include "stage/time_key.h"
#include "schema/frame.h"

/* Sorting of (key, position) pairs: a stable natural merge sort. */

typedef struct pf_sort_entry {
    uint64_t key;
    uint64_t at; /* the record's address or offset; only the user of the entries knows which */
} pf_sort_entry;

/* Sorts by key; entries with equal keys keep their order.  Captures are sequences of ascending
 * times, one for each ring buffer: these are found and merged, so an array that is in order costs
 * one pass.  `scratch` has room for n / 2 entries. */
void pf_sort_entries_sort(pf_sort_entry *e, size_t n, pf_sort_entry *scratch);

/* Merges e[0 .. middle) and e[middle .. n), each of which is sorted; stable.  `scratch` has room
 * for the shorter of the two. */
void pf_sort_entries_merge(pf_sort_entry *e, size_t middle, size_t n, pf_sort_entry *scratch);

/* A contiguous range of records of one part. */
typedef struct pf_sort_block {
    const uint8_t *start; /* first record, in the mapping */
    uint64_t bytes;       /* records and the FINISHED_ROUNDs between them */
    uint64_t offset;      /* of `start` in its part */
    uint64_t records;     /* without FINISHED_ROUNDs */
    uint64_t min, max;    /* least and greatest key of the records */
    uint64_t floor;      /* least key of all later blocks of the part; UINT64_MAX: there are none */
    pf_time_clock clock; /* in front of the first record: a walk computes equal keys */
    uint32_t part;
} pf_sort_block;

/* All blocks of the capture, in input order. */
typedef struct pf_sort_blocks {
    pf_sort_block *list; /* owned */
    uint32_t n, most;    /* blocks in use, and capacity; it never grows */
    /* A block that has so many bytes gets no further record; doubled when `list` is full. */
    uint64_t block_bytes;
    bool full;           /* no further records are accepted: the caller puts them into the store */
    uint32_t steps_back; /* blocks that were begun because a time stepped back … */
    bool mixed;          /* … were too many: from now on times may step back within a block */
    bool swap;           /* records are in the other byte order */
    const perfile_session *session; /* borrowed */
} pf_sort_blocks;

/* Makes `b` empty, with room for `most` blocks.  `session` must outlive it. */
perfile_status pf_sort_blocks_open(pf_sort_blocks *b, uint32_t most, const perfile_session *session,
                                   perfile_error *err);
void pf_sort_blocks_close(pf_sort_blocks *b);

/* True if `r` may be part of a block: the walk must be able to find it again from its header
 * alone.  So its bytes must be stable and contiguous, of perf's own family, stored as they are (no
 * envelope and nothing out of one), without payload behind them. */
static inline bool pf_sort_walkable(const perfile_record *r)
{
    const uint8_t unfit = PERFILE_REC_STABLE | PERFILE_REC_ENVELOPE | PERFILE_REC_INNER |
                          PERFILE_REC_PAYLOAD_CUT | PERFILE_REC_PARTIAL;
    return r->family == PERFILE_FAMILY_PERF && (r->flags & unfit) == PERFILE_REC_STABLE &&
           r->extra.len == 0 && !pf_type_is_wide(r->type) &&
           r->body.len <= UINT16_MAX - PF_PERF_RECORD_HEADER &&
           (r->body.len == 0 || r->body.ptr == r->header + PF_PERF_RECORD_HEADER);
}

/* Adds a record with this key; `before` is the clock in front of it.  The record must be walkable
 * and follow those that were added before.  False when there is no room for it: then the caller
 * stores it. */
bool pf_sort_blocks_add(pf_sort_blocks *b, const perfile_record *r, uint64_t key,
                        const pf_time_clock *before);
/* Called where a key is less than one in the block: counts the step back.  False: a new block must
 * begin here, so that each block stays in order by itself.  True: there were too many steps back,
 * and the record may join the block.  A quarter of the blocks is for steps back, the other three
 * quarters are for the length of the capture. */
static inline bool pf_sort_blocks_accept_step_back(pf_sort_blocks *b)
{
    b->steps_back += !b->mixed;
    b->mixed |= b->steps_back > b->most / 4;
    return b->mixed;
}

/* Inline part of pf_sort_blocks_add(): adds the record to the last block.  False, with nothing
 * changed but the count of steps back, if the record does not belong there. */
static inline bool pf_sort_blocks_extend(pf_sort_blocks *b, const perfile_record *r, uint64_t key)
{
    pf_sort_block *last = b->list + b->n - 1;
    if (b->n == 0 || last->start + last->bytes != r->header || last->bytes >= b->block_bytes ||
        last->part != r->part || (key < last->max && !pf_sort_blocks_accept_step_back(b)))
        return false;
    last->bytes += perfile_record_size(r);
    last->records++;
    last->min = key < last->min ? key : last->min;
    last->max = key > last->max ? key : last->max;
    return true;
}

/* Several contiguous walkable records of one part, examined in one loop. */
typedef struct pf_sort_chunk {
    const perfile_record *first;
    uint64_t records, bytes;
    uint64_t min, max; /* least and greatest key */
    bool ascending;    /* no key is less than the one before it */
} pf_sort_chunk;

/* Adds all records of a chunk to one block.  False, with nothing added, if they do not fit as a
 * whole: then the caller adds record by record. */
bool pf_sort_blocks_add_chunk(pf_sort_blocks *b, const pf_sort_chunk *chunk,
                              const pf_time_clock *before);
/* Adds the bytes of a FINISHED_ROUND to the last block if it directly follows, so that the block
 * stays contiguous.  Walks skip such records. */
void pf_sort_blocks_add_round(pf_sort_blocks *b, const perfile_record *r);

/* Iterates over the records of a block.  Only the members of `record` that the header decides
 * change from one record to the next. */
typedef struct pf_sort_walk {
    const uint8_t *at, *end;
    perfile_record record;
    bool swap;
} pf_sort_walk;

/* `start`: block->start, or the address of the same bytes in the window of the source. */
static inline void pf_sort_walk_begin(pf_sort_walk *w, const pf_sort_blocks *b,
                                      const pf_sort_block *block, const uint8_t *start)
{
    *w = (pf_sort_walk){.at = start, .end = start + block->bytes, .swap = b->swap};
    w->record.flags = (uint8_t)(PERFILE_REC_STABLE | (b->swap ? PERFILE_REC_SWAPPED : 0));
    w->record.part = block->part;
    w->record.envelope = PERFILE_NO_SEQUENCE;
    w->record.session = b->session;
}

/* Fills header, body, type and misc of `r` from the record at `at`.  The caller has compared the
 * size with the bytes that are there. */
static inline void pf_sort_frame(perfile_record *r, const uint8_t *at, bool swap)
{
    const pf_frame f = pf_frame_at(at, swap);
    r->header = at;
    r->body = (perfile_bytes){at + PF_PERF_RECORD_HEADER, f.size - (size_t)PF_PERF_RECORD_HEADER};
    r->type = f.type;
    r->misc = f.misc;
}

/* Moves to the next record that is no FINISHED_ROUND.  False at the end, or when the size of a
 * record does not fit: then w->at != w->end, and the file was changed after the first pass. */
static inline bool pf_sort_walk_next(pf_sort_walk *w)
{
    do {
        size_t left = (size_t)(w->end - w->at);
        size_t size = left >= PF_PERF_RECORD_HEADER ? pf_frame_at(w->at, w->swap).size : 0;
        if (size < PF_PERF_RECORD_HEADER || size > left)
            return false;
        /* Half a page ahead: the hardware does not prefetch across pages. */
        __builtin_prefetch((const void *)((uintptr_t)w->at + 2048));
        pf_sort_frame(&w->record, w->at, w->swap);
        w->at += size;
    } while (w->record.type == PERFILE_RECORD_FINISHED_ROUND);
    return true;
}

/* Fast path of pf_sort_walk_next(): if the next record is a sample with a time at `place` that is
 * neither 0 nor PERFILE_NO_TIME, sets *time and moves behind it; w->record is not filled.  The
 * record is where w->at was before.  False: w has not moved, use pf_sort_walk_next(). */
static inline bool pf_sort_walk_sample(pf_sort_walk *w, const pf_time_place *place, uint64_t *time)
{
    size_t left = (size_t)(w->end - w->at);
    if (left < PF_PERF_RECORD_HEADER)
        return false;
    const pf_frame f = pf_frame_at(w->at, w->swap);
    const size_t size = f.size;
    if (f.type != PERFILE_RECORD_SAMPLE || size < PF_PERF_RECORD_HEADER || size > left ||
        size - PF_PERF_RECORD_HEADER < place->need)
        return false;
    *time = pf_load_u64(w->at + PF_PERF_RECORD_HEADER + place->at, w->swap);
    if (*time == 0 || *time == PERFILE_NO_TIME)
        return false;
    __builtin_prefetch((const void *)((uintptr_t)w->at + 2048));
    w->at += size;
    return true;
}

/* Rounds down to 64 KiB.  Pages of the mapping are released in such units, because a fault on one
 * released page brings up to that much back (fault-around of the kernel). */
static inline uint64_t pf_sort_round_to_pages(uint64_t offset)
{
    return offset & ~(uint64_t)0xffff;
}

/* Returns PERFILE_E_IO: the mapped file was changed between the first and the second pass.  The
 * offset of the error is that of the block. */
perfile_status pf_sort_fail_changed(const pf_sort_block *block, perfile_error *err);

/* Computes min and max of all blocks again, for records that came before the attr that says where
 * their times are.  Sets `mixed`, because the order within blocks is no longer known. */
perfile_status pf_sort_blocks_recompute_keys(pf_sort_blocks *b, perfile_error *err);

/* Sets `floor` of all blocks; after the last one was added. */
void pf_sort_blocks_set_floors(pf_sort_blocks *b);

/* Sorts the blocks of one part as they are walked.  Entries with a key up to the floor of the last
 * block that was loaded can be yielded, because everything later is later; the others wait. */
typedef struct pf_sort_window {
    const pf_sort_blocks *blocks;
    uint32_t next, end; /* blocks [next, end) are not loaded yet */
    /* Sorted: e[at .. ready) can be yielded, e[ready .. n) must wait for more blocks. */
    pf_sort_entry *e;
    pf_sort_entry *scratch; /* for sorting: half as many as `e` */
    size_t at, ready, n, cap, scratch_cap;
    uint64_t step; /* least number of bytes to load at once */
    uint64_t lag;  /* bytes kept behind the oldest waiting record: a writer may still need them */
    uint64_t released; /* pages before this offset were released, none of them is needed any more */
    uint64_t released_early; /* pages before this offset were released although some records still
                                wait */
} pf_sort_window;

/* What windows need at most. */
typedef struct pf_sort_need {
    uint64_t memory; /* bytes for entries and for what is loaded at once */
    uint64_t mapped; /* bytes of records that wait in the mapping */
} pf_sort_need;

/* Adds to *need what a window on blocks [first, end), all those of one part, will need.  The floors
 * must have been set. */
perfile_status pf_sort_window_need(const pf_sort_blocks *b, uint32_t first, uint32_t end,
                                   uint64_t step, pf_sort_need *need, perfile_error *err);

/* Loads blocks until there is an entry to yield, or no block is left: then at == ready.  Pages that
 * are no longer needed are released through `stream`.  PERFILE_E_IO: the file was changed. */
perfile_status pf_sort_window_fill(pf_sort_window *w, perfile_stream *stream, perfile_error *err);
void pf_sort_window_close(pf_sort_window *w);

#endif

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
#ifndef PF_SORT_SORT_H
#define PF_SORT_SORT_H

#include "base/buffer.h"
#include "base/byte_order.h"
#include "core/stream.h"
#include "perfile/record.h"
#include "perfile/sort.h"
#include "schema/frame.h"
#include "stage/time_key.h"

#include <stddef.h>
#include <stdint.h>

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

/* Strands: ranges of the mapped file in which no record is earlier than the one before it.
 *
 * Most captures consist of a few strands, one for each ring buffer and round, or of a single one if
 * they are in order.  The second pass merges strands in place by a heap of their next records: no
 * entry is made per record, and nothing waits.  A strand is one or more consecutive blocks of a
 * part whose times continue; each block must be in order by itself (pf_sort_blocks.mixed is false).
 * Where times step back too often, window.h is used instead. */

/* What the next record of a strand is. */
enum {
    PF_STRAND_SAMPLE, /* a sample with a time at pf_sort_strands.place */
    PF_STRAND_OTHER,  /* any other record, or a sample without a time there */
    PF_STRAND_CHANGED /* no record of the first pass: the file was changed since */
};

typedef struct pf_sort_strand {
    const uint8_t *at, *end;        /* the next record, and the end of its block */
    const uint8_t *start;           /* address of the first byte of its block, … */
    uint64_t offset;                /* … and where that byte is in the part */
    pf_time_clock clock;            /* state behind the record at `at` */
    uint32_t next_block, end_block; /* blocks behind that one: [next_block, end_block) */
    uint8_t kind;                   /* PF_STRAND_… */
    uint64_t released; /* offset in the part: pages of the strand before it were released */
} pf_sort_strand;

/* A strand on the heap.  Heads are compared by key, then by strand number, which is the order in
 * the input: so no two are equal, and the sort is stable. */
typedef struct pf_sort_head {
    uint64_t key; /* of the next record */
    uint32_t strand;
} pf_sort_head;

typedef struct pf_sort_strands {
    const pf_sort_blocks *blocks; /* borrowed */
    pf_time_place place;          /* of the time in samples */
    pf_sort_strand *all;          /* in input order */
    pf_sort_head *heap;           /* strands that are not at their end; heap[0] is the least */
    uint32_t n, n_heap;
    uint64_t step; /* bytes of a strand whose pages are released at once; 0: pages stay mapped */
} pf_sort_strands;

/* Makes strands of all blocks, which must not be mixed, and reads the first record of each.  `s`
 * must be closed on failure, too. */
perfile_status pf_sort_strands_open(pf_sort_strands *s, const pf_sort_blocks *b, uint64_t step,
                                    perfile_error *err);
void pf_sort_strands_close(pf_sort_strands *s);

/* The strand with the least next record.  The heap must not be empty. */
static inline pf_sort_strand *pf_sort_strands_top(const pf_sort_strands *s)
{
    return &s->all[s->heap[0].strand];
}

/* The block that contains the next record of a strand. */
static inline const pf_sort_block *pf_sort_strand_block(const pf_sort_strands *s,
                                                        const pf_sort_strand *one)
{
    return &s->blocks->list[one->next_block - 1];
}

/* Where the byte at `at` of the block that a strand is in lies in its part. */
static inline uint64_t pf_sort_strand_offset(const pf_sort_strand *one, const uint8_t *at)
{
    return one->offset + (uint64_t)(at - one->start);
}

/* Advances the top strand to `at`, which is behind its next record or behind a range that begins
 * with it, and restores the heap.  Pages that are no longer needed are released through
 * `stream`. */
void pf_sort_strands_advance(pf_sort_strands *s, const uint8_t *at, perfile_stream *stream);

/* The store: records that cannot stay in a mapped file while they wait (from pipes, out of
 * envelopes, or because windows would be too large).
 *
 * Each record becomes a pf_sort_item in memory.  When the budget is used up, the items are sorted
 * and written to a temporary file as a run ("spilled"; runs.h).  At the end either everything is in
 * memory, with one reader, or everything is in runs, with one reader each.  Payloads behind records
 * (AUX data, tracing data) go to a file of their own as they arrive, and items point into it. */

enum {                             /* pf_sort_item.how */
       PF_SORT_BORROWED = 1 << 0,  /* the item holds a pointer to the record, not its bytes */
       PF_SORT_EXTRA = 1 << 1,     /* a pf_sort_extra stands in front of the record */
       PF_SORT_EXTRA_FILE = 1 << 2 /* the payload is in the store's payload file */
};

/* The header of an item, in memory and in files alike.  Behind it stand, without gaps: a
 * pf_sort_extra with PF_SORT_EXTRA, then the record's bytes, or a pointer to them with
 * PF_SORT_BORROWED. */
typedef struct pf_sort_item {
    uint64_t key;
    uint64_t offset; /* of the record in its part */
    uint32_t size;   /* of the whole item, a multiple of 8 */
    uint32_t body;   /* bytes behind the header of the record */
    uint32_t part;
    uint8_t flags; /* PERFILE_REC_… */
    uint8_t contents;
    uint8_t family; /* PERFILE_FAMILY_… */
    uint8_t reserved;
} pf_sort_item;

/* The payload of a record: bytes that follow it and are not part of its size. */
typedef struct pf_sort_extra {
    uint64_t len;
    uint64_t at; /* address, or with PF_SORT_EXTRA_FILE offset in the payload file */
} pf_sort_extra;

enum {
    PF_SORT_FAN_IN = 64, /* runs of one level; when there are so many they become one of the next */
    PF_SORT_LEVELS = 6   /* up to 64^6 spills; more is PERFILE_E_LIMIT */
};

/* Bytes [at, end) of the file of its level. */
typedef struct pf_sort_run {
    uint64_t at, end;
} pf_sort_run;

/* The runs of a level, in one file and in the order in which their records were read.  All records
 * of a higher level were read before those of a lower one. */
typedef struct pf_sort_level {
    int fd; /* temporary file; -1: none yet */
    uint32_t n;
    uint64_t end; /* of the file */
    pf_sort_run runs[PF_SORT_FAN_IN];
} pf_sort_level;

/* Reads the items of one run, or those in memory, in order. */
typedef struct pf_sort_reader {
    const pf_sort_item *item; /* the current one; NULL: at the end, or `needs_fill` */
    bool needs_fill;          /* the next item must be read first: pf_sort_reader_fill() */
    int fd;
    uint64_t at, end;                  /* of the file: bytes that are not in `window` yet */
    pf_buffer window;                  /* `item` is at its front */
    const uint8_t *memory;             /* of items in memory; NULL: the reader is of a run */
    const pf_sort_entry *entry, *last; /* … which these entries put in order */
} pf_sort_reader;

typedef struct pf_sort_store {
    uint64_t budget;            /* bytes for items, entries and scratch */
    const char *temporary;      /* folder for files, NULL: the default; borrowed */
    pf_buffer items;            /* in input order */
    pf_sort_entry *entries;     /* key and position in `items` of each */
    pf_sort_entry *scratch;     /* for sorting: half as many */
    size_t n, cap, scratch_cap; /* items, and what the two arrays have room for */
    pf_sort_level levels[PF_SORT_LEVELS];
    pf_buffer out;         /* of the run that is being written */
    int out_fd;            /* its file, … */
    uint64_t out_at;       /* … and the position in it */
    int payloads;          /* file of payloads; -1: none yet */
    uint64_t payloads_end; /* its size */
    uint64_t written;      /* bytes written to all files */
    uint64_t spills;       /* how often memory was spilled */
} pf_sort_store;

/* Opens a store that is all zeros.  `budget` bytes are for the records in memory and for sorting
 * them; `temporary` is borrowed.  Allocates nothing. */
void pf_sort_store_open(pf_sort_store *s, uint64_t budget, const char *temporary);

/* Adds a record with this key.  Its bytes are copied unless they are stable; with `copy` always.  A
 * payload that is not stable in memory must be in the payload file already: r->extra.len bytes that
 * pf_sort_store_payload() has added last. */
perfile_status pf_sort_store_add(pf_sort_store *s, uint64_t key, const perfile_record *r, bool copy,
                                 perfile_error *err);

/* Appends bytes to the payload file, for the record that is added next. */
perfile_status pf_sort_store_payload(pf_sort_store *s, perfile_bytes bytes, perfile_error *err);

/* Adds a copy of an item, with another key.  `item` must not be in this store. */
perfile_status pf_sort_store_add_item(pf_sort_store *s, const pf_sort_item *item, uint64_t key,
                                      perfile_error *err);

/* Gives `key` to all fragments among the items from `first` on, once the joined record has shown
 * its time.  `first` and `spills` are s->n and s->spills as they were before the first fragment was
 * added; does nothing if there was a spill since. */
void pf_sort_store_set_fragment_keys(pf_sort_store *s, size_t first, uint64_t spills, uint64_t key);

/* Bytes in use of the budget. */
uint64_t pf_sort_store_memory(const pf_sort_store *s);

/* True if there are runs in files. */
bool pf_sort_store_spilled(const pf_sort_store *s);

/* To be called when all records were added: *n is the number of readers that pf_sort_store_read()
 * makes.  Afterwards everything is either in memory (one reader, or none) or in runs (one each). */
perfile_status pf_sort_store_finish(pf_sort_store *s, size_t *n, perfile_error *err);

/* Makes readers[0 .. n), in the order in which their records were read; where keys are equal, the
 * earlier reader goes first.  The store must stay until they are closed. */
void pf_sort_store_read(pf_sort_store *s, pf_sort_reader *readers, size_t n);

/* Moves to the next item; the one before is invalid from here on. */
void pf_sort_reader_next(pf_sort_reader *r);
/* Where `needs_fill` is set: reads about `window` bytes of the file, so that `item` is set unless
 * the run has ended.  All items of `r` before are invalid from here on. */
perfile_status pf_sort_reader_fill(pf_sort_reader *r, size_t window, perfile_error *err);
void pf_sort_reader_close(pf_sort_reader *r);

/* Fills *r with the record of an item, but for type, misc and session.  Its bytes belong to the
 * item.  Returns the payload, zeros if there is none; r->extra.ptr is NULL if that is in the
 * payload file. */
pf_sort_extra pf_sort_item_record(const pf_sort_item *item, perfile_record *r);

void pf_sort_store_close(pf_sort_store *s);

/* Sorted runs of a store in temporary files: writing, merging by levels, reading. */

/* Writes a run to `level`: one call of begin, put() for each item in order, one call of end. */
perfile_status pf_sort_run_begin(pf_sort_store *s, unsigned level, perfile_error *err);
perfile_status pf_sort_run_put(pf_sort_store *s, const pf_sort_item *item, perfile_error *err);
perfile_status pf_sort_run_end(pf_sort_store *s, unsigned level, perfile_error *err);

/* To be called when level 0 has PF_SORT_FAN runs: merges them into one run of level 1, and does the
 * same with each higher level that is full then.  PERFILE_E_LIMIT: the highest level is full. */
perfile_status pf_sort_runs_merge(pf_sort_store *s, perfile_error *err);

/* Makes a reader for each run of the level, in the order in which their records were read; returns
 * the position behind the last reader.  Their first items come with pf_sort_reader_fill(). */
pf_sort_reader *pf_sort_runs_open(const pf_sort_level *level, pf_sort_reader *readers);

/* Internals of perfile_sort(): the stage, and what its files share.
 *
 * The stage works in two passes.  read.c reads the stream below to its end: records that stay in
 * the mapped file are noted as blocks (window.h), the others go to a store (store.h).  plan.c then
 * decides what is merged: strands or windows of the blocks, and readers of the stores.  merge.c
 * merges these sources by a heap and makes runs of records; span.c yields samples as bytes instead
 * where it can. */

/* One of the sorted sequences that are merged.  Exactly one of window, reader and strands is set;
 * all strands together are one source, because they have a heap of their own. */
typedef struct pf_sort_source {
    /* Of the next record.  Sources are compared by key, part, offset, order. */
    uint64_t key;
    uint64_t offset; /* in the part */
    uint32_t part;
    uint32_t order; /* number of the source */
    pf_sort_window *window;
    pf_sort_reader *reader;
    pf_sort_strands *strands;
} pf_sort_source;

typedef struct pf_sort {
    perfile_stream base;
    perfile_sort_options options;
    perfile_sort_summary result;
    pf_totals totals;
    /* PERFILE_SORT_WHOLE on a stream that is sorted already: all records go to the store `loose`,
     * in the order in which they come. */
    bool in_order;
    uint64_t step;     /* bytes between two releases of pages, and between two calls of progress */
    bool writing;      /* second pass: the input was read to its end */
    bool stays_mapped; /* no pages are released between the passes */

    /* First pass. */
    pf_sort_blocks blocks;
    pf_sort_store loose; /* records that do not stay in the file */
    pf_buffer record;    /* one with a payload that does not, while that is read */
    pf_time_clock clock;
    uint64_t previous;      /* key of the record before */
    uint64_t bytes;         /* of all records that will be yielded, with their payloads */
    uint32_t part;          /* of the record before */
    bool key_seen;          /* the key of a kernel record was computed … */
    uint64_t known_events;  /* … and pf_sort_count_events_and_ids() was this at the first one */
    bool rounds;            /* records are of a family that has FINISHED_ROUND */
    bool fragments_open;    /* the record before was a fragment, and not the last of its record */
    uint64_t fragments_key; /* key of the fragments of that record */
    size_t fragments_first; /* loose.n and … */
    uint64_t fragments_spills; /* … loose.spills in front of them */
    uint64_t fragments_end;    /* sequence of the last fragment of the last joined record */
    uint64_t released;         /* offset in `part`: pages before it were released */
    uint64_t done, total;      /* of options.progress, in bytes */
    uint64_t reported;         /* `done` when progress was called last */

    /* Second pass. */
    pf_sort_store moved;     /* records of blocks whose windows would need too much memory */
    pf_sort_strands strands; /* with by_strands: instead of windows */
    bool by_strands;
    pf_sort_window *windows; /* one for each part */
    pf_sort_reader *readers; /* of both stores */
    pf_sort_source *sources; /* one for each window and reader, and one for the strands */
    pf_sort_source **heap;   /* sources with a next record; heap[0] is the least */
    uint32_t n_windows, n_readers, n_heap;
    pf_sort_source *to_refill;          /* must be filled before it goes on the heap; NULL: none */
    uint64_t reader_window;             /* bytes that a reader of a run reads at once */
    uint64_t keys[PERFILE_RUN_RECORDS]; /* of the records of the run */
    /* Bit per slot of the run: its constant members are set up for records of the mapping. */
    uint64_t prepared;
    uint64_t sequence;       /* of the next record */
    uint64_t round_bytes;    /* since the last FINISHED_ROUND */
    uint64_t round_most;     /* … at which the next one is due */
    bool timed;              /* there was a record with a time since then */
    bool in_fragments;       /* the last record was a fragment … */
    bool joined_ready;       /* … and the last one of its record: `joined` is complete */
    bool joined_yielded;     /* `joined` was yielded */
    pf_buffer joined;        /* bodies of the fragments so far */
    pf_buffer payload_chunk; /* chunk of a payload, for extra() */
    pf_sort_extra extra;     /* payload of run[0], in the payload file of `loose` … */
    uint64_t extra_read;     /* … and how much of it extra() has returned */
    perfile_record payload;  /* the last record with a mapped payload; extra.len 0: none */
} pf_sort;

/* in_order.c: the stage on a stream that is sorted already.  It passes records on as they come and
 * owns `below` from success on. */
perfile_status pf_sort_in_order(perfile_stream *below, const perfile_sort_options *options,
                                perfile_stream **stream, perfile_error *err);
/* Sets *out to what such a stage has done so far; false: `s` is another kind of stage. */
bool pf_sort_in_order_result(const perfile_stream *s, perfile_sort_summary *out);

/* Adds a record that will be yielded to the totals. */
void pf_sort_note(pf_totals *sum, const perfile_record *r);
/* Adds `n` samples; `first` and `last` are the least and the greatest of their times. */
void pf_sort_note_samples(pf_totals *sum, uint64_t n, uint64_t first, uint64_t last);

/* Sets the members of the summary that come from the totals. */
static inline void pf_sort_set_totals(const pf_totals *sum, perfile_sort_summary *out)
{
    out->timed = sum->timed;
    out->timed_samples = sum->timed_samples;
    out->first_sample = sum->first_sample;
    out->last_sample = sum->last_sample;
}

/* Returns the number of events and ids that the session has.  When it grows, records that came
 * before may turn out to have other times. */
uint64_t pf_sort_count_events_and_ids(const perfile_session *s);

/* read.c: the first pass.  PERFILE_END: the input was read to its end.  PERFILE_OK: damage was met,
 * which is the current run; call again to go on. */
perfile_status pf_sort_read(pf_sort *x, perfile_error *err);

/* plan.c: decides what stays in the file, what is held in memory, and what goes to temporary files;
 * makes strands, windows and readers. */
perfile_status pf_sort_plan(pf_sort *x, perfile_error *err);

/* merge.c: makes the sources and puts them on the heap. */
perfile_status pf_sort_merge_begin(pf_sort *x, perfile_error *err);
/* Makes the next run of records; PERFILE_END after the last one. */
perfile_status pf_sort_merge(pf_sort *x, perfile_error *err);
/* joined.c: if the run is a fragment, adds its body to the joined record. */
perfile_status pf_sort_join_fragment(pf_sort *x, perfile_error *err);
/* Behind the last fragment: makes the joined record the run, unless the bytes are no record of just
 * this size (then the run stays empty). */
void pf_sort_make_joined(pf_sort *x);

/* Returns slot `i` of the run for a record that is not of the mapping; merge.c prepares it again
 * afterwards. */
static inline perfile_record *pf_sort_unprepared_slot(pf_sort *x, uint32_t i)
{
    x->prepared &= ~(UINT64_C(1) << i);
    return &x->base.run[i];
}

/* Calls options.progress, if there is one. */
void pf_sort_progress(pf_sort *x, uint64_t done);

#endif

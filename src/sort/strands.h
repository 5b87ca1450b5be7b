/* Strands: ranges of the mapped file in which no record is earlier than the one before it.
 *
 * Most captures consist of a few strands, one for each ring buffer and round, or of a single one if
 * they are in order.  The second pass merges strands in place by a heap of their next records: no
 * entry is made per record, nothing waits, and the samples that one strand has before all others
 * leave as one range of bytes.  A strand is one or more consecutive blocks of a part whose times
 * continue; each block must be in order by itself (pf_sort_blocks.mixed is false).  Where times
 * step back too often, window.h is used instead. */
#ifndef PF_SORT_STRANDS_H
#define PF_SORT_STRANDS_H

#include "sort/window.h"

/* What the next record of a strand is. */
enum {
    PF_STRAND_SAMPLE, /* a sample with a time at pf_sort_strands.place */
    PF_STRAND_OTHER,  /* any other record, or a sample without a time there */
    PF_STRAND_CHANGED /* no record of the first pass: the file was changed since */
};

typedef struct pf_sort_strand {
    const uint8_t *at, *end; /* the next record, and the end of its block */
    const uint8_t *start;    /* address of the first byte of its block, … */
    uint64_t offset;         /* … and where that byte is in the part */
    /* Of strands that are read into buffers, where at, end and start lie instead. */
    uint64_t block_end;  /* where the block, with all adjacent ones behind it, ends in the part */
    bool second;         /* at lies in the second of the two buffers */
    bool fresh;          /* nothing of that buffer was yielded yet */
    pf_time_clock clock; /* state behind the record at `at` */
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
    /* Not NULL: the bytes come from this source, not from the mapping.  Each strand has two buffers
     * of `room` bytes; when it reaches the end of one the next bytes are read into the other.  So
     * what was yielded stays valid until the strand does that twice: whoever keeps addresses ends
     * his run when `refilled` was set. */
    perfile_source *source;
    uint8_t *buffers;
    size_t room;
    bool refilled;
    perfile_error failed; /* of a read: its status; then the strand is PF_STRAND_CHANGED */
} pf_sort_strands;

/* Makes strands of all blocks, which must not be mixed, and reads the first record of each.  `s`
 * must be closed on failure, too.  Where the file is read through a window the strands are read
 * into buffers, if `memory` bytes are enough for that: it costs less than the page faults of the
 * mapping. */
perfile_status pf_sort_strands_open(pf_sort_strands *s, const pf_sort_blocks *b, uint64_t step,
                                    uint64_t memory, perfile_error *err);
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

/* True if the next record of the top strand is a usual sample with a key below `bound`. */
static inline bool pf_sort_strands_sample_is_next(const pf_sort_strands *s, uint64_t bound)
{
    return pf_sort_strands_top(s)->kind == PF_STRAND_SAMPLE && s->heap[0].key < bound;
}

/* Returns the bound for the top strand: its records with keys below it come before those of all
 * other strands. */
uint64_t pf_sort_strands_bound(const pf_sort_strands *s);

/* Advances the top strand to `at`, which is behind its next record or behind a range that begins
 * with it, and restores the heap.  Pages that are no longer needed are released through
 * `stream`. */
void pf_sort_strands_advance(pf_sort_strands *s, const uint8_t *at, perfile_stream *stream);

/* The same for two strands at once, those at heap[0] and heap[second] (1 or 2): they advance to
 * at[0] and at[1].  last[0] and last[1] are the keys of the last records that they passed, or of
 * the records there if the caller has read them. */
void pf_sort_strands_advance_two(pf_sort_strands *s, uint32_t second, const uint8_t *const at[2],
                                 const uint64_t last[2], perfile_stream *stream);

/* A range of contiguous samples, which begins at the next record of a strand. */
typedef struct pf_sort_range {
    const uint8_t *end;
    uint64_t n;    /* samples */
    uint64_t last; /* key of the last one */
} pf_sort_range;

/* Returns the range of samples with keys below `bound` that begins at the next record of the top
 * strand, which must be a usual sample below it.  The range ends with the sample that completes
 * `bytes`, after `most` samples, at the end of the block, or before anything that is no usual
 * sample in order.  n is 0 only if the file was changed meanwhile. */
pf_sort_range pf_sort_strands_range(const pf_sort_strands *s, uint64_t bound, uint64_t bytes,
                                    uint64_t most);

#endif

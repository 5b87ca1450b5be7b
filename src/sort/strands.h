/* Strands: ranges of the mapped file in which no record is earlier than the one before it.
 *
 * Most captures consist of a few strands, one for each ring buffer and round, or of a single one if
 * they are in order.  The second pass merges strands in place by a heap of their next records: no
 * entry is made per record, and nothing waits.  A strand is one or more consecutive blocks of a
 * part whose times continue; each block must be in order by itself (pf_sort_blocks.mixed is false).
 * Where times step back too often, window.h is used instead. */
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

#endif

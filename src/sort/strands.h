/* Strands: stretches of the mapped file in which no record is earlier than the one before it.
 *
 * Most captures are a few of them, one for each ring buffer and round.  They are merged where they
 * lie: no entry is made of a record, and what one strand has in front of all others goes out as one
 * piece.  Made of the blocks, each of which is in order by itself, unless the file has so many
 * places where times step back that the window (sort/window.h) is better off. */
#ifndef PF_SORT_STRANDS_H
#define PF_SORT_STRANDS_H

#include "sort/window.h"

/* What is next in a strand. */
enum {
    PF_STRAND_SAMPLE, /* one with a time at the usual place */
    PF_STRAND_OTHER,
    PF_STRAND_CHANGED /* the bytes are no longer what they were in the first pass */
};

typedef struct pf_sort_strand {
    const uint8_t *at, *end; /* the next record, and the end of its block */
    pf_time_clock clock;     /* `at` included */
    uint32_t next, last;     /* blocks behind that one: [next, last) */
    uint8_t what;            /* PF_STRAND_… */
    uint64_t released;       /* of the part, up to here */
} pf_sort_strand;

/* A strand among the others: by key, then by its place in the input, in which order they stand. */
typedef struct pf_sort_head {
    uint64_t key;
    uint32_t strand;
} pf_sort_head;

typedef struct pf_sort_strands {
    const pf_sort_blocks *blocks;
    pf_time_place place;
    pf_sort_strand *all;
    pf_sort_head *heap; /* the first has the least */
    uint32_t n, n_heap;
    uint64_t step; /* bytes of a strand that are given back at once; 0: they stay */
} pf_sort_strands;

/* Of blocks that are not mixed. */
perfile_status pf_sort_strands_open(pf_sort_strands *s, const pf_sort_blocks *b, uint64_t step,
                                    perfile_error *err);
void pf_sort_strands_close(pf_sort_strands *s);

static inline pf_sort_strand *pf_sort_strands_top(const pf_sort_strands *s)
{
    return &s->all[s->heap[0].strand];
}

/* The block that the next record of a strand is in. */
static inline const pf_sort_block *pf_sort_strand_block(const pf_sort_strands *s,
                                                        const pf_sort_strand *one)
{
    return &s->blocks->list[one->next - 1];
}

/* Whether the next record is a usual sample with a key below `bound`. */
static inline bool pf_sort_strands_sample(const pf_sort_strands *s, uint64_t bound)
{
    return pf_sort_strands_top(s)->what == PF_STRAND_SAMPLE && s->heap[0].key < bound;
}

/* What the key of a record of the top strand must be below to come before all other strands. */
uint64_t pf_sort_strands_bound(const pf_sort_strands *s);

/* Moves the top strand on to `at`, behind the record that is next or behind a stretch that begins
 * with it.  `stream` is told what is not needed any more. */
void pf_sort_strands_go_on(pf_sort_strands *s, const uint8_t *at, perfile_stream *stream);

/* The same of the two strands at heap[0] and heap[second], 1 or 2: to at[0] and at[1], behind
 * records of which the last had the keys last[0] and last[1]. */
void pf_sort_strands_go_on_two(pf_sort_strands *s, uint32_t second, const uint8_t *const at[2],
                               const uint64_t last[2], perfile_stream *stream);

/* Samples that lie one behind the other. */
typedef struct pf_sort_stretch {
    const uint8_t *end;
    uint64_t n;
    uint64_t last; /* key of the last */
} pf_sort_stretch;

/* From the next record of the top strand on, which is a sample: those with keys below `bound` up to
 * the one with which there are `bytes`, `most` at most. */
pf_sort_stretch pf_sort_strands_stretch(const pf_sort_strands *s, uint64_t bound, uint64_t bytes,
                                        uint64_t most);

#endif

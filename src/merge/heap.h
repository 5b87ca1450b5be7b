/* The heap of a merge: inputs that have something at hand, ordered by the time of their next
 * record.  Inline, because every record passes through it. */
#ifndef PF_MERGE_HEAP_H
#define PF_MERGE_HEAP_H

#include "merge/merge.h"

/* Equal times: by the order of the inputs, so that the output is the same in every run. */
static inline bool pf_merge_before(const pf_merge_head *a, const pf_merge_head *b)
{
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

/* The entry of an input.  An input in the middle of fragments gets one that precedes all others:
 * nothing may stand between the fragments of a record. */
static inline pf_merge_head pf_merge_head_of(const pf_merge_input *in)
{
    return in->in_fragments ? (pf_merge_head){0, -1, in->at}
                            : (pf_merge_head){in->key, (int32_t)in->at, in->at};
}

/* Replaces the first entry by `one` and restores the order of the heap. */
static inline void pf_merge_replace_first(pf_merge *x, const pf_merge_head one)
{
    pf_merge_head *heap = x->heap;
    uint32_t at = 0;
    for (uint32_t child; (child = 2 * at + 1) < x->n_heap; at = child) {
        if (child + 1 < x->n_heap && pf_merge_before(&heap[child + 1], &heap[child]))
            child++;
        if (!pf_merge_before(&heap[child], &one))
            break;
        heap[at] = heap[child];
    }
    heap[at] = one;
}

/* Moves `in`, the first input of the heap, to its next record.  False: its run is used up; it has
 * left the heap and is x->exhausted, to be refilled by the caller. */
static inline bool pf_merge_advance(pf_merge *x, pf_merge_input *in)
{
    in->next++;
    in->next_key++;
    if (in->next < in->end && pf_merge_is_plain_sample(in->next)) {
        in->key = pf_merge_key(in, *in->next_key);
        in->in_fragments = false;
        pf_merge_replace_first(x, pf_merge_head_of(in));
        return true;
    }
    if (pf_merge_skip_to_next(x, in)) {
        pf_merge_replace_first(x, pf_merge_head_of(in));
        return true;
    }
    x->exhausted = in;
    if (--x->n_heap)
        pf_merge_replace_first(x, x->heap[x->n_heap]);
    return false;
}

#endif

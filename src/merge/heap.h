/* The inputs that have a record, by time. */
#ifndef PF_MERGE_HEAP_H
#define PF_MERGE_HEAP_H

#include "merge/merge.h"

static inline bool pf_merge_before(const pf_merge_head *a, const pf_merge_head *b)
{
    return a->key != b->key ? a->key < b->key : a->order < b->order;
}

/* Nothing comes between the pieces of a record. */
static inline pf_merge_head pf_merge_head_of(const pf_merge_input *in)
{
    return in->in_pieces ? (pf_merge_head){0, -1, in->at}
                         : (pf_merge_head){in->key, (int32_t)in->at, in->at};
}

/* Puts `one` in the place of the first. */
static inline void pf_merge_sift(pf_merge *x, const pf_merge_head one)
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

/* The first goes on to what it has next; false: it has nothing and is read on. */
static inline bool pf_merge_go_on(pf_merge *x, pf_merge_input *in)
{
    in->next++;
    in->next_key++;
    if (in->next < in->end && pf_merge_is_usual(in->next)) {
        in->key = pf_merge_key(in, *in->next_key);
        in->in_pieces = false;
        pf_merge_sift(x, pf_merge_head_of(in));
        return true;
    }
    if (pf_merge_settle(x, in)) {
        pf_merge_sift(x, pf_merge_head_of(in));
        return true;
    }
    x->dry = in;
    if (--x->n_heap)
        pf_merge_sift(x, x->heap[x->n_heap]);
    return false;
}

#endif

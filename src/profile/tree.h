/* The samples of a profile as a tree of names, for folded stacks and flame graphs.
 *
 * Below the root are the labels, one level for each key, then the frames, outermost first.  With
 * `reverse` the order is the opposite: frames, innermost first, then labels.  Frames with the same
 * name and caller share a node.  The children of a node are sorted by the bytes of their names, so
 * equal profiles give equal trees. */
#ifndef PF_PROFILE_TREE_H
#define PF_PROFILE_TREE_H

#include "profile/profile.h"

/* A node.  Parent and name are the key. */
typedef struct pf_node {
    uint32_t parent;            /* number; the root, 0, is its own parent */
    uint32_t name;              /* index in pf_tree.names */
    uint64_t self[2];           /* PF_NOW, PF_BEFORE: weight of the samples that end here */
    uint64_t total[2];          /* including all descendants; both saturate at UINT64_MAX */
    uint32_t first_child, next; /* next: the next child of the parent; 0: none */
    uint32_t code;              /* PF_CODE_… of its first frame; PF_CODE_LABEL of a label */
    uint32_t depth;             /* 0 for the root */
    uint32_t object;            /* object number of its frames; PF_NO_OBJECT, PF_OBJECTS */
} pf_node;

enum { PF_CODE_LABEL = 100 };
#define PF_OBJECTS (UINT32_MAX - 1) /* frames in several objects have this name */

/* Options of a tree. */
typedef struct pf_tree_options {
    bool periods;                            /* weights are periods, not numbers of samples */
    bool mark_kernel, mark_jit, mark_inline; /* names of such frames end with _[k], _[j], _[i] */
    bool join;      /* frames without a name get the name of their object */
    bool reverse;   /* stacks are merged from the leaf */
    uint8_t per[8]; /* PERFILE_PER_…: the keys of labels, zero-terminated */
} pf_tree_options;

/* Appends the name of a frame (name.c), with its mark.  Returns false when out of memory. */
bool pf_tree_frame_name(const pf_profile *p, const pf_tree_options *o, const pf_call_frame *frame,
                        pf_buffer *out);

typedef struct pf_tree {
    pf_profile *profile;
    pf_intern nodes;    /* charged to the profile's budget, like all of the tree */
    const char **names; /* in the profile's texts */
    size_t n_names, names_cap;
    pf_index name_index;   /* address of a name to its number */
    uint32_t *frame_names; /* by frame: number of its name + 1; 0: not looked up yet */
    size_t n_frames;
    struct pf_step *path; /* the path that is being added, from the leaf up */
    size_t path_cap;
} pf_tree;

/* Makes the tree of all sums.  Call pf_tree_free() in any case.  PERFILE_E_NOMEM,
 * PERFILE_E_LIMIT. */
perfile_status pf_tree_make(pf_tree *t, pf_profile *profile, const pf_tree_options *options,
                            perfile_error *err);
void pf_tree_free(pf_tree *t);

static inline const pf_node *pf_tree_at(const pf_tree *t, uint32_t number)
{
    return pf_intern_at(&t->nodes, number);
}

/* Returns the node after `number` in preorder; 0 at the end. */
uint32_t pf_tree_next(const pf_tree *t, uint32_t number);

#endif

/* The samples of a profile as a tree of names: what folded stacks and flame graphs show.
 *
 * Below the root stand the labels, one level for each key, then the frames, outermost first; with
 * `reverse` all the other way round: the frames, innermost first, then the labels.
 * Frames of the same name and caller are one node.  The children of a node are in the order of the
 * bytes of their names, so that equal profiles give equal trees. */
#ifndef PF_PROFILE_TREE_H
#define PF_PROFILE_TREE_H

#include "profile/profile.h"

/* A node.  The key is parent and name. */
typedef struct pf_node {
    uint32_t parent;            /* number; the root, 0, is its own */
    uint32_t name;              /* in pf_tree.names */
    uint64_t self[2];           /* PF_NOW, PF_BEFORE: weight of the samples that end here */
    uint64_t total[2];          /* with those of all nodes above it; both up to UINT64_MAX */
    uint32_t first_child, next; /* next: the following child of the parent; 0: there is none */
    uint32_t code;              /* PF_CODE_… of its first frame; PF_CODE_LABEL of a label */
    uint32_t depth;             /* of the root: 0 */
    uint32_t object;            /* number of that of its frames; PF_NO_OBJECT, PF_OBJECTS */
} pf_node;

enum { PF_CODE_LABEL = 100 };
#define PF_OBJECTS (UINT32_MAX - 1) /* functions of the same name in several objects */

/* What a tree is made of. */
typedef struct pf_tree_options {
    bool periods;                            /* weights are periods, not numbers of samples */
    bool mark_kernel, mark_jit, mark_inline; /* names of such frames end with _[k], _[j], _[i] */
    bool join;                               /* frames without a name have that of their object */
    bool reverse;                            /* stacks are merged from the leaf */
    uint8_t per[8];                          /* PERFILE_PER_…: the keys of labels, ended by 0 */
} pf_tree_options;

/* Appends the name of a frame (name.c), with its mark.  False if there is no memory. */
bool pf_tree_frame_name(const pf_profile *p, const pf_tree_options *o, const pf_call_frame *frame,
                        pf_buffer *out);

typedef struct pf_tree {
    pf_profile *profile;
    pf_intern nodes;    /* charged to the profile's budget, as all of it */
    const char **names; /* of the profile's texts */
    size_t n_names, names_cap;
    pf_index name_index;   /* address of a name to its number */
    uint32_t *frame_names; /* number + 1 of the name of each frame; 0: not asked for yet */
    size_t n_frames;
    struct pf_step *path; /* what is being added, from the leaf on */
    size_t path_cap;
} pf_tree;

/* Makes the tree of all sums.  To be freed in any case.  PERFILE_E_NOMEM, PERFILE_E_LIMIT. */
perfile_status pf_tree_make(pf_tree *t, pf_profile *profile, const pf_tree_options *options,
                            perfile_error *err);
void pf_tree_free(pf_tree *t);

static inline const pf_node *pf_tree_at(const pf_tree *t, uint32_t number)
{
    return pf_intern_at(&t->nodes, number);
}

/* The node behind `number` in the order of the tree, children before siblings; 0 at the end. */
uint32_t pf_tree_next(const pf_tree *t, uint32_t number);

#endif

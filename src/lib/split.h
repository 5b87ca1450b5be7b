/* What the files of perfile_split_capture() share. */
#ifndef PF_LIB_SPLIT_H
#define PF_LIB_SPLIT_H

#include "io/out_set.h"
#include "lib/notes.h"
#include "lib/passes.h"
#include "split/split.h"

/* Parts that are written at once: as many as may be open, so that a capture of thousands of parts
 * is not read once for each few of them. */
enum { PF_SPLIT_OPEN = 512, PF_SPLIT_OPEN_LEAST = 128 };

typedef struct pf_splitting {
    pf_passes all;
    perfile_split_capture_options writing;
    perfile_limits limits; /* of `writing`, filled in */
    pf_split split;
    perfile_stream *looked, *found; /* stay open: names of threads and events are theirs */
    uint32_t lot;                   /* PF_SPLIT_OPEN, or less where not so many may be open */
    uint64_t grown, most;           /* bytes given to the parts, and how many may be */
    bool failing;                   /* on damage */
    bool finding;                   /* the pass that tells what is damaged */
    uint32_t form;
    pf_split_names names;
    pf_buffer name_of; /* const char *: of each part, with a pattern */
    pf_out_set *set;
    pf_notes notes;
    perfile_split_summary sum;
} pf_splitting;

/* lib/split.c: how far the pass is, and what damage it meets. */
void pf_split_report(void *splitting, const perfile_record *at);
/* What is told of part `n`; `buffer` is for its key. */
void pf_split_describe(const pf_splitting *s, uint32_t n, char buffer[24], perfile_split_part *out);

/* Counts bytes that parts get; PERFILE_E_LIMIT when all are more than limits.growth_ratio allows.
 */
perfile_status pf_split_grew(pf_splitting *s, uint64_t bytes, perfile_error *err);

/* lib/split_write.c: the parts from `first` on, `lot` of them at most. */
perfile_status pf_split_write(pf_splitting *s, uint32_t first, perfile_error *err);

#endif

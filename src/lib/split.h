/* The state of perfile_split_capture(), shared by split.c (passes, names, limits) and split_write.c
 * (writing). src/filter decides to which part a record belongs. */
#ifndef PF_LIB_SPLIT_H
#define PF_LIB_SPLIT_H

#include "io/out_kind.h"
#include "lib/copy.h"
#include "lib/passes.h"
#include "filter/split.h"

/* How many parts are written in one pass over the capture: as many files as may be open, and fewer
 * if the process may open only few.  Each further lot of parts costs one or two passes. */
enum {
    PF_SPLIT_OPEN = 512,
    PF_SPLIT_OPEN_LEAST = 128,
    PF_SPLIT_OPEN_ARCHIVES = 4 /* each may have chunks of 8 MiB, decoded and encoded */
};

typedef struct pf_splitting {
    pf_passes all;
    perfile_split_capture_options writing;
    perfile_limits limits; /* the limits of `writing`, with defaults filled in */
    pf_split split;
    /* Streams of the first passes.  They stay open, because names of threads and events in `split`
     * are borrowed from their sessions. */
    perfile_stream *scanned; /* the pass for names and sizes; NULL if not needed */
    perfile_stream *found;   /* the pass that found the parts */
    uint32_t lot;            /* number of parts that are written at once */
    uint64_t grown;          /* bytes written to all parts so far, or certain to be written */
    uint64_t most;           /* maximum of `grown`; UINT64_MAX if there is none */
    bool failing;            /* damage is an error */
    bool finding;  /* the current pass notes damage; the other passes find the same damage again */
    uint32_t form; /* PERFILE_FORM_… of the parts */
    pf_split_names names;
    pf_buffer name_of; /* const char *: path of each part; empty without a pattern */
    pf_out_set *set;   /* the files, if there is a pattern; otherwise writing.open() makes the
                        * sinks */
    pf_notes notes;
    perfile_split_summary sum;
} pf_splitting;

/* lib/split.c: called with the first record of each run of every pass.  Reports progress, and notes
 * damage in the pass that finds the parts. */
void pf_split_report(void *splitting, const perfile_record *at);
/* Fills *out with the facts about part `n` that are known before it is written. out->key may point
 * into `buffer`. */
void pf_split_describe(const pf_splitting *s, uint32_t n, char buffer[24], perfile_split_part *out);

/* Adds `bytes` to the size of the parts.  Fails with PERFILE_E_LIMIT if that exceeds
 * limits.growth_ratio times the capture: otherwise a small input could fill a disk with parts that
 * repeat its side-band. */
perfile_status pf_split_grew(pf_splitting *s, uint64_t bytes, perfile_error *err);

/* lib/split_write.c: writes the parts from number `first` on, at most s->lot of them. */
perfile_status pf_split_write(pf_splitting *s, uint32_t first, perfile_error *err);

#endif

/* Some parts of a split that are written in one pass: for split_write.c and split_stored.c. */
#ifndef PF_LIB_SPLIT_LOT_H
#define PF_LIB_SPLIT_LOT_H

#include "lib/copy.h"
#include "lib/split.h"
#include "stage/fragments.h"

typedef struct pf_split_output {
    pf_filter *filter;
    perfile_sink *sink;
    perfile_sink *file; /* below `sink`, which packs; else NULL */
    perfile_writer *writer;
    pf_session_view *view; /* features that differ from those of the capture; NULL: none do */
    pf_copy copy;
    uint64_t here; /* bit i: record i of the run goes to this part */
} pf_split_output;

typedef struct pf_split_lot {
    pf_splitting *s;
    perfile_stream *stream;
    uint32_t first, n;   /* parts of this lot: numbers first .. first + n - 1 */
    bool files;          /* the capture has BUILD_ID: each part lists the files it maps */
    pf_split_output *at; /* n outputs */
    uint32_t parts[PERFILE_RUN_RECORDS]; /* number of the part of each record of the run */

    /* Fragments wait for the record joined from them: it belongs to the parts that get them. */
    pf_fragments fragments;

    /* Ranges of a capture in an archive that are passed over: split_stored.c. */
    pf_narrow narrow;
    uint32_t range_part;           /* number of the part of all samples of the range */
    uint64_t range_key, range_end; /* sequence of the record behind the range */
    bool range_counted;
    pf_split_output *given; /* the range went to this output as it is stored … */
    uint64_t given_end; /* … up to the record of this sequence; its other records are read, too */
    perfile_status passed;
    perfile_error passed_error;
} pf_split_lot;

/* Lets the stream of the pass that begins pass over ranges whose samples are all at home in one
 * part: in the pass before the writing one, their processes are noted; in the writing one, they go
 * to their part as they are stored where all sinks are archives, and are passed over if it is in
 * another lot.  Errors are kept in l->passed. */
void pf_split_narrow_lot(pf_split_lot *l, bool writes);
perfile_status pf_split_lot_status(const pf_split_lot *l, perfile_error *err);

#endif

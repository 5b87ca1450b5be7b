/* A source that yields the bytes of another source and copies each byte once, in order, to a sink
 * while it is in memory: records are read and the file is copied in one pass. */
#ifndef PF_IO_TEE_H
#define PF_IO_TEE_H

#include "io/source.h"
#include "perfile/sink.h"

/* Belongs to the caller and must outlive the source made of it.  Closing that source closes neither
 * `below` nor `sink`. */
typedef struct pf_tee {
    perfile_source *below; /* where the bytes come from */
    perfile_sink *sink;    /* NULL: nothing is copied */
    uint64_t copied;       /* bytes written to `sink`: all of [0, copied) */
} pf_tee;

/* True if reading through the tee copies.  False for a mapped source: its bytes are in memory at
 * any time, and the caller copies them itself in large pieces. */
static inline bool pf_tee_copies(const pf_tee *t)
{
    return t->sink && !t->below->stable;
}

/* Makes the source that reads through `tee`. */
perfile_status pf_source_tee(pf_tee *tee, perfile_source **source, perfile_error *err);

/* Copies what was not read, up to the end of input.  Only for a tee with pf_tee_copies(). */
perfile_status pf_tee_rest(pf_tee *tee, perfile_error *err);

#endif

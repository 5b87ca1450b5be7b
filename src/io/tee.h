/* A source that shows the bytes of another one and copies them to a sink while they are in memory,
 * each of them once and in order: what is read can be looked at and kept as it is. */
#ifndef PF_IO_TEE_H
#define PF_IO_TEE_H

#include "io/source.h"
#include "perfile/sink.h"

/* The caller's, and lives longer than the source made of it.  Closing that closes nothing else. */
typedef struct pf_tee {
    perfile_source *below;
    perfile_sink *sink; /* NULL: nothing is copied */
    uint64_t copied;    /* bytes, from offset 0 on */
} pf_tee;

/* False of what is mapped: whoever wants that copied finds it in memory at any time. */
static inline bool pf_tee_copies(const pf_tee *t)
{
    return t->sink && !t->below->stable;
}

perfile_status pf_source_tee(pf_tee *tee, perfile_source **source, perfile_error *err);

/* Copies what is left, when nobody reads any more; only of a tee that copies. */
perfile_status pf_tee_rest(pf_tee *tee, perfile_error *err);

#endif

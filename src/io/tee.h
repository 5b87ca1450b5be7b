/* A source that shows the bytes of another one and copies those of a stream to a sink, each of them
 * once and in order: what is read can be looked at and kept as it is. */
#ifndef PF_IO_TEE_H
#define PF_IO_TEE_H

#include "io/source.h"
#include "perfile/sink.h"

/* The caller's, and lives longer than the source made of it.  Closing that closes nothing else. */
typedef struct pf_tee {
    perfile_source *below;
    perfile_sink *sink; /* NULL: nothing is copied */
    uint64_t copied;    /* bytes of a stream */
} pf_tee;

perfile_status pf_source_tee(pf_tee *tee, perfile_source **source, perfile_error *err);

/* Copies what is left of a stream that nobody reads any more. */
perfile_status pf_tee_rest(pf_tee *tee, perfile_error *err);

#endif

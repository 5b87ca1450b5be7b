/* A capture that is read several times. */
#ifndef PF_LIB_PASSES_H
#define PF_LIB_PASSES_H

#include "io/tee.h"
#include "lib/progress.h"
#include "perfile/stream.h"

/* Begins with pf_passes_begin(); `source` is the caller's to close. */
typedef struct pf_passes {
    perfile_source *source;
    pf_tee tee; /* each pass has a source of its own, which reads this one */
    perfile_options how;

    uint32_t n;           /* passes that were begun */
    pf_progress progress; /* of the one that runs */
} pf_passes;

void pf_passes_begin(pf_passes *p, perfile_source *source, const perfile_options *how);

/* Whether it can be read more than once as it is. */
bool pf_passes_seekable(const pf_passes *p);
/* What a pipe has goes to a temporary file; p->source is that from then on. */
perfile_status pf_passes_spool(pf_passes *p, perfile_error *err);

/* Opens the capture once more; the caller closes the stream. */
perfile_status pf_passes_open(pf_passes *p, perfile_stream **stream, perfile_error *err);

#endif

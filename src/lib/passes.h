/* A capture, or a stream that a caller makes as often as needed, that is read several times. */
#ifndef PF_LIB_PASSES_H
#define PF_LIB_PASSES_H

#include "io/tee.h"
#include "lib/progress.h"
#include "core/stream.h"

/* Begins with pf_passes_begin(), where `source` is the caller's to close, or with
 * pf_passes_of_streams(). */
typedef struct pf_passes {
    perfile_source *source; /* NULL: each pass is a stream of … */
    perfile_status (*make)(void *user, perfile_stream **stream, perfile_error *err);
    void *user;
    perfile_stream *ready; /* made, and not given out yet */
    bool inputs_known;     /* what that reads: */
    pf_inputs inputs;
    pf_tee tee; /* each pass has a source of its own, which reads this one */
    perfile_open_options how;

    uint32_t n;           /* passes that were begun */
    pf_progress progress; /* of the one that runs */
} pf_passes;

void pf_passes_begin(pf_passes *p, perfile_source *source, const perfile_open_options *how);
void pf_passes_of_streams(pf_passes *p,
                          perfile_status (*make)(void *user, perfile_stream **stream,
                                                 perfile_error *err),
                          void *user, uint32_t deliver);
void pf_passes_end(pf_passes *p);

/* What is read in each pass, to be asked for whenever it is needed. */
perfile_status pf_passes_inputs(pf_passes *p, const pf_inputs **inputs, perfile_error *err);

/* Whether it can be read more than once as it is. */
bool pf_passes_seekable(const pf_passes *p);
/* What a pipe has goes to a temporary file; p->source is that from then on. */
perfile_status pf_passes_spool(pf_passes *p, perfile_error *err);

/* Opens the capture once more; the caller closes the stream. */
perfile_status pf_passes_open(pf_passes *p, perfile_stream **stream, perfile_error *err);

#endif

/* A driver knows one on-disk form and turns its bytes into a stream. */
#ifndef PF_CORE_DRIVER_H
#define PF_CORE_DRIVER_H

#include "core/stream.h"

typedef struct pf_driver {
    const char *name; /* what --from takes */
    const char *doc;
    /* Bits of evidence that `peek`, the first bytes of the source (at most 4096), is this form; 0:
     * it is not.  For a directory `peek` is empty and `source` is asked for its entries. */
    unsigned (*probe)(perfile_bytes peek, const perfile_source *source);
    /* Owns the source from success on. */
    perfile_status (*open)(perfile_source *source, const perfile_options *options,
                           perfile_stream **stream, perfile_error *err);
} pf_driver;

#endif

/* A driver knows one on-disk form and turns its bytes into a stream. */
#ifndef PF_CORE_DRIVER_H
#define PF_CORE_DRIVER_H

#include "core/stream.h"
#include "perfile/writer.h"

enum {                      /* pf_driver.can: what options of a writer it knows */
       PF_CAN_COMPRESS = 1, /* compress_level */
       PF_CAN_TARGET = 2    /* target: a version of perf */
};

typedef struct pf_driver {
    const char *name; /* what --from takes */
    const char *doc;
    uint8_t family; /* PERFILE_FAMILY_… of its records */
    uint8_t can;    /* PF_CAN_… */
    /* Bits of evidence that `peek`, the first bytes of the source (at most 4096), is this form; 0:
     * it is not.  For a directory `peek` is empty and `source` is asked for its entries. */
    unsigned (*probe)(perfile_bytes peek, const perfile_source *source);
    /* Owns the source from success on. */
    perfile_status (*open)(perfile_source *source, const perfile_options *options,
                           perfile_stream **stream, perfile_error *err);
    /* A writer on `sink` (core/writer.h); the options are whole.  NULL: it is only read. */
    perfile_status (*create)(perfile_sink *sink, const perfile_writer_options *options,
                             perfile_writer **writer, perfile_error *err);
    /* What it writes: where there is one only, that is meant whatever form is asked for. */
    const perfile_output *outputs;
    size_t n_outputs;
} pf_driver;

#endif

/* Output of an emitter that goes to the sink compressed, as a gzip file. */
#ifndef PF_EMIT_GZIP_H
#define PF_EMIT_GZIP_H

#define ZLIB_CONST /* input is only read */
#include <zlib.h>

#include "emit/emitter.h"

typedef struct pf_gzip {
    z_stream z;
    perfile_emitter *e;
} pf_gzip;

/* Begins a file.  False if there is no memory; else pf_gzip_free() ends it. */
bool pf_gzip_begin(pf_gzip *g, perfile_emitter *e);

/* Compresses bytes into the output of the emitter, and writes what is there of it. */
perfile_status pf_gzip_put(pf_gzip *g, perfile_bytes bytes, perfile_error *err);

/* Ends the file. */
perfile_status pf_gzip_finish(pf_gzip *g, perfile_error *err);

void pf_gzip_free(pf_gzip *g);

#endif

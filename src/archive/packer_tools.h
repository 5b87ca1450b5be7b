/* What encoding a chunk needs, and what is large: an encoder with the columns of a chunk, contexts
 * of zstd, a decoder to verify with.  Jobs borrow it while they are encoded, so that there are as
 * many as threads at work, and not as many as chunks that wait.  For packer_job.c. */
#ifndef PF_ARCHIVE_PACKER_TOOLS_H
#define PF_ARCHIVE_PACKER_TOOLS_H

#include <pthread.h>

#include "archive/columns.h"
#include "archive/columns_encode.h"
#include "archive/pack.h"
#include "archive/zone.h"

typedef struct pf_tools {
    pf_columns_encoder *encoder;
    pf_columns_decoder *decoder; /* NULL without verifying, as `unzstd` */
    ZSTD_CCtx *zstd;
    ZSTD_DCtx *unzstd;
    pf_zone zone;
    pf_buffer again; /* what was encoded, decoded again */
    struct pf_tools *next;
} pf_tools;

typedef struct pf_toolbox {
    bool verify;
    pthread_mutex_t lock; /* of `free` */
    pf_tools *free;
} pf_toolbox;

void pf_toolbox_init(pf_toolbox *box, bool verify);

/* All tools must have been put back. */
void pf_toolbox_free(pf_toolbox *box);

/* In any thread.  Those that were put back last are taken first: their memory is in the cache.
 * NULL: no memory. */
pf_tools *pf_tools_take(pf_toolbox *box);

/* NULL is fine. */
void pf_tools_put_back(pf_toolbox *box, pf_tools *tools);

#endif

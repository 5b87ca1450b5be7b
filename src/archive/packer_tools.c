/* A list of tools that nobody uses, behind a lock.  See packer_tools.h. */
#include "archive/packer.h"

#include "base/alloc.h"

static void release(pf_tools *t)
{
    pf_columns_encoder_free(t->encoder);
    pf_columns_decoder_free(t->decoder);
    ZSTD_freeCCtx(t->zstd);
    ZSTD_freeDCtx(t->unzstd);
    pf_zone_free(&t->zone);
    pf_buffer_free(&t->again);
    pf_free(t);
}

static pf_tools *make(bool verify)
{
    pf_tools *t = pf_alloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->encoder = pf_columns_encoder_new();
    t->decoder = verify ? pf_columns_decoder_new() : NULL;
    t->zstd = ZSTD_createCCtx();
    t->unzstd = verify ? ZSTD_createDCtx() : NULL;
    if (t->encoder && t->zstd && (!verify || (t->decoder && t->unzstd)))
        return t;
    release(t);
    return NULL;
}

void pf_toolbox_init(pf_toolbox *box, bool verify)
{
    *box = (pf_toolbox){.verify = verify};
    pthread_mutex_init(&box->lock, NULL);
}

void pf_toolbox_free(pf_toolbox *box)
{
    for (pf_tools *t = box->free, *next; t; t = next) {
        next = t->next;
        release(t);
    }
    pthread_mutex_destroy(&box->lock);
}

pf_tools *pf_tools_take(pf_toolbox *box)
{
    pthread_mutex_lock(&box->lock);
    pf_tools *t = box->free;
    if (t)
        box->free = t->next;
    pthread_mutex_unlock(&box->lock);
    return t ? t : make(box->verify);
}

void pf_tools_put_back(pf_toolbox *box, pf_tools *tools)
{
    if (!tools)
        return;
    pthread_mutex_lock(&box->lock);
    tools->next = box->free;
    box->free = tools;
    pthread_mutex_unlock(&box->lock);
}

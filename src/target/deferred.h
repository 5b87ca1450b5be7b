/* Records that wait: samples for the user part of their call chain, and what stands behind them,
 * so that the order stays.
 *
 * The kernel writes the user part of a chain when the thread is about to return to user mode: the
 * sample ends its chain with a cookie, the CALLCHAIN_DEFERRED record has the cookie and the
 * rest.  Nothing is allocated per record once buffers have grown. */
#ifndef PF_TARGET_DEFERRED_H
#define PF_TARGET_DEFERRED_H

#include "base/buffer.h"
#include "perfile/record.h"

/* What a waiting sample gives when it is taken. */
enum {
    PF_HELD_PLAIN = 0,
    PF_HELD_WAITING,
    PF_HELD_COMPLETE, /* its chain has come */
    PF_HELD_CHAIN     /* no record: the chain that others are waiting for */
};

typedef struct pf_held {
    perfile_record record; /* header and body are NULL; the bytes are at … */
    uint64_t at;           /* … since the beginning */
    uint64_t len;
    uint64_t cookie;
    uint64_t chain;    /* number of the entry that completes it */
    uint64_t before;   /* the last entry of the same bucket and 1, 0: none */
    uint32_t tid;      /* PERFILE_NO_PID: not known */
    uint32_t chain_at; /* of a sample: where the count of its chain stands in it */
    uint8_t state;
} pf_held;

/* All zeros but for `seed` and `limit` is empty. */
typedef struct pf_deferred {
    pf_buffer entries; /* pf_held */
    pf_buffer bytes;
    uint64_t first;      /* number of the first entry */
    uint64_t n_given;    /* entries in front that were handed out, and go with the next pop */
    uint64_t bytes_gone; /* before the first byte in `bytes` */
    uint64_t *buckets;   /* the last entry and 1 */
    uint64_t n_waiting;
    uint64_t seed;
    uint64_t limit;
    uint64_t most; /* bytes that were held at once */
} pf_deferred;

static inline uint64_t pf_deferred_n(const pf_deferred *h)
{
    return h->entries.len / sizeof(pf_held) - h->n_given;
}

/* Bytes that are held. */
static inline uint64_t pf_deferred_size(const pf_deferred *h)
{
    return h->entries.len + h->bytes.len;
}

/* The `i`-th entry that was not handed out yet. */
pf_held *pf_deferred_at(pf_deferred *h, uint64_t i);

perfile_bytes pf_deferred_bytes(const pf_deferred *h, const pf_held *e);

/* Adds a copy of `r`; of a record of family DAMAGE without its bytes.  A sample that is to wait for
 * (tid, cookie) has `chain_at`, others 0. */
perfile_status pf_deferred_add(pf_deferred *h, const perfile_record *r, uint32_t chain_at,
                               uint32_t tid, uint64_t cookie, perfile_error *err);

/* The rest of a chain: completes those that wait for it; *found is how many.  It is kept while they
 * are. */
perfile_status pf_deferred_complete(pf_deferred *h, uint32_t tid, uint64_t cookie,
                                    perfile_bytes chain, uint64_t *found, perfile_error *err);

/* The chain that completes `e`. */
perfile_bytes pf_deferred_chain_of(pf_deferred *h, const pf_held *e);

/* Hands out the first entry: it stays where it is until the next pop. */
void pf_deferred_give(pf_deferred *h);
void pf_deferred_pop(pf_deferred *h);

void pf_deferred_free(pf_deferred *h);

#endif

/* A queue of held records: samples that wait for the user part of their callchain, and all later
 * records, so that the order does not change.
 *
 * The kernel may unwind the user stack only when the thread returns to user mode.  Then the
 * callchain of the sample ends with a marker and a cookie, and a later CALLCHAIN_DEFERRED record
 * has the same cookie and the rest of the chain.  Waiting samples are found by (tid, cookie) in a
 * hash table with linked lists of entries as buckets.  Entries are numbered from the beginning of
 * the stream, so numbers stay valid while the front of the queue is removed.  Nothing is allocated
 * per record once buffers have grown. */
#ifndef PF_TRANSFORM_DEFERRED_H
#define PF_TRANSFORM_DEFERRED_H

#include "base/buffer.h"
#include "perfile/record.h"

/* pf_held.state */
enum {
    PF_HELD_PLAIN = 0, /* a record held only because an earlier one waits */
    PF_HELD_WAITING,   /* a sample without its chain so far */
    PF_HELD_COMPLETE,  /* a sample with its chain */
    PF_HELD_CHAIN      /* not a record: a chain that completes earlier samples */
};

/* An entry of the queue. */
typedef struct pf_held {
    perfile_record record; /* header and body are NULL: pf_deferred.bytes has the bytes */
    uint64_t at;           /* offset of the bytes, counted from the beginning of the stream */
    uint64_t len;          /* number of bytes */
    uint64_t cookie;
    uint64_t chain;    /* with PF_HELD_COMPLETE: number of the entry with the chain */
    uint64_t before;   /* number + 1 of the previous entry in the same bucket; 0 if there is none */
    uint32_t tid;      /* of the sample; PERFILE_NO_PID if unknown */
    uint32_t chain_at; /* offset of the callchain's count in the sample, counted from its header */
    uint8_t state;     /* PF_HELD_… */
} pf_held;

/* A queue that is all zeros, except `seed` and `limit`, is empty. */
typedef struct pf_deferred {
    pf_buffer entries;  /* pf_held */
    pf_buffer bytes;    /* of their records, in the same order */
    uint64_t first;     /* number of the first entry in `entries` */
    uint64_t n_yielded; /* entries at the front that have been yielded; the next pop removes them */
    uint64_t bytes_gone; /* bytes removed by pops so far: offset of bytes.ptr[0] */
    uint64_t *buckets;   /* number + 1 of the last entry of each bucket */
    uint64_t n_waiting;  /* entries with PF_HELD_WAITING */
    uint64_t seed;       /* seed of the hash function */
    uint64_t limit;      /* perfile_limits.held_bytes; only the caller compares with it */
    uint64_t most;       /* maximum of pf_deferred_size() so far */
} pf_deferred;

/* Returns the number of entries that have not been yielded. */
static inline uint64_t pf_deferred_n(const pf_deferred *h)
{
    return h->entries.len / sizeof(pf_held) - h->n_yielded;
}

/* Returns the bytes of memory that the queue uses. */
static inline uint64_t pf_deferred_size(const pf_deferred *h)
{
    return h->entries.len + h->bytes.len;
}

/* Returns the `i`-th entry that has not been yielded.  Valid until the next entry is added. */
pf_held *pf_deferred_at(pf_deferred *h, uint64_t i);

/* Returns the bytes of an entry.  Valid until the next entry is added, or this one is removed. */

perfile_bytes pf_deferred_bytes(const pf_deferred *h, const pf_held *e);

/* Adds a copy of `r` with its bytes; a record of family DAMAGE has none.  If `chain_at` is not 0,
 * the record is a sample that waits for (tid, cookie). */
perfile_status pf_deferred_add(pf_deferred *h, const perfile_record *r, uint32_t chain_at,
                               uint32_t tid, uint64_t cookie, perfile_error *err);

/* Completes all samples that wait for (tid, cookie) with `chain`, the rest of their callchain;
 * *found receives their number.  The chain is copied to an entry of its own, which is removed after
 * these samples. */
perfile_status pf_deferred_complete(pf_deferred *h, uint32_t tid, uint64_t cookie,
                                    perfile_bytes chain, uint64_t *found, perfile_error *err);

/* Returns the chain that completes `e`, which has PF_HELD_COMPLETE. */
perfile_bytes pf_deferred_chain_of(pf_deferred *h, const pf_held *e);

/* Marks the first entry as yielded.  Its bytes remain valid until the next pop. */
void pf_deferred_yield(pf_deferred *h);
/* Removes all yielded entries. */
void pf_deferred_pop(pf_deferred *h);

void pf_deferred_free(pf_deferred *h);

#endif

/* A queue of records that wait: samples for the user part of their call chain, and all records
 * after them, so that the order does not change.
 *
 * The kernel may unwind the user stack only when the thread returns to user mode.  Then the call
 * chain of the sample ends with a marker and a cookie, and a later CALLCHAIN_DEFERRED record has
 * the same cookie and the rest of the chain.  A hash table finds waiting samples by (tid, cookie).
 * Its buckets are lists that are linked through the entries.  Entries are numbered from the
 * beginning of the stream, so numbers stay valid when entries are removed from the front of the
 * queue.  Nothing is allocated per record once buffers have grown. */
#ifndef PF_TRANSFORM_DEFERRED_H
#define PF_TRANSFORM_DEFERRED_H

#include "base/buffer.h"
#include "perfile/record.h"

/* pf_held.state */
enum {
    PF_HELD_PLAIN = 0, /* not a waiting sample: it waits only because one before it does */
    PF_HELD_WAITING,   /* a sample without its chain */
    PF_HELD_COMPLETE,  /* a sample with its chain */
    PF_HELD_CHAIN      /* no record: a chain that completes samples before it */
};

/* An entry of the queue. */
typedef struct pf_held {
    perfile_record record; /* header and body are NULL: the bytes are in pf_deferred.bytes */
    uint64_t at;           /* offset of the bytes, counted from the beginning of the stream */
    uint64_t len;          /* number of bytes */
    uint64_t cookie;
    uint64_t chain;    /* if PF_HELD_COMPLETE: number of the entry that has the chain */
    uint64_t before;   /* number + 1 of the previous entry in the same bucket, or 0 */
    uint32_t tid;      /* of the sample; PERFILE_NO_PID: unknown */
    uint32_t chain_at; /* offset of the count of the call chain, from the header on */
    uint8_t state;     /* PF_HELD_… */
} pf_held;

/* Empty if all members but `seed` and `limit` are zero. */
typedef struct pf_deferred {
    pf_buffer entries;   /* pf_held */
    pf_buffer bytes;     /* of the records, in the same order */
    uint64_t first;      /* number of the first entry in `entries` */
    uint64_t n_yielded;  /* yielded entries at the front, which the next pop removes */
    uint64_t bytes_gone; /* bytes removed so far: `at` of the first byte in `bytes` */
    uint64_t *buckets;   /* number + 1 of the last entry of each */
    uint64_t n_waiting;  /* entries with PF_HELD_WAITING */
    uint64_t seed;       /* of the hash */
    uint64_t limit;      /* perfile_limits.held_bytes; checked by the user of the queue */
    uint64_t most;       /* greatest pf_deferred_size() so far */
} pf_deferred;

/* Returns the number of entries that were not yielded yet. */
static inline uint64_t pf_deferred_n(const pf_deferred *h)
{
    return h->entries.len / sizeof(pf_held) - h->n_yielded;
}

/* Returns the bytes in the buffers of the queue. */
static inline uint64_t pf_deferred_size(const pf_deferred *h)
{
    return h->entries.len + h->bytes.len;
}

/* Returns the `i`-th entry that was not yielded yet; valid until the next entry is added. */
pf_held *pf_deferred_at(pf_deferred *h, uint64_t i);

/* Returns the bytes of an entry; valid until the next entry is added, or this one is removed. */

perfile_bytes pf_deferred_bytes(const pf_deferred *h, const pf_held *e);

/* Adds a copy of `r` with its bytes; records of family DAMAGE have none.  If `chain_at` is not 0,
 * the record is a sample that waits for (tid, cookie). */
perfile_status pf_deferred_add(pf_deferred *h, const perfile_record *r, uint32_t chain_at,
                               uint32_t tid, uint64_t cookie, perfile_error *err);

/* Completes all samples that wait for (tid, cookie) with `chain`, the rest of their call chain.
 * *found is their number.  The chain is copied to an entry of its own, which stays in the queue
 * until these samples have left it. */
perfile_status pf_deferred_complete(pf_deferred *h, uint32_t tid, uint64_t cookie,
                                    perfile_bytes chain, uint64_t *found, perfile_error *err);

/* Returns the chain that completes `e`, which must be PF_HELD_COMPLETE. */
perfile_bytes pf_deferred_chain_of(pf_deferred *h, const pf_held *e);

/* Marks the first entry as yielded.  Its bytes stay valid until the next pop. */
void pf_deferred_yield(pf_deferred *h);
/* Removes all yielded entries. */
void pf_deferred_pop(pf_deferred *h);

void pf_deferred_free(pf_deferred *h);

#endif

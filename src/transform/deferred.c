/* The queue of records that wait for callchains; see deferred.h.  Memory is two buffers, of entries
 * and of their bytes; yielded entries are removed from their front.  A bucket may have numbers of
 * removed entries: they are less than h->first and end the search in the bucket. */
#include "transform/deferred.h"

#include "base/alloc.h"
#include "base/error.h"
#include "schema/rows.h"

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
enum { N_BUCKETS = 1 << 6 }; /* clearing more takes most of the time of a small capture */
#else
enum { N_BUCKETS = 1 << 14 }; /* 128 KiB, allocated for the first sample that waits */
#endif

static pf_held *entries(const pf_deferred *h)
{
    return (pf_held *)(void *)h->entries.ptr;
}

static uint64_t n_entries(const pf_deferred *h)
{
    return h->entries.len / sizeof(pf_held);
}

/* Returns the bucket of (tid, cookie).  Cookies come from input: without a random seed, a hostile
 * input could put all of them into one bucket. */
static uint64_t *bucket_of(pf_deferred *h, uint32_t tid, uint64_t cookie)
{
    uint64_t v = (cookie ^ h->seed) * (h->seed | 1) + tid;
    v = (v ^ v >> 32) * UINT64_C(0x9e3779b97f4a7c15);
    return &h->buckets[(v >> 32) % N_BUCKETS];
}

pf_held *pf_deferred_at(pf_deferred *h, uint64_t i)
{
    return &entries(h)[h->n_yielded + i];
}

perfile_bytes pf_deferred_bytes(const pf_deferred *h, const pf_held *e)
{
    return (perfile_bytes){h->bytes.ptr + (e->at - h->bytes_gone), (size_t)e->len};
}

/* Appends an entry after its bytes have been added. */
static perfile_status add(pf_deferred *h, const pf_held *e, perfile_error *err)
{
    if (!pf_buffer_append(&h->entries, e, sizeof *e))
        return pf_fail_nomem(err, "held_bytes");
    if (pf_deferred_size(h) > h->most)
        h->most = pf_deferred_size(h);
    return PERFILE_OK;
}

/* Appends bytes of entry *e, which will be added next. */
static perfile_status add_bytes(pf_deferred *h, pf_held *e, const void *bytes, size_t n,
                                perfile_error *err)
{
    if (!pf_buffer_append(&h->bytes, bytes, n))
        return pf_fail_nomem(err, "held_bytes");
    e->len += n;
    return PERFILE_OK;
}

perfile_status pf_deferred_add(pf_deferred *h, const perfile_record *r, uint32_t chain_at,
                               uint32_t tid, uint64_t cookie, perfile_error *err)
{
    pf_held e = {.record = *r,
                 .at = h->bytes_gone + h->bytes.len,
                 .cookie = cookie,
                 .tid = tid,
                 .chain_at = chain_at};
    perfile_status st = PERFILE_OK;
    /* The pointers are set when the record leaves, because `bytes` may move until then. */
    e.record.header = NULL;
    e.record.body.ptr = NULL;
    if (r->family != PERFILE_FAMILY_DAMAGE) {
        st = add_bytes(h, &e, r->header, PF_PERF_RECORD_HEADER, err);
        if (st == PERFILE_OK)
            st = add_bytes(h, &e, r->body.ptr, r->body.len, err);
    }
    if (st == PERFILE_OK && chain_at) {
        if (!h->buckets && !(h->buckets = pf_alloc(N_BUCKETS, sizeof *h->buckets)))
            return pf_fail_nomem(err, "held_bytes");
        uint64_t *bucket = bucket_of(h, tid, cookie);
        e.state = PF_HELD_WAITING;
        /* The next entry becomes the head of the list of its bucket. */
        e.before = *bucket;
        *bucket = h->first + n_entries(h) + 1;
        h->n_waiting++;
    }
    return st == PERFILE_OK ? add(h, &e, err) : st;
}

/* Completes the waiting samples of (tid, cookie) in the bucket; `chain` is the number of the entry
 * that will have the chain.  Entries that no longer wait are unlinked on the way, so none is
 * examined twice after its chain has come.  Returns how many were completed. */
static uint64_t complete(pf_deferred *h, uint64_t *bucket, uint32_t tid, uint64_t cookie,
                         uint64_t chain)
{
    uint64_t found = 0, *link = bucket;
    for (uint64_t at = *bucket; at > h->first;) {
        pf_held *e = &entries(h)[at - 1 - h->first];
        if (e->state == PF_HELD_WAITING && e->cookie == cookie && e->tid == tid) {
            e->state = PF_HELD_COMPLETE;
            e->chain = chain;
            found++;
        } else if (e->state == PF_HELD_WAITING) {
            *link = at;
            link = &e->before;
        }
        at = e->before;
    }
    *link = 0;
    h->n_waiting -= found;
    return found;
}

perfile_status pf_deferred_complete(pf_deferred *h, uint32_t tid, uint64_t cookie,
                                    perfile_bytes chain, uint64_t *found, perfile_error *err)
{
    *found = 0;
    if (!h->n_waiting) /* there may be no buckets yet */
        return PERFILE_OK;
    /* The entry of the chain comes after its samples, so it leaves the queue after them. */
    pf_held e = {.at = h->bytes_gone + h->bytes.len, .state = PF_HELD_CHAIN};
    uint64_t number = h->first + n_entries(h);
    *found = complete(h, bucket_of(h, tid, cookie), tid, cookie, number);
    if (!*found)
        return PERFILE_OK;
    perfile_status st = add_bytes(h, &e, chain.ptr, chain.len, err);
    return st == PERFILE_OK ? add(h, &e, err) : st;
}

perfile_bytes pf_deferred_chain_of(pf_deferred *h, const pf_held *e)
{
    return pf_deferred_bytes(h, &entries(h)[e->chain - h->first]);
}

void pf_deferred_yield(pf_deferred *h)
{
    pf_held *e = pf_deferred_at(h, 0);
    if (e->state == PF_HELD_WAITING) { /* it leaves incomplete, so no later chain must find it */
        h->n_waiting--;
        e->state = PF_HELD_PLAIN;
    }
    h->n_yielded++;
}

void pf_deferred_pop(pf_deferred *h)
{
    if (!h->n_yielded)
        return;
    /* Bytes are in the order of the entries, so those of all yielded entries are at the front. */
    const pf_held *last = &entries(h)[h->n_yielded - 1];
    uint64_t end = last->at + last->len;
    pf_buffer_consume_front(&h->bytes, (size_t)(end - h->bytes_gone));
    h->bytes_gone = end;
    pf_buffer_consume_front(&h->entries, (size_t)h->n_yielded * sizeof(pf_held));
    h->first += h->n_yielded;
    h->n_yielded = 0;
}

void pf_deferred_free(pf_deferred *h)
{
    pf_buffer_free(&h->entries);
    pf_buffer_free(&h->bytes);
    pf_free(h->buckets);
}

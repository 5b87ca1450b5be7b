/* What must be true of a sorted stream, whatever it was made of. */
#ifndef TESTS_SORTED_H
#define TESTS_SORTED_H

#include "perfile/perfile.h"

/* Records in any order: how many, and a sum over hashes of their bytes. */
typedef struct sorted_bag {
    uint64_t n, sum, mixed;
} sorted_bag;

/* What stood in front of a record. */
typedef struct sorted_state {
    uint64_t time, offset;
    uint32_t part;
    bool no_wholes;      /* do not look at the times of records in pieces */
    unsigned steps_back; /* in time */
    unsigned unstable;   /* equal times, another order than in the input */
    unsigned rounds;
} sorted_state;

static inline uint64_t sorted_hash(uint64_t h, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        h = (h ^ p[i]) * UINT64_C(0x100000001b3);
    return h;
}

static inline bool sorted_is_piece(const perfile_record *r)
{
    return r->type == PERFILE_RECORD_SIMPLEPERF_SPLIT ||
           r->type == PERFILE_RECORD_SIMPLEPERF_SPLIT_END;
}

/* Puts the record in the bag, with what is behind it; not rounds, nor what holds others, nor what
 * is put together of pieces. */
static inline perfile_status sorted_put(sorted_bag *bag, perfile_stream *s, const perfile_record *r,
                                        uint64_t *pieces)
{
    perfile_bytes more;
    if (r->flags & PERFILE_REC_ENVELOPE && sorted_is_piece(r))
        *pieces = r->sequence;
    else if (r->flags & PERFILE_REC_ENVELOPE || r->type == PERFILE_RECORD_FINISHED_ROUND ||
             (r->flags & PERFILE_REC_INNER && r->envelope == *pieces))
        return PERFILE_OK;
    if (r->flags & PERFILE_REC_PAYLOAD_CUT)
        return PERFILE_OK;
    perfile_status st = PERFILE_END;
    uint64_t h = sorted_hash(UINT64_C(0xcbf29ce484222325), r->header, 8);
    h = sorted_hash(h, r->body.ptr, r->body.len);
    if (r->extra.ptr)
        h = sorted_hash(h, r->extra.ptr, r->extra.len);
    else if (r->extra.len)
        while ((st = perfile_stream_extra(s, r, &more, NULL)) == PERFILE_OK)
            h = sorted_hash(h, more.ptr, more.len);
    bag->n++;
    bag->sum += h;
    bag->mixed += (h ^ h >> 29) * UINT64_C(0x9e3779b97f4a7c15);
    return st < 0 && st != PERFILE_E_TRUNCATED ? st : PERFILE_OK;
}

static inline void sorted_look(sorted_state *x, const perfile_record *r)
{
    uint64_t time = perfile_record_time(r);
    x->rounds += r->type == PERFILE_RECORD_FINISHED_ROUND;
    bool whole = r->flags & PERFILE_REC_INNER && x->no_wholes;
    if (time == PERFILE_NO_TIME || r->flags & PERFILE_REC_ENVELOPE || whole)
        return;
    x->steps_back += time < x->time;
    if (time == x->time && (r->part < x->part || (r->part == x->part && r->offset < x->offset)))
        x->unstable++;
    x->time = time;
    x->part = r->part;
    x->offset = r->offset;
}

/* Reads `s` to its end, or until an error, which is returned. */
static inline perfile_status sorted_read(perfile_stream *s, sorted_bag *bag, sorted_state *x)
{
    const perfile_record *first;
    size_t n;
    uint64_t pieces = PERFILE_NO_SEQUENCE;
    perfile_status st;
    while ((st = perfile_stream_next_run(s, &first, &n, NULL)) == PERFILE_OK)
        for (size_t i = 0; i < n; i++) {
            if (first[i].family != PERFILE_FAMILY_PERF)
                continue;
            if (x)
                sorted_look(x, &first[i]);
            perfile_status put = sorted_put(bag, s, &first[i], &pieces);
            if (put != PERFILE_OK)
                return put;
        }
    return st;
}

#endif

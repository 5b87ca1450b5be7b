/* A capture in memory, split into parts in memory; and what has to hold of them. */
#ifndef TESTS_SPLITTING_H
#define TESTS_SPLITTING_H

#include <stdlib.h>
#include <string.h>

#include "perfile/perfile.h"
#include "filter/filter.h"

typedef struct split_parts {
    perfile_sink **sinks;
    perfile_split_part *told;
    size_t n, done;
} split_parts;

static inline perfile_status split_open_part(void *user, const perfile_split_part *part,
                                             perfile_sink **sink, perfile_error *err)
{
    split_parts *p = user;
    perfile_status st = perfile_sink_memory("part", sink, err);
    if (st != PERFILE_OK)
        return st;
    perfile_sink **sinks = realloc(p->sinks, (p->n + 1) * sizeof *sinks);
    perfile_split_part *told = realloc(p->told, (p->n + 1) * sizeof *told);
    if (!sinks || !told || part->number != p->n)
        abort();
    p->sinks = sinks;
    p->told = told;
    p->sinks[p->n++] = *sink;
    return PERFILE_OK;
}

static inline void split_part_done(void *user, const perfile_split_part *part, perfile_sink *sink)
{
    split_parts *p = user;
    if (part->number != p->done || p->sinks[p->done] != sink)
        abort(); /* they come in order */
    p->told[p->done++] = *part;
}

static inline void split_parts_clear(split_parts *p)
{
    for (size_t i = 0; i < p->n; i++)
        perfile_sink_close(p->sinks[i]);
    free(p->sinks);
    free(p->told);
    *p = (split_parts){0};
}

/* Hashes of records that are written as they are. */
typedef struct split_hashes {
    uint64_t *at;
    size_t n, cap;
    uint64_t data, data_sum; /* how many are data, and the sum of these hashes */
    uint64_t all_sum;        /* of all */
} split_hashes;

/* Facts may become sections, pieces and what they are put together to go their own way. */
static inline bool split_counts(const perfile_record *r)
{
    return r->family == PERFILE_FAMILY_PERF &&
           !(r->flags & (PERFILE_REC_PAYLOAD_CUT | PERFILE_REC_ENVELOPE)) && r->extra.len == 0 &&
           (r->type < PERFILE_RECORD_USER || r->type == PERFILE_RECORD_FINISHED_ROUND);
}

static inline void split_hash(split_hashes *h, const perfile_record *r)
{
    uint64_t hash = r->type + ((uint64_t)r->misc << 32);
    for (size_t i = 0; i < r->body.len; i++)
        hash = (hash ^ r->body.ptr[i]) * UINT64_C(0x100000001b3);
    if (h->n == h->cap) {
        h->cap = h->cap ? 2 * h->cap : 256;
        uint64_t *more = realloc(h->at, h->cap * sizeof *more);
        if (!more)
            abort();
        h->at = more;
    }
    h->at[h->n++] = hash;
    h->all_sum += hash;
    if (pf_role_of(r) == PF_ROLE_DATA) {
        h->data++;
        h->data_sum += hash;
    }
}

/* Appends those of a capture; false when it cannot be read to its end. */
static inline bool split_read(perfile_bytes bytes, uint32_t on_damage, const perfile_limits *limits,
                              split_hashes *h)
{
    perfile_open_options how = {.size = sizeof how, .on_damage = on_damage, .limits = limits};
    perfile_source *source;
    perfile_stream *s;
    const perfile_record *r;
    if (perfile_source_memory(bytes, "capture", &source, NULL) != PERFILE_OK)
        return false;
    if (perfile_open(source, &how, &s, NULL) != PERFILE_OK) {
        perfile_source_close(source);
        return false;
    }
    perfile_status st;
    while ((st = perfile_stream_next(s, &r, NULL)) == PERFILE_OK)
        if (split_counts(r))
            split_hash(h, r);
    perfile_stream_close(s);
    return st == PERFILE_END;
}

static inline int split_compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;
    return *x < *y ? -1 : *x > *y;
}

/* Whether those of `parts` behind `from` are some of `all`, in its order. */
static inline bool split_is_some(const split_hashes *parts, size_t from, const split_hashes *all)
{
    size_t at = 0;
    for (size_t i = from; i < parts->n; i++, at++) {
        while (at < all->n && all->at[at] != parts->at[i])
            at++;
        if (at == all->n)
            return false;
    }
    return true;
}

/* Whether each record of the input is in at least one part, each data record in exactly one, and
 * every part is some of the input in its order; without state everything is in exactly one. */
static inline bool split_holds(perfile_bytes in, const split_parts *parts, bool state,
                               const perfile_limits *limits)
{
    split_hashes one = {0}, all = {0};
    bool holds = split_read(in, PERFILE_ON_DAMAGE_STOP, limits, &one);
    for (size_t i = 0; i < parts->n && holds; i++) {
        size_t from = all.n;
        holds =
            split_read(perfile_sink_bytes(parts->sinks[i]), PERFILE_ON_DAMAGE_STOP, limits, &all) &&
            split_is_some(&all, from, &one);
    }
    holds = holds && one.data == all.data && one.data_sum == all.data_sum;
    if (holds && !state)
        holds = one.n == all.n && one.all_sum == all.all_sum;
    if (one.n)
        qsort(one.at, one.n, sizeof *one.at, split_compare);
    if (all.n)
        qsort(all.at, all.n, sizeof *all.at, split_compare);
    for (size_t i = 0, k = 0; i < one.n && holds; i++, k++) {
        while (k < all.n && all.at[k] < one.at[i])
            k++;
        holds = k < all.n && all.at[k] == one.at[i];
    }
    free(one.at);
    free(all.at);
    return holds;
}

#endif

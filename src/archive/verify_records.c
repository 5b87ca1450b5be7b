/* Checking the records of a chunk: that they are complete, and what flags and zone say about them.
 *
 * Only headers of records are looked at.  So records, types, and which are apart can be counted
 * again, and what was lost; times, events and sets need the events of the capture. */
#include "archive/list.h"

#include <stdio.h>

#include "base/byte_order.h"
#include "base/checked.h"
#include "base/error.h"
#include "schema/frame.h"

/* What the headers of a chunk's records say. */
typedef struct recount {
    uint64_t records, apart, samples, lost;
    bool aligned;
    size_t end; /* of the last complete record */
    bool swap;
} recount;

/* What a record of the kernel says about losses; see pf_zone_add(). */
static void add_lost(recount *n, const pf_frame *f, const uint8_t *body)
{
    const size_t at = f->type == PERFILE_RECORD_LOST ? 8 : 0;
    const bool counts = f->type == PERFILE_RECORD_LOST || f->type == PERFILE_RECORD_LOST_SAMPLES;
    if (!counts || f->size < PF_PERF_RECORD_HEADER + at + 8)
        return;
    if (pf_add_u64(n->lost, pf_load_u64(body + at, n->swap), &n->lost))
        n->lost = UINT64_MAX;
}

/* Goes from header to header.  False: no memory. */
static bool count_records(pf_verify *v, const pf_chunk *c, recount *n)
{
    const uint8_t *p = v->payload.ptr;
    const size_t len = v->payload.len;
    const bool big = c->flags & PF_CHUNK_FLAG_BIG_ENDIAN;
    *n = (recount){.aligned = true, .swap = big != (bool)PF_NATIVE_BIG};
    pf_zone_counts_clear(&v->counts, true);
    while (len - n->end >= PF_PERF_RECORD_HEADER) {
        const pf_frame f = pf_frame_at(p + n->end, n->swap);
        if (f.size < PF_PERF_RECORD_HEADER || f.size > len - n->end)
            return true;
        const perfile_record r = {.type = f.type, .misc = f.misc, .family = PERFILE_FAMILY_PERF};
        n->records++;
        n->apart += pf_zone_is_apart(&r);
        n->samples += f.type == PERFILE_RECORD_SAMPLE;
        n->aligned &= f.size % 8 == 0;
        add_lost(n, &f, p + n->end + PF_PERF_RECORD_HEADER);
        if (!pf_zone_counts_add(&v->counts, f.type, 1, f.size))
            return false;
        n->end += f.size;
    }
    return true;
}

static void tell_zone(pf_verify *v, const pf_chunk *c, const char *what, uint64_t said,
                      uint64_t counted)
{
    pf_verify_tell(v, PERFILE_RULE_V_707, PERFILE_SEVERITY_ERROR, c, false,
                   "the zone says %llu %s, but there are %llu", (unsigned long long)said, what,
                   (unsigned long long)counted);
}

/* The types of the zone, ascending, against those that were counted. */
static void compare_types(pf_verify *v, const pf_chunk *c)
{
    const pf_zone_counts *said = &v->zone.types, *counted = &v->counts;
    for (uint32_t i = 0; i < said->n; i++) {
        const pf_zone_count *x = &said->at[i], *y = pf_zone_counts_find(counted, x->key);
        char what[64];
        if (!y || y->records != x->records) {
            snprintf(what, sizeof what, "records of type %llu", (unsigned long long)x->key);
            tell_zone(v, c, what, x->records, y ? y->records : 0);
        } else if (said->has_bytes && y->bytes != x->bytes) {
            snprintf(what, sizeof what, "bytes of type %llu", (unsigned long long)x->key);
            tell_zone(v, c, what, x->bytes, y->bytes);
        }
    }
    for (uint32_t i = 0; i < counted->n; i++)
        if (!pf_zone_counts_find(said, counted->at[i].key)) {
            char what[64];
            snprintf(what, sizeof what, "records of type %llu",
                     (unsigned long long)counted->at[i].key);
            tell_zone(v, c, what, 0, counted->at[i].records);
        }
}

static void compare_zone(pf_verify *v, const pf_chunk *c, const recount *n)
{
    const pf_zone *z = &v->zone;
    uint64_t events = 0;
    if (z->records != n->records)
        tell_zone(v, c, "records", z->records, n->records);
    if (z->has_apart && z->apart != n->apart)
        tell_zone(v, c, "records that are apart", z->apart, n->apart);
    if (z->has_lost && z->lost != n->lost)
        tell_zone(v, c, "lost records and samples", z->lost, n->lost);
    for (uint32_t i = 0; i < z->events.n; i++)
        events += z->events.at[i].records;
    if (events > n->samples)
        tell_zone(v, c, "samples of events", events, n->samples);
    if (z->types.known && v->counts.known)
        compare_types(v, c);
}

perfile_status pf_verify_records(pf_verify *v, const pf_chunk *c, bool has_meta, perfile_error *err)
{
    perfile_error why;
    recount n;
    if (!count_records(v, c, &n))
        return pf_fail_nomem(err, "archive");
    if (n.end != v->payload.len) {
        pf_verify_tell(v, PERFILE_RULE_V_706, PERFILE_SEVERITY_ERROR, c, false,
                       "no complete record stands at byte %zu of %zu", n.end, v->payload.len);
        return PERFILE_OK;
    }
    if (c->flags & PF_CHUNK_FLAG_ALIGNED && !n.aligned)
        pf_verify_tell(v, PERFILE_RULE_V_706, PERFILE_SEVERITY_ERROR, c, false,
                       "a record has a size that is no multiple of 8, although the chunk says so");
    if (!has_meta || !v->meta.len)
        return PERFILE_OK;
    perfile_status st = pf_zone_decode((perfile_bytes){v->meta.ptr, v->meta.len}, &v->zone, &why);
    if (st == PERFILE_OK)
        compare_zone(v, c, &n);
    else if (st == PERFILE_E_CORRUPT)
        pf_verify_tell(v, PERFILE_RULE_V_703, PERFILE_SEVERITY_ERROR, c, false,
                       "the zone cannot be read: %s", why.message);
    else if (err)
        *err = why;
    return st == PERFILE_E_CORRUPT ? PERFILE_OK : st;
}

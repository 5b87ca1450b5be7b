/* Zones as CBOR: format/archive.cddl.
 *
 * What is not known is left out.  A reader refuses what no writer writes (keys that occur twice,
 * sets that do not ascend, more members or counts than the limits), and ignores keys that it does
 * not know.  Its memory is bounded by the limits, and by the bytes that it was given. */
#include "archive/meta.h"

#include <stdlib.h>
#include <string.h>

#include "archive/cbor.h"
#include "base/alloc.h"
#include "base/error.h"

/* Keys of the map.  The numbers are part of the format. */
enum {
    KEY_RECORDS = 1,
    KEY_FIRST = 2,
    KEY_LAST = 3,
    KEY_TYPES = 4,
    KEY_EVENTS = 5,
    KEY_TIDS = 6,
    KEY_PIDS = 7,
    KEY_CPUS = 8,
    KEY_LOST = 9,
    KEY_UNTIMED = 10,
    KEY_TYPE_BYTES = 11,
    KEY_APART = 12,
    KEY_DATA_FIRST = 13,
    KEY_DATA_LAST = 14,
    KEYS_END
};

static bool put_pair(pf_buffer *out, bool known, uint64_t key, uint64_t v)
{
    return !known || (pf_cbor_put_uint(out, key) && pf_cbor_put_uint(out, v));
}

static bool put_counts(pf_buffer *out, bool known, uint64_t key, const pf_zone_counts *c)
{
    if (!known)
        return true;
    bool ok = pf_cbor_put_uint(out, key) && pf_cbor_put_map(out, c->n);
    for (uint32_t i = 0; i < c->n && ok; i++)
        ok = pf_cbor_put_uint(out, c->at[i].key) &&
             pf_cbor_put_uint(out, key == KEY_TYPE_BYTES ? c->at[i].bytes : c->at[i].records);
    return ok;
}

/* The first member, then differences. */
static bool put_set(pf_buffer *out, uint64_t key, const pf_zone_set *s)
{
    if (!s->known)
        return true;
    bool ok = pf_cbor_put_uint(out, key) && pf_cbor_put_array(out, s->n);
    uint32_t before = 0;
    for (uint32_t i = 0; i < s->n && ok; i++) {
        ok = pf_cbor_put_uint(out, s->at[i] - before);
        before = s->at[i];
    }
    return ok;
}

static size_t count_keys(const pf_zone *z)
{
    const bool type_bytes = z->types.known && z->types.has_bytes;
    return 1U + 2U * z->has_times + z->types.known + z->events.known + z->tids.known +
           z->pids.known + z->cpus.known + z->has_lost + z->has_untimed + type_bytes +
           z->has_apart + 2U * z->has_data_times;
}

perfile_status pf_zone_encode(pf_zone *z, pf_buffer *out, perfile_error *err)
{
    const size_t before = out->len;
    pf_zone_seal(z);
    if (pf_cbor_put_map(out, count_keys(z)) && put_pair(out, true, KEY_RECORDS, z->records) &&
        put_pair(out, z->has_times, KEY_FIRST, z->first) &&
        put_pair(out, z->has_times, KEY_LAST, z->last) &&
        put_counts(out, z->types.known, KEY_TYPES, &z->types) &&
        put_counts(out, z->events.known, KEY_EVENTS, &z->events) &&
        put_set(out, KEY_TIDS, &z->tids) && put_set(out, KEY_PIDS, &z->pids) &&
        put_set(out, KEY_CPUS, &z->cpus) && put_pair(out, z->has_lost, KEY_LOST, z->lost) &&
        put_pair(out, z->has_untimed, KEY_UNTIMED, z->untimed) &&
        put_counts(out, z->types.known && z->types.has_bytes, KEY_TYPE_BYTES, &z->types) &&
        put_pair(out, z->has_apart, KEY_APART, z->apart) &&
        put_pair(out, z->has_data_times, KEY_DATA_FIRST, z->data_first) &&
        put_pair(out, z->has_data_times, KEY_DATA_LAST, z->data_last))
        return PERFILE_OK;
    out->len = before;
    return pf_fail_nomem(err, "zone");
}

/* qsort() order: by key. */
static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = ((const pf_zone_count *)a)->key, y = ((const pf_zone_count *)b)->key;
    return (x > y) - (x < y);
}

/* Reads counts, whose keys may come in any order.  False: no memory. */
static bool read_counts(pf_cbor *c, pf_zone_counts *counts)
{
    const uint64_t n = pf_cbor_map(c);
    if (n > PF_ZONE_MOST_COUNTS)
        pf_cbor_fail(c, "a zone with too many types or events");
    if (c->why)
        return true;
    if (n > counts->cap) {
        pf_zone_count *at = pf_realloc(counts->at, (size_t)n, sizeof *at);
        if (!at)
            return false;
        counts->at = at;
        counts->cap = (uint32_t)n;
    }
    for (uint32_t i = 0; i < n && !c->why; i++) {
        const uint64_t key = pf_cbor_uint(c);
        counts->at[i] = (pf_zone_count){.key = key, .records = pf_cbor_uint(c)};
    }
    if (c->why)
        return true;
    if (n)
        qsort(counts->at, (size_t)n, sizeof *counts->at, compare_keys);
    for (uint32_t i = 1; i < n; i++)
        if (counts->at[i].key == counts->at[i - 1].key)
            pf_cbor_fail(c, "a zone that counts a type or event twice");
    counts->n = (uint32_t)n;
    counts->known = true;
    return true;
}

static bool read_set(pf_cbor *c, pf_zone_set *s)
{
    const uint64_t n = pf_cbor_array(c);
    uint64_t sum = 0;
    if (n > PF_ZONE_MOST_MEMBERS)
        pf_cbor_fail(c, "a set with too many members");
    if (c->why)
        return true;
    if (n > s->cap) {
        uint32_t *at = pf_realloc(s->at, (size_t)n, sizeof *at);
        if (!at)
            return false;
        s->at = at;
        s->cap = (uint32_t)n;
    }
    for (uint32_t i = 0; i < n && !c->why; i++) {
        const uint32_t more = pf_cbor_u32(c);
        sum += more;
        if ((i && !more) || sum > UINT32_MAX)
            pf_cbor_fail(c, "a set that does not ascend, or beyond 32 bits");
        s->at[i] = (uint32_t)sum;
    }
    s->n = (uint32_t)n;
    s->known = true;
    return true;
}

/* Reads the value of a key that is known.  False: no memory. */
static bool read_value(pf_cbor *c, uint64_t key, pf_zone *z, pf_zone_counts *type_bytes)
{
    uint64_t *const numbers[KEYS_END] = {[KEY_RECORDS] = &z->records,
                                         [KEY_FIRST] = &z->first,
                                         [KEY_LAST] = &z->last,
                                         [KEY_LOST] = &z->lost,
                                         [KEY_UNTIMED] = &z->untimed,
                                         [KEY_APART] = &z->apart,
                                         [KEY_DATA_FIRST] = &z->data_first,
                                         [KEY_DATA_LAST] = &z->data_last};
    switch (key) {
    case KEY_TYPES:
        return read_counts(c, &z->types);
    case KEY_EVENTS:
        return read_counts(c, &z->events);
    case KEY_TIDS:
        return read_set(c, &z->tids);
    case KEY_PIDS:
        return read_set(c, &z->pids);
    case KEY_CPUS:
        return read_set(c, &z->cpus);
    case KEY_TYPE_BYTES:
        return read_counts(c, type_bytes);
    default:
        *numbers[key] = pf_cbor_uint(c);
        return true;
    }
}

/* Puts the bytes of types beside their records. */
static void join_type_bytes(pf_cbor *c, pf_zone_counts *types, const pf_zone_counts *bytes)
{
    if (!types->known || !bytes->known)
        return;
    if (types->n != bytes->n)
        pf_cbor_fail(c, "a zone with bytes of other types than records");
    for (uint32_t i = 0; i < types->n && !c->why; i++) {
        if (types->at[i].key != bytes->at[i].key)
            pf_cbor_fail(c, "a zone with bytes of other types than records");
        types->at[i].bytes = bytes->at[i].records;
    }
    types->has_bytes = true;
}

/* Says what is known, by the keys that were there (bits of `seen`), and checks it. */
static void settle(pf_cbor *c, pf_zone *z, uint32_t seen)
{
    const uint32_t times = 1U << KEY_FIRST | 1U << KEY_LAST;
    const uint32_t data_times = 1U << KEY_DATA_FIRST | 1U << KEY_DATA_LAST;
    z->has_times = (seen & times) == times;
    z->has_data_times = (seen & data_times) == data_times;
    z->has_lost = seen >> KEY_LOST & 1;
    z->has_untimed = seen >> KEY_UNTIMED & 1;
    z->has_apart = seen >> KEY_APART & 1;
    if (!(seen >> KEY_RECORDS & 1))
        pf_cbor_fail(c, "a zone without its number of records");
    if ((z->has_times && z->first > z->last) || (z->has_data_times && z->data_first > z->data_last))
        pf_cbor_fail(c, "a zone whose first time is above the last");
    if (z->untimed > z->records || z->apart > z->records)
        pf_cbor_fail(c, "a zone with more records of one kind than records");
}

perfile_status pf_zone_decode(perfile_bytes cbor, pf_zone *z, perfile_error *err)
{
    pf_cbor c = pf_cbor_begin(cbor);
    pf_zone_counts type_bytes = {0};
    uint32_t seen = 0;
    bool memory = true;
    pf_zone_forget(z);
    const uint64_t n = pf_cbor_map(&c);
    for (uint64_t i = 0; i < n && memory && !c.why; i++) {
        const pf_cbor_item key = pf_cbor_next(&c);
        if (key.kind != PF_CBOR_UINT && key.kind != PF_CBOR_NEGATIVE) {
            pf_cbor_fail(&c, "a zone with a key that is no number");
        } else if (key.kind == PF_CBOR_NEGATIVE || key.number < 1 || key.number >= KEYS_END) {
            pf_cbor_skip(&c);
        } else if (seen >> key.number & 1) {
            pf_cbor_fail(&c, "a zone with a key twice");
        } else {
            seen |= 1U << key.number;
            memory = read_value(&c, key.number, z, &type_bytes);
        }
    }
    join_type_bytes(&c, &z->types, &type_bytes);
    settle(&c, z, seen);
    perfile_status st = memory ? pf_cbor_finish(&c, "zone", err) : pf_fail_nomem(err, "zone");
    if (st != PERFILE_OK)
        pf_zone_forget(z);
    pf_zone_counts_free(&type_bytes);
    return st;
}

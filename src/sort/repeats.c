/* Side-band that several parts of a recording have, such as the synthesized MMAPs of each part, is
 * written once.
 *
 * Two records are equal if their bytes in the output are equal. An input may have equal records
 * more than once, and all of them are wanted. So the n-th copy in one input counts as repeated only
 * if n copies were written already. For this, copies are counted per input and for the output. Only
 * records of the current time are remembered, and those without a time. */
#include "base/alloc.h"

#include "base/error.h"
#include "sort/merge.h"
#include "schema/rows.h"

enum {
    MOST_BYTES = 12 << 20, /* remembered for one time; records beyond that are passed on */
    FIRST_SLOTS = 256,
    HANDED_ON = 0 /* `owner` of a count for the output; an input's is its index + 1 */
};

/* How often a record occurred in an input, or was written to the output. */
typedef struct occurrence {
    uint64_t hash;
    size_t at;    /* offset of its bytes in table.bytes */
    uint32_t len; /* 0: the slot is free */
    uint32_t owner;
    uint64_t count;
} occurrence;

/* A hash table with open addressing, at most half full. */
typedef struct table {
    uint64_t seed, key; /* key: time of the records */
    occurrence *slots;
    size_t n, size; /* size is a power of two */
    pf_buffer bytes;
} table;

struct pf_repeated {
    table of_time, timeless;
};

/* Returns the slot of this record and owner, or the free slot for it. */
static occurrence *slot_of(const table *t, uint64_t hash, uint32_t owner, perfile_bytes b)
{
    size_t at = (size_t)(hash >> 32) & (t->size - 1);
    for (;; at = (at + 1) & (t->size - 1)) {
        occurrence *one = &t->slots[at];
        bool same = one->hash == hash && one->owner == owner && one->len == b.len &&
                    memcmp(t->bytes.ptr + one->at, b.ptr, b.len) == 0;
        if (one->len == 0 || same)
            return one;
    }
}

/* Doubles the table. Returns false when out of memory. */
static bool grow(table *t)
{
    size_t size = t->size ? t->size * 2 : FIRST_SLOTS;
    occurrence *old = t->slots, *slots = pf_alloc(size, sizeof *slots);
    if (!slots)
        return false;
    for (size_t i = 0; i < t->size; i++) {
        size_t at = (size_t)(old[i].hash >> 32) & (size - 1);
        if (old[i].len == 0)
            continue;
        while (slots[at].len)
            at = (at + 1) & (size - 1);
        slots[at] = old[i];
    }
    pf_free(old);
    t->slots = slots;
    t->size = size;
    return true;
}

/* Clears the table for records of a new time. */
static void begin_time(table *t, uint64_t key)
{
    t->key = key;
    if (t->n == 0)
        return;
    if (t->size > FIRST_SLOTS) { /* clearing a large table for each time would be slow */
        pf_free(t->slots);
        t->slots = NULL;
        t->size = 0;
    } else {
        memset(t->slots, 0, t->size * sizeof *t->slots);
    }
    t->n = 0;
    pf_buffer_clear(&t->bytes);
}

/* Returns the slot with the count for this record and owner; the count is 0 if the slot is new.
 * `at` is the offset of the record's bytes in t->bytes; if it is the end, they are appended.
 * Returns NULL when out of memory. */
static occurrence *count_slot(table *t, uint32_t owner, perfile_bytes b, size_t at)
{
    if (t->n >= t->size / 2 && !grow(t))
        return NULL;
    uint64_t hash = pf_index_hash(t->seed + owner, b.ptr, b.len);
    occurrence *one = slot_of(t, hash, owner, b);
    if (one->len)
        return one;
    if (at == t->bytes.len && !pf_buffer_append(&t->bytes, b.ptr, b.len))
        return NULL;
    *one = (occurrence){hash, at, (uint32_t)b.len, owner, 0};
    t->n++;
    return one;
}

perfile_status pf_merge_is_repeated(pf_merge *x, const pf_merge_input *in, const perfile_record *r,
                                    uint64_t key, bool timeless, bool *repeated, perfile_error *err)
{
    const perfile_bytes b = {r->header, perfile_record_size(r)};
    *repeated = false;
    if (!x->repeated) {
        x->repeated = pf_alloc(1, sizeof *x->repeated);
        if (!x->repeated)
            return pf_fail_nomem(err, "merge");
        x->repeated->of_time.seed = x->repeated->timeless.seed = pf_index_seed(x->repeated);
    }
    table *t = timeless ? &x->repeated->timeless : &x->repeated->of_time;
    if (t->key != key && !timeless)
        begin_time(t, key);
    if (t->bytes.len + b.len > MOST_BYTES)
        return PERFILE_OK;
    occurrence *all = count_slot(t, HANDED_ON, b, t->bytes.len);
    if (!all)
        return pf_fail_nomem(err, "merge");
    const uint64_t handed_on = all->count;
    occurrence *mine = count_slot(t, in->at + 1, b, all->at);
    if (!mine)
        return pf_fail_nomem(err, "merge");
    /* The second call of count_slot() may have moved the slots, so the count for the output is
     * looked up again. */
    *repeated = ++mine->count <= handed_on;
    if (!*repeated)
        slot_of(t, pf_index_hash(t->seed + HANDED_ON, b.ptr, b.len), HANDED_ON, b)->count++;
    return PERFILE_OK;
}

void pf_merge_forget_repeats(pf_merge *x)
{
    if (!x->repeated)
        return;
    table *tables[] = {&x->repeated->of_time, &x->repeated->timeless};
    for (size_t i = 0; i < 2; i++) {
        pf_free(tables[i]->slots);
        pf_buffer_free(&tables[i]->bytes);
    }
    pf_free(x->repeated);
    x->repeated = NULL;
}

/* A set of entries from several inputs, each stored once: an array in the order of adding, and an
 * index of hashes into it. Entries with the same hash are chained. */

/* Returns the hash of the key of *want. */
static uint64_t hash_of(const pf_merge_entries *e, const pf_merge_entry *want)
{
    uint64_t h = pf_index_hash(e->heads.seed ^ want->number, want->name.ptr, want->name.len);
    return e->by_value ? pf_index_hash(h, want->value.ptr, want->value.len) : h;
}

/* Returns true if both have the same key. */
static bool has_key(const pf_merge_entries *e, const pf_merge_entry *one,
                    const pf_merge_entry *want)
{
    return one->number == want->number && pf_same_bytes(one->name, want->name) &&
           (!e->by_value || pf_same_bytes(one->value, want->value));
}

pf_merge_entry *pf_merge_entries_at(const pf_merge_entries *e, uint32_t position)
{
    return (pf_merge_entry *)(void *)e->items.ptr + position;
}

uint32_t pf_merge_entries_position(const pf_merge_entries *e, const pf_merge_entry *one)
{
    return (uint32_t)(one - pf_merge_entries_at(e, 0));
}

/* Follows the chain of a hash. `next` is a position + 1, so 0 becomes PF_INDEX_NONE. */
static pf_merge_entry *find(const pf_merge_entries *e, const pf_merge_entry *want, uint64_t hash)
{
    uint32_t at = pf_index_get(&e->heads, hash);
    while (at != PF_INDEX_NONE) {
        pf_merge_entry *one = pf_merge_entries_at(e, at);
        if (has_key(e, one, want))
            return one;
        at = one->next - 1;
    }
    return NULL;
}

pf_merge_entry *pf_merge_entries_find(const pf_merge_entries *e, const pf_merge_entry *want)
{
    return e->items.len ? find(e, want, hash_of(e, want)) : NULL;
}

/* The seed is random, so that no input can be crafted to have many equal hashes. */
pf_merge_entry *pf_merge_entries_add(pf_merge_entries *e, const pf_merge_entry *want, bool *added)
{
    if (e->items.len == 0)
        e->heads.seed = pf_index_seed(e);
    uint64_t hash = hash_of(e, want);
    pf_merge_entry *one = find(e, want, hash);
    *added = one == NULL;
    if (one)
        return one;
    uint32_t at = (uint32_t)(e->items.len / sizeof *want);
    uint32_t same_hash = pf_index_get(&e->heads, hash);
    if (at == PF_INDEX_NONE - 1 || !pf_buffer_append(&e->items, want, sizeof *want))
        return NULL;
    one = pf_merge_entries_at(e, at);
    one->next = 0;
    if (same_hash != PF_INDEX_NONE) {
        /* Inserted as second in the chain, so that the index need not change. */
        pf_merge_entry *head = pf_merge_entries_at(e, same_hash);
        one->next = head->next;
        head->next = at + 1;
    } else if (!pf_index_put(&e->heads, hash, at)) {
        return NULL;
    }
    return one;
}

void pf_merge_entries_free(pf_merge_entries *e)
{
    pf_index_free(&e->heads);
    pf_buffer_free(&e->items);
}

/* Records that a capture can have for one recording only, because other records refer to them
 * without naming the recording: AUX traces and THREAD_MAPs of perf stat. */

/* Returns true if both inputs are parts of one recording. */
static bool same_recording(const pf_merge *x, uint32_t a, uint32_t b)
{
    return x->inputs[a].is_part && x->inputs[b].is_part &&
           x->inputs[a].first_of_recording == x->inputs[b].first_of_recording;
}

/* AUX traces refer to buffers by number, and a single AUXTRACE_INFO describes how to decode them,
 * so only one recording may have them. */
static perfile_status check_aux(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                                perfile_error *err)
{
    if (r->type != PERFILE_RECORD_AUXTRACE_INFO && r->type != PERFILE_RECORD_AUXTRACE)
        return PERFILE_OK;
    if (x->aux_input == PF_MERGE_NO_INPUT)
        x->aux_input = in->at;
    if (x->aux_input == in->at || in->drops_aux || same_recording(x, x->aux_input, in->at))
        return PERFILE_OK;
    in->drops_aux = true;
    return pf_merge_conflict(x, r->type, in->at, err,
                             "%s and %s both have AUX traces, which perf.data cannot keep apart",
                             x->inputs[x->aux_input].name, in->name);
}

/* STAT records name threads by their position in the THREAD_MAP: all inputs of perf stat need the
 * same map. */
static perfile_status check_thread_map(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                                       perfile_error *err)
{
    if (r->type != PERFILE_RECORD_THREAD_MAP || x->thread_map_input == in->at || in->has_threads ||
        !perfile_session_feature(in->session, PERFILE_FEATURE_STAT))
        return PERFILE_OK;
    in->has_threads = true;
    if (x->thread_map_input == PF_MERGE_NO_INPUT) {
        x->thread_map_input = in->at;
        return pf_buffer_append(&x->thread_map, r->body.ptr, r->body.len)
                   ? PERFILE_OK
                   : pf_fail_nomem(err, "merge");
    }
    bool same = x->thread_map.len == r->body.len &&
                (r->body.len == 0 || memcmp(x->thread_map.ptr, r->body.ptr, r->body.len) == 0);
    if (same)
        return PERFILE_OK;
    in->drops_stat = true;
    return pf_merge_conflict(x, r->type, in->at, err,
                             "%s and %s are of perf stat and have different THREAD_MAPs, by which "
                             "STAT records name threads",
                             x->inputs[x->thread_map_input].name, in->name);
}

/* After a conflict, all records of that kind from this input are dropped. */
perfile_status pf_merge_check_exclusive(pf_merge *x, pf_merge_input *in, const perfile_record *r,
                                        bool *drop, perfile_error *err)
{
    perfile_status st = check_aux(x, in, r, err);
    if (st == PERFILE_OK)
        st = check_thread_map(x, in, r, err);
    unsigned marks = pf_marks_of(r);
    *drop =
        (in->drops_aux && marks & PF_ROW_AUX_TRACE) || (in->drops_stat && marks & PF_ROW_STAT_RUN);
    x->result.conflicting += *drop;
    /* TIME_CONV of another boot converts a hardware counter to a clock that the output does not
     * have. */
    if (r->type == PERFILE_RECORD_TIME_CONV && in->host != x->inputs[x->clock_input].host) {
        x->foreign_time_convs++;
        *drop = true;
    }
    return st;
}

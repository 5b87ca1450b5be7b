/* Side-band that several parts of a recording hold, such as the synthesized MMAPs of each part,
 * goes out once.
 *
 * Records are equal if their bytes in the output are. An input may hold equal records more than
 * once, and all of those are wanted: so the n-th copy in one input counts as repeated only if n
 * copies went out already. For that the number of copies is counted per input and for the output.
 * Only the records of the current time are remembered, and those without a time. */
#include "base/alloc.h"
#include "base/error.h"
#include "merge/merge.h"

enum {
    MOST_BYTES = 12 << 20, /* remembered of one time; records beyond that are passed on */
    FIRST_SLOTS = 256,
    HANDED_ON = 0 /* `owner` of the count for the output; inputs have their index + 1 */
};

/* How often a record occurred in an input, or went out. */
typedef struct occurrence {
    uint64_t hash;
    size_t at;    /* offset of its bytes in table.bytes */
    uint32_t len; /* 0: the slot is free */
    uint32_t owner;
    uint64_t count;
} occurrence;

/* A hash table with open addressing, at most half full. */
typedef struct table {
    uint64_t seed, key; /* key: the time that the records are of */
    occurrence *slots;
    size_t n, size; /* size is a power of two */
    pf_buffer bytes;
} table;

struct pf_repeated {
    table of_time, timeless;
};

/* Returns the slot of this record and owner, or the free slot where it belongs. */
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

/* Doubles the table; false: out of memory. */
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

/* Forgets everything: records of a new time come. */
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

/* Returns the count for this record and owner, 0 if it is new. `at`: where its bytes are in
 * t->bytes; if that is the end, they are appended. NULL: out of memory. */
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
    /* The second call may have moved the slots: the count for the output is looked up again. */
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

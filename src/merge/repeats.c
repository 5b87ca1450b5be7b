/* State that several parts of a recording tell.
 *
 * A record is repeated as long as its input had it no more often than it was handed on.  Only
 * records of the present time are remembered, and those that have none. */
#include "base/alloc.h"
#include "base/error.h"
#include "merge/merge.h"

enum {
    MOST_BYTES = 12 << 20, /* of one time; what is beyond is handed on */
    FIRST_SLOTS = 256,
    HANDED_ON = 0 /* whose count it is; else that of the input at whose - 1 */
};

/* How often a record was there. */
typedef struct told {
    uint64_t hash;
    size_t at;    /* in bytes */
    uint32_t len; /* 0: none */
    uint32_t whose;
    uint64_t count;
} told;

typedef struct table {
    uint64_t seed, key;
    told *slots;
    size_t n, size; /* size is a power of two */
    pf_buffer bytes;
} table;

struct pf_repeated {
    table of_time, timeless;
};

static told *slot_of(const table *t, uint64_t hash, uint32_t whose, perfile_bytes b)
{
    size_t at = (size_t)(hash >> 32) & (t->size - 1);
    for (;; at = (at + 1) & (t->size - 1)) {
        told *one = &t->slots[at];
        bool same = one->hash == hash && one->whose == whose && one->len == b.len &&
                    memcmp(t->bytes.ptr + one->at, b.ptr, b.len) == 0;
        if (one->len == 0 || same)
            return one;
    }
}

static bool grow(table *t)
{
    size_t size = t->size ? t->size * 2 : FIRST_SLOTS;
    told *old = t->slots, *slots = pf_alloc(size, sizeof *slots);
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

static void begin_time(table *t, uint64_t key)
{
    t->key = key;
    if (t->n == 0)
        return;
    if (t->size > FIRST_SLOTS) { /* one time had many: the next will not */
        pf_free(t->slots);
        t->slots = NULL;
        t->size = 0;
    } else {
        memset(t->slots, 0, t->size * sizeof *t->slots);
    }
    t->n = 0;
    pf_buffer_clear(&t->bytes);
}

/* The count of that one, which begins with 0; its bytes are at `at` already unless that is where
 * the next go.  NULL when there is no memory. */
static told *count_of(table *t, uint32_t whose, perfile_bytes b, size_t at)
{
    if (t->n >= t->size / 2 && !grow(t))
        return NULL;
    uint64_t hash = pf_index_hash(t->seed + whose, b.ptr, b.len);
    told *one = slot_of(t, hash, whose, b);
    if (one->len)
        return one;
    if (at == t->bytes.len && !pf_buffer_append(&t->bytes, b.ptr, b.len))
        return NULL;
    *one = (told){hash, at, (uint32_t)b.len, whose, 0};
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
    told *all = count_of(t, HANDED_ON, b, t->bytes.len);
    if (!all)
        return pf_fail_nomem(err, "merge");
    const uint64_t handed_on = all->count;
    told *mine = count_of(t, in->at + 1, b, all->at);
    if (!mine)
        return pf_fail_nomem(err, "merge");
    *repeated = ++mine->count <= handed_on;
    if (!*repeated)
        slot_of(t, pf_index_hash(t->seed + HANDED_ON, b.ptr, b.len), HANDED_ON, b)->count++;
    return PERFILE_OK;
}

void pf_merge_forget_repeats(pf_merge *x)
{
    if (!x->repeated)
        return;
    table *both[] = {&x->repeated->of_time, &x->repeated->timeless};
    for (size_t i = 0; i < 2; i++) {
        pf_free(both[i]->slots);
        pf_buffer_free(&both[i]->bytes);
    }
    pf_free(x->repeated);
    x->repeated = NULL;
}

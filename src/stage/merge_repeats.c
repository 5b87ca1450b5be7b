/* State that several parts of a recording tell.
 *
 * Of records of one time those of the first input come first, then those of the second: so a record
 * is repeated as often as an input has it no more often than one before.  Only those of the present
 * time are remembered, and those that have none. */
#include "base/alloc.h"
#include "base/error.h"
#include "stage/merge.h"

enum {
    MOST_BYTES = 12 << 20, /* of one time; what is beyond is handed on */
    FIRST_SLOTS = 256
};

/* A record that was handed on. */
typedef struct told {
    uint64_t hash;
    size_t at;          /* in bytes */
    uint32_t len;       /* 0: none */
    uint32_t input;     /* that counts now */
    uint32_t most, now; /* how often an input had it, and this one has so far */
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

static uint64_t hash_of(uint64_t seed, const uint8_t *p, size_t n)
{
    uint64_t h = seed ^ n;
    for (size_t i = 0; i < n; i++) {
        h = (h ^ p[i]) * UINT64_C(0x9e3779b97f4a7c15);
        h ^= h >> 29;
    }
    return h;
}

static told *slot_of(const table *t, uint64_t hash, perfile_bytes b)
{
    size_t at = (size_t)(hash >> 32) & (t->size - 1);
    for (;; at = (at + 1) & (t->size - 1)) {
        told *one = &t->slots[at];
        bool same = one->hash == hash && one->len == b.len &&
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
    memset(t->slots, 0, t->size * sizeof *t->slots);
    t->n = 0;
    pf_buffer_clear(&t->bytes);
}

static bool add(table *t, told *slot, uint64_t hash, uint32_t input, perfile_bytes b)
{
    if (t->bytes.len + b.len > MOST_BYTES)
        return true;
    *slot = (told){hash, t->bytes.len, (uint32_t)b.len, input, 1, 1};
    t->n++;
    return pf_buffer_append(&t->bytes, b.ptr, b.len);
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
    if (t->n >= t->size / 2 && !grow(t))
        return pf_fail_nomem(err, "merge");
    uint64_t hash = hash_of(t->seed, b.ptr, b.len);
    told *one = slot_of(t, hash, b);
    if (one->len == 0)
        return add(t, one, hash, in->at, b) ? PERFILE_OK : pf_fail_nomem(err, "merge");
    if (one->input != in->at) {
        one->input = in->at;
        one->now = 0;
    }
    *repeated = ++one->now <= one->most;
    one->most = one->now > one->most ? one->now : one->most;
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

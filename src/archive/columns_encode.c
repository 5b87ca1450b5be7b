/* The encoder of the codec COLUMNS: what was taken apart, as a payload.
 *
 * The head is written in the order in which a decoder needs it: classes, the class of each record,
 * columns.  format/columns.md has the layout. */
#include "archive/columns_encode.h"

#include "base/alloc.h"
#include "base/error.h"
#include "archive/columns.h"
#include "base/byte_order.h"

struct pf_columns_encoder {
    pf_shred shred;
    pf_streams_out out;
    pf_blobs_coder coder;
    pf_buffer numbers; /* uint64_t: the class of each record, as numbers */
};

pf_columns_encoder *pf_columns_encoder_new(void)
{
    pf_columns_encoder *e = pf_alloc(1, sizeof *e);
    if (e && pf_shred_init(&e->shred))
        return e;
    pf_columns_encoder_free(e);
    return NULL;
}

void pf_columns_encoder_free(pf_columns_encoder *e)
{
    if (!e)
        return;
    pf_shred_free(&e->shred);
    pf_streams_out_free(&e->out);
    pf_blobs_coder_free(&e->coder);
    pf_buffer_free(&e->numbers);
    pf_free(e);
}

void pf_columns_encoder_begin(pf_columns_encoder *e, bool swapped)
{
    pf_shred_begin(&e->shred, swapped);
}

bool pf_columns_encoder_add(pf_columns_encoder *e, const perfile_record *first, size_t n)
{
    pf_shred_add(&e->shred, first, n);
    return !e->shred.failed;
}

static void put_op(pf_streams_out *s, const pf_shred_op *o)
{
    pf_streams_out_u8(s, o->what);
    if (o->what != PF_COLUMNS_REF)
        pf_streams_out_u8(s, o->width);
    if (o->what == PF_COLUMNS_BLOB) {
        pf_streams_out_v(s, o->width ? o->unit : 1);
        pf_streams_out_v(s, o->width ? o->extra : 0);
    }
    pf_streams_out_v(s, o->column);
    if (o->what == PF_COLUMNS_REF)
        pf_streams_out_v(s, o->offset);
}

static void put_classes(pf_streams_out *s, const pf_shred *x)
{
    pf_streams_out_v(s, x->n_classes);
    for (uint32_t i = 0; i < x->n_classes; i++) {
        const pf_shred_class *c = &x->classes[i];
        pf_streams_out_u8(s, c->apart);
        pf_streams_out_v(s, c->key.type);
        pf_streams_out_v(s, c->key.misc);
        pf_streams_out_v(s, c->n);
        for (uint32_t k = 0; k < c->n; k++)
            put_op(s, &x->ops[c->first + k]);
    }
}

/* The class of each record; false: no memory. */
static bool put_class_numbers(pf_columns_encoder *e)
{
    const pf_shred *x = &e->shred;
    const size_t n = x->class_of.len;
    pf_buffer_clear(&e->numbers);
    if (!pf_buffer_reserve(&e->numbers, (n + 1) * sizeof(uint64_t)))
        return false;
    uint64_t *v = (uint64_t *)(void *)e->numbers.ptr;
    for (size_t i = 0; i < n; i++)
        v[i] = x->class_of.ptr[i];
    pf_numbers_encode(&e->coder.numbers, &e->out, v, n, 1, PF_STRATEGY_PLANES);
    return true;
}

/* The bytes of the records between those that are apart, if no class number tells them. */
static void put_gaps(pf_columns_encoder *e)
{
    const pf_shred *x = &e->shred;
    bool apart = false, varies = false;
    for (uint32_t i = 0; i < x->n_classes; i++) {
        apart |= x->classes[i].apart;
        varies |= !x->classes[i].apart && x->classes[i].varies;
    }
    if (apart && varies)
        pf_numbers_encode(&e->coder.numbers, &e->out, (const uint64_t *)(const void *)x->gaps.ptr,
                          x->gaps.len / sizeof(uint64_t), 4, PF_STRATEGY_TRIAL);
}

static void put_columns(pf_columns_encoder *e)
{
    const pf_shred *x = &e->shred;
    pf_streams_out_v(&e->out, x->n_columns);
    for (uint32_t i = 0; i < x->n_columns && !e->out.failed; i++) {
        const pf_shred_column *c = &x->columns[i];
        pf_streams_out_u8(&e->out, c->width);
        pf_streams_out_v(&e->out, c->n);
        if (c->width)
            pf_numbers_encode(&e->coder.numbers, &e->out, c->values, c->n, c->width, c->strategy);
        else
            pf_blobs_encode(&e->coder, &e->out, c->values, c->n,
                            (perfile_bytes){c->heap.ptr, c->heap.len}, c->strategy, c->words);
    }
}

perfile_status pf_columns_encoder_finish(pf_columns_encoder *e, int level, pf_buffer *out,
                                         perfile_error *err)
{
    const pf_shred *x = &e->shred;
    if (x->failed)
        return pf_fail_nomem(err, "archive.columns");
    if (x->refused)
        return pf_fail(err, PERFILE_E_LIMIT, "archive.columns",
                       "more kinds of records than a chunk with columns can have");
    pf_streams_out_begin(&e->out, level);
    pf_streams_out_v(&e->out, x->class_of.len);
    put_classes(&e->out, x);
    if (!put_class_numbers(e))
        return pf_fail_nomem(err, "archive.columns");
    put_gaps(e);
    put_columns(e);
    return pf_streams_out_finish(&e->out, out, err);
}

/* Encoding a column of blobs: one after the other, or as a dictionary.
 *
 * In a dictionary a blob that was seen before costs an id.  Call chains and registers repeat as a
 * whole, and so do their words in those that are new. */

enum {
    MOST_PROBES = 32,  /* then a blob counts as new: input cannot make the table slow */
    LONG_BLOB = 1024,  /* blobs that are longer on average are not looked up, unless they are known
                          to  repeat */
    WORTH_PERCENT = 90 /* more new blobs than that, and a dictionary is not worth it */
};

void pf_blobs_coder_free(pf_blobs_coder *c)
{
    pf_numbers_coder_free(&c->numbers);
    pf_buffer_free(&c->table);
    pf_buffer_free(&c->starts);
    pf_buffer_free(&c->lens);
    pf_buffer_free(&c->ids);
    pf_buffer_free(&c->heap);
    pf_buffer_free(&c->words);
}

/* A hash of the bytes, eight at a time. */
static uint64_t hash_of(const uint8_t *p, size_t n)
{
    const uint64_t k = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t h = n * k;
    for (; n >= 8; n -= 8, p += 8) {
        h = (h ^ pf_load_u64(p, false)) * k;
        h ^= h >> 29;
    }
    uint64_t last = 0;
    memcpy(&last, p, n);
    h = (h ^ last) * k;
    return h ^ h >> 32;
}

typedef struct dictionary {
    uint32_t n; /* entries */
    uint64_t *starts, *lens, *ids;
} dictionary;

static bool reserve(pf_buffer *b, size_t bytes)
{
    pf_buffer_clear(b);
    return pf_buffer_reserve_large(b, bytes + 1);
}

/* The entry with these bytes, plus 1; 0: there is none, and the slot for it is in *slot (SIZE_MAX:
 * no room was found near by). */
static uint32_t find(const uint32_t *table, size_t mask, const dictionary *d, const uint8_t *base,
                     const uint8_t *blob, size_t len, size_t *slot)
{
    size_t at = (size_t)hash_of(blob, len) & mask;
    for (unsigned probes = 0; probes < MOST_PROBES; probes++, at = (at + 1) & mask) {
        const uint32_t entry = table[at];
        if (!entry) {
            *slot = at;
            return 0;
        }
        if (d->lens[entry - 1] == len && memcmp(base + d->starts[entry - 1], blob, len) == 0)
            return entry;
    }
    *slot = SIZE_MAX;
    return 0;
}

/* Fills the dictionary; false: no memory. */
static bool collect(pf_blobs_coder *c, const uint64_t *lens, size_t n, perfile_bytes heap,
                    dictionary *d)
{
    unsigned log = 8;
    while ((size_t)1 << log < 2 * n)
        log++;
    if (!reserve(&c->table, sizeof(uint32_t) << log) ||
        !reserve(&c->starts, n * sizeof(uint64_t)) || !reserve(&c->lens, n * sizeof(uint64_t)) ||
        !reserve(&c->ids, n * sizeof(uint64_t)))
        return false;
    uint32_t *table = (uint32_t *)(void *)c->table.ptr;
    *d = (dictionary){.starts = (uint64_t *)(void *)c->starts.ptr,
                      .lens = (uint64_t *)(void *)c->lens.ptr,
                      .ids = (uint64_t *)(void *)c->ids.ptr};
    memset(table, 0, sizeof *table << log);
    uint64_t at = 0;
    for (size_t i = 0; i < n; at += lens[i++]) {
        size_t slot;
        d->ids[i] =
            find(table, ((size_t)1 << log) - 1, d, heap.ptr, heap.ptr + at, (size_t)lens[i], &slot);
        if (d->ids[i])
            continue;
        d->starts[d->n] = at;
        d->lens[d->n++] = lens[i];
        if (slot != SIZE_MAX)
            table[slot] = d->n;
    }
    return true;
}

/* The bytes of all entries, one after the other; false: no memory. */
static bool gather(pf_blobs_coder *c, const dictionary *d, perfile_bytes heap)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < d->n; i++)
        sum += d->lens[i];
    if (!reserve(&c->heap, (size_t)sum))
        return false;
    for (uint32_t i = 0; i < d->n; i++)
        if (d->lens[i] && !pf_buffer_append(&c->heap, heap.ptr + d->starts[i], (size_t)d->lens[i]))
            return false;
    return true;
}

/* The bytes of all entries as numbers. */
static void put_words(pf_blobs_coder *c, pf_streams_out *s)
{
    const size_t n = c->heap.len / 8;
    if (!reserve(&c->words, n * sizeof(uint64_t))) {
        s->failed = true;
        return;
    }
    uint64_t *words = (uint64_t *)(void *)c->words.ptr;
    for (size_t i = 0; i < n; i++)
        words[i] = pf_load_u64(c->heap.ptr + 8 * i, PF_NATIVE_BIG);
    pf_streams_out_u8(s, 8);
    pf_numbers_encode(&c->numbers, s, words, n, 8, PF_STRATEGY_WORDS);
}

static void put_dictionary(pf_blobs_coder *c, pf_streams_out *s, const dictionary *d, size_t n,
                           bool words)
{
    pf_streams_out_u8(s, PF_BLOBS_DICT);
    pf_streams_out_v(s, d->n);
    pf_numbers_encode(&c->numbers, s, d->ids, n, 4, PF_STRATEGY_PLANES);
    pf_numbers_encode(&c->numbers, s, d->lens, d->n, 4, PF_STRATEGY_TRIAL);
    if (words && c->heap.len % 8 == 0) {
        put_words(c, s);
        return;
    }
    pf_streams_out_u8(s, 1);
    pf_streams_out_put(s, (perfile_bytes){c->heap.ptr, c->heap.len});
}

void pf_blobs_encode(pf_blobs_coder *c, pf_streams_out *s, const uint64_t *lens, size_t n,
                     perfile_bytes heap, unsigned strategy, bool words)
{
    dictionary d;
    const bool repeats = strategy == PF_STRATEGY_DICT;
    if (strategy != PF_STRATEGY_BULK && (repeats || heap.len / LONG_BLOB <= n)) {
        if (!collect(c, lens, n, heap, &d)) {
            s->failed = true;
            return;
        }
        if (words || (uint64_t)d.n * 100 <= (uint64_t)n * WORTH_PERCENT) {
            s->failed |= !gather(c, &d, heap);
            if (!s->failed)
                put_dictionary(c, s, &d, n, words);
            return;
        }
    }
    pf_streams_out_u8(s, PF_BLOBS_PLAIN);
    pf_numbers_encode(&c->numbers, s, lens, n, 4, PF_STRATEGY_TRIAL);
    pf_streams_out_put(s, heap);
}

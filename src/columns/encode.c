/* The encoder of the codec COLUMNS: makes classes, encodes blobs, and writes the payload.
 *
 * The head is written in the order in which a decoder needs it: classes, the class of each record,
 * columns.  See format/columns.md. */
#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/error.h"
#include "columns/columns.h"
#include "core/zone.h"
#include "columns/encode.h"
#include "schema/rows.h"

#include <string.h>

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

/* Writes the class of each record.  Returns false when out of memory. */
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

/* Writes the sizes of gaps between side-band records, if they do not follow from the class
 * numbers. */
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

/* Encoding of columns of blobs: plain, or as a dictionary.
 *
 * In a dictionary, a blob that occurred before costs only an id.  Call chains and registers often
 * repeat as a whole, and new ones consist of words that occurred before. */

enum {
    MOST_PROBES = 32,  /* then a blob counts as new, so hostile input cannot make the table slow */
    LONG_BLOB = 1024,  /* longer average: not looked up, unless they are known to repeat */
    WORTH_PERCENT = 90 /* percent: no dictionary if more blobs are new */
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

/* Returns a hash of the bytes, computed eight at a time. */
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

/* Returns the entry with these bytes, plus 1.  Returns 0 if there is none; *slot is the slot for it
 * then, or SIZE_MAX if no slot is free nearby. */
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

/* Fills the dictionary.  Returns false when out of memory. */
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

/* Copies the bytes of all entries to c->heap.  Returns false when out of memory. */
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

/* Writes the bytes of all entries as numbers. */
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

/* Making classes: how records of one kind are split, from the fields of one record.
 *
 * A walk over the tables yields the fields in stored order.  A number becomes a word.  A field that
 * follows the number of its elements becomes a blob with this prefix.  A text becomes a blob
 * without prefix, which takes the rest of the record.  Short lists and payloads of tracepoints
 * become words, because each of their offsets has a meaning of its own.  If the record cannot be
 * walked, or its fields do not fill it, its body becomes words if it is short, else one blob. */

enum {
    RECORD_HEADER = 8,
    MOST_LEAVES = 256,
    LIST_AS_WORDS = 8,     /* items; longer lists are blobs */
    TOOL_WORDS_MOST = 256, /* longer bodies without fields are not split into words */
    MOST_OPS_OF_CLASS = MOST_LEAVES
};

/* A field, or a whole list. */
typedef struct leaf {
    const perfile_field *field;
    uint32_t at, width; /* offset in the body; bytes */
    uint32_t count;     /* items of a list */
    uint64_t number;
    uint16_t nth; /* item of the enclosing list */
    bool is_number, is_list, of_trailer;
} leaf;

typedef struct plan {
    pf_shred *x;
    const perfile_record *r;
    bool apart;
    bool bad; /* the fields cannot be used */
    bool in_trailer;
    leaf leaves[MOST_LEAVES];
    uint32_t n;
    uint32_t list; /* first leaf of the current list, plus 1 */
    const perfile_field *list_field;
    uint32_t list_at, items, depth, item_depth;
    pf_shred_op ops[MOST_OPS_OF_CLASS];
    uint32_t n_ops;
    bool varies, checked;
    uint32_t size;
} plan;

static void add_leaf(plan *p, const perfile_field *field, const perfile_value *value, bool number)
{
    if (p->n == MOST_LEAVES || value->offset < RECORD_HEADER || value->offset > UINT16_MAX ||
        value->width > UINT16_MAX) {
        p->bad = true;
        return;
    }
    p->leaves[p->n++] = (leaf){.field = field,
                               .at = (uint32_t)value->offset - RECORD_HEADER,
                               .width = (uint32_t)value->width,
                               .number = value->number,
                               .nth = (uint16_t)p->items,
                               .is_number = number,
                               .of_trailer = p->in_trailer};
}

static void show_value(void *user, const perfile_field *field, const perfile_value *value)
{
    plan *p = user;
    if (field->flags & PERFILE_FIELD_CALC || value->width == 0 || p->bad)
        return;
    if (p->list && p->items > LIST_AS_WORDS)
        return; /* the list becomes one leaf */
    add_leaf(p, field, value, field->type <= PERFILE_STORED_S32);
}

static void show_begin(void *user, const perfile_field *field, const perfile_value *value)
{
    plan *p = user;
    p->depth++;
    if (field->type == PERFILE_STORED_LIST && !p->list) {
        p->list = p->n + 1;
        p->list_field = field;
        p->list_at = (uint32_t)value->offset;
        p->items = 0;
        p->item_depth = p->depth;
    } else if (field->type == PERFILE_STORED_ITEM && p->list && p->depth == p->item_depth + 1) {
        p->items++;
    }
}

/* Ends a list.  If it is long, one leaf replaces its leaves; collect_fields() sets its width. */
static void show_end(void *user, const perfile_field *field)
{
    plan *p = user;
    p->depth--;
    if (field->type != PERFILE_STORED_LIST || !p->list || p->depth + 1 != p->item_depth)
        return;
    const uint32_t items = p->items;
    p->items = 0;
    if (items > LIST_AS_WORDS) {
        const perfile_value at = {.offset = p->list_at};
        p->n = p->list - 1;
        add_leaf(p, p->list_field, &at, false);
        if (!p->bad) {
            p->leaves[p->n - 1].is_list = true;
            p->leaves[p->n - 1].count = items;
        }
    }
    p->list = 0;
}

/* Collects the fields of body and trailer.  Returns false if they do not fill the record. */
static bool collect_fields(plan *p)
{
    static const perfile_visitor visitor = {
        .size = sizeof visitor, .value = show_value, .begin = show_begin, .end = show_end};
    if (perfile_record_walk(p->r, PERFILE_WALK_PADDING, &visitor, p, NULL) != PERFILE_OK)
        return false;
    p->in_trailer = true;
    if (perfile_record_walk_trailer(p->r, PERFILE_WALK_PADDING, &visitor, p, NULL) < 0 || p->bad)
        return false;
    uint32_t at = 0;
    for (uint32_t i = 0; i < p->n; i++) {
        leaf *l = &p->leaves[i];
        if (l->is_list)
            l->width = (i + 1 < p->n ? p->leaves[i + 1].at : (uint32_t)p->r->body.len) - l->at;
        if (l->at != at || l->width > p->r->body.len - at)
            return false;
        at += l->width;
    }
    return at == p->r->body.len;
}

static bool is_named(const leaf *l, const char *name)
{
    return strcmp(l->field->name, name) == 0;
}

static pf_shred_op *add_op(plan *p, unsigned what, const pf_column_key *key, unsigned column_width,
                           bool words)
{
    if (p->n_ops == MOST_OPS_OF_CLASS) {
        p->bad = true;
        return &p->ops[0];
    }
    pf_shred_op *o = &p->ops[p->n_ops++];
    *o = (pf_shred_op){.what = (uint8_t)what,
                       .column = pf_shred_column_of(p->x, key, column_width, words)};
    p->bad |= o->column == UINT32_MAX;
    return o;
}

static pf_column_key key_of(const plan *p, const leaf *l)
{
    /* All events share the fields of samples, all types share those of trailers. */
    const bool shared = p->r->type == PERFILE_RECORD_SAMPLE || l->of_trailer;
    return (pf_column_key){
        .field = l->field, .of = shared ? 0 : p->r->type, .nth = l->nth, .apart = p->apart};
}

static pf_shred_op *add_word(plan *p, const pf_column_key *key, unsigned width)
{
    pf_shred_op *o = add_op(p, PF_COLUMNS_WORD, key, width, false);
    o->width = (uint8_t)width;
    p->size += width;
    return o;
}

/* Adds `len` bytes as words; the last ones are narrower. */
static void add_words(plan *p, const pf_column_key *of, uint32_t len)
{
    pf_column_key key = *of;
    for (unsigned width = 8; width; width /= 2)
        for (; len >= width; len -= width, key.nth++)
            add_word(p, &key, width);
}

/* Adds raw data and its size: a word for each offset, because its meaning depends on the
 * tracepoint. */
static void add_raw(plan *p, const leaf *size, const leaf *raw)
{
    const uint32_t event =
        raw->width >= 2 ? pf_load_u16(p->r->body.ptr + raw->at, p->x->swapped) : 0;
    const pf_column_key size_key = {.field = size->field, .of = event};
    const pf_column_key key = {.field = raw->field, .of = event};
    pf_shred_op *o = add_word(p, &size_key, size->width);
    o->guarded = p->checked = true;
    o->value = size->number;
    add_words(p, &key, raw->width);
}

/* Adds a blob without prefix: of exactly `bytes` bytes if `fixed`, else of all but the last
 * `bytes`. */
static void add_blob(plan *p, const pf_column_key *key, bool fixed, uint32_t bytes, bool words)
{
    pf_shred_op *o = add_op(p, PF_COLUMNS_BLOB, key, 0, words);
    o->unit = 1;
    o->fixed = fixed;
    o->extra = bytes;
    p->varies = p->checked = true;
    p->size += fixed ? bytes : 0;
}

/* Adds a blob with a length that follows from the number before it. */
static void add_counted(plan *p, const leaf *l, unsigned prefix, uint32_t unit, uint32_t extra)
{
    const pf_column_key key = key_of(p, l);
    const unsigned kind = l->field->kind;
    pf_shred_op *o =
        add_op(p, PF_COLUMNS_BLOB, &key, 0, kind == PERFILE_KIND_CHAIN || kind == PERFILE_KIND_REG);
    o->width = (uint8_t)prefix;
    o->unit = unit;
    o->extra = extra;
    p->varies = p->checked = true;
    p->size += prefix + extra;
}

static uint32_t element_width(const leaf *l)
{
    static const uint8_t widths[] = {1, 2, 4, 8, 4};
    const bool words = l->field->type == PERFILE_STORED_WORDS && l->field->element < sizeof widths;
    return words ? widths[l->field->element] : 1;
}

/* Returns true if the number `n` counts the elements of `l`. */
static bool counts(const leaf *n, const leaf *l)
{
    return n->is_number && n->width > 1 && !l->is_number && n->number <= UINT16_MAX &&
           (l->is_list ? n->number == l->count : n->number * element_width(l) == l->width);
}

/* Returns the call chain after the instruction pointer at `i`, or NULL unless all fields between
 * them have a fixed size. */
static const leaf *chain_behind(const plan *p, uint32_t i)
{
    for (uint32_t k = i + 1; k < p->n; k++) {
        const leaf *l = &p->leaves[k];
        if (l->is_number)
            continue;
        return l->field->kind == PERFILE_KIND_CHAIN && counts(l - 1, l) && l[-1].width == 8 ? l
                                                                                            : NULL;
    }
    return NULL;
}

/* Adds the instruction pointer.  It is not stored if the call chain repeats it: as its second word,
 * after a context marker, or else as its first. */
static bool add_ip(plan *p, uint32_t i)
{
    const leaf *ip = &p->leaves[i];
    if (p->r->type != PERFILE_RECORD_SAMPLE || ip->width != 8 || !is_named(ip, "ip"))
        return false;
    const leaf *chain = chain_behind(p, i);
    if (!chain || chain->width < 16)
        return false;
    const uint8_t *body = p->r->body.ptr, *word = body + ip->at;
    const bool second = memcmp(word, body + chain->at + 8, 8) == 0;
    const bool repeated = second || memcmp(word, body + chain->at, 8) == 0;
    const uint32_t offset = second || !repeated ? 8 : 0;
    const pf_column_key key = key_of(p, ip), chain_key = key_of(p, chain);
    pf_shred_op *o =
        repeated ? add_op(p, PF_COLUMNS_REF, &chain_key, 0, true) : add_word(p, &key, 8);
    p->size += repeated ? 8 : 0;
    o->unlike = !repeated;
    o->distance = chain->at + offset - ip->at;
    o->offset = offset;
    p->checked = true;
    return true;
}

/* Returns true for two numbers that belong together and become one word: pid and tid, cpu and
 * res. */
static bool is_pair(const plan *p, uint32_t i)
{
    const leaf *a = &p->leaves[i], *b = a + 1;
    return i + 1 < p->n && a->width == 4 && b->width == 4 &&
           ((is_named(a, "pid") && is_named(b, "tid")) ||
            (is_named(a, "cpu") && is_named(b, "res")));
}

/* Adds the operation for the leaf at `i`, and for leaves that belong to it.  Returns how many
 * leaves. */
static uint32_t add_leaf_op(plan *p, uint32_t i)
{
    const leaf *l = &p->leaves[i], *next = l + 1;
    const uint32_t left = p->n - i;
    const pf_column_key key = key_of(p, l);
    if (left > 1 && next->field->kind == PERFILE_KIND_RAW && counts(l, next) &&
        next->width <= PF_SHRED_WORDS_MOST && !p->apart) {
        add_raw(p, l, next);
        return 2;
    }
    if (left > 1 && counts(l, next)) {
        const uint32_t unit = next->is_list ? next->width / next->count : element_width(next);
        if (!next->is_list || next->width % next->count == 0) {
            add_counted(p, next, l->width, unit, 0);
            return 2;
        }
    }
    if (left > 2 && next->is_number && l[2].is_list && counts(l, &l[2]) &&
        l[2].width % l[2].count == 0) {
        add_counted(p, &l[2], l->width, l[2].width / l[2].count, next->width);
        return 3;
    }
    if (is_pair(p, i)) {
        add_word(p, &key, 8);
        return 2;
    }
    if (add_ip(p, i))
        return 1;
    if (l->is_number) {
        add_word(p, &key, l->width);
        return 1;
    }
    if (l->field->flags & PERFILE_FIELD_PAD) {
        add_words(p, &key, l->width);
        return 1;
    }
    const bool text = l->field->type == PERFILE_STORED_TEXT && !p->varies;
    const uint32_t behind = (uint32_t)p->r->body.len - l->at - l->width;
    add_blob(p, &key, !text, text ? behind : l->width, l->field->kind == PERFILE_KIND_REG);
    return 1;
}

static void begin(plan *p)
{
    p->n_ops = p->size = 0;
    p->varies = p->checked = p->bad = false;
}

/* Makes the operations from the fields. */
static bool plan_fields(plan *p)
{
    if (pf_is_of_tool(p->r) || p->x->n_classes >= PF_SHRED_PLANNED || !collect_fields(p))
        return false;
    for (uint32_t i = 0; i < p->n && !p->bad;)
        i += add_leaf_op(p, i);
    return !p->bad;
}

/* Makes the operations for an unknown body: words if it is short, else one blob. */
static bool plan_bytes(plan *p)
{
    const pf_column_key key = {.of = p->r->type, .apart = p->apart};
    const size_t len = p->r->body.len;
    begin(p);
    if (len <= TOOL_WORDS_MOST && len % 8 == 0 && p->x->n_classes < PF_SHRED_PLANNED)
        add_words(p, &key, (uint32_t)len);
    else
        add_blob(p, &key, false, 0, false);
    return !p->bad;
}

static bool has_room(const plan *p)
{
    return p->n_ops <= PF_COLUMNS_MOST_OPS - p->x->n_ops;
}

pf_shred_class *pf_shred_plan(pf_shred *x, const pf_class_key *key, const perfile_record *r)
{
    plan p = {.x = x, .r = r, .apart = pf_zone_is_apart(r)};
    if (x->n_classes == PF_COLUMNS_MOST_CLASSES ||
        ((!plan_fields(&p) || !has_room(&p)) && (!plan_bytes(&p) || !has_room(&p))))
        return NULL;
    pf_shred_class *c = &x->classes[x->n_classes++];
    *c = (pf_shred_class){.key = *key,
                          .first = x->n_ops,
                          .n = p.n_ops,
                          .size = p.size,
                          .apart = p.apart,
                          .varies = p.varies,
                          .checked = p.checked};
    memcpy(&x->ops[x->n_ops], p.ops, p.n_ops * sizeof *p.ops);
    x->n_ops += p.n_ops;
    return c;
}

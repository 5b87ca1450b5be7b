/* Splits records into columns, and writes the streams of a payload.
 *
 * Most records are of the class of the previous one.  Otherwise a hash of type, misc and layout
 * finds the possible classes, and the first one that fits is used.  A record that fits none makes a
 * new class. */
#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/crc32.h"
#include "base/error.h"
#include "columns/encode.h"
#include "core/layout.h"
#include "schema/rows.h"

enum { FIRST_VALUES = 256, RECORD_HEADER = 8, MOST_RECORD = 65535 };

/* Columns with many values store them in a piece of a slab on large pages, which has room for the
 * records of a chunk.  Growing in steps would touch twice as much memory. */
enum { MANY_VALUES = 8192, PIECE_VALUES = 65536, PIECES = 8 };

bool pf_shred_init(pf_shred *x)
{
    x->ops = pf_alloc(PF_COLUMNS_MOST_OPS, sizeof *x->ops);
    x->columns = pf_alloc(PF_COLUMNS_MOST_COLUMNS, sizeof *x->columns);
    return x->ops && x->columns;
}

void pf_shred_free(pf_shred *x)
{
    for (uint32_t i = 0; i < x->made_columns; i++) {
        if (!x->columns[i].in_slab)
            pf_free(x->columns[i].values);
        pf_buffer_free(&x->columns[i].heap);
    }
    for (uint32_t i = 0; i < x->n_slabs; i++)
        pf_free(x->slabs[i]);
    pf_free(x->slabs);
    pf_free(x->columns);
    pf_free(x->ops);
    pf_buffer_free(&x->class_of);
    pf_buffer_free(&x->gaps);
}

void pf_shred_begin(pf_shred *x, bool swapped)
{
    x->swapped = swapped;
    x->failed = x->refused = false;
    x->n_columns = x->n_ops = x->n_classes = 0;
    x->last = UINT32_MAX;
    x->gap = 0;
    x->shaped = NULL;
    memset(x->slots, 0, sizeof x->slots);
    pf_buffer_clear(&x->class_of);
    pf_buffer_clear(&x->gaps);
}

static bool same_key(const pf_column_key *a, const pf_column_key *b)
{
    return a->field == b->field && a->of == b->of && a->nth == b->nth && a->apart == b->apart;
}

uint32_t pf_shred_column_of(pf_shred *x, const pf_column_key *key, unsigned width, bool words)
{
    for (uint32_t i = 0; i < x->n_columns; i++)
        if (x->columns[i].width == width && same_key(&x->columns[i].key, key))
            return i;
    if (x->n_columns == PF_COLUMNS_MOST_COLUMNS)
        return UINT32_MAX;
    static const uint8_t strategies[] = {
#define STRATEGY(kind, strategy) [PERFILE_KIND_##kind] = PF_STRATEGY_##strategy,
#include "perfile/format/columns.def"
    };
    const unsigned kind = key->field ? key->field->kind : PERFILE_KIND_DEC;
    pf_shred_column *c = &x->columns[x->n_columns++];
    if (x->made_columns < x->n_columns)
        x->made_columns = x->n_columns;
    c->key = *key;
    c->width = (uint8_t)width;
    c->words = words;
    c->strategy = kind < sizeof strategies ? strategies[kind] : (uint8_t)PF_STRATEGY_TRIAL;
    c->n = 0;
    pf_buffer_clear(&c->heap);
    return x->n_columns - 1;
}

/* Returns room for PIECE_VALUES values, or NULL. */
static uint64_t *take_piece(pf_shred *x)
{
    if (!x->pieces_left) {
        uint64_t **slabs = pf_realloc(x->slabs, x->n_slabs + 1, sizeof *slabs);
        if (!slabs)
            return NULL;
        x->slabs = slabs;
        slabs[x->n_slabs] = pf_alloc_large(PIECES * PIECE_VALUES * sizeof(uint64_t));
        if (!slabs[x->n_slabs])
            return NULL;
        x->n_slabs++;
        x->pieces_left = PIECES;
    }
    return x->slabs[x->n_slabs - 1] + (PIECES - x->pieces_left--) * PIECE_VALUES;
}

/* Moves the values to memory for `cap` values, which are many. */
static uint64_t *move_values(pf_shred *x, pf_shred_column *c, uint32_t cap)
{
    const bool in_slab = cap <= PIECE_VALUES;
    uint64_t *values = in_slab ? take_piece(x) : pf_alloc_large(cap * sizeof *values);
    if (!values)
        return NULL;
    if (c->n)
        memcpy(values, c->values, c->n * sizeof *values);
    if (!c->in_slab)
        pf_free(c->values);
    c->in_slab = in_slab;
    return values;
}

/* Makes room for one more value. */
static bool grow(pf_shred *x, pf_shred_column *c)
{
    uint32_t cap = c->cap ? 2 * c->cap : FIRST_VALUES;
    const bool many = cap > MANY_VALUES;
    cap = many && cap < PIECE_VALUES ? PIECE_VALUES : cap;
    uint64_t *values = cap <= c->cap ? NULL
                       : many        ? move_values(x, c, cap)
                                     : pf_realloc(c->values, cap, sizeof *values);
    if (!values) {
        x->failed = true;
        return false;
    }
    c->values = values;
    c->cap = cap;
    return true;
}

PF_INLINE void push(pf_shred *x, pf_shred_column *c, uint64_t v)
{
    if (c->n < c->cap || grow(x, c))
        c->values[c->n++] = v;
}

static void push_blob(pf_shred *x, pf_shred_column *c, const uint8_t *bytes, size_t len)
{
    push(x, c, len);
    x->failed |= !pf_buffer_reserve_large(&c->heap, len) || !pf_buffer_append(&c->heap, bytes, len);
}

PF_INLINE uint64_t load(const uint8_t *p, unsigned width, bool swap)
{
    switch (width) {
    case 8:
        return pf_load_u64(p, swap);
    case 4:
        return pf_load_u32(p, swap);
    case 2:
        return pf_load_u16(p, swap);
    default:
        return *p;
    }
}

/* Determines the length of the blob at `p`, which begins with its prefix.  Returns false if it does
 * not fit. */
static bool blob_len(const pf_shred_op *o, const uint8_t *p, const uint8_t *end, bool swap,
                     size_t *len)
{
    const size_t left = (size_t)(end - p);
    if (!o->width) {
        if (left < o->extra)
            return false;
        *len = o->fixed ? o->extra : left - o->extra;
        return true;
    }
    if (left < o->width)
        return false;
    const uint64_t prefix = load(p, o->width, swap);
    if (prefix > UINT16_MAX)
        return false;
    *len = (size_t)(prefix * o->unit + o->extra);
    return *len <= left - o->width;
}

/* Returns true if the word at `p` equals the word of the call chain that the operation names. */
static bool repeats(const pf_shred_op *o, const uint8_t *p, const uint8_t *end, bool swap)
{
    return (size_t)(end - p) >= (size_t)o->distance + 8 &&
           pf_load_u64(p + o->distance - o->offset - 8, swap) > o->offset / 8 &&
           memcmp(p, p + o->distance, 8) == 0;
}

/* Returns true if the operations consume the body exactly, and all conditions on words hold. */
static bool fits(const pf_shred *x, const pf_shred_class *c, const perfile_record *r)
{
    const uint8_t *p = r->body.ptr, *end = p + r->body.len;
    if (r->body.len < c->size || (!c->varies && r->body.len != c->size))
        return false;
    if (!c->checked)
        return true;
    for (const pf_shred_op *o = &x->ops[c->first], *last = o + c->n; o < last; o++) {
        size_t len;
        switch (o->what) {
        case PF_COLUMNS_WORD:
            if (end - p < o->width || (o->guarded && load(p, o->width, x->swapped) != o->value) ||
                (o->unlike && repeats(o, p, end, x->swapped)))
                return false;
            p += o->width;
            break;
        case PF_COLUMNS_BLOB:
            if (!blob_len(o, p, end, x->swapped, &len))
                return false;
            p += o->width + len;
            break;
        default:
            if (!repeats(o, p, end, x->swapped))
                return false;
            p += 8;
        }
    }
    return p == end;
}

/* Appends the values of a record that fits to the columns. */
PF_INLINE void take(pf_shred *x, const pf_shred_class *c, const perfile_record *r, bool swap)
{
    const uint8_t *p = r->body.ptr, *end = p + r->body.len;
    for (const pf_shred_op *o = &x->ops[c->first], *last = o + c->n; o < last; o++) {
        pf_shred_column *column = &x->columns[o->column];
        if (o->what == PF_COLUMNS_WORD) {
            push(x, column, load(p, o->width, swap));
            p += o->width;
        } else if (o->what == PF_COLUMNS_BLOB) {
            size_t len = 0;
            (void)blob_len(o, p, end, swap, &len);
            push_blob(x, column, p + o->width, len);
            p += o->width + len;
        } else {
            p += 8;
        }
    }
}

/* Returns what distinguishes raw data of different tracepoints: its size, and the tracepoint number
 * at its beginning.  Returns 0 if raw data is not at a known offset. */
static uint64_t raw_of(pf_shred *x, const perfile_record *r, const perfile_layout *layout)
{
    if (layout != x->shaped) {
        x->shaped = layout;
        x->shape = pf_sample_shape_of(layout->sample_type);
    }
    if (!x->shape.known || !x->shape.raw || r->body.len < x->shape.least)
        return 0;
    uint64_t at = x->shape.chain_at;
    if (x->shape.chain) {
        const uint64_t nr = pf_load_u64(r->body.ptr + at, x->swapped);
        if (nr > r->body.len / 8)
            return 0;
        at += 8 + 8 * nr;
    }
    if (at > r->body.len || r->body.len - at < 6)
        return 0;
    return (uint64_t)pf_load_u32(r->body.ptr + at, x->swapped) << 16 |
           pf_load_u16(r->body.ptr + at + 4, x->swapped);
}

static unsigned slot_of(const pf_class_key *k)
{
    const uint64_t h =
        ((uint64_t)(uintptr_t)k->layout ^ (uint64_t)k->type << 16 ^ k->misc ^ k->raw << 20) *
        UINT64_C(0x9e3779b97f4a7c15);
    return (unsigned)(h >> 55) % PF_SHRED_SLOTS;
}

static bool equal_key(const pf_class_key *a, const pf_class_key *b)
{
    return a->type == b->type && a->misc == b->misc && a->layout == b->layout && a->raw == b->raw;
}

/* Returns the class of the record, made if there is none, or NULL if there is no room for it.  A
 * record may fit several classes if blobs can be empty; any of them is correct. */
static pf_shred_class *class_of(pf_shred *x, const pf_class_key *key, const perfile_record *r)
{
    if (x->last != UINT32_MAX && equal_key(&x->classes[x->last].key, key) &&
        fits(x, &x->classes[x->last], r))
        return &x->classes[x->last];
    uint16_t *slot = &x->slots[slot_of(key)];
    for (unsigned at = *slot; at; at = x->classes[at - 1].next)
        if (equal_key(&x->classes[at - 1].key, key) && fits(x, &x->classes[at - 1], r))
            return &x->classes[at - 1];
    pf_shred_class *c = pf_shred_plan(x, key, r);
    if (!c)
        return NULL;
    c->next = *slot;
    *slot = (uint16_t)(c - x->classes + 1);
    return c;
}

/* Counts the bytes of the gaps between side-band records. */
static void count_gap(pf_shred *x, const pf_shred_class *c, const perfile_record *r)
{
    if (!c->apart) {
        x->gap += RECORD_HEADER + r->body.len;
    } else if (x->gap) {
        x->failed |= !pf_buffer_append(&x->gaps, &x->gap, sizeof x->gap);
        x->gap = 0;
    }
}

static void add(pf_shred *x, const perfile_record *r)
{
    uint32_t damage;
    const perfile_layout *layout = pf_layout_of(r, &damage);
    const bool raw =
        layout && r->type == PERFILE_RECORD_SAMPLE && layout->sample_type & PERFILE_SAMPLE_RAW;
    const pf_class_key key = {
        .type = r->type, .misc = r->misc, .layout = layout, .raw = raw ? raw_of(x, r, layout) : 0};
    if (r->body.len > MOST_RECORD - RECORD_HEADER) {
        x->refused = true;
        return;
    }
    pf_shred_class *c = class_of(x, &key, r);
    if (!c) {
        x->refused = true;
        return;
    }
    x->last = (uint32_t)(c - x->classes);
    if (x->swapped)
        take(x, c, r, true);
    else
        take(x, c, r, false);
    count_gap(x, c, r);
    x->failed |= !pf_buffer_append_u8(&x->class_of, (uint8_t)x->last);
}

void pf_shred_add(pf_shred *x, const perfile_record *first, size_t n)
{
    for (size_t i = 0; i < n && !x->failed && !x->refused; i++)
        add(x, &first[i]);
}

/* Writing the streams of a payload.
 *
 * A large stream gets a frame of its own: its bytes have their own distribution, and a reader that
 * does not need the column need not decompress it.  Small streams share frame 0 with the head,
 * because each frame costs some bytes and some time. */

enum {
    SMALL = 512,           /* shorter streams share frame 0 */
    WIDE_WINDOW = 1 << 20, /* longer streams get a window of their size */
    SAVES_ONE_OF = 32,     /* a frame is not compressed unless this saves one byte of so many */
    FIXED = 16,            /* bytes before the sizes of frames */
    LEB128_MOST = 10       /* bytes of a number */
};

void pf_streams_out_begin(pf_streams_out *s, int level)
{
    s->level = level;
    s->failed = false;
    pf_buffer_clear(&s->head);
    pf_buffer_clear(&s->small);
    pf_buffer_clear(&s->frames);
    pf_buffer_clear(&s->sizes);
    pf_buffer_clear(&s->crcs);
    if (!s->zstd && !(s->zstd = ZSTD_createCCtx()))
        s->failed = true;
}

void pf_streams_out_free(pf_streams_out *s)
{
    ZSTD_freeCCtx(s->zstd);
    pf_buffer_free(&s->head);
    pf_buffer_free(&s->small);
    pf_buffer_free(&s->frames);
    pf_buffer_free(&s->sizes);
    pf_buffer_free(&s->crcs);
    pf_buffer_free(&s->first);
}

void pf_streams_out_u8(pf_streams_out *s, uint8_t v)
{
    s->failed |= !pf_buffer_append_u8(&s->head, v);
}

void pf_streams_out_v(pf_streams_out *s, uint64_t v)
{
    if (!pf_buffer_reserve(&s->head, LEB128_MOST)) {
        s->failed = true;
        return;
    }
    s->head.len = (size_t)(pf_leb128_put(s->head.ptr + s->head.len, v) - s->head.ptr);
}

/* Returns the exponent of the least power of two that is at least `n`, within the limits of
 * windows. */
static int log_of(size_t n)
{
    int log = 0;
    while (log < PF_ARCHIVE_MOST_WINDOW_LOG && (size_t)1 << log < n)
        log++;
    return log;
}

/* Compresses to `to`, which has room for `bound` bytes.  Returns the size, or an error of zstd. */
static size_t compress(pf_streams_out *s, uint8_t *to, size_t bound, perfile_bytes bytes)
{
    (void)ZSTD_CCtx_reset(s->zstd, ZSTD_reset_session_and_parameters);
    (void)ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, s->level);
    if (bytes.len > WIDE_WINDOW)
        (void)ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_windowLog, log_of(bytes.len));
    return ZSTD_compress2(s->zstd, to, bound, bytes.ptr, bytes.len);
}

/* The same with hardly any matches.  If bytes repeat by chance, a match costs more than the entropy
 * codes of its bytes, which zstd does not consider below level 13. */
static size_t compress_codes(pf_streams_out *s, uint8_t *to, size_t bound, perfile_bytes bytes)
{
    enum { LONGEST_LEAST_MATCH = 7, LEAST_HASH_LOG = 6 };
    (void)ZSTD_CCtx_reset(s->zstd, ZSTD_reset_session_and_parameters);
    (void)ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_compressionLevel, 1);
    (void)ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_minMatch, LONGEST_LEAST_MATCH);
    (void)ZSTD_CCtx_setParameter(s->zstd, ZSTD_c_hashLog, LEAST_HASH_LOG);
    return ZSTD_compress2(s->zstd, to, bound, bytes.ptr, bytes.len);
}

/* Appends a frame with `bytes` to `to`.  With `by_chance`, tries both ways and uses the smaller
 * result.  *len is the stored size. */
static bool add_frame(pf_streams_out *s, perfile_bytes bytes, bool by_chance, pf_buffer *to,
                      size_t *len)
{
    const size_t bound = ZSTD_compressBound(bytes.len);
    if (!s->zstd || !pf_buffer_reserve_large(to, 2 * bound))
        return false;
    uint8_t *at = to->ptr + to->len;
    size_t n = compress(s, at, bound, bytes);
    /* Each entropy code has at least one bit, so below this size it cannot win. */
    if (by_chance && !ZSTD_isError(n) && n > bytes.len / 8) {
        const size_t other = compress_codes(s, at + bound, bound, bytes);
        if (!ZSTD_isError(other) && other < n) {
            n = other;
            memcpy(at, at + bound, n);
        }
    }
    if (ZSTD_isError(n))
        return false;
    if (n >= bytes.len - bytes.len / SAVES_ONE_OF) { /* equal sizes mean: not compressed */
        n = bytes.len;
        if (n)
            memcpy(at, bytes.ptr, n);
    }
    to->len += n;
    *len = n;
    return true;
}

static bool append_u32(pf_buffer *to, uint32_t v)
{
    uint8_t bytes[4];
    pf_store_u32(bytes, v, PF_NATIVE_BIG);
    return pf_buffer_append(to, bytes, sizeof bytes);
}

static void put(pf_streams_out *s, perfile_bytes bytes, bool by_chance)
{
    const bool own = bytes.len >= SMALL;
    size_t len;
    pf_streams_out_v(s, (uint64_t)bytes.len << 1 | own);
    if (s->failed)
        return;
    if (!own) {
        s->failed = !pf_buffer_append(&s->small, bytes.ptr, bytes.len);
        return;
    }
    const size_t at = s->frames.len;
    s->failed = !add_frame(s, bytes, by_chance, &s->frames, &len) ||
                !append_u32(&s->sizes, (uint32_t)len) ||
                !append_u32(&s->crcs, pf_crc32c(0, (perfile_bytes){s->frames.ptr + at, len}));
}

void pf_streams_out_put(pf_streams_out *s, perfile_bytes bytes)
{
    put(s, bytes, false);
}

void pf_streams_out_put_by_chance(pf_streams_out *s, perfile_bytes bytes)
{
    put(s, bytes, true);
}

/* Makes frame 0 in s->first. */
static bool pack_first(pf_streams_out *s, size_t *head_len, size_t *raw0)
{
    size_t stored;
    *head_len = s->head.len;
    if (s->failed || !pf_buffer_append(&s->head, s->small.ptr, s->small.len))
        return false;
    *raw0 = s->head.len;
    pf_buffer_clear(&s->first);
    return add_frame(s, (perfile_bytes){s->head.ptr, s->head.len}, false, &s->first, &stored);
}

perfile_status pf_streams_out_finish(pf_streams_out *s, pf_buffer *out, perfile_error *err)
{
    size_t head_len, raw0;
    if (!pack_first(s, &head_len, &raw0))
        return pf_fail_nomem(err, "archive.columns");
    const size_t n_frames = s->sizes.len / 4, table = FIXED + 4 * n_frames + 4 + 4 * n_frames;
    if (!pf_buffer_reserve(out, table + 4 + s->first.len + s->frames.len))
        return pf_fail_nomem(err, "archive.columns");
    const size_t begin = out->len;
    const uint32_t crc0 = pf_crc32c(0, (perfile_bytes){s->first.ptr, s->first.len});
    bool ok = append_u32(out, (uint32_t)n_frames) && append_u32(out, (uint32_t)head_len) &&
              append_u32(out, (uint32_t)raw0) && append_u32(out, (uint32_t)s->first.len) &&
              pf_buffer_append(out, s->sizes.ptr, s->sizes.len) && append_u32(out, crc0) &&
              pf_buffer_append(out, s->crcs.ptr, s->crcs.len) &&
              append_u32(out, pf_crc32c(0, (perfile_bytes){out->ptr + begin, table})) &&
              pf_buffer_append(out, s->first.ptr, s->first.len) &&
              pf_buffer_append(out, s->frames.ptr, s->frames.len);
    return ok ? PERFILE_OK : pf_fail_nomem(err, "archive.columns");
}

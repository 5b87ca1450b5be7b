/* A batch as a row group of a Parquet file (parquet.h): each column separately, in pages.
 *
 * A column goes through four steps, each for all its rows.  First its levels are computed: for each
 * entry (a value, a null, an empty list) they tell whether it is there and where lists begin.  Then
 * the non-null values are collected.  Then the encoding with the smallest size is chosen.  Finally
 * the pages are cut, encoded and compressed. */
#include "parquet/parquet.h"

#include <math.h>
#include <zstd.h>

#include "base/alloc.h"
#include "base/byte_order.h"
#include "base/crc32.h"
#include "base/error.h"
#include "parquet/dictionary.h"
#include "parquet/encodings.h"
#include "parquet/leaves.h"
#include "parquet/thrift.h"

/* A page ends at the first row after this many entries, or bytes of texts.  Pages of 20,480
 * entries, as other writers make, compress to a fifteenth more bytes. */
enum { PAGE_ENTRIES = 1 << 17, PAGE_BYTES = 1 << 20 };

/* Longest dictionary, in PLAIN encoding. */
enum { MOST_DICTIONARY_BYTES = 1 << 20 };

enum { PAGE_DATA = 0, PAGE_DICTIONARY = 2 };

struct pf_parquet_encoder {
    ZSTD_CCtx *zstd;
    pf_buffer def, rep; /* uint32_t: levels */
    pf_buffer values;   /* uint64_t: non-null numbers, I32 sign-extended */
    pf_buffer indexes;  /* uint32_t: indices of texts, bits of BOOL, or indices in `dictionary` */
    pf_dictionary dictionary;
    pf_buffer page, packed; /* a page, and its compressed form */
};

/* State of encoding a column. */
typedef struct leaf_view {
    pf_leaf leaf;
    const pf_table_column *column, *parent; /* `parent` is NULL if there is none */
    unsigned physical;
    size_t entries;
    const uint32_t *def; /* for each entry; NULL: all are `same_def` */
    uint32_t same_def;
    const uint32_t *rep; /* for each entry; NULL: all are 0 */
    size_t n;            /* number of non-null values: */
    const uint64_t *values;
    const uint32_t *indexes;
    unsigned encoding;
    unsigned width; /* bits of a dictionary index */
} leaf_view;

pf_parquet_encoder *pf_parquet_encoder_new(int level)
{
    pf_parquet_encoder *e = pf_alloc(1, sizeof *e);
    if (!e)
        return NULL;
    *e = (pf_parquet_encoder){.zstd = ZSTD_createCCtx()};
    if (!e->zstd || ZSTD_isError(ZSTD_CCtx_setParameter(e->zstd, ZSTD_c_compressionLevel, level))) {
        pf_parquet_encoder_free(e);
        return NULL;
    }
    return e;
}

void pf_parquet_encoder_free(pf_parquet_encoder *e)
{
    if (!e)
        return;
    ZSTD_freeCCtx(e->zstd);
    pf_buffer_free(&e->def);
    pf_buffer_free(&e->rep);
    pf_buffer_free(&e->values);
    pf_buffer_free(&e->indexes);
    pf_dictionary_free(&e->dictionary);
    pf_buffer_free(&e->page);
    pf_buffer_free(&e->packed);
    pf_free(e);
}

/* Makes room for `n` items of `width` bytes.  Returns NULL when out of memory. */
static void *room(pf_buffer *b, size_t n, size_t width)
{
    pf_buffer_clear(b);
    /* One more, so that the pointer is not NULL for n = 0. */
    return pf_buffer_reserve(b, (n + 1) * width) ? b->ptr : NULL;
}

/* Levels. */

enum { NONE_THERE, SOME_THERE, ALL_THERE };

/* Returns how many of the first `n` items of a column are not null.  `c` may be NULL: then all. */
static int how_many_there(const pf_table_column *c, size_t n)
{
    if (!c || (c->n >= n && !c->nulls))
        return ALL_THERE;
    return c->nulls == c->n ? NONE_THERE : SOME_THERE;
}

static bool is_there(const pf_table_column *c, size_t i)
{
    return !c || (i < c->n && !pf_column_is_null(c, i));
}

/* Computes the levels of a column, or of a member of a GROUP: one entry for each row.  Returns
 * false when out of memory. */
static bool flat_levels(pf_parquet_encoder *e, leaf_view *v, size_t rows)
{
    const uint32_t max = v->leaf.max_def;
    const int parents = how_many_there(v->parent, rows), items = how_many_there(v->column, rows);
    v->entries = rows;
    if (parents == NONE_THERE || (parents == ALL_THERE && items != SOME_THERE)) {
        v->same_def = parents == NONE_THERE ? 0 : items == ALL_THERE ? max : max - 1;
        return true;
    }
    uint32_t *def = room(&e->def, rows, sizeof *def);
    v->def = def;
    for (size_t i = 0; def && i < rows; i++)
        def[i] = is_there(v->parent, i) ? max - !is_there(v->column, i) : 0;
    return def;
}

/* Computes the levels of lists: an entry for each element, and for each list without elements. */
static bool list_levels(pf_parquet_encoder *e, leaf_view *v, size_t rows)
{
    const pf_table_column *list = v->parent ? v->parent : v->column;
    const int32_t *at = (const void *)list->offsets.ptr;
    v->entries = rows;
    if (how_many_there(list, rows) == NONE_THERE)
        return true;
    for (size_t i = 0; i < rows && i < list->n; i++)
        v->entries += at[i + 1] > at[i] ? (size_t)(at[i + 1] - at[i] - 1) : 0;
    uint32_t *def = room(&e->def, v->entries, sizeof *def);
    uint32_t *rep = room(&e->rep, v->entries, sizeof *rep);
    v->def = def;
    v->rep = rep;
    if (!def || !rep)
        return false;
    size_t n = 0;
    for (size_t i = 0; i < rows; i++) {
        const int32_t begin = i < list->n ? at[i] : 0, end = i < list->n ? at[i + 1] : 0;
        rep[n] = 0;
        if (begin == end)
            def[n++] = is_there(list, i);
        for (int32_t k = begin; k < end; k++, n++) {
            rep[n] = k > begin;
            def[n] = v->leaf.max_def - (v->parent && !is_there(v->column, (size_t)k));
        }
    }
    return true;
}

/* Non-null values. */

/* Returns the number of items of the column: rows, or elements of all lists. */
static size_t items_of(const leaf_view *v, size_t rows)
{
    if (!v->leaf.max_rep)
        return rows;
    const pf_table_column *list = v->parent ? v->parent : v->column;
    return list->n ? (size_t)((const int32_t *)(const void *)list->offsets.ptr)[list->n] : 0;
}

/* Returns true if item `i` of the column has a value in the row group. */
static bool has_value(const leaf_view *v, size_t i)
{
    if (!v->leaf.max_rep)
        return v->def[i] == v->leaf.max_def;
    return !v->parent || is_there(v->column, i);
}

static uint64_t number_at(const pf_table_column *c, size_t i)
{
    if (pf_column_width(c->about->type) == 8)
        return pf_load_u64(c->data.ptr + 8 * i, false);
    return (uint64_t)(int64_t)(int32_t)pf_load_u32(c->data.ptr + 4 * i, false);
}

static uint32_t index_at(const pf_table_column *c, size_t i)
{
    if (c->about->type == PF_COLUMN_BOOL)
        return c->data.ptr[i / 8] >> i % 8 & 1;
    return pf_load_u32(c->data.ptr + 4 * i, false);
}

/* Copies the non-null values, without gaps.  Returns false when out of memory. */
static bool take_values(pf_parquet_encoder *e, leaf_view *v, size_t rows)
{
    const pf_table_column *c = v->column;
    if (!v->def && v->same_def < v->leaf.max_def)
        return true;
    const size_t items = items_of(v, rows);
    const bool all = !v->def || (v->leaf.max_rep && (!v->parent || (c->n >= items && !c->nulls)));
    const bool numbers =
        v->physical != PF_PHYSICAL_BOOLEAN && v->physical != PF_PHYSICAL_BYTE_ARRAY;
    uint64_t *values = room(&e->values, numbers ? items : 0, sizeof *values);
    uint32_t *indexes = room(&e->indexes, items, sizeof *indexes);
    if (!values || !indexes)
        return false;
    v->values = values;
    v->indexes = indexes;
    size_t n = 0;
    for (size_t i = 0; i < items; i++) {
        if (!all && !has_value(v, i))
            continue;
        if (numbers)
            values[n++] = number_at(c, i);
        else
            indexes[n++] = index_at(c, i);
    }
    v->n = n;
    return true;
}

/* Sets the bounds. */

static void bound(pf_parquet_chunk *chunk, const void *least, size_t least_len,
                  const void *greatest, size_t greatest_len)
{
    if (least_len) /* the pointer of an empty text may be NULL */
        memcpy(chunk->least, least, least_len);
    if (greatest_len)
        memcpy(chunk->greatest, greatest, greatest_len);
    chunk->least_len = (uint8_t)least_len;
    chunk->greatest_len = (uint8_t)greatest_len;
    chunk->bounded = true;
}

static int compare_texts(perfile_bytes a, perfile_bytes b)
{
    const size_t len = a.len < b.len ? a.len : b.len;
    const int order = len ? memcmp(a.ptr, b.ptr, len) : 0;
    return order ? order : (a.len > b.len) - (a.len < b.len);
}

static void bound_texts(pf_parquet_chunk *chunk, const pf_column_texts *t)
{
    perfile_bytes least = pf_column_text_at(t, 0), greatest = least;
    for (uint32_t i = 1; i < t->n; i++) {
        const perfile_bytes text = pf_column_text_at(t, i);
        if (compare_texts(text, least) < 0)
            least = text;
        if (compare_texts(text, greatest) > 0)
            greatest = text;
    }
    if (least.len <= PF_PARQUET_BOUND_BYTES && greatest.len <= PF_PARQUET_BOUND_BYTES)
        bound(chunk, least.ptr, least.len, greatest.ptr, greatest.len);
}

/* Bounds doubles.  If one is a zero, both zeros are within the bounds.  NaNs are not comparable:
 * with a NaN there are no bounds. */
static void bound_doubles(pf_parquet_chunk *chunk, const uint64_t *values, size_t n)
{
    double least = INFINITY, greatest = -INFINITY;
    for (size_t i = 0; i < n; i++) {
        double value;
        memcpy(&value, &values[i], sizeof value);
        chunk->nans += value != value;
        least = value < least ? value : least;
        greatest = value > greatest ? value : greatest;
    }
    if (chunk->nans)
        return;
    least = least == 0 ? -0.0 : least;
    greatest = greatest == 0 ? 0.0 : greatest;
    uint64_t bits[2];
    memcpy(&bits[0], &least, sizeof least);
    memcpy(&bits[1], &greatest, sizeof greatest);
    uint8_t bytes[2][8];
    pf_store_u64(bytes[0], bits[0], PF_NATIVE_BIG);
    pf_store_u64(bytes[1], bits[1], PF_NATIVE_BIG);
    bound(chunk, bytes[0], 8, bytes[1], 8);
}

static void bound_numbers(pf_parquet_chunk *chunk, const leaf_view *v)
{
    /* Flipping the highest bit maps the order of signed numbers to that of unsigned ones. */
    const uint64_t sign = v->column->about->type == PF_COLUMN_U64 ? 0 : (uint64_t)1 << 63;
    uint64_t least = UINT64_MAX, greatest = 0;
    for (size_t i = 0; i < v->n; i++) {
        const uint64_t value = v->values[i] ^ sign;
        least = value < least ? value : least;
        greatest = value > greatest ? value : greatest;
    }
    uint8_t bytes[2][8];
    pf_store_u64(bytes[0], least ^ sign, PF_NATIVE_BIG);
    pf_store_u64(bytes[1], greatest ^ sign, PF_NATIVE_BIG);
    const size_t width = v->physical == PF_PHYSICAL_INT32 ? 4 : 8;
    bound(chunk, bytes[0], width, bytes[1], width);
}

static void bound_bools(pf_parquet_chunk *chunk, const uint32_t *values, size_t n)
{
    uint8_t least = 1, greatest = 0;
    for (size_t i = 0; i < n; i++) {
        least &= (uint8_t)values[i];
        greatest |= (uint8_t)values[i];
    }
    bound(chunk, &least, 1, &greatest, 1);
}

static void bound_values(pf_parquet_chunk *chunk, const leaf_view *v)
{
    if (!v->n)
        return;
    if (v->physical == PF_PHYSICAL_BYTE_ARRAY)
        bound_texts(chunk, &v->column->texts);
    else if (v->physical == PF_PHYSICAL_BOOLEAN)
        bound_bools(chunk, v->indexes, v->n);
    else if (v->physical == PF_PHYSICAL_DOUBLE)
        bound_doubles(chunk, v->values, v->n);
    else
        bound_numbers(chunk, v);
}

/* Choice of the encoding. */

/* Returns the bits of an index of `n` distinct values: at least 1, because some readers do not
 * support 0. */
static unsigned index_width(size_t n)
{
    return n > 2 ? pf_bits_of(n - 1) : 1;
}

/* Estimates the size of `n` indices with this number of runs. */
static size_t indexes_size(size_t n, size_t runs, unsigned width)
{
    const size_t packed = n * width / 8, as_runs = runs * (2 + (width + 7) / 8);
    return packed < as_runs ? packed : as_runs;
}

static void choose_for_texts(leaf_view *v)
{
    const pf_column_texts *t = &v->column->texts;
    const size_t bytes = t->bytes.len + 4 * (size_t)t->n;
    if (bytes > MOST_DICTIONARY_BYTES)
        return;
    /* Assumes that all texts are equally frequent. */
    v->width = index_width(t->n);
    if (bytes + v->n * v->width / 8 < (uint64_t)v->n * bytes / t->n)
        v->encoding = PF_ENCODING_RLE_DICTIONARY;
}

/* Estimates the compressed size of the distinct numbers: zstd compresses numbers with equal high
 * bytes to about the size of their differences. */
static size_t dictionary_size(const leaf_view *v, const pf_dictionary *d)
{
    const bool narrow = v->physical == PF_PHYSICAL_INT32;
    const size_t plain = d->n * (narrow ? 4 : 8);
    if (v->physical == PF_PHYSICAL_DOUBLE)
        return plain;
    const size_t delta = pf_delta_size((const void *)d->distinct.ptr, d->n, narrow);
    return delta < plain ? delta : plain;
}

/* Returns the limit for the size of another encoding of numbers. zstd compresses plain numbers to
 * about three tenths: it finds repeated numbers and sequences, which bit packing hides from it. */
static size_t worth_it(size_t plain)
{
    return plain / 10 * 3;
}

/* Chooses the encoding of numbers.  Returns false when out of memory. */
static bool choose_for_numbers(pf_parquet_encoder *e, leaf_view *v)
{
    const bool narrow = v->physical == PF_PHYSICAL_INT32;
    const size_t bytes = narrow ? 4 : 8;
    size_t least = worth_it(v->n * bytes);
    pf_dictionary *d = &e->dictionary;
    if (v->physical != PF_PHYSICAL_DOUBLE) {
        const size_t size = pf_delta_size(v->values, v->n, narrow);
        if (size < least) {
            least = size;
            v->encoding = PF_ENCODING_DELTA_BINARY_PACKED;
        }
    }
    if (!pf_dictionary_make(d, v->values, v->n, MOST_DICTIONARY_BYTES / bytes,
                            (uint32_t *)(void *)e->indexes.ptr))
        return false;
    v->width = index_width(d->n);
    if (d->n && dictionary_size(v, d) + indexes_size(v->n, d->runs, v->width) < least)
        v->encoding = PF_ENCODING_RLE_DICTIONARY;
    return true;
}

static bool choose_encoding(pf_parquet_encoder *e, leaf_view *v)
{
    v->encoding = PF_ENCODING_PLAIN;
    if (!v->n || v->physical == PF_PHYSICAL_BOOLEAN)
        return true;
    if (v->physical != PF_PHYSICAL_BYTE_ARRAY)
        return choose_for_numbers(e, v);
    choose_for_texts(v);
    return true;
}

/* Pages. */

static bool plain_numbers(pf_buffer *out, const uint64_t *values, size_t n, size_t width)
{
    if (!pf_buffer_reserve(out, n * width))
        return false;
    uint8_t *p = out->ptr + out->len;
    for (size_t i = 0; width == 4 && i < n; i++)
        pf_store_u32(p + 4 * i, (uint32_t)values[i], PF_NATIVE_BIG);
    for (size_t i = 0; width == 8 && i < n; i++)
        pf_store_u64(p + 8 * i, values[i], PF_NATIVE_BIG);
    out->len += n * width;
    return true;
}

static bool plain_bools(pf_buffer *out, const uint32_t *values, size_t n)
{
    const size_t bytes = (n + 7) / 8;
    if (!pf_buffer_reserve(out, bytes))
        return false;
    uint8_t *p = out->ptr + out->len;
    memset(p, 0, bytes);
    for (size_t i = 0; i < n; i++)
        p[i / 8] |= (uint8_t)(values[i] << i % 8);
    out->len += bytes;
    return true;
}

static bool plain_text(pf_buffer *out, perfile_bytes text)
{
    if (!pf_buffer_reserve(out, 4 + text.len))
        return false;
    pf_store_u32(out->ptr + out->len, (uint32_t)text.len, PF_NATIVE_BIG);
    out->len += 4;
    return pf_buffer_append(out, text.ptr, text.len);
}

static bool plain_texts(pf_buffer *out, const pf_column_texts *t, const uint32_t *numbers, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!plain_text(out, pf_column_text_at(t, numbers[i])))
            return false;
    }
    return true;
}

/* Appends values to the page.  Returns false when out of memory. */
static bool encode_values(pf_buffer *out, const leaf_view *v, size_t from, size_t n)
{
    /* NULL where there are none; `from` is 0 then. */
    const uint32_t *indexes = from ? v->indexes + from : v->indexes;
    const uint64_t *values = from ? v->values + from : v->values;
    if (v->encoding == PF_ENCODING_RLE_DICTIONARY)
        return pf_buffer_append_u8(out, (uint8_t)v->width) && pf_hybrid(out, indexes, n, v->width);
    const bool narrow = v->physical == PF_PHYSICAL_INT32;
    if (v->encoding == PF_ENCODING_DELTA_BINARY_PACKED)
        return pf_delta(out, values, n, narrow);
    if (v->physical == PF_PHYSICAL_BYTE_ARRAY)
        return plain_texts(out, &v->column->texts, indexes, n);
    if (v->physical == PF_PHYSICAL_BOOLEAN)
        return plain_bools(out, indexes, n);
    return plain_numbers(out, values, n, narrow ? 4 : 8);
}

/* Appends levels to the page, after their length.  Returns false when out of memory. */
static bool encode_levels(pf_buffer *out, const uint32_t *levels, uint32_t same, size_t from,
                          size_t n, unsigned most)
{
    const size_t at = out->len;
    const unsigned width = pf_bits_of(most);
    if (!pf_buffer_append(out, "\0\0\0", 4))
        return false;
    const bool ok =
        levels ? pf_hybrid(out, levels + from, n, width) : pf_hybrid_same(out, same, n, width);
    pf_store_u32(out->ptr + at, (uint32_t)(out->len - at - 4), PF_NATIVE_BIG);
    return ok;
}

/* Compresses the page and appends it to `out`. */
static perfile_status put_page(pf_parquet_encoder *e, pf_buffer *out, pf_parquet_chunk *chunk,
                               unsigned type, size_t values, unsigned encoding)
{
    if (e->page.len > INT32_MAX)
        return PERFILE_E_LIMIT;
    const size_t bound = ZSTD_compressBound(e->page.len);
    uint8_t *packed = room(&e->packed, bound, 1);
    if (!packed)
        return PERFILE_E_NOMEM;
    const size_t n = ZSTD_compress2(e->zstd, packed, bound, e->page.ptr, e->page.len);
    if (ZSTD_isError(n))
        return PERFILE_E_NOMEM;
    if (n > INT32_MAX)
        return PERFILE_E_LIMIT;
    const size_t before = out->len;
    pf_thrift t = pf_thrift_new(out);
    pf_thrift_i32(&t, 1, (int32_t)type);
    pf_thrift_i32(&t, 2, (int32_t)e->page.len);
    pf_thrift_i32(&t, 3, (int32_t)n);
    pf_thrift_i32(&t, 4, (int32_t)pf_crc32(0, (perfile_bytes){packed, n}));
    pf_thrift_begin(&t, type == PAGE_DATA ? 5 : 7);
    pf_thrift_i32(&t, 1, (int32_t)values);
    pf_thrift_i32(&t, 2, (int32_t)encoding);
    if (type == PAGE_DATA) {
        pf_thrift_i32(&t, 3, PF_ENCODING_RLE); /* for definition levels */
        pf_thrift_i32(&t, 4, PF_ENCODING_RLE); /* for repetition levels */
    }
    pf_thrift_end(&t);
    pf_thrift_end(&t);
    chunk->unpacked += out->len - before + e->page.len;
    if (t.failed || !pf_buffer_append(out, packed, n))
        return PERFILE_E_NOMEM;
    chunk->bytes += out->len - before;
    return PERFILE_OK;
}

static perfile_status put_dictionary(pf_parquet_encoder *e, const leaf_view *v, pf_buffer *out,
                                     pf_parquet_chunk *chunk)
{
    const pf_column_texts *t = &v->column->texts;
    const bool texts = v->physical == PF_PHYSICAL_BYTE_ARRAY;
    const size_t n = texts ? t->n : e->dictionary.n;
    bool ok = true;
    pf_buffer_clear(&e->page);
    for (uint32_t i = 0; ok && texts && i < n; i++)
        ok = plain_text(&e->page, pf_column_text_at(t, i));
    if (!texts)
        ok = plain_numbers(&e->page, (const void *)e->dictionary.distinct.ptr, n,
                           v->physical == PF_PHYSICAL_INT32 ? 4 : 8);
    if (!ok)
        return PERFILE_E_NOMEM;
    const perfile_status st = put_page(e, out, chunk, PAGE_DICTIONARY, n, PF_ENCODING_PLAIN);
    chunk->dictionary_bytes = chunk->bytes;
    return st;
}

/* The entries of a page. */
typedef struct page_range {
    size_t from, end;     /* entries */
    size_t value, values; /* index of the first value; number of values */
} page_range;

/* Finds the end of the page that begins at entry p->from.  A page ends where a row begins. */
static void cut_page(const leaf_view *v, page_range *p)
{
    const pf_column_texts *t = &v->column->texts;
    const bool texts = v->physical == PF_PHYSICAL_BYTE_ARRAY && v->encoding == PF_ENCODING_PLAIN;
    size_t bytes = 0, i = p->from;
    p->values = 0;
    if (!v->n) {
        p->end = v->entries;
        return;
    }
    for (; i < v->entries; i++) {
        if ((i - p->from >= PAGE_ENTRIES || bytes >= PAGE_BYTES) && !(v->rep && v->rep[i]))
            break;
        if (v->def && v->def[i] < v->leaf.max_def)
            continue;
        if (texts)
            bytes += 4 + pf_column_text_at(t, v->indexes[p->value + p->values]).len;
        p->values++;
    }
    p->end = i;
}

static perfile_status put_pages(pf_parquet_encoder *e, const leaf_view *v, pf_buffer *out,
                                pf_parquet_chunk *chunk)
{
    perfile_status st = PERFILE_OK;
    for (page_range p = {0}; st == PERFILE_OK && p.from < v->entries; p.from = p.end) {
        cut_page(v, &p);
        const size_t n = p.end - p.from;
        pf_buffer_clear(&e->page);
        if (v->leaf.max_rep && !encode_levels(&e->page, v->rep, 0, p.from, n, v->leaf.max_rep))
            return PERFILE_E_NOMEM;
        if (!encode_levels(&e->page, v->def, v->same_def, p.from, n, v->leaf.max_def) ||
            !encode_values(&e->page, v, p.value, p.values))
            return PERFILE_E_NOMEM;
        st = put_page(e, out, chunk, PAGE_DATA, n, v->encoding);
        p.value += p.values;
    }
    return st;
}

/* Appends a column. */
static perfile_status put_chunk(pf_parquet_encoder *e, const pf_table_batch *b, const pf_leaf *leaf,
                                pf_buffer *out, pf_parquet_chunk *chunk)
{
    leaf_view v = {.leaf = *leaf, .column = &b->columns[leaf->column]};
    v.parent = leaf->parent == PF_NO_PARENT ? NULL : &b->columns[leaf->parent];
    v.physical = pf_physical_type(v.column->about->type);
    if (!(leaf->max_rep ? list_levels(e, &v, b->rows) : flat_levels(e, &v, b->rows)) ||
        !take_values(e, &v, b->rows) || !choose_encoding(e, &v))
        return PERFILE_E_NOMEM;
    if (v.entries > INT32_MAX)
        return PERFILE_E_LIMIT;
    chunk->values = v.entries;
    chunk->nulls = v.entries - v.n;
    chunk->encoding = v.encoding;
    bound_values(chunk, &v);
    perfile_status st = PERFILE_OK;
    if (v.encoding == PF_ENCODING_RLE_DICTIONARY)
        st = put_dictionary(e, &v, out, chunk);
    return st == PERFILE_OK ? put_pages(e, &v, out, chunk) : st;
}

static perfile_status put_chunks(pf_parquet_encoder *e, const pf_table_batch *b, pf_buffer *out,
                                 pf_parquet_group *g)
{
    const size_t begin = out->len;
    pf_leaf leaf;
    pf_buffer_clear(&g->chunks);
    for (pf_leaves x = {.about = b->about}; pf_leaves_next(&x, &leaf);) {
        pf_parquet_chunk chunk = {.offset = out->len - begin};
        const perfile_status st = put_chunk(e, b, &leaf, out, &chunk);
        if (st != PERFILE_OK)
            return st;
        if (!pf_buffer_append(&g->chunks, &chunk, sizeof chunk))
            return PERFILE_E_NOMEM;
    }
    g->bytes = out->len - begin;
    g->rows = b->rows;
    return PERFILE_OK;
}

perfile_status pf_parquet_encode(pf_parquet_encoder *e, const pf_table_batch *b, pf_buffer *out,
                                 pf_parquet_group *g, perfile_error *err)
{
    const size_t begin = out->len;
    g->rows = g->bytes = 0;
    if (b->no_memory)
        return pf_fail_nomem(err, "parquet.group");
    const perfile_status st = b->rows ? put_chunks(e, b, out, g) : PERFILE_OK;
    if (st == PERFILE_OK)
        return st;
    out->len = begin;
    if (st == PERFILE_E_LIMIT)
        return pf_fail(err, st, "parquet.group", "a page or a column of 2 GiB, or of 2^31 values");
    return pf_fail_nomem(err, "parquet.group");
}

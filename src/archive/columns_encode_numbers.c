/* Encoding a column of numbers: as its strategy says, or as a trial finds best.
 *
 * A trial encodes a few stretches of the column in each way and lets zstd compress the results at
 * its fastest level.  Stretches, not single values, since differences are of neighbours. */
#include "archive/columns_encode.h"

#include "archive/columns.h"
#include "base/alloc.h"
#include "base/byte_order.h"

enum {
    LEB128_MOST = 10,
    TRIED = 1024,   /* numbers of a trial … */
    STRETCHES = 4,  /* … in so many places */
    TRIAL_LEVEL = 1 /* of zstd */
};

void pf_numbers_coder_free(pf_numbers_coder *c)
{
    ZSTD_freeCCtx(c->zstd);
    pf_buffer_free(&c->bytes);
    pf_buffer_free(&c->packed);
    pf_buffer_free(&c->differences);
    pf_buffer_free(&c->table);
    pf_buffer_free(&c->entries);
    pf_buffer_free(&c->indexes);
    pf_buffer_free(&c->order);
    pf_buffer_free(&c->ranks);
}

/* Bytes that hold the number: 0 of 0. */
static unsigned bytes_of(uint64_t v)
{
    return v ? (64 - (unsigned)__builtin_clzll(v) + 7) / 8 : 0;
}

/* The difference of two neighbours, modulo 2^(8 * width), small in either direction. */
PF_INLINE uint64_t zigzag(uint64_t difference, unsigned width)
{
    const unsigned unused = 64 - 8 * width;
    const int64_t d = (int64_t)(difference << unused) >> unused;
    return ((uint64_t)d << 1 ^ (uint64_t)(d >> 63)) & UINT64_MAX >> unused;
}

/* Byte `j` of each number. */
static void fill_plane(uint8_t *plane, const uint64_t *v, size_t n, unsigned j)
{
    for (size_t i = 0; i < n; i++)
        plane[i] = (uint8_t)(v[i] >> 8 * j);
}

/* How many planes numbers, or their differences, need. */
static unsigned planes_of(const uint64_t *v, size_t n)
{
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++)
        all |= v[i];
    return bytes_of(all);
}

static bool room(pf_buffer *b, size_t n)
{
    pf_buffer_clear(b);
    return pf_buffer_reserve(b, n + 1); /* so that ptr is not NULL */
}

static void put_planes(pf_numbers_coder *c, pf_streams_out *s, const uint64_t *v, size_t n)
{
    const unsigned planes = planes_of(v, n);
    pf_streams_out_u8(s, PF_NUMBERS_PLANES);
    pf_streams_out_u8(s, (uint8_t)planes);
    for (unsigned j = 0; j < planes && !s->failed; j++) {
        fill_plane(c->bytes.ptr, v, n, j);
        pf_streams_out_put_by_chance(s, (perfile_bytes){c->bytes.ptr, n});
    }
}

/* The differences in zigzag form, into c->differences; the first is 0. */
static const uint64_t *differences(pf_numbers_coder *c, const uint64_t *v, size_t n, unsigned width)
{
    uint64_t *d = (uint64_t *)(void *)c->differences.ptr;
    d[0] = 0;
    for (size_t i = 1; i < n; i++)
        d[i] = zigzag(v[i] - v[i - 1], width);
    return d;
}

/* Bits of all planes, if the bytes of each do not depend on each other. */
static uint64_t bits_of_planes(const uint64_t *v, size_t n)
{
    const unsigned planes = planes_of(v, n);
    uint64_t bits = 0;
    for (unsigned j = 0; j < planes; j++) {
        uint32_t counts[256] = {0};
        for (size_t i = 0; i < n; i++)
            counts[v[i] >> 8 * j & 0xff]++;
        bits += pf_entropy_bits(counts);
    }
    return bits;
}

/* Writes the differences to `at`, LEB128_MOST bytes each at most; returns the end. */
static uint8_t *fill_vint(uint8_t *at, const uint64_t *v, size_t n, unsigned width)
{
    *at++ = 0;
    for (size_t i = 1; i < n; i++)
        at = pf_leb128_put(at, zigzag(v[i] - v[i - 1], width));
    return at;
}

static void put_vint(pf_numbers_coder *c, pf_streams_out *s, const uint64_t *v, size_t n,
                     unsigned width)
{
    if (!pf_buffer_reserve(&c->bytes, n * LEB128_MOST)) {
        s->failed = true;
        return;
    }
    const uint8_t *end = fill_vint(c->bytes.ptr, v, n, width);
    pf_streams_out_u8(s, PF_NUMBERS_VINT);
    pf_streams_out_v(s, v[0]);
    pf_streams_out_put(s, (perfile_bytes){c->bytes.ptr, (size_t)(end - c->bytes.ptr)});
}

/* Writes the entries as differences, modulo 2^64: they ascend but for a few places. */
static void put_entries(pf_numbers_coder *c, pf_streams_out *s, const pf_dict *dict)
{
    if (!pf_buffer_reserve(&c->bytes, (size_t)dict->n * LEB128_MOST)) {
        s->failed = true;
        return;
    }
    uint8_t *at = c->bytes.ptr;
    uint64_t before = 0;
    for (uint32_t i = 0; i < dict->n; i++) {
        at = pf_leb128_put(at, dict->entries[i] - before);
        before = dict->entries[i];
    }
    pf_streams_out_put(s, (perfile_bytes){c->bytes.ptr, (size_t)(at - c->bytes.ptr)});
}

/* Byte `j` of the index of each number, `stride` bytes apart. */
static void fill_indexes(uint8_t *to, const pf_dict *dict, size_t n, unsigned j, size_t stride)
{
    for (size_t i = 0; i < n; i++)
        to[i * stride] = (uint8_t)(dict->ranks[dict->indexes[i]] >> 8 * j);
}

static void put_dict(pf_numbers_coder *c, pf_streams_out *s, const pf_dict *dict, size_t n,
                     bool packed)
{
    const unsigned planes = bytes_of(dict->n - 1);
    pf_streams_out_u8(s, PF_NUMBERS_DICT);
    pf_streams_out_v(s, dict->n);
    pf_streams_out_u8(s, (uint8_t)(planes | (packed ? PF_NUMBERS_DICT_PACKED : 0)));
    put_entries(c, s, dict);
    if (packed && !pf_buffer_reserve(&c->bytes, n * planes))
        s->failed = true;
    for (unsigned j = 0; j < planes && !s->failed; j++) {
        fill_indexes(c->bytes.ptr + (packed ? j : 0), dict, n, j, packed ? planes : 1);
        if (!packed || j + 1 == planes)
            pf_streams_out_put_by_chance(s, (perfile_bytes){c->bytes.ptr, packed ? n * planes : n});
    }
}

/* Differences: few distinct ones, as a clock of coarse ticks has them, as a dictionary. */
static void put_delta(pf_numbers_coder *c, pf_streams_out *s, const uint64_t *v, size_t n,
                      unsigned width)
{
    pf_dict dict = {0};
    if (!room(&c->differences, n * sizeof *v)) {
        s->failed = true;
        return;
    }
    const uint64_t *d = differences(c, v, n, width);
    s->failed |= !pf_dict_make(c, d, n, &dict);
    pf_streams_out_u8(s, PF_NUMBERS_DELTA);
    pf_streams_out_v(s, v[0]);
    if (dict.n > 1 && dict.cost < bits_of_planes(d, n))
        put_dict(c, s, &dict, n, false);
    else
        put_planes(c, s, d, n);
}

/* Compressed bytes of the `n` bytes in c->bytes; SIZE_MAX: they cannot be compressed. */
static size_t cost_of(pf_numbers_coder *c, size_t n)
{
    const size_t bound = ZSTD_compressBound(n);
    if (!c->zstd && !(c->zstd = ZSTD_createCCtx()))
        return SIZE_MAX;
    if (!room(&c->packed, bound))
        return SIZE_MAX;
    n = ZSTD_compressCCtx(c->zstd, c->packed.ptr, bound, c->bytes.ptr, n, TRIAL_LEVEL);
    return ZSTD_isError(n) ? SIZE_MAX : n;
}

/* Cost of a sample as PLANES and as DELTA: all planes one after the other. */
static size_t cost_of_planes(pf_numbers_coder *c, const uint64_t *v, size_t n)
{
    const unsigned planes = planes_of(v, n);
    for (unsigned j = 0; j < planes; j++)
        fill_plane(c->bytes.ptr + j * n, v, n, j);
    return cost_of(c, n * planes);
}

static size_t cost_of_delta(pf_numbers_coder *c, const uint64_t *v, size_t n, unsigned width)
{
    if (!room(&c->differences, n * sizeof *v))
        return SIZE_MAX;
    return cost_of_planes(c, differences(c, v, n, width), n);
}

static size_t cost_of_vint(pf_numbers_coder *c, const uint64_t *v, size_t n, unsigned width)
{
    return cost_of(c, (size_t)(fill_vint(c->bytes.ptr, v, n, width) - c->bytes.ptr));
}

/* Cost of a sample as DICT: its indexes, and its share of the entries.  Where most numbers of the
 * sample were seen before, the column has hardly more entries; else as many more as it is longer.
 */
static size_t cost_of_dict(pf_numbers_coder *c, const uint64_t *v, size_t n, size_t of)
{
    enum { BYTES_EACH = 3, FEW = 8 };
    pf_dict dict;
    if (!pf_dict_make(c, v, n, &dict) || !dict.n)
        return SIZE_MAX;
    const unsigned planes = bytes_of(dict.n - 1);
    for (unsigned j = 0; j < planes; j++)
        fill_indexes(c->bytes.ptr + j * n, &dict, n, j, 1);
    const size_t entries = (size_t)dict.n * BYTES_EACH;
    const size_t cost = cost_of(c, n * planes);
    return cost == SIZE_MAX ? cost : cost + (dict.n < n / FEW ? entries * n / of : entries);
}

/* Copies the numbers to be tried to `sample`; returns how many. */
static size_t take_sample(const uint64_t *v, size_t n, uint64_t *sample)
{
    const size_t each = TRIED / STRETCHES;
    if (n <= TRIED) {
        memcpy(sample, v, n * sizeof *v);
        return n;
    }
    for (size_t i = 0; i < STRETCHES; i++)
        memcpy(sample + i * each, v + i * ((n - each) / (STRETCHES - 1)), each * sizeof *v);
    return TRIED;
}

/* The encoding that makes the sample smallest. */
static unsigned try_all(pf_numbers_coder *c, const uint64_t *v, size_t of, unsigned width,
                        bool dict)
{
    uint64_t sample[TRIED];
    const size_t n = take_sample(v, of, sample);
    size_t best = cost_of_planes(c, sample, n);
    unsigned how = PF_NUMBERS_PLANES;
    const size_t delta = cost_of_delta(c, sample, n, width);
    if (delta < best) {
        best = delta;
        how = PF_NUMBERS_DELTA;
    }
    const size_t vint = cost_of_vint(c, sample, n, width);
    if (vint < best) {
        best = vint;
        how = PF_NUMBERS_VINT;
    }
    if (dict && cost_of_dict(c, sample, n, of) < best)
        how = PF_NUMBERS_DICT;
    return how;
}

static bool all_equal(const uint64_t *v, size_t n)
{
    size_t i = 1;
    while (i < n && v[i] == v[0])
        i++;
    return i >= n;
}

/* Writes numbers as a dictionary if they are few enough; false: they are not. */
static bool put_as_dict(pf_numbers_coder *c, pf_streams_out *s, const uint64_t *v, size_t n,
                        bool packed)
{
    pf_dict dict;
    if (!pf_dict_make(c, v, n, &dict)) {
        s->failed = true;
        return true;
    }
    if (!dict.n)
        return false;
    put_dict(c, s, &dict, n, packed);
    return true;
}

void pf_numbers_encode(pf_numbers_coder *c, pf_streams_out *s, const uint64_t *v, size_t n,
                       unsigned width, unsigned strategy)
{
    const size_t sample = (n < TRIED ? n : TRIED) * LEB128_MOST;
    s->failed |= !room(&c->bytes, n > sample ? n : sample);
    if (s->failed)
        return;
    if (all_equal(v, n)) {
        pf_streams_out_u8(s, PF_NUMBERS_CONST);
        pf_streams_out_v(s, n ? v[0] : 0);
        return;
    }
    bool dict = strategy == PF_STRATEGY_DICT || strategy == PF_STRATEGY_WORDS;
    if (dict && put_as_dict(c, s, v, n, strategy == PF_STRATEGY_WORDS))
        return;
    unsigned how = strategy == PF_STRATEGY_DELTA    ? PF_NUMBERS_DELTA
                   : strategy == PF_STRATEGY_VINT   ? PF_NUMBERS_VINT
                   : strategy == PF_STRATEGY_PLANES ? PF_NUMBERS_PLANES
                                                    : try_all(c, v, n, width, !dict);
    if (how == PF_NUMBERS_DICT && put_as_dict(c, s, v, n, false))
        return;
    if (how == PF_NUMBERS_DELTA)
        put_delta(c, s, v, n, width);
    else if (how == PF_NUMBERS_PLANES)
        put_planes(c, s, v, n);
    else
        put_vint(c, s, v, n, width);
}

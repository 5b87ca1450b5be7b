/* Encodes columns of numbers, as their strategy says or as a trial finds best.
 *
 * A trial encodes a few ranges of the column in each way, and compresses the results with zstd at
 * its fastest level.  Ranges, not single values, because differences are taken between adjacent
 * numbers. */
#include "base/alloc.h"
#include "base/byte_order.h"
#include "columns/columns.h"
#include "columns/encode.h"

enum {
    LEB128_MOST = 10,
    TRIED = 1024,   /* numbers of a trial … */
    STRETCHES = 4,  /* … from so many ranges */
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

/* Returns the bytes that the number needs; 0 needs none. */
static unsigned bytes_of(uint64_t v)
{
    return v ? (64 - (unsigned)__builtin_clzll(v) + 7) / 8 : 0;
}

/* Encodes the difference of two adjacent numbers, modulo 2^(8 * width), so that it is small in both
 * directions. */
PF_INLINE uint64_t zigzag(uint64_t difference, unsigned width)
{
    const unsigned unused = 64 - 8 * width;
    const int64_t d = (int64_t)(difference << unused) >> unused;
    return ((uint64_t)d << 1 ^ (uint64_t)(d >> 63)) & UINT64_MAX >> unused;
}

/* Fills a plane: byte `j` of each number. */
static void fill_plane(uint8_t *plane, const uint64_t *v, size_t n, unsigned j)
{
    for (size_t i = 0; i < n; i++)
        plane[i] = (uint8_t)(v[i] >> 8 * j);
}

/* Returns how many planes the numbers need. */
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

/* Computes the differences in zigzag form, in c->differences.  The first one is 0. */
static const uint64_t *differences(pf_numbers_coder *c, const uint64_t *v, size_t n, unsigned width)
{
    uint64_t *d = (uint64_t *)(void *)c->differences.ptr;
    d[0] = 0;
    for (size_t i = 1; i < n; i++)
        d[i] = zigzag(v[i] - v[i - 1], width);
    return d;
}

/* Estimates the bits of all planes, if the bytes of each plane do not depend on each other. */
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

/* Writes the differences to `at`, at most LEB128_MOST bytes each.  Returns the end. */
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

/* Writes the entries as differences, modulo 2^64: nearly all of them ascend. */
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

/* Writes byte `j` of the index of each number, every `stride` bytes. */
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

/* Writes differences.  If only a few distinct ones occur, as with a clock of coarse ticks, they
 * become a dictionary. */
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

/* Returns the compressed size of the `n` bytes in c->bytes, or SIZE_MAX if this fails. */
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

/* Return the cost of a sample as PLANES or DELTA: all planes one after the other. */
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

/* Returns the cost of a sample as DICT: its indexes, and its share of the entries.  If the sample
 * has few distinct numbers, the whole column has hardly more entries; else they grow with its
 * length. */
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

/* Copies the numbers for a trial to `sample`; returns how many. */
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

/* Returns the encoding that makes the sample smallest. */
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

/* Writes numbers as a dictionary.  Returns false if there are too many distinct ones. */
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

/* Dictionaries of numbers: a hash table finds the distinct ones, a radix sort orders them.
 *
 * The order decides how well the indexes compress; they are stored as one plane for each of their
 * bytes.  In ascending order, similar numbers have similar indexes: for addresses of one function
 * only the low byte differs.  With the most frequent entries first, in bands of 256, the high byte
 * is 0 most of the time.  But then differences between entries are larger, because bands have few
 * entries.  So several numbers of bands are tried and compared by the entropy of the bytes.
 * Entries ascend within each band, and after the last one.
 *
 * Measured on 65,536 samples of two CPUs at 20 kHz, in bits per number, entries included:
 * differences of times 15.8 as bytes, 13.5 ascending, 13.4 with one band; instruction pointers 15.7
 * ascending, 14.9 with one band, 14.8 with two.
 *
 * Hostile input could make the hash table slow; the attempt ends after MOST_PROBES. */

enum {
    MOST_PROBES = 64,
    LEAST_LOG = 8,    /* exponent of the least number of slots */
    WORTH_ONE_OF = 2, /* at most one of so many numbers may be an entry */
    EARLY = 4096,     /* from here on … */
    EARLY_SHARE = 7,  /* … stop if more than so many eighths of the numbers are new */
    BAND = 256,       /* entries with the same high byte of their index */
    MOST_BANDS = 4
};

static bool reserve(pf_buffer *b, size_t bytes)
{
    pf_buffer_clear(b);
    return pf_buffer_reserve_large(b, bytes + 1);
}

static unsigned table_log(size_t n)
{
    unsigned log = LEAST_LOG;
    while ((size_t)1 << log < 2 * n)
        log++;
    return log;
}

/* Fills entries and indexes.  Returns the number of entries, or 0 if there are too many. */
static uint32_t collect(pf_numbers_coder *c, const uint64_t *v, size_t n, unsigned log)
{
    uint32_t *table = (uint32_t *)(void *)c->table.ptr;
    uint64_t *entries = (uint64_t *)(void *)c->entries.ptr;
    uint32_t *indexes = (uint32_t *)(void *)c->indexes.ptr;
    const size_t mask = ((size_t)1 << log) - 1;
    const size_t most =
        n / WORTH_ONE_OF < PF_COLUMNS_MOST_ENTRIES ? n / WORTH_ONE_OF : PF_COLUMNS_MOST_ENTRIES;
    uint32_t m = 0, index = 0;
    memset(table, 0, sizeof *table << log);
    for (size_t i = 0; i < n; i++) {
        const uint64_t x = v[i];
        if (i && x == v[i - 1]) {
            indexes[i] = index;
            continue;
        }
        size_t slot = (size_t)(x * UINT64_C(0x9e3779b97f4a7c15) >> (64 - log)), probes = 0;
        while (table[slot] && entries[table[slot] - 1] != x) {
            slot = (slot + 1) & mask;
            if (++probes > MOST_PROBES)
                return 0;
        }
        if (!table[slot]) {
            if (m >= most || (i >= EARLY && m > i / 8 * EARLY_SHARE))
                return 0;
            entries[m++] = x;
            table[slot] = m;
        }
        index = table[slot] - 1;
        indexes[i] = index;
    }
    return m;
}

typedef struct item {
    uint64_t value;
    uint32_t at; /* in the order of appearance */
} item;

/* Sorts by one byte of the value; equal items keep their order. */
static void sort_by_byte(const item *from, item *to, uint32_t n, unsigned byte)
{
    uint32_t places[256] = {0};
    for (uint32_t i = 0; i < n; i++)
        places[from[i].value >> 8 * byte & 0xff]++;
    for (uint32_t k = 0, sum = 0; k < 256; k++) {
        const uint32_t count = places[k];
        places[k] = sum;
        sum += count;
    }
    for (uint32_t i = 0; i < n; i++)
        to[places[from[i].value >> 8 * byte & 0xff]++] = from[i];
}

/* Sorts the n items at `a` by value; `b` has room for as many.  Returns a pointer to the result,
 * `a` or `b`. */
static item *sort_items(item *a, item *b, uint32_t n)
{
    uint64_t differ = 0;
    for (uint32_t i = 0; i < n; i++)
        differ |= a[i].value ^ a[0].value;
    for (unsigned byte = 0; byte < 8; byte++)
        if (differ >> 8 * byte & 0xff) {
            sort_by_byte(a, b, n, byte);
            item *sorted = b;
            b = a;
            a = sorted;
        }
    return a;
}

/* Returns log2(n) * 16, interpolated linearly between powers of two; n is not 0. */
static uint64_t log2_16(uint64_t n)
{
    const unsigned log = 63 - (unsigned)__builtin_clzll(n);
    const uint64_t rest = n - (UINT64_C(1) << log);
    return 16 * log + (rest << 4 >> log);
}

uint64_t pf_entropy_bits(const uint32_t counts[256])
{
    uint64_t n = 0, sum = 0;
    for (unsigned i = 0; i < 256; i++)
        n += counts[i];
    for (unsigned i = 0; i < 256; i++)
        sum += counts[i] ? counts[i] * (log2_16(n) - log2_16(counts[i])) : 0;
    return sum / 16;
}

/* Possible orders of the entries. */
typedef struct ordering {
    uint32_t n;
    const item *by_value,
        *by_count;          /* by_count: the most frequent first, `at` is a position in by_value */
    const uint32_t *counts; /* by order of appearance */
    uint32_t *ranks;        /* by order of appearance: the result */
    uint8_t *band_of;       /* by position in by_value; 0: the first band */
} ordering;

/* Computes the ranks with this number of bands of the most frequent entries first. */
static void rank(const ordering *o, uint32_t bands)
{
    uint32_t next[MOST_BANDS + 1];
    for (uint32_t b = 0; b <= bands; b++)
        next[b] = b * BAND;
    memset(o->band_of, (int)bands, o->n);
    for (uint32_t i = 0; i < bands * BAND; i++)
        o->band_of[o->by_count[i].at] = (uint8_t)(i / BAND);
    for (uint32_t i = 0; i < o->n; i++)
        o->ranks[o->by_value[i].at] = next[o->band_of[i]]++;
}

/* Estimates the bits of the differences between entries, as they are stored. */
static uint64_t cost_of_entries(const ordering *o, uint64_t *entries)
{
    uint32_t counts[256] = {0};
    uint64_t before = 0;
    for (uint32_t i = 0; i < o->n; i++)
        entries[o->ranks[o->by_value[i].at]] = o->by_value[i].value;
    for (uint32_t i = 0; i < o->n; i++) {
        uint8_t bytes[10];
        const uint8_t *end = pf_leb128_put(bytes, entries[i] - before);
        for (const uint8_t *p = bytes; p < end; p++)
            counts[*p]++;
        before = entries[i];
    }
    return pf_entropy_bits(counts);
}

static uint64_t cost_of_indexes(const ordering *o)
{
    uint64_t bits = 0;
    for (unsigned byte = 0; byte < 3; byte++) {
        uint32_t of_byte[256] = {0};
        for (uint32_t i = 0; i < o->n; i++)
            of_byte[o->ranks[i] >> 8 * byte & 0xff] += o->counts[i];
        bits += pf_entropy_bits(of_byte);
    }
    return bits;
}

/* Tries several orders, and sets ranks and entries to the best.  Returns its cost. */
static uint64_t choose(const ordering *o, uint64_t *entries)
{
    uint32_t best = 0, last = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t bands = 0; bands <= MOST_BANDS && bands * BAND < o->n;
         bands = 2 * bands + !bands) {
        rank(o, bands);
        const uint64_t cost = cost_of_indexes(o) + cost_of_entries(o, entries);
        last = bands;
        if (cost < least) {
            least = cost;
            best = bands;
        }
    }
    if (last != best) {
        rank(o, best);
        (void)cost_of_entries(o, entries);
    }
    return least;
}

/* Chooses the order of the entries, and sets c->entries, c->ranks and dict->cost. */
static void order_entries(pf_numbers_coder *c, size_t n_numbers, pf_dict *dict)
{
    const uint32_t n = dict->n;
    uint64_t *entries = (uint64_t *)(void *)c->entries.ptr;
    item *by_value = (item *)(void *)c->order.ptr, *by_count = by_value + 2 * (size_t)n;
    uint32_t *ranks = (uint32_t *)(void *)c->ranks.ptr, *counts = ranks + n;
    ordering o = {.n = n, .counts = counts, .ranks = ranks, .band_of = (uint8_t *)(counts + n)};
    memset(counts, 0, n * sizeof *counts);
    for (size_t i = 0; i < n_numbers; i++)
        counts[dict->indexes[i]]++;
    for (uint32_t i = 0; i < n; i++)
        by_value[i] = (item){entries[i], i};
    o.by_value = sort_items(by_value, by_value + n, n);
    if (n > BAND) {
        for (uint32_t i = 0; i < n; i++)
            by_count[i] = (item){UINT32_MAX - counts[o.by_value[i].at], i};
        o.by_count = sort_items(by_count, by_count + n, n);
    }
    dict->cost = choose(&o, entries);
}

bool pf_dict_make(pf_numbers_coder *c, const uint64_t *v, size_t n, pf_dict *dict)
{
    const unsigned log = table_log(n);
    *dict = (pf_dict){0};
    if (!reserve(&c->table, sizeof(uint32_t) << log) ||
        !reserve(&c->entries, n * sizeof(uint64_t)) || !reserve(&c->indexes, n * sizeof(uint32_t)))
        return false;
    const uint32_t m = collect(c, v, n, log);
    if (!m)
        return true;
    if (!reserve(&c->order, 4 * (size_t)m * sizeof(item)) ||
        !reserve(&c->ranks, 3 * (size_t)m * sizeof(uint32_t)))
        return false;
    *dict = (pf_dict){.n = m,
                      .entries = (const uint64_t *)(const void *)c->entries.ptr,
                      .indexes = (const uint32_t *)(const void *)c->indexes.ptr,
                      .ranks = (const uint32_t *)(const void *)c->ranks.ptr};
    order_entries(c, n, dict);
    return true;
}

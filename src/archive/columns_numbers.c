/* The encodings of columns of numbers.  Loops are written once, for any width and number of planes,
 * and made anew by the compiler for each of them. */
#include "archive/columns_numbers.h"

#include "archive/columns.h"
#include "base/byte_order.h"

PF_INLINE void store(uint8_t *p, uint64_t v, unsigned width)
{
    switch (width) {
    case 1:
        *p = (uint8_t)v;
        break;
    case 2:
        pf_store_u16(p, (uint16_t)v, PF_NATIVE_BIG);
        break;
    case 4:
        pf_store_u32(p, (uint32_t)v, PF_NATIVE_BIG);
        break;
    default:
        pf_store_u64(p, v, PF_NATIVE_BIG);
    }
}

PF_INLINE uint64_t unzigzag(uint64_t v)
{
    return v >> 1 ^ (0 - (v & 1));
}

/* Memory for n numbers. */
static uint8_t *room(pf_streams *s, pf_numbers *out, size_t n, unsigned width)
{
    pf_buffer_clear(&out->memory);
    if (!s->bad && !pf_buffer_reserve(&out->memory, n * width + 8)) {
        s->no_memory = true;
        pf_streams_fail(s, "out of memory");
    }
    out->ptr = out->memory.ptr;
    out->stride = width;
    return s->bad ? NULL : out->memory.ptr;
}

/* Reads `count` planes of n bytes each. */
static bool read_planes(pf_streams *s, pf_numbers_scratch *scratch, size_t n, unsigned count,
                        const uint8_t **planes)
{
    for (unsigned j = 0; j < count; j++)
        planes[j] = pf_streams_next(s, n, n, &scratch->planes[j]).ptr;
    return !s->bad;
}

/* The number i of the planes. */
PF_INLINE uint64_t gather(const uint8_t *const *planes, unsigned count, size_t i)
{
    uint64_t v = 0;
    for (unsigned j = 0; j < count; j++)
        v |= (uint64_t)planes[j][i] << 8 * j;
    return v;
}

/* What a number of the planes means. */
typedef enum meaning { VALUE, DIFFERENCE, INDEX } meaning;

typedef struct planes_job {
    const uint8_t *planes[8];
    uint8_t *out;
    size_t n;
    uint64_t first;          /* DIFFERENCE: the sum begins with it */
    const uint64_t *entries; /* INDEX: of the dictionary */
    uint64_t n_entries;
} planes_job;

/* False: an index is too large. */
PF_INLINE bool join(const planes_job *job, meaning what, unsigned count, unsigned width)
{
    const uint8_t *planes[8];
    for (unsigned j = 0; j < count; j++)
        planes[j] = job->planes[j];
    uint64_t sum = job->first;
    uint8_t *out = job->out;
    for (size_t i = 0; i < job->n; i++, out += width) {
        const uint64_t v = gather(planes, count, i);
        if (what == VALUE) {
            store(out, v, width);
        } else if (what == DIFFERENCE) {
            sum += unzigzag(v);
            store(out, sum, width);
        } else {
            if (v >= job->n_entries)
                return false;
            store(out, job->entries[v], width);
        }
    }
    return true;
}

PF_INLINE bool join_width(const planes_job *job, meaning what, unsigned count, unsigned width)
{
    switch (count) {
    case 1:
        return join(job, what, 1, width);
    case 2:
        return join(job, what, 2, width);
    case 3:
        return join(job, what, 3, width);
    case 4:
        return join(job, what, 4, width);
    default:
        return join(job, what, count, width);
    }
}

static bool join_planes(const planes_job *job, meaning what, unsigned count, unsigned width)
{
    switch (width) {
    case 1:
        return join_width(job, what, count, 1);
    case 2:
        return join_width(job, what, count, 2);
    case 4:
        return join_width(job, what, count, 4);
    default:
        return join_width(job, what, count, 8);
    }
}

/* PLANES and DELTA: planes of values, or of differences. */
static void read_in_planes(pf_streams *s, pf_numbers_scratch *scratch, size_t n, unsigned width,
                           meaning what, pf_numbers *out)
{
    const unsigned count = pf_streams_u8(s);
    planes_job job = {.n = n, .first = what == DIFFERENCE ? pf_streams_v(s) : 0};
    if (count > width)
        pf_streams_fail(s, "more planes than a number has bytes");
    if (s->bad || !read_planes(s, scratch, n, count, job.planes))
        return;
    job.out = room(s, out, n, width);
    if (job.out)
        join_planes(&job, what, count, width);
}

/* The entries of a dictionary: sums of the differences in a stream. */
static const uint64_t *read_entries(pf_streams *s, pf_numbers_scratch *scratch, uint64_t m)
{
    if (m > PF_COLUMNS_MOST_ENTRIES || m == 0)
        pf_streams_fail(s, "a dictionary of a size that there is not");
    const perfile_bytes stream =
        pf_streams_next(s, s->bad ? 0 : (size_t)m, s->bad ? 0 : 10 * (size_t)m, &scratch->stream);
    pf_buffer_clear(&scratch->entries);
    if (!s->bad && !pf_buffer_reserve(&scratch->entries, (size_t)m * sizeof(uint64_t))) {
        s->no_memory = true;
        pf_streams_fail(s, "out of memory");
    }
    if (s->bad)
        return NULL;
    uint64_t *entries = (uint64_t *)(void *)scratch->entries.ptr, sum = 0, v;
    const uint8_t *at = stream.ptr, *end = at + stream.len;
    for (uint64_t i = 0; i < m; i++) {
        if (!pf_leb128(&at, end, &v)) {
            pf_streams_fail(s, "a dictionary ends too early");
            return NULL;
        }
        sum += v;
        entries[i] = sum;
    }
    if (at != end)
        pf_streams_fail(s, "a dictionary ends too late");
    return entries;
}

/* Spreads indexes of `count` bytes each over planes. */
static bool spread(pf_streams *s, pf_numbers_scratch *scratch, perfile_bytes packed, size_t n,
                   unsigned count, const uint8_t **planes)
{
    for (unsigned j = 0; j < count; j++) {
        pf_buffer_clear(&scratch->planes[j]);
        if (!pf_buffer_reserve(&scratch->planes[j], n + 1)) {
            s->no_memory = true;
            pf_streams_fail(s, "out of memory");
            return false;
        }
        for (size_t i = 0; i < n; i++)
            scratch->planes[j].ptr[i] = packed.ptr[i * count + j];
        planes[j] = scratch->planes[j].ptr;
    }
    return true;
}

static void read_dictionary(pf_streams *s, pf_numbers_scratch *scratch, size_t n, unsigned width,
                            pf_numbers *out)
{
    enum { PACKED = 16, MOST_INDEX = 3 /* bytes: PF_COLUMNS_MOST_ENTRIES needs no more */ };
    planes_job job = {.n = n};
    job.n_entries = pf_streams_v(s);
    const unsigned form = pf_streams_u8(s), count = form & ~(unsigned)PACKED;
    if (count > MOST_INDEX)
        pf_streams_fail(s, "an index of more than three bytes");
    job.entries = read_entries(s, scratch, job.n_entries);
    if (s->bad)
        return;
    if (form & PACKED) {
        const perfile_bytes packed = pf_streams_next(s, n * count, n * count, &scratch->stream);
        if (s->bad || !spread(s, scratch, packed, n, count, job.planes))
            return;
    } else if (!read_planes(s, scratch, n, count, job.planes)) {
        return;
    }
    job.out = room(s, out, n, width);
    if (job.out && !join_planes(&job, INDEX, count, width))
        pf_streams_fail(s, "an index behind the end of its dictionary");
}

static void read_vints(pf_streams *s, pf_numbers_scratch *scratch, size_t n, unsigned width,
                       pf_numbers *out)
{
    uint64_t sum = pf_streams_v(s), v;
    const size_t most = n > s->raw_len / 2 ? SIZE_MAX / 2 : 10 * n;
    const perfile_bytes stream =
        pf_streams_next(s, n, most < 10 * s->raw_len ? most : 10 * s->raw_len, &scratch->stream);
    uint8_t *to = room(s, out, n, width);
    if (!to)
        return;
    const uint8_t *at = stream.ptr, *end = at + stream.len;
    for (size_t i = 0; i < n; i++, to += width) {
        if (!pf_leb128(&at, end, &v)) {
            pf_streams_fail(s, "a column ends too early");
            return;
        }
        sum += unzigzag(v);
        store(to, sum, width);
    }
    if (at != end)
        pf_streams_fail(s, "a column ends too late");
}

void pf_numbers_read(pf_streams *s, pf_numbers_scratch *scratch, size_t n, unsigned width,
                     pf_numbers *out)
{
    out->ptr = out->constant;
    out->stride = 0;
    const unsigned how = pf_streams_u8(s);
    if (s->bad)
        return;
    switch (how) {
    case PF_NUMBERS_CONST:
        store(out->constant, pf_streams_v(s), width);
        return;
    case PF_NUMBERS_PLAIN:
        out->ptr = pf_streams_next(s, n * width, n * width, &out->memory).ptr;
        out->stride = width;
        return;
    case PF_NUMBERS_PLANES:
    case PF_NUMBERS_DELTA:
        read_in_planes(s, scratch, n, width, how == PF_NUMBERS_DELTA ? DIFFERENCE : VALUE, out);
        return;
    case PF_NUMBERS_DICT:
        read_dictionary(s, scratch, n, width, out);
        return;
    case PF_NUMBERS_VINT:
        read_vints(s, scratch, n, width, out);
        return;
    default:
        pf_streams_fail(s, "an encoding of numbers that is not known");
    }
}

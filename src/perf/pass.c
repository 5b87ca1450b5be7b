/* Counting samples and FINISHED_ROUND records without making them records: perfile_stream_pass().
 *
 * Where other threads read the file, they also count, while a block is still in the cache of their
 * processor.  A thread does not know where records begin in its block, so it searches for a chain
 * of headers.  Its counts are used only if the stream arrives at exactly the offset where that
 * chain begins; otherwise they are discarded.  Two walks that meet at one offset count the same
 * from there on, so the result is that of one thread. */
#include "perf/take.h"
#include "perf/walk.h"

enum {
    CHAIN = 8,        /* headers in a row, each where the one before says: no coincidence */
    FALSE_HEADERS = 3 /* most headers of a chain that may be bytes in the payload of a record */
};

/* Counts samples of mixed sizes from `at` on and returns where it stopped. */
static inline __attribute__((always_inline)) size_t
count_mixed_samples(perfile_bytes run, size_t at, bool swap, uint32_t ahead, perfile_passed *passed)
{
    size_t n;
    const size_t end = pf_perf_pass_mixed(run, at, PF_MIXED_RUN, swap, ahead, &n);
    passed->samples += n;
    passed->sample_bytes += end - at;
    return end;
}

/* Adds the samples and rounds at the front of `run` to *passed and returns their bytes.  While
 * headers are equal, the address of the next one does not depend on the load of the last: these
 * loads run in parallel. */
static inline __attribute__((always_inline)) size_t
count_records(perfile_bytes run, bool swap, uint32_t ahead, perfile_passed *passed)
{
    const uint64_t all_but_misc = UINT64_C(0xffff0000ffffffff); /* in either byte order */
    size_t at = 0;
    while (run.len - at >= PF_PERF_RECORD_HEADER) {
        const uint8_t *r = run.ptr + at;
        const uint64_t header = pf_load_u64(r, PF_NATIVE_BIG);
        const uint32_t type = pf_load_u32(r, swap);
        const uint16_t size = pf_load_u16(r + 6, swap);
        if ((type != PERFILE_RECORD_SAMPLE && type != PERFILE_RECORD_FINISHED_ROUND) ||
            size < PF_PERF_RECORD_HEADER || size > run.len - at)
            break;
        const uint8_t *last = run.ptr + run.len - size;
        size_t n = 0;
        do {
            pf_perf_prefetch(r, ahead);
            r += size;
            n++;
        } while (r <= last && ((pf_load_u64(r, PF_NATIVE_BIG) ^ header) & all_but_misc) == 0);
        at += n * size;
        passed->samples += type == PERFILE_RECORD_SAMPLE ? n : 0;
        passed->sample_bytes += type == PERFILE_RECORD_SAMPLE ? n * size : 0;
        passed->rounds += type == PERFILE_RECORD_SAMPLE ? 0 : n;
        passed->round_bytes += type == PERFILE_RECORD_SAMPLE ? 0 : n * size;
        if (n < PF_EQUAL_RUN)
            at = count_mixed_samples(run, at, swap, ahead, passed);
    }
    return at;
}

/* True if CHAIN headers of samples and rounds follow each other from `at` on. */
static bool is_chain(perfile_bytes bytes, size_t at, bool swap)
{
    for (unsigned i = 0; i < CHAIN; i++) {
        if (at > bytes.len || bytes.len - at < PF_PERF_RECORD_HEADER)
            return false;
        uint32_t type = pf_load_u32(bytes.ptr + at, swap);
        uint16_t size = pf_load_u16(bytes.ptr + at + 6, swap);
        /* A FINISHED_ROUND record is a header alone.  Its type, 68, also occurs as the length of
         * raw data, so the size is checked as well. */
        const bool sound = type == PERFILE_RECORD_FINISHED_ROUND
                               ? size == PF_PERF_RECORD_HEADER
                               : type == PERFILE_RECORD_SAMPLE && size >= PF_PERF_RECORD_HEADER;
        if (!sound)
            return false;
        at += size;
    }
    return true;
}

size_t pf_perf_sample_row(perfile_bytes bytes, uint64_t offset, bool swap)
{
    size_t start = (size_t)(-offset & 7); /* records are aligned to 8 in the file */
    while (start < bytes.len && start <= UINT16_MAX && !is_chain(bytes, start, swap))
        start += 8;
    if (start >= bytes.len || start > UINT16_MAX)
        return bytes.len;
    /* The chain may begin with false headers, bytes of a payload whose "size" leads to a true
     * header.  A few headers on it is the chain of the records. */
    for (unsigned i = 0; i < FALSE_HEADERS; i++)
        start += pf_load_u16(bytes.ptr + start + 6, swap);
    return start;
}

/* pf_scan.look, run by the threads that read the file: counts the chain in one block. */
static void scan(perfile_bytes bytes, uint64_t offset, bool swap, pf_scanned *scanned)
{
    perfile_passed *p = scanned->notes;
    const size_t start = pf_perf_sample_row(bytes, offset, swap);
    const perfile_bytes rest = {bytes.ptr + start, bytes.len - start};
    *p = (perfile_passed){0};
    size_t n = swap ? count_records(rest, true, PF_PREFETCH_BYTES, p)
                    : count_records(rest, false, PF_PREFETCH_BYTES, p);
    scanned->start = offset + start;
    scanned->end = scanned->start + n;
}

static void scan_native(const pf_scan *how, perfile_bytes bytes, uint64_t offset,
                        pf_scanned *scanned)
{
    (void)how;
    scan(bytes, offset, false, scanned);
}

static void scan_swapped(const pf_scan *how, perfile_bytes bytes, uint64_t offset,
                         pf_scanned *scanned)
{
    (void)how;
    scan(bytes, offset, true, scanned);
}

static const pf_scan scans[] = {{scan_native, sizeof(perfile_passed)},
                                {scan_swapped, sizeof(perfile_passed)}};

bool pf_perf_scanned(const pf_perf_stream *p, const pf_scan *scan, pf_scanned *scanned)
{
    return pf_source_scanned(p->file->source, scan, p->pos, scanned) &&
           scanned->end <= p->file->end;
}

/* Counts samples that an archive need not decode for that.  False: there are none. */
static bool count_absent(pf_perf_stream *p, perfile_passed *passed)
{
    pf_absent absent;
    if (p->narrowed || !p->file->source->ops->absent)
        return false;
    if (!p->counts)
        pf_perf_narrow(&p->base, NULL);
    if (!pf_perf_absent(p, &absent))
        return false;
    *passed = (perfile_passed){
        .samples = absent.records, .sample_bytes = absent.bytes, .offset = p->pos, .part = p->part};
    pf_perf_skip(&p->base, absent.records, absent.bytes);
    return true;
}

void pf_perf_pass(perfile_stream *s, perfile_passed *passed)
{
    enum { BYTES = 1 << 20 };
    pf_perf_stream *p = pf_perf_of(s);
    pf_scanned known;
    perfile_bytes run;
    if (!p->file && p->part < p->n_parts && p->parts[p->part].source->ops->absent)
        pf_walk_begin_part(p); /* before its first records are decoded */
    if (!pf_perf_at_records(p) || count_absent(p, passed))
        return;
    bool any = pf_perf_scanned(p, &scans[p->swap], &known);
    if (any && known.start == p->pos) {
        *passed = *(const perfile_passed *)known.notes;
        passed->offset = p->pos;
        passed->part = p->part;
        pf_perf_skip(s, passed->samples + passed->rounds, known.end - known.start);
        return;
    }
    if (pf_perf_fetch(p, PF_PERF_RECORD_HEADER, &run, NULL) != PERFILE_OK)
        return;
    passed->offset = p->pos;
    passed->part = p->part;
    run.len = run.len < BYTES ? run.len : BYTES;
    if (any && known.start - p->pos < run.len)
        run.len = (size_t)(known.start - p->pos);
    size_t bytes = p->swap ? count_records(run, true, p->prefetch_bytes, passed)
                           : count_records(run, false, p->prefetch_bytes, passed);
    uint64_t n = passed->samples + passed->rounds;
    p->prefetch_bytes = pf_perf_prefetch_distance(bytes, (uint32_t)n);
    pf_perf_skip(s, n, bytes);
}

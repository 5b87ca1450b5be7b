/* Samples and rounds that are passed over and counted: see perfile_stream_pass().
 *
 * Where other threads read the file, they count, too, while a block is in the cache of their
 * processor.  They do not know where records begin, and look for a chain of headers; what they
 * found counts when the stream comes to the very place where that chain begins, else it is
 * forgotten: from one place on there is only one way to count. */
#include "perf/take.h"

enum {
    SEVERAL = 4,
    SOME = 64,
    CHAIN = 8, /* headers, each where the one before says: no accident */
    FALSE = 3  /* of them may be what looks like headers in the payload of a record */
};

/* Samples of any size: each load waits for the one before, and no branch depends on a size. */
static inline __attribute__((always_inline)) size_t
pass_samples(perfile_bytes run, size_t at, bool swap, uint32_t ahead, perfile_passed *passed)
{
    size_t begin = at, n = 0;
    for (; n < SOME && run.len - at > UINT16_MAX; n++) {
        const uint8_t *r = run.ptr + at;
        uint16_t size = pf_load_u16(r + 6, swap);
        if (pf_load_u32(r, swap) != PERFILE_RECORD_SAMPLE || size < PF_PERF_RECORD_HEADER)
            break;
        pf_perf_prefetch(r, ahead);
        at += size;
    }
    passed->samples += n;
    passed->sample_bytes += at - begin;
    return at;
}

/* Of records of one size none of these loads waits for another. */
static inline __attribute__((always_inline)) size_t pass_as(perfile_bytes run, bool swap,
                                                            uint32_t ahead, perfile_passed *passed)
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
        if (n < SEVERAL)
            at = pass_samples(run, at, swap, ahead, passed);
    }
    return at;
}

/* Whether samples and rounds stand in a row from there on. */
static bool is_chain(perfile_bytes bytes, size_t at, bool swap)
{
    for (unsigned i = 0; i < CHAIN; i++) {
        if (at > bytes.len || bytes.len - at < PF_PERF_RECORD_HEADER)
            return false;
        uint32_t type = pf_load_u32(bytes.ptr + at, swap);
        uint16_t size = pf_load_u16(bytes.ptr + at + 6, swap);
        /* A round is a header alone: raw payloads of 68 bytes have that type's number in front. */
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
    size_t start = (size_t)(-offset & 7);
    while (start < bytes.len && start <= UINT16_MAX && !is_chain(bytes, start, swap))
        start += 8;
    if (start >= bytes.len || start > UINT16_MAX)
        return bytes.len;
    /* A false header whose size leads to a true one begins a chain as well as that: wherever a
     * chain begins, a few headers on it is the one of the records. */
    for (unsigned i = 0; i < FALSE; i++)
        start += pf_load_u16(bytes.ptr + start + 6, swap);
    return start;
}

static void scan(perfile_bytes bytes, uint64_t offset, bool swap, pf_scanned *scanned)
{
    perfile_passed *p = scanned->notes;
    const size_t start = pf_perf_sample_row(bytes, offset, swap);
    const perfile_bytes rest = {bytes.ptr + start, bytes.len - start};
    *p = (perfile_passed){0};
    size_t n = swap ? pass_as(rest, true, PF_PREFETCH_BYTES, p) : pass_as(rest, false, PF_PREFETCH_BYTES, p);
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

void pf_perf_pass(perfile_stream *s, perfile_passed *passed)
{
    enum { BYTES = 1 << 20 };
    pf_perf_stream *p = pf_perf_of(s);
    pf_scanned known;
    perfile_bytes run;
    if (!pf_perf_at_records(p))
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
    size_t bytes =
        p->swap ? pass_as(run, true, p->prefetch_bytes, passed) : pass_as(run, false, p->prefetch_bytes, passed);
    uint64_t n = passed->samples + passed->rounds;
    p->prefetch_bytes = pf_perf_prefetch_distance(bytes, (uint32_t)n);
    pf_perf_skip(s, n, bytes);
}

/* Counting samples and FINISHED_ROUND records without making them records: perfile_stream_pass().
 */
#include "perf/take.h"
#include "perf/walk.h"

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

void pf_perf_skip(perfile_stream *s, uint64_t records, uint64_t bytes)
{
    pf_perf_stream *p = pf_perf_of(s);
    p->pos += bytes;
    p->sequence += records;
    p->extra_left = 0;
    s->summary.records += records;
    s->summary.bytes += bytes;
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
    perfile_bytes run;
    if (!p->file && p->part < p->n_parts && p->parts[p->part].source->ops->absent)
        pf_walk_begin_part(p); /* before its first records are decoded */
    if (!pf_perf_at_records(p) || count_absent(p, passed))
        return;
    if (pf_perf_fetch(p, PF_PERF_RECORD_HEADER, &run, NULL) != PERFILE_OK)
        return;
    passed->offset = p->pos;
    passed->part = p->part;
    run.len = run.len < BYTES ? run.len : BYTES;
    size_t bytes = p->swap ? count_records(run, true, p->prefetch_bytes, passed)
                           : count_records(run, false, p->prefetch_bytes, passed);
    uint64_t n = passed->samples + passed->rounds;
    p->prefetch_bytes = pf_perf_prefetch_distance(bytes, (uint32_t)n);
    pf_perf_skip(s, n, bytes);
}

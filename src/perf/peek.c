/* What comes next before it is made records: for whoever passes over most of it. */
#include "perf/take.h"

/* Whether the next run would be made of what lies at p->pos, without another thought. */
static bool at_records(const pf_perf_stream *p)
{
    bool inner = p->split_ready || (p->inner_at < p->inner.len && !p->inner_waits);
    return p->file && !p->part_over && !p->n_pending && !p->deferred && !p->salvage && !inner &&
           p->file->skip <= p->pos;
}

pf_peeked pf_perf_peek(perfile_stream *s)
{
    const uint64_t all_but_misc = UINT64_C(0xffff0000ffffffff);
    const pf_peeked none = {0};
    pf_perf_stream *p = pf_perf_of(s);
    perfile_bytes run;
    if (p->swap || !at_records(p) ||
        pf_perf_at_least(p, PF_PERF_RECORD_HEADER, &run, NULL) != PERFILE_OK)
        return none;
    const pf_frame f =
        run.len < PF_PERF_RECORD_HEADER ? (pf_frame){0} : pf_frame_at(run.ptr, false);
    if (f.type != PERFILE_RECORD_SAMPLE || f.size < PF_PERF_RECORD_HEADER || f.size > run.len)
        return none;
    const uint8_t *at = run.ptr;
    const uint64_t header = pf_load_u64(at, PF_NATIVE_BIG);
    size_t n = 0, most = run.len / f.size;
    most = most < PERFILE_RUN_RECORDS ? most : PERFILE_RUN_RECORDS;
    const uint32_t ahead = pf_perf_ahead(f.size, 1);
    while (n < most && ((pf_load_u64(at, PF_NATIVE_BIG) ^ header) & all_but_misc) == 0) {
        pf_perf_fetch_ahead(at, ahead);
        at += f.size;
        n++;
    }
    pf_perf_slots(p);
    pf_perf_put(p, &s->run[0], run.ptr, f.type, (uint16_t)f.size, p->pos, p->sequence, false,
                false);
    return (pf_peeked){s->run, n, f.size};
}

bool pf_perf_place(perfile_stream *s, pf_stretch *here)
{
    pf_perf_stream *p = pf_perf_of(s);
    if (!at_records(p))
        return false;
    uint64_t left = p->file->end == PF_SIZE_UNKNOWN ? UINT64_MAX : p->file->end - p->pos;
    *here = (pf_stretch){p->pos, left, p->sequence, 0, p->part};
    return true;
}

pf_sample_span pf_perf_span(perfile_stream *s, uint64_t most)
{
    enum { BYTES = 1 << 20 };
    const uint64_t all_but_misc = UINT64_C(0xffff0000ffffffff); /* in either byte order */
    pf_perf_stream *p = pf_perf_of(s);
    pf_sample_span all = {.offset = p->pos, .part = p->part};
    perfile_bytes run;
    if (!at_records(p) || pf_perf_at_least(p, PF_PERF_RECORD_HEADER, &run, NULL) != PERFILE_OK)
        return all;
    size_t at = 0, end = run.len < BYTES ? run.len : BYTES;
    while (all.n < most && end - at >= PF_PERF_RECORD_HEADER) {
        const pf_frame f = pf_frame_at(run.ptr + at, p->swap);
        if (f.type != PERFILE_RECORD_SAMPLE || f.size < PF_PERF_RECORD_HEADER || f.size > end - at)
            break;
        /* Of one size: none of these loads waits for another. */
        const uint64_t header = pf_load_u64(run.ptr + at, PF_NATIVE_BIG);
        size_t n = 0, room = (end - at) / f.size;
        room = room < most - all.n ? room : (size_t)(most - all.n);
        do {
            n++;
            at += f.size;
        } while (n < room &&
                 ((pf_load_u64(run.ptr + at, PF_NATIVE_BIG) ^ header) & all_but_misc) == 0);
        all.n += n;
    }
    all.bytes = (perfile_bytes){run.ptr, at};
    return all;
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

enum { SEVERAL = 4, SOME = 64 };

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
        pf_perf_fetch_ahead(r, ahead);
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
            pf_perf_fetch_ahead(r, ahead);
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

void pf_perf_pass(perfile_stream *s, perfile_passed *passed)
{
    enum { BYTES = 1 << 20 };
    pf_perf_stream *p = pf_perf_of(s);
    perfile_bytes run;
    if (!at_records(p) || pf_perf_at_least(p, PF_PERF_RECORD_HEADER, &run, NULL) != PERFILE_OK)
        return;
    run.len = run.len < BYTES ? run.len : BYTES;
    passed->offset = p->pos;
    passed->part = p->part;
    size_t bytes =
        p->swap ? pass_as(run, true, p->ahead, passed) : pass_as(run, false, p->ahead, passed);
    uint64_t n = passed->samples + passed->rounds;
    p->ahead = pf_perf_ahead(bytes, (uint32_t)n);
    pf_perf_skip(s, n, bytes);
}
